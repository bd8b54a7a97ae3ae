//! JSON with positions: where every value of a body stands, and the canonical form of a value.
//!
//! A body is compared, cut and spliced on its own bytes; parsing it into values and writing it out
//! again would change numbers, escapes and order. So this module keeps spans and nothing else.

mod strings;

pub use strings::{decode_string, write_string};

use std::ops::Range;

use strings::{ESCAPED, write_canonical_string};

/// Deepest nesting that is read; deeper text is an error, never a stack overflow.
pub const DEPTH_MAX: usize = 128;

/// Why bytes are not one JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column} (byte {offset}): {message}")]
pub struct JsonError {
    /// Byte offset, from 0.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl JsonError {
    /// An error at `offset` of `bytes`.
    pub fn at(bytes: &[u8], offset: usize, message: impl Into<String>) -> JsonError {
        let before = &bytes[..offset.min(bytes.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
        JsonError { offset, line, column, message: message.into() }
    }
}

/// A value with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Bytes of the value in the text it was read from.
    pub span: Range<usize>,
    /// What it is.
    pub value: Value,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Members in their order.
    Object(Vec<Member>),
    /// Items in their order.
    Array(Vec<Node>),
    /// A string, quotes included in the span.
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The decoded key.
    pub key: String,
    /// Bytes of the key, quotes included.
    pub key_span: Range<usize>,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The member of that name, the last where a name stands twice (as JSON parsers commonly do).
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }

    /// Members of an object; none for anything else.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Object(members) => members,
            Value::Array(_) | Value::String | Value::Scalar => &[],
        }
    }

    /// Items of an array; none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Array(items) => items,
            Value::Object(_) | Value::String | Value::Scalar => &[],
        }
    }

    /// True for a string.
    pub fn is_string(&self) -> bool {
        self.value == Value::String
    }

    /// Its raw bytes.
    pub fn raw<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.span.clone()]
    }

    /// The decoded text of a string; a lone surrogate becomes U+FFFD. `None` for anything else.
    pub fn text(&self, bytes: &[u8]) -> Option<String> {
        self.is_string().then(|| decode_string(self.raw(bytes)))
    }

    /// True where the value is the string `word`.
    pub fn is_text(&self, bytes: &[u8], word: &str) -> bool {
        self.text(bytes).is_some_and(|text| text == word)
    }
}

/// Reads bytes as one JSON value.
///
/// # Errors
/// Where they are not UTF-8, not JSON, nested deeper than [`DEPTH_MAX`], or followed by anything
/// but whitespace.
pub fn parse(bytes: &[u8]) -> Result<Node, JsonError> {
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(JsonError::at(bytes, error.valid_up_to(), "not valid UTF-8"));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(JsonError::at(
            bytes,
            0,
            "starts with a byte order mark; save the file as UTF-8 without one",
        ));
    }
    let mut parser = Parser { bytes, at: 0 };
    parser.skip_whitespace();
    let node = parser.value(0)?;
    parser.skip_whitespace();
    if parser.at < bytes.len() {
        return Err(parser.error("one value expected, but something follows it"));
    }
    Ok(node)
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, message: &str) -> JsonError {
        if self.at >= self.bytes.len() {
            return JsonError::at(
                self.bytes,
                self.bytes.len(),
                format!("the text ends early: {message}"),
            );
        }
        JsonError::at(self.bytes, self.at, message)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        if depth > DEPTH_MAX {
            return Err(self.error("nested deeper than 128 levels"));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.members(depth)?),
            Some(b'[') => Value::Array(self.items(depth)?),
            Some(b'"') => {
                self.string()?;
                Value::String
            }
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.error("a JSON value expected")),
        };
        Ok(Node { span: start..self.at, value })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, JsonError> {
        let mut members = Vec::new();
        self.at += 1;
        self.skip_whitespace();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.skip_whitespace();
            if self.peek() != Some(b'"') {
                return Err(self.error("a key in double quotes expected"));
            }
            let start = self.at;
            self.string()?;
            let key_span = start..self.at;
            self.skip_whitespace();
            if self.peek() != Some(b':') {
                return Err(self.error("`:` expected behind a key"));
            }
            self.at += 1;
            self.skip_whitespace();
            let node = self.value(depth + 1)?;
            let key = decode_string(&self.bytes[key_span.clone()]);
            members.push(Member { key, key_span, node });
            if self.closes(b'}')? {
                return Ok(members);
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_whitespace();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(items);
        }
        loop {
            self.skip_whitespace();
            items.push(self.value(depth + 1)?);
            if self.closes(b']')? {
                return Ok(items);
            }
        }
    }

    /// Takes a comma (false) or the closing bracket (true).
    fn closes(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_whitespace();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.error(&format!("`,` or `{}` expected", char::from(close)))),
        }
    }

    fn word(&mut self, word: &str) -> Result<Value, JsonError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error("a JSON value expected"));
        }
        self.at += word.len();
        Ok(Value::Scalar)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.error("a digit expected")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Value::Scalar)
    }

    fn string(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let plain = rest.iter().position(|byte| ESCAPED[usize::from(*byte)]);
            self.at += plain.unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0..=0x1f) => {
                    return Err(self.error("a control character in a string must be escaped"));
                }
                Some(_) => self.at += 1,
                None => return Err(self.error("a string is not closed")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.error("four hexadecimal digits expected behind `\\u`"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.error("not an escape of JSON")),
        }
        Ok(())
    }
}

