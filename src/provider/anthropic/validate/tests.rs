//! Each rule with a body that breaks it and a near one that does not; then laws.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::body::{Body, Findings};
use super::rules::ALL_RULES;
use super::{refusals, rule_names};
use crate::request::json as spans;

/// A rule, what breaks it and what keeps it: members laid over [`valid`], `null` to take one away.
/// A text that starts with `=` is a whole body.
const CASES: [(&str, &str, &str); 34] = [
    (
        "duplicate_keys",
        r#"={"model":"m","model":"n","max_tokens":1,"messages":[{"role":"user","content":"b"}]}"#,
        r#"={"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}]}"#,
    ),
    ("model", r#"{"model":null}"#, r#"{"model":"claude"}"#),
    ("max_tokens", r#"{"max_tokens":-1}"#, r#"{"max_tokens":0}"#),
    ("messages", r#"{"messages":[]}"#, "{}"),
    (
        "prewarm",
        r#"{"max_tokens":0,"tool_choice":{"type":"any"}}"#,
        r#"{"max_tokens":0,"tool_choice":{"type":"auto"},"stream":false}"#,
    ),
    ("tool_shape", r#"{"tools":[{"name":"a"}]}"#, r#"{"tools":[{"name":"a","type":"bash_1"}]}"#),
    (
        "tool_name",
        r#"{"tools":[{"name":"a b","input_schema":{}}]}"#,
        r#"{"tools":[{"name":"a_B-9","input_schema":{}}]}"#,
    ),
    (
        "tool_names_unique",
        r#"{"tools":[{"name":"a","input_schema":{}},{"name":"a","input_schema":{}}]}"#,
        r#"{"tools":[{"name":"a","input_schema":{}},{"name":"A","input_schema":{}}]}"#,
    ),
    ("system_shape", r#"{"system":[{"type":"image"}]}"#, r#"{"system":"words"}"#),
    (
        "message_shape",
        r#"{"messages":[{"role":"tool","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":"a"}]}"#,
    ),
    (
        "first_message",
        r#"{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"a"}]}"#,
    ),
    (
        "system_position",
        r#"{"messages":[{"role":"user","content":"a"},{"role":"system","content":"a"},
            {"role":"user","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"system","content":"a"},
            {"role":"system","content":"b"},{"role":"assistant","content":"a"}]}"#,
    ),
    (
        "empty_content",
        r#"{"messages":[{"role":"user","content":[]}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":""}]}"#,
    ),
    (
        "block_shape",
        r#"{"messages":[{"role":"user","content":[{"text":"a"}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"of_tomorrow"}]}]}"#,
    ),
    (
        "blank_text",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":" \n\u0020"}]}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"text","text":" "},{"type":"text","text":"a"}]}]}"#,
    ),
    (
        "misplaced_block",
        r#"{"messages":[{"role":"user","content":[
            {"type":"thinking","thinking":"a","signature":"b"}]}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"text","text":"a"},{"type":"thinking","thinking":"a","signature":"b"}]}]}"#,
    ),
    (
        "call_shape",
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"tool_use","id":"c","name":"n","input":"x"}]}]}"#,
        "{}",
    ),
    (
        "call_id",
        r#"{"messages":[{"role":"assistant","content":[
            {"type":"tool_use","id":"c.1","name":"n","input":{}}]}]}"#,
        "{}",
    ),
    (
        "call_ids_unique",
        r#"{"messages":[{"role":"assistant","content":[
            {"type":"tool_use","id":"c","name":"n","input":{}},
            {"type":"tool_use","id":"c","name":"n","input":{}}]}]}"#,
        "{}",
    ),
    (
        "result_shape",
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","content":"a"}]}]}"#,
        "{}",
    ),
    (
        "thinking_shape",
        r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a"}]}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"thinking","thinking":"","signature":"b"}]}]}"#,
    ),
    (
        "unanswered_call",
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"tool_use","id":"c","name":"n","input":{}}]},
            {"role":"user","content":"a"}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"tool_use","id":"c","name":"n","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]},
            {"role":"user","content":"a"}]}"#,
    ),
    (
        "foreign_result",
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]}"#,
        "{}",
    ),
    (
        "second_result",
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"},
            {"type":"tool_result","tool_use_id":"c"}]}]}"#,
        "{}",
    ),
    (
        "content_before_result",
        r#"{"messages":[{"role":"user","content":"a"},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]}"#,
        "{}",
    ),
    (
        "too_many_markers",
        r#"{"cache_control":{"type":"ephemeral"},"system":[
            {"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"b","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"c","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"d","cache_control":{"type":"ephemeral"}}]}"#,
        r#"{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"b","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"c","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"d","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"e","cache_control":null}]}"#,
    ),
    (
        "marker_shape",
        r#"{"system":[{"type":"text","text":"a","cache_control":{"type":"lasting"}}]}"#,
        r#"{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
    ),
    (
        "marker_ttl",
        r#"{"system":[{"type":"text","text":"a","cache_control":
            {"type":"ephemeral","ttl":"2h"}}]}"#,
        r#"{"system":[{"type":"text","text":"a","cache_control":
            {"type":"ephemeral","ttl":"1h","scope":"global"}}]}"#,
    ),
    (
        "marker_on_thinking",
        r#"{"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"a",
            "cache_control":{"type":"ephemeral"}}]}]}"#,
        "{}",
    ),
    (
        "marker_on_empty_text",
        r#"{"system":[{"type":"text","text":"","cache_control":{"type":"ephemeral"}}]}"#,
        "{}",
    ),
    (
        "marker_on_inner_block",
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c",
            "content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
            {"type":"text","text":"b"}]}]}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
            {"type":"tool_use","id":"c","name":"n","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c",
            "content":[{"type":"text","text":"a"},
            {"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]}]}"#,
    ),
    (
        "marker_order",
        r#"{"cache_control":{"type":"ephemeral","ttl":"1h"},
            "system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
        r#"{"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"a",
            "cache_control":{"type":"ephemeral","ttl":"1h"}}]}"#,
    ),
    (
        "automatic_shape",
        r#"{"cache_control":{"type":"ephemeral","ttl":3600}}"#,
        r#"{"cache_control":{"type":"ephemeral","ttl":"1h"}}"#,
    ),
    (
        "automatic_conflict",
        r#"{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":[
            {"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}"#,
        r#"{"cache_control":{"type":"ephemeral","ttl":"5m"},"messages":[{"role":"user","content":[
            {"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}"#,
    ),
];

/// Two rounds of parallel calls with every kind of block and four markers.
fn valid() -> Value {
    let marker = json!({"type": "ephemeral"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {"k": id}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let said = |text: &str| json!({"type": "text", "text": text});
    json!({
        "model": "m",
        "max_tokens": 10,
        "tools": [{"name": "n", "input_schema": {}, "cache_control": marker}],
        "system": [
            {"type": "text", "text": "identity", "cache_control": marker},
            {"type": "text", "text": "prompt", "cache_control": marker},
        ],
        "messages": [
            {"role": "user", "content": [said("go")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                said("sure"), call("a1"), call("a2"), call("a3"),
            ]},
            {"role": "user", "content": [result("a1"), result("a2"), result("a3"), said("on")]},
            {"role": "assistant", "content": [call("b1"), call("b2"), call("b3")]},
            {"role": "user", "content": [
                result("b1"), result("b2"), result("b3"),
                {"type": "text", "text": "last", "cache_control": marker},
            ]},
        ],
    })
}

fn overlaid(case: &str) -> Vec<u8> {
    if let Some(whole) = case.strip_prefix('=') {
        return whole.as_bytes().to_vec();
    }
    // Markers of the valid body would count beside those of the case.
    let mut body = json!({"model": "m", "max_tokens": 10, "messages": valid()["messages"].clone()});
    body["messages"][4]["content"][3].as_object_mut().unwrap().remove("cache_control");
    let over: Value = serde_json::from_str(case).unwrap();
    for (key, value) in over.as_object().unwrap() {
        match value {
            Value::Null => body.as_object_mut().unwrap().remove(key),
            _ => body.as_object_mut().unwrap().insert(key.clone(), value.clone()),
        };
    }
    body.to_string().into_bytes()
}

#[test]
fn each_rule_refuses_its_failing_body_and_all_accept_the_clean_one() {
    assert!(rule_names().eq(CASES.iter().map(|case| case.0)));
    for (rule, (name, failing, clean)) in ALL_RULES.iter().zip(CASES) {
        let bytes = overlaid(failing);
        let root = spans::parse(&bytes).unwrap();
        let mut findings = Findings::new(&bytes, &root);
        (rule.check)(&Body::new(&bytes, &root), &mut findings);
        assert!(!findings.into_refusals().is_empty(), "{name} accepts {failing}");
        assert_eq!(refusals(&overlaid(clean)), [], "{name}");
    }
    assert_eq!(refusals(valid().to_string().as_bytes()), []);
}

#[test]
fn refusals_point_at_their_place_in_order() {
    let body = br#"{"messages":[{"role":"user","content":[
        {"type":"tool_result","tool_use_id":"x"},{"type":"text","text":""}]}],"model":"m"}"#;
    let found = refusals(body);
    let places: Vec<_> = found.iter().map(|refusal| refusal.pointer.as_str()).collect();
    assert_eq!(places, ["", "/messages/0/content/0", "/messages/0/content/1/text"]);
    assert!(found.iter().all(|refusal| refusal.status == 400));
    assert!(found[1].reason.contains("`x`"));
}

