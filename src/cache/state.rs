//! The entries of a cache and what a request does to them.

use std::collections::BTreeSet;

use super::outcome::{CacheOutcome, Missed};
use super::positions::{CacheBlock, ends_position, window_start};
use super::prefix_map::PrefixMap;
use super::rules::CacheRules;
use crate::units::{CacheTtl, SimTime, Tokens};

/// One request as the cache sees it.
#[derive(Clone, Copy, Debug)]
pub struct CacheRequest<'a> {
    /// Blocks in the provider's order, with chained hashes.
    pub blocks: &'a [CacheBlock],
    /// When it is sent: its lookups happen here and lifetimes count from here.
    pub start: SimTime,
    /// When its response begins: what it writes is readable from here.
    pub readable_at: SimTime,
}

/// What one earlier request wrote at one breakpoint.
#[derive(Clone, Copy, Debug)]
struct Entry {
    ttl: CacheTtl,
    readable_at: SimTime,
    expires_at: SimTime,
}

/// The entries that requests have written. Requests must come in order of their start.
#[derive(Clone, Debug)]
pub struct PromptCache {
    rules: CacheRules,
    entries: PrefixMap<(u128, Option<CacheTtl>), Entry>,
    /// Indices of the blocks at whose ends entries were ever written. Equal prefixes have equally
    /// many blocks, so nowhere else is a look needed.
    ends: BTreeSet<usize>,
    latest_start: Option<SimTime>,
}

impl PromptCache {
    /// An empty cache.
    pub fn new(rules: CacheRules) -> PromptCache {
        let (entries, ends) = (PrefixMap::default(), BTreeSet::new());
        PromptCache { rules, entries, ends, latest_start: None }
    }

    /// Reads what the request may read, then writes what it writes.
    ///
    /// The parts are billed by the highest hit A, the last one-hour marker B behind it and the last
    /// marker C: A read, A to B written for one hour, B to C for five minutes, the rest uncached
    /// (equation 1 of `docs/model.md`).
    ///
    /// # Panics
    /// Where a request starts before an earlier call's: time never runs backwards (INV-9).
    pub fn access(&mut self, request: CacheRequest<'_>) -> CacheOutcome {
        assert!(
            self.latest_start.is_none_or(|latest| latest <= request.start),
            "requests must be given in order of their start"
        );
        self.latest_start = Some(request.start);
        let markers = self.effective_markers(request.blocks);
        let mut outcome = CacheOutcome {
            markers_effective: markers.effective.len(),
            below_minimum: markers.below,
            ..CacheOutcome::default()
        };
        let found = self.longest_match(request, &markers.effective);
        let hit = found.map(|(block, _)| block);
        outcome.missed = self.missed_behind(request, hit, &markers.effective);
        if let Some(found) = found {
            self.refresh(request, found, &markers.effective);
        }
        let read = hit.map_or(Tokens::ZERO, |block| request.blocks[block].tokens_so_far);
        self.write(request, hit, &markers.effective, &mut outcome);
        bill(request.blocks, read, &mut outcome);
        outcome.read_block = hit;
        outcome
    }

    /// From here on these rules hold; entries stay.
    pub fn follow(&mut self, rules: &CacheRules) {
        if self.rules != *rules {
            self.rules = rules.clone();
        }
    }

    /// Forgets the entries whose lifetime was over at `moment`. They can never be read again; until
    /// they are forgotten they tell an expired entry from one that nobody wrote.
    pub fn forget_expired(&mut self, moment: SimTime) {
        self.entries.retain(|_, entry| moment < entry.expires_at);
    }

