//! What is refused: code, place, key, value, and a remedy for each.

use super::{load, load_in, minimal, mistakes_of};
use crate::scenario::diagnostic::code;
use crate::scenario::{Diagnostic, LoadError, render};

/// Where and how one mistake is reported.
struct Expected<'a> {
    code: &'a str,
    place: (usize, usize),
    key: &'a str,
    value: &'a str,
    message: &'a str,
    help: &'a str,
}

fn only(text: &str) -> Diagnostic {
    let mut found = mistakes_of(load(text));
    assert_eq!(found.len(), 1, "{text}\n{found:#?}");
    found.remove(0)
}

fn assert_mistake(text: &str, found: &Diagnostic, expected: &Expected<'_>) {
    assert_eq!(found.code, expected.code, "{text}\n{found:#?}");
    assert_eq!((found.line, found.column), expected.place, "{text}\n{found:#?}");
    assert_eq!(found.key.as_deref().unwrap_or_default(), expected.key, "{text}");
    assert_eq!(found.value.as_deref().unwrap_or_default(), expected.value, "{text}");
    assert!(found.message.contains(expected.message), "{text}\n{}", found.message);
    assert!(found.help.contains(expected.help), "{text}\n{}", found.help);
    let (line, column) = expected.place;
    let shown = render(&crate::scenario::Diagnostics(vec![found.clone()]), false);
    assert!(shown.contains(&format!("s.toml:{line}:{column}")), "{shown}");
}

/// Nothing is read: the file does not exist.
#[cfg(not(feature = "huggingface"))]
#[test]
fn a_tokenizer_from_a_file_without_the_feature() {
    let text = minimal("tokenizer = \"hf:no/such.json*2\"");
    let expected = Expected {
        code: code::NOT_AVAILABLE,
        place: (6, 13),
        key: "tokenizer",
        value: "\"hf:no/such.json*2\"",
        message: "built without the feature huggingface",
        help: "cargo install --path . --features huggingface",
    };
    assert_mistake(&text, &only(&text), &expected);
}

/// Checks a line behind the minimal scenario, that is line 6.
macro_rules! refused {
    ($($name:ident: $line:expr => $code:ident $column:literal $key:literal $value:literal,
       $message:literal, $help:literal;)+) => {
        $(#[test]
        fn $name() {
            let text = minimal($line);
            let expected = Expected {
                code: code::$code,
                place: (6, $column),
                key: $key,
                value: $value,
                message: $message,
                help: $help,
            };
            assert_mistake(&text, &only(&text), &expected);
        })+
    };
}

