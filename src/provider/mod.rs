//! What is known of each provider: wire format, cache rules, models and dated prices. Only this
//! module and the fact tables know a provider by name.

pub mod anthropic;
pub mod billed;
pub mod facts;
pub mod import;
pub mod keys;
pub mod lookup;
pub mod rules;

pub use billed::{BilledUsage, UsageError, UsageStyle, UsageWarning, WriteSplit, read_usage};
pub use facts::{
    Facts, FactsError, ModelFacts, ThinkingInHistory, anthropic_facts, parse_usd_per_mtok,
};
pub use keys::{Certainty, Feature, KeyRule, Survival};
pub use lookup::{UnknownModel, find_model};

use jiff::civil::Date;

use crate::request::json::Node;
use crate::request::{RenderedBlock, RenderedPrompt, RequestBody, Section, WireFormat};
use crate::tokens::{ClaudeFamily, TokenizerSpec};

/// One provider.
pub trait Provider: WireFormat + Sync + std::fmt::Debug {
    /// Its name, e.g. `anthropic`.
    fn name(&self) -> &'static str;

    /// Its models, prices and rules.
    fn facts(&self) -> &'static Facts;

    /// Counts the requests of the model of that name, also of one that the price list has no
    /// longer; `None` for a model that is not known.
    fn tokenizer_for(&self, model: &str) -> Option<TokenizerSpec>;

    /// The prompt of a request in the provider's cache order.
    ///
    /// # Errors
    /// Where the body does not have the provider's shape.
    fn render(
        &self,
        body: &RequestBody,
        options: RenderOptions,
    ) -> Result<RenderedPrompt, crate::request::json::JsonError>;

    /// The prompt of a recorded request, which may have the shape of a cloud that resells the
    /// models.
    ///
    /// # Errors
    /// Where the body has none of these shapes.
    fn render_recorded(
        &self,
        body: &RequestBody,
        options: RenderOptions,
    ) -> Result<RenderedPrompt, crate::request::json::JsonError>;

    /// What of a recorded body no rule of counting is known for, by its name in the body.
    fn unmodelled(&self, body: &[u8]) -> Vec<String>;

    /// Whether requests to that platform, by its name in a recording, are requests to these models:
    /// the provider itself or a cloud.
    fn serves(&self, platform: &str) -> bool;

    /// Whether the lookback counts every block on that platform, on any day.
    fn counts_every_block(&self, platform: &str) -> bool;

    /// The own block of `body`, rendered like `sibling`, the own block of a body of the same
    /// family.
    ///
    /// # Errors
    /// Where the own block is not a block.
    fn render_own(
        &self,
        body: &RequestBody,
        sibling: &RenderedBlock,
    ) -> Result<RenderedBlock, crate::request::json::JsonError>;

    /// Everything for which the provider would refuse the request, in order; empty where it would
    /// accept it.
    fn refusals(&self, body: &RequestBody) -> Vec<Refusal>;

    /// The text that a tool definition, of which `schema` is JSON, is counted by under that family;
    /// hidden prompts and frames around all tools are not in it.
    fn counted_tool(
        &self,
        family: Option<ClaudeFamily>,
        name: &str,
        description: Option<&str>,
        schema: Option<&str>,
    ) -> String;

    /// The text that a tool call, of which `input` is JSON, is counted by under that family; what
    /// stands around all calls of a message is not in it.
    fn counted_call(&self, family: Option<ClaudeFamily>, name: &str, input: &str) -> String;

    /// What a difference in a parameter (a dotted path from the top of a body) or a feature loses;
    /// `None` where it is no part of the cache key.
    fn key_rule(&self, name: &str) -> Option<KeyRule>;

    /// The value of a parameter, as JSON, that keys the cache like leaving it out.
    fn key_default(&self, parameter: &str) -> Option<&'static str>;

    /// The name that the provider's own diagnosis has for a difference inside a section.
    fn section_reason(&self, section: Section) -> &'static str;

    /// What keys the cache by being used in the messages of a body, each once, with its first
    /// place.
    fn features(&self, bytes: &[u8], body: &Node) -> Vec<Feature>;

    /// The feature that a tool definition switches on by being there.
    fn tool_feature(&self, bytes: &[u8], tool: &Node) -> Option<&'static str>;

    /// Whether a tool definition stands outside the cached prefix.
    fn is_outside_prefix(&self, bytes: &[u8], tool: &Node) -> bool;
}

/// How a prompt is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions<'a> {
    /// Whether a leading billing line of the system prompt is part of the prompt.
    pub hash_billing_line: bool,
    /// The family whose frames stand around the counted texts; the texts stand alone without one.
    pub family: Option<ClaudeFamily>,
    /// The day on which the request is sent, where its frames depend on it; the newest are taken
    /// without one.
    pub date: Option<Date>,
    /// The model, where it decides over frames; the one that the body names without it.
    pub model: Option<&'a str>,
    /// Tokens that recorded bills have more than the count, or less; they stand in the first block
    /// of the messages.
    pub correction: i64,
}

/// Why a provider refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// JSON pointer of the place.
    pub pointer: String,
    /// Status the provider answers with, e.g. 400.
    pub status: u16,
    /// The provider's reason, in our words.
    pub reason: String,
}

/// Every provider.
pub const ALL: &[&dyn Provider] = &[&anthropic::Anthropic];
