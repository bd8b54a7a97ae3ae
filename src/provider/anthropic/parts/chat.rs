//! Bodies of a chat-completions gateway that sends them on to a Claude model.

use super::messages::{arguments, as_json, spell_tool, without_data};
use super::spelling::{Spelling, spell};
use super::{Choice, MessagePart, Part, Parts, ToolKind, ToolPart};
use crate::provider::anthropic::media::image_size;
use crate::request::Role;
use crate::request::json::{Node, parse};

/// Whether a body has this shape: a role, a block or a tool definition that only it has. A body
/// that could be either is one of the Messages API.
pub(in crate::provider::anthropic) fn is_chat(bytes: &[u8], root: &Node) -> bool {
    let only_here = ["max_completion_tokens", "response_format", "reasoning", "stream_options"];
    let has_role = |message: &Node| {
        let role = message.get("role");
        let is = |word| role.is_some_and(|role| role.is_text(bytes, word));
        is("developer") || is("tool") || message.get("tool_calls").is_some()
    };
    // A system message at the beginning; the Messages API knows such a role further behind only.
    let first = items(root, "messages").first().and_then(|message| message.get("role"));
    first.is_some_and(|role| role.is_text(bytes, "system"))
        || only_here.iter().any(|key| root.get(key).is_some())
        || items(root, "messages").iter().any(has_role)
        || items(root, "tools").iter().any(|tool| tool.get("function").is_some())
}

pub(super) fn take_apart(bytes: &[u8], root: &Node) -> Parts {
    let view = View { bytes };
    let mut parts = Parts { model: view.text(root, "model"), ..Parts::default() };
    for (index, message) in items(root, "messages").iter().enumerate() {
        view.message(message, index, &mut parts);
    }
    for (index, tool) in items(root, "tools").iter().enumerate() {
        parts.tools.push(view.tool(tool, format!("/tools/{index}")));
    }
    if let Some(choice) = root.get("tool_choice") {
        parts.choice = match choice.text(bytes).as_deref() {
            Some("required") => Choice::Any,
            Some(_) => Choice::Auto,
            None => {
                Choice::Tool(choice.get("function").map_or(String::new(), |f| view.text(f, "name")))
            }
        };
    }
    parts.one_call =
        root.get("parallel_tool_calls").is_some_and(|node| node.raw(bytes) == b"false");
    parts.thinks = root.get("reasoning").is_some_and(|reasoning| {
        let off = reasoning.get("enabled").is_some_and(|node| node.raw(bytes) == b"false");
        !off && !reasoning.members().is_empty()
    });
    let format = root.get("response_format").and_then(|format| format.get("json_schema"));
    parts.schema = format
        .and_then(|format| format.get("schema"))
        .map(|schema| spell(bytes, schema, Spelling::Indented));
    parts
}

fn items<'a>(root: &'a Node, key: &str) -> &'a [Node] {
    root.get(key).map_or(&[], |node| node.items())
}

/// What a tool gave back, from the blocks of its message.
fn result(id: String, blocks: Vec<(String, Part)>) -> Part {
    let (mut text, mut images, mut unknown) = (String::new(), Vec::new(), Vec::new());
    for (_, part) in blocks {
        match part {
            Part::Image(size) => images.push(size),
            Part::Unknown(kind, _) => unknown.push(kind),
            other => text.push_str(&other.plain()),
        }
    }
    Part::Result { id, text, images, is_error: false, unknown }
}

struct View<'a> {
    bytes: &'a [u8],
}

