//! The prompt bytes of a block: canonical JSON of the block with the marker cut out.
//!
//! Envelope keys (of the block, and of blocks inside a tool result) stand in sorted order, because
//! their order never matters to the cache; the order inside `input_schema` and `input` is kept,
//! because it does.

use crate::request::json::{Member, Node, Value, write_canonical, write_string};

/// Appends the prompt bytes of a block (an object).
pub(super) fn write_block(out: &mut Vec<u8>, bytes: &[u8], node: &Node) {
    let mut members: Vec<&Member> =
        node.members().iter().filter(|member| member.key != "cache_control").collect();
    members.sort_by(|a, b| a.key.cmp(&b.key));
    out.push(b'{');
    for (index, member) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(out, &member.key);
        out.push(b':');
        write_value(out, bytes, member);
    }
    out.push(b'}');
}

fn write_value(out: &mut Vec<u8>, bytes: &[u8], member: &Member) {
    match &member.node.value {
        Value::Array(items) if member.key == "content" => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                if item.members().is_empty() {
                    write_canonical(out, bytes, item);
                } else {
                    write_block(out, bytes, item);
                }
            }
            out.push(b']');
        }
        Value::Array(_) | Value::Object(_) | Value::String | Value::Scalar => {
            write_canonical(out, bytes, &member.node);
        }
    }
}

/// Appends the prompt bytes of a string that stands for one text block (`system: "x"`, a message's
/// `content: "x"`). The string content of a tool result is no such shorthand: it renders
/// differently.
pub(super) fn write_text(out: &mut Vec<u8>, bytes: &[u8], text: &Node) {
    out.extend_from_slice(b"{\"text\":");
    write_canonical(out, bytes, text);
    out.extend_from_slice(b",\"type\":\"text\"}");
}
