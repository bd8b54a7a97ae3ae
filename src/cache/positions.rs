//! Blocks as the cache sees them, and the positions its lookback counts.

use super::rules::{CacheRules, PositionCount, ToolPositions};
use crate::units::{CacheTtl, Tokens};

/// One block of a prompt, by the prefix that ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheBlock {
    /// Identity of the prefix up to and including this block, namespace included.
    pub prefix_hash: u128,
    /// Tokens of that prefix.
    pub tokens_so_far: Tokens,
    /// How it counts in the lookback.
    pub kind: PositionKind,
    /// Its marker.
    pub marker: Option<CacheTtl>,
}

/// How a block counts in the lookback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionKind {
    /// A tool definition.
    Tool,
    /// A tool call.
    ToolUse,
    /// A tool result.
    ToolResult,
    /// Reasoning.
    Thinking,
    /// Anything else: always a position of its own.
    Plain,
}

/// The first block that a marker at `marker` looks at: the beginning of the last of
/// `rules.lookback` positions, counted backwards, the marker's own the first. Blocks of one
/// position are neighbours.
pub(super) fn window_start(blocks: &[CacheBlock], marker: usize, rules: &CacheRules) -> usize {
    let mut left = rules.lookback.saturating_sub(1);
    let mut start = marker;
    while start > 0 {
        if !joins(blocks[start - 1].kind, blocks[start].kind, rules) {
            let Some(fewer) = left.checked_sub(1) else { break };
            left = fewer;
        }
        start -= 1;
    }
    start
}

/// True where the block at `index` is the last one of its position.
pub(super) fn ends_position(blocks: &[CacheBlock], index: usize, rules: &CacheRules) -> bool {
    blocks.get(index + 1).is_none_or(|next| !joins(blocks[index].kind, next.kind, rules))
}

/// True where `next` is in the same position as the block before it.
fn joins(before: PositionKind, next: PositionKind, rules: &CacheRules) -> bool {
    match next {
        PositionKind::ToolUse | PositionKind::ToolResult => {
            rules.count == PositionCount::CollapseToolRuns && before == next
        }
        PositionKind::Thinking => !rules.thinking_positions,
        PositionKind::Tool => rules.tool_positions == ToolPositions::One && before == next,
        PositionKind::Plain => false,
    }
}
