//! Bodies of Bedrock's Converse API.

use super::messages::{arguments, as_json, spell_tool, without_data};
use super::spelling::{Spelling, spell};
use super::{Choice, MessagePart, Part, Parts, ToolKind, ToolPart};
use crate::provider::anthropic::media::{base64_text, image_size, pdf_pages};
use crate::request::Role;
use crate::request::json::{Node, parse};

/// Model fields that add no tokens, or whose tokens are counted here.
const MODELLED: [&str; 5] =
    ["thinking", "reasoning_config", "top_k", "output_config", "anthropic_beta"];

/// Formats of documents whose bytes are their text.
const TEXT_FORMATS: [&str; 4] = ["txt", "md", "csv", "html"];

pub(super) fn take_apart(bytes: &[u8], root: &Node) -> Parts {
    let view = View { bytes };
    let mut parts = Parts { model: view.text(root, "modelId"), ..Parts::default() };
    for (index, block) in items(root, "system").iter().enumerate() {
        match block.get("text").and_then(|text| text.text(bytes)) {
            Some(text) => parts.system.push((format!("/system/{index}"), text)),
            None if block.get("cachePoint").is_some() => {}
            None => parts.unmodelled.push(format!("/system/{index}")),
        }
    }
    for (index, message) in items(root, "messages").iter().enumerate() {
        parts.messages.push(view.message(message, index));
    }
    if let Some(config) = root.get("toolConfig") {
        view.tools(config, &mut parts);
    }
    let fields = root.get("additionalModelRequestFields");
    for member in fields.map_or(&[][..], Node::members) {
        match member.key.as_str() {
            "thinking" | "reasoning_config" => {
                parts.thinks = view.text(&member.node, "type") == "enabled";
            }
            key if MODELLED.contains(&key) => {}
            key => parts.unmodelled.push(format!("additionalModelRequestFields.{key}")),
        }
    }
    parts.schema = root.get("outputConfig").and_then(|config| view.schema(config));
    parts
}

fn items<'a>(root: &'a Node, key: &str) -> &'a [Node] {
    root.get(key).map_or(&[], |node| node.items())
}

struct View<'a> {
    bytes: &'a [u8],
}

impl View<'_> {
    fn text(&self, node: &Node, key: &str) -> String {
        node.get(key).and_then(|node| node.text(self.bytes)).unwrap_or_default()
    }

    fn tools(&self, config: &Node, parts: &mut Parts) {
        for (index, tool) in items(config, "tools").iter().enumerate() {
            let Some(spec) = tool.get("toolSpec") else {
                if tool.get("cachePoint").is_none() {
                    parts.unmodelled.push(format!("/toolConfig/tools/{index}"));
                }
                continue;
            };
            let name = self.text(spec, "name");
            let description = spec.get("description").and_then(|node| node.text(self.bytes));
            let schema = spec.get("inputSchema").and_then(|schema| schema.get("json"));
            parts.tools.push(ToolPart {
                pointer: format!("/toolConfig/tools/{index}"),
                spelt: spell_tool(self.bytes, &name, description.as_deref(), schema),
                schema: schema.map(|schema| as_json(self.bytes, schema)),
                name,
                description,
                kind: ToolKind::Client,
            });
        }
        if let Some(choice) = config.get("toolChoice") {
            if choice.get("any").is_some() {
                parts.choice = Choice::Any;
            } else if let Some(tool) = choice.get("tool") {
                parts.choice = Choice::Tool(self.text(tool, "name"));
            }
        }
    }

    /// The schema stands as a text of JSON.
    fn schema(&self, config: &Node) -> Option<String> {
        let structure = config.get("textFormat")?.get("structure")?;
        let text = structure.get("jsonSchema")?.get("schema")?.text(self.bytes)?;
        let node = parse(text.as_bytes()).ok()?;
        Some(spell(text.as_bytes(), &node, Spelling::Indented))
    }

    fn message(&self, message: &Node, index: usize) -> MessagePart {
        let role =
            if self.text(message, "role") == "assistant" { Role::Assistant } else { Role::User };
        let blocks = items(message, "content").iter().enumerate();
        let blocks = blocks.filter(|(_, block)| block.get("cachePoint").is_none());
        let blocks =
            blocks.map(|(at, block)| (format!("/messages/{index}/content/{at}"), self.part(block)));
        MessagePart { role, blocks: blocks.collect() }
    }

    fn part(&self, block: &Node) -> Part {
        let Some(member) = block.members().first() else {
            return Part::Unknown(String::new(), String::new());
        };
        let node = &member.node;
        match member.key.as_str() {
            "text" => Part::Text(node.text(self.bytes).unwrap_or_default()),
            "toolUse" => Part::Call {
                id: self.text(node, "toolUseId"),
                name: self.text(node, "name"),
                input: node.get("input").map_or(String::new(), |node| as_json(self.bytes, node)),
                arguments: node.get("input").map_or(Vec::new(), |node| arguments(self.bytes, node)),
            },
            "toolResult" => self.result(node),
            "reasoningContent" => {
                let text = node.get("reasoningText").map(|node| self.text(node, "text"));
                Part::Thinking(text.unwrap_or_default())
            }
            "image" => {
                let source = node.get("source").map(|source| self.text(source, "bytes"));
                Part::Image(image_size(&source.unwrap_or_default()))
            }
            "document" => {
                let source = node.get("source");
                let data = source.map(|source| self.text(source, "bytes")).unwrap_or_default();
                let is_text = TEXT_FORMATS.contains(&self.text(node, "format").as_str());
                let stated = source.and_then(|source| source.get("text")?.text(self.bytes));
                let text = stated.or_else(|| is_text.then(|| base64_text(&data)));
                let citations = node.get("citations").and_then(|node| node.get("enabled"));
                Part::Document {
                    pages: pdf_pages(&data),
                    text,
                    cites: citations.is_some_and(|node| node.raw(self.bytes) == b"true"),
                }
            }
            key => Part::Unknown(key.to_owned(), without_data(self.bytes, block)),
        }
    }

    fn result(&self, node: &Node) -> Part {
        let (mut text, mut images, mut unknown) = (String::new(), Vec::new(), Vec::new());
        for item in items(node, "content") {
            let Some(member) = item.members().first() else { continue };
            match member.key.as_str() {
                "text" => text.push_str(&member.node.text(self.bytes).unwrap_or_default()),
                "json" => text.push_str(&spell(self.bytes, &member.node, Spelling::InOrder)),
                "image" => {
                    let source = member.node.get("source");
                    let data = source.map(|source| self.text(source, "bytes"));
                    images.push(image_size(&data.unwrap_or_default()));
                }
                other => unknown.push(other.to_owned()),
            }
        }
        let (id, is_error) = (self.text(node, "toolUseId"), self.text(node, "status") == "error");
        Part::Result { id, text, images, is_error, unknown }
    }
}
