//! What B reads of A when it is sent right behind it, by the cache itself.

use super::body::Body;
use super::found::Pair;
use super::outcome::{BlockPlace, Lookback};
use crate::cache::outcome::Missed;
use crate::cache::{CacheBlock, CacheRequest, CacheRules, PromptCache};
use crate::measure::position_kind;
use crate::units::{SimTime, Tokens};

/// Tokens that every block is given: sizes decide nothing here.
const BLOCK_TOKENS: u64 = 1_000;

/// What B reads, and why it reads less than the longest valid entry; nothing is said of requests
/// that the API refuses.
#[derive(Default)]
pub(super) struct Reach {
    pub(super) read: Option<BlockPlace>,
    pub(super) lookback: Option<Lookback>,
}

/// Sends A, then B, whose first `valid` blocks are A's, through a cache without a minimum.
pub(super) fn reach(pair: Pair<'_>, valid: usize, rules: &CacheRules) -> Reach {
    let rules = CacheRules { min_tokens: Tokens::ZERO, ..rules.clone() };
    let positions = rules.lookback;
    let mut cache = PromptCache::new(rules);
    let (a, b) = (cache_blocks(pair.a, usize::MAX), cache_blocks(pair.b, valid));
    let at = |start: i64| (SimTime(start), SimTime(start + 1));
    let ((start, readable_at), (later, later_readable)) = (at(0), at(1));
    cache.access(CacheRequest { blocks: &a, start, readable_at });
    let outcome =
        cache.access(CacheRequest { blocks: &b, start: later, readable_at: later_readable });
    let place = |body: &Body<'_>, index: usize| BlockPlace {
        pointer: body.blocks[index].pointer.clone(),
        block: index as u64 + 1,
    };
    let missed = outcome.missed.iter().rev().find_map(|(block, missed)| match missed {
        Missed::OutOfReach => Some((*block, "lookback_exceeded")),
        Missed::NotLookedFor => Some((*block, "no_marker")),
        Missed::NotYetReadable | Missed::Expired => None,
    });
    let lookback = missed.map(|(entry, reason)| Lookback {
        reason,
        entry: place(pair.a, entry),
        marker: (entry..pair.b.blocks.len())
            .find(|at| pair.b.blocks[*at].marker.is_some())
            .map(|at| place(pair.b, at)),
        positions,
    });
    Reach { read: outcome.read_block.map(|block| place(pair.a, block)), lookback }
}

/// The blocks as the cache sees them: those below `valid` are the same in both bodies, so their
/// number identifies their prefix.
fn cache_blocks(body: &Body<'_>, valid: usize) -> Vec<CacheBlock> {
    let block = |(index, block): (usize, &crate::request::RenderedBlock)| CacheBlock {
        prefix_hash: index as u128 + if index < valid { 0 } else { 1 << 64 },
        tokens_so_far: Tokens((index as u64 + 1) * BLOCK_TOKENS),
        kind: position_kind(block.kind),
        marker: block.marker,
    };
    body.blocks.iter().enumerate().map(block).collect()
}