/// Appends the canonical form of a value: no whitespace between tokens, the shortest escapes,
/// numbers as they stand, members in their order.
pub fn write_canonical(out: &mut Vec<u8>, bytes: &[u8], node: &Node) {
    match &node.value {
        Value::Scalar => out.extend_from_slice(node.raw(bytes)),
        Value::String => write_canonical_string(out, node.raw(bytes)),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_canonical(out, bytes, item);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (index, member) in members.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(out, &member.key);
                out.push(b':');
                write_canonical(out, bytes, &member.node);
            }
            out.push(b'}');
        }
    }
}

/// The JSON pointer of the innermost value that covers the byte at `offset`.
pub fn pointer_at(bytes: &[u8], root: &Node, offset: usize) -> String {
    let mut pointer = String::new();
    let mut node = root;
    loop {
        let covers = |span: &Range<usize>| span.start <= offset && offset < span.end;
        let next = match &node.value {
            Value::Object(members) => members
                .iter()
                .find(|member| covers(&(member.key_span.start..member.node.span.end)))
                .map(|member| (member.key.replace('~', "~0").replace('/', "~1"), &member.node)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find(|(_, item)| covers(&item.span))
                .map(|(n, item)| (n.to_string(), item)),
            Value::String | Value::Scalar => None,
        };
        let Some((step, inner)) = next else { return pointer };
        pointer.push('/');
        pointer.push_str(&step);
        node = inner;
        debug_assert!(inner.span.end <= bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let node = parse(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        write_canonical(&mut out, text.as_bytes(), &node);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whitespace_and_escapes_do_not_matter_but_numbers_and_order_do() {
        assert_eq!(
            canonical(" { \"b\" : [ 1 , 2 ] , \"a\" : \"\\u0041\\/\" } "),
            r#"{"b":[1,2],"a":"A/"}"#
        );
        assert_eq!(canonical("1e5"), "1e5");
        assert_eq!(canonical("\"\\ud83d\\ude00\""), "\"😀\"");
        assert_eq!(canonical("\"\\uD83D x\""), "\"\\ud83d x\"");
        assert_eq!(canonical("\"\\u0001\\n\""), "\"\\u0001\\n\"");
    }

    #[test]
    fn agrees_with_serde_json_on_what_is_json() {
        let texts = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "\"\\x\"",
            "\"\u{1}\"",
            "nul",
            "[1] 2",
            "{\"a\" 1}",
            "1e",
            "\"a",
            "[]",
            "{}",
            "-0.5e+3",
            "true",
            "\"\\u12g4\"",
            "{1:2}",
        ];
        for text in texts {
            let reference = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
            assert_eq!(parse(text.as_bytes()).is_ok(), reference, "{text:?}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let text = "[".repeat(100_000);
        assert!(parse(text.as_bytes()).unwrap_err().message.contains("128"));
    }

    #[test]
    fn errors_name_line_and_column() {
        let error = parse(b"{\n  \"a\": x\n}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 8));
    }

    #[test]
    fn pointers_lead_to_the_innermost_value() {
        let text = br#"{"messages":[{"content":[{"text":"abc"}]}],"a/b":1}"#;
        let root = parse(text).unwrap();
        let at = |needle: &str| String::from_utf8_lossy(text).find(needle).unwrap();
        assert_eq!(pointer_at(text, &root, at("abc")), "/messages/0/content/0/text");
        assert_eq!(pointer_at(text, &root, at("1}")), "/a~1b");
    }
}