refused! {
    unknown_key: "titel = \"x\"" => UNKNOWN_KEY 1 "titel" "\"x\"",
        "unknown key titel", "did you mean `title`? allowed here: version, title";
    unknown_key_in_a_table: "parent.cache = { states = \"warm\" }" => UNKNOWN_KEY 18
        "parent.cache.states" "\"warm\"", "unknown key",
        "did you mean `state`? allowed here: state";
    unknown_table: "[zebra]" => UNKNOWN_KEY 2 "zebra" "[zebra]",
        "unknown key zebra", "allowed here: version, title, model";
    key_of_another_version: "fork.dialect = \"codex\"" => UNKNOWN_KEY 6 "fork.dialect"
        "\"codex\"", "unknown key fork.dialect", "allowed here: era, children";
    no_such_era: "fork.era = \"book\"" => UNKNOWN_WORD 12 "fork.era" "\"book\"",
        "must be \"today\" or \"chapter\", got \"book\"", "one of these";
    no_such_scan: "gate.scan = \"strict\"" => UNKNOWN_WORD 13 "gate.scan" "\"strict\"",
        "\"structural\" or \"substring\"", "did you mean \"structural\"";
    text_for_a_flag: "gate.coordinator = \"no\"" => WRONG_TYPE 20 "gate.coordinator" "\"no\"",
        "must be true or false", "without quotes";
    limit_of_none: "limits.at_once = 0" => OUT_OF_RANGE 18 "limits.at_once" "0",
        "got 0", "";
    too_deep: "limits.depth = 1001" => OUT_OF_RANGE 16 "limits.depth" "1001",
        "got 1001", "";
    text_for_a_number: "seed = \"7\"" => WRONG_TYPE 8 "seed" "\"7\"",
        "seed must be a whole number, got text", "without quotes";
    number_for_text: "title = 7" => WRONG_TYPE 9 "title" "7",
        "title must be text, got a whole number", "double quotes";
    float_for_an_integer: "seed = 7.0" => WRONG_TYPE 8 "seed" "7.0",
        "must be a whole number, got a decimal number", "type of each key";
    number_for_a_table: "parent.tools = 12000" => WRONG_TYPE 16 "parent.tools" "12000",
        "must be a table, got a whole number", "{ ... }";
    list_for_a_table: "[[rules]]" => WRONG_TYPE 1 "rules" "[[rules]]",
        "rules must be a table, got a list", "write a table";
    text_for_a_list: "fork.markers = \"directive\"" => WRONG_TYPE 16 "fork.markers"
        "\"directive\"", "must be a list of text, got text", "[\"...\"";
    number_for_a_flag: "baselines.fresh.same_type = 1" => WRONG_TYPE 29
        "baselines.fresh.same_type" "1", "must be true or false", "type of each key";
    number_in_a_list: "fork.markers = [\"directive\", 3]" => WRONG_TYPE 30 "fork.markers[1]" "3",
        "fork.markers[1] must be text", "double quotes";
    negative: "seed = -1" => OUT_OF_RANGE 8 "seed" "-1",
        "seed must be between 0 and 9,223,372,036,854,775,807, got -1", "write 0 instead";
    huge: "parent.tools.tokens = 20_000_001" => OUT_OF_RANGE 23 "parent.tools.tokens"
        "20_000_001", "between 0 and 20,000,000, got 20_000_001", "write 20000000 instead";
    past_any_integer: "parent.system.tokens = 99999999999999999999999999999999999999999999"
        => OUT_OF_RANGE 24 "parent.system.tokens" "99999999999999999999999999999999999999999999",
        "between 0 and 20,000,000", "20000000";
    zero: "fork.placeholder.tokens = 0" => OUT_OF_RANGE 27 "fork.placeholder.tokens" "0",
        "between 1 and 20,000,000, got 0", "write 1 instead";
    infinite_time: "schedule.request_s = inf" => OUT_OF_RANGE 22 "schedule.request_s" "inf",
        "between 0 and 86,400 seconds, got inf", "e.g. 2.5";
    time_that_is_no_number: "parent.cache.age_s = nan" => OUT_OF_RANGE 22 "parent.cache.age_s"
        "nan", "seconds, got nan", "e.g. 2.5";
    negative_time: "schedule.request_s = -0.5" => OUT_OF_RANGE 22 "schedule.request_s" "-0.5",
        "got -0.5", "e.g. 2.5";
    text_for_a_time: "parent.cache.age_s = \"40s\"" => WRONG_TYPE 22 "parent.cache.age_s"
        "\"40s\"", "must be a number of seconds", "type of each key";
    too_fine_a_time: "schedule.request_s = 2.0005" => TIME_PRECISION 22 "schedule.request_s"
        "2.0005", "at most three decimals", "three decimals";
    no_such_word: "fork.ttl = \"2h\"" => UNKNOWN_WORD 12 "fork.ttl" "\"2h\"",
        "must be \"5m\" or \"1h\", got \"2h\"", "did you mean \"1h\"";
    no_such_policy: "fork.marker_policy = \"cctail\"" => UNKNOWN_WORD 22 "fork.marker_policy"
        "\"cctail\"", "\"automatic\" or \"none\"", "did you mean \"cc_tail\"";
    no_such_state: "parent.cache.state = \"hot\"" => UNKNOWN_WORD 22 "parent.cache.state"
        "\"hot\"", "\"warm\", \"cold\" or \"expired\"", "one of these";
    clone_of_another_version: "fork.clone = \"single\"" => NOT_AVAILABLE 14 "fork.clone"
        "\"single\"", "not available in this version", "available: full, excise";
    no_such_boilerplate: "fork.boilerplate = \"own\"" => UNKNOWN_WORD 20
        "fork.boilerplate" "\"own\"", "\"standard\", \"none\" or \"own_block\"", "one of these";
    date_that_does_not_exist: "date = \"2026-02-30\"" => DATE 8 "date" "\"2026-02-30\"",
        "must be a day from 2020-01-01 to 2099-12-31", "date = 2026-07-24";
    date_out_of_range: "date = 2199-01-01" => DATE 8 "date" "2199-01-01",
        "got 2199-01-01", "date = 2026-07-24";
    date_with_a_time: "date = 2026-01-01T10:00:00" => DATE 8 "date" "2026-01-01T10:00:00",
        "YYYY-MM-DD", "date = 2026-07-24";
    date_without_a_price: "date = 2021-01-01" => NO_PRICE 8 "date" "2021-01-01",
        "claude-opus-5 has no price on 2021-01-01: its first is of 2026-07-24",
        "date = 2026-07-24 or a later day";
    date_before_the_first_price: "date = 2026-07-23" => NO_PRICE 8 "date" "2026-07-23",
        "its first is of 2026-07-24", "date = 2026-07-24";
    empty_text: "title = \" \"" => EMPTY_VALUE 9 "title" "\" \"",
        "title must not be empty", "delete the key";
    empty_list: "fork.markers = []" => EMPTY_VALUE 16 "fork.markers" "[]",
        "must not be empty", "at least one";
    no_such_tokenizer: "tokenizer = \"gpt2\"" => TOKENIZER 13 "tokenizer" "\"gpt2\"",
        "tokenizer `gpt2`: no vocabulary `gpt2`", "o200k_base*1.65";
    rule_with_a_wrong_value: "rules.count = \"tools\"" => RULE 15 "rules.count" "\"tools\"",
        "rules.count must be \"per_block\" or \"collapse_tool_runs\", got \"tools\"", "[rules]";
    rule_out_of_range: "rules.lookback = 1001" => OUT_OF_RANGE 18 "rules.lookback" "1001",
        "must be between 1 and 1,000, got 1001", "write 1000 instead";
    unknown_rule: "rules.lookbak = 3" => UNKNOWN_KEY 7 "rules.lookbak" "3",
        "unknown key rules.lookbak", "did you mean `lookback`? allowed here: count, hash";
    rule_with_a_wrong_type: "rules.lookback = true" => WRONG_TYPE 18 "rules.lookback" "true",
        "must be a whole number", "type of each key";
    marker_outside_the_grammar: "fork.markers = [\"directve\"]" => MARKER 16 "fork.markers"
        "[\"directve\"]", "marker `directve` is not understood", "system.1";
    marker_set_twice: "fork.markers = [\"directive\", \"directive@1h\"]" => MARKERS 16
        "fork.markers" "[\"directive\", \"directive@1h\"]", "set twice", "at most once";
    five_markers: "fork.markers = ['system.0','system.1','system.2','directive','parent_end']"
        => MARKERS 16 "fork.markers"
        "['system.0','system.1','system.2','directive','parent_end']",
        "5 markers, but a request may carry at most 4", "at most four";
    width_without_waves: "schedule.wave_width = 2" => NEEDS_KEY 23 "schedule.wave_width" "2",
        "order = \"waves\" only, and the order is \"simultaneous\"", "set order = \"waves\"";
    gap_without_stagger: "schedule.stagger_s = 2" => NEEDS_KEY 22 "schedule.stagger_s" "2",
        "order = \"stagger\" only", "delete stagger_s";
    waves_without_width: "schedule = { order = \"waves\" }" => MISSING_KEY 12
        "schedule.wave_width" "", "order = \"waves\" needs it", "add wave_width = 2";
    stagger_of_nothing: "schedule = { order = \"stagger\", stagger_s = 0 }" => OUT_OF_RANGE 45
        "schedule.stagger_s" "0", "more than 0", "simultaneous";
    token_after_the_end: "schedule.request_s = 1" => CONTRADICTION 22 "schedule.request_s" "1",
        "first token comes after 2 s, but a request ends after 1 s", "at least as long";
    neither_tokens_nor_file: "parent.system = {}" => MISSING_KEY 17 "parent.system.tokens" "",
        "parent.system.tokens is missing", "{ tokens = 4000 }";
    warm_past_its_lifetime: "parent.cache = { age_s = 300 }" => CONTRADICTION 26
        "parent.cache.age_s" "300", "less than 300 s while the entry is warm (5m)",
        "state = \"expired\"";
    expired_before_its_lifetime: "parent.cache = { state = \"expired\", ttl = \"1h\", age_s = 400 }"
        => CONTRADICTION 57 "parent.cache.age_s" "400", "at least 3600 s once", "warm";
    expired_a_moment_early: "parent.cache = { state = \"expired\", age_s = 299.999 }"
        => CONTRADICTION 45 "parent.cache.age_s" "299.999", "at least 300 s once", "warm";
    age_of_nothing: "parent.cache = { state = \"cold\", age_s = 40 }" => CONTRADICTION 42
        "parent.cache.age_s" "40", "no effect on a cold entry", "delete parent.cache.age_s";
    more_tools_than_tokens: "parent.tools = { count = 9, tokens = 8 }" => TOO_SMALL 26
        "parent.tools.count" "9", "each tool has at least one token", "raise the tokens";
    blocks_without_a_size: "parent.dispatch = { thinking_blocks = 1 }" => NEEDS_KEY 39
        "parent.dispatch.thinking_blocks" "1", "needs a size", "tokens_per_call = 400";
    fewer_tokens_than_calls: "parent.dispatch = { tokens = 5, text_blocks = 1 }" => TOO_SMALL 19
        "parent.dispatch" "{ tokens = 5, text_blocks = 1 }",
        "5 tokens for 6 blocks (5 calls and 1 others)", "at least 6 tokens";
    decimal_expectation: "expect.saving = 0.84" => WRONG_TYPE 17 "expect.saving" "0.84",
        "must be text, a whole number or true or false", "write it as text: \"0.84\"";
    expectation_twice: "expect = { \"a.b\" = 1, a = { b = 2 } }" => CONFLICT 20 "expect.a.b" "1",
        "expect.a.b stands twice", "once";
    expectation_of_nothing: "expect = { \"a..b\" = 1 }" => EMPTY_VALUE 21 "expect.a..b" "1",
        "empty part", "summary.json";
}

