//! One JSON text with positions, and errors that name the place.

use crate::request::RawJson;
use crate::request::json::{self, JsonError, Node, Value};

/// Why a text cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}{}: {message}", at_pointer(pointer))]
pub struct ImportError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// JSON pointer of the value, within its line for a JSON-lines file; empty for the whole.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

fn at_pointer(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" ({pointer})") }
}

impl ImportError {
    /// An error about a text as a whole.
    pub(super) fn whole(message: &str) -> ImportError {
        let message = message.to_owned();
        ImportError { line: 1, column: 1, pointer: String::new(), message }
    }
}

/// A parsed text: a whole file, or one line of it.
pub(super) struct Source<'a> {
    text: &'a str,
    tree: Node,
    first_line: usize,
}

impl<'a> Source<'a> {
    /// Reads a whole file.
    pub(super) fn parse(text: &'a str) -> Result<Source<'a>, ImportError> {
        if text.trim().is_empty() {
            return Err(ImportError::whole("the file is empty"));
        }
        Source::read(text, 1).map_err(|error| ImportError {
            line: error.line,
            column: error.column,
            pointer: String::new(),
            message: format!("not JSON: {}", error.message),
        })
    }

    /// Reads line `number` of a JSON-lines file.
    pub(super) fn parse_line(text: &'a str, number: usize) -> Result<Source<'a>, ImportError> {
        Source::read(text, number).map_err(|error| {
            let cut = error.offset >= text.len();
            let what = if cut { "is cut off" } else { "is not JSON" };
            ImportError {
                line: number,
                column: error.column,
                pointer: String::new(),
                message: format!("line {number} {what}: {}", error.message),
            }
        })
    }

    fn read(text: &'a str, first_line: usize) -> Result<Source<'a>, JsonError> {
        Ok(Source { text, tree: json::parse(text.as_bytes())?, first_line })
    }

    /// The outermost value.
    pub(super) fn root(&self) -> &Node {
        &self.tree
    }

    /// An error at `node`.
    pub(super) fn error(&self, node: &Node, message: impl Into<String>) -> ImportError {
        let bytes = self.text.as_bytes();
        let place = JsonError::at(bytes, node.span.start, message);
        ImportError {
            line: self.first_line + place.line - 1,
            column: place.column,
            pointer: json::pointer_at(bytes, &self.tree, node.span.start),
            message: place.message,
        }
    }

    /// The decoded text of a string.
    pub(super) fn text(&self, node: &Node) -> Option<String> {
        node.text(self.text.as_bytes())
    }

    /// The bytes of a value as they stand.
    pub(super) fn raw(&self, node: &Node) -> &'a str {
        &self.text[node.span.clone()]
    }

    /// True for `null`.
    pub(super) fn is_null(&self, node: &Node) -> bool {
        self.raw(node) == "null"
    }

    /// True where the member `key` is `true`.
    pub(super) fn flag(&self, node: &Node, key: &str) -> bool {
        node.get(key).is_some_and(|value| self.raw(value) == "true")
    }

    /// The member `key` where it is a string.
    pub(super) fn string(&self, node: &Node, key: &str) -> Option<String> {
        node.get(key).and_then(|value| self.text(value))
    }

    /// The member `key`, which must be a string; `what` names the owner, e.g. "a tool".
    pub(super) fn required(
        &self,
        node: &Node,
        what: &str,
        key: &str,
    ) -> Result<String, ImportError> {
        let value = node.get(key).ok_or_else(|| {
            self.error(node, format!("{what} must have `{key}`, and it is missing"))
        })?;
        self.text(value).ok_or_else(|| {
            let kind = self.kind(value);
            self.error(value, format!("`{key}` of {what} must be a string, got {kind}"))
        })
    }

    /// What a value is, in words.
    pub(super) fn kind(&self, node: &Node) -> &'static str {
        match node.value {
            Value::Object(_) => "an object",
            Value::Array(_) => "an array",
            Value::String => "a string",
            Value::Scalar => match self.raw(node) {
                "null" => "null",
                "true" | "false" => "a boolean",
                _ => "a number",
            },
        }
    }

    /// The bytes of a value, kept.
    pub(super) fn raw_json(&self, node: &Node) -> Result<RawJson, ImportError> {
        RawJson::new(self.raw(node)).map_err(|error| self.error(node, error.to_string()))
    }

    /// The bytes of an object without its members named `key`; all else stays as it is.
    pub(super) fn raw_json_without(&self, node: &Node, key: &str) -> Result<RawJson, ImportError> {
        let members = node.members();
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            return self.raw_json(node);
        };
        let mut out = self.text[node.span.start..first.key_span.start].to_owned();
        let mut is_first = true;
        for (index, member) in members.iter().enumerate() {
            if member.key == key {
                continue;
            }
            let start =
                if is_first { member.key_span.start } else { members[index - 1].node.span.end };
            out.push_str(&self.text[start..member.node.span.end]);
            is_first = false;
        }
        out.push_str(&self.text[last.node.span.end..node.span.end]);
        RawJson::new(out).map_err(|error| self.error(node, error.to_string()))
    }

    /// The value that stands for `key`: a bare list or string itself, the member of a request body,
    /// of a recorded `request`, or of a JSON-RPC `result`. `None` where a body has no such member.
    pub(super) fn part(&self, key: &str) -> Result<Option<&Node>, ImportError> {
        let root = self.root();
        if !matches!(root.value, Value::Object(_)) {
            return Ok(Some(root));
        }
        let owners = [Some(root), root.get("request"), root.get("result")];
        let mut owners = owners.into_iter().flatten();
        if let Some(value) = owners.clone().find_map(|owner| owner.get(key)) {
            return Ok(Some(value).filter(|value| !self.is_null(value)));
        }
        if key != "messages" && owners.any(|owner| owner.get("messages").is_some()) {
            return Ok(None);
        }
        Err(self.error(root, format!("an object with `{key}` expected, but it has none")))
    }
}
