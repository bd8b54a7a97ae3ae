use proptest::prelude::*;
use serde_json::json;

use super::*;

fn usage(read: u64, write_5m: u64, write_1h: u64, uncached: u64, output: u64) -> Usage {
    Usage {
        read: Tokens(read),
        write_5m: Tokens(write_5m),
        write_1h: Tokens(write_1h),
        uncached: Tokens(uncached),
        output: Tokens(output),
    }
}

fn read(value: Value) -> BilledUsage {
    read_usage(&value, None).unwrap()
}

fn clean(value: Value) -> (UsageStyle, Usage) {
    let billed = read(value);
    assert_eq!(billed.warnings, []);
    assert_eq!(billed.split, WriteSplit::Stated);
    (billed.style, billed.usage)
}

fn error(value: Value) -> String {
    read_usage(&value, None).unwrap_err().to_string()
}

fn one_warning(value: Value) -> (BilledUsage, String) {
    let billed = read(value);
    assert_eq!(billed.warnings.len(), 1, "{:?}", billed.warnings);
    let text = billed.warnings[0].to_string();
    (billed, text)
}

#[test]
fn each_style_is_told_by_its_fields() {
    let messages = json!({
        "input_tokens": 4, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 21,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 1},
        "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 2},
        "service_tier": "standard", "server_tool_use": null
    });
    assert_eq!(clean(messages), (UsageStyle::Anthropic, usage(30, 20, 1, 4, 5)));
    let converse = json!({
        "inputTokens": 4, "outputTokens": 5, "cacheReadInputTokens": 30,
        "cacheReadInputTokenCount": 30, "cacheWriteInputTokens": 21, "totalTokens": 60,
        "cacheDetails": [{"inputTokens": 20, "ttl": "5m"}, {"inputTokens": 1, "ttl": "1h"}]
    });
    assert_eq!(clean(converse), (UsageStyle::Bedrock, usage(30, 20, 1, 4, 5)));
    let chat = json!({
        "prompt_tokens": 34, "completion_tokens": 5, "total_tokens": 39,
        "prompt_tokens_details": {"cached_tokens": 30, "audio_tokens": null}
    });
    assert_eq!(clean(chat), (UsageStyle::OpenAi, usage(30, 0, 0, 4, 5)));
    let responses = json!({
        "input_tokens": 34, "input_tokens_details": {"cached_tokens": 30}, "output_tokens": 5
    });
    assert_eq!(clean(responses), (UsageStyle::OpenAi, usage(30, 0, 0, 4, 5)));
    let plain = json!({"read": 30, "write_5m": 20, "write_1h": 1, "uncached": 4, "output": 5});
    assert_eq!(clean(plain), (UsageStyle::Plain, usage(30, 20, 1, 4, 5)));
}

#[test]
fn a_named_style_overrides_the_field_names() {
    let value = json!({"input_tokens": 34, "output_tokens": 5, "total_tokens": 39});
    let named = |style| read_usage(&value, Some(style)).map(|billed| billed.usage);
    assert_eq!(named(UsageStyle::OpenAi), named(UsageStyle::Anthropic));
    let both = json!({
        "input_tokens": 34, "cache_read_input_tokens": 30,
        "input_tokens_details": {"cached_tokens": 30}
    });
    assert!(error(both.clone()).contains("name the style"), "{}", error(both.clone()));
    let named = |style| read_usage(&both, Some(style)).unwrap().usage;
    assert_eq!(named(UsageStyle::Anthropic), usage(30, 0, 0, 34, 0));
    assert_eq!(named(UsageStyle::OpenAi), usage(30, 0, 0, 4, 0));
    let other = read_usage(&json!({"prompt_tokens": 1}), Some(UsageStyle::Bedrock));
    assert!(other.unwrap_err().to_string().contains("style bedrock; found prompt_tokens"));
    let plain = read_usage(&json!({"inputs": 1}), Some(UsageStyle::Plain));
    assert!(plain.unwrap_err().to_string().contains("is `input` meant?"));
    assert!(read_usage(&json!({}), Some(UsageStyle::Plain)).is_err());
}

#[test]
fn writes_without_lifetime_are_five_minutes_and_can_be_moved() {
    let billed = read(json!({"input_tokens": 21, "cache_creation_input_tokens": 1733}));
    assert_eq!(billed.usage, usage(0, 1733, 0, 21, 0));
    assert_eq!(billed.split, WriteSplit::Assumed(Tokens(1733)));
    assert_eq!(billed.warnings, []);
    assert_eq!(billed.with_assumed_writes(CacheTtl::OneHour), usage(0, 0, 1733, 21, 0));
    assert_eq!(billed.with_assumed_writes(CacheTtl::FiveMinutes), billed.usage);
    let converse = read(json!({"inputTokens": 3, "cacheWriteInputTokenCount": 7}));
    assert_eq!(converse.split, WriteSplit::Assumed(Tokens(7)));
    let client = read(json!({"inputTokens": 3, "cacheCreationInputTokens": 197}));
    assert_eq!(client.usage, usage(0, 197, 0, 3, 0));
}

