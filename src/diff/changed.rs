//! What changed inside a block that both bodies have.

use super::body::View;
use super::cause::Flavour;
use super::drill::{KeyOrder, Leaf, Shape, leaves};
use super::excerpt::cut;
use super::kind::Kind;
use crate::request::json::Value;
use crate::request::{BlockKind, RenderedBlock, Role};

/// The places at which two blocks differ; a string that stands for a text block is its text.
pub(super) fn block_leaves<'a>(a: View<'a>, b: View<'a>) -> Vec<Leaf<'a>> {
    let is_text = |view: View<'_>| matches!(view.node.value, Value::String);
    if is_text(a) == is_text(b) {
        return leaves(a, b, KeyOrder::Envelope);
    }
    let (text_a, path_a) = text_of(a);
    let (text_b, path_b) = text_of(b);
    let mut all = match (text_a, text_b) {
        (Some(text_a), Some(text_b)) => leaves(text_a, text_b, KeyOrder::Kept),
        (_, _) => Vec::new(),
    };
    for leaf in &mut all {
        leaf.path_a = format!("{path_a}{}", leaf.path_a);
        leaf.path_b = format!("{path_b}{}", leaf.path_b);
    }
    let rest = |view: View<'a>| {
        let members = view.node.members().iter();
        members.filter(|member| !["type", "text", "cache_control"].contains(&member.key.as_str()))
    };
    let path = |key: &str| format!("/{key}");
    all.extend(rest(a).map(|member| Leaf {
        path_a: path(&member.key),
        path_b: String::new(),
        a: Some(a.of(&member.node)),
        b: None,
        shape: Shape::Removed,
    }));
    all.extend(rest(b).map(|member| Leaf {
        path_a: String::new(),
        path_b: path(&member.key),
        a: None,
        b: Some(b.of(&member.node)),
        shape: Shape::Added,
    }));
    all
}

fn text_of(view: View<'_>) -> (Option<View<'_>>, &'static str) {
    match view.node.value {
        Value::String => (Some(view), ""),
        Value::Object(_) | Value::Array(_) | Value::Scalar => (view.get("text"), "/text"),
    }
}

/// The kind of a change inside a block.
pub(super) fn changed_kind(
    block: BlockKind,
    leaf: &Leaf<'_>,
    flavour: Flavour,
    only_order: bool,
) -> Kind {
    let path = if leaf.b.is_some() { &leaf.path_b } else { &leaf.path_a };
    let member = path.split('/').nth(1).unwrap_or("text");
    match flavour {
        Flavour::Whitespace => return Kind::WhitespaceOnly,
        Flavour::Unicode => return Kind::UnicodeNormalised,
        Flavour::Words => {}
    }
    match (block, member) {
        (BlockKind::System, "text") => Kind::SystemTextChanged,
        (BlockKind::System, _) => Kind::SystemAttributeChanged,
        (BlockKind::Text, "text") => Kind::MessageEdited,
        (BlockKind::ToolUse, "input") if only_order => Kind::ToolInputKeyOrder,
        (BlockKind::ToolUse, "input" | "name") => Kind::ToolCallChanged,
        (BlockKind::ToolUse, "id") | (BlockKind::ToolResult, "tool_use_id") => {
            Kind::ToolCallIdChanged
        }
        (BlockKind::ToolResult, "is_error") => Kind::ResultErrorChanged,
        (BlockKind::ToolResult, _) => result_kind(leaf, path),
        (BlockKind::Thinking, _) => Kind::ThinkingEdited,
        (BlockKind::Image, _) => Kind::ImageChanged,
        (BlockKind::Document, _) => Kind::DocumentChanged,
        (BlockKind::Text | BlockKind::ToolUse | BlockKind::Tool | BlockKind::Other, _) => {
            Kind::BlockChanged
        }
    }
}

/// The kind of a change of a result's content.
fn result_kind(leaf: &Leaf<'_>, path: &str) -> Kind {
    let is_image = |view: Option<View<'_>>| {
        view.and_then(|view| view.get("type")).and_then(View::text).is_some_and(|t| t == "image")
    };
    let types = |view: Option<View<'_>>| view.map(|view| std::mem::discriminant(&view.node.value));
    if path == "/content" && types(leaf.a) != types(leaf.b) {
        return Kind::ResultShapeChanged;
    }
    match (is_image(leaf.a), is_image(leaf.b)) {
        (true, false) => Kind::ImageRemoved,
        (false, true) => Kind::ImageAdded,
        (true, true) | (false, false) => Kind::ResultChanged,
    }
}

/// What a changed block is, at the beginning of a sentence.
pub(super) fn subject(view: View<'_>, block: &RenderedBlock) -> String {
    let member = |key: &str| {
        let text = view.get(key).and_then(View::text).unwrap_or_default();
        cut(&text, 40)
    };
    let who = block.role.map_or("system", Role::as_str);
    match block.kind {
        BlockKind::System => "the system prompt".to_owned(),
        BlockKind::Text => format!("a text of the {who}"),
        BlockKind::ToolUse => format!("a call of the tool `{}`", member("name")),
        BlockKind::ToolResult => format!("the result of the call `{}`", member("tool_use_id")),
        BlockKind::Thinking => "a thinking block".to_owned(),
        BlockKind::Image => "an image".to_owned(),
        BlockKind::Document => "a document".to_owned(),
        BlockKind::Tool => format!("the tool `{}`", member("name")),
        BlockKind::Other => format!("a block of type `{}`", member("type")),
    }
}
