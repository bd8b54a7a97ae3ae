//! A request taken apart into what tokens are billed for, whatever API it was written for.
//!
//! The same prompt reaches a Claude model as a body of the Messages API (also by way of Bedrock or
//! Vertex), of Bedrock's Converse API, or of a chat-completions gateway. Recorded bills agree
//! between them (`docs/claude-requests.md`), so each is read into the same parts.

mod chat;
mod converse;
mod messages;
mod spelling;

use crate::request::json::{JsonError, Node};
use crate::request::{Role, counted_tool, counted_tool_use};

pub(super) use chat::is_chat;
pub(super) use messages::{arguments, kind_of_part, spell_tool, without_data};

/// A request, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// The model as the request names it; empty where it names none.
    pub(super) model: String,
    /// Tool definitions.
    pub(super) tools: Vec<ToolPart>,
    /// Texts of the system prompt, each with its pointer.
    pub(super) system: Vec<(String, String)>,
    /// The conversation.
    pub(super) messages: Vec<MessagePart>,
    /// Whether a tool has to be called.
    pub(super) choice: Choice,
    /// Whether at most one tool may be called in an answer.
    pub(super) one_call: bool,
    /// Whether thinking is switched on by name (adaptive thinking is not).
    pub(super) thinks: bool,
    /// The schema of the answer, in the provider's spelling.
    pub(super) schema: Option<String>,
    /// What no rule is known for, by its name in the request.
    pub(super) unmodelled: Vec<String>,
}

/// Whether a tool has to be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Choice {
    /// The model decides, or calls none.
    #[default]
    Auto,
    /// One of the tools.
    Any,
    /// The tool of that name.
    Tool(String),
}

/// A tool definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolPart {
    /// JSON pointer.
    pub(super) pointer: String,
    /// Its name.
    pub(super) name: String,
    /// Its description, where it has one.
    pub(super) description: Option<String>,
    /// Its schema as canonical JSON, keys in their order.
    pub(super) schema: Option<String>,
    /// The whole definition as the provider spells it out.
    pub(super) spelt: String,
    /// Who runs it, and when it is loaded.
    pub(super) kind: ToolKind,
}

/// Who runs a tool, and when it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// The caller runs it.
    Client,
    /// The caller runs it, but it is not loaded before it is searched for.
    Deferred,
    /// The provider runs it; its definition is not in the request.
    Server(String),
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessagePart {
    /// Who speaks.
    pub(super) role: Role,
    /// Its blocks, each with its pointer.
    pub(super) blocks: Vec<(String, Part)>,
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text.
    Text(String),
    /// A tool call.
    Call {
        /// Its identifier.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments as canonical JSON.
        input: String,
        /// Names and values of the arguments as they are spelt out.
        arguments: Vec<(String, String)>,
    },
    /// What a tool gave back.
    Result {
        /// Identifier of the call.
        id: String,
        /// All of its text.
        text: String,
        /// Sizes in pixels of its images, where they can be read.
        images: Vec<Option<(u32, u32)>>,
        /// Whether the call failed.
        is_error: bool,
        /// Types of blocks in it that no rule is known for.
        unknown: Vec<String>,
    },
    /// Reasoning.
    Thinking(String),
    /// An image; its size in pixels where that can be read.
    Image(Option<(u32, u32)>),
    /// A document.
    Document {
        /// Its text, where it is one.
        text: Option<String>,
        /// Its pages, where it is a PDF in which they can be seen.
        pages: Option<u64>,
        /// Whether citations are on.
        cites: bool,
    },
    /// A block that no rule is known for: its type, and its JSON.
    Unknown(String, String),
}

impl ToolPart {
    /// The text that a tool definition is counted by where no provider's spelling is known.
    pub(super) fn plain(&self) -> String {
        counted_tool(&self.name, self.description.as_deref(), self.schema.as_deref())
    }
}

impl Part {
    /// The text that a block is counted by where no provider's spelling is known.
    pub(super) fn plain(&self) -> String {
        match self {
            Part::Text(text) | Part::Thinking(text) | Part::Result { text, .. } => text.clone(),
            Part::Call { name, input, .. } => counted_tool_use(name, input),
            Part::Image(_) => String::new(),
            Part::Document { text, .. } => text.clone().unwrap_or_default(),
            Part::Unknown(_, json) => json.clone(),
        }
    }
}

/// Takes a request apart.
///
/// # Errors
/// Where it is no request: it has no `messages`.
pub(super) fn take_apart(bytes: &[u8], root: &Node) -> Result<Parts, JsonError> {
    if root.get("messages").is_none_or(|messages| messages.items().is_empty()) {
        let message = "no request: `messages` is missing or empty";
        return Err(JsonError::at(bytes, root.span.start, message));
    }
    if super::converse::is_converse(root) {
        return Ok(converse::take_apart(bytes, root));
    }
    if chat::is_chat(bytes, root) {
        return Ok(chat::take_apart(bytes, root));
    }
    Ok(messages::take_apart(bytes, root))
}
