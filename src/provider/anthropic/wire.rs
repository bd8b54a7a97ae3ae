//! Writes a conversation as a Messages API body, in one fixed key order:
//! `model, max_tokens, tools, system, messages`, then further parameters, then a top-level marker.

use super::render::is_markable;
use crate::request::json::{parse, write_string};
use crate::request::marker::{BlockShape, MessageShape};
use crate::request::{
    Block, BlockAddress, BlockKind, Conversation, Draft, EncodedFamily, Message, PromptShape,
    RawJson, ResultContent, Tool,
};
use crate::units::CacheTtl;

/// The prefix of a billing or attribution line, which is no part of the prompt and carries no
/// marker.
const BILLING_LINE: &str = "x-anthropic-billing-header:";

/// Whether a system block is the billing or attribution line: only the first can be, and only where
/// it holds nothing but that one line. Text behind it would be lost from the prompt.
pub(super) fn is_billing_line(index: usize, text: &str) -> bool {
    index == 0 && text.starts_with(BILLING_LINE) && !text.trim_end().contains(['\n', '\r'])
}

/// The blocks of a conversation.
pub(super) fn shape(conversation: &Conversation) -> PromptShape {
    let system = conversation.system.iter().enumerate();
    let system = system.map(|(index, text)| system_shape(index, text)).collect();
    let messages: Vec<MessageShape> = conversation.messages.iter().map(message_shape).collect();
    PromptShape {
        tools: conversation.tools.len(),
        system,
        inherited: messages.len(),
        messages,
        own_block: false,
    }
}

/// A system block; a leading billing line and an empty text cannot carry a marker.
pub(super) fn system_shape(index: usize, text: &str) -> BlockShape {
    let markable = !text.is_empty() && !is_billing_line(index, text);
    BlockShape { kind: BlockKind::System, markable }
}

/// The blocks of a message.
pub(super) fn message_shape(message: &Message) -> MessageShape {
    let blocks = message.blocks.iter().map(block_shape).collect();
    MessageShape { role: message.role, blocks }
}

fn block_shape(block: &Block) -> BlockShape {
    let (kind, text) = match block {
        Block::Text(text) => (BlockKind::Text, text.as_str()),
        Block::Thinking { .. } => (BlockKind::Thinking, ""),
        Block::ToolUse { .. } => (BlockKind::ToolUse, ""),
        Block::ToolResult { .. } => (BlockKind::ToolResult, ""),
        Block::Other(raw) => return other_shape(raw),
    };
    BlockShape { kind, markable: is_markable(kind, text) }
}

fn other_shape(raw: &RawJson) -> BlockShape {
    let bytes = raw.as_str().as_bytes();
    match parse(bytes) {
        Ok(node) => super::render::block_shape(bytes, &node),
        Err(_) => BlockShape { kind: BlockKind::Other, markable: false },
    }
}

/// All bytes that the bodies of a family share.
pub(super) fn encode(conversation: &Conversation, draft: &Draft) -> EncodedFamily {
    let mut head = Vec::with_capacity(64 * 1024);
    head.extend_from_slice(b"{\"model\":");
    write_string(&mut head, &conversation.model);
    let max_tokens = draft.max_tokens.unwrap_or(conversation.max_tokens);
    head.extend_from_slice(format!(",\"max_tokens\":{max_tokens}").as_bytes());
    if !conversation.tools.is_empty() {
        head.extend_from_slice(b",\"tools\":[");
        for (index, tool) in conversation.tools.iter().enumerate() {
            separate(&mut head, index);
            write_tool(&mut head, tool, draft.placement.at(BlockAddress::Tool(index)));
        }
        head.push(b']');
    }
    if !conversation.system.is_empty() {
        head.extend_from_slice(b",\"system\":[");
        for (index, text) in conversation.system.iter().enumerate() {
            separate(&mut head, index);
            write_text_block(&mut head, text, draft.placement.at(BlockAddress::System(index)));
        }
        head.push(b']');
    }
    head.extend_from_slice(b",\"messages\":[");
    let kept = draft.kept_messages.unwrap_or(conversation.messages.len());
    let messages = conversation.messages.iter().take(kept).chain(&draft.appended);
    let last = kept.min(conversation.messages.len()) + draft.appended.len();
    for (index, message) in messages.enumerate() {
        separate(&mut head, index);
        let open = draft.own_block && index + 1 == last;
        write_message(&mut head, message, index, draft, open);
    }
    let mut tail = Vec::new();
    let rest = if draft.own_block { &mut tail } else { &mut head };
    if draft.own_block {
        rest.extend_from_slice(b"]}");
    }
    rest.push(b']');
    for (key, value) in &conversation.parameters {
        if draft.max_tokens == Some(0) && key == "stream" {
            continue;
        }
        write_member(rest, key, value);
    }
    write_automatic(rest, draft);
    rest.push(b'}');
    EncodedFamily { head, tail }
}

