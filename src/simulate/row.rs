//! One billed request as a row of waist 2.

use jiff::civil::Date;

use crate::cache::CacheBlock;
use crate::pricing::{Cost, cost};
use crate::provider::ModelFacts;
use crate::record::{Reason, RunRecord};
use crate::request::RequestEvent;
use crate::units::{PicoUsd, Ratio, Tokens};
use crate::usage::Usage;

/// What a row is made of.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Name of the plan.
    pub plan: &'a str,
    /// Order in which it is sent, from 0.
    pub seq: u64,
    /// The request.
    pub event: &'a RequestEvent,
    /// Model as billed.
    pub model: &'a str,
    /// How its tokens are billed.
    pub usage: Usage,
    /// What they cost; `None` where no price is known.
    pub price: Option<Priced>,
    /// Why no more was read, where a cache was asked.
    pub reason: Option<Reason>,
    /// Tokens up to the end of what another request, starting no later, also has.
    pub shared_end: Tokens,
    /// JSON pointer of the last block that was read.
    pub read_end: String,
    /// Length of the body; 0 where it has no bytes.
    pub body_bytes: u64,
    /// Length of the prompt; 0 where it has no bytes.
    pub prompt_bytes: u64,
    /// Tokens shared with the parent's request.
    pub shared_with_parent: Tokens,
    /// Markers as `tokens@lifetime`.
    pub markers: String,
    /// Name of the tokenizer.
    pub tokenizer: &'a str,
    /// `exact` or `estimated`.
    pub exactness: &'a str,
}

/// What a request costs, and the price of one token equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priced {
    /// The cost by class.
    pub cost: Cost,
    /// The price of one token equivalent.
    pub base: PicoUsd,
}

/// The cost of a usage at the model's price on `date`, which depends on the length of the prompt;
/// `None` where the model has no price on that day.
pub fn priced(model: &ModelFacts, date: Date, usage: &Usage) -> Option<Priced> {
    let (entry, base) = model.prices.with_base(date, usage.input())?;
    Some(Priced { cost: cost(usage, &entry.price), base })
}

/// Markers as `tokens@lifetime` in cache order.
pub fn markers(blocks: &[CacheBlock]) -> String {
    let marked = blocks.iter().filter_map(|block| Some((block.tokens_so_far, block.marker?)));
    let marked = marked.map(|(tokens, ttl)| format!("{}@{ttl}", tokens.0));
    marked.collect::<Vec<_>>().join(" ")
}

impl Row<'_> {
    /// The row. Without a price its money is 0 and its token equivalents are empty.
    pub fn record(self) -> RunRecord {
        let (event, usage) = (self.event, &self.usage);
        let none = Priced { cost: Cost::default(), base: PicoUsd::ZERO };
        let Priced { cost, base } = self.price.unwrap_or(none);
        let te = Ratio::new(cost.input().0, base.0).map(|te| te.to_decimal(2));
        RunRecord {
            plan: self.plan.to_owned(),
            seq: u32::try_from(self.seq).unwrap_or(u32::MAX),
            request: event.id.clone(),
            role: event.role.as_str().to_owned(),
            model: self.model.to_owned(),
            start_ms: event.start.0,
            first_token_ms: event.first_token_at.0,
            end_ms: event.end.0,
            read: usage.read.0,
            write_5m: usage.write_5m.0,
            write_1h: usage.write_1h.0,
            uncached: usage.uncached.0,
            input: usage.input().0,
            output: usage.output.0,
            read_pico_usd: cost.read.0,
            write_5m_pico_usd: cost.write_5m.0,
            write_1h_pico_usd: cost.write_1h.0,
            uncached_pico_usd: cost.uncached.0,
            input_pico_usd: cost.input().0,
            output_pico_usd: cost.output.0,
            base_pico_usd: base.0,
            te: te.unwrap_or_default(),
            reason: self.reason.map_or(String::new(), |reason| reason.as_str().to_owned()),
            shared_end: self.shared_end.0,
            read_end: self.read_end,
            body_bytes: self.body_bytes,
            prompt_bytes: self.prompt_bytes,
            shared_with_parent: self.shared_with_parent.0,
            markers: self.markers,
            tokenizer: self.tokenizer.to_owned(),
            exactness: self.exactness.to_owned(),
        }
    }
}
