//! The prompt that a provider caches: blocks in its order, without markers and envelope.

use std::sync::Arc;

use super::conversation::Role;
use super::frame::Frame;
use crate::units::CacheTtl;

/// The part of the prompt that a block belongs to; a change in one loses it and all behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// The conversation.
    Messages,
}

impl Section {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Section::Tools => "tools",
            Section::System => "system",
            Section::Messages => "messages",
        }
    }
}

/// What kind of block it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// A tool definition.
    Tool,
    /// A block of the system prompt.
    System,
    /// Text in a message.
    Text,
    /// A tool call.
    ToolUse,
    /// A tool result.
    ToolResult,
    /// Reasoning, also where redacted.
    Thinking,
    /// An image.
    Image,
    /// A document.
    Document,
    /// Anything else.
    Other,
}

impl BlockKind {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            BlockKind::Tool => "tool",
            BlockKind::System => "system",
            BlockKind::Text => "text",
            BlockKind::ToolUse => "tool_use",
            BlockKind::ToolResult => "tool_result",
            BlockKind::Thinking => "thinking",
            BlockKind::Image => "image",
            BlockKind::Document => "document",
            BlockKind::Other => "other",
        }
    }
}

/// One block of a rendered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedBlock {
    /// Its part of the prompt.
    pub section: Section,
    /// Its kind.
    pub kind: BlockKind,
    /// Who speaks; `None` outside messages.
    pub role: Option<Role>,
    /// True on the first block of a message.
    pub starts_message: bool,
    /// JSON pointer of the block in the body, e.g. `/messages/26/content/5`; for a string that
    /// stands for one text block, the pointer of the string.
    pub pointer: String,
    /// Its prompt bytes: canonical JSON of the block with the marker cut out (see `docs/model.md`).
    pub prompt_bytes: Arc<[u8]>,
    /// The text whose tokens are its tokens (see `docs/model.md`).
    pub counted_text: Arc<str>,
    /// What is billed around that text.
    pub frame: Frame,
    /// The lifetime asked for where the block carries a marker.
    pub marker: Option<CacheTtl>,
}

/// A whole prompt. Blocks that siblings share are shared in memory.
#[derive(Clone, Debug, Default)]
pub struct RenderedPrompt {
    /// The blocks before the own block, or all of them.
    pub shared: Arc<[RenderedBlock]>,
    /// The last block, where it is the request's own.
    pub own: Option<RenderedBlock>,
    /// What besides the prompt keys the cache (model and parameters), as canonical text.
    pub namespace: Arc<str>,
    /// What is billed behind the last block; no cache holds it.
    pub tail: Frame,
    /// What no rule of counting is known for, by its name in the request.
    pub unmodelled: Arc<[String]>,
}

impl RenderedPrompt {
    /// All blocks in the provider's order.
    pub fn blocks(&self) -> impl Iterator<Item = &RenderedBlock> {
        self.shared.iter().chain(&self.own)
    }
}

/// The text whose tokens a tool definition is counted by: name, description and schema, one a line.
pub fn counted_tool(name: &str, description: Option<&str>, schema: Option<&str>) -> String {
    let parts = [Some(name), description, schema];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The text whose tokens a tool call is counted by: the name and the arguments' canonical JSON, one
/// a line.
pub fn counted_tool_use(name: &str, input: &str) -> String {
    format!("{name}\n{input}")
}
