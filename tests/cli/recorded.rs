//! Files that a scenario names: recorded bodies that the API would refuse, and files that are none.

use crate::lab::Lab;

const USER: &str = r#"{"role":"user","content":"hi"}"#;

fn lab_for(file: &str, bytes: impl AsRef<[u8]>) -> Lab {
    let lab = Lab::new();
    lab.write(file, bytes);
    lab.write(
        "x.toml",
        format!(
            "version = 1\n[parent]\nrequest = \"{file}\"\n[fork]\nchildren = 2\n\
             directive = {{ texts = [\"a\", \"b\"] }}\n"
        ),
    );
    lab
}

fn body(messages: &[&str]) -> String {
    let messages = messages.join(",");
    format!("{{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"messages\":[{messages}]}}")
}

fn call(id: &str) -> String {
    format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"x\",\"input\":{{}}}}")
}

fn result(id: &str) -> String {
    format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"ok\"}}")
}

fn text(text: &str, marker: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":\"{text}\"{marker}}}")
}

fn message(role: &str, blocks: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"content\":[{}]}}", blocks.join(","))
}

const FIVE_MINUTES: &str = r#","cache_control":{"type":"ephemeral"}"#;
const ONE_HOUR: &str = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;

#[track_caller]
fn refused(messages: &[&str], words: &[&str]) {
    let lab = lab_for("body.json", body(messages));
    lab.refuses(&["run", "x.toml"], 2, words);
    lab.refuses(&["build", "x.toml"], 2, words);
}

#[test]
fn a_good_body_runs() {
    let lab = lab_for("body.json", body(&[USER]));
    lab.run(&["run", "x.toml", "--no-report"]).succeeded();
}

#[test]
fn duplicate_call_ids_are_refused_with_their_place() {
    let calls = message("assistant", &[call("a"), call("a")]);
    let results = message("user", &[result("a"), result("a")]);
    let words = ["/messages/1/content/1", "`a` stands twice", "400"];
    refused(&[USER, &calls, &results], &words);
}

#[test]
fn a_fifth_marker_is_refused() {
    let blocks: Vec<String> = (0..5).map(|index| text(&index.to_string(), FIVE_MINUTES)).collect();
    refused(&[&message("user", &blocks)], &["5 cache markers, at most 4 are allowed"]);
}

#[test]
fn an_hour_behind_five_minutes_is_refused() {
    let blocks = [text("a", FIVE_MINUTES), text("b", ONE_HOUR)];
    refused(&[&message("user", &blocks)], &["/messages/0/content/1/cache_control", "one-hour"]);
}

#[test]
fn a_text_before_the_results_is_refused() {
    let calls = message("assistant", &[call("a")]);
    let answer = message("user", &[text("first", ""), result("a")]);
    let words = ["/messages/2/content/1", "results must stand before all other content"];
    refused(&[USER, &calls, &answer], &words);
}

#[test]
fn a_call_without_its_result_is_refused() {
    let calls = message("assistant", &[call("a")]);
    refused(&[USER, &calls, USER], &["/messages/", "`a`"]);
}

#[test]
fn a_missing_file_says_where_paths_start() {
    let lab = lab_for("body.json", body(&[USER]));
    std::fs::remove_file(lab.path("body.json")).unwrap();
    let words = ["F0301", "body.json does not exist", "x.toml:3:11"];
    lab.refuses(&["run", "x.toml"], 2, &words);
}

#[test]
fn empty_binary_and_truncated_files_are_told_apart() {
    let whole = body(&[USER]);
    let cases: [(&[u8], [&str; 2]); 4] = [
        (b"", ["F0306", "ends early"]),
        (b"\x7fELF\x02\x01\xff\xfe", ["F0308", "not UTF-8"]),
        (&whole.as_bytes()[..whole.len() / 2], ["F0306", "body.json:1:"]),
        (b"[1, 2]", ["F0307", "no request with messages"]),
    ];
    for (bytes, words) in cases {
        lab_for("body.json", bytes).refuses(&["run", "x.toml"], 2, &words);
    }
}

