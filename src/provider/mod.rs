//! What is known of each provider: wire format, cache rules, models and dated prices. Only this
//! module and the fact tables know a provider by name.

pub mod anthropic;
pub mod billed;
pub mod facts;
pub mod import;
pub mod lookup;
pub mod rules;

pub use billed::{BilledUsage, UsageError, UsageStyle, UsageWarning, WriteSplit, read_usage};
pub use facts::{
    Facts, FactsError, ModelFacts, ThinkingInHistory, anthropic_facts, parse_usd_per_mtok,
};
pub use lookup::{UnknownModel, find_model};

use crate::request::{RenderedBlock, RenderedPrompt, RequestBody, WireFormat};

/// One provider.
pub trait Provider: WireFormat + Sync + std::fmt::Debug {
    /// Its name, e.g. `anthropic`.
    fn name(&self) -> &'static str;

    /// Its models, prices and rules.
    fn facts(&self) -> &'static Facts;

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
}

/// How a prompt is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether a leading billing line of the system prompt is part of the prompt.
    pub hash_billing_line: bool,
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
