//! What is accepted, and what it becomes.

use jiff::civil::date;
use proptest::prelude::*;

use super::{good, load, load_in, minimal, tool_count};
use crate::cache::PositionCount;
use crate::request::marker::{MarkerPlace, POLICIES};
use crate::request::{MarkerPolicy, MarkerSpec};
use crate::scenario::{
    BoilerplateSpec, DirectiveSpec, DispatchSize, DispatchSpec, ExpectedValue, FreshSpec,
    HistorySpec, LoadError, Order, ParentCache, ParentPrompt, ParentState, PlaceholderSpec,
    Scenario, Schedule, SystemSpec, ToolsSpec,
};
use crate::tokens::{ClaudeFamily, TokenizerSpec, Vocabulary};
use crate::units::CacheTtl;

const GOLDEN: &str = r#"
version   = 1
title     = "Five children of a warm parent"
model     = "claude-opus-5"
tokenizer = "o200k_base"
seed      = 7

[parent]
tools    = { count = 41, tokens = 12000 }
system   = { tokens = 4000 }
history  = { tokens = 30000, turns = 12 }
dispatch = { tokens_per_call = 400 }
cache    = { state = "warm", age_s = 40, ttl = "5m" }

[fork]
children    = 5
directive   = { tokens = 200 }
boilerplate = "none"
placeholder = { tokens = 100 }
clone       = "full"
marker_policy = "cc_tail"

[schedule]
order = "simultaneous"

[expect]
total_te = "39875.00"
saving_vs_no_cache = "0.8362"
"#;

fn sized(scenario: &Scenario) -> (u64, u64, u64, u64, u64) {
    match scenario.parent.prompt {
        ParentPrompt::Parts {
            tools: ToolsSpec::Sized { count, tokens: tools },
            system: SystemSpec::Sized { tokens: system },
            history: HistorySpec::Sized { tokens: history, turns },
        } => (count, tools, system, history, turns),
        _ => panic!("not sized"),
    }
}

#[test]
fn the_golden_scenario_becomes_what_it_says() {
    let scenario = good(GOLDEN);
    assert_eq!((scenario.name.as_str(), scenario.seed), ("s", 7));
    assert_eq!(scenario.title, "Five children of a warm parent");
    let tokenizer = TokenizerSpec { vocabulary: Vocabulary::O200k, scale_milli: 1000 };
    assert_eq!((scenario.model.id.as_str(), scenario.tokenizer), ("claude-opus-5", tokenizer));
    assert_eq!(sized(&scenario), (41, 12_000, 4_000, 30_000, 12));
    let size = DispatchSize::PerCall(400);
    let dispatch = DispatchSpec { size, thinking_blocks: 0, text_blocks: 0 };
    assert_eq!(scenario.parent.dispatch, dispatch);
    let (state, ttl) = (ParentState::Warm, CacheTtl::FiveMinutes);
    assert_eq!(scenario.parent.cache, ParentCache { state, age_ms: 40_000, ttl });
    assert_eq!(scenario.fork.children, 5);
    assert_eq!(scenario.fork.directive, DirectiveSpec::Sized(200));
    assert_eq!(scenario.fork.boilerplate, BoilerplateSpec::None);
    assert_eq!(scenario.fork.placeholder, PlaceholderSpec::Sized(100));
    assert_eq!(scenario.fork.policy, MarkerPolicy::CcTail);
    let expected: Vec<_> =
        scenario.expect.iter().map(|e| (e.path.as_str(), &e.value, e.line)).collect();
    let text = |text: &str| ExpectedValue::Text(text.to_owned());
    assert_eq!(
        expected,
        [("saving_vs_no_cache", &text("0.8362"), 28), ("total_te", &text("39875.00"), 27)]
    );
}

#[test]
fn absent_keys_take_their_defaults() {
    let scenario = good(&minimal(""));
    assert_eq!((scenario.title.as_str(), scenario.seed), ("s", 1));
    assert_eq!((scenario.date, scenario.tokenizer), (date(2026, 12, 1), scenario.model.tokenizer));
    assert_eq!(scenario.tokenizer.claude_family(), Some(ClaudeFamily::V48));
    assert_eq!(sized(&scenario), (0, 0, 0, 30_000, 12));
    assert_eq!(scenario.parent.dispatch.size, DispatchSize::Natural);
    let (state, ttl) = (ParentState::Warm, CacheTtl::FiveMinutes);
    assert_eq!(scenario.parent.cache, ParentCache { state, age_ms: 30_000, ttl });
    assert_eq!(scenario.fork.boilerplate, BoilerplateSpec::Standard);
    let text = "Fork started \u{2014} processing in background".to_owned();
    assert_eq!(scenario.fork.placeholder, PlaceholderSpec::Text(text));
    assert_eq!(scenario.fork.policy, MarkerPolicy::CcTail);
    assert_eq!(scenario.fork.ttl, CacheTtl::FiveMinutes);
    let order = Order::Simultaneous;
    let schedule = Schedule { order, first_token_latency_ms: 2_000, request_ms: 20_000 };
    assert_eq!(scenario.schedule, schedule);
    assert_eq!(scenario.rules.lookback, 20);
    assert_eq!(scenario.rule_overrides, Vec::<String>::new());
    assert_eq!(scenario.fresh, FreshSpec { prompt_tokens: None, same_type: true });
    assert_eq!(scenario.expect, []);
}