/// Checks a whole text with one mistake.
fn refuses(text: &str, expected: &Expected<'_>) {
    assert_mistake(text, &only(text), expected);
}

#[test]
fn keys_that_exclude_each_other_are_reported_at_the_later_one() {
    refuses(
        &minimal("fork.marker_policy = \"none\"\nfork.markers = [\"directive\"]"),
        &Expected {
            code: code::CONFLICT,
            place: (7, 16),
            key: "fork.markers",
            value: "[\"directive\"]",
            message: "fork.marker_policy and fork.markers exclude each other",
            help: "keep one of \"marker_policy\" or \"markers\"",
        },
    );
    refuses(
        &minimal("").replace("tokens = 200", "tokens = 200, texts = [\"a\"]"),
        &Expected {
            code: code::CONFLICT,
            place: (5, 42),
            key: "fork.directive.texts",
            value: "[\"a\"]",
            message: "fork.directive.tokens and fork.directive.texts exclude",
            help: "\"tokens\", \"texts\" or \"file\"",
        },
    );
}

#[test]
fn a_longer_lifetime_behind_a_shorter_one() {
    let message = "puts a 1h marker behind a 5m marker";
    let help = "the same lifetime";
    let code = code::CONTRADICTION;
    refuses(
        &minimal("parent.system.tokens = 50\nfork.ttl = \"1h\""),
        &Expected { code, place: (7, 12), key: "fork.ttl", value: "\"1h\"", message, help },
    );
    let value = "[\"system.1\", \"directive@1h\"]";
    refuses(
        &minimal(&format!("fork.markers = {value}")),
        &Expected { code, place: (6, 16), key: "fork.markers", value, message, help },
    );
}

