//! Splices a recorded body: markers are moved, messages are appended, every other byte stays.

use std::ops::Range;

use super::render::{block_shape, ttl_of};
use super::wire::{system_shape, write_automatic, write_marker, write_message};
use crate::request::json::{JsonError, Node};
use crate::request::marker::{BlockShape, MessageShape};
use crate::request::{
    BlockAddress, BlockKind, CapturedBody, Draft, EncodedFamily, PromptShape, Role,
};
use crate::units::CacheTtl;

/// The blocks of a recorded body.
pub(super) fn shape(captured: &CapturedBody) -> Result<PromptShape, JsonError> {
    let (bytes, root) = (captured.bytes(), captured.tree());
    let wrong = |node: &Node, message: &str| JsonError::at(bytes, node.span.start, message);
    if root.get("messages").is_none_or(|messages| messages.items().is_empty()) {
        return Err(wrong(root, "a request body has a list `messages` with at least one message"));
    }
    let mut messages = Vec::new();
    for message in list(root, "messages") {
        let role = match message.get("role").and_then(|role| role.text(bytes)).as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            _ => return Err(wrong(message, "a message has `role` user, assistant or system")),
        };
        let Some(content) = message.get("content") else {
            return Err(wrong(message, "a message has `content`"));
        };
        messages.push(MessageShape { role, blocks: blocks_of(bytes, content) });
    }
    Ok(PromptShape {
        tools: list(root, "tools").len(),
        system: root.get("system").map_or(Vec::new(), |system| system_of(bytes, system)),
        inherited: messages.len(),
        messages,
        own_block: false,
    })
}

fn list<'a>(root: &'a Node, key: &str) -> &'a [Node] {
    root.get(key).map_or(&[], |node| node.items())
}

fn system_of(bytes: &[u8], system: &Node) -> Vec<BlockShape> {
    let texts = match system.text(bytes) {
        Some(text) => vec![text],
        None => {
            let text = |item: &Node| item.get("text").and_then(|text| text.text(bytes));
            system.items().iter().map(|item| text(item).unwrap_or_default()).collect()
        }
    };
    texts.iter().enumerate().map(|(index, text)| system_shape(index, text)).collect()
}

fn blocks_of(bytes: &[u8], content: &Node) -> Vec<BlockShape> {
    if let Some(text) = content.text(bytes) {
        return vec![BlockShape { kind: BlockKind::Text, markable: !text.is_empty() }];
    }
    content.items().iter().map(|item| block_shape(bytes, item)).collect()
}

/// Replaces one range of the recorded bytes; an empty range inserts.
struct Edit {
    range: Range<usize>,
    with: Vec<u8>,
}

/// All bytes that the bodies of a family share.
pub(super) fn encode(captured: &CapturedBody, draft: &Draft) -> EncodedFamily {
    let (bytes, root) = (captured.bytes(), captured.tree());
    let mut splice = Splice { bytes, edits: Vec::new() };
    splice.mark_all(root, draft);
    splice.pre_warm(root, draft);
    splice.mark_top_level(root, draft);
    let (append_at, appended) = splice.append(root, draft);
    splice.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));

    let mut head = Vec::with_capacity(bytes.len() + appended.len() + 1024);
    let mut tail = Vec::new();
    let mut copied = 0;
    let mut behind = false;
    for edit in &splice.edits {
        if !behind && edit.range.start >= append_at {
            head.extend_from_slice(&bytes[copied..append_at]);
            head.extend_from_slice(&appended);
            copied = append_at;
            behind = true;
            close_own(draft, &mut tail);
        }
        let out = if behind && draft.own_block { &mut tail } else { &mut head };
        out.extend_from_slice(&bytes[copied..edit.range.start]);
        out.extend_from_slice(&edit.with);
        copied = edit.range.end;
    }
    if !behind {
        head.extend_from_slice(&bytes[copied..append_at]);
        head.extend_from_slice(&appended);
        copied = append_at;
        close_own(draft, &mut tail);
    }
    let out = if draft.own_block { &mut tail } else { &mut head };
    out.extend_from_slice(&bytes[copied..]);
    EncodedFamily { head, tail }
}

/// Closes the message that holds the own block.
fn close_own(draft: &Draft, tail: &mut Vec<u8>) {
    if draft.own_block {
        tail.extend_from_slice(b"]}");
    }
}

struct Splice<'a> {
    bytes: &'a [u8],
    edits: Vec<Edit>,
}