    /// Number of entries that are remembered, alive or expired.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True where no entry is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn effective_markers(&self, blocks: &[CacheBlock]) -> Markers {
        let mut markers = Markers::default();
        for (index, block) in blocks.iter().enumerate() {
            let Some(ttl) = block.marker else { continue };
            if block.tokens_so_far >= self.rules.min_tokens {
                markers.effective.push((index, ttl));
            } else {
                markers.below.push(index);
            }
        }
        markers
    }

    /// From each marker, walk back over at most `lookback` positions, the marker's own the first.
    /// Gives the block at whose end the longest match ends, and the lifetime of the marker that
    /// found it.
    fn longest_match(
        &self,
        request: CacheRequest<'_>,
        markers: &[(usize, CacheTtl)],
    ) -> Option<(usize, CacheTtl)> {
        let mut longest: Option<(usize, CacheTtl)> = None;
        for (marker, ttl) in markers.iter().rev() {
            let behind = longest.map_or(0, |(block, _)| block + 1);
            if behind > *marker {
                continue;
            }
            let first = window_start(request.blocks, *marker, &self.rules).max(behind);
            let found = self
                .ends
                .range(first..=*marker)
                .rev()
                .copied()
                .filter(|block| self.is_looked_at(request.blocks, *block, *marker))
                .find(|block| self.is_readable(&request.blocks[*block], *ttl, request.start));
            longest = found.map(|block| (block, *ttl)).or(longest);
        }
        longest
    }

    /// Inside a collapsed run every block is looked at, or only the last one, as the rules say.
    fn is_looked_at(&self, blocks: &[CacheBlock], block: usize, marker: usize) -> bool {
        self.rules.match_inside_runs || block == marker || ends_position(blocks, block, &self.rules)
    }

    fn is_readable(&self, block: &CacheBlock, ttl: CacheTtl, now: SimTime) -> bool {
        self.entry(block, ttl).is_some_and(|entry| entry.is_alive(now))
    }

    fn key(&self, block: &CacheBlock, ttl: CacheTtl) -> (u128, Option<CacheTtl>) {
        (block.prefix_hash, self.rules.ttl_in_key.then_some(ttl))
    }

    fn entry(&self, block: &CacheBlock, ttl: CacheTtl) -> Option<&Entry> {
        self.entries.get(&self.key(block, ttl))
    }

    /// Entries of this request's own prefixes, longer than what is read, and why each is not read.
    fn missed_behind(
        &self,
        request: CacheRequest<'_>,
        hit: Option<usize>,
        markers: &[(usize, CacheTtl)],
    ) -> Vec<(usize, Missed)> {
        let first = hit.map_or(0, |block| block + 1);
        let mut missed = Vec::new();
        // Without lifetimes in the key one look finds what there is.
        let lifetimes: &[CacheTtl] = match self.rules.ttl_in_key {
            true => &[CacheTtl::FiveMinutes, CacheTtl::OneHour],
            false => &[CacheTtl::FiveMinutes],
        };
        for index in self.ends.range(first..).copied() {
            let Some(block) = request.blocks.get(index) else { break };
            let states = lifetimes
                .iter()
                .filter_map(|ttl| Some((*ttl, self.entry(block, *ttl)?)))
                .map(|(ttl, entry)| {
                    let looks = |(at, of): &(usize, CacheTtl)| {
                        *at >= index && (!self.rules.ttl_in_key || *of == ttl)
                    };
                    entry.missed(request.start, markers.iter().any(looks))
                });
            missed.extend(states.map(|state| (index, state)));
        }
        missed
    }

    /// A read restarts the lifetime of the entry that is read, at no cost; of the entries at the
    /// request's earlier markers too where the rules say so.
    fn refresh(
        &mut self,
        request: CacheRequest<'_>,
        (hit, ttl): (usize, CacheTtl),
        markers: &[(usize, CacheTtl)],
    ) {
        self.refresh_one(&request, hit, ttl);
        for (block, ttl) in markers.iter().filter(|(block, _)| *block <= hit) {
            if self.rules.refresh_earlier {
                self.refresh_one(&request, *block, *ttl);
            }
            if self.rules.longer_ttl_extends && *ttl == CacheTtl::OneHour {
                self.extend_to_an_hour(&request, *block);
            }
        }
    }

    /// An entry that has the hour already is none that a longer marker extends.
    fn extend_to_an_hour(&mut self, request: &CacheRequest<'_>, block: usize) {
        let key = self.key(&request.blocks[block], CacheTtl::OneHour);
        let now = request.start;
        let readable = self.entries.get_mut(&key).filter(|entry| entry.is_alive(now));
        if let Some(entry) = readable.filter(|entry| entry.ttl < CacheTtl::OneHour) {
            entry.ttl = CacheTtl::OneHour;
            entry.expires_at = now.plus_ms(CacheTtl::OneHour.as_millis());
        }
    }

    fn refresh_one(&mut self, request: &CacheRequest<'_>, block: usize, ttl: CacheTtl) {
        let key = self.key(&request.blocks[block], ttl);
        let now = request.start;
        if let Some(entry) = self.entries.get_mut(&key).filter(|entry| entry.is_alive(now)) {
            entry.expires_at = entry.expires_at.max(now.plus_ms(entry.ttl.as_millis()));
        }
    }

    fn write(
        &mut self,
        request: CacheRequest<'_>,
        hit: Option<usize>,
        markers: &[(usize, CacheTtl)],
        outcome: &mut CacheOutcome,
    ) {
        for (block, ttl) in markers {
            if hit.is_none_or(|hit| *block > hit) {
                self.insert(&request, *block, *ttl);
                outcome.written.push((*block, *ttl));
            } else if self.rules.write_below_hit {
                self.insert(&request, *block, *ttl);
                outcome.left.push(*block);
            }
        }
    }

    /// Two writers of one prefix leave one entry: readable when the first is, alive as long as the
    /// longer.
    fn insert(&mut self, request: &CacheRequest<'_>, block: usize, ttl: CacheTtl) {
        let key = self.key(&request.blocks[block], ttl);
        let mut entry = Entry {
            ttl,
            readable_at: request.readable_at,
            expires_at: request.start.plus_ms(ttl.as_millis()),
        };
        let alive = self.entries.get(&key).filter(|before| request.start < before.expires_at);
        if let Some(before) = alive {
            entry.readable_at = entry.readable_at.min(before.readable_at);
            entry.expires_at = entry.expires_at.max(before.expires_at);
            entry.ttl = entry.ttl.max(before.ttl);
        }
        self.entries.insert(key, entry);
        self.ends.insert(block);
    }
}

