//! What a provider's cache does, as data. The points that no provider documents are switches.

use crate::units::Tokens;

/// What counts as one position of the lookback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionCount {
    /// Every block.
    PerBlock,
    /// Every block, but a run of tool calls, or of tool results, is one position.
    CollapseToolRuns,
}

/// How tool definitions count in the lookback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPositions {
    /// Every tool is a position.
    Each,
    /// All tools are one position.
    One,
}

/// The rules of a cache with entries at markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheRules {
    /// Positions that a marker looks back over, its own included.
    pub lookback: u32,
    /// What one position is.
    pub count: PositionCount,
    /// Shortest prefix that is written or read; shorter ones are silently uncached.
    pub min_tokens: Tokens,
    /// Whether a read also refreshes the entries at the request's earlier markers.
    pub refresh_earlier: bool,
    /// Whether entries of different lifetimes are different entries.
    pub ttl_in_key: bool,
    /// Whether an entry in the middle of a collapsed run is found.
    pub match_inside_runs: bool,
    /// Whether a marker before the end of what is read leaves an entry, although nothing is billed
    /// for it.
    pub write_below_hit: bool,
    /// Whether a one-hour marker on an entry that is read gives it one hour, although nothing is
    /// billed for it.
    pub longer_ttl_extends: bool,
    /// Whether reasoning blocks are positions.
    pub thinking_positions: bool,
    /// How tools count.
    pub tool_positions: ToolPositions,
    /// Whether a leading billing line of the system prompt is part of the prompt.
    pub hash_billing_line: bool,
}