#[test]
fn sizes_past_the_context_window() {
    let code = code::CONTEXT_WINDOW;
    // 1,000,000 - 30,000 - 200 = 969,800 tokens for calls and placeholders of 200 + 1.
    refuses(
        &minimal("").replace("children = 5", "children = 4825"),
        &Expected {
            code,
            place: (4, 17),
            key: "fork.children",
            value: "4825",
            message: "at least 1,000,025 tokens, but the context window of claude-opus-5 is \
                      1,000,000",
            help: "at most 4,824 children fit",
        },
    );
    let _fits = super::good(&minimal("").replace("children = 5", "children = 4824"));
    let small = minimal("").replace("claude-opus-5", "claude-haiku-4-5");
    refuses(
        &small.replace("tokens = 200", "tokens = 170_000"),
        &Expected {
            code,
            place: (5, 18),
            key: "fork.directive",
            value: "{ tokens = 170_000 }",
            message: "but the context window of claude-haiku-4-5 is 200,000",
            help: "the largest is fork.directive",
        },
    );
    // 30,000 + 990,000 + 200 + 5 * 201 = 1,021,205.
    refuses(
        &minimal("parent.tools.tokens = 990_000"),
        &Expected {
            code,
            place: (6, 8),
            key: "parent.tools",
            value: "tools",
            message: "parent.tools: a child's prompt has at least 1,021,205 tokens",
            help: "by 21,205 tokens in all; the largest is parent.tools",
        },
    );
}

