//! Renders a body: blocks in the order tools, system, messages, and what else keys the cache.

use std::collections::HashMap;
use std::sync::Arc;

use super::framing::{Framed, FramedBlock};
use super::parts::without_data;
use super::wire::is_billing_line;
use super::{canonical, converse, framing, parts};
use crate::provider::RenderOptions;
use crate::request::json::{self, JsonError, Node, write_canonical, write_string};
use crate::request::marker::BlockShape;
use crate::request::{
    BlockKind, Extra, ExtraKind, Frame, Mark, RenderedBlock, RenderedPrompt, RequestBody, Role,
    Section, counted_tool, counted_tool_use,
};
use crate::units::CacheTtl;

/// Tokens assumed for an image whose size is not looked at.
const IMAGE_TOKENS_ASSUMED: u64 = 1_600;

/// An image without a look at it.
pub(super) fn assumed_image() -> Extra {
    Extra::exact(ExtraKind::Image, IMAGE_TOKENS_ASSUMED, Mark::Inferred)
}

/// Top-level members that are no part of the cache key: the prompt itself, what only shapes the
/// answer, and the marker.
pub(super) const NOT_IN_KEY: [&str; 11] = [
    "tools",
    "system",
    "messages",
    "max_tokens",
    "stream",
    "metadata",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "cache_control",
];

/// The kind of a message block by its `type`.
pub(super) fn kind_of(bytes: &[u8], block: &Node) -> BlockKind {
    let kind = block.get("type").and_then(|node| node.text(bytes)).unwrap_or_default();
    match kind.as_str() {
        "text" => BlockKind::Text,
        "tool_use" => BlockKind::ToolUse,
        "tool_result" => BlockKind::ToolResult,
        "thinking" | "redacted_thinking" => BlockKind::Thinking,
        "image" => BlockKind::Image,
        "document" => BlockKind::Document,
        _ => BlockKind::Other,
    }
}

/// Whether a block of that kind can carry a marker; `text` is its text where it has one. Reasoning
/// and empty text cannot; kinds that are not known here are taken to be able to.
pub(super) fn is_markable(kind: BlockKind, text: &str) -> bool {
    match kind {
        BlockKind::Text | BlockKind::System => !text.is_empty(),
        BlockKind::Tool
        | BlockKind::ToolUse
        | BlockKind::ToolResult
        | BlockKind::Image
        | BlockKind::Document
        | BlockKind::Other => true,
        BlockKind::Thinking => false,
    }
}

/// A message block as marker placement sees it.
pub(super) fn block_shape(bytes: &[u8], block: &Node) -> BlockShape {
    let kind = kind_of(bytes, block);
    let text = block.get("text").and_then(|text| text.text(bytes)).unwrap_or_default();
    BlockShape { kind, markable: is_markable(kind, &text) }
}

/// The lifetime of a marker object: one hour where it says so, else five minutes.
pub(super) fn ttl_of(bytes: &[u8], marker: &Node) -> CacheTtl {
    match marker.get("ttl") {
        Some(ttl) if ttl.is_text(bytes, "1h") => CacheTtl::OneHour,
        Some(_) | None => CacheTtl::FiveMinutes,
    }
}

/// The whole prompt of a body.
pub(super) fn render(
    body: &RequestBody,
    options: RenderOptions,
) -> Result<RenderedPrompt, JsonError> {
    let bytes = body.to_vec();
    let root = json::parse(&bytes)?;
    let source = Source { bytes: &bytes, root: &root, has_own: !body.own_block().is_empty() };
    source.finished(blocks(&bytes, &root, options), namespace(&bytes, &root), options)
}

/// The prompt of a recorded body of any API that carries requests to these models.
pub(super) fn render_recorded(
    body: &RequestBody,
    options: RenderOptions,
) -> Result<RenderedPrompt, JsonError> {
    let bytes = body.to_vec();
    let root = json::parse(&bytes)?;
    let source = Source { bytes: &bytes, root: &root, has_own: false };
    if converse::is_converse(&root) {
        let (blocks, namespace) = converse::blocks(&bytes, &root);
        return source.finished(blocks, namespace, options);
    }
    if parts::is_chat(&bytes, &root) {
        return Ok(from_parts(framed(&bytes, &root, options)?, namespace(&bytes, &root)));
    }
    source.finished(blocks(&bytes, &root, options), namespace(&bytes, &root), options)
}