#[test]
fn counts_and_turns_follow_the_tokens() {
    let tools = |tokens: u64| {
        tool_count(&good(&minimal(&format!("parent.tools = {{ tokens = {tokens} }}"))))
    };
    assert_eq!([tools(0), tools(1), tools(300), tools(301)], [0, 1, 1, 2]);
    let turns = |tokens: u64| {
        let text = minimal("").replace("30000", &tokens.to_string());
        sized(&good(&text)).4
    };
    assert_eq!([turns(1), turns(2_499), turns(2_500), turns(100_000)], [0, 0, 1, 40]);
}

#[test]
fn carriage_returns_change_nothing_but_the_bytes() {
    let with_returns = good(&GOLDEN.replace('\n', "\r\n"));
    let without = good(GOLDEN);
    assert_eq!(with_returns.source_hash, without.source_hash);
    assert_eq!(with_returns.expect, without.expect);
    assert_eq!(with_returns.fork, without.fork);
}

#[test]
fn json_says_the_same_as_toml() {
    let text = r#"{"version": 1, "model": "claude-opus-5-latest", "date": "2026-08-01",
        "parent": {"history": {"tokens": 30000}, "cache": {"age_s": 1.5}},
        "fork": {"children": 5, "directive": {"texts": ["\u0061b"]}},
        "expect": {"totals": {"read": 3}, "ok": true}}"#;
    let scenario = good(text);
    let (name, day) = (scenario.model_name.as_str(), scenario.date);
    assert_eq!((name, day), ("claude-opus-5-latest", date(2026, 8, 1)));
    assert_eq!(scenario.model.id, "claude-opus-5");
    assert_eq!(scenario.parent.cache.age_ms, 1_500);
    assert_eq!(scenario.fork.directive, DirectiveSpec::Texts(vec!["ab".to_owned()]));
    assert_eq!(scenario.expect[0].value, ExpectedValue::Bool(true));
    assert_eq!(scenario.expect[1].value, ExpectedValue::Integer(3));
}

#[test]
fn a_date_is_a_date_of_toml_or_text() {
    for written in ["2026-09-01", "\"2026-09-01\""] {
        let text = minimal("").replace("version", &format!("date = {written}\nversion"));
        assert_eq!(good(&text).date, date(2026, 9, 1), "{written}");
    }
}

#[test]
fn every_order_is_read() {
    let order = |text: &str| good(&minimal(&format!("[schedule]\n{text}"))).schedule.order;
    assert_eq!(order("order = \"sequential\""), Order::Sequential);
    assert_eq!(order("order = \"after_first_token\""), Order::AfterFirstToken);
    assert_eq!(order("order = \"waves\"\nwave_width = 2"), Order::Waves { width: 2 });
    assert_eq!(order("order = \"stagger\"\nstagger_s = 0.25"), Order::Stagger { gap_ms: 250 });
    assert_eq!(order("order = \"prewarm\""), Order::Prewarm);
}

#[test]
fn every_policy_and_the_marker_grammar_are_read() {
    for (name, policy) in POLICIES {
        let text = minimal(&format!("fork.marker_policy = \"{name}\""));
        assert_eq!(good(&text).fork.policy, policy);
    }
    let text = minimal("fork.markers = [\"system.1@1h\", \"messages.3.last\", \"directive\"]");
    let spec = |place, ttl| MarkerSpec { place, ttl };
    let expected = MarkerPolicy::Explicit(vec![
        spec(MarkerPlace::System(1), Some(CacheTtl::OneHour)),
        spec(MarkerPlace::MessageLast(3), None),
        spec(MarkerPlace::Directive, None),
    ]);
    assert_eq!(good(&text).fork.policy, expected);
}

#[test]
fn rules_are_overridden_and_listed() {
    let text = minimal("[rules]\nlookback = 3\ncount = \"per_block\"");
    let scenario = good(&text);
    assert_eq!(scenario.rules.lookback, 3);
    assert_eq!(scenario.rules.count, PositionCount::PerBlock);
    assert_eq!(good(&minimal("")).rules.count, PositionCount::CollapseToolRuns);
    assert_eq!(scenario.rule_overrides, ["count = \"per_block\"", "lookback = 3"]);
}