/// A comma before every item but the first.
fn separate(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

/// `,"key":value`
fn write_member(out: &mut Vec<u8>, key: &str, value: &RawJson) {
    out.push(b',');
    write_string(out, key);
    out.push(b':');
    out.extend_from_slice(value.as_str().as_bytes());
}

/// The top-level marker, where there is one.
pub(super) fn write_automatic(out: &mut Vec<u8>, draft: &Draft) {
    if let Some(ttl) = draft.placement.automatic() {
        write_marker(out, Some(ttl));
    }
}

/// `,"cache_control":{…}` where the block carries a marker.
pub(super) fn write_marker(out: &mut Vec<u8>, marker: Option<CacheTtl>) {
    let text: &[u8] = match marker {
        None => b"",
        Some(CacheTtl::FiveMinutes) => b",\"cache_control\":{\"type\":\"ephemeral\"}",
        Some(CacheTtl::OneHour) => b",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
    };
    out.extend_from_slice(text);
}

fn write_tool(out: &mut Vec<u8>, tool: &Tool, marker: Option<CacheTtl>) {
    out.extend_from_slice(b"{\"name\":");
    write_string(out, &tool.name);
    if let Some(description) = &tool.description {
        out.extend_from_slice(b",\"description\":");
        write_string(out, description);
    }
    if let Some(schema) = &tool.input_schema {
        write_member(out, "input_schema", schema);
    }
    for (key, value) in &tool.more {
        write_member(out, key, value);
    }
    write_marker(out, marker);
    out.push(b'}');
}

/// One text block with its marker.
pub(super) fn write_text_block(out: &mut Vec<u8>, text: &str, marker: Option<CacheTtl>) {
    out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    write_string(out, text);
    write_marker(out, marker);
    out.push(b'}');
}

/// One message; `open` leaves its content unclosed behind a comma, for the own block to follow.
pub(super) fn write_message(
    out: &mut Vec<u8>,
    message: &Message,
    index: usize,
    draft: &Draft,
    open: bool,
) {
    out.extend_from_slice(b"{\"role\":");
    write_string(out, message.role.as_str());
    out.extend_from_slice(b",\"content\":[");
    for (at, block) in message.blocks.iter().enumerate() {
        separate(out, at);
        write_block(out, block, draft.placement.at(BlockAddress::Message(index, at)));
    }
    if open {
        separate(out, message.blocks.len());
    } else {
        out.extend_from_slice(b"]}");
    }
}

fn write_block(out: &mut Vec<u8>, block: &Block, marker: Option<CacheTtl>) {
    match block {
        Block::Text(text) => write_text_block(out, text, marker),
        Block::Thinking { text, signature } => {
            out.extend_from_slice(b"{\"type\":\"thinking\",\"thinking\":");
            write_string(out, text);
            out.extend_from_slice(b",\"signature\":");
            write_string(out, signature);
            out.push(b'}');
        }
        Block::ToolUse { id, name, input } => {
            out.extend_from_slice(b"{\"type\":\"tool_use\",\"id\":");
            write_string(out, id);
            out.extend_from_slice(b",\"name\":");
            write_string(out, name);
            write_member(out, "input", input);
            write_marker(out, marker);
            out.push(b'}');
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            out.extend_from_slice(b"{\"type\":\"tool_result\",\"tool_use_id\":");
            write_string(out, tool_use_id);
            out.extend_from_slice(b",\"content\":");
            write_result(out, content);
            if *is_error {
                out.extend_from_slice(b",\"is_error\":true");
            }
            write_marker(out, marker);
            out.push(b'}');
        }
        Block::Other(raw) => {
            let text = raw.as_str().as_bytes();
            out.extend_from_slice(&text[..text.len() - 1]);
            write_marker(out, marker);
            out.push(b'}');
        }
    }
}

fn write_result(out: &mut Vec<u8>, content: &ResultContent) {
    match content {
        ResultContent::Text(text) => write_string(out, text),
        ResultContent::Blocks(blocks) => {
            out.push(b'[');
            for (at, block) in blocks.iter().enumerate() {
                separate(out, at);
                write_block(out, block, None);
            }
            out.push(b']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_billing_line_is_the_first_block_and_all_of_it() {
        assert!(is_billing_line(0, "x-anthropic-billing-header: cch=1;"));
        assert!(is_billing_line(0, "x-anthropic-billing-header: cch=1;\n"));
        assert!(!is_billing_line(1, "x-anthropic-billing-header: cch=1;"));
        for more in ["\nYou are an agent.", "\n\nBe brief.\n", "\r\nBe brief."] {
            let text = format!("x-anthropic-billing-header: cch=1;{more}");
            assert!(!is_billing_line(0, &text), "{text:?}");
            assert!(system_shape(0, &text).markable, "{text:?}");
        }
        assert!(!system_shape(0, "x-anthropic-billing-header: cch=1;").markable);
    }
}