#[test]
fn what_is_no_object_and_what_is_too_large_is_refused_whole() {
    assert!(refusals(b"{").first().unwrap().reason.contains("not JSON"));
    assert!(refusals(b"\xff").first().unwrap().reason.contains("UTF-8"));
    assert!(refusals(b"[]").first().unwrap().reason.contains("object"));
    let mut large = valid().to_string().into_bytes();
    let limit = crate::provider::anthropic_facts().body_bytes_max;
    large.resize(usize::try_from(limit).unwrap(), b' ');
    assert_eq!(refusals(&large), []);
    large.push(b' ');
    assert_eq!(refusals(&large).first().unwrap().status, 413);
}

#[test]
fn every_parameter_that_cannot_be_combined_with_warming_is_named() {
    let cases = [
        r#"{"max_tokens":0,"stream":true}"#,
        r#"{"max_tokens":0,"thinking":{"type":"enabled","budget_tokens":1024}}"#,
        r#"{"max_tokens":0,"output_config":{"format":{"type":"json_schema"}}}"#,
        r#"{"max_tokens":0,"tool_choice":{"type":"tool","name":"n"}}"#,
    ];
    for case in cases {
        assert_eq!(refusals(&overlaid(case)).len(), 1, "{case}");
        assert_eq!(refusals(&overlaid(&case.replace(":0", ":1"))), [], "{case}");
    }
    let adaptive = r#"{"max_tokens":0,"thinking":{"type":"adaptive"},"output_config":{}}"#;
    assert_eq!(refusals(&overlaid(adaptive)), []);
}

