//! Laws of request counts: blocks add up to the text that they are written as, in every family, and
//! what does not count does not count.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use forkcost::counting::{Counted, count_request, measured, percent};
use forkcost::measure::tokenize;
use forkcost::provider::{ALL, RenderOptions};
use forkcost::request::{RequestBody, Standing};
use forkcost::tokens::{ClaudeFamily, Tokenizer, TokenizerSpec, Vocabulary};
use proptest::prelude::*;
use serde_json::{Value, json};

fn spec(family: ClaudeFamily) -> TokenizerSpec {
    TokenizerSpec::exact(Vocabulary::Claude(family))
}

fn counted(body: &Value, family: ClaudeFamily) -> Counted {
    let bytes = serde_json::to_vec(body).unwrap();
    count_request(&bytes, ALL[0], spec(family), None, None).unwrap()
}

/// Text whose ends meet badly: words, spaces, line ends, digits, quotes, marks, emoji.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-zA-Z]{1,9}",
        2 => "[ \n\t]{1,3}",
        2 => " ",
        1 => "[0-9]{1,5}",
        1 => "[-!'\"#:;.,<>/]{1,3}",
        1 => "[\u{4e00}-\u{4eff}\u{1f600}-\u{1f64f}\u{300}\u{301}é]{1,3}",
    ];
    proptest::collection::vec(part, 1..12).prop_map(|parts| parts.concat())
}

fn schema() -> impl Strategy<Value = Value> {
    (text(), any::<bool>()).prop_map(|(words, required)| {
        let mut schema = json!({"type": "object", "properties": {
            "path": {"type": "string", "description": words},
            "limit": {"type": "integer", "minimum": 1.0}}});
        if required {
            schema["required"] = json!(["path"]);
        }
        schema
    })
}

fn tool(index: usize) -> impl Strategy<Value = Value> {
    (text(), schema()).prop_map(move |(description, schema)| {
        json!({"name": format!("tool_{index}"), "description": description,
            "input_schema": schema})
    })
}

/// A turn: an answer, perhaps with calls, and what the user says or gives back.
fn turn(index: usize) -> impl Strategy<Value = Vec<Value>> {
    (proptest::collection::vec(text(), 0..3), 0_usize..3, text(), any::<bool>()).prop_map(
        move |(said, calls, result, more)| {
            let mut answer: Vec<Value> =
                said.iter().map(|text| json!({"type": "text", "text": text})).collect();
            let mut back = Vec::new();
            for call in 0..calls {
                let id = format!("toolu_{index}_{call}");
                answer.push(json!({"type": "tool_use", "id": id, "name": "tool_0",
                    "input": {"path": result, "limit": call, "deep": {"a": [1, null]}}}));
                back.push(json!({"type": "tool_result", "tool_use_id": id, "content": result}));
            }
            if answer.is_empty() {
                answer.push(json!({"type": "text", "text": "Yes."}));
            }
            if back.is_empty() || more {
                back.push(json!({"type": "text", "text": result}));
            }
            vec![
                json!({"role": "assistant", "content": answer}),
                json!({"role": "user", "content": back}),
            ]
        },
    )
}

fn body() -> impl Strategy<Value = Value> {
    let tools = (0_usize..3).prop_flat_map(|count| (0..count).map(tool).collect::<Vec<_>>());
    let turns = (0_usize..4).prop_flat_map(|count| (0..count).map(turn).collect::<Vec<_>>());
    (tools, proptest::collection::vec(text(), 0..3), text(), turns).prop_map(
        |(tools, system, first, turns)| {
            let mut messages = vec![json!({"role": "user", "content": first})];
            messages.extend(turns.into_iter().flatten());
            let mut body = json!({"model": "claude-sonnet-4", "max_tokens": 9,
                "messages": messages});
            if !tools.is_empty() {
                body["tools"] = Value::Array(tools);
            }
            if !system.is_empty() {
                let blocks = system.iter().map(|text| json!({"type": "text", "text": text}));
                body["system"] = blocks.collect();
            }
            body
        },
    )
}

