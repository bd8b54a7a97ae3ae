//! `--set KEY=VALUE`: values that replace those of the file before anything is checked.

use super::diagnostic::{Mistake, Mistakes, code};
use super::source::Span;
use super::tree::{self, Entry, Node, Table, Value};

/// What mistakes in an override name as their file.
pub(super) const LABEL: &str = "--set";

/// Parts that a key may have; the format's deepest keys have three.
const DEPTH_MAX: usize = 16;

/// Puts each override into `table`; later ones win. Overrides that do not fit are reported.
pub(super) fn apply(table: &mut Table, overrides: &[(String, String)], mistakes: &mut Mistakes) {
    for (key, text) in overrides {
        let base = mistakes.sources.push(LABEL, format!("{key}={text}"));
        let key_span = base..base + key.len();
        let value_span = key_span.end + 1..key_span.end + 1 + text.len();
        let node = tree::toml_value(text, value_span.start)
            .unwrap_or(Node { span: value_span, value: Value::Text(text.clone()) });
        let result = match segments(key, base) {
            None => Err("needs a key of parts with dots between, e.g. fork.children".to_owned()),
            Some(path) => insert(table, &path, &node),
        };
        if let Err(problem) = result {
            mistakes.add(Mistake {
                code: code::OVERRIDE,
                span: &key_span,
                key: Some(key),
                value: Some(&node.span),
                message: format!("`--set {key}` {problem}"),
                help: "write --set KEY=VALUE, the key as in docs/scenario-format.md".to_owned(),
            });
        }
    }
}

/// The parts of a dotted key with their places.
fn segments(key: &str, base: usize) -> Option<Vec<(&str, Span)>> {
    let mut at = base;
    let mut path = Vec::new();
    for part in key.split('.') {
        if part.is_empty() || part.contains(char::is_whitespace) {
            return None;
        }
        if path.len() == DEPTH_MAX {
            return None;
        }
        path.push((part, at..at + part.len()));
        at += part.len() + 1;
    }
    Some(path)
}

fn insert(table: &mut Table, path: &[(&str, Span)], node: &Node) -> Result<(), String> {
    let Some(((key, key_span), rest)) = path.split_first() else { return Ok(()) };
    let index = table.entries.iter().position(|entry| entry.key == *key);
    if rest.is_empty() {
        let entry =
            Entry { key: (*key).to_owned(), key_span: key_span.clone(), node: node.clone() };
        match index {
            Some(index) => table.entries[index] = entry,
            None => table.entries.push(entry),
        }
        return Ok(());
    }
    let index = index.unwrap_or_else(|| {
        let empty = Node { span: key_span.clone(), value: Value::Table(Table::default()) };
        let key = (*key).to_owned();
        table.entries.push(Entry { key, key_span: key_span.clone(), node: empty });
        table.entries.len() - 1
    });
    match &mut table.entries[index].node.value {
        Value::Table(inner) => insert(inner, rest, node),
        Value::Text(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Date(_)
        | Value::List(_)
        | Value::Null => Err(format!("goes into {key}, which is not a table in the file")),
    }
}