#[test]
fn a_split_below_the_total_keeps_the_total() {
    let split = json!({"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0});
    let (billed, text) = one_warning(json!({
        "input_tokens": 2250, "cache_creation_input_tokens": 11913, "cache_creation": split
    }));
    assert_eq!(billed.usage, usage(0, 11913, 0, 2250, 0));
    assert_eq!(billed.split, WriteSplit::Assumed(Tokens(11913)));
    assert_eq!(billed.warnings[0].difference(), Tokens(11913));
    assert!(text.contains("11,913 tokens differ; the total is taken"), "{text}");

    let (billed, _) = one_warning(json!({
        "inputTokens": 1, "cacheWriteInputTokens": 100,
        "cacheDetails": [{"inputTokens": 60, "ttl": "1h"}]
    }));
    assert_eq!(billed.usage, usage(0, 40, 60, 1, 0));
    assert_eq!(billed.with_assumed_writes(CacheTtl::OneHour), usage(0, 0, 100, 1, 0));
}

#[test]
fn a_split_above_the_total_is_taken() {
    let split = json!({"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 50});
    let (billed, text) =
        one_warning(json!({"cache_creation_input_tokens": 100, "cache_creation": split}));
    assert_eq!(billed.usage, usage(0, 60, 50, 0, 0));
    assert_eq!(billed.split, WriteSplit::Stated);
    assert!(text.contains("10 tokens differ; the lifetimes are taken"), "{text}");
}

#[test]
fn iterations_are_summed_and_a_different_top_level_is_said() {
    let (billed, text) = one_warning(json!({
        "input_tokens": 0, "output_tokens": 0,
        "iterations": [
            {"type": "compaction", "input_tokens": 83555, "output_tokens": 139},
            {"type": "message", "input_tokens": 5, "cache_creation_input_tokens": 10,
             "cache_creation": {"ephemeral_1h_input_tokens": 10}}
        ]
    }));
    assert_eq!(billed.usage, usage(0, 0, 10, 83560, 139));
    assert!(text.starts_with("the iterations (2) are billed: input 83,570"), "{text}");
    let same = json!({
        "input_tokens": 7, "output_tokens": 2,
        "iterations": [{"input_tokens": 3, "output_tokens": 2}, {"input_tokens": 4}]
    });
    assert_eq!(clean(same), (UsageStyle::Anthropic, usage(0, 0, 0, 7, 2)));
    let none = json!({"input_tokens": 7, "iterations": []});
    assert_eq!(clean(none).1, usage(0, 0, 0, 7, 0));
}

#[test]
fn an_iteration_of_another_model_is_left_out_and_said() {
    let (billed, text) = one_warning(json!({
        "input_tokens": 2390, "output_tokens": 121,
        "iterations": [
            {"type": "message", "input_tokens": 1128, "output_tokens": 110},
            {"type": "advisor_message", "model": "m", "input_tokens": 2518, "output_tokens": 22},
            {"type": "message", "input_tokens": 1262, "output_tokens": 11}
        ]
    }));
    assert_eq!(billed.usage, usage(0, 0, 0, 2390, 121));
    assert!(text.contains("input 2,518, output 22 of m"), "{text}");
}

#[test]
fn more_read_than_sent_is_said_and_nothing_is_uncached() {
    let (billed, text) = one_warning(json!({
        "prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 120}
    }));
    assert_eq!(billed.usage, usage(120, 0, 0, 0, 0));
    assert!(text.contains("an input of 100 in all: 20 tokens differ"), "{text}");
}

#[test]
fn totals_that_do_not_add_up_are_said() {
    let (_, text) = one_warning(json!({"inputTokens": 50, "outputTokens": 20, "totalTokens": 71}));
    assert!(text.contains("`totalTokens` is 71, its parts add up to 70"), "{text}");
    let (_, text) =
        one_warning(json!({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 8}));
    assert!(text.contains("1 token differs"), "{text}");
    let (billed, text) =
        one_warning(json!({"cacheReadInputTokens": 5, "cacheReadInputTokenCount": 6}));
    assert_eq!(billed.usage.read, Tokens(5));
    assert!(text.contains("`cacheReadInputTokens` is taken"), "{text}");
}

#[test]
fn other_lifetimes_are_taken_as_the_nearer_class_and_said() {
    let billed = read(json!({
        "input_tokens": 100,
        "input_tokens_details": {
            "cached_tokens": 10, "cache_write_tokens": 70,
            "cache_write_tokens_details": {"ttl_30m_tokens": 30, "ttl_12h_tokens": 40}
        }
    }));
    assert_eq!(billed.usage, usage(10, 30, 40, 20, 0));
    assert_eq!(billed.warnings.len(), 2);
    assert!(billed.warnings[1].to_string().contains("ttl_12h_tokens`: 40 tokens"));
}

#[test]
fn what_is_no_usage_is_refused_with_key_value_and_remedy() {
    for (value, words) in [
        (json!([1]), "`usage` is [1]; an object"),
        (json!({}), "the object is empty"),
        (json!({"tokens": 5}), "found tokens; known are input_tokens"),
        (json!({"input_tokens": -5}), "`input_tokens` is negative: -5; whole numbers from 0 to"),
        (json!({"input_tokens": 1.5}), "`input_tokens` is not written as a whole number: 1.5"),
        (json!({"input_tokens": 1e-7}), "is not written as a whole number: 1e-7"),
        (json!({"input_tokens": "many"}), "`input_tokens` is not a number: \"many\""),
        (json!({"input_tokens": u64::MAX}), "is too large: 18446744073709551615; whole numbers"),
        (json!({"input_tokens": 1e30}), "is too large: 1e+30"),
        (json!({"cache_creation": 5}), "`cache_creation` is 5; an object"),
        (json!({"iterations": 5}), "`iterations` is 5; a list"),
        (json!({"iterations": [{"input_tokens": -1}]}), "`iterations[0].input_tokens` is negative"),
        (
            json!({"cache_creation": {"ephemeral_1h_input_tokens": false}}),
            "`cache_creation.ephemeral_1h_input_tokens` is not a number: false",
        ),
        (
            json!({"cacheDetails": [{"inputTokens": 1, "ttl": "30m"}]}),
            "`cacheDetails[0].ttl` is \"30m\"; \"5m\" and \"1h\" are allowed",
        ),
        (json!({"read": 1, "wrote": 2}), "`wrote` is no count; is `write` meant?"),
        (json!({"read": 1, "xyzzy": 2}), "`xyzzy` is no count; known are uncached, read"),
        (json!({"input": 1, "uncached": 2}), "`uncached` and `input` are both given"),
        (json!({"write": 1, "write_1h": 2}), "`write` and `write_1h` are both given"),
    ] {
        let text = error(value.clone());
        assert!(text.contains(words), "{value}: {text}");
    }
    let many = vec![json!({"input_tokens": COUNT_MAX}); 3];
    assert!(error(json!({"iterations": many})).contains("`iterations` add up to more than 1,000"));
}

#[test]
fn a_style_has_one_word() {
    for style in UsageStyle::ALL {
        assert_eq!(UsageStyle::parse(style.label()), Some(style));
    }
    assert_eq!(UsageStyle::parse("other"), None);
}

#[test]
fn a_stated_hour_is_read_in_every_style_and_place() {
    let split = json!({"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 1000});
    let expected = usage(0, 20, 1000, 4, 0);
    for value in [
        json!({"prompt_tokens": 1024, "cache_creation_input_tokens": 1020,
               "cache_creation": split}),
        json!({"prompt_tokens": 1024, "prompt_tokens_details": {
            "cache_creation_tokens": 1020, "cache_creation_token_details": split}}),
        json!({"input_tokens": 1024, "input_tokens_details": {"cache_creation": split}}),
        json!({"prompt_tokens": 1024, "cache_creation_token_details": split,
               "cache_creation": {"ephemeral_5m_input_tokens": 20,
                                  "ephemeral_1h_input_tokens": 1000}}),
        json!({"inputTokens": 4, "cacheWriteInputTokens": 1020, "cache_creation": split}),
        json!({"inputTokens": 4, "cache_creation_input_tokens": 1020, "cacheCreation": {
            "ephemeral5mInputTokens": 20, "ephemeral1hInputTokens": 1000}}),
        json!({"input_tokens": 4, "cache_creation_input_tokens": 1020, "cache_creation": split}),
    ] {
        assert_eq!(clean(value.clone()).1, expected, "{value}");
    }
    let written = read(json!({
        "prompt_tokens": 1024, "prompt_tokens_details": {"cache_creation_tokens": 1020}
    }));
    assert_eq!(written.split, WriteSplit::Assumed(Tokens(1020)));
    assert_eq!(written.usage, usage(0, 1020, 0, 4, 0));
    let (emptied, text) = one_warning(json!({
        "prompt_tokens": 1020, "cache_creation_input_tokens": 1020,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "prompt_tokens_details": {"cache_creation_token_details": split}
    }));
    assert_eq!(emptied.usage, usage(0, 20, 1000, 0, 0));
    assert!(text.contains("`cache_creation` is 0: 1,020 tokens differ"), "{text}");
}

#[test]
fn an_unknown_lifetime_keeps_its_tokens() {
    let split = json!({"ephemeral_30m_input_tokens": 1000, "note": "x"});
    for value in [
        json!({"input_tokens": 3, "cache_creation": split}),
        json!({"input_tokens": 3, "cache_creation_input_tokens": 1000, "cache_creation": split}),
        json!({"inputTokens": 3, "cache_creation": split}),
        json!({"prompt_tokens": 1003, "cache_creation": split}),
    ] {
        let (billed, text) = one_warning(value);
        assert_eq!(billed.usage, usage(0, 1000, 0, 3, 0));
        assert_eq!(billed.split, WriteSplit::Assumed(Tokens(1000)));
        let words = "`cache_creation.ephemeral_30m_input_tokens`: 1,000 tokens";
        assert!(text.starts_with(words), "{text}");
    }
}

#[test]
fn iterations_of_the_calls_own_model_are_summed() {
    let one = json!({"model": "claude-opus-5", "input_tokens": 5});
    let dated = json!({"model": "us.anthropic.claude-opus-5", "input_tokens": 7});
    let value = json!({"input_tokens": 12, "iterations": [one, dated]});
    assert_eq!(clean(value.clone()).1, usage(0, 0, 0, 12, 0));
    let own = BilledUsage::of_call(&value, None, Some("claude-opus-5")).unwrap();
    assert_eq!((own.usage, own.passes.len()), (usage(0, 0, 0, 12, 0), 2));
    let other = BilledUsage::of_call(&value, None, Some("claude-haiku-4-5")).unwrap();
    assert_eq!(other.warnings.len(), 2);
}

#[test]
fn lifetimes_of_the_top_level_are_those_of_the_iterations() {
    let pass = json!({"input_tokens": 1, "cache_creation_input_tokens": 100});
    let value = json!({
        "input_tokens": 2, "cache_creation_input_tokens": 200, "iterations": [pass, pass],
        "cache_creation": {"ephemeral_1h_input_tokens": 150, "ephemeral_5m_input_tokens": 50}
    });
    assert_eq!(clean(value.clone()).1, usage(0, 50, 150, 2, 0));
    let sum = read(value).passes.iter().fold(Usage::default(), |sum, pass| sum + pass.usage);
    assert_eq!(sum, usage(0, 50, 150, 2, 0));
}

#[test]
fn a_count_under_the_name_of_another_style_is_said() {
    let (billed, text) = one_warning(json!({"inputTokens": 3, "input_tokens": 4}));
    assert_eq!(billed.usage, usage(0, 0, 0, 3, 0));
    assert!(text.starts_with("`input_tokens` is 4, but"), "{text}");
    assert_eq!(billed.warnings[0].difference(), Tokens(1));
    assert_eq!(clean(json!({"inputTokens": 3, "input_tokens": 3})).1, usage(0, 0, 0, 3, 0));
    let both = json!({"inputTokens": 3, "cacheReadInputTokens": 4, "prompt_tokens": 7});
    assert_eq!(clean(both).1, usage(4, 0, 0, 3, 0));
}

proptest! {
    #[test]
    fn every_style_says_the_same(
        (read, write_5m, write_1h) in (0..COUNT_MAX / 8, 0..COUNT_MAX / 8, 0..COUNT_MAX / 8),
        (uncached, output) in (0..COUNT_MAX / 8, 0..COUNT_MAX / 8),
    ) {
        let written = write_5m + write_1h;
        let input = read + written + uncached;
        let values = [
            json!({
                "input_tokens": uncached, "cache_read_input_tokens": read,
                "cache_creation_input_tokens": written, "output_tokens": output,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": write_5m, "ephemeral_1h_input_tokens": write_1h
                },
            }),
            json!({
                "inputTokens": uncached, "cacheReadInputTokens": read,
                "cacheWriteInputTokens": written, "outputTokens": output,
                "totalTokens": input + output, "cacheDetails": [
                    {"inputTokens": write_1h, "ttl": "1h"}, {"inputTokens": write_5m, "ttl": "5m"}
                ],
            }),
            json!({
                "prompt_tokens": input, "completion_tokens": output,
                "prompt_tokens_details": {
                    "cached_tokens": read, "cache_write_tokens": written,
                    "cache_write_tokens_details": {
                        "ttl_30m_tokens": write_5m, "ttl_12h_tokens": write_1h
                    },
                },
            }),
            json!({
                "read": read, "write_5m": write_5m, "write_1h": write_1h, "uncached": uncached,
                "output": output,
            }),
        ];
        for value in values {
            let billed = read_usage(&value, None).unwrap();
            prop_assert_eq!(billed.usage, usage(read, write_5m, write_1h, uncached, output));
            prop_assert_eq!(billed.split, WriteSplit::Stated);
        }
    }
}