/// One way to break [`valid`]; `round` and `nth` choose among its calls.
#[derive(Clone, Copy, Debug)]
enum Mutation {
    DropResult,
    TextFirst,
    DuplicateCall,
    DuplicateResult,
    ForeignResult,
    FifthMarker,
    LateHour,
    EmptyText,
    DropCall,
}

fn mutated(mutation: Mutation, round: usize, nth: usize) -> Value {
    let mut body = valid();
    let (calls_at, results_at) = (1 + 2 * round, 2 + 2 * round);
    let offset = if round == 0 { 2 } else { 0 };
    let messages = body["messages"].as_array_mut().unwrap();
    let calls = messages[calls_at]["content"].as_array_mut().unwrap();
    match mutation {
        Mutation::DropCall => {
            calls.remove(offset + nth);
            return body;
        }
        Mutation::DuplicateCall => {
            let call = calls[offset + nth].clone();
            calls.push(call);
            return body;
        }
        Mutation::LateHour => {
            calls[offset + nth]["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
            body["system"][0]["cache_control"] = Value::Null;
            return body;
        }
        Mutation::DropResult
        | Mutation::TextFirst
        | Mutation::DuplicateResult
        | Mutation::ForeignResult
        | Mutation::FifthMarker
        | Mutation::EmptyText => {}
    }
    let results = messages[results_at]["content"].as_array_mut().unwrap();
    match mutation {
        Mutation::DropResult => drop(results.remove(nth)),
        Mutation::TextFirst => results.swap(nth, 3),
        Mutation::DuplicateResult => results.insert(0, results[nth].clone()),
        Mutation::ForeignResult => results[nth]["tool_use_id"] = json!("elsewhere"),
        Mutation::FifthMarker => results[nth]["cache_control"] = json!({"type": "ephemeral"}),
        Mutation::EmptyText => results[3]["text"] = json!(""),
        Mutation::DropCall | Mutation::DuplicateCall | Mutation::LateHour => {}
    }
    body
}

proptest! {
    #[test]
    fn no_mutation_of_a_valid_body_is_accepted(
        mutation in prop::sample::select(vec![
            Mutation::DropResult, Mutation::TextFirst, Mutation::DuplicateCall,
            Mutation::DuplicateResult, Mutation::ForeignResult, Mutation::FifthMarker,
            Mutation::LateHour, Mutation::EmptyText, Mutation::DropCall,
        ]),
        round in 0_usize..2,
        nth in 0_usize..3,
    ) {
        let body = mutated(mutation, round, nth).to_string();
        prop_assert!(!refusals(body.as_bytes()).is_empty(), "{body}");
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(!refusals(&bytes).is_empty());
    }

    #[test]
    fn a_word_put_anywhere_for_a_value_never_panics(
        at in 0_usize..200,
        word in prop::sample::select(vec!["null", "0", "\"\"", "[]", "{}", "[null]", "true"]),
    ) {
        let body = valid().to_string();
        let root = spans::parse(body.as_bytes()).unwrap();
        let mut all = vec![&root];
        let mut next = 0;
        while let Some(node) = all.get(next).copied() {
            all.extend(node.items());
            all.extend(node.members().iter().map(|member| &member.node));
            next += 1;
        }
        let span = all[at % all.len()].span.clone();
        let changed = format!("{}{word}{}", &body[..span.start], &body[span.end..]);
        let found = refusals(changed.as_bytes());
        let known: serde_json::Value = serde_json::from_str(&changed).unwrap();
        for refusal in found {
            prop_assert!(known.pointer(&refusal.pointer).is_some(), "{}", refusal.pointer);
        }
    }
}
