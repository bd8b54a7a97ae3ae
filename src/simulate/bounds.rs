//! Bounds and other rules that stand beside every plan: no cache, a perfect cache, the chapter's
//! model.

use super::measured::Measured;
use super::stream::Verdict;
use crate::measure::TokenizedPrompt;
use crate::request::RequestRole;
use crate::units::Tokens;
use crate::usage::Usage;

/// Nothing is cached: all input is uncached.
pub(super) fn no_cache(measured: &Measured) -> Vec<Usage> {
    let requests = measured.events.iter().zip(&measured.prompts);
    requests.map(|(event, prompt)| Usage::all_uncached(prompt.tokens(), event.output)).collect()
}

/// Every prefix that an earlier event contained is read at block grain, at once, for ever, and
/// nothing is written. Events that start together count in the order in which they are sent. A
/// bound, not a plan.
pub(super) fn perfect(measured: &Measured, verdicts: &[Verdict]) -> Vec<Usage> {
    let requests = measured.events.iter().zip(&measured.prompts).zip(verdicts);
    requests
        .map(|((event, prompt), verdict)| {
            let read = tokens_at(prompt, verdict.seen_end);
            let uncached = prompt.tokens() - read;
            Usage { read, uncached, output: event.output, ..Usage::default() }
        })
        .collect()
}

/// Tokens of the first `blocks` blocks.
pub(super) fn tokens_at(prompt: &TokenizedPrompt, blocks: usize) -> Tokens {
    let last = blocks.checked_sub(1).and_then(|last| prompt.block(last));
    last.map_or(Tokens::ZERO, |(_, measure)| measure.tokens_so_far)
}

/// The first child at full price; every later one reads all blocks before its own; no write is
/// dearer than plain input. No provider bills like this.
pub(super) fn chapter(measured: &Measured) -> Vec<Usage> {
    let mut children = 0;
    let requests = measured.events.iter().zip(&measured.prompts);
    requests
        .map(|(event, prompt)| {
            let own = prompt.own().map_or(Tokens::ZERO, |(_, measure)| measure.tokens);
            let own = own + prompt.tail();
            let later = event.role == RequestRole::Child && children > 0;
            children += u32::from(event.role == RequestRole::Child);
            let read = if later { prompt.tokens() - own } else { Tokens::ZERO };
            let uncached = prompt.tokens() - read;
            Usage { read, uncached, output: event.output, ..Usage::default() }
        })
        .collect()
}
