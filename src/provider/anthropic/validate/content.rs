//! Rules of messages and their blocks.
//!
//! Sources: shapes, from the request types of the Python package anthropic 2.14.0; the rest from
//! answers of the API, issues on GitHub: blank text, anthropics/claude-code#23440 (2026-02-05), and
//! recorded calls where whitespace beside other content of the model was accepted; ids of calls,
//! maximhq/bifrost#5097 (2026-07-10) and trycua/cua#524; what may follow a system message,
//! anthropics/claude-code#73821 (2026-07-03). That a system message follows a user message is
//! observed in every recorded call and documented as a placement rule; the API's words for it are
//! not known.

use std::collections::HashSet;

use super::body::{Body, Fill, Findings, Kind, is_array, is_object};
use super::envelope::is_word;
use crate::request::Role;

/// A message is an object with a known role and with content, a string or an array of blocks.
pub(super) fn message_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    for message in &body.messages {
        if !is_object(message.node) {
            findings.add(message.node, "a message must be an object");
            continue;
        }
        if message.role.is_none() {
            let at = message.node.get("role").unwrap_or(message.node);
            findings.add(at, "`role` must be user, assistant or system");
        }
        match message.content {
            None => findings.add(message.node, "a message must have `content`"),
            Some(content) if !content.is_string() && !is_array(content) => {
                findings.add(content, "`content` must be a string or an array of blocks");
            }
            Some(_) => {}
        }
    }
}

/// The first message is a user's.
pub(super) fn first_message(body: &Body<'_>, findings: &mut Findings<'_>) {
    if let Some(first) = body.messages.first()
        && matches!(first.role, Some(Role::Assistant | Role::System))
    {
        findings.add(first.node, "the first message must have the role user");
    }
}

/// System messages follow a user message, and an assistant message or nothing follows them.
pub(super) fn system_position(body: &Body<'_>, findings: &mut Findings<'_>) {
    let turns: Vec<_> = body.turns().collect();
    let role = |at: usize| turns.get(at).and_then(|turn| turn[0].role);
    for (at, turn) in turns.iter().enumerate().filter(|(at, _)| role(*at) == Some(Role::System)) {
        if at > 0 && role(at - 1) == Some(Role::Assistant) {
            findings.add(turn[0].node, "a system message must follow a user message");
        }
        if role(at + 1) == Some(Role::User) {
            let last = turn[turn.len() - 1].node;
            findings.add(last, "a system message must precede an assistant message or be the last");
        }
    }
}

/// A message says something; only a final assistant message may be empty.
pub(super) fn empty_content(body: &Body<'_>, findings: &mut Findings<'_>) {
    let last = body.messages.len().saturating_sub(1);
    for (at, message) in body.messages.iter().enumerate() {
        let Some(content) = message.content else { continue };
        let is_empty = match content.is_string() {
            true => body.fill(content) == Fill::Empty,
            false => is_array(content) && content.items().is_empty(),
        };
        if is_empty && !(at == last && message.role == Some(Role::Assistant)) {
            findings.add(content, "content must not be empty, except in a final assistant message");
        }
    }
}

/// A block is an object with a type.
pub(super) fn block_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    for block in body.messages.iter().flat_map(|message| &message.blocks) {
        if !is_object(block.node) {
            findings.add(block.node, "a block must be an object");
        } else if block.kind == Kind::Untyped {
            findings.add(block.node, "a block must have `type`");
        }
    }
}

/// Text is never empty, and more than whitespace unless the model said something else beside it.
pub(super) fn blank_text(body: &Body<'_>, findings: &mut Findings<'_>) {
    const BLANK: &str = "text must have more than whitespace";
    for message in &body.messages {
        if let Some(content) = message.content
            && content.is_string()
            && body.fill(content) == Fill::Whitespace
        {
            findings.add(content, BLANK);
        }
        let texts = message.blocks.iter().filter(|block| block.kind == Kind::Text);
        let fills = texts.map(|block| {
            let text = block.node.get("text").filter(|text| text.is_string());
            (block.node, text, text.map(|text| body.fill(text)))
        });
        let fills: Vec<_> = fills.collect();
        let blanks = fills.iter().filter(|(.., fill)| *fill != Some(Fill::Words)).count();
        let beside = message.role == Some(Role::Assistant) && blanks < message.blocks.len();
        for (block, text, fill) in fills {
            match fill {
                None => findings.add(block, "a text block must have `text`, a string"),
                Some(Fill::Empty) => findings.add(text.unwrap_or(block), "text must not be empty"),
                Some(Fill::Whitespace) if !beside => findings.add(text.unwrap_or(block), BLANK),
                Some(Fill::Whitespace | Fill::Words) => {}
            }
        }
    }
}

