//! Small bodies built by hand, and what is said of two of them.

mod bodies;
mod kinds;
mod laws;
mod parameters;
mod verdicts;
mod wild;

use serde_json::{Value, json};

use super::{Diff, DiffError, Input, diff};
use crate::provider::ALL;
use crate::provider::rules::RuleValue;

/// A body with three tools, two system blocks and two turns; markers on the second system block and
/// on the last block.
fn base() -> Value {
    let tool = |name: &str| {
        json!({"name": name, "description": format!("Runs {name} since 2026-12-01."),
               "input_schema": {"type": "object", "properties": {"a": {"type": "string"},
               "b": {"type": "integer"}}, "required": ["a"]}})
    };
    let mut body = json!({
        "model": "claude-opus-5",
        "max_tokens": 1000,
        "tools": [tool("bash"), tool("edit"), tool("read")],
        "system": [{"type": "text", "text": "You are an agent."},
                   {"type": "text", "text": "cwd: /home/ana/one\nBe brief.\n"}],
        "messages": [
            {"role": "user", "content": "Look \u{2014} then act."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "I look.", "signature": "c2ln"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "bash", "input": {"a": "ls", "b": 1}},
                {"type": "tool_use", "id": "t2", "name": "read", "input": {"a": "x"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1",
                 "content": [{"type": "text", "text": "one.txt"}]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "text of x"},
                {"type": "text", "text": "Go on."}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
            {"role": "user", "content": [{"type": "text", "text": "Write the report."}]}
        ]
    });
    mark(&mut body, "/system/1");
    mark(&mut body, "/messages/4/content/0");
    body
}

fn mark(body: &mut Value, pointer: &str) {
    body.pointer_mut(pointer).unwrap()["cache_control"] = json!({"type": "ephemeral"});
}

/// The base with one change.
fn base_but(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = base();
    change(&mut body);
    body
}

fn set(body: &mut Value, pointer: &str, value: impl Into<Value>) {
    *body.pointer_mut(pointer).unwrap() = value.into();
}

fn list<'a>(body: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    body.pointer_mut(pointer).unwrap().as_array_mut().unwrap()
}

fn of_bytes(a: &[u8], b: &[u8], rules: &[(String, RuleValue)]) -> Result<Diff, DiffError> {
    let input = |name, bytes| Input { name, bytes, line: None, file_byte: 0 };
    diff(input("a.json", a), input("b.json", b), ALL[0], rules)
}

fn of(a: &Value, b: &Value) -> Diff {
    of_bytes(a.to_string().as_bytes(), b.to_string().as_bytes(), &[]).unwrap()
}

/// Kind and place of every divergence.
fn places(diff: &Diff) -> Vec<(&'static str, &str)> {
    diff.divergences.iter().map(|one| (one.kind.as_str(), one.pointer.as_str())).collect()
}
