//! Waist 2: one flat row a request. Everything drawn or printed is made from rows that stand in a
//! CSV.

use serde::{Deserialize, Serialize};

/// The plans whose requests stand in `records.csv`, in the order in which they are shown.
pub const PLANS: [&str; 5] = ["this_plan", "no_cache", "perfect", "fresh", "chapter"];

/// Why no more was read. The order is the order in which reasons of one place apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No other request that starts no later shares anything with it.
    FirstOfPrefix,
    /// It read up to the end of all that it shares.
    Hit,
    /// It carries no marker, or none at or behind an entry that is there, so nothing looks for it.
    NoMarker,
    /// The prefix is too short to be cached.
    BelowMinimum,
    /// The entry's writer had not begun to answer.
    NotYetReadable,
    /// The entry's lifetime was over.
    Expired,
    /// The entry is alive, but more positions away than a marker looks back.
    LookbackExceeded,
    /// Nobody wrote an entry at the end of what it shares.
    NoEntryAtBoundary,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 8] = [
        Reason::FirstOfPrefix,
        Reason::Hit,
        Reason::NoMarker,
        Reason::BelowMinimum,
        Reason::NotYetReadable,
        Reason::Expired,
        Reason::LookbackExceeded,
        Reason::NoEntryAtBoundary,
    ];

    /// The word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::FirstOfPrefix => "first_of_prefix",
            Reason::Hit => "hit",
            Reason::NoMarker => "no_marker",
            Reason::BelowMinimum => "below_minimum",
            Reason::NotYetReadable => "not_yet_readable",
            Reason::Expired => "expired",
            Reason::LookbackExceeded => "lookback_exceeded",
            Reason::NoEntryAtBoundary => "no_entry_at_boundary",
        }
    }
}

/// One request as it was billed: one row of `records.csv`. Times are milliseconds from the fork,
/// money is integer pico-dollars, sizes are bytes or tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// One of [`PLANS`], or `change.` and the id of a change that was tried.
    pub plan: String,
    /// Order in which the requests of the plan are sent, from 0.
    pub seq: u32,
    /// Name of the request, e.g. `child-003`.
    pub request: String,
    /// `parent`, `prewarm`, `child` or `fresh`; the parent's own request is in no total.
    pub role: String,
    /// Model as billed.
    pub model: String,
    /// When it is sent.
    pub start_ms: i64,
    /// When the response begins.
    pub first_token_ms: i64,
    /// When the response ends.
    pub end_ms: i64,
    /// Input read from the cache.
    pub read: u64,
    /// Input written for five minutes.
    pub write_5m: u64,
    /// Input written for one hour.
    pub write_1h: u64,
    /// Input neither read nor written.
    pub uncached: u64,
    /// Sum of the four classes of input.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Cost of the reads.
    pub read_pico_usd: i128,
    /// Cost of the writes for five minutes.
    pub write_5m_pico_usd: i128,
    /// Cost of the writes for one hour.
    pub write_1h_pico_usd: i128,
    /// Cost of the uncached input.
    pub uncached_pico_usd: i128,
    /// Cost of the whole input.
    pub input_pico_usd: i128,
    /// Cost of the output.
    pub output_pico_usd: i128,
    /// Price of one token equivalent.
    pub base_pico_usd: i128,
    /// Token equivalents of the input, two decimals.
    pub te: String,
    /// Why no more was read; empty for plans without a cache model.
    pub reason: String,
    /// Tokens up to the end of the longest block prefix that another request, starting no later,
    /// also has.
    pub shared_end: u64,
    /// JSON pointer of the last block that was read; empty where nothing was.
    pub read_end: String,
    /// Length of the body.
    pub body_bytes: u64,
    /// Length of the prompt: the sum over its blocks.
    pub prompt_bytes: u64,
    /// Whole equal blocks shared with the parent's request, in tokens; 0 for plans without a
    /// parent.
    pub shared_with_parent: u64,
    /// Markers as `tokens@lifetime` in cache order, separated by spaces.
    pub markers: String,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// `exact` or `estimated`.
    pub exactness: String,
}

/// One part of a child's prompt: one row of `segments.csv`, in cache order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// `tools`, `system`, `history`, `dispatch`, `placeholders`, `boilerplate`
    /// or `directive`.
    pub segment: String,
    /// Number of blocks.
    pub blocks: u64,
    /// Prompt bytes.
    pub bytes: u64,
    /// Tokens.
    pub tokens: u64,
    /// Tokens of the prompt before this segment.
    pub start_tokens: u64,
    /// Tokens of the prompt up to its end.
    pub end_tokens: u64,
    /// Markers inside it as `tokens@lifetime`, counted from the start of the prompt, separated by
    /// spaces.
    pub markers: String,
    /// `all` where every child has the same bytes, `own` where each child has its own.
    pub shared: String,
}
