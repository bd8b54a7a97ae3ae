//! Requests from outside through the same cache and money, held to what was billed.
//!
//! A trace is played request by request; nothing of a request is kept once its row has been handed
//! on, so memory does not grow with the length of a timeline.

pub mod agreement;
mod models;
pub mod totals;

pub use agreement::{Agreement, Agreements, Explanation};
pub use models::MIN_TOKENS_ASSUMED;
pub use totals::{ModelTotals, Sums, Totals};

use std::collections::HashSet;
use std::sync::Arc;

use jiff::civil::Date;

use crate::cache::CacheBlock;
use crate::measure::{identity, position_kind};
use crate::provider::UnknownModel;
use crate::provider::rules::{RuleError, RuleValue};
use crate::record::RunRecord;
use crate::request::{Payload, RequestEvent, StatedPrompt};
use crate::simulate::{Arrival, Priced, Row, Simulator, Together, Verdict, markers};
use crate::trace::timeline::Sorted;
use crate::trace::{Observed, Trace, TraceError, Traced};
use crate::units::{SimTime, Tokens};
use crate::usage::Usage;

use agreement::Seen;
use models::{Known, Models};

/// Name of the plan in records.
pub const PLAN: &str = "replay";

/// How a trace is replayed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Model of the requests that name none, where the trace names none either.
    pub model: Option<String>,
    /// Day whose prices and default rules hold for all requests.
    pub date: Option<Date>,
    /// Rules that differ from the model's; they win over those that the trace states.
    pub rules: Vec<(String, RuleValue)>,
    /// Whether requests out of order are refused instead of sorted.
    pub strict: bool,
    /// Whether the times of the trace hold.
    pub timing: Timing,
}

/// What becomes of the times of a trace. Other times than the stated ones show what depends on
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// They hold.
    #[default]
    AsStated,
    /// Every answer begins at the start of its request, so that nothing has to be waited for.
    AnswersAtOnce,
    /// Time passes a hundred times faster, so that next to nothing expires.
    HundredTimesFaster,
}

impl Timing {
    fn change(self, event: &mut RequestEvent) {
        let faster = |at: &mut SimTime| *at = SimTime(at.0.div_euclid(100));
        match self {
            Timing::AsStated => {}
            Timing::AnswersAtOnce => event.first_token_at = event.start,
            Timing::HundredTimesFaster => {
                [&mut event.start, &mut event.first_token_at, &mut event.end]
                    .into_iter()
                    .for_each(faster);
            }
        }
    }
}

/// Why a trace cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace cannot be read.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A request names an unknown model.
    #[error("{trace}:{line}: {source}")]
    Model {
        /// The trace as it is named.
        trace: String,
        /// Its line.
        line: u64,
        /// What is near.
        source: UnknownModel,
    },
    /// A rule cannot have its value.
    #[error("{0}")]
    Rule(RuleError),
    /// Nobody wants the rows any more.
    #[error("{0}")]
    Sink(std::io::Error),
}

/// One request as it was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its row.
    pub record: RunRecord,
    /// Its line in the trace.
    pub line: u64,
    /// Whether its row has a price.
    pub is_priced: bool,
    /// What was billed for it.
    pub observed: Option<Observed>,
    /// How the prediction stands to that.
    pub agreement: Option<Agreement>,
}

/// What a replay came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Sums.
    pub sums: Sums,
    /// How many predictions equal the bill.
    pub agreements: Agreements,
    /// What was assumed, sorted or left out, in words.
    pub notes: Vec<String>,
    /// Last day whose prices were used.
    pub priced_on: Option<Date>,
}

/// Plays a trace and hands every request on, in the order of their starts.
///
/// Where a timeline turns out not to be in order, `restart` is called, what was handed on before is
/// void, and it is played again in order.
///
/// # Errors
/// Where the trace cannot be read, is out of order under [`Options::strict`], names an unknown
/// model or rule, or a row cannot be handed on.
pub fn replay(
    trace: &Trace,
    options: &Options,
    sink: &mut impl Sink,
) -> Result<Outcome, ReplayError> {
    match trace {
        Trace::Capture(capture) => {
            if let (true, Some(mistake)) = (options.strict, &capture.out_of_order) {
                return Err(TraceError::OutOfOrder(mistake.clone()).into());
            }
            let mut run = Run::new(capture.name(), options, &[], "billed", "exact");
            run.outcome.notes.clone_from(&capture.notes);
            run.sorted(capture.out_of_order.is_some());
            for request in capture.requests() {
                run.take(request.traced, &request.platform, request.day, sink)?;
            }
            run.end(sink)
        }
        Trace::Timeline(timeline) => match in_order(timeline, None, options, sink) {
            Err(ReplayError::Trace(TraceError::OutOfOrder(_))) if !options.strict => {
                sink.restart().map_err(ReplayError::Sink)?;
                let sorted = timeline.sorted()?;
                in_order(timeline, Some(sorted), options, sink)
            }
            ended => ended,
        },
    }
}