#[test]
fn expected_paths_are_quoted_or_nested() {
    let text = minimal("[expect]\n\"totals.read\" = 5\n[expect.baselines.perfect]\nte = \"1.00\"");
    let expect = good(&text).expect;
    let found: Vec<_> = expect.iter().map(|e| (e.path.as_str(), e.line)).collect();
    assert_eq!(found, [("baselines.perfect.te", 9), ("totals.read", 7)]);
}

#[test]
fn an_expired_entry_is_a_minute_past_its_lifetime() {
    let age =
        |text: &str| good(&minimal(&format!("parent.cache = {{ {text} }}"))).parent.cache.age_ms;
    assert_eq!(age("state = \"expired\""), 360_000);
    assert_eq!(age("state = \"expired\", ttl = \"1h\""), 3_660_000);
    assert_eq!(age("state = \"expired\", age_s = 300"), 300_000);
    assert_eq!(age("state = \"warm\", age_s = 299.999"), 299_999);
    assert_eq!(age("state = \"cold\""), 0);
}

#[test]
fn a_longer_parent_lifetime_may_stand_before_a_shorter_one() {
    let text = minimal("parent.system = { tokens = 100 }\nparent.cache = { ttl = \"1h\" }");
    let scenario = good(&text);
    assert_eq!((scenario.parent.cache.ttl, scenario.fork.ttl.label()), (CacheTtl::OneHour, "5m"));
    // Without a system prompt there is no shorter marker before the longer one.
    assert_eq!(good(&minimal("fork.ttl = \"1h\"")).fork.ttl, CacheTtl::OneHour);
}

#[test]
fn no_tokens_of_tools_or_system_are_none_of_them() {
    let text = minimal("parent.tools = { tokens = 0 }\nparent.system = { tokens = 0 }");
    assert_eq!(sized(&good(&text)), sized(&good(&minimal(""))));
}

fn with(overrides: &[(&str, &str)]) -> Result<Scenario, LoadError> {
    load_in(GOLDEN.as_bytes(), overrides, std::path::Path::new(""), None)
}

#[test]
fn overrides_replace_add_and_fall_back_to_text() {
    let scenario = with(&[
        ("fork.children", "3"),
        ("fork.children", "7"),
        ("model", "claude-opus-5-20260724"),
        ("parent.cache.ttl", "1h"),
        ("date", "2026-08-01"),
        ("fork.directive", "{ texts = [\"a\"] }"),
        ("rules.lookback", "9"),
        ("baselines.fresh.prompt_tokens", "10"),
    ])
    .unwrap_or_else(|error| panic!("{error}"));
    let (children, name) = (scenario.fork.children, scenario.model_name.as_str());
    assert_eq!((children, name), (7, "claude-opus-5-20260724"));
    assert_eq!(scenario.parent.cache.ttl, CacheTtl::OneHour);
    assert_eq!(scenario.date, date(2026, 8, 1));
    assert_eq!(scenario.fork.directive, DirectiveSpec::Texts(vec!["a".to_owned()]));
    assert_eq!((scenario.rules.lookback, scenario.fresh.prompt_tokens), (9, Some(10)));
    assert_eq!(scenario.rule_overrides, ["lookback = 9"]);
    assert_ne!(scenario.source_hash, good(GOLDEN).source_hash);
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let dots = format!("{}a = 1", "a.".repeat(100_000));
    assert!(load(&dots).is_err());
    assert!(load(&format!("a = {}", "[".repeat(100_000))).is_err());
    assert!(load(&format!("{{\"a\":{}", "[".repeat(100_000))).is_err());
    assert!(with(&[(&"a.".repeat(100_000), "1")]).is_err());
}

proptest! {
    /// Whatever stands in a file: no crash, and what is refused names a reason and a place.
    #[test]
    fn no_text_crashes_and_every_refusal_has_a_place(
        at in 0..GOLDEN.len(), cut in 0_usize..30, put in "[ -~\\n\u{e4}\u{2014}]{0,6}"
    ) {
        let mut text = GOLDEN.to_owned();
        text.replace_range(at..(at + cut).min(text.len()), &put);
        if let Err(LoadError::Diagnostics(found)) = load(&text) {
            prop_assert!(!found.0.is_empty());
            for diagnostic in &found.0 {
                prop_assert!(!diagnostic.message.is_empty() && !diagnostic.help.is_empty());
                prop_assert!(diagnostic.line <= text.lines().count() + 1);
                prop_assert!(diagnostic.span.end <= text.len());
            }
            prop_assert!(crate::scenario::render(&found, false).contains("s.toml:"));
        }
    }
}
