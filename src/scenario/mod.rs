//! What a user asks for: a scenario file, resolved and checked. Nothing in a [`Scenario`] is still
//! to be looked up.
//!
//! * [`load`](load::load) reads files and the environment; everything behind it is pure.
//! * A text becomes a tree in which every value knows its place (`tree`), `--set` replaces values
//!   in it (`overrides`), and the walk (`walk`, `parent`, `forking`, `extras`, `limits`, joined by
//!   `resolve`) reports every mistake it meets (`diagnostic`) instead of stopping at the first.
//! * `wire` holds the keys and the JSON Schema; `docs/scenario-format.md` says what they mean.

pub mod diagnostic;
mod extras;
mod files;
mod forking;
mod guarding;
mod limits;
pub mod load;
mod overrides;
mod parent;
mod places;
mod resolve;
pub mod source;
#[cfg(test)]
mod tests;
mod tree;
mod walk;
mod wire;

pub use diagnostic::{CODES, Diagnostic, Diagnostics, render};
pub use load::{LoadError, STARTER, load, parse, starter_from_request};
pub use places::Places;
pub use source::SourceText;
pub use wire::schema;

use std::sync::Arc;

use jiff::civil::Date;

use crate::cache::CacheRules;
use crate::fork::gate::Session;
use crate::fork::guard::Scan;
use crate::fork::limits::Limits;
use crate::fork::{CloneShape, ResultShape};
use crate::provider::{ModelFacts, Provider};
use crate::request::{CapturedBody, MarkerPolicy, Message, Tool};
use crate::tokens::TokenizerSpec;
use crate::units::CacheTtl;

/// A scenario, ready to be played.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// File stem; names the report folder.
    pub name: String,
    /// Title, the name where none is given.
    pub title: String,
    /// Fingerprint of the scenario's text.
    pub source_hash: String,
    /// Whose rules and wire format hold.
    pub provider: &'static dyn Provider,
    /// Model by the facts.
    pub model: &'static ModelFacts,
    /// Model name as it stands in the request.
    pub model_name: String,
    /// Day for which prices and rules are looked up.
    pub date: Date,
    /// Seed of all synthetic text.
    pub seed: u64,
    /// How tokens are counted.
    pub tokenizer: TokenizerSpec,
    /// What recorded bills say corrects that, where a calibration is given.
    pub correction: Option<CountCorrection>,
    /// The parent's request.
    pub parent: ParentSpec,
    /// The fork.
    pub fork: ForkSpec,
    /// Whether the session may fork.
    pub gate: GateSpec,
    /// How many agents it may start.
    pub limits: Limits,
    /// When the children are sent.
    pub schedule: Schedule,
    /// The cache's rules, overrides applied.
    pub rules: CacheRules,
    /// Overrides of the rules as `key = value`, for reports.
    pub rule_overrides: Vec<String>,
    /// Fresh agents to compare with.
    pub fresh: FreshSpec,
    /// Expected results.
    pub expect: Vec<Expectation>,
    /// Where its keys stand, for mistakes that show only when it is played.
    pub places: Places,
}

/// A correction of counts that bills of recorded requests gave. A factor stands in the tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountCorrection {
    /// Tokens of a request beyond its count.
    pub tokens: i64,
    /// What it rests on, in words.
    pub note: String,
}

/// The parent: its prompt, its dispatch, and the state of its cache entry.
#[derive(Clone, Debug)]
pub struct ParentSpec {
    /// What it sent last.
    pub prompt: ParentPrompt,
    /// The assistant message that holds the calls.
    pub dispatch: DispatchSpec,
    /// Whether its entry is still there.
    pub cache: ParentCache,
}

/// What the parent sent last.
#[derive(Clone, Debug)]
pub enum ParentPrompt {
    /// Written out from its parts.
    Parts {
        /// Tools.
        tools: ToolsSpec,
        /// System prompt.
        system: SystemSpec,
        /// Messages.
        history: HistorySpec,
    },
    /// A recorded body.
    Request(Arc<CapturedBody>),
}

/// The tools of a parent.
#[derive(Clone, Debug)]
pub enum ToolsSpec {
    /// Synthetic: this many tools with this many tokens in all.
    Sized {
        /// Number of tools.
        count: u64,
        /// Tokens of all tools.
        tokens: u64,
    },
    /// Read from a file.
    Given(Vec<Tool>),
}

/// The system prompt of a parent.
#[derive(Clone, Debug)]
pub enum SystemSpec {
    /// Synthetic: identity line and main prompt with this many tokens in all.
    Sized {
        /// Tokens of all blocks.
        tokens: u64,
    },
    /// Read from a file: its blocks.
    Given(Vec<String>),
}