/// Where rows go.
pub trait Sink {
    /// One row, in order.
    ///
    /// # Errors
    /// Where it cannot be taken.
    fn row(&mut self, played: &Played) -> std::io::Result<()>;

    /// All rows so far are void.
    ///
    /// # Errors
    /// Where they cannot be taken back.
    fn restart(&mut self) -> std::io::Result<()>;
}

fn in_order(
    timeline: &crate::trace::Timeline,
    sorted: Option<Sorted>,
    options: &Options,
    sink: &mut impl Sink,
) -> Result<Outcome, ReplayError> {
    let header = &timeline.header;
    let tokenizer = header.tokenizer.as_deref().unwrap_or("stated");
    let exactness = if header.tokenizer.is_some() { "estimated" } else { "stated" };
    let mut run = Run::new(timeline.name(), options, &header.rules, tokenizer, exactness);
    run.sorted(sorted.is_some());
    let requests = match sorted {
        Some(sorted) => timeline.requests_sorted(sorted)?,
        None => timeline.requests()?,
    };
    let platform: Arc<str> = Arc::from("");
    for traced in requests {
        run.take(traced?, &platform, header.date, sink)?;
    }
    run.end(sink)
}

/// A replay on its way.
struct Run<'a> {
    name: &'a str,
    models: Models<'a>,
    tokenizer: &'a str,
    exactness: &'a str,
    simulator: Simulator,
    /// The requests of the latest start, not yet played.
    waiting: Vec<Waiting>,
    seq: u64,
    outcome: Outcome,
    unnamed: u64,
    /// Scopes and first blocks of the requests so far.
    beginnings: HashSet<(Arc<str>, u128)>,
}

/// Most first blocks that are remembered: beyond it a read under other parameters may be called
/// older than the trace.
const BEGINNINGS_MAX: usize = 100_000;

/// A request that waits for those that start with it.
struct Waiting {
    traced: Traced,
    model: Arc<Known>,
    blocks: Vec<CacheBlock>,
}

