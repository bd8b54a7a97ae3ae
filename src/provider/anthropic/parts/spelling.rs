//! JSON as a provider spells it out for a model: `, ` and `: `, sorted or not, escaped or not.

use std::collections::HashMap;

use crate::request::json::{Node, Value};

/// How JSON is spelt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// One line, keys sorted, every character but ASCII escaped: tool definitions.
    Sorted,
    /// One line, keys in their order, characters as they are: arguments of a call.
    InOrder,
    /// Indented by two, keys in their order, every character but ASCII escaped: the schema of an
    /// answer.
    Indented,
}

/// A value as text. Numbers keep their digits.
pub(super) fn spell(bytes: &[u8], node: &Node, spelling: Spelling) -> String {
    let mut out = String::new();
    Writer { bytes, spelling }.value(&mut out, node, 0);
    out
}

/// A string with its quotes.
pub(super) fn spell_text(out: &mut String, text: &str, spelling: Spelling) {
    let escapes = match spelling {
        Spelling::Sorted | Spelling::Indented => true,
        Spelling::InOrder => false,
    };
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", character as u32)),
            '\u{80}'.. if escapes => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}

struct Writer<'a> {
    bytes: &'a [u8],
    spelling: Spelling,
}

impl Writer<'_> {
    fn value(&self, out: &mut String, node: &Node, depth: usize) {
        match &node.value {
            Value::Object(_) => self.object(out, node, depth),
            Value::Array(items) => {
                let items = items.iter().map(|item| (None, item)).collect::<Vec<_>>();
                self.list(out, ['[', ']'], &items, depth);
            }
            Value::String => {
                spell_text(out, &node.text(self.bytes).unwrap_or_default(), self.spelling);
            }
            Value::Scalar => out.push_str(&String::from_utf8_lossy(node.raw(self.bytes))),
        }
    }

    fn object(&self, out: &mut String, node: &Node, depth: usize) {
        // Of a name that stands twice the last value counts, in the place of the first.
        let mut members: Vec<(Option<&str>, &Node)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for member in node.members() {
            match places.get(member.key.as_str()) {
                Some(place) => members[*place].1 = &member.node,
                None => {
                    places.insert(&member.key, members.len());
                    members.push((Some(&member.key), &member.node));
                }
            }
        }
        if self.spelling == Spelling::Sorted {
            members.sort_by_key(|(key, _)| *key);
        }
        self.list(out, ['{', '}'], &members, depth);
    }

    fn list(
        &self,
        out: &mut String,
        brackets: [char; 2],
        items: &[(Option<&str>, &Node)],
        depth: usize,
    ) {
        let line_end = |out: &mut String, depth: usize| {
            if self.spelling == Spelling::Indented && !items.is_empty() {
                out.push('\n');
                out.extend(std::iter::repeat_n("  ", depth));
            }
        };
        out.push(brackets[0]);
        for (index, (key, value)) in items.iter().enumerate() {
            if index > 0 {
                out.push_str(if self.spelling == Spelling::Indented { "," } else { ", " });
            }
            line_end(out, depth + 1);
            if let Some(key) = key {
                spell_text(out, key, self.spelling);
                out.push_str(": ");
            }
            self.value(out, value, depth + 1);
        }
        line_end(out, depth);
        out.push(brackets[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::json::parse;

    #[test]
    fn each_spelling_of_one_value() {
        let text = r#"{"b": [1.0, {}, []], "a":"é\u0007\"", "b": [true,null]}"#;
        let node = parse(text.as_bytes()).unwrap();
        let spelt = |spelling| spell(text.as_bytes(), &node, spelling);
        assert_eq!(spelt(Spelling::Sorted), r#"{"a": "\u00e9\u0007\"", "b": [true, null]}"#);
        assert_eq!(spelt(Spelling::InOrder), "{\"b\": [true, null], \"a\": \"é\\u0007\\\"\"}");
        assert_eq!(
            spelt(Spelling::Indented),
            "{\n  \"b\": [\n    true,\n    null\n  ],\n  \"a\": \"\\u00e9\\u0007\\\"\"\n}"
        );
        let text = "[{}, [], 1.0, \"\u{1f600}\"]";
        let node = parse(text.as_bytes()).unwrap();
        let spelt = spell(text.as_bytes(), &node, Spelling::Indented);
        assert_eq!(spelt, "[\n  {},\n  [],\n  1.0,\n  \"\\ud83d\\ude00\"\n]");
    }
}
