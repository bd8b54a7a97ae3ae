//! Whether a session may fork, and how many agents it may start.

use crate::lab::{GOOD, Lab, good_but};

/// The good scenario with lines behind it.
fn with(lines: &str) -> String {
    format!("{GOOD}\n{lines}\n")
}

#[test]
fn each_setting_that_closes_the_gate_is_named_with_its_line() {
    let cases = [
        ("[gate]\nfeature = false", ["gate.feature", "forking is switched off"]),
        ("[gate]\ncoordinator = true", ["gate.coordinator", "and [fork] exclude each other"]),
        ("[gate]\ndenied = true", ["gate.denied", "a permission rule denies Agent(fork)"]),
        (
            "[gate]\nquery_source = \"agent:builtin:fork\"",
            ["gate.query_source", "a fork cannot fork"],
        ),
    ];
    for (lines, words) in cases {
        Lab::new().refuses_scenario(with(lines), &words);
    }
    // Of two reasons the first is named.
    let both = with("[gate]\ncoordinator = true\nfeature = false");
    Lab::new().refuses_scenario(both, &["gate.feature", "set feature = true"]);
}

#[test]
fn a_session_without_a_terminal_forks_today_and_not_in_the_chapter() {
    let lab = Lab::new();
    lab.write("today.toml", with("[gate]\ninteractive = false"));
    lab.run(&["run", "today.toml", "--no-report"]).succeeded();
    let chapter = good_but("[fork]\n", "[fork]\nera = \"chapter\"\n");
    let words = ["gate.interactive", "a session without a terminal does not fork"];
    lab.refuses_scenario(format!("{chapter}\n[gate]\ninteractive = false\n"), &words);
}

/// anthropics/claude-code#68233.
#[test]
fn a_history_that_quotes_the_tag_is_mistaken_by_the_substring_rule() {
    let lab = Lab::new();
    let quoted = r#"[{"role":"user","content":"Why is <fork-boilerplate> in my transcript?"}]"#;
    lab.write("history.json", quoted);
    let history = "version = 1\nmodel = \"claude-opus-5\"\n\
                   parent.history = { file = \"history.json\" }\n\
                   fork.children = 2\nfork.directive = { tokens = 9 }\n";
    lab.write("structural.toml", history);
    lab.run(&["run", "structural.toml", "--no-report"]).succeeded();
    let words = ["parent.history", "messages[0].content[0] holds <fork-boilerplate>", "structural"];
    lab.refuses_scenario(format!("{history}gate.scan = \"substring\"\n"), &words);
    lab.write("history.json", quoted.replace("Why is ", ""));
    lab.refuses_scenario(history, &words);
}

#[test]
fn limits_are_mentioned_and_refuse_where_they_are_enforced() {
    let lab = Lab::new();
    let limits = "[limits]\nat_once = 2";
    lab.write("warned.toml", with(limits));
    let shown = lab.run(&["run", "warned.toml", "--no-report", "--json"]).succeeded().json();
    let findings = shown["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["id"] == "limit_exceeded").unwrap();
    assert_eq!(found["text"], "Limits of the session: 3 agents at once, and 2 are allowed.");
    let enforced = with(&format!("{limits}\nenforce = true"));
    let words = ["fork.children", "3 agents at once, and 2 are allowed", "in waves"];
    lab.refuses_scenario(&enforced, &words);
    lab.write("waves.toml", &enforced);
    let sets = ["--set", "schedule.order=waves", "--set", "schedule.wave_width=2"];
    let args = [&["run", "waves.toml", "--no-report"][..], &sets].concat();
    lab.run(&args).succeeded();
}

#[test]
fn nothing_to_inherit_and_results_that_nobody_gives_are_contradictions() {
    let excised = good_but("[fork]\n", "[fork]\nclone = \"excise\"\n");
    let words = ["fork.placeholder has no effect", "fork.clone = \"excise\"", "delete it"];
    Lab::new().refuses_scenario(excised, &words);
    let lab = Lab::new();
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"Agent","input":{}}"#;
    lab.write("history.json", format!(r#"[{{"role":"assistant","content":[{call}]}}]"#));
    let alone = "version = 1\nmodel = \"claude-opus-5\"\n\
                 parent.history = { file = \"history.json\" }\n\
                 fork.children = 1\nfork.clone = \"excise\"\nfork.directive = { tokens = 9 }\n";
    lab.refuses_scenario(alone, &["fork.clone", "no message is left", "parent.history"]);
}
