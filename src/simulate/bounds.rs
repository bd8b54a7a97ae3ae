//! Bounds and other rules that stand beside every plan: no cache, a perfect cache, the chapter's
//! model.

use std::collections::{BTreeMap, HashSet};

use super::measured::Measured;
use crate::cache::PrefixMap;
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
pub(super) fn perfect(measured: &Measured) -> Vec<Usage> {
    let mut scopes: BTreeMap<&str, Seen> = BTreeMap::new();
    let mut usages = Vec::with_capacity(measured.events.len());
    for (event, prompt) in measured.events.iter().zip(&measured.prompts) {
        let seen = scopes.entry(&event.scope).or_default();
        // What an earlier sibling shares with this event needs no look.
        let is_first = seen.families.insert(prompt.family_key());
        let known = if is_first { 0 } else { prompt.shared_len() };
        let measures = || (known..prompt.len()).filter_map(|block| prompt.block(block));
        let more =
            measures().take_while(|(_, measure)| seen.prefixes.contains_key(&measure.prefix_hash));
        let end = known + more.count();
        let last = end.checked_sub(1).and_then(|last| prompt.block(last));
        let read = last.map_or(Tokens::ZERO, |(_, measure)| measure.tokens_so_far);
        let uncached = prompt.tokens() - read;
        usages.push(Usage { read, uncached, output: event.output, ..Usage::default() });
        seen.prefixes.extend(measures().map(|(_, measure)| (measure.prefix_hash, ())));
    }
    usages
}

/// What events of one scope contained: families of prompts by their keys, and prefixes.
#[derive(Default)]
struct Seen {
    families: HashSet<usize>,
    prefixes: PrefixMap<u128, ()>,
}

/// The first child at full price; every later one reads all blocks before its own; no write is
/// dearer than plain input. No provider bills like this.
pub(super) fn chapter(measured: &Measured) -> Vec<Usage> {
    let mut children = 0;
    let requests = measured.events.iter().zip(&measured.prompts);
    requests
        .map(|(event, prompt)| {
            let own = prompt.own().map_or(Tokens::ZERO, |(_, measure)| measure.tokens);
            let later = event.role == RequestRole::Child && children > 0;
            children += u32::from(event.role == RequestRole::Child);
            let read = if later { prompt.tokens() - own } else { Tokens::ZERO };
            let uncached = prompt.tokens() - read;
            Usage { read, uncached, output: event.output, ..Usage::default() }
        })
        .collect()
}