/// The messages of a parent before the dispatch.
#[derive(Clone, Debug)]
pub enum HistorySpec {
    /// Synthetic: one user message and this many pairs behind it, with this many tokens in all.
    Sized {
        /// Tokens of all messages.
        tokens: u64,
        /// Pairs of an assistant and a user message.
        turns: u64,
    },
    /// Read from a file; ends in a user message, or in an assistant message that becomes the
    /// dispatch.
    Given(Vec<Message>),
}

/// Size of the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchSpec {
    /// Tokens of the whole message.
    pub size: DispatchSize,
    /// Reasoning blocks before the calls; their tokens are inside the size.
    pub thinking_blocks: u64,
    /// Text blocks before the calls, behind the reasoning; their tokens are inside the size.
    pub text_blocks: u64,
}

/// Tokens of the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchSize {
    /// So many for each call.
    PerCall(u64),
    /// So many in all.
    Total(u64),
    /// What the directives take, written out as calls.
    Natural,
}

/// State of the parent's entry at the fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentCache {
    /// Whether it is there.
    pub state: ParentState,
    /// Milliseconds since the start of the parent's last request.
    pub age_ms: i64,
    /// Lifetime of the parent's markers.
    pub ttl: CacheTtl,
}

/// Whether the parent's entry is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentState {
    /// Written and alive.
    Warm,
    /// Never written.
    Cold,
    /// Written, its lifetime over.
    Expired,
}

/// The fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkSpec {
    /// Number of children, 1 to 100,000.
    pub children: u64,
    /// What each child is told.
    pub directive: DirectiveSpec,
    /// The rules text before the directive.
    pub boilerplate: BoilerplateSpec,
    /// What stands in for each result.
    pub placeholder: PlaceholderSpec,
    /// How each result is written.
    pub results: ResultShape,
    /// What of the dispatch a child is given.
    pub clone: CloneShape,
    /// Where the markers go.
    pub policy: MarkerPolicy,
    /// Lifetime of the markers on messages.
    pub ttl: CacheTtl,
}

/// Whether the session may fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSpec {
    /// What the gate is latched on; its era is `fork.era`.
    pub session: Session,
    /// The query source of the parent's requests.
    pub query_source: String,
    /// How its messages are searched for the tag of a fork.
    pub scan: Scan,
}

/// What each child is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveSpec {
    /// Synthetic, of this many tokens, different for each child.
    Sized(u64),
    /// These texts: one for each child, or one for all.
    Texts(Vec<String>),
}

/// The rules text before the directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoilerplateSpec {
    /// In the directive's block.
    Standard,
    /// In a block before the directive's.
    OwnBlock,
    /// None.
    None,
}

/// What stands in for each result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceholderSpec {
    /// This text.
    Text(String),
    /// A constant synthetic text of this many tokens.
    Sized(u64),
}

/// When the children are sent. Times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The order.
    pub order: Order,
    /// From the start of a request to its first token.
    pub first_token_latency_ms: i64,
    /// From the start of a request to its end.
    pub request_ms: i64,
}

/// In which order children are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All at once.
    Simultaneous,
    /// Each when the one before has ended.
    Sequential,
    /// The first alone; all others when its first token is there.
    AfterFirstToken,
    /// So many at once; the next wave when the one before has ended.
    Waves {
        /// Children in a wave.
        width: u64,
    },
    /// One every so many milliseconds.
    Stagger {
        /// Time between two children.
        gap_ms: i64,
    },
    /// A `max_tokens: 0` request first; all children when its response begins.
    Prewarm,
}

impl Order {
    /// The word in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Order::Simultaneous => "simultaneous",
            Order::Sequential => "sequential",
            Order::AfterFirstToken => "after_first_token",
            Order::Waves { .. } => "waves",
            Order::Stagger { .. } => "stagger",
            Order::Prewarm => "prewarm",
        }
    }
}

/// Fresh agents to compare with: the same tools and system, and a prompt of their own instead of
/// the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshSpec {
    /// Tokens of each agent's prompt; `None`: as many as its directive has (assumed).
    pub prompt_tokens: Option<u64>,
    /// True where all have the parent's tools and system; false where each has its own of the same
    /// size.
    pub same_type: bool,
}

/// One line of `[expect]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Dotted path into `summary.json`.
    pub path: String,
    /// What is expected there, as written.
    pub value: ExpectedValue,
    /// Line in the scenario file, from 1.
    pub line: usize,
}

/// An expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedValue {
    /// Text; a decimal is compared at its own precision.
    Text(String),
    /// An integer.
    Integer(i64),
    /// True or false.
    Bool(bool),
}

impl ExpectedValue {
    /// The value as text, as it stands in `summary.json` without quotes.
    pub fn as_text(&self) -> String {
        match self {
            ExpectedValue::Text(text) => text.clone(),
            ExpectedValue::Integer(number) => number.to_string(),
            ExpectedValue::Bool(on) => on.to_string(),
        }
    }
}
