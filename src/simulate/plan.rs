//! One plan through one set of rules.

use std::ops::Range;

use jiff::civil::Date;

use super::bounds;
use super::measured::Measured;
use super::stream::{Arrival, Siblings, Simulator, Together, Verdict};
use crate::cache::{CacheBlock, CacheRules, PositionKind};
use crate::measure::TokenizedPrompt;
use crate::measure::shared_prefix::equal_blocks;
use crate::pricing::{Cost, cost};
use crate::provider::ModelFacts;
use crate::record::{Reason, RunRecord};
use crate::request::{BlockKind, Payload, RequestEvent, RequestRole};
use crate::units::{PicoUsd, Ratio, Tokens};
use crate::usage::Usage;

/// The rules that a plan is billed by.
#[derive(Clone, Debug)]
pub enum Rules {
    /// The provider's cache.
    Cache(CacheRules),
    /// Nothing is cached.
    NoCache,
    /// Every prefix seen before is read.
    Perfect,
    /// The chapter's model.
    Chapter,
}

/// At whose prices, and how tokens were counted.
#[derive(Clone, Debug)]
pub struct Billing<'a> {
    /// The model.
    pub model: &'a ModelFacts,
    /// Day for which prices are looked up.
    pub date: Date,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// `exact` or `estimated`.
    pub exactness: &'static str,
}

/// Why a plan cannot be billed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulateError {
    /// A prompt is longer than the model's context window.
    #[error(
        "{request} has {} tokens, but the context window of {model} holds {}",
        .tokens, .limit
    )]
    ContextWindow {
        /// Name of the request.
        request: String,
        /// Model.
        model: String,
        /// Tokens of the prompt.
        tokens: Tokens,
        /// Tokens of the window.
        limit: Tokens,
    },
    /// The price list has no price for the day.
    #[error("there is no price of {model} for {date}; give a date from {first} on")]
    NoPrice {
        /// Model.
        model: String,
        /// The day.
        date: Date,
        /// First day with a price.
        first: String,
    },
}

/// What the rules made of one request.
struct Billed {
    usage: Usage,
    reason: Option<Reason>,
    shared_end: usize,
    /// Block at whose end the read ends.
    read_block: Option<usize>,
}

/// Bills every event of a plan by `rules`; one record an event, in order of their starts.
///
/// # Errors
/// Where a prompt is longer than the context window or the model has no price on that day.
pub fn simulate(
    plan: &str,
    measured: &Measured,
    rules: &Rules,
    billing: &Billing<'_>,
) -> Result<Vec<RunRecord>, SimulateError> {
    let billed = bill(measured, rules);
    let parent = measured.events.iter().position(|event| event.role == RequestRole::Parent);
    let parent = parent.map(|index| &measured.prompts[index]);
    let mut records = Vec::with_capacity(billed.len());
    for (seq, billed) in billed.into_iter().enumerate() {
        let (event, prompt) = (&measured.events[seq], &measured.prompts[seq]);
        records.push(record(plan, seq, event, prompt, parent, &billed, billing)?);
    }
    Ok(records)
}

fn bill(measured: &Measured, rules: &Rules) -> Vec<Billed> {
    let cache = match rules {
        Rules::Cache(rules) => Some(rules),
        Rules::NoCache | Rules::Perfect | Rules::Chapter => None,
    };
    let verdicts = play(measured, cache);
    let usages = match rules {
        Rules::Cache(_) => {
            let outcomes = measured.events.iter().zip(&verdicts);
            outcomes.map(|(event, verdict)| verdict.outcome.usage(event.output)).collect()
        }
        Rules::NoCache => bounds::no_cache(measured),
        Rules::Perfect => bounds::perfect(measured, &verdicts),
        Rules::Chapter => bounds::chapter(measured),
    };
    let of = |(usage, verdict): (Usage, Verdict)| Billed {
        usage,
        reason: cache.map(|_| verdict.reason),
        shared_end: verdict.shared_end,
        read_block: verdict.outcome.read_block,
    };
    usages.into_iter().zip(verdicts).map(of).collect()
}

/// The verdicts of one cache for each lane, in order of the events.
fn play(measured: &Measured, rules: Option<&CacheRules>) -> Vec<Verdict> {
    let mut simulator = Simulator::new();
    let mut verdicts = Vec::with_capacity(measured.events.len());
    let (mut start, mut blocks) = (0, Blocks::default());
    while start < measured.events.len() {
        let now = measured.events[start].start;
        let together =
            measured.events[start..].iter().take_while(|event| event.start == now).count();
        let range = start..start + together;
        start = range.end;
        let mut group = Group { measured, rules, range, blocks: &mut blocks };
        verdicts.extend(simulator.play(&mut group));
    }
    verdicts
}

/// Events that start at one moment.
struct Group<'a> {
    measured: &'a Measured,
    rules: Option<&'a CacheRules>,
    range: Range<usize>,
    blocks: &'a mut Blocks,
}

impl Together for Group<'_> {
    fn len(&self) -> usize {
        self.range.len()
    }

    fn arrival(&mut self, index: usize) -> Arrival<'_> {
        let index = self.range.start + index;
        let (event, prompt) = (&self.measured.events[index], &self.measured.prompts[index]);
        Arrival {
            lane: (&event.scope, &event.model),
            rules: self.rules,
            blocks: self.blocks.of(prompt),
            start: event.start,
            readable_at: event.first_token_at,
            siblings: prompt
                .own()
                .is_some()
                .then(|| Siblings { key: prompt.family_key(), shared: prompt.shared_len() }),
        }
    }
}