impl View<'_> {
    fn text(&self, node: &Node, key: &str) -> String {
        node.get(key).and_then(|node| node.text(self.bytes)).unwrap_or_default()
    }

    /// Blocks of a content that is a text or a list.
    fn content(&self, node: Option<&Node>, pointer: &str) -> Vec<(String, Part)> {
        let Some(node) = node else { return Vec::new() };
        // An empty text is not sent on.
        if let Some(text) = node.text(self.bytes) {
            let said = (!text.is_empty()).then(|| (pointer.to_owned(), Part::Text(text)));
            return said.into_iter().collect();
        }
        let blocks = node.items().iter().enumerate().map(|(at, block)| {
            let part = match self.text(block, "type").as_str() {
                "text" => Part::Text(self.text(block, "text")),
                "image_url" => {
                    let url = block.get("image_url").map(|image| self.text(image, "url"));
                    let url = url.unwrap_or_default();
                    Part::Image(image_size(url.split_once("base64,").map_or("", |(_, data)| data)))
                }
                kind => Part::Unknown(kind.to_owned(), without_data(self.bytes, block)),
            };
            (format!("{pointer}/{at}"), part)
        });
        blocks.filter(|(_, part)| *part != Part::Text(String::new())).collect()
    }

    fn message(&self, message: &Node, index: usize, parts: &mut Parts) {
        let pointer = format!("/messages/{index}/content");
        let mut blocks = self.content(message.get("content"), &pointer);
        let role = match self.text(message, "role").as_str() {
            "system" | "developer" => {
                parts.system.extend(blocks.into_iter().map(|(at, part)| (at, part.plain())));
                return;
            }
            "tool" => {
                blocks = vec![(pointer, result(self.text(message, "tool_call_id"), blocks))];
                Role::User
            }
            "assistant" => Role::Assistant,
            _ => Role::User,
        };
        if message.get("reasoning_details").is_some_and(|details| !details.items().is_empty()) {
            parts.unmodelled.push(format!("messages[{index}].reasoning_details"));
        }
        for (at, call) in items(message, "tool_calls").iter().enumerate() {
            let arguments = call.get("function").map(|function| self.text(function, "arguments"));
            if arguments.is_some_and(|text| !text.is_empty() && parse(text.as_bytes()).is_err()) {
                parts
                    .unmodelled
                    .push(format!("the arguments of /messages/{index}/tool_calls/{at}"));
            }
            blocks.push((format!("/messages/{index}/tool_calls/{at}"), self.call(call)));
        }
        // Results that follow each other are sent on as one message.
        let is_result = |(_, part): &(String, Part)| matches!(part, Part::Result { .. });
        let joins = |last: &&mut MessagePart| last.blocks.iter().all(is_result);
        match parts.messages.last_mut().filter(joins) {
            Some(last) if blocks.iter().all(is_result) && last.role == role => {
                last.blocks.extend(blocks);
            }
            Some(_) | None => parts.messages.push(MessagePart { role, blocks }),
        }
    }

    /// The arguments stand as a text of JSON.
    fn call(&self, call: &Node) -> Part {
        let function = call.get("function");
        let text = function.map(|function| self.text(function, "arguments")).unwrap_or_default();
        let text = if text.trim().is_empty() { "{}".to_owned() } else { text };
        let parsed = parse(text.as_bytes()).ok();
        Part::Call {
            id: self.text(call, "id"),
            name: function.map(|function| self.text(function, "name")).unwrap_or_default(),
            arguments: parsed.as_ref().map_or(Vec::new(), |node| arguments(text.as_bytes(), node)),
            input: parsed.map_or(text.clone(), |node| as_json(text.as_bytes(), &node)),
        }
    }

    fn tool(&self, tool: &Node, pointer: String) -> ToolPart {
        let (inner, key) = match tool.get("function") {
            Some(function) => (function, "parameters"),
            None => (tool, "input_schema"),
        };
        let name = self.text(inner, "name");
        let description = inner.get("description").and_then(|node| node.text(self.bytes));
        let schema = inner.get(key);
        ToolPart {
            pointer,
            spelt: spell_tool(self.bytes, &name, description.as_deref(), schema),
            schema: schema.map(|schema| as_json(self.bytes, schema)),
            name,
            description,
            kind: match self.text(tool, "type").as_str() {
                kind if !kind.is_empty() && kind != "function" && schema.is_none() => {
                    ToolKind::Server(kind.to_owned())
                }
                _ => ToolKind::Client,
            },
        }
    }
}