/// Calls and thinking are the model's, results the user's.
pub(super) fn misplaced_block(body: &Body<'_>, findings: &mut Findings<'_>) {
    for message in &body.messages {
        let Some(role) = message.role else { continue };
        for block in &message.blocks {
            let (kind, owner) = match block.kind {
                Kind::ToolUse => ("tool_use", Role::Assistant),
                Kind::Thinking => ("thinking", Role::Assistant),
                Kind::RedactedThinking => ("redacted_thinking", Role::Assistant),
                Kind::ToolResult => ("tool_result", Role::User),
                Kind::Text | Kind::Media | Kind::Other | Kind::Untyped => continue,
            };
            if role != owner {
                let owner = owner.as_str();
                findings.add(block.node, format!("{kind} may stand in {owner} messages only"));
            }
        }
    }
}

/// A call has an id, a name and an input object.
pub(super) fn call_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    let blocks = body.messages.iter().flat_map(|message| &message.blocks);
    for block in blocks.filter(|block| block.kind == Kind::ToolUse) {
        if block.id.is_none() {
            findings.add(block.node, "tool_use must have `id`, a string");
        }
        let name = block.node.get("name").filter(|name| name.is_string());
        if name.is_none_or(|name| body.fill(name) == Fill::Empty) {
            findings.add(block.node, "tool_use must have `name`, a string");
        }
        if !block.node.get("input").is_some_and(is_object) {
            findings.add(block.node, "tool_use must have `input`, an object");
        }
    }
}

/// The id of a call has letters, digits, `_` and `-` only.
pub(super) fn call_id(body: &Body<'_>, findings: &mut Findings<'_>) {
    let blocks = body.messages.iter().flat_map(|message| &message.blocks);
    for block in blocks.filter(|block| block.kind == Kind::ToolUse) {
        if let Some(id) = block.id.as_deref().filter(|id| id.is_empty() || !is_word(id)) {
            let reason = format!("the id `{id}` must be of letters, digits, `_` and `-`");
            findings.add(block.node, reason);
        }
    }
}

/// No two calls of a body have one id.
pub(super) fn call_ids_unique(body: &Body<'_>, findings: &mut Findings<'_>) {
    let mut seen = HashSet::new();
    let blocks = body.messages.iter().flat_map(|message| &message.blocks);
    for block in blocks.filter(|block| block.kind == Kind::ToolUse) {
        if let Some(id) = block.id.as_deref().filter(|id| !seen.insert(*id)) {
            findings.add(block.node, format!("ids of calls must be unique, `{id}` stands twice"));
        }
    }
}

/// A result names its call; its content is a string or an array, where it has one.
pub(super) fn result_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    let blocks = body.messages.iter().flat_map(|message| &message.blocks);
    for block in blocks.filter(|block| block.kind == Kind::ToolResult) {
        if block.id.is_none() {
            findings.add(block.node, "tool_result must have `tool_use_id`, a string");
        }
        if let Some(content) = body.member(block.node, "content")
            && !content.is_string()
            && !is_array(content)
        {
            findings.add(content, "`content` of a result must be a string or an array of blocks");
        }
    }
}

/// Thinking goes back with its signature.
pub(super) fn thinking_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    let blocks = body.messages.iter().flat_map(|message| &message.blocks);
    for block in blocks.filter(|block| block.kind == Kind::Thinking) {
        for key in ["thinking", "signature"] {
            if body.string(block.node, key).is_none() {
                findings.add(block.node, format!("thinking must have `{key}`, a string"));
            }
        }
    }
}
