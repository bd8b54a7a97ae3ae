//! System prompts, messages and blocks in the shape of the Messages API.

use super::source::{ImportError, Source};
use crate::request::json::{Node, Value};
use crate::request::{Block, Message, ResultContent, Role};

const MARKER: &str = "cache_control";

/// Reads the blocks of a system prompt: a string, an array of text blocks, or an object with
/// `system` (a request body, a recorded call). A request body without one gives none.
///
/// # Errors
/// Where the text is not JSON or a block is not text, with its place.
pub fn system(json: &str) -> Result<Vec<String>, ImportError> {
    let source = Source::parse(json)?;
    let Some(prompt) = source.part("system")? else { return Ok(Vec::new()) };
    if let Some(text) = source.text(prompt) {
        return Ok(vec![text]);
    }
    if !matches!(prompt.value, Value::Array(_)) {
        let kind = source.kind(prompt);
        let message = format!("system must be a string or an array of text blocks, got {kind}");
        return Err(source.error(prompt, message));
    }
    let text = |block: &Node| {
        if source.string(block, "type").is_some_and(|word| word == "text") {
            return source.required(block, "a system block", "text");
        }
        Err(source.error(block, "a system block must be an object of `type` \"text\""))
    };
    prompt.items().iter().map(text).collect()
}

/// Reads messages: an array of them, or an object with `messages` (a request body, a recorded call
/// whose body is in `request`). A string as content is one text block. Blocks of kinds that a
/// [`Block`] has no own variant for, and text with citations, are kept as they stand; attributes of
/// calls and results beyond those of the variant (e.g. `caller`) are dropped.
///
/// # Errors
/// Where the text is not JSON or a message or block has another shape, with its place.
pub fn messages(json: &str) -> Result<Vec<Message>, ImportError> {
    let source = Source::parse(json)?;
    let Some(list) = source.part("messages")? else { return Ok(Vec::new()) };
    if !matches!(list.value, Value::Array(_)) {
        let kind = source.kind(list);
        return Err(source.error(list, format!("messages must be an array, got {kind}")));
    }
    list.items().iter().map(|item| message(&source, item)).collect()
}

fn message(source: &Source<'_>, item: &Node) -> Result<Message, ImportError> {
    if !matches!(item.value, Value::Object(_)) {
        let kind = source.kind(item);
        return Err(source.error(item, format!("a message must be an object, got {kind}")));
    }
    let wrong = |got: &str, node: &Node| {
        let expected = "a message must have `role` user, assistant or system";
        Err(source.error(node, format!("{expected}, got {got}")))
    };
    let role = match item.get("role") {
        Some(node) => match source.text(node).as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            Some(other) => return wrong(&format!("{other:?}"), node),
            None => return wrong(source.kind(node), node),
        },
        None => return wrong("none", item),
    };
    Ok(Message { role, blocks: content(source, item)? })
}

/// The blocks of `owner.content`, where `owner` is a message.
pub(super) fn content(source: &Source<'_>, owner: &Node) -> Result<Vec<Block>, ImportError> {
    let Some(content) = owner.get("content") else {
        return Err(source.error(owner, "a message must have `content`, and it is missing"));
    };
    if let Some(text) = source.text(content) {
        return Ok(vec![Block::Text(text)]);
    }
    if !matches!(content.value, Value::Array(_)) {
        let kind = source.kind(content);
        let expected = "`content` must be a string or an array of blocks";
        return Err(source.error(content, format!("{expected}, got {kind}")));
    }
    content.items().iter().map(|item| block(source, item)).collect()
}

fn block(source: &Source<'_>, item: &Node) -> Result<Block, ImportError> {
    if !matches!(item.value, Value::Object(_)) {
        let kind = source.kind(item);
        return Err(source.error(item, format!("a block must be an object, got {kind}")));
    }
    let kind = source.required(item, "a block", "type")?;
    match kind.as_str() {
        "text" if has_only(source, item, &["type", "text", MARKER]) => {
            Ok(Block::Text(source.required(item, "a text block", "text")?))
        }
        "thinking" => Ok(Block::Thinking {
            text: source.required(item, "a thinking block", "thinking")?,
            signature: source.required(item, "a thinking block", "signature")?,
        }),
        "tool_use" => call(source, item),
        "tool_result" => Ok(Block::ToolResult {
            tool_use_id: source.required(item, "a tool_result block", "tool_use_id")?,
            content: result_content(source, item)?,
            is_error: source.flag(item, "is_error"),
        }),
        _ => Ok(Block::Other(source.raw_json_without(item, MARKER)?)),
    }
}

fn has_only(source: &Source<'_>, item: &Node, keys: &[&str]) -> bool {
    let mut members = item.members().iter();
    members.all(|member| keys.contains(&member.key.as_str()) || source.is_null(&member.node))
}

