//! Recorded bodies in the shape of Bedrock's Converse API: the same prompt in another envelope.
//!
//! A `cachePoint` is a block of its own that marks the block before it. Only what a replay needs is
//! read; nothing is built in this shape.

use std::sync::Arc;

use super::canonical;
use super::parts::without_data;
use super::render::assumed_image;
use crate::request::json::{Node, write_canonical, write_string};
use crate::request::{BlockKind, Frame, RenderedBlock, Role, Section};
use crate::units::CacheTtl;

/// Top-level members besides the prompt that key the cache.
const IN_KEY: [&str; 1] = ["additionalModelRequestFields"];

/// Whether a body has this shape: a member that only it has, or a `cachePoint` or a text block
/// without `type` at the beginning.
pub(super) fn is_converse(root: &Node) -> bool {
    let first = root.get("messages").and_then(|messages| messages.items().first());
    let block = first.and_then(|message| message.get("content")?.items().first());
    let only_here = ["toolConfig", "inferenceConfig", "additionalModelRequestFields"];
    only_here.iter().any(|key| root.get(key).is_some())
        || block.is_some_and(|block| !block.members().is_empty() && block.get("type").is_none())
}

/// The blocks of such a body, and what besides them keys the cache.
pub(super) fn blocks(bytes: &[u8], root: &Node) -> (Vec<RenderedBlock>, String) {
    let view = View { bytes };
    let mut blocks = Vec::new();
    let config = root.get("toolConfig");
    if let Some(tools) = config.and_then(|config| config.get("tools")) {
        view.blocks(tools, Section::Tools, "/toolConfig/tools", None, &mut blocks);
    }
    if let Some(system) = root.get("system") {
        view.blocks(system, Section::System, "/system", None, &mut blocks);
    }
    for (index, message) in root.get("messages").map_or(&[][..], Node::items).iter().enumerate() {
        let assistant = message.get("role").is_some_and(|role| role.is_text(bytes, "assistant"));
        let role = Some(if assistant { Role::Assistant } else { Role::User });
        let pointer = format!("/messages/{index}/content");
        if let Some(content) = message.get("content") {
            view.blocks(content, Section::Messages, &pointer, role, &mut blocks);
        }
    }
    (blocks, view.namespace(root, config))
}

struct View<'a> {
    bytes: &'a [u8],
}

impl View<'_> {
    fn blocks(
        &self,
        list: &Node,
        section: Section,
        pointer: &str,
        role: Option<Role>,
        blocks: &mut Vec<RenderedBlock>,
    ) {
        let start = blocks.len();
        for (index, node) in list.items().iter().enumerate() {
            if let Some(point) = node.get("cachePoint") {
                // The place before the first block of a section is the end of the section before.
                if let Some(block) = blocks.last_mut() {
                    block.marker = Some(self.ttl_of(point));
                }
                continue;
            }
            let mut block = self.block(node, section, format!("{pointer}/{index}"));
            block.role = role;
            block.starts_message = role.is_some() && blocks.len() == start;
            blocks.push(block);
        }
    }

    fn ttl_of(&self, point: &Node) -> CacheTtl {
        match point.get("ttl") {
            Some(ttl) if ttl.is_text(self.bytes, "1h") => CacheTtl::OneHour,
            Some(_) | None => CacheTtl::FiveMinutes,
        }
    }

    fn block(&self, node: &Node, section: Section, pointer: String) -> RenderedBlock {
        let mut prompt_bytes = Vec::with_capacity(node.span.len());
        canonical::write_block(&mut prompt_bytes, self.bytes, node);
        let key = node.members().first().map_or("", |member| member.key.as_str());
        let kind = match (section, key) {
            (Section::Tools, _) => BlockKind::Tool,
            (Section::System, _) => BlockKind::System,
            (Section::Messages, "text") => BlockKind::Text,
            (Section::Messages, "toolUse") => BlockKind::ToolUse,
            (Section::Messages, "toolResult") => BlockKind::ToolResult,
            (Section::Messages, "reasoningContent") => BlockKind::Thinking,
            (Section::Messages, "image") => BlockKind::Image,
            (Section::Messages, "document") => BlockKind::Document,
            (Section::Messages, _) => BlockKind::Other,
        };
        let text = node.get("text").and_then(|text| text.text(self.bytes));
        let is_image = kind == BlockKind::Image;
        let extras = is_image.then(assumed_image).into_iter().collect();
        let json = || if is_image { String::new() } else { without_data(self.bytes, node) };
        let counted = text.unwrap_or_else(json);
        RenderedBlock {
            section,
            kind,
            role: None,
            starts_message: false,
            pointer,
            prompt_bytes: prompt_bytes.into(),
            counted_text: Arc::from(counted),
            frame: Frame { extras, ..Frame::default() },
            marker: None,
        }
    }

    fn namespace(&self, root: &Node, config: Option<&Node>) -> String {
        let choice = config.and_then(|config| config.get("toolChoice"));
        let members = IN_KEY.iter().filter_map(|key| Some((*key, root.get(key)?)));
        let mut out = Vec::new();
        for (key, node) in members.chain(choice.map(|choice| ("toolChoice", choice))) {
            write_string(&mut out, key);
            out.push(b':');
            write_canonical(&mut out, self.bytes, node);
            out.push(b'\n');
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::json::parse;

    const BODY: &str = r#"{
        "system": [{"text": "rules"}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": [{"text": "hello"}, {"cachePoint": {"type": "default"}},
                {"document": {"name": "a", "format": "txt", "source": {"bytes": "QQ=="}}}]},
            {"role": "assistant", "content": [{"toolUse": {"name": "f", "input": {}}}]}
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}, {"cachePoint": {}}],
            "toolChoice": {"auto": {}}}
    }"#;

    #[test]
    fn points_mark_the_block_before_them_and_are_no_blocks() {
        let (blocks, namespace) = blocks(BODY.as_bytes(), &parse(BODY.as_bytes()).unwrap());
        let seen: Vec<(&str, BlockKind, Option<CacheTtl>, bool)> = blocks
            .iter()
            .map(|block| (block.pointer.as_str(), block.kind, block.marker, block.starts_message))
            .collect();
        let (five, hour) = (Some(CacheTtl::FiveMinutes), Some(CacheTtl::OneHour));
        assert_eq!(
            seen,
            [
                ("/toolConfig/tools/0", BlockKind::Tool, five, false),
                ("/system/0", BlockKind::System, hour, false),
                ("/messages/0/content/0", BlockKind::Text, five, true),
                ("/messages/0/content/2", BlockKind::Document, None, false),
                ("/messages/1/content/0", BlockKind::ToolUse, None, true),
            ]
        );
        assert_eq!(namespace, "\"toolChoice\":{\"auto\":{}}\n");
    }

    #[test]
    fn the_shapes_are_told_apart() {
        let is = |text: &str| is_converse(&parse(text.as_bytes()).unwrap());
        assert!(is(BODY));
        assert!(is(r#"{"messages":[{"role":"user","content":[{"text":"x"}]}]}"#));
        assert!(!is(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}"#));
        assert!(!is(r#"{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}"#));
    }
}