/// A body that is read.
struct Source<'a> {
    bytes: &'a [u8],
    root: &'a Node,
    /// Whether the last block is the request's own.
    has_own: bool,
}

impl Source<'_> {
    /// The prompt of its blocks, framed where a family is asked for.
    fn finished(
        &self,
        mut blocks: Vec<RenderedBlock>,
        namespace: String,
        options: RenderOptions,
    ) -> Result<RenderedPrompt, JsonError> {
        let (tail, unmodelled) = match options.family {
            Some(_) => attach(&mut blocks, self.bytes, self.root, options)?,
            None => Default::default(),
        };
        correct(&mut blocks, options.correction);
        let own = if self.has_own { blocks.pop() } else { None };
        let (shared, namespace) = (blocks.into(), namespace.into());
        Ok(RenderedPrompt { shared, own, namespace, tail, unmodelled })
    }
}

/// The first block of the messages carries the correction of the request.
fn correct(blocks: &mut [RenderedBlock], tokens: i64) {
    if let Some(block) = blocks.iter_mut().find(|block| block.section == Section::Messages) {
        block.frame.correction = tokens;
    }
}

/// What of a body no rule of counting is known for, by its name.
pub(super) fn unmodelled(bytes: &[u8]) -> Vec<String> {
    let parts = json::parse(bytes).and_then(|root| parts::take_apart(bytes, &root));
    parts.map(|parts| parts.unmodelled).unwrap_or_default()
}

fn framed(bytes: &[u8], root: &Node, options: RenderOptions) -> Result<Framed, JsonError> {
    let mut parts = parts::take_apart(bytes, root)?;
    let first = parts.system.first().map(|(_, text)| is_billing_line(0, text));
    if first == Some(true) && !options.hash_billing_line {
        parts.system.remove(0);
    }
    if let Some(model) = options.model {
        model.clone_into(&mut parts.model);
    }
    Ok(framing::frame(&parts, options.family, options.date))
}

/// Gives each block its text and frame under the family; what is billed behind the last one, and
/// what no rule is known for.
fn attach(
    blocks: &mut [RenderedBlock],
    bytes: &[u8],
    root: &Node,
    options: RenderOptions,
) -> Result<(Frame, Arc<[String]>), JsonError> {
    let framed = framed(bytes, root, options)?;
    let mut known: HashMap<String, FramedBlock> =
        framed.blocks.into_iter().map(|block| (block.pointer.clone(), block)).collect();
    for block in blocks {
        if let Some(found) = known.remove(&block.pointer) {
            block.counted_text = found.text.into();
            block.frame = found.frame;
            if found.is_dropped {
                // What the model does not get is no part of its prompt.
                block.prompt_bytes = Arc::from([]);
            }
        }
    }
    Ok((framed.tail, framed.unmodelled.into()))
}

/// A prompt of which only texts and frames are known.
fn from_parts(framed: Framed, namespace: String) -> RenderedPrompt {
    let blocks = framed.blocks.into_iter().map(|block| RenderedBlock {
        section: block.section,
        kind: block.kind,
        role: block.role,
        starts_message: block.starts_message,
        pointer: block.pointer,
        prompt_bytes: Arc::from(block.text.as_bytes()),
        counted_text: block.text.into(),
        frame: block.frame,
        marker: None,
    });
    RenderedPrompt {
        shared: blocks.collect(),
        own: None,
        namespace: namespace.into(),
        tail: framed.tail,
        unmodelled: framed.unmodelled.into(),
    }
}