fn call(source: &Source<'_>, item: &Node) -> Result<Block, ImportError> {
    let id = source.required(item, "a tool_use block", "id")?;
    let name = source.required(item, "a tool_use block", "name")?;
    match item.get("input") {
        Some(input) if matches!(input.value, Value::Object(_)) => {
            Ok(Block::ToolUse { id, name, input: source.raw_json(input)? })
        }
        Some(other) => {
            let kind = source.kind(other);
            let message = format!("`input` of a tool_use block must be an object, got {kind}");
            Err(source.error(other, message))
        }
        None => Err(source.error(item, "a tool_use block must have `input`, and it is missing")),
    }
}

/// A result without content is one without blocks.
fn result_content(source: &Source<'_>, item: &Node) -> Result<ResultContent, ImportError> {
    let Some(content) = item.get("content").filter(|content| !source.is_null(content)) else {
        return Ok(ResultContent::Blocks(Vec::new()));
    };
    if let Some(text) = source.text(content) {
        return Ok(ResultContent::Text(text));
    }
    if !matches!(content.value, Value::Array(_)) {
        let kind = source.kind(content);
        let expected = "`content` of a tool_result block must be a string or an array of blocks";
        return Err(source.error(content, format!("{expected}, got {kind}")));
    }
    let blocks = content.items().iter().map(|inner| block(source, inner));
    Ok(ResultContent::Blocks(blocks.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_block_is_read_and_no_marker_is_kept() {
        let json = r#"{"request":{"messages":[
            {"role":"user","content":"hi"},
            {"role":"assistant","content":[
                {"type":"thinking","thinking":"t","signature":"s"},
                {"type":"text","text":"x","citations":null,"cache_control":{"type":"ephemeral"}},
                {"type":"text","text":"y","citations":[1]},
                {"type":"tool_use","id":"c","name":"n","input":{ "b":1, "a":2 }}]},
            {"role":"user","content":[
                {"type":"tool_result","tool_use_id":"c","is_error":true},
                {"cache_control":null, "type":"image", "cache_control":{"a":1}, "source":{ }}]}
            ]}}"#;
        let messages = messages(json).unwrap();
        assert_eq!(messages[0].blocks, [Block::Text("hi".to_owned())]);
        let [thinking, text, cited, call] = messages[1].blocks.as_slice() else { panic!() };
        assert!(matches!(thinking, Block::Thinking { text, signature }
            if text == "t" && signature == "s"));
        assert_eq!(*text, Block::Text("x".to_owned()));
        assert!(matches!(cited, Block::Other(raw) if raw.as_str().contains("citations")));
        assert!(matches!(call, Block::ToolUse { input, .. }
            if input.as_str() == r#"{ "b":1, "a":2 }"#));
        let [result, image] = messages[2].blocks.as_slice() else { panic!() };
        let nothing = ResultContent::Blocks(Vec::new());
        assert!(matches!(result, Block::ToolResult { content, is_error: true, .. }
            if *content == nothing));
        assert!(matches!(image, Block::Other(raw)
            if raw.as_str() == r#"{"type":"image", "source":{ }}"#));
    }

    #[test]
    fn wrong_shapes_are_named() {
        let cases = [
            (r#"[{"role":"tool","content":"x"}]"#, "/0/role", "got \"tool\""),
            (r#"[{"content":"x"}]"#, "/0", "got none"),
            (r#"[{"role":"user"}]"#, "/0", "`content`"),
            (r#"[{"role":"user","content":3}]"#, "/0/content", "got a number"),
            (r#"[{"role":"user","content":[{"text":"x"}]}]"#, "/0/content/0", "`type`"),
            (
                r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b"}]}]"#,
                "/0/content/0",
                "`input`",
            ),
            (r#"{"system":"x"}"#, "", "`messages`"),
            (r#""x""#, "", "got a string"),
        ];
        for (json, pointer, part) in cases {
            let error = messages(json).unwrap_err();
            assert_eq!(error.pointer, pointer, "{json}");
            assert!(error.message.contains(part), "{json}: {}", error.message);
        }
    }

    #[test]
    fn a_system_prompt_is_a_string_or_text_blocks() {
        assert_eq!(system(r#""a""#).unwrap(), ["a"]);
        let blocks = r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#;
        assert_eq!(system(blocks).unwrap(), ["a", "b"]);
        assert_eq!(system(&format!(r#"{{"system":{blocks}}}"#)).unwrap(), ["a", "b"]);
        assert_eq!(system(r#"{"messages":[]}"#).unwrap(), [""; 0]);
        assert_eq!(system(r#"[{"type":"image"}]"#).unwrap_err().pointer, "/0");
        assert!(system("7").unwrap_err().message.contains("got a number"));
    }
}
