//! Counts as JSON.

use serde_json::{Value, json};

use super::evidence;
use crate::counting::Counted;
use crate::request::Extra;

/// One count as JSON, ending in a newline; `others` are the same input under other tokenizers.
pub fn count_json(name: &str, bytes: u64, counted: &Counted, others: &[Counted]) -> String {
    let mut object = of(counted);
    object["schema_version"] = json!(1);
    object["input"] = json!(name);
    object["bytes"] = json!(bytes);
    object["sections"] = counted
        .sections
        .iter()
        .map(|section| {
            json!({
                "section": section.section,
                "blocks": section.blocks,
                "tokens": section.tokens,
                "extra_tokens": section.extra_tokens,
            })
        })
        .collect();
    object["blocks"] = counted
        .blocks
        .iter()
        .map(|block| {
            json!({
                "pointer": block.pointer,
                "section": block.section,
                "kind": block.kind,
                "tokens": block.tokens,
                "extras": block.extras.iter().map(extra).collect::<Vec<_>>(),
            })
        })
        .collect();
    if !others.is_empty() {
        object["families"] = others.iter().map(of).collect();
    }
    format!("{object:#}\n")
}

/// One line of many: the totals by tokenizer, without a newline inside.
pub fn line_json(line: u64, counted: &[Counted]) -> String {
    let mut object = json!({"line": line});
    for count in counted {
        let mut one = json!({"total": count.total, "exactness": count.exactness.as_str()});
        if count.between != (count.total, count.total) {
            one["low"] = json!(count.between.0);
            one["high"] = json!(count.between.1);
        }
        if let Some(message) = count.as_message {
            one["as_message"] = json!(message);
        }
        if !count.unmodelled.is_empty() {
            one["unmodelled"] = json!(count.unmodelled);
        }
        object[count.tokenizer.to_string()] = one;
    }
    format!("{object}\n")
}

fn of(counted: &Counted) -> Value {
    json!({
        "family": counted.tokenizer.to_string(),
        "exactness": counted.exactness.as_str(),
        "evidence": evidence(counted),
        "model": if counted.model.is_empty() { None } else { Some(&counted.model) },
        "total": counted.total,
        "low": counted.between.0,
        "high": counted.between.1,
        "as_message": counted.as_message,
        "unmodelled": counted.unmodelled,
    })
}

fn extra(extra: &Extra) -> Value {
    json!({
        "kind": extra.kind.as_str(),
        "tokens": extra.tokens,
        "low": extra.low,
        "high": extra.high,
        "mark": extra.mark.as_str(),
    })
}