#[test]
fn a_folder_in_place_of_a_file_is_named() {
    let lab = lab_for("folder/inside.json", body(&[USER]));
    lab.write("x.toml", lab.read("x.toml").replace("folder/inside.json", "folder"));
    lab.refuses(&["run", "x.toml"], 2, &["F0302", "folder is a folder"]);
}

#[test]
fn a_line_of_a_recording_must_be_named_and_exist() {
    let lines = format!("{}\n{}\n", body(&[USER]), body(&[USER]));
    let lab = lab_for("log.jsonl", lines);
    lab.refuses(&["run", "x.toml"], 2, &["F0305", "holds 2 lines", "#N"]);
    let good = lab.read("x.toml");
    for (line, words) in [("3", "no line 3"), ("0", "count from 1")] {
        lab.write("x.toml", good.replace("log.jsonl", &format!("log.jsonl#{line}")));
        lab.refuses(&["run", "x.toml"], 2, &["F0305", words]);
    }
    lab.write("x.toml", good.replace("log.jsonl", "log.jsonl#2"));
    lab.run(&["run", "x.toml", "--no-report"]).succeeded();
}

#[test]
fn the_data_folder_must_be_set_where_it_is_used() {
    let lab = lab_for("x.json", "");
    lab.write("x.toml", lab.read("x.toml").replace("x.json", "${FORKCOST_DATA}/x.json"));
    lab.refuses(&["run", "x.toml"], 2, &["F0309", "FORKCOST_DATA"]);
    lab.write("x.toml", lab.read("x.toml").replace("FORKCOST_DATA", "HOME"));
    lab.refuses(&["run", "x.toml"], 2, &["F0303", "${HOME}"]);
}

#[test]
fn a_scenario_without_the_data_folder_is_skipped_in_a_folder_of_them() {
    let lab = lab_for("all/x.json", "");
    let text = lab.read("x.toml").replace("all/x.json", "${FORKCOST_DATA}/x.json");
    lab.write("all/x.toml", text);
    lab.write("all/good.toml", crate::lab::GOOD);
    let ran = lab.run(&["run", "all", "--no-report"]).succeeded();
    assert!(ran.stderr.contains("x.toml: skipped, FORKCOST_DATA is not set"), "{}", ran.stderr);
    assert!(ran.stdout.contains("good"), "{}", ran.stdout);
}

#[test]
fn an_unknown_model_in_a_body_is_named() {
    let lab = lab_for("body.json", body(&[USER]).replace("claude-opus-5", "claude-nope"));
    lab.refuses(&["run", "x.toml"], 2, &["F0201", "claude-nope", "did you mean"]);
}

#[test]
fn a_body_past_the_size_limit_names_it() {
    let long = format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "x".repeat(33 << 20));
    let lab = lab_for("body.json", body(&[&long]));
    lab.refuses(&["run", "x.toml"], 2, &["at most 33554432 bytes (32 MB)"]);
}

#[test]
fn a_body_past_the_context_window_names_it() {
    let words = "lorem ipsum dolor ".repeat(300_000);
    let long = format!("{{\"role\":\"user\",\"content\":\"{words}\"}}");
    let lab = lab_for("body.json", body(&[&long]));
    lab.refuses(&["run", "x.toml"], 2, &["context window of claude-opus-5 holds 1,000,000"]);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let lab = lab_for("body.json", body(&[&deep]));
    lab.refuses(&["run", "x.toml"], 2, &["F0306", "nested deeper"]);
}

#[test]
fn recorded_bytes_pass_through() {
    let spaced = "{ \"model\" : \"claude-opus-5\",\n  \"messages\":[{\"role\":\"user\",\"content\":\
                  \"caf\\u00e9 \\/ é\"}] ,\t\"max_tokens\": 10, \"x\": 1.10 }";
    let lab = lab_for("body.json", spaced);
    lab.run(&["build", "x.toml", "-o", "bodies"]).succeeded();
    assert_eq!(lab.read("bodies/parent.json"), spaced);
    let child = lab.read("bodies/child-002.json");
    let tail = "] ,\t\"max_tokens\": 10, \"x\": 1.10 }";
    assert!(child.ends_with(tail), "{child}");
}
