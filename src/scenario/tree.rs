//! A scenario's text as a tree in which every key and value knows where it stands. TOML and JSON
//! give the same tree.

use toml::de::{DeTable, DeValue};

use super::diagnostic::{Mistake, Mistakes, code};
use super::source::Span;
use crate::request::json;

/// Syntax errors of one file that are reported; what follows many is rarely worth reading.
const SYNTAX_ERRORS_MAX: usize = 20;

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    /// `None` where it does not fit 128 bits.
    Integer(Option<i128>),
    /// As written, without underscores.
    Float(String),
    Bool(bool),
    /// A date or time of TOML, as text.
    Date(String),
    List(Vec<Node>),
    Table(Table),
    /// `null`, which only JSON has.
    Null,
}

impl Value {
    /// What it is, for messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a decimal number",
            Value::Bool(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Null => "null",
        }
    }
}

/// Keys with their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) node: Node,
}

impl Table {
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// Reads TOML. Syntax errors are reported, at most the first of each line, and give `None`.
pub(super) fn from_toml(text: &str, mistakes: &mut Mistakes) -> Option<Table> {
    let (table, mut errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(toml_table(table.get_ref(), 0));
    }
    let place = |error: &toml::de::Error| error.span().unwrap_or(0..0);
    errors.sort_by_key(|error| place(error).start);
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    errors.dedup_by_key(|error| line(place(error).start));
    for error in errors.into_iter().take(SYNTAX_ERRORS_MAX) {
        let span = place(&error);
        mistakes.add(Mistake {
            code: code::SYNTAX,
            span: &span,
            key: None,
            value: (!span.is_empty()).then_some(&span),
            message: format!("not TOML: {}", error.message()),
            help: toml_help(error.message()).to_owned(),
        });
    }
    None
}

fn toml_help(message: &str) -> &'static str {
    if message.contains("must be quoted") {
        "text stands in double quotes: key = \"text\""
    } else if message.contains("duplicate key") {
        "a key stands once; delete one of the two"
    } else {
        "see docs/scenario-format.md and https://toml.io for the syntax"
    }
}

/// Reads one TOML value, as in `--set KEY=VALUE`; its first byte is at offset `base`. `None` where
/// it is not one.
pub(super) fn toml_value(text: &str, base: usize) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    Some(toml_node(value.get_ref(), value.span(), base))
}

fn toml_table(table: &DeTable<'_>, base: usize) -> Table {
    let entries = table.iter().map(|(key, value)| Entry {
        key: key.get_ref().to_string(),
        key_span: moved(key.span(), base),
        node: toml_node(value.get_ref(), value.span(), base),
    });
    Table { entries: entries.collect() }
}

fn toml_node(value: &DeValue<'_>, span: Span, base: usize) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            Value::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).ok())
        }
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items.iter().map(|item| toml_node(item.get_ref(), item.span(), base)).collect(),
        ),
        DeValue::Table(table) => Value::Table(toml_table(table, base)),
    };
    Node { span: moved(span, base), value }
}

fn moved(span: Span, base: usize) -> Span {
    span.start + base..span.end + base
}

/// Reads JSON. A syntax error is reported and gives `None`, and so do keys that stand twice.
pub(super) fn from_json(text: &str, mistakes: &mut Mistakes) -> Option<Table> {
    let (span, message) = match json::parse(text.as_bytes()) {
        Ok(root) => match json_node(text, &root, mistakes).value {
            Value::Table(table) => return mistakes.is_empty().then_some(table),
            other => (root.span, format!("a scenario is an object, got {}", other.type_name())),
        },
        Err(error) => (error.offset..error.offset, error.message),
    };
    mistakes.add(Mistake {
        code: code::SYNTAX,
        span: &span,
        key: None,
        value: (!span.is_empty()).then_some(&span),
        message: format!("not JSON: {message}"),
        help: "see docs/scenario-format.md; scenarios are commonly written in TOML".to_owned(),
    });
    None
}

fn json_node(text: &str, node: &json::Node, mistakes: &mut Mistakes) -> Node {
    let value = match &node.value {
        json::Value::Object(members) => {
            let mut table = Table::default();
            for member in members {
                if table.entry(&member.key).is_some() {
                    report_duplicate(&member.key_span, &member.key, mistakes);
                }
                table.entries.push(Entry {
                    key: member.key.clone(),
                    key_span: member.key_span.clone(),
                    node: json_node(text, &member.node, mistakes),
                });
            }
            Value::Table(table)
        }
        json::Value::Array(items) => {
            Value::List(items.iter().map(|item| json_node(text, item, mistakes)).collect())
        }
        json::Value::String => Value::Text(node.text(text.as_bytes()).unwrap_or_default()),
        json::Value::Scalar => json_scalar(text.get(node.span.clone()).unwrap_or_default()),
    };
    Node { span: node.span.clone(), value }
}

fn report_duplicate(span: &Span, key: &str, mistakes: &mut Mistakes) {
    mistakes.add(Mistake {
        code: code::SYNTAX,
        span,
        key: Some(key),
        value: None,
        message: "not a scenario: duplicate key".to_owned(),
        help: "a key stands once; delete one of the two".to_owned(),
    });
}

fn json_scalar(raw: &str) -> Value {
    match raw {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        number if number.contains(['.', 'e', 'E']) => Value::Float(number.to_owned()),
        number => Value::Integer(number.parse().ok()),
    }
}