#[test]
fn missing_keys_point_at_their_table() {
    let text = "version = 1\n\n[fork]\ndirective = { tokens = 1 }\n\n[parent]\n";
    let found = mistakes_of(load(text));
    let got: Vec<_> = found
        .iter()
        .map(|m| (m.code, m.line, m.key.as_deref().unwrap_or_default(), m.value.as_deref()))
        .collect();
    let missing = |line, key| (code::MISSING_KEY, line, key, None);
    assert_eq!(
        got,
        [missing(1, "model"), missing(3, "fork.children"), missing(6, "parent.history")]
    );
    assert!(found[2].help.contains("history = { tokens = 30000 }"));
    let shown = render(&crate::scenario::Diagnostics(found), false);
    assert!(shown.contains("3 | [fork]\n  | ^^^^^^ here\n"), "{shown}");
}

#[test]
fn counts_of_texts_and_messages_must_fit() {
    refuses(
        &minimal("").replace("{ tokens = 200 }", "{ texts = [\"a\", \"b\"] }"),
        &Expected {
            code: code::CONTRADICTION,
            place: (5, 28),
            key: "fork.directive.texts",
            value: "[\"a\", \"b\"]",
            message: "2 texts for 5 children",
            help: "fork.children = 2",
        },
    );
    refuses(
        &minimal("").replace("tokens = 30000", "tokens = 10, turns = 5"),
        &Expected {
            code: code::TOO_SMALL,
            place: (3, 41),
            key: "parent.history.turns",
            value: "5",
            message: "makes 11 messages, but parent.history.tokens is 10",
            help: "at most 4 turns",
        },
    );
}

#[test]
fn blank_directives_are_refused_as_the_api_does() {
    for text in ["", " ", "\\n\\t"] {
        let value = format!("\"{text}\"");
        refuses(
            &minimal("").replace("{ tokens = 200 }", &format!("{{ texts = [{value}] }}")),
            &Expected {
                code: code::EMPTY_VALUE,
                place: (5, 29),
                key: "fork.directive.texts[0]",
                value: &value,
                message: "must not be empty",
                help: "write a text",
            },
        );
    }
}