impl Splice<'_> {
    /// Moves the markers of all recorded blocks to where the placement wants them.
    fn mark_all(&mut self, root: &Node, draft: &Draft) {
        let wanted = |address| draft.placement.at(address);
        for (index, tool) in list(root, "tools").iter().enumerate() {
            self.mark(tool, wanted(BlockAddress::Tool(index)));
        }
        if let Some(system) = root.get("system") {
            self.mark_content(system, |at| wanted(BlockAddress::System(at)));
        }
        for (index, message) in list(root, "messages").iter().enumerate() {
            if let Some(content) = message.get("content") {
                self.mark_content(content, |at| wanted(BlockAddress::Message(index, at)));
            }
        }
    }

    fn mark_content(&mut self, content: &Node, wanted: impl Fn(usize) -> Option<CacheTtl>) {
        if content.is_string() {
            self.mark_shorthand(content, wanted(0));
        }
        for (at, item) in content.items().iter().enumerate() {
            self.mark(item, wanted(at));
            for inner in list(item, "content") {
                self.mark(inner, None);
            }
        }
    }

    /// A string can carry no marker: it becomes the one block that it stands for.
    fn mark_shorthand(&mut self, text: &Node, wanted: Option<CacheTtl>) {
        if wanted.is_some() {
            let mut with = b"[{\"type\":\"text\",\"text\":".to_vec();
            with.extend_from_slice(text.raw(self.bytes));
            write_marker(&mut with, wanted);
            with.extend_from_slice(b"}]");
            self.edits.push(Edit { range: text.span.clone(), with });
        }
    }

    fn mark(&mut self, block: &Node, wanted: Option<CacheTtl>) {
        let members = block.members();
        let found = members.iter().position(|member| member.key == "cache_control");
        let Some(at) = found else {
            if wanted.is_some() {
                let mut with = Vec::new();
                write_marker(&mut with, wanted);
                let end = end_of_members(block);
                self.edits.push(Edit { range: end..end, with });
            }
            return;
        };
        let member = &members[at];
        let is_marker = !member.node.members().is_empty();
        match wanted {
            Some(ttl) if is_marker && ttl_of(self.bytes, &member.node) == ttl => {}
            Some(_) => {
                let mut with = Vec::new();
                write_marker(&mut with, wanted);
                let range = member.key_span.start..member.node.span.end;
                self.edits.push(Edit { range, with: with.split_off(1) });
            }
            None => {
                let range = match (at.checked_sub(1), members.get(at + 1)) {
                    (Some(before), _) => members[before].node.span.end..member.node.span.end,
                    (None, Some(next)) => member.key_span.start..next.key_span.start,
                    (None, None) => member.key_span.start..member.node.span.end,
                };
                self.edits.push(Edit { range, with: Vec::new() });
            }
        }
    }

    /// A pre-warming request answers nothing and is not streamed.
    fn pre_warm(&mut self, root: &Node, draft: &Draft) {
        let Some(max_tokens) = draft.max_tokens else { return };
        if let Some(node) = root.get("max_tokens") {
            let with = max_tokens.to_string().into_bytes();
            self.edits.push(Edit { range: node.span.clone(), with });
        }
        if let Some(node) = root.get("stream").filter(|_| max_tokens == 0) {
            self.edits.push(Edit { range: node.span.clone(), with: b"false".to_vec() });
        }
    }

    fn mark_top_level(&mut self, root: &Node, draft: &Draft) {
        let mut with = Vec::new();
        write_automatic(&mut with, draft);
        if root.get("cache_control").is_some() {
            self.mark(root, draft.placement.automatic());
        } else if !with.is_empty() {
            let end = end_of_members(root);
            self.edits.push(Edit { range: end..end, with });
        }
    }

    /// Drops the messages that are not kept; gives the place behind the last one that is, and what
    /// goes there.
    fn append(&mut self, root: &Node, draft: &Draft) -> (usize, Vec<u8>) {
        let messages = list(root, "messages");
        let kept = draft.kept_messages.unwrap_or(messages.len()).min(messages.len());
        let at = match kept.checked_sub(1) {
            Some(last) => messages[last].span.end,
            None => messages.first().map_or(root.span.end - 1, |first| first.span.start),
        };
        let end = messages.last().map_or(at, |last| last.span.end);
        if kept < messages.len() {
            self.edits.retain(|edit| edit.range.end <= at || edit.range.start >= end);
            self.edits.push(Edit { range: at..end, with: Vec::new() });
        }
        let mut out = Vec::new();
        for (index, message) in draft.appended.iter().enumerate() {
            if kept + index > 0 {
                out.push(b',');
            }
            let open = draft.own_block && index + 1 == draft.appended.len();
            write_message(&mut out, message, kept + index, draft, open);
        }
        (at, out)
    }
}

/// Behind the last member of an object, so that taking an inserted member out again restores every
/// byte.
fn end_of_members(object: &Node) -> usize {
    object.members().last().map_or(object.span.end - 1, |member| member.node.span.end)
}
