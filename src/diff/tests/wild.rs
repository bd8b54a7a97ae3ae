//! Laws over bodies of any shape that a parser lets through.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::laws::equal_head;
use super::{base, of, of_bytes};

fn word() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[ab ]{0,3}".prop_map(Value::from),
        (0_i64..3).prop_map(Value::from),
        Just(Value::Null),
        Just(json!(["a", {"b": 1}])),
        Just(json!({"a": 1, "b": {"c": []}})),
        Just(json!({"b": {"c": []}, "a": 1})),
        Just(json!("e\u{301}\n\u{2014} \"\\")),
    ]
}

fn kind() -> impl Strategy<Value = Value> {
    let kinds = ["text", "tool_use", "tool_result", "thinking", "document", "odd"];
    prop::sample::select(kinds.to_vec()).prop_map(Value::from)
}

/// A block without `type` would be one of another API, a tool without it is not.
fn block(kind: impl Strategy<Value = Option<Value>>) -> impl Strategy<Value = Value> {
    let keys = ["text", "id", "name", "input", "content", "tool_use_id", "is_error", "thinking"];
    let members = prop::collection::vec((prop::sample::select(keys.to_vec()), word()), 0..4);
    (kind, members, any::<bool>()).prop_map(|(kind, members, marked)| {
        let mut block = Map::new();
        block.extend(kind.map(|kind| ("type".to_owned(), kind)));
        block.extend(members.into_iter().map(|(key, value)| (key.to_owned(), value)));
        if marked {
            block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
        Value::Object(block)
    })
}

fn blocks() -> impl Strategy<Value = Value> {
    let list = prop::collection::vec(block(kind().prop_map(Some)), 0..5).prop_map(Value::from);
    prop_oneof![4 => list, 1 => "[ab]{0,2}".prop_map(Value::from)]
}

fn body() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(&["user", "assistant"][..]);
    let message =
        (role, blocks()).prop_map(|(role, content)| json!({"role": role, "content": content}));
    let tools = prop::option::of(prop::collection::vec(block(prop::option::of(kind())), 0..4));
    let system = prop::option::of(blocks());
    (tools, system, prop::collection::vec(message, 0..5)).prop_map(|(tools, system, messages)| {
        let mut body = json!({"model": "claude-opus-5"});
        for (key, value) in [("tools", tools.map(Value::from)), ("system", system)] {
            if let Some(value) = value {
                body[key] = value;
            }
        }
        body["messages"] = Value::from(messages);
        body
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_shared_head_and_the_verdict_are_those_of_the_chained_hashes(a in body(), b in body()) {
        let diff = of(&a, &b);
        let head = equal_head(&a, &b);
        prop_assert_eq!(diff.shared.blocks, head);
        let last = diff.entries.last().map_or(diff.a.blocks, |entry| entry.block);
        prop_assert_eq!(diff.is_break, head < last);
        prop_assert_eq!(diff.is_break, !diff.segments_valid.messages);
        prop_assert_eq!(diff.is_break, diff.divergences.iter().any(|one| one.breaks));
        for one in &diff.divergences {
            prop_assert!(one.valid_blocks >= head);
            prop_assert!(one.pointer_a.is_some() || one.pointer_b.is_some());
            prop_assert_eq!(one.pointer_a.is_some(), one.byte_a.is_some());
            prop_assert_eq!(one.pointer_b.is_some(), one.byte_b.is_some());
        }
        for entry in &diff.entries {
            prop_assert_eq!(entry.valid, entry.block <= head);
        }
    }

    #[test]
    fn every_pointer_leads_to_a_value_that_begins_at_its_byte(a in body(), b in body()) {
        let (text_a, text_b) = (a.to_string(), b.to_string());
        let diff = of_bytes(text_a.as_bytes(), text_b.as_bytes(), &[]).unwrap();
        for one in &diff.divergences {
            for (pointer, byte, body, text) in [
                (&one.pointer_a, one.byte_a, &a, &text_a),
                (&one.pointer_b, one.byte_b, &b, &text_b),
            ] {
                let (Some(pointer), Some(byte)) = (pointer, byte) else { continue };
                let value = body.pointer(pointer);
                prop_assert!(value.is_some(), "{}", pointer);
                if one.char_offset_in_string.is_none() {
                    let value = value.unwrap().to_string();
                    prop_assert!(text[byte as usize..].starts_with(&value), "{}", pointer);
                }
            }
        }
    }

    #[test]
    fn a_body_beside_itself_or_grown_has_no_divergence(a in body(), more in blocks()) {
        prop_assert!(of(&a, &a).divergences.is_empty());
        let mut grown = a.clone();
        grown["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": more}));
        let diff = of(&a, &grown);
        prop_assert!(diff.divergences.is_empty(), "{:?}", diff.divergences);
        prop_assert_eq!(diff.appended_blocks, diff.b.blocks - diff.a.blocks);
    }

    #[test]
    fn bytes_of_any_kind_are_refused_without_a_panic(text in "\\PC{0,40}", at in 0_usize..400) {
        let good = base().to_string();
        let mut cut = good.clone().into_bytes();
        cut.truncate(at);
        cut.extend_from_slice(text.as_bytes());
        drop(of_bytes(&cut, good.as_bytes(), &[]));
    }
}