#[test]
fn models_that_are_not_known() {
    refuses(
        &minimal("").replace("claude-opus-5", "claude-opus-55"),
        &Expected {
            code: code::UNKNOWN_MODEL,
            place: (2, 9),
            key: "model",
            value: "\"claude-opus-55\"",
            message: "no model \"claude-opus-55\"",
            help: "did you mean claude-opus-5-5 or claude-opus-5",
        },
    );
}

#[test]
fn another_version_is_the_only_mistake_reported() {
    for (written, code, message) in [
        ("2", code::VERSION, "version must be 1, got 2"),
        ("-1", code::VERSION, "version must be 1, got -1"),
        ("\"1\"", code::WRONG_TYPE, "must be a whole number, got text"),
    ] {
        let text = minimal("later_key = 3").replace("= 1\n", &format!("= {written}\n"));
        let help = if code == code::VERSION { "later forkcost" } else { "without quotes" };
        let (place, key) = ((1, 11), "version");
        refuses(&text, &Expected { code, place, key, value: written, message, help });
    }
}

#[test]
fn texts_that_are_no_scenario() {
    type Case<'a> = (&'a [u8], &'a str, (usize, usize), &'a str, &'a str);
    let cases: [Case<'_>; 9] = [
        (b"", code::EMPTY, (1, 1), "no scenario", "forkcost init"),
        (b" \r\n\t\n", code::EMPTY, (1, 1), "no scenario", "forkcost init"),
        (b"\xef\xbb\xbfversion = 1", code::BYTE_ORDER_MARK, (1, 1), "byte order", "without"),
        (b"\xff\xfev\0", code::NOT_UTF8, (1, 1), "byte 0 is not UTF-8", "UTF-16"),
        (b"version = 1\ntitle = \"\xe4\"", code::NOT_UTF8, (2, 10), "byte 21", "save"),
        (b"version = 1\n# \0", code::NUL, (2, 3), "NUL", "UTF-16"),
        (b"version = 1\nmodel = opus", code::SYNTAX, (2, 9), "must be quoted", "double quotes"),
        (b"version = 1\nversion = 1", code::SYNTAX, (2, 1), "duplicate key", "stands once"),
        (b"{\"version\": 1,\n \"a\": x}", code::SYNTAX, (2, 7), "not JSON", "TOML"),
    ];
    for (bytes, code, place, message, help) in cases {
        let text = String::from_utf8_lossy(bytes);
        let mut found = mistakes_of(load_in(bytes, &[], std::path::Path::new(""), None));
        assert_eq!(found.len(), 1, "{text}\n{found:#?}");
        let found = found.remove(0);
        assert_eq!((found.code, (found.line, found.column)), (code, place), "{text:?}");
        assert!(found.message.contains(message) && found.help.contains(help), "{found:#?}");
    }
    let large = vec![b'#'; (16 << 20) + 1];
    let found = mistakes_of(load_in(&large, &[], std::path::Path::new(""), None));
    assert_eq!(found[0].code, code::TOO_LARGE);
}

#[test]
fn json_refuses_what_toml_cannot_say() {
    let text = r#"{"version": 1, "seed": null, "fork": {"children": 1, "children": 2}}"#;
    let found = mistakes_of(load(text));
    assert_eq!((found.len(), found[0].code, found[0].column), (1, code::SYNTAX, 54));
    let found = mistakes_of(load(&text.replace(", \"children\": 2", "")));
    let null = found.iter().find(|m| m.key.as_deref() == Some("seed")).expect("seed");
    assert!(null.message.contains("got null"));
    assert!(mistakes_of(load("{\"a\": ")).iter().all(|m| m.code == code::SYNTAX));
}

