//! Why a request read what it read, from the timeline alone.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::cache::{CacheBlock, CacheOutcome, Missed, PrefixMap};
use crate::record::Reason;
use crate::units::SimTime;

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
        for (block, _) in &outcome.written {
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

/// The reason of a request, once all requests of its moment are through.
///
/// Of the places behind its read at which something was written, or marked in vain, the farthest
/// decides: it would have saved the most. Where several causes meet at that place the first in the
/// order of [`Reason`] holds.
pub(super) fn reason_of(
    blocks: &[CacheBlock],
    outcome: &CacheOutcome,
    shared_end: usize,
    moment: &Marks,
    earlier: &Marks,
) -> Reason {
    if shared_end == 0 {
        return Reason::FirstOfPrefix;
    }
    let read = outcome.read_block.map_or(0, |block| block + 1);
    if read >= shared_end {
        return Reason::Hit;
    }
    if outcome.markers_effective == 0 {
        let in_vain = !outcome.below_minimum.is_empty();
        return if in_vain { Reason::BelowMinimum } else { Reason::NoMarker };
    }
    let behind = read..shared_end;
    let missed = outcome.missed.iter().map(|(block, _)| *block);
    let places: BTreeSet<usize> = missed
        .filter(|block| behind.contains(block))
        .chain(moment.ends(behind.clone()))
        .chain(earlier.ends(behind.clone()))
        .collect();
    for block in places.into_iter().rev() {
        let hash = blocks[block].prefix_hash;
        let (here, before) = (moment.at(hash), earlier.at(hash));
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
