//! Mistakes in scenario files: each names the place, what is allowed and what to do.

use crate::lab::{GOOD, Lab, good_but};

#[test]
fn a_mistyped_key_is_named_with_the_nearest_one() {
    let text = good_but("children      = 3", "childern      = 3");
    let words = ["F0101", "unknown key fork.childern", "did you mean `children`", "bad.toml:15:1"];
    Lab::new().refuses_scenario(text, &words);
}

#[test]
fn an_unknown_table_is_named() {
    let text = format!("{GOOD}\n[schedul]\norder = \"waves\"\n");
    Lab::new().refuses_scenario(text, &["F0101", "schedul", "did you mean `schedule`"]);
}

#[test]
fn a_wrong_type_says_what_is_wanted() {
    let text = good_but("{ tokens = 60 }", "{ tokens = \"sixty\" }");
    let words = ["F0103", "fork.directive.tokens must be a whole number, got text"];
    Lab::new().refuses_scenario(text, &words);
    let text = good_but("[schedule]\norder = \"simultaneous\"", "schedule = 4");
    Lab::new().refuses_scenario(text, &["fork.schedule"]);
}

#[test]
fn a_negative_size_names_the_range() {
    let text = good_but("{ tokens = 60 }", "{ tokens = -3 }");
    Lab::new().refuses_scenario(text, &["F0102", "between 1 and 20,000,000, got -3"]);
}

#[test]
fn a_huge_size_names_the_range() {
    for size in ["20000001", "9223372036854775807", "99999999999999999999999999"] {
        let text = good_but("{ tokens = 60 }", &format!("{{ tokens = {size} }}"));
        Lab::new().refuses_scenario(text, &["F0102", "20,000,000", size]);
    }
}

#[test]
fn an_unknown_model_gets_the_nearest_names() {
    let text = good_but("claude-opus-5", "claude-opsu-5");
    let words = ["F0201", "claude-opsu-5", "did you mean claude-opus-5", "bad.toml:3:13"];
    Lab::new().refuses_scenario(text, &words);
}

#[test]
fn an_unknown_word_gets_the_allowed_ones() {
    let text = good_but("\"simultaneous\"", "\"at_once\"");
    Lab::new().refuses_scenario(text, &["F0105", "schedule.order", "simultaneous", "prewarm"]);
}

#[test]
fn several_mistakes_are_reported_together() {
    let text = good_but("children      = 3", "children = 0").replace("age_s = 40", "age_s = -1");
    Lab::new().refuses_scenario(text, &["fork.children", "parent.cache.age_s"]);
}

#[test]
fn no_children_are_refused() {
    let text = good_but("children      = 3", "children = 0");
    Lab::new().refuses_scenario(text, &["F0102", "between 1 and 100,000, got 0"]);
}

#[test]
fn a_hundred_thousand_children_are_refused_by_the_context_window() {
    let text = good_but("children      = 3", "children = 100000");
    let words = ["F0401", "context window of claude-opus-5 is 1,000,000", "children fit"];
    Lab::new().refuses_scenario(text, &words);
    let text = good_but("children      = 3", "children = 100001");
    Lab::new().refuses_scenario(text, &["F0102", "100,000, got 100001"]);
}

#[test]
fn a_history_past_the_context_window_names_the_limit() {
    let text = good_but("tokens = 3000, turns = 3", "tokens = 1000000");
    Lab::new().refuses_scenario(text, &["F0401", "parent.history", "1,000,000"]);
}

#[test]
fn an_hour_behind_five_minutes_is_refused() {
    let text = good_but("\"cc_tail\"", "\"cc_tail\"\nttl = \"1h\"");
    Lab::new().refuses_scenario(text, &["F0107", "1h marker behind a 5m marker"]);
}

#[test]
fn five_markers_are_refused() {
    let markers = "markers = [\"tools.last\", \"system.0\", \"system.1\", \"parent_end\", \
                   \"directive\"]";
    let text = good_but("marker_policy = \"cc_tail\"", markers);
    Lab::new().refuses_scenario(text, &["fork.markers", "4"]);
}

/// What shows only when the requests are built has a place and a remedy all the same.
#[test]
fn late_mistakes_name_their_key_and_place() {
    let text = good_but("marker_policy = \"cc_tail\"", "markers = [\"system.9\"]");
    let line = text.lines().position(|line| line.starts_with("markers")).unwrap() + 1;
    let place = format!("bad.toml:{line}:11");
    let words = ["F0501", "fork.markers", "system.9", "2 system blocks", place.as_str(), "help:"];
    Lab::new().refuses_scenario(text, &words);
}

#[test]
fn a_wrong_version_is_refused() {
    let text = good_but("version   = 1", "version = 2");
    Lab::new().refuses_scenario(text, &["F0112", "version"]);
}

#[test]
fn broken_toml_names_line_and_column() {
    let text = &GOOD[..GOOD.find("tokens = 3000").unwrap() + 9];
    Lab::new().refuses_scenario(text, &["F0005", "not TOML", "bad.toml:10:"]);
}

#[test]
fn the_same_key_twice_is_refused() {
    let text = good_but("seed      = 7", "seed = 7\nseed = 8");
    Lab::new().refuses_scenario(text, &["F0005", "duplicate"]);
}

#[test]
fn an_expectation_that_does_not_hold_is_exit_code_one() {
    let lab = Lab::new();
    lab.write("wrong.toml", format!("{GOOD}\n[expect]\n\"totals.requests\" = 4\n"));
    let ran = lab.run(&["run", "wrong.toml", "--no-report"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("totals.requests is 3, expected 4"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 expectation not met"), "{}", ran.stderr);
    let changed = ["run", "wrong.toml", "--no-report", "--set", "seed=8"];
    lab.run(&changed).succeeded();
}

#[test]
fn overrides_change_values_and_report_their_own_mistakes() {
    let lab = Lab::with_good();
    let set = |value: &str| lab.run(&["run", "good.toml", "--no-report", "--json", "--set", value]);
    assert_eq!(set("fork.children=8").succeeded().json()["children"], 8);
    let text = set("fork.marker_policy=before_directive").succeeded();
    assert_eq!(text.json()["marker_policy"], "before_directive");
    set("fork.children=0").failed(2, &["--set:1:15", "F0102"]);
    set("fork.childern=4").failed(2, &["F0101", "did you mean"]);
    set("children").failed(2, &["KEY=VALUE expected"]);
    set("=4").failed(2, &["KEY=VALUE expected"]);
    set("fork..children=4").failed(2, &["--set"]);
    set("title.x=4").failed(2, &["F0007"]);
}
