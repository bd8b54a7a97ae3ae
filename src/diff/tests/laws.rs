//! Laws over bodies drawn at random.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{of, of_bytes};
use crate::tokens::{Tokenizer, TokenizerSpec};

/// A text that is unlike every other one.
fn text() -> impl Strategy<Value = String> {
    "[a-zé\u{2014}\n\"\\\\ ]{0,12}[0-9]{6}[a-z \u{1F600}]{0,6}"
}

fn tools() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(text(), 0..5).prop_map(|texts| {
        let tool = |(n, text): (usize, String)| {
            json!({"name": format!("tool_{n}"), "description": text, "input_schema":
                   {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}})
        };
        texts.into_iter().enumerate().map(tool).collect()
    })
}

/// A user's turn, or an assistant's with as many calls as the next has results.
fn turn(n: usize, texts: Vec<String>, calls: usize) -> [Value; 2] {
    let block = |text: &String| json!({"type": "text", "text": text});
    let mut said: Vec<Value> = texts.iter().map(block).collect();
    let mut results = Vec::new();
    for call in 0..calls {
        let id = format!("t{n}_{call}");
        said.push(json!({"type": "tool_use", "id": id, "name": "tool_0",
                         "input": {"a": format!("{n} {call}"), "b": 1}}));
        let output = json!([{"type": "text", "text": format!("out {n} {call}")}]);
        results.push(json!({"type": "tool_result", "tool_use_id": id, "content": output}));
    }
    results.push(json!({"type": "text", "text": format!("user {n}")}));
    [json!({"role": "assistant", "content": said}), json!({"role": "user", "content": results})]
}

fn body() -> impl Strategy<Value = Value> {
    let turns = prop::collection::vec((prop::collection::vec(text(), 1..3), 0_usize..4), 1..6);
    (tools(), prop::collection::vec(text(), 0..4), turns).prop_map(|(tools, system, turns)| {
        let system: Vec<Value> =
            system.into_iter().map(|text| json!({"type": "text", "text": text})).collect();
        let mut messages = vec![json!({"role": "user", "content": "The task."})];
        let numbered = turns.into_iter().enumerate();
        messages.extend(numbered.flat_map(|(n, (texts, calls))| turn(n, texts, calls)));
        // The end carries the marker, so that every change is a break.
        let last = messages.last_mut().unwrap()["content"].as_array_mut().unwrap();
        last.last_mut().unwrap()["cache_control"] = json!({"type": "ephemeral"});
        json!({"model": "claude-opus-5", "max_tokens": 10, "tools": tools, "system": system,
               "messages": messages})
    })
}

/// One change: where it is, and the body with it.
#[derive(Clone, Debug)]
struct Mutation {
    pointer: String,
    body: Value,
}

/// The pointers of everything that a change can be made at.
fn places(body: &Value) -> Vec<String> {
    let count = |pointer: &str| body.pointer(pointer).unwrap().as_array().map_or(0, Vec::len);
    let mut places = Vec::new();
    places.extend((0..count("/tools")).map(|n| format!("/tools/{n}")));
    places.extend((0..count("/system")).map(|n| format!("/system/{n}")));
    for message in 1..count("/messages") {
        let content = format!("/messages/{message}/content");
        places.extend((0..count(&content)).map(|n| format!("{content}/{n}")));
    }
    places
}

fn mutate(body: &Value, place: &str, how: usize) -> Mutation {
    let mut body = body.clone();
    let (list, index) = place.rsplit_once('/').unwrap();
    let index: usize = index.parse().unwrap();
    let block = body.pointer(place).unwrap().clone();
    if how == 0 {
        let fresh = if list == "/tools" {
            json!({"name": "fresh", "input_schema": {}})
        } else {
            json!({"type": "text", "text": "a block that came in between"})
        };
        body.pointer_mut(list).unwrap().as_array_mut().unwrap().insert(index, fresh);
        return Mutation { pointer: place.to_owned(), body };
    }
    let leaf = match block["type"].as_str() {
        Some("text") => "/text",
        Some("tool_use") => "/input/a",
        Some("tool_result") => "/content/0/text",
        _ => "/description",
    };
    let pointer = format!("{place}{leaf}");
    let value = body.pointer_mut(&pointer).unwrap();
    let text = value.as_str().unwrap();
    *value = match how {
        1 => json!(format!("{text} changed")),
        2 => json!(format!("X{text}")),
        _ => json!(text.replacen(|c: char| c.is_ascii_digit() || c == 'u' || c == 'R', "_", 1)),
    };
    Mutation { pointer, body }
}

