//! Bodies of the Messages API.

use super::spelling::{Spelling, spell, spell_text};
use super::{Choice, MessagePart, Part, Parts, ToolKind, ToolPart};
use crate::provider::anthropic::canonical;
use crate::provider::anthropic::media::{image_size, pdf_pages};
use crate::provider::anthropic::render::kind_of;
use crate::request::json::{Node, Value, write_canonical};
use crate::request::{BlockKind, Role};

/// Members of a body that add tokens by no rule that is known.
const UNMODELLED: [&str; 4] = ["mcp_servers", "container", "context_management", "fallback"];

pub(super) fn take_apart(bytes: &[u8], root: &Node) -> Parts {
    let view = View { bytes };
    let mut parts = Parts { model: view.text(root, "model"), ..Parts::default() };
    for (index, tool) in items(root, "tools").iter().enumerate() {
        parts.tools.push(view.tool(tool, format!("/tools/{index}")));
    }
    if let Some(system) = root.get("system") {
        parts.system.extend(system.text(bytes).map(|text| ("/system".to_owned(), text)));
        for (index, block) in system.items().iter().enumerate() {
            parts.system.push((format!("/system/{index}"), view.text(block, "text")));
        }
    }
    for (index, message) in items(root, "messages").iter().enumerate() {
        parts.messages.push(view.message(message, index));
    }
    parts.unmodelled = view.odd_shapes(root);
    if let Some(choice) = root.get("tool_choice") {
        parts.choice = match view.text(choice, "type").as_str() {
            "any" => Choice::Any,
            "tool" => Choice::Tool(view.text(choice, "name")),
            _ => Choice::Auto,
        };
        parts.one_call = view.is_on(choice, "disable_parallel_tool_use");
    }
    parts.thinks = root.get("thinking").is_some_and(|node| view.text(node, "type") == "enabled");
    let config = root.get("output_config");
    let format = root.get("output_format").or_else(|| config?.get("format"));
    parts.schema = format
        .and_then(|format| format.get("schema"))
        .map(|schema| spell(bytes, schema, Spelling::Indented));
    let on = |key: &&&str| root.get(key).is_some_and(|node| is_used(bytes, node));
    parts.unmodelled.extend(UNMODELLED.iter().filter(on).map(|key| (*key).to_owned()));
    if config.is_some_and(|config| config.get("task_budget").is_some()) {
        parts.unmodelled.push("output_config.task_budget".to_owned());
    }
    parts
}

/// Shortest text without white space and quotes that is taken for data.
const DATA_BYTES_MIN: usize = 2_000;

/// Neither `null` nor an empty list or object.
fn is_used(bytes: &[u8], node: &Node) -> bool {
    !node.items().is_empty() || !node.members().is_empty() || node.text(bytes).is_some()
}

fn items<'a>(root: &'a Node, key: &str) -> &'a [Node] {
    root.get(key).map_or(&[], |node| node.items())
}

/// A name, description and schema as the provider spells a tool out.
pub(in crate::provider::anthropic) fn spell_tool(
    bytes: &[u8],
    name: &str,
    description: Option<&str>,
    schema: Option<&Node>,
) -> String {
    let mut out = "{".to_owned();
    if let Some(description) = description.filter(|text| !text.is_empty()) {
        out.push_str("\"description\": ");
        spell_text(&mut out, description, Spelling::Sorted);
        out.push_str(", ");
    }
    out.push_str("\"name\": ");
    spell_text(&mut out, name, Spelling::Sorted);
    out.push_str(", \"parameters\": ");
    match schema {
        Some(schema) => out.push_str(&spell(bytes, schema, Spelling::Sorted)),
        None => out.push_str("{}"),
    }
    out.push('}');
    out
}

/// Names and values of a call's arguments as they are spelt out: a text as it is, all else as JSON.
pub(in crate::provider::anthropic) fn arguments(
    bytes: &[u8],
    input: &Node,
) -> Vec<(String, String)> {
    let value =
        |node: &Node| node.text(bytes).unwrap_or_else(|| spell(bytes, node, Spelling::InOrder));
    input.members().iter().map(|member| (member.key.clone(), value(&member.node))).collect()
}