/// Everything that is counted as one text, and the tokens that stand in none.
fn written(body: &Value, family: ClaudeFamily) -> (String, u64) {
    let options = RenderOptions { family: Some(family), ..RenderOptions::default() };
    let body = RequestBody::captured(serde_json::to_vec(body).unwrap());
    let prompt = ALL[0].render(&body, options).unwrap();
    let mut whole = String::new();
    let mut extras = prompt.tail.extra_tokens();
    for block in prompt.blocks() {
        assert_eq!(block.frame.standing, Standing::Joined, "{}", block.pointer);
        whole.push_str(&block.frame.around(&block.counted_text));
        extras += block.frame.extra_tokens();
    }
    whole.push_str(&prompt.tail.around(""));
    (whole, extras)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn blocks_of_the_old_family_add_up_to_the_text_that_they_are(body in body()) {
        let family = ClaudeFamily::V3;
        let (whole, extras) = written(&body, family);
        let found = counted(&body, family);
        prop_assert_eq!(found.total, family.count_inside(&whole) + extras, "{}", whole);
    }

    #[test]
    fn sections_and_blocks_add_up_to_the_total(body in body()) {
        for family in ClaudeFamily::ALL {
            let found = counted(&body, family);
            let sections: u64 = found.sections.iter().map(|section| section.tokens).sum();
            prop_assert_eq!(sections, found.total);
            let blocks: u64 = found.blocks.iter().map(|block| block.tokens).sum();
            let answer = found.sections.iter().filter(|section| section.section == "answer");
            let answer: u64 = answer.map(|section| section.tokens).sum();
            prop_assert_eq!(blocks + answer, found.total);
            prop_assert!(found.between.0 <= found.total && found.total <= found.between.1);
        }
    }

    #[test]
    fn markers_identifiers_and_sampling_cost_nothing(body in body()) {
        let mut other = body.clone();
        other["temperature"] = json!(0.5);
        other["metadata"] = json!({"user_id": "somebody"});
        other["stream"] = json!(true);
        other["stop_sequences"] = json!(["stop here"]);
        let text = other.to_string().replace("toolu_", "toolu_01ABC").replace(
            "{\"type\":\"text\",", "{\"cache_control\":{\"type\":\"ephemeral\"},\"type\":\"text\",",
        );
        let other: Value = serde_json::from_str(&text).unwrap();
        for family in ClaudeFamily::ALL {
            prop_assert_eq!(counted(&other, family).total, counted(&body, family).total);
        }
    }

    #[test]
    fn a_longer_conversation_keeps_the_tokens_of_its_beginning(
        body in body(), more in turn(9),
    ) {
        let mut longer = body.clone();
        longer["messages"].as_array_mut().unwrap().extend(more);
        for family in ClaudeFamily::ALL {
            let (short, long) = (counted(&body, family), counted(&longer, family));
            let same = short.blocks.iter().zip(&long.blocks);
            let changed: Vec<_> =
                same.filter(|(a, b)| (&a.pointer, a.tokens) != (&b.pointer, b.tokens)).collect();
            prop_assert!(changed.is_empty(), "{:?}", changed);
        }
    }

    #[test]
    fn one_message_of_text_is_what_the_family_says(words in text()) {
        for family in ClaudeFamily::ALL {
            let messages = json!([{"role": "user", "content": words}]);
            let body = json!({"model": "claude-sonnet-4", "messages": messages});
            let (found, said) = (counted(&body, family).total, family.count_message(&words));
            // As one text a message differs from the frame by a token in rare cases.
            let apart = found.abs_diff(said);
            prop_assert!(apart <= u64::from(family == ClaudeFamily::V3), "{} {}", found, said);
        }
    }
}

/// Tokens of a text behind another one can be fewer than none.
#[test]
fn blocks_that_cost_less_than_nothing_keep_the_sum() {
    // A space behind a mark behind a space: the text is cheaper with it than without.
    let texts = json!([{"type": "text", "text": "\u{300} "}, {"type": "text", "text": " "}]);
    let body = json!({"model": "claude-sonnet-4", "max_tokens": 9, "messages": [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": texts},
        {"role": "user", "content": [{"type": "text", "text": "A"}]}]});
    let family = ClaudeFamily::V3;
    let (whole, extras) = written(&body, family);
    let found = counted(&body, family);
    assert_eq!(found.total, family.count_inside(&whole) + extras, "{whole:?}");
    let blocks: Vec<u64> = found.blocks.iter().map(|block| block.tokens).collect();
    assert_eq!(blocks, [5, 8, 0, 3]);
}

