//! The shape of `summary.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the shape; a change that an old reader would misread raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// What a run found: the shape of `summary.json` and of `run --json`. Money is text: decimal
/// dollars and integer pico-dollars; token equivalents and shares are decimal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// File stem of the scenario.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// Model as billed.
    pub model: String,
    /// How the children are marked.
    pub marker_policy: String,
    /// When the children are sent.
    pub schedule: String,
    /// First day of the prices used.
    pub prices_from: String,
    /// Day on which prices and rules were last compared with their source.
    pub facts_checked: String,
    /// Day for which the prices and rules were looked up.
    pub date: String,
    /// How tokens were counted.
    pub tokenizer: TokenizerNote,
    /// Number of children.
    pub children: u64,
    /// Input tokens of the first child.
    pub child_tokens: u64,
    /// What all children share.
    pub shared: Shared,
    /// What the parent's request and all children share.
    pub shared_with_parent: Shared,
    /// The children and any prewarm request.
    pub totals: Totals,
    /// The same children under other rules.
    pub baselines: Baselines,
    /// Which fresh agents are compared: `same_type` (the parent's tools and system prompt) or
    /// `different_types`; absent where none are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fresh_kind: Option<String>,
    /// `1 - te / no-cache te`, four decimals.
    pub saving_vs_no_cache: String,
    /// Where the children first differ; absent where all are equal or there is only one.
    pub first_difference: Option<FirstDifference>,
    /// How many requests ended for which reason.
    pub reasons: BTreeMap<String, u64>,
    /// What else could be done, cheapest first.
    pub changes: Vec<Change>,
    /// What the reader should know.
    pub findings: Vec<Finding>,
}

/// How tokens were counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenizerNote {
    /// Its name, e.g. `o200k_base`.
    pub name: String,
    /// `exact` or `estimated`.
    pub exactness: String,
    /// Why, in words.
    pub note: String,
}

/// A shared prefix by its three measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Equal bytes from the start of the HTTP bodies.
    pub body_bytes: u64,
    /// Equal prompt bytes: whole equal blocks and the equal head of the first that differs.
    pub prompt_bytes: u64,
    /// Tokens of whole equal blocks.
    pub prompt_tokens: u64,
    /// Tokens of the equal head of the first block that differs.
    pub head_tokens: u64,
}

/// Sums over requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of requests.
    pub requests: u64,
    /// Input read from the cache.
    pub read: u64,
    /// Input written for five minutes.
    pub write_5m: u64,
    /// Input written for one hour.
    pub write_1h: u64,
    /// Input neither read nor written.
    pub uncached: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// Token equivalents of the input, two decimals.
    pub te: String,
    /// Cost of input and output in pico-dollars.
    pub cost_pico_usd: String,
    /// Cost of input and output in dollars.
    pub cost_usd: String,
}

/// The same children under other rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baselines {
    /// Nothing is cached.
    pub no_cache: Totals,
    /// Every prefix seen before is read; a bound, not a plan.
    pub perfect: Totals,
    /// First child at full price, every later one reads all before its directive.
    pub chapter: Totals,
    /// Fresh agents instead of forks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fresh: Option<Totals>,
}

/// Where two bodies first differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstDifference {
    /// JSON pointer of the innermost value.
    pub pointer: String,
    /// Byte offset in the body, from 0.
    pub byte: u64,
    /// The segment it lies in, e.g. `directive`; absent where it is outside the prompt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// What stands there in the first child, shortened.
    pub excerpt: String,
    /// What stands there in the child that differs, shortened.
    pub other_excerpt: String,
}

/// One change of a fixed set, with what it would cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Stable name, e.g. `before_directive_first_alone`.
    pub id: String,
    /// In words.
    pub text: String,
    /// The lines to change in the scenario.
    pub patch: Vec<String>,
    /// What the plan would cost.
    pub totals: Totals,
    /// `1 - te / this plan's te`, four decimals; negative where it costs more.
    pub saving: String,
    /// False where the children would no longer have the parent's context.
    pub keeps_context: bool,
}

/// Something the reader should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name, e.g. `caching_costs_more`.
    pub id: String,
    /// In words.
    pub text: String,
}