/// The blocks of a body, their texts alone.
fn blocks(bytes: &[u8], root: &Node, options: RenderOptions) -> Vec<RenderedBlock> {
    let mut blocks = Vec::new();
    let view = View { bytes };
    for (index, tool) in items(root, "tools").iter().enumerate() {
        blocks.push(view.tool(tool, index));
    }
    view.system(root, options, &mut blocks);
    view.messages(root, &mut blocks);
    if let Some(marker) = root.get("cache_control") {
        mark_automatically(&mut blocks, ttl_of(bytes, marker));
    }
    blocks
}

/// The own block of a body, at the place of a sibling's.
pub(super) fn render_own(
    body: &RequestBody,
    sibling: &RenderedBlock,
) -> Result<RenderedBlock, JsonError> {
    let bytes = body.own_block();
    let node = json::parse(bytes)?;
    let mut block = View { bytes }.block(&node, Section::Messages, sibling.pointer.clone());
    block.role = sibling.role;
    block.starts_message = sibling.starts_message;
    if block.kind == sibling.kind {
        block.frame = framing::reframe(&sibling.frame, &block.counted_text);
    }
    // A top-level marker stands outside the own block, but in the same place for all siblings.
    block.marker = block.marker.or(sibling.marker);
    Ok(block)
}

fn items<'a>(root: &'a Node, key: &str) -> &'a [Node] {
    root.get(key).map_or(&[], |node| node.items())
}

/// A top-level marker goes to the last block that can carry one.
fn mark_automatically(blocks: &mut [RenderedBlock], ttl: CacheTtl) {
    let markable = |block: &&mut RenderedBlock| is_markable(block.kind, &block.counted_text);
    if let Some(block) = blocks.iter_mut().rev().find(markable) {
        block.marker = block.marker.or(Some(ttl));
    }
}

