//! Why a request read what it read, from the timeline alone.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::cache::{CacheBlock, CacheOutcome, Missed, PrefixMap};
use crate::record::Reason;
use crate::units::{SimTime, Tokens};

/// What requests did at a prefix without leaving something to read.
#[derive(Clone, Copy, Debug, Default)]
struct Traces {
    writers: u32,
    below_minimum: u32,
    last: SimTime,
}

/// Who wrote, and who marked in vain, at each prefix.
#[derive(Default)]
pub(super) struct Marks {
    traces: PrefixMap<u128, Traces>,
    /// Indices of the blocks at whose ends something was done.
    ends: BTreeSet<usize>,
}

impl Marks {
    /// Takes note of what one request did.
    pub(super) fn note(&mut self, blocks: &[CacheBlock], outcome: &CacheOutcome, start: SimTime) {
        for block in outcome.written.iter().map(|(block, _)| block).chain(&outcome.left) {
            self.at_end(blocks, *block, start, |traces| traces.writers += 1);
        }
        for block in &outcome.below_minimum {
            self.at_end(blocks, *block, start, |traces| traces.below_minimum += 1);
        }
    }

    fn at_end(
        &mut self,
        blocks: &[CacheBlock],
        block: usize,
        start: SimTime,
        change: impl Fn(&mut Traces),
    ) {
        let traces = self.traces.entry(blocks[block].prefix_hash).or_default();
        change(traces);
        traces.last = start;
        self.ends.insert(block);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.traces.clear();
        self.ends.clear();
    }

    /// Forgets what was last done before `moment`.
    pub(super) fn forget(&mut self, moment: SimTime) {
        self.traces.retain(|_, traces| moment <= traces.last);
    }

    fn at(&self, hash: u128) -> Traces {
        self.traces.get(&hash).copied().unwrap_or_default()
    }

    fn ends(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        self.ends.range(range).copied()
    }
}

/// The reason of a request, once all requests of its moment are through. Ends are compared by
/// tokens: blocks without any leave nothing to save.
pub(super) fn reason_of(
    blocks: &[CacheBlock],
    outcome: &CacheOutcome,
    shared_end: usize,
    moment: &Marks,
    earlier: &Marks,
) -> Reason {
    let shared = shared_end.checked_sub(1).map_or(Tokens::ZERO, |last| blocks[last].tokens_so_far);
    if shared == Tokens::ZERO {
        return Reason::FirstOfPrefix;
    }
    if outcome.read >= shared {
        return Reason::Hit;
    }
    if outcome.markers_effective == 0 && outcome.below_minimum.is_empty() {
        return Reason::NoMarker;
    }
    match deciding_cause(blocks, outcome, shared_end, moment, earlier) {
        Some(Reason::NoMarker) => Reason::NoMarker,
        Some(_) | None if outcome.markers_effective == 0 => Reason::BelowMinimum,
        Some(cause) => cause,
        None => Reason::NoEntryAtBoundary,
    }
}

/// Of the places behind the read at which something was written, or marked in vain, the farthest
/// decides: it would have saved the most. Where several causes meet at that place the first in the
/// order of [`Reason`] holds.
fn deciding_cause(
    blocks: &[CacheBlock],
    outcome: &CacheOutcome,
    shared_end: usize,
    moment: &Marks,
    earlier: &Marks,
) -> Option<Reason> {
    let behind = outcome.read_block.map_or(0, |block| block + 1)..shared_end;
    let missed = outcome.missed.iter().map(|(block, _)| *block);
    let places: BTreeSet<usize> = missed
        .filter(|block| behind.contains(block))
        .chain(moment.ends(behind.clone()))
        .chain(earlier.ends(behind.clone()))
        .collect();
    places.into_iter().rev().find_map(|block| {
        let hash = blocks[block].prefix_hash;
        let (here, before) = (moment.at(hash), earlier.at(hash));
        let wrote = outcome.written.iter().any(|(written, _)| *written == block);
        let tried = outcome.below_minimum.contains(&block);
        let in_vain = here.below_minimum + before.below_minimum > u32::from(tried);
        let sibling = here.writers > u32::from(wrote);
        let missed =
            outcome.missed.iter().filter(|(at, _)| *at == block).map(|(_, why)| match why {
                Missed::NotYetReadable => Reason::NotYetReadable,
                Missed::Expired => Reason::Expired,
                Missed::OutOfReach => Reason::LookbackExceeded,
                Missed::NotLookedFor => Reason::NoMarker,
            });
        let tried = in_vain.then_some(Reason::BelowMinimum);
        tried.into_iter().chain(sibling.then_some(Reason::NotYetReadable)).chain(missed).min()
    })
}
