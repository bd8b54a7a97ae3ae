//! Why a request read what it read, from the timeline alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::measured::Measured;
use crate::cache::{CacheOutcome, Missed, PrefixMap};
use crate::measure::TokenizedPrompt;
use crate::record::Reason;
use crate::units::SimTime;

/// Who holds a prefix: the two earliest starts, with the event that has the first.
#[derive(Clone, Copy)]
struct Holders {
    first: (SimTime, usize),
    second: Option<SimTime>,
}

/// The holders of every prefix of one scope, and how many events of each family of prompts are
/// noted.
#[derive(Default)]
struct Scope {
    holders: PrefixMap<u128, Holders>,
    families: HashMap<usize, usize>,
}

impl Scope {
    /// Takes note of an event's prefixes. Events come in the order of their starts, so of a family
    /// the first two say all about the blocks that it shares.
    fn note(&mut self, index: usize, start: SimTime, prompt: &TokenizedPrompt) {
        let members = self.families.entry(prompt.family_key()).or_default();
        *members += 1;
        let known = if *members > 2 { prompt.shared_len() } else { 0 };
        for block in known..prompt.len() {
            let Some((_, measure)) = prompt.block(block) else { continue };
            self.holders
                .entry(measure.prefix_hash)
                .and_modify(|known| known.second = known.second.or(Some(start)))
                .or_insert(Holders { first: (start, index), second: None });
        }
    }

    /// Whether another event than the one at `index`, starting no later, has the prefix too.
    fn is_shared(&self, hash: u128, index: usize, start: SimTime) -> bool {
        self.holders.get(&hash).is_some_and(|known| {
            if known.first.1 == index {
                known.second.is_some_and(|second| second <= start)
            } else {
                known.first.0 <= start
            }
        })
    }
}

/// For every event the number of leading blocks that another event, starting no later, also has.
pub(super) fn shared_ends(measured: &Measured) -> Vec<usize> {
    let mut scopes: BTreeMap<&str, Scope> = BTreeMap::new();
    let events = || measured.events.iter().zip(&measured.prompts).enumerate();
    for (index, (event, prompt)) in events() {
        scopes.entry(&event.scope).or_default().note(index, event.start, prompt);
    }
    let mut seen: HashSet<(&str, usize)> = HashSet::new();
    let ends = events().map(|(index, (event, prompt))| {
        let Some(scope) = scopes.get(event.scope.as_str()) else { return 0 };
        // What an earlier sibling shares with this event needs no look.
        let is_first = seen.insert((&event.scope, prompt.family_key()));
        let known = if is_first { 0 } else { prompt.shared_len() };
        let hash = |block: usize| prompt.block(block).map(|(_, measure)| measure.prefix_hash);
        let more = (known..prompt.len()).map_while(hash);
        known + more.take_while(|hash| scope.is_shared(*hash, index, event.start)).count()
    });
    ends.collect()
}

/// What other requests that start no later did at a prefix without leaving something to read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traces {
    writers: u32,
    below_minimum: u32,
}

/// Who wrote, and who tried in vain, at each prefix, among the requests that start at one moment.
#[derive(Default)]
pub(super) struct Moment<'a> {
    scopes: BTreeMap<&'a str, Noted>,
}

/// What was left in one scope, by prefix, and the indices of the blocks at whose ends something
/// was.
#[derive(Default)]
struct Noted {
    traces: PrefixMap<u128, Traces>,
    ends: BTreeSet<usize>,
}

impl<'a> Moment<'a> {
    /// Takes note of what one request did.
    pub(super) fn note(&mut self, measured: &'a Measured, index: usize, outcome: &CacheOutcome) {
        let scope = measured.events[index].scope.as_str();
        let prompt = &measured.prompts[index];
        let hash = |block: usize| prompt.block(block).map(|(_, measure)| measure.prefix_hash);
        let noted = self.scopes.entry(scope).or_default();
        noted.ends.extend(outcome.written.iter().map(|(block, _)| *block));
        noted.ends.extend(&outcome.below_minimum);
        for hash in outcome.written.iter().filter_map(|(block, _)| hash(*block)) {
            noted.traces.entry(hash).or_default().writers += 1;
        }
        for hash in outcome.below_minimum.iter().filter_map(|block| hash(*block)) {
            noted.traces.entry(hash).or_default().below_minimum += 1;
        }
    }

    fn at(&self, scope: &str, hash: u128) -> Traces {
        let noted = self.scopes.get(scope);
        noted.and_then(|noted| noted.traces.get(&hash)).copied().unwrap_or_default()
    }

    /// Indices of the blocks in `range` at whose ends requests of the scope left something.
    fn ends(&self, scope: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        self.scopes
            .get(scope)
            .into_iter()
            .flat_map(move |noted| noted.ends.range(range.clone()))
            .copied()
    }
}

/// The reason of the event at `index`, once all events of its moment are through.
///
/// Of the places behind its read at which something was written, or marked in vain, the farthest
/// decides: it would have saved the most. Where several causes meet at that place the first in the
/// order of [`Reason`] holds.
pub(super) fn reason_of<'a>(
    measured: &'a Measured,
    index: usize,
    outcome: &CacheOutcome,
    shared_end: usize,
    moment: &Moment<'a>,
    earlier_in_vain: &Moment<'a>,
) -> Reason {
    let prompt = &measured.prompts[index];
    if shared_end == 0 {
        return Reason::FirstOfPrefix;
    }
    let read = outcome.read_block.map_or(0, |block| block + 1);
    if read >= shared_end {
        return Reason::Hit;
    }
    let markers = prompt.marked().count();
    if markers == 0 {
        return Reason::NoMarker;
    }
    if outcome.below_minimum.len() == markers {
        return Reason::BelowMinimum;
    }
    let scope = measured.events[index].scope.as_str();
    let behind = read..shared_end;
    let missed = outcome.missed.iter().map(|(block, _)| *block);
    let places: BTreeSet<usize> = missed
        .filter(|block| behind.contains(block))
        .chain(moment.ends(scope, behind.clone()))
        .chain(earlier_in_vain.ends(scope, behind.clone()))
        .collect();
    for block in places.into_iter().rev() {
        let Some((_, measure)) = prompt.block(block) else { continue };
        let here = moment.at(scope, measure.prefix_hash);
        let before = earlier_in_vain.at(scope, measure.prefix_hash);
        let wrote = outcome.written.iter().any(|(written, _)| *written == block);
        let tried = outcome.below_minimum.contains(&block);
        let in_vain = here.below_minimum + before.below_minimum > u32::from(tried);
        let sibling = here.writers > u32::from(wrote);
        let missed = outcome.missed.iter().find(|(at, _)| *at == block).map(|(_, why)| *why);
        let causes = [
            in_vain.then_some(Reason::BelowMinimum),
            sibling.then_some(Reason::NotYetReadable),
            missed.map(|why| match why {
                Missed::NotYetReadable => Reason::NotYetReadable,
                Missed::Expired => Reason::Expired,
                Missed::OutOfReach => Reason::LookbackExceeded,
                Missed::NotLookedFor => Reason::NoMarker,
            }),
        ];
        if let Some(reason) = causes.into_iter().flatten().min() {
            return reason;
        }
    }
    Reason::NoEntryAtBoundary
}