/// A block as JSON without its marker, and without long texts that have no white space in them,
/// which are data that no model reads as text.
pub(in crate::provider::anthropic) fn without_data(bytes: &[u8], block: &Node) -> String {
    let mut out = Vec::new();
    canonical::write_block(&mut out, bytes, block);
    let text = String::from_utf8_lossy(&out).into_owned();
    let is_data = |word: &&str| word.len() < DATA_BYTES_MIN;
    text.split_inclusive(|c: char| c.is_whitespace() || c == '"').filter(is_data).collect()
}

/// A value as canonical JSON.
pub(super) fn as_json(bytes: &[u8], node: &Node) -> String {
    let mut out = Vec::new();
    write_canonical(&mut out, bytes, node);
    String::from_utf8_lossy(&out).into_owned()
}

/// The kind of block that a part is.
pub(in crate::provider::anthropic) fn kind_of_part(part: &Part) -> BlockKind {
    match part {
        Part::Text(_) => BlockKind::Text,
        Part::Call { .. } => BlockKind::ToolUse,
        Part::Result { .. } => BlockKind::ToolResult,
        Part::Thinking(_) => BlockKind::Thinking,
        Part::Image(_) => BlockKind::Image,
        Part::Document { .. } => BlockKind::Document,
        Part::Unknown(..) => BlockKind::Other,
    }
}

struct View<'a> {
    bytes: &'a [u8],
}