/// The blocks of one prompt after another, as the cache sees them. Behind a sibling only the own
/// block is made.
#[derive(Default)]
struct Blocks {
    family: Option<usize>,
    blocks: Vec<CacheBlock>,
}

impl Blocks {
    fn of(&mut self, prompt: &TokenizedPrompt) -> &[CacheBlock] {
        let family = Some(prompt.family_key());
        if self.family != family {
            self.family = family;
            self.blocks.clear();
        }
        self.blocks.truncate(prompt.shared_len());
        let missing = self.blocks.len()..prompt.len();
        let missing = missing.filter_map(|index| prompt.block(index));
        self.blocks.extend(missing.map(|(block, measure)| CacheBlock {
            prefix_hash: measure.prefix_hash,
            tokens_so_far: measure.tokens_so_far,
            kind: position_kind(block.kind),
            marker: block.marker,
        }));
        &self.blocks
    }
}

/// How a block of a kind counts in the lookback.
pub fn position_kind(kind: BlockKind) -> PositionKind {
    match kind {
        BlockKind::Tool => PositionKind::Tool,
        BlockKind::ToolUse => PositionKind::ToolUse,
        BlockKind::ToolResult => PositionKind::ToolResult,
        BlockKind::Thinking => PositionKind::Thinking,
        BlockKind::System
        | BlockKind::Text
        | BlockKind::Image
        | BlockKind::Document
        | BlockKind::Other => PositionKind::Plain,
    }
}

fn record(
    plan: &str,
    seq: usize,
    event: &RequestEvent,
    prompt: &TokenizedPrompt,
    parent: Option<&TokenizedPrompt>,
    billed: &Billed,
    billing: &Billing<'_>,
) -> Result<RunRecord, SimulateError> {
    let usage = &billed.usage;
    let (priced, base) = price(event, usage, billing)?;
    let tokens_at = |blocks: usize| bounds::tokens_at(prompt, blocks).0;
    let body_bytes = match &event.payload {
        Payload::Body(body) => body.len() as u64,
        Payload::Blocks(_) => 0,
    };
    let read_end = billed.read_block.and_then(|block| prompt.block(block));
    let te = Ratio::new(priced.input().0, base.0).map(|te| te.to_decimal(2));
    Ok(RunRecord {
        plan: plan.to_owned(),
        seq: u32::try_from(seq).unwrap_or(u32::MAX),
        request: event.id.clone(),
        role: event.role.as_str().to_owned(),
        model: billing.model.id.clone(),
        start_ms: event.start.0,
        first_token_ms: event.first_token_at.0,
        end_ms: event.end.0,
        read: usage.read.0,
        write_5m: usage.write_5m.0,
        write_1h: usage.write_1h.0,
        uncached: usage.uncached.0,
        input: prompt.tokens().0,
        output: usage.output.0,
        read_pico_usd: priced.read.0,
        write_5m_pico_usd: priced.write_5m.0,
        write_1h_pico_usd: priced.write_1h.0,
        uncached_pico_usd: priced.uncached.0,
        input_pico_usd: priced.input().0,
        output_pico_usd: priced.output.0,
        base_pico_usd: base.0,
        te: te.unwrap_or_default(),
        reason: billed.reason.map_or(String::new(), |reason| reason.as_str().to_owned()),
        shared_end: tokens_at(billed.shared_end),
        read_end: read_end.map_or(String::new(), |(block, _)| block.pointer.clone()),
        body_bytes,
        prompt_bytes: prompt.bytes(),
        shared_with_parent: parent.map_or(0, |parent| tokens_at(equal_blocks(prompt, parent))),
        markers: markers(prompt),
        tokenizer: billing.tokenizer.clone(),
        exactness: billing.exactness.to_owned(),
    })
}

fn price(
    event: &RequestEvent,
    usage: &Usage,
    billing: &Billing<'_>,
) -> Result<(Cost, PicoUsd), SimulateError> {
    let (model, input) = (billing.model, usage.input());
    if input > model.context_window {
        return Err(SimulateError::ContextWindow {
            request: event.id.clone(),
            model: model.id.clone(),
            tokens: input,
            limit: model.context_window,
        });
    }
    let entry = model.prices.at(billing.date, input).zip(model.prices.base(billing.date));
    let Some((entry, base)) = entry else {
        let first = model.prices.entries.iter().map(|entry| entry.from).min();
        return Err(SimulateError::NoPrice {
            model: model.id.clone(),
            date: billing.date,
            first: first.map_or_else(String::new, |date| date.to_string()),
        });
    };
    Ok((cost(usage, &entry.price), base))
}

/// Markers as `tokens@lifetime` in cache order.
fn markers(prompt: &TokenizedPrompt) -> String {
    let marked = prompt.marked().filter_map(|(block, measure)| {
        block.marker.map(|ttl| format!("{}@{ttl}", measure.tokens_so_far.0))
    });
    marked.collect::<Vec<_>>().join(" ")
}