impl Entry {
    /// Readable and not yet expired.
    fn is_alive(&self, now: SimTime) -> bool {
        self.readable_at <= now && now < self.expires_at
    }

    /// Why it is not read; `looked_for` says whether any marker stands at or behind it.
    fn missed(&self, now: SimTime, looked_for: bool) -> Missed {
        if now >= self.expires_at {
            Missed::Expired
        } else if now < self.readable_at {
            Missed::NotYetReadable
        } else if looked_for {
            Missed::OutOfReach
        } else {
            Missed::NotLookedFor
        }
    }
}

/// The markers of a request, by block.
#[derive(Default)]
struct Markers {
    effective: Vec<(usize, CacheTtl)>,
    below: Vec<usize>,
}

/// Splits the input at A (read), B (last one-hour marker behind A) and C (last marker behind A).
fn bill(blocks: &[CacheBlock], read: Tokens, outcome: &mut CacheOutcome) {
    let total = blocks.last().map_or(Tokens::ZERO, |block| block.tokens_so_far);
    let end_of = |ttl: Option<CacheTtl>| {
        let ends =
            outcome.written.iter().filter(|(_, written)| ttl.is_none_or(|ttl| ttl == *written));
        ends.map(|(block, _)| blocks[*block].tokens_so_far).max().unwrap_or(read)
    };
    let end_1h = end_of(Some(CacheTtl::OneHour));
    let end = end_of(None);
    outcome.read = read;
    outcome.write_1h = end_1h - read;
    outcome.write_5m = end - end_1h;
    outcome.uncached = total - end;
    assert_eq!(
        outcome.usage(Tokens::ZERO).input(),
        total,
        "every input token is billed once (INV-1)"
    );
}