/// Model and parameters as canonical JSON with sorted keys.
fn namespace(bytes: &[u8], root: &Node) -> String {
    let mut members: Vec<_> =
        root.members().iter().filter(|member| !NOT_IN_KEY.contains(&member.key.as_str())).collect();
    members.sort_by(|a, b| a.key.cmp(&b.key));
    let mut out = Vec::new();
    for member in members {
        write_string(&mut out, &member.key);
        out.push(b':');
        write_canonical(&mut out, bytes, &member.node);
        out.push(b'\n');
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A body being rendered.
struct View<'a> {
    bytes: &'a [u8],
}

impl View<'_> {
    fn text(&self, node: Option<&Node>) -> Option<String> {
        node.and_then(|node| node.text(self.bytes))
    }

    fn canonical(&self, node: &Node) -> String {
        let mut out = Vec::new();
        write_canonical(&mut out, self.bytes, node);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn tool(&self, tool: &Node, index: usize) -> RenderedBlock {
        let mut block = self.block(tool, Section::Tools, format!("/tools/{index}"));
        block.kind = BlockKind::Tool;
        block.counted_text = counted_tool(
            &self.text(tool.get("name")).unwrap_or_default(),
            self.text(tool.get("description")).as_deref(),
            tool.get("input_schema").map(|schema| self.canonical(schema)).as_deref(),
        )
        .into();
        block.frame = Frame::default();
        block
    }

    fn system(&self, root: &Node, options: RenderOptions, blocks: &mut Vec<RenderedBlock>) {
        let Some(system) = root.get("system") else { return };
        let mut rendered = Vec::new();
        if system.is_string() {
            rendered.push(self.shorthand(system, Section::System, "/system".to_owned()));
        }
        for (index, item) in system.items().iter().enumerate() {
            rendered.push(self.block(item, Section::System, format!("/system/{index}")));
        }
        for (index, mut block) in rendered.into_iter().enumerate() {
            block.kind = BlockKind::System;
            if options.hash_billing_line || !is_billing_line(index, &block.counted_text) {
                blocks.push(block);
            }
        }
    }

    fn messages(&self, root: &Node, blocks: &mut Vec<RenderedBlock>) {
        for (index, message) in items(root, "messages").iter().enumerate() {
            let role = self.text(message.get("role")).map(|role| match role.as_str() {
                "assistant" => Role::Assistant,
                "system" => Role::System,
                _ => Role::User,
            });
            let Some(content) = message.get("content") else { continue };
            let start = blocks.len();
            let pointer = format!("/messages/{index}/content");
            if content.is_string() {
                blocks.push(self.shorthand(content, Section::Messages, pointer));
            } else {
                blocks.extend(content.items().iter().enumerate().map(|(at, block)| {
                    self.block(block, Section::Messages, format!("{pointer}/{at}"))
                }));
            }
            for (at, block) in blocks[start..].iter_mut().enumerate() {
                block.role = role;
                block.starts_message = at == 0;
            }
        }
    }

    fn shorthand(&self, text: &Node, section: Section, pointer: String) -> RenderedBlock {
        let mut prompt_bytes = Vec::new();
        canonical::write_text(&mut prompt_bytes, self.bytes, text);
        RenderedBlock {
            section,
            kind: BlockKind::Text,
            role: None,
            starts_message: false,
            pointer,
            prompt_bytes: prompt_bytes.into(),
            counted_text: self.text(Some(text)).unwrap_or_default().into(),
            frame: Frame::default(),
            marker: None,
        }
    }

    fn block(&self, node: &Node, section: Section, pointer: String) -> RenderedBlock {
        let mut prompt_bytes = Vec::with_capacity(node.span.len());
        canonical::write_block(&mut prompt_bytes, self.bytes, node);
        let kind = kind_of(self.bytes, node);
        let (counted_text, images) = self.counted(node, kind);
        let extras = std::iter::repeat_n(assumed_image(), images).collect();
        RenderedBlock {
            section,
            kind,
            role: None,
            starts_message: false,
            pointer,
            prompt_bytes: prompt_bytes.into(),
            counted_text: Arc::from(counted_text),
            frame: Frame { extras, ..Frame::default() },
            marker: self.marker(node),
        }
    }

    /// A marker on the block itself; on the last inner block of a tool result it is lifted to the
    /// result.
    fn marker(&self, node: &Node) -> Option<CacheTtl> {
        let direct = node.get("cache_control").filter(|marker| !marker.members().is_empty());
        let lifted = || {
            let last = items(node, "content").last()?;
            last.get("cache_control").filter(|marker| !marker.members().is_empty())
        };
        direct.or_else(lifted).map(|marker| ttl_of(self.bytes, marker))
    }

    /// The text that is counted, and the number of images, which stand in no text.
    fn counted(&self, node: &Node, kind: BlockKind) -> (String, usize) {
        match kind {
            BlockKind::Text | BlockKind::System | BlockKind::Tool => {
                (self.text(node.get("text")).unwrap_or_default(), 0)
            }
            BlockKind::Thinking => {
                let text = node.get("thinking").or_else(|| node.get("data"));
                (self.text(text).unwrap_or_default(), 0)
            }
            BlockKind::ToolUse => {
                let name = self.text(node.get("name")).unwrap_or_default();
                let input = node.get("input").map(|input| self.canonical(input));
                (counted_tool_use(&name, &input.unwrap_or_default()), 0)
            }
            BlockKind::ToolResult => self.counted_result(node),
            BlockKind::Image => (String::new(), 1),
            BlockKind::Document | BlockKind::Other => (without_data(self.bytes, node), 0),
        }
    }

    /// The texts of a result's blocks, one a line, and the number of its images.
    fn counted_result(&self, node: &Node) -> (String, usize) {
        let Some(content) = node.get("content") else { return (String::new(), 0) };
        if let Some(text) = self.text(Some(content)) {
            return (text, 0);
        }
        let counted: Vec<(String, usize)> = content
            .items()
            .iter()
            .map(|item| self.counted(item, kind_of(self.bytes, item)))
            .collect();
        let images = counted.iter().map(|(_, images)| images).sum();
        let texts: Vec<String> =
            counted.into_iter().map(|(text, _)| text).filter(|text| !text.is_empty()).collect();
        (texts.join("\n"), images)
    }
}