fn mutated() -> impl Strategy<Value = (Value, Mutation)> {
    (body(), any::<prop::sample::Index>(), 0_usize..4).prop_map(|(body, place, how)| {
        let places = places(&body);
        let mutation = mutate(&body, &places[place.index(places.len())], how);
        (body, mutation)
    })
}

/// The same body in other bytes: other white space, key order of the envelope, escapes, markers and
/// `max_tokens`.
fn rewritten(body: &Value) -> Vec<u8> {
    let mut body = body.clone();
    body["max_tokens"] = json!(77);
    body["stream"] = json!(true);
    let mut unmarked = Vec::new();
    for pointer in places(&body) {
        let block = body.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
        block.remove("cache_control");
        block.sort_keys();
        unmarked.push(pointer);
    }
    let marked = unmarked[unmarked.len() / 2].clone();
    body.pointer_mut(&marked).unwrap()["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    let mut reversed = serde_json::Map::new();
    let members: Vec<(String, Value)> = body.as_object().unwrap().clone().into_iter().collect();
    reversed.extend(members.into_iter().rev());
    let pretty = serde_json::to_string_pretty(&Value::Object(reversed)).unwrap();
    let escaped = |char: char| match char {
        'é' => "\\u00e9".to_owned(),
        '\u{1F600}' => "\\ud83d\\ude00".to_owned(),
        other => other.to_string(),
    };
    pretty.chars().map(escaped).collect::<String>().into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn equal_prompts_have_no_divergence(body in body()) {
        let diff = of_bytes(body.to_string().as_bytes(), &rewritten(&body), &[]).unwrap();
        prop_assert_eq!(super::places(&diff), vec![]);
        prop_assert!(!diff.is_break && diff.segments_valid.messages);
        prop_assert_eq!(diff.shared.blocks, diff.a.blocks);
        prop_assert_eq!(diff.appended_blocks, 0);
    }

    #[test]
    fn one_change_is_one_divergence_at_its_place((body, mutation) in mutated()) {
        let diff = of(&body, &mutation.body);
        prop_assert_eq!(diff.divergences.len(), 1, "{:?}", diff.divergences);
        let found = &diff.divergences[0].pointer;
        prop_assert!(
            mutation.pointer.starts_with(found.as_str()) || found.starts_with(&mutation.pointer),
            "{} is not at {}", found, mutation.pointer
        );
        prop_assert!(diff.is_break && !diff.segments_valid.messages);
    }

    #[test]
    fn both_directions_name_the_same_first_place((body, mutation) in mutated()) {
        let there = of(&body, &mutation.body).first_divergence.unwrap();
        let back = of(&mutation.body, &body).first_divergence.unwrap();
        prop_assert_eq!((there.pointer_a, there.byte_a), (back.pointer_b, back.byte_b));
        prop_assert_eq!((there.pointer_b, there.byte_b), (back.pointer_a, back.byte_a));
        prop_assert_eq!(there.char_offset_in_string, back.char_offset_in_string);
    }

    #[test]
    fn what_is_shared_is_the_equal_head_of_the_prompts(a in body(), b in body()) {
        let diff = of(&a, &b);
        let head = equal_head(&a, &b);
        prop_assert_eq!(diff.shared.blocks, head);
        prop_assert_eq!(diff.is_break, !diff.segments_valid.messages);
        prop_assert_eq!(diff.is_break, diff.divergences.iter().any(|one| one.breaks));
        let valid = diff.divergences.iter().map(|one| one.valid_blocks).min();
        prop_assert!(valid.is_none_or(|valid| valid >= head));
    }
}

/// Counts are not looked at, so one tokenizer serves all cases.
static TOKENIZER: LazyLock<Tokenizer> =
    LazyLock::new(|| Tokenizer::new(TokenizerSpec::parse("o200k_base").unwrap()));

/// Blocks that both prompts begin with, by the chained hashes of the measured prompt.
pub(super) fn equal_head(a: &Value, b: &Value) -> u64 {
    use crate::measure::tokenize;
    use crate::provider::RenderOptions;
    use crate::request::RequestBody;
    let hashes = |body: &Value| -> Vec<u128> {
        let body = RequestBody::captured(body.to_string().into_bytes());
        let rendered = crate::provider::ALL[0].render(&body, RenderOptions::default()).unwrap();
        let prompt = tokenize(vec![rendered], &TOKENIZER).remove(0);
        prompt.blocks().map(|(_, measure)| measure.prefix_hash).collect()
    };
    hashes(a).into_iter().zip(hashes(b)).take_while(|(x, y)| x == y).count() as u64
}