#[test]
fn gateways_and_clouds_are_counted_alike() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let messages = json!({
        "model": "claude-sonnet-4", "max_tokens": 9,
        "system": "Be brief.",
        "tools": [{"name": "weather", "description": "The weather.", "input_schema": schema}],
        "tool_choice": {"type": "any"},
        "messages": [
            {"role": "user", "content": "How is Paris?"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Paris"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "Sunny, 20 degrees"}]},
        ]
    });
    let converse = json!({
        "modelId": "anthropic.claude-sonnet-4-20250514-v1:0",
        "system": [{"text": "Be brief."}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "weather", "description": "The weather.",
            "inputSchema": {"json": schema}}}], "toolChoice": {"any": {}}},
        "messages": [
            {"role": "user", "content": [{"text": "How is Paris?"}]},
            {"role": "assistant", "content": [{"text": "I will look."},
                {"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Paris"}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "t1",
                "content": [{"text": "Sunny, 20 degrees"}]}}]},
        ]
    });
    let chat = json!({
        "model": "anthropic/claude-sonnet-4",
        "tools": [{"type": "function", "function": {"name": "weather",
            "description": "The weather.", "parameters": schema}}],
        "tool_choice": "required",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "How is Paris?"},
            {"role": "assistant", "content": "I will look.", "tool_calls": [{"id": "t1",
                "type": "function", "function": {"name": "weather",
                    "arguments": "{\"city\": \"Paris\"}"}}]},
            {"role": "tool", "tool_call_id": "t1", "content": "Sunny, 20 degrees"},
        ]
    });
    for family in ClaudeFamily::ALL {
        let [one, two, three] =
            [&messages, &converse, &chat].map(|body| counted(body, family).total);
        assert_eq!((one, two), (two, three), "{}", family.name());
    }
}

#[test]
fn a_begun_answer_has_no_cue_and_loses_the_white_space_at_its_end() {
    let with = |answer: &str| {
        json!({"model": "claude-sonnet-4", "messages": [
            {"role": "user", "content": "Count to three."},
            {"role": "assistant", "content": answer}]})
    };
    let family = ClaudeFamily::V3;
    let found = counted(&with("One, two"), family);
    assert!(found.sections.iter().all(|section| section.section != "answer"));
    assert_eq!(counted(&with("One, two \n "), family).total, found.total);
}

#[test]
fn what_is_not_known_is_an_interval_and_never_exact() {
    let with = |block: Value| {
        json!({"model": "claude-sonnet-4", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, block]}]})
    };
    for block in [
        json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}),
        json!({"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}),
        json!({"type": "something_else", "data": [1, 2, 3]}),
    ] {
        for family in ClaudeFamily::ALL {
            let found = counted(&with(block.clone()), family);
            assert!(found.between.0 < found.between.1, "{block}");
            assert_eq!(found.exactness.as_str(), "estimated", "{block}");
        }
    }
    let plain = counted(&with(json!({"type": "text", "text": " here"})), ClaudeFamily::V3);
    assert_eq!((plain.exactness.as_str(), plain.between), ("exact", (plain.total, plain.total)));
}

#[test]
fn siblings_are_counted_as_each_by_itself() {
    let body = |text: &str| {
        json!({"model": "claude-sonnet-4", "system": "Rules.", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Shared"},
                {"type": "text", "text": text}]}]})
    };
    for family in ClaudeFamily::ALL {
        let tokenizer = Tokenizer::new(spec(family));
        let options = RenderOptions { family: Some(family), ..RenderOptions::default() };
        for text in ["one", " two", "\nthree", "4", "'s"] {
            let bytes = RequestBody::captured(serde_json::to_vec(&body(text)).unwrap());
            let mut prompt = ALL[0].render(&bytes, options).unwrap();
            let whole = tokenize(vec![prompt.clone()], &tokenizer).remove(0).tokens();
            // The last block becomes the own one, as with children of a fork.
            let (own, shared) = prompt.shared.split_last().unwrap();
            (prompt.own, prompt.shared) = (Some(own.clone()), shared.to_vec().into());
            let split = tokenize(vec![prompt], &tokenizer).remove(0).tokens();
            assert_eq!(split, whole, "{} {text:?}", family.name());
        }
    }
}

#[test]
fn the_readme_states_the_measured_errors_of_counts() {
    let of = |class: &str| {
        let all = measured().iter().filter(|entry| entry.tokenizer == entry.family);
        let all: Vec<_> =
            all.filter(|entry| entry.class == class && entry.half == "report").collect();
        assert!(!all.is_empty(), "{class}");
        all
    };
    let texts = of("text");
    let rows: u64 = texts.iter().map(|entry| entry.rows).sum();
    let close: u64 = texts.iter().map(|entry| entry.within_one).sum();
    assert_eq!(rows, close, "the README says all");
    let tools = of("tools_and_system");
    let tools = tools.iter().find(|entry| entry.family == "claude-v3").unwrap();
    let (median, p95) = (percent(tools.median_ppm), percent(tools.p95_ppm));
    let readme = include_str!("../README.md");
    for stated in [
        format!("all {rows} texts are counted within one token"),
        format!("a median error of {median} and a 95th percentile of {p95}"),
    ] {
        assert!(readme.contains(&stated), "{stated}");
    }
}
