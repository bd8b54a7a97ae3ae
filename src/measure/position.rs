//! How the blocks of a prompt count in the lookback.

use crate::cache::PositionKind;
use crate::request::BlockKind;

/// How a block of a kind counts in the lookback.
pub fn position_kind(kind: BlockKind) -> PositionKind {
    match kind {
        BlockKind::Tool => PositionKind::Tool,
        BlockKind::ToolUse => PositionKind::ToolUse,
        BlockKind::ToolResult => PositionKind::ToolResult,
        BlockKind::Thinking => PositionKind::Thinking,
        BlockKind::System
        | BlockKind::Text
        | BlockKind::Image
        | BlockKind::Document
        | BlockKind::Other => PositionKind::Plain,
    }
}