impl<'a> Run<'a> {
    fn new(
        name: &'a str,
        options: &'a Options,
        stated: &'a [(String, RuleValue)],
        tokenizer: &'a str,
        exactness: &'a str,
    ) -> Run<'a> {
        Run {
            name,
            models: Models::new(options, stated),
            tokenizer,
            exactness,
            simulator: Simulator::new(),
            waiting: Vec::new(),
            seq: 0,
            outcome: Outcome::default(),
            unnamed: 0,
            beginnings: HashSet::new(),
        }
    }

    fn sorted(&mut self, was_needed: bool) {
        if was_needed {
            self.outcome.notes.push("requests are sorted by their starts".to_owned());
        }
    }

    fn take(
        &mut self,
        mut traced: Traced,
        platform: &Arc<str>,
        day: Option<Date>,
        sink: &mut impl Sink,
    ) -> Result<(), ReplayError> {
        let place = (self.name, traced.line);
        let model = self.models.find(&traced.event.model, platform, day, place)?;
        self.unnamed += u64::from(model.id.is_empty());
        self.models.options.timing.change(&mut traced.event);
        if self.waiting.first().is_some_and(|first| first.traced.event.start < traced.event.start) {
            self.play(sink)?;
        }
        let blocks = match &traced.event.payload {
            Payload::Blocks(stated) => cache_blocks(stated),
            // Traces carry blocks; bodies are rendered where they are read.
            Payload::Body(_) => Vec::new(),
        };
        self.waiting.push(Waiting { traced, model, blocks });
        Ok(())
    }

    fn play(&mut self, sink: &mut impl Sink) -> Result<(), ReplayError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let verdicts = self.simulator.play(&mut Group(&waiting));
        for (request, verdict) in waiting.iter().zip(&verdicts) {
            let played = self.played(request, verdict);
            sink.row(&played).map_err(ReplayError::Sink)?;
        }
        waiting.clear();
        self.waiting = waiting;
        Ok(())
    }

    fn played(&mut self, request: &Waiting, verdict: &Verdict) -> Played {
        let Waiting { traced, model, blocks } = request;
        let usage = verdict.outcome.usage(traced.event.output);
        let price = model.price(&usage);
        let at = |blocks_read: usize| tokens_at(blocks, blocks_read);
        let observed = traced.observed;
        let begins_as_another = self.begins_as_another(traced);
        let seen = Seen {
            sizes: &traced.sizes,
            verdict,
            blocks,
            min_tokens: model.rules.min_tokens,
            begins_as_another,
        };
        let agreement = observed.map(|observed| Agreement::judge(&seen, &observed));
        self.sum(request, verdict, usage, price);
        agreement.into_iter().for_each(|agreement| self.outcome.agreements.note(agreement));
        let read_end = verdict.outcome.read_block;
        let row = Row {
            plan: PLAN,
            seq: self.seq,
            event: &traced.event,
            model: &model.id,
            usage,
            price,
            reason: Some(verdict.reason),
            shared_end: at(verdict.shared_end),
            read_end: read_end.map_or(String::new(), |block| format!("/blocks/{block}")),
            body_bytes: 0,
            prompt_bytes: 0,
            shared_with_parent: Tokens::ZERO,
            markers: markers(blocks),
            tokenizer: self.tokenizer,
            exactness: self.exactness,
        };
        self.seq += 1;
        let is_priced = price.is_some();
        Played { record: row.record(), line: traced.line, is_priced, observed, agreement }
    }

    /// Whether a request before it, in its scope, begins with the same block. Notes its own.
    fn begins_as_another(&mut self, traced: &Traced) -> bool {
        let Payload::Blocks(stated) = &traced.event.payload else { return false };
        let Some(first) = stated.blocks.first() else { return false };
        let beginning = (Arc::clone(&traced.event.scope), first.identity);
        if self.beginnings.len() >= BEGINNINGS_MAX {
            return self.beginnings.contains(&beginning);
        }
        !self.beginnings.insert(beginning)
    }

    fn sum(&mut self, request: &Waiting, verdict: &Verdict, usage: Usage, price: Option<Priced>) {
        let Waiting { traced, model, blocks } = request;
        let (input, output) = (usage.input(), usage.output);
        let seen = tokens_at(blocks, verdict.seen_end);
        let plain = Usage::all_uncached(input, output);
        let perfect = Usage { read: seen, uncached: input - seen, output, ..Usage::default() };
        let sums = &mut self.outcome.sums;
        sums.predicted.add(usage, price);
        sums.no_cache.add(plain, model.price(&plain));
        sums.perfect.add(perfect, model.price(&perfect));
        sums.add_model(&model.id, usage, price);
        *sums.reasons.entry(verdict.reason).or_default() += 1;
        if let Some(billed) = traced.observed.and_then(|observed| billed(&observed, output)) {
            sums.billed.add(billed, model.price(&billed));
            sums.predicted_of_billed.add(usage, price);
        }
        let latest = self.outcome.priced_on.max(Some(model.day));
        self.outcome.priced_on = latest;
    }

    fn end(mut self, sink: &mut impl Sink) -> Result<Outcome, ReplayError> {
        self.play(sink)?;
        let notes = &mut self.outcome.notes;
        if self.unnamed > 0 {
            notes.push(format!(
                "{} of the requests name no model: they have no price, and a prefix is cached from \
                 {} tokens on (assumed); name one with --model",
                self.unnamed, MIN_TOKENS_ASSUMED
            ));
        }
        if self.models.on_another_day > 0 {
            notes.push(format!(
                "older than the first known price of their model, and priced at the newest: {} of \
                 the requests",
                self.models.on_another_day
            ));
        }
        Ok(self.outcome)
    }
}

/// The whole bill, where the trace says it.
fn billed(observed: &Observed, output: Tokens) -> Option<Usage> {
    Some(Usage {
        read: Tokens(observed.read?),
        write_5m: Tokens(observed.write_5m?),
        write_1h: Tokens(observed.write_1h?),
        uncached: Tokens(observed.uncached?),
        output,
    })
}

fn tokens_at(blocks: &[CacheBlock], number: usize) -> Tokens {
    number.checked_sub(1).map_or(Tokens::ZERO, |last| blocks[last].tokens_so_far)
}

/// The blocks as the cache sees them.
fn cache_blocks(stated: &StatedPrompt) -> Vec<CacheBlock> {
    let mut prefix_hash = identity::of_namespace(&stated.namespace);
    let mut tokens_so_far = Tokens::ZERO;
    let blocks = stated.blocks.iter();
    blocks
        .map(|block| {
            prefix_hash = identity::followed_by(prefix_hash, block.identity);
            tokens_so_far += block.tokens;
            let kind = position_kind(block.kind);
            CacheBlock { prefix_hash, tokens_so_far, kind, marker: block.marker }
        })
        .collect()
}

/// Requests that start together.
struct Group<'a>(&'a [Waiting]);

impl Together for Group<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn arrival(&mut self, index: usize) -> Arrival<'_> {
        let Waiting { traced, model, blocks } = &self.0[index];
        let tail = match &traced.event.payload {
            Payload::Blocks(stated) => stated.tail,
            Payload::Body(_) => Tokens::ZERO,
        };
        let (start, readable_at): (SimTime, SimTime) =
            (traced.event.start, traced.event.first_token_at);
        Arrival {
            lane: (&traced.event.scope, &model.id),
            rules: Some(&model.rules),
            blocks,
            tail,
            start,
            readable_at,
            siblings: None,
        }
    }
}
