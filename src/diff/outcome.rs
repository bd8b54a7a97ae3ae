//! What a comparison says; the shape of `forkcost diff --json`.

use serde::Serialize;

use super::excerpt::Excerpt;
use super::kind::Kind;
use crate::provider::{Certainty, Survival};

/// The shape's version.
pub const SCHEMA_VERSION: u32 = 1;

/// What the later body B keeps of what the earlier body A wrote.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The earlier body.
    pub a: Side,
    /// The later body.
    pub b: Side,
    /// Whether something up to the end of A's last marked block is lost for B (of A's last block,
    /// where A marks none).
    #[serde(rename = "break")]
    pub is_break: bool,
    /// The first divergence in the order of the prompt, breaking or not.
    pub first_divergence: Option<FirstDivergence>,
    /// Cause of the first divergence that breaks.
    pub cause: Option<String>,
    /// The API's name for the first divergence that breaks; `None` where it has none.
    pub api_reason: Option<&'static str>,
    /// What B can still match of what A could write.
    pub segments_valid: Survival,
    /// What both have in common from the start, key included.
    pub shared: Shared,
    /// Blocks of B behind the end of A: growth, no divergence.
    pub appended_blocks: u64,
    /// What A writes, in the order of the prompt.
    pub entries: Vec<Entry>,
    /// The block of A at whose end B, sent right after A, reads; `None` where it reads nothing, or
    /// where the API refuses the markers of either.
    pub read: Option<BlockPlace>,
    /// Why B reads less than the longest entry that is still valid for it.
    pub lookback: Option<Lookback>,
    /// Every divergence in the order of the prompt: parameters, tools, system, messages.
    pub divergences: Vec<Divergence>,
    /// What differs and never matters.
    pub ignored: Vec<Ignored>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// One of the two bodies.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its name as given.
    pub name: String,
    /// Line of its file where it is one of many, from 1.
    pub line: Option<usize>,
    /// Where the body begins in its file, in bytes from 0.
    pub body_byte: u64,
    /// Length of the body in bytes.
    pub body_bytes: u64,
    /// Its model, from the body or the object around it.
    pub model: Option<String>,
    /// Blocks of its prompt.
    pub blocks: u64,
    /// Blocks of its tools and system prompt.
    pub blocks_before_messages: u64,
    /// Blocks that carry a marker.
    pub markers: u64,
    /// Why the API refuses its markers; `None` where it takes them.
    pub refused: Option<String>,
}

/// The first divergence.
#[derive(Clone, Debug, Serialize)]
pub struct FirstDivergence {
    /// JSON pointer in B, or in A where it is gone from B.
    pub pointer: String,
    /// JSON pointer in A; `None` where it stands in B only.
    pub pointer_a: Option<String>,
    /// JSON pointer in B; `None` where it stands in A only.
    pub pointer_b: Option<String>,
    /// Byte in A's file.
    pub byte_a: Option<u64>,
    /// Byte in B's file.
    pub byte_b: Option<u64>,
    /// Characters of the decoded string before the difference; `None` where it is in no string.
    pub char_offset_in_string: Option<u64>,
    /// Its kind.
    pub kind: Kind,
}

/// What both prompts have in common from the start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Shared {
    /// Whole equal blocks.
    pub blocks: u64,
    /// Their prompt bytes, and the equal head of the first block that differs.
    pub prompt_bytes: u64,
}

/// A block of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct BlockPlace {
    /// JSON pointer.
    pub pointer: String,
    /// Its number in the prompt, from 1.
    pub block: u64,
}

/// What A writes at one marker.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// JSON pointer of the marked block in A.
    pub pointer: String,
    /// Number of the block in A's prompt, from 1.
    pub block: u64,
    /// Its lifetime, `5m` or `1h`.
    pub ttl: &'static str,
    /// Whether it is a prefix of B.
    pub valid: bool,
}

/// B keeps an entry, but none of its markers finds it.
#[derive(Clone, Debug, Serialize)]
pub struct Lookback {
    /// `lookback_exceeded`, or `no_marker` where no marker of B stands at or behind the entry.
    pub reason: &'static str,
    /// The entry in A.
    pub entry: BlockPlace,
    /// The first marker of B behind it.
    pub marker: Option<BlockPlace>,
    /// Positions that a marker looks back over, its own included.
    pub positions: u32,
}

/// One divergence.
#[derive(Clone, Debug, Serialize)]
pub struct Divergence {
    /// JSON pointer in B, or in A where it is gone from B.
    pub pointer: String,
    /// JSON pointer in A; `None` where it stands in B only.
    pub pointer_a: Option<String>,
    /// JSON pointer in B; `None` where it stands in A only.
    pub pointer_b: Option<String>,
    /// Byte in A's file, from 0; inside a string, of the first character that differs.
    pub byte_a: Option<u64>,
    /// Byte in B's file.
    pub byte_b: Option<u64>,
    /// Characters of the decoded string before the difference; `None` where it is in no string.
    pub char_offset_in_string: Option<u64>,
    /// Its kind.
    pub kind: Kind,
    /// `parameters`, `tools`, `system` or `messages`.
    pub segment: &'static str,
    /// What it is, in plain words.
    pub cause: String,
    /// What to do about it.
    pub remedy: &'static str,
    /// What stands there in A.
    pub excerpt_a: Option<Excerpt>,
    /// What stands there in B.
    pub excerpt_b: Option<Excerpt>,
    /// Blocks of A that it is about.
    pub blocks_a: u64,
    /// Blocks of B that it is about.
    pub blocks_b: u64,
    /// Further places that differ in the same value.
    pub more_places: u64,
    /// What survives it.
    pub survives: Survival,
    /// Whether it loses an entry of A (or A's whole prompt, where A marks nothing).
    pub breaks: bool,
    /// How well the loss is known.
    pub certainty: Certainty,
    /// Why that much survives, where it is more than the order of the prompt.
    pub note: Option<&'static str>,
    /// The API's name for it; `None` where its diagnosis has none.
    pub api_reason: Option<&'static str>,
    /// Blocks of A before it: what ends at or before this many blocks is still valid.
    pub valid_blocks: u64,
}

/// Something that differs and is no divergence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// What it is: a parameter's name, `markers`, `billing_line`, `deferred_tools`.
    pub what: String,
    /// A's value, shortened; `None` where it has none.
    pub a: Option<String>,
    /// B's value, shortened.
    pub b: Option<String>,
}
