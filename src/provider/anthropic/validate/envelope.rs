//! Rules of what stands around the messages.
//!
//! Sources: required fields, from the request types of the Python package anthropic 2.14.0; what
//! only warms the cache, platform.claude.com/docs/en/build-with-claude/prompt-caching (copy of
//! 2026-09); tool names, from answers of the API: home-assistant/core#147760 (2025-06-29, pattern)
//! and danny-avila/LibreChat#13162 (2026-05-17, unique).

use std::collections::HashSet;

use super::body::{Body, Fill, Findings, Kind, is_array, is_object};
use crate::request::json::Value;

/// A parameter may stand once. JSON leaves open which of two counts, so a body with two is taken as
/// refused rather than guessed at.
pub(super) fn duplicate_keys(body: &Body<'_>, findings: &mut Findings<'_>) {
    let mut seen = HashSet::new();
    for member in body.root.members() {
        if !seen.insert(member.key.as_str()) {
            let key = &member.key;
            findings.add(&member.node, format!("ambiguous: `{key}` stands more than once"));
        }
    }
}

/// A model must be named.
pub(super) fn model(body: &Body<'_>, findings: &mut Findings<'_>) {
    match body.root.get("model") {
        None => findings.add(body.root, "`model` is required"),
        Some(model) if !model.is_string() || body.fill(model) != Fill::Words => {
            findings.add(model, "`model` must be the name of a model");
        }
        Some(_) => {}
    }
}

/// The answer must have a limit in tokens, from 0.
pub(super) fn max_tokens(body: &Body<'_>, findings: &mut Findings<'_>) {
    match body.root.get("max_tokens") {
        None => findings.add(body.root, "`max_tokens` is required"),
        Some(limit) if !body.raw(limit).iter().all(u8::is_ascii_digit) => {
            findings.add(limit, "`max_tokens` must be an integer from 0");
        }
        Some(_) => {}
    }
}

/// There must be at least one message.
pub(super) fn messages(body: &Body<'_>, findings: &mut Findings<'_>) {
    match body.root.get("messages") {
        None => findings.add(body.root, "`messages` is required"),
        Some(list) if !is_array(list) => findings.add(list, "`messages` must be an array"),
        Some(list) if list.items().is_empty() => {
            findings.add(list, "at least one message is required");
        }
        Some(_) => {}
    }
}

/// A request with `max_tokens: 0` only warms the cache: it cannot stream, think with a budget, give
/// structured output or be forced to call a tool.
pub(super) fn prewarm(body: &Body<'_>, findings: &mut Findings<'_>) {
    let root = body.root;
    if root.get("max_tokens").is_none_or(|limit| body.raw(limit) != b"0") {
        return;
    }
    let mut refuse = |node, what: &str| {
        findings.add(node, format!("`max_tokens` 0 cannot be combined with {what}"));
    };
    if let Some(stream) = root.get("stream").filter(|stream| body.raw(stream) == b"true") {
        refuse(stream, "streaming");
    }
    if let Some(thinking) = body.member(root, "thinking")
        && body.says(thinking, "type", "enabled")
    {
        refuse(thinking, "thinking of type `enabled`");
    }
    let config = body.member(root, "output_config");
    if let Some(format) = config.and_then(|config| body.member(config, "format")) {
        refuse(format, "an output format");
    }
    if let Some(choice) = body.member(root, "tool_choice")
        && (body.says(choice, "type", "any") || body.says(choice, "type", "tool"))
    {
        refuse(choice, "a forced tool call");
    }
}

/// Tools are an array of objects; one of the caller's own has a schema.
pub(super) fn tool_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    if let Some(tools) = body.member(body.root, "tools").filter(|tools| !is_array(tools)) {
        findings.add(tools, "`tools` must be an array");
    }
    for tool in body.tools() {
        if !is_object(tool) {
            findings.add(tool, "a tool must be an object");
            continue;
        }
        let own = body.member(tool, "type").is_none() || body.says(tool, "type", "custom");
        if own && !body.member(tool, "input_schema").is_some_and(is_object) {
            findings.add(tool, "a tool must have `input_schema`, an object");
        }
    }
}

/// A tool name has 1 to 128 letters, digits, `_` and `-`. A set of tools of an MCP server has none.
pub(super) fn tool_name(body: &Body<'_>, findings: &mut Findings<'_>) {
    for tool in body.tools().iter().filter(|tool| is_object(tool)) {
        let own = body.member(tool, "type").is_none() || body.says(tool, "type", "custom");
        match tool.get("name") {
            None if own => findings.add(tool, "a tool must have `name`"),
            Some(name) if !name.text(body.bytes).is_some_and(|name| is_tool_name(&name)) => {
                findings.add(name, "a tool name must be 1 to 128 letters, digits, `_` or `-`");
            }
            Some(_) | None => {}
        }
    }
}

fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len()) && is_word(name)
}

/// True where all characters are letters, digits, `_` or `-` of ASCII.
pub(super) fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// No two tools have one name.
pub(super) fn tool_names_unique(body: &Body<'_>, findings: &mut Findings<'_>) {
    let mut seen = HashSet::new();
    for tool in body.tools() {
        let Some(name) = body.string(tool, "name") else { continue };
        if seen.contains(&name) {
            findings.add(tool, format!("tool names must be unique, `{name}` stands twice"));
        }
        seen.insert(name);
    }
}

/// The system prompt is a string or text blocks that are not empty.
pub(super) fn system_shape(body: &Body<'_>, findings: &mut Findings<'_>) {
    let Some(system) = body.member(body.root, "system") else { return };
    match &system.value {
        Value::String => {}
        Value::Array(blocks) => {
            for block in blocks {
                let text = block.get("text").filter(|text| text.is_string());
                match text.filter(|_| Kind::of(body.bytes, block) == Kind::Text) {
                    None => findings.add(block, "a system block must be of type `text`"),
                    Some(text) if body.fill(text) == Fill::Empty => {
                        findings.add(text, "text must not be empty");
                    }
                    Some(_) => {}
                }
            }
        }
        Value::Object(_) | Value::Scalar => {
            findings.add(system, "`system` must be a string or an array of text blocks");
        }
    }
}
