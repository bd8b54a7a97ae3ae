//! The list of rules, and the one way to run them.

use super::body::{Body, Findings};
use super::{content, envelope, markers, pairing};
use crate::provider::{Refusal, anthropic_facts};
use crate::request::json::{self, Value};

/// One rule: adds a finding for each place that breaks it.
pub(super) struct Rule {
    /// Its name.
    pub(super) name: &'static str,
    /// Its check.
    pub(super) check: fn(&Body<'_>, &mut Findings<'_>),
}

const fn rule(name: &'static str, check: fn(&Body<'_>, &mut Findings<'_>)) -> Rule {
    Rule { name, check }
}

/// Every rule for a body that is a JSON object of acceptable size.
pub(super) const ALL_RULES: [Rule; 34] = [
    rule("duplicate_keys", envelope::duplicate_keys),
    rule("model", envelope::model),
    rule("max_tokens", envelope::max_tokens),
    rule("messages", envelope::messages),
    rule("prewarm", envelope::prewarm),
    rule("tool_shape", envelope::tool_shape),
    rule("tool_name", envelope::tool_name),
    rule("tool_names_unique", envelope::tool_names_unique),
    rule("system_shape", envelope::system_shape),
    rule("message_shape", content::message_shape),
    rule("first_message", content::first_message),
    rule("system_position", content::system_position),
    rule("empty_content", content::empty_content),
    rule("block_shape", content::block_shape),
    rule("blank_text", content::blank_text),
    rule("misplaced_block", content::misplaced_block),
    rule("call_shape", content::call_shape),
    rule("call_id", content::call_id),
    rule("call_ids_unique", content::call_ids_unique),
    rule("result_shape", content::result_shape),
    rule("thinking_shape", content::thinking_shape),
    rule("unanswered_call", pairing::unanswered_call),
    rule("foreign_result", pairing::foreign_result),
    rule("second_result", pairing::second_result),
    rule("content_before_result", pairing::content_before_result),
    rule("too_many_markers", markers::too_many),
    rule("marker_shape", markers::shape),
    rule("marker_ttl", markers::ttl),
    rule("marker_on_thinking", markers::on_thinking),
    rule("marker_on_empty_text", markers::on_empty_text),
    rule("marker_on_inner_block", markers::on_inner_block),
    rule("marker_order", markers::order),
    rule("automatic_shape", markers::automatic_shape),
    rule("automatic_conflict", markers::automatic_conflict),
];

/// The names of all rules, in the order in which they are checked.
pub fn rule_names() -> impl Iterator<Item = &'static str> {
    ALL_RULES.iter().map(|rule| rule.name)
}

/// Everything for which the Messages API would refuse `bytes`, in the order of their places; empty
/// where it would accept them.
pub fn refusals(bytes: &[u8]) -> Vec<Refusal> {
    let limit = anthropic_facts().body_bytes_max;
    if bytes.len() as u64 > limit {
        let reason = format!("the body has {} bytes, at most {limit} are read", bytes.len());
        return vec![Refusal { pointer: String::new(), status: 413, reason }];
    }
    let whole = |reason| vec![Refusal { pointer: String::new(), status: 400, reason }];
    let root = match json::parse(bytes) {
        Ok(root) => root,
        Err(error) => return whole(format!("the body is not JSON: {error}")),
    };
    if !matches!(root.value, Value::Object(_)) {
        return whole("the body must be a JSON object".to_owned());
    }
    let body = Body::new(bytes, &root);
    let mut findings = Findings::new(bytes, &root);
    for rule in &ALL_RULES {
        (rule.check)(&body, &mut findings);
    }
    findings.into_refusals()
}