#[test]
fn several_mistakes_are_reported_together_in_the_order_of_the_text() {
    let text = "version = 1\nmodel = 5\nseed = -1\n[parent]\nhistory = { token = 3 }\n\
                [fork]\nchildren = 0\ndirective = { tokens = \"x\" }\nttl = \"1d\"\n\
                [schedule]\nrequest_s = 1e9\n[rules]\nlookback = 0\n";
    let found = mistakes_of(load(text));
    let got: Vec<_> = found.iter().map(|m| (m.line, m.code)).collect();
    assert_eq!(
        got,
        [
            (2, code::WRONG_TYPE),
            (3, code::OUT_OF_RANGE),
            (5, code::MISSING_KEY),
            (5, code::UNKNOWN_KEY),
            (7, code::OUT_OF_RANGE),
            (8, code::WRONG_TYPE),
            (9, code::UNKNOWN_WORD),
            (11, code::OUT_OF_RANGE),
            (13, code::OUT_OF_RANGE),
        ]
    );
    assert_eq!(render(&crate::scenario::Diagnostics(found), false).matches("error[").count(), 9);
}

#[test]
fn syntax_errors_are_reported_once_a_line() {
    let found = mistakes_of(load("version = 1\nmodel = opus\nseed = 01 02\ntitle = \"x\"\n"));
    let lines: Vec<usize> = found.iter().map(|m| m.line).collect();
    assert_eq!(lines, [2, 3]);
    assert!(found.iter().all(|m| m.code == code::SYNTAX));
}

#[test]
fn a_flood_of_mistakes_is_cut() {
    let keys: String = (0..1000).map(|n| format!("key{n} = 1\n")).collect();
    assert_eq!(mistakes_of(load(&minimal(&keys))).len(), 100);
    let junk: String = (0..1000).map(|n| format!("key{n} = junk\n")).collect();
    assert_eq!(mistakes_of(load(&junk)).len(), 20);
}

#[test]
fn overrides_are_named_as_the_place_of_their_mistakes() {
    let text = minimal("");
    let found = |overrides: &[(&str, &str)]| {
        let read = load_in(text.as_bytes(), overrides, std::path::Path::new(""), None);
        let mut found = mistakes_of(read);
        assert_eq!(found.len(), 1, "{found:#?}");
        found.remove(0)
    };
    let mistake = found(&[("seed", "3"), ("fork.children", "-3")]);
    assert_eq!((mistake.source.label.as_str(), mistake.code), ("--set", code::OUT_OF_RANGE));
    assert_eq!((mistake.line, mistake.column, mistake.value.as_deref()), (1, 15, Some("-3")));
    assert_eq!(mistake.key.as_deref(), Some("fork.children"));
    let shown = render(&crate::scenario::Diagnostics(vec![mistake]), false);
    assert!(shown.contains("--set:1:15") && shown.contains("fork.children=-3"), "{shown}");
    let mistake = found(&[("fork.childen", "3")]);
    assert_eq!((mistake.code, mistake.column), (code::UNKNOWN_KEY, 6));
    assert!(mistake.help.contains("`children`"));
    let mistake = found(&[("fork.directive.texts", "[\"a\"]")]);
    assert_eq!((mistake.code, mistake.source.label.as_str()), (code::CONFLICT, "--set"));
    for key in ["", "fork..children", "a b", "model.name"] {
        let mistake = found(&[(key, "1")]);
        assert_eq!((mistake.code, mistake.key.as_deref()), (code::OVERRIDE, Some(key)));
        assert!(mistake.help.contains("--set KEY=VALUE"));
    }
    let mistake = found(&[("title", " ")]);
    assert_eq!((mistake.code, mistake.column), (code::EMPTY_VALUE, 7));
}

#[test]
fn errors_print_with_their_place() {
    let Err(error) = load(&minimal("seed = -1")) else { panic!("accepted") };
    let text = error.to_string();
    assert!(text.starts_with("s.toml:6:8: seed must be between 0"), "{text}");
    assert!(matches!(error, LoadError::Diagnostics(_)));
}
