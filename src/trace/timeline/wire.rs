//! The lines of a timeline as they are written.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{MARKERS_MAX, Observed, TOKENS_MAX};
use crate::request::BlockKind;
use crate::units::CacheTtl;

/// One request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireRequest<'a> {
    pub(super) start_s: f64,
    pub(super) first_token_at_s: f64,
    #[serde(borrow)]
    pub(super) request: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) scope: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) blocks: Vec<WireBlock<'a>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    pub(super) tail_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) observed: Option<WireObserved>,
}

/// Keys of a request.
pub(super) const REQUEST_KEYS: [&str; 10] = [
    "start_s",
    "first_token_at_s",
    "request",
    "model",
    "scope",
    "blocks",
    "params",
    "tail_tokens",
    "output_tokens",
    "observed",
];

/// One block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireBlock<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) tokens: u64,
    pub(super) kind: Option<WireKind>,
    pub(super) marker: Option<WireTtl>,
}

/// Keys of a block.
pub(super) const BLOCK_KEYS: [&str; 4] = ["id", "tokens", "kind", "marker"];

/// The kind of a block.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireKind {
    Tool,
    System,
    #[default]
    Text,
    ToolUse,
    ToolResult,
    Thinking,
    Image,
    Document,
    Other,
}

/// Kinds as they are written.
pub(super) const KINDS: [&str; 9] =
    ["tool", "system", "text", "tool_use", "tool_result", "thinking", "image", "document", "other"];

impl From<WireKind> for BlockKind {
    fn from(kind: WireKind) -> BlockKind {
        match kind {
            WireKind::Tool => BlockKind::Tool,
            WireKind::System => BlockKind::System,
            WireKind::Text => BlockKind::Text,
            WireKind::ToolUse => BlockKind::ToolUse,
            WireKind::ToolResult => BlockKind::ToolResult,
            WireKind::Thinking => BlockKind::Thinking,
            WireKind::Image => BlockKind::Image,
            WireKind::Document => BlockKind::Document,
            WireKind::Other => BlockKind::Other,
        }
    }
}

/// A lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum WireTtl {
    #[serde(rename = "5m")]
    FiveMinutes,
    #[serde(rename = "1h")]
    OneHour,
}

/// Lifetimes as they are written.
pub(super) const TTLS: [&str; 2] = ["5m", "1h"];

impl From<WireTtl> for CacheTtl {
    fn from(ttl: WireTtl) -> CacheTtl {
        match ttl {
            WireTtl::FiveMinutes => CacheTtl::FiveMinutes,
            WireTtl::OneHour => CacheTtl::OneHour,
        }
    }
}

/// What was billed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireObserved {
    pub(super) read: Option<u64>,
    pub(super) write_5m: Option<u64>,
    pub(super) write_1h: Option<u64>,
    pub(super) uncached: Option<u64>,
}

/// Keys of what was billed.
pub(super) const OBSERVED_KEYS: [&str; 4] = ["read", "write_5m", "write_1h", "uncached"];

impl From<WireObserved> for Observed {
    fn from(wire: WireObserved) -> Observed {
        Observed {
            read: wire.read,
            write_5m: wire.write_5m,
            write_1h: wire.write_1h,
            uncached: wire.uncached,
            several_passes: false,
        }
    }
}

impl WireRequest<'_> {
    /// Whether its values are allowed beside one another.
    pub(super) fn is_allowed(&self) -> bool {
        let small = |tokens: Option<u64>| tokens.is_none_or(|tokens| tokens <= TOKENS_MAX);
        let markers = || self.blocks.iter().filter_map(|block| block.marker);
        let ordered = markers().is_sorted_by_key(|ttl| ttl != WireTtl::OneHour);
        self.first_token_at_s >= self.start_s
            && self.blocks.iter().all(|block| block.tokens <= TOKENS_MAX)
            && small(self.output_tokens)
            && small(self.tail_tokens)
            && self.params.is_none_or(|params| params.get().starts_with('{'))
            && markers().count() <= MARKERS_MAX
            && ordered
    }
}

/// The start of a request, without reading the rest.
pub(super) fn start_of(line: &[u8]) -> Option<f64> {
    #[derive(Deserialize)]
    struct Start {
        start_s: f64,
        #[serde(default, rename = "blocks")]
        _blocks: IgnoredAny,
    }
    serde_json::from_slice::<Start>(line).ok().map(|start| start.start_s)
}
