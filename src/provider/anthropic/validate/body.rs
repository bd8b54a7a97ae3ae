//! A body as the rules see it: read once, checked by many.

use crate::provider::Refusal;
use crate::request::Role;
use crate::request::json::{self, Node, Value};

/// A body with its parts in order.
pub(super) struct Body<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) root: &'a Node,
    pub(super) messages: Vec<MessageView<'a>>,
}

/// One message; parts are missing where it does not have the shape.
pub(super) struct MessageView<'a> {
    pub(super) node: &'a Node,
    pub(super) role: Option<Role>,
    pub(super) content: Option<&'a Node>,
    pub(super) blocks: Vec<BlockView<'a>>,
}

/// One block of a message.
pub(super) struct BlockView<'a> {
    pub(super) node: &'a Node,
    pub(super) kind: Kind,
    /// The call that a `tool_use` makes or a `tool_result` answers.
    pub(super) id: Option<String>,
}

/// Kinds of blocks that rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    RedactedThinking,
    ToolUse,
    ToolResult,
    /// An image, a document or a search result.
    Media,
    /// A type without rules of its own.
    Other,
    /// No type at all.
    Untyped,
}

/// How much there is in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    Empty,
    Whitespace,
    Words,
}

impl<'a> Body<'a> {
    /// Views a JSON object as a body.
    pub(super) fn new(bytes: &'a [u8], root: &'a Node) -> Body<'a> {
        let items = root.get("messages").map_or(&[][..], Node::items);
        let messages = items.iter().map(|node| MessageView::new(bytes, node)).collect();
        Body { bytes, root, messages }
    }

    /// The tool definitions.
    pub(super) fn tools(&self) -> &'a [Node] {
        self.root.get("tools").map_or(&[], Node::items)
    }

    /// The blocks of the system prompt; none where it is a string.
    pub(super) fn system(&self) -> &'a [Node] {
        self.root.get("system").map_or(&[], Node::items)
    }

    /// The bytes of a value.
    pub(super) fn raw(&self, node: &Node) -> &'a [u8] {
        &self.bytes[node.span.clone()]
    }

    /// The member `key` unless it is absent or null.
    pub(super) fn member<'n>(&self, node: &'n Node, key: &str) -> Option<&'n Node> {
        node.get(key).filter(|value| self.raw(value) != b"null")
    }

    /// The member `key` where it is a string.
    pub(super) fn string(&self, node: &Node, key: &str) -> Option<String> {
        node.get(key).and_then(|value| value.text(self.bytes))
    }

    /// True where the member `key` is the string `word`.
    pub(super) fn says(&self, node: &Node, key: &str, word: &str) -> bool {
        node.get(key).is_some_and(|value| value.is_text(self.bytes, word))
    }

    /// How much there is in a string; the first bytes mostly tell.
    pub(super) fn fill(&self, string: &Node) -> Fill {
        match self.raw(string) {
            [] | [_] | [_, _] => Fill::Empty,
            [_, first, ..] if first.is_ascii_graphic() && *first != b'\\' => Fill::Words,
            raw if json::decode_string(raw).trim().is_empty() => Fill::Whitespace,
            _ => Fill::Words,
        }
    }

    /// Messages in runs of one role: the API joins messages of one role in a row. A message without
    /// a valid role stands alone.
    pub(super) fn turns(&self) -> impl Iterator<Item = &[MessageView<'a>]> {
        self.messages.chunk_by(|one, next| one.role.is_some() && one.role == next.role)
    }
}

impl<'a> MessageView<'a> {
    fn new(bytes: &'a [u8], node: &'a Node) -> MessageView<'a> {
        let role = node.get("role").and_then(|role| role.text(bytes));
        let role = [Role::User, Role::Assistant, Role::System]
            .into_iter()
            .find(|known| role.as_deref() == Some(known.as_str()));
        let content = node.get("content");
        let blocks = content.map_or(&[][..], Node::items);
        let blocks = blocks.iter().map(|node| BlockView::new(bytes, node)).collect();
        MessageView { node, role, content, blocks }
    }
}

impl<'a> BlockView<'a> {
    fn new(bytes: &'a [u8], node: &'a Node) -> BlockView<'a> {
        let kind = Kind::of(bytes, node);
        let key = match kind {
            Kind::ToolUse => Some("id"),
            Kind::ToolResult => Some("tool_use_id"),
            Kind::Text
            | Kind::Thinking
            | Kind::RedactedThinking
            | Kind::Media
            | Kind::Other
            | Kind::Untyped => None,
        };
        let id = key.and_then(|key| node.get(key)).and_then(|id| id.text(bytes));
        BlockView { node, kind, id }
    }
}

impl Kind {
    /// The kind of a block.
    pub(super) fn of(bytes: &[u8], node: &Node) -> Kind {
        let word = node.get("type").and_then(|word| word.text(bytes));
        match word.as_deref() {
            Some("text") => Kind::Text,
            Some("thinking") => Kind::Thinking,
            Some("redacted_thinking") => Kind::RedactedThinking,
            Some("tool_use") => Kind::ToolUse,
            Some("tool_result") => Kind::ToolResult,
            Some("image" | "document" | "search_result") => Kind::Media,
            Some(_) => Kind::Other,
            None => Kind::Untyped,
        }
    }
}

/// What the rules found, each with the offset that orders it.
pub(super) struct Findings<'a> {
    bytes: &'a [u8],
    root: &'a Node,
    found: Vec<(usize, Refusal)>,
}

impl<'a> Findings<'a> {
    /// No findings in a body.
    pub(super) fn new(bytes: &'a [u8], root: &'a Node) -> Findings<'a> {
        Findings { bytes, root, found: Vec::new() }
    }

    /// A refusal with status 400 at `node`.
    pub(super) fn add(&mut self, node: &Node, reason: impl Into<String>) {
        let at = node.span.start;
        let pointer = json::pointer_at(self.bytes, self.root, at);
        self.found.push((at, Refusal { pointer, status: 400, reason: reason.into() }));
    }

    /// The refusals in the order of their places, then of the rules.
    pub(super) fn into_refusals(mut self) -> Vec<Refusal> {
        self.found.sort_by_key(|(at, _)| *at);
        self.found.into_iter().map(|(_, refusal)| refusal).collect()
    }
}

/// True for an object.
pub(super) fn is_object(node: &Node) -> bool {
    matches!(node.value, Value::Object(_))
}

/// True for an array.
pub(super) fn is_array(node: &Node) -> bool {
    matches!(node.value, Value::Array(_))
}
