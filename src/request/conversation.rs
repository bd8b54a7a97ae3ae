//! What is to be sent, in neutral form: system, tools and messages in order.

use std::fmt;

/// A JSON value as text, valid and without whitespace around it. Its bytes are sent as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(String);

impl RawJson {
    /// Takes `text` if it is one valid JSON value.
    ///
    /// # Errors
    /// The parser's message where it is not.
    pub fn new(text: impl Into<String>) -> Result<RawJson, serde_json::Error> {
        let text = text.into();
        serde_json::from_str::<serde::de::IgnoredAny>(&text)?;
        Ok(RawJson(text.trim().to_owned()))
    }

    /// A JSON string that stands for `text`.
    pub fn string(text: &str) -> RawJson {
        RawJson(serde_json::Value::from(text).to_string())
    }

    /// The text of the value.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user, or the harness with tool results.
    User,
    /// The model.
    Assistant,
    /// An instruction in the middle of the conversation.
    System,
}

impl Role {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        }
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, in words for the model.
    pub description: Option<String>,
    /// JSON Schema of its input.
    pub input_schema: Option<RawJson>,
    /// Further attributes in their order, e.g. `strict`; never a cache marker.
    pub more: Vec<(String, RawJson)>,
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// Reasoning that the model sent earlier and that goes back as it was.
    Thinking {
        /// The reasoning.
        text: String,
        /// The provider's proof that it is unchanged.
        signature: String,
    },
    /// A call of a tool.
    ToolUse {
        /// Identity of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments; key order counts.
        input: RawJson,
    },
    /// What a call gave.
    ToolResult {
        /// The call it answers.
        tool_use_id: String,
        /// The result.
        content: ResultContent,
        /// True where the call failed; absent on the wire where false.
        is_error: bool,
    },
    /// Anything else (an image, a document), kept as one JSON object without a cache marker.
    Other(RawJson),
}

/// The content of a tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultContent {
    /// A list of blocks.
    Blocks(Vec<Block>),
    /// A bare string.
    Text(String),
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// Identities of the tool calls in this message, in order.
    pub fn tool_use_ids(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str()),
            Block::Text(_)
            | Block::Thinking { .. }
            | Block::ToolResult { .. }
            | Block::Other(_) => None,
        })
    }
}

/// A whole request before it has bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Model name as sent.
    pub model: String,
    /// Most tokens the model may answer with.
    pub max_tokens: u64,
    /// Tools in order.
    pub tools: Vec<Tool>,
    /// Blocks of the rendered system prompt in order.
    pub system: Vec<String>,
    /// Messages in order.
    pub messages: Vec<Message>,
    /// Further top-level parameters in their order, e.g. `thinking`.
    pub parameters: Vec<(String, RawJson)>,
}
