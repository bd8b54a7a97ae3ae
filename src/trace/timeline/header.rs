//! The first line of a timeline.

use jiff::civil::Date;

use super::explain::Look;
use crate::provider::rules::{RULE_NAMES, RuleValue, check};
use crate::request::json::{Node, Value, parse};
use crate::trace::mistake::{Mistake, Place};

/// The version of the format that this program writes and reads.
pub(super) const VERSION: u64 = 1;

/// What the first line of a timeline says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Model of the requests that name none.
    pub model: Option<String>,
    /// Day whose prices and default rules hold.
    pub date: Option<Date>,
    /// How its tokens were counted, where they were.
    pub tokenizer: Option<String>,
    /// What the timeline is, for people.
    pub comment: Option<String>,
    /// Cache rules that differ from the model's.
    pub rules: Vec<(String, RuleValue)>,
}

const RULES_HELP: &str = "see docs/model.md, 4, for the rules and their values";

/// Keys of a header.
const KEYS: [&str; 6] = ["forkcost_timeline", "model", "date", "tokenizer", "rules", "comment"];

impl Header {
    /// Reads a header.
    pub(super) fn read(place: Place<'_>) -> Result<Header, Box<Mistake>> {
        let root = parse(place.bytes).map_err(|error| place.syntax(&error))?;
        let look = Look { place };
        look.object(&root, &KEYS)?;
        let version = root.get("forkcost_timeline").unwrap_or(&root);
        if version.raw(place.bytes) != VERSION.to_string().as_bytes() {
            let message = format!("version {VERSION} of the format expected");
            return Err(place.at(version, message, "write {\"forkcost_timeline\": 1}"));
        }
        for key in ["model", "date", "tokenizer", "comment"] {
            let text = |node: &Node| look.text(node, "a string");
            look.optional(&root, key, text)?;
        }
        let text = |key: &str| root.get(key).and_then(|node| node.text(place.bytes));
        let date = match (text("date"), root.get("date")) {
            (Some(day), Some(node)) => Some(
                day.parse()
                    .map_err(|_| place.at(node, "a day expected", "write it as 2026-07-24"))?,
            ),
            (Some(_) | None, _) => None,
        };
        look.optional(&root, "rules", |node| look.object(node, RULE_NAMES))?;
        let mut rules = Vec::new();
        for member in root.get("rules").map_or(&[][..], Node::members) {
            let value = rule_value(place, &member.node)?;
            check(&member.key, &value)
                .map_err(|error| place.at(&member.node, error.to_string(), RULES_HELP))?;
            rules.push((member.key.clone(), value));
        }
        let (model, tokenizer, comment) = (text("model"), text("tokenizer"), text("comment"));
        Ok(Header { model, date, tokenizer, comment, rules })
    }
}

fn rule_value(place: Place<'_>, node: &Node) -> Result<RuleValue, Box<Mistake>> {
    let raw = std::str::from_utf8(node.raw(place.bytes)).unwrap_or_default();
    match (&node.value, raw) {
        (Value::String, _) => Ok(RuleValue::Text(node.text(place.bytes).unwrap_or_default())),
        (Value::Scalar, "true") => Ok(RuleValue::Bool(true)),
        (Value::Scalar, "false") => Ok(RuleValue::Bool(false)),
        (Value::Scalar | Value::Object(_) | Value::Array(_), number) => {
            number.parse().map(RuleValue::Integer).map_err(|_| {
                let message = "a word, a whole number, true or false expected";
                place.at(node, message, "see docs/model.md, 4")
            })
        }
    }
}
