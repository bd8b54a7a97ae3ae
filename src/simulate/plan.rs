//! One plan through one set of rules.

use std::ops::Range;

use jiff::civil::Date;

use super::bounds;
use super::measured::Measured;
use super::row::{Priced, Row, priced};
use super::stream::{Arrival, Siblings, Simulator, Together, Verdict};
use crate::cache::{CacheBlock, CacheRules};
use crate::measure::shared_prefix::equal_blocks;
use crate::measure::{TokenizedPrompt, position_kind};
use crate::provider::ModelFacts;
use crate::record::{Reason, RunRecord};
use crate::request::{Payload, RequestEvent, RequestRole};
use crate::units::Tokens;
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
            tail: prompt.tail(),
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

fn record(
    plan: &str,
    seq: usize,
    event: &RequestEvent,
    prompt: &TokenizedPrompt,
    parent: Option<&TokenizedPrompt>,
    billed: &Billed,
    billing: &Billing<'_>,
) -> Result<RunRecord, SimulateError> {
    let price = price(event, &billed.usage, billing)?;
    let body_bytes = match &event.payload {
        Payload::Body(body) => body.len() as u64,
        Payload::Blocks(_) => 0,
    };
    let shared = parent.map_or(0, |parent| equal_blocks(prompt, parent));
    let read_end = billed.read_block.and_then(|block| prompt.block(block));
    let row = Row {
        plan,
        seq: seq as u64,
        event,
        model: &billing.model.id,
        usage: billed.usage,
        price: Some(price),
        reason: billed.reason,
        shared_end: bounds::tokens_at(prompt, billed.shared_end),
        read_end: read_end.map_or(String::new(), |(block, _)| block.pointer.clone()),
        body_bytes,
        prompt_bytes: prompt.bytes(),
        shared_with_parent: bounds::tokens_at(prompt, shared),
        markers: markers(prompt),
        tokenizer: &billing.tokenizer,
        exactness: billing.exactness,
    };
    Ok(row.record())
}

fn price(
    event: &RequestEvent,
    usage: &Usage,
    billing: &Billing<'_>,
) -> Result<Priced, SimulateError> {
    let (model, input) = (billing.model, usage.input());
    if input > model.context_window {
        return Err(SimulateError::ContextWindow {
            request: event.id.clone(),
            model: model.id.clone(),
            tokens: input,
            limit: model.context_window,
        });
    }
    priced(model, billing.date, usage).ok_or_else(|| {
        let first = model.prices.entries.iter().map(|entry| entry.from).min();
        SimulateError::NoPrice {
            model: model.id.clone(),
            date: billing.date,
            first: first.map_or_else(String::new, |date| date.to_string()),
        }
    })
}

/// Markers as `tokens@lifetime` in cache order.
fn markers(prompt: &TokenizedPrompt) -> String {
    let marked = prompt.marked().filter_map(|(block, measure)| {
        block.marker.map(|ttl| format!("{}@{ttl}", measure.tokens_so_far.0))
    });
    marked.collect::<Vec<_>>().join(" ")
}