impl View<'_> {
    /// Pointers of what has not the shape that the API asks for, and so is not counted as it would
    /// be if it had.
    fn odd_shapes(&self, root: &Node) -> Vec<String> {
        let mut odd = Vec::new();
        let mut holds = |is_as_asked: bool, pointer: String| {
            if !is_as_asked {
                odd.push(format!("the shape of {pointer}"));
            }
        };
        let is_list =
            |node: Option<&Node>| node.is_none_or(|node| matches!(node.value, Value::Array(_)));
        holds(is_list(root.get("tools")), "/tools".to_owned());
        if let Some(system) = root.get("system") {
            let texts = system.items().iter().all(|block| self.has_text(block, "text"));
            let is_text = system.is_string() || (is_list(Some(system)) && texts);
            holds(is_text, "/system".to_owned());
        }
        for (index, message) in items(root, "messages").iter().enumerate() {
            let role = self.text(message, "role");
            holds(
                ["user", "assistant", "system"].contains(&role.as_str()),
                format!("/messages/{index}"),
            );
            let Some(content) = message.get("content") else {
                holds(false, format!("/messages/{index}/content"));
                continue;
            };
            let is_content = content.is_string() || is_list(Some(content));
            holds(is_content, format!("/messages/{index}/content"));
            for (at, block) in content.items().iter().enumerate() {
                let is_text = kind_of(self.bytes, block) == BlockKind::Text;
                let is_block =
                    self.has_text(block, "type") && (!is_text || self.has_text(block, "text"));
                holds(is_block, format!("/messages/{index}/content/{at}"));
            }
        }
        if let Some(choice) = root.get("tool_choice") {
            let kind = self.text(choice, "type");
            let known = ["auto", "any", "tool", "none"].contains(&kind.as_str());
            holds(known, "/tool_choice".to_owned());
        }
        odd
    }

    fn has_text(&self, node: &Node, key: &str) -> bool {
        node.get(key).is_some_and(Node::is_string)
    }

    fn text(&self, node: &Node, key: &str) -> String {
        node.get(key).and_then(|node| node.text(self.bytes)).unwrap_or_default()
    }

    fn is_on(&self, node: &Node, key: &str) -> bool {
        node.get(key).is_some_and(|node| node.raw(self.bytes) == b"true")
    }

    fn tool(&self, tool: &Node, pointer: String) -> ToolPart {
        let name = self.text(tool, "name");
        let description = tool.get("description").and_then(|node| node.text(self.bytes));
        let schema = tool.get("input_schema");
        let kind = match (schema, self.is_on(tool, "defer_loading")) {
            (None, _) if tool.get("type").is_some() => ToolKind::Server(self.text(tool, "type")),
            (Some(_) | None, true) => ToolKind::Deferred,
            (Some(_) | None, false) => ToolKind::Client,
        };
        ToolPart {
            spelt: spell_tool(self.bytes, &name, description.as_deref(), schema),
            schema: schema.map(|schema| as_json(self.bytes, schema)),
            pointer,
            name,
            description,
            kind,
        }
    }

    fn message(&self, message: &Node, index: usize) -> MessagePart {
        let role = match self.text(message, "role").as_str() {
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => Role::User,
        };
        let pointer = format!("/messages/{index}/content");
        let Some(content) = message.get("content") else {
            return MessagePart { role, blocks: Vec::new() };
        };
        if let Some(text) = content.text(self.bytes) {
            return MessagePart { role, blocks: vec![(pointer, Part::Text(text))] };
        }
        let blocks = content.items().iter().enumerate();
        let blocks = blocks.map(|(at, block)| (format!("{pointer}/{at}"), self.part(block)));
        MessagePart { role, blocks: blocks.collect() }
    }

    fn part(&self, block: &Node) -> Part {
        match kind_of(self.bytes, block) {
            BlockKind::Text | BlockKind::System | BlockKind::Tool => {
                Part::Text(self.text(block, "text"))
            }
            BlockKind::Thinking => {
                let text = block.get("thinking").or_else(|| block.get("data"));
                Part::Thinking(text.and_then(|text| text.text(self.bytes)).unwrap_or_default())
            }
            BlockKind::ToolUse => Part::Call {
                id: self.text(block, "id"),
                name: self.text(block, "name"),
                input: block.get("input").map_or(String::new(), |node| as_json(self.bytes, node)),
                arguments: block
                    .get("input")
                    .map_or(Vec::new(), |node| arguments(self.bytes, node)),
            },
            BlockKind::ToolResult => self.result(block),
            BlockKind::Image => Part::Image(self.image(block)),
            BlockKind::Document => self.document(block),
            BlockKind::Other => {
                Part::Unknown(self.text(block, "type"), without_data(self.bytes, block))
            }
        }
    }

    fn result(&self, block: &Node) -> Part {
        let (mut text, mut images, mut unknown) = (String::new(), Vec::new(), Vec::new());
        if let Some(content) = block.get("content") {
            text.push_str(&content.text(self.bytes).unwrap_or_default());
            for item in content.items() {
                match kind_of(self.bytes, item) {
                    BlockKind::Text => text.push_str(&self.text(item, "text")),
                    BlockKind::Image => images.push(self.image(item)),
                    BlockKind::Tool
                    | BlockKind::System
                    | BlockKind::ToolUse
                    | BlockKind::ToolResult
                    | BlockKind::Thinking
                    | BlockKind::Document
                    | BlockKind::Other => unknown.push(self.text(item, "type")),
                }
            }
        }
        let (id, is_error) = (self.text(block, "tool_use_id"), self.is_on(block, "is_error"));
        Part::Result { id, text, images, is_error, unknown }
    }

    /// The text of a content that is a text or a list of blocks.
    fn words(&self, content: &Node) -> String {
        let whole = content.text(self.bytes);
        whole
            .unwrap_or_else(|| content.items().iter().map(|item| self.text(item, "text")).collect())
    }

    fn image(&self, block: &Node) -> Option<(u32, u32)> {
        image_size(&self.text(block.get("source")?, "data"))
    }

    fn document(&self, block: &Node) -> Part {
        let source = block.get("source");
        let kind = source.map(|source| self.text(source, "type")).unwrap_or_default();
        let data = source.map(|source| self.text(source, "data")).unwrap_or_default();
        let content = source.and_then(|source| source.get("content"));
        let citations = block.get("citations");
        Part::Document {
            pages: pdf_pages(&data),
            text: match kind.as_str() {
                "text" => Some(data),
                "content" => content.map(|content| self.words(content)),
                _ => None,
            },
            cites: citations.is_some_and(|citations| self.is_on(citations, "enabled")),
        }
    }
}
