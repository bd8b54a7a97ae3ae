//! `forkcost diff`: the verdict as text and as JSON, files and lines, and what is refused.

use crate::lab::{Lab, Ran};

const TEXT: &str = concat!(
    r#"{"model":"claude-opus-5","max_tokens":9,"system":["#,
    r#"{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
    r#""messages":[{"role":"user","content":[{"type":"text","text":"Today is 2026-12-01.","#,
    r#""cache_control":{"type":"ephemeral"}}]}]}"#
);

fn other() -> String {
    TEXT.replace("12-01", "12-02")
}

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("a.json", TEXT);
    lab.write("b.json", other());
    lab.write("grown.json", {
        let more = r#"},{"role":"assistant","content":"Yes."},{"role":"user","content":"Go."}]}"#;
        format!("{}{more}", TEXT.strip_suffix("}]}").unwrap())
    });
    let row = |body: &str| format!("{{\"id\":1,\"request\":{body}}}\n");
    lab.write("rows.jsonl", format!("{}{}{{\"x\":1}}\n", row(TEXT), row(&other())));
    lab
}

fn done(lab: &Lab, args: &[&str]) -> Ran {
    lab.run(args).succeeded()
}

#[test]
fn the_text_says_the_verdict_first_then_place_sides_cause_and_remedy() {
    let ran = done(&lab(), &["diff", "a.json", "b.json"]);
    let expected = "\
break: B keeps 1 of A's 2 blocks and 1 of its 2 entries; 1 divergence
  A  a.json   2 blocks, 2 markers   claude-opus-5
  B  b.json   2 blocks, 2 markers   claude-opus-5
  sent right after A, B reads up to /system/0 (block 1)

1  message_edited  /messages/0/content/0/text, character 18
    A byte    202  Today is 2026-12-01.
    B byte    202  Today is 2026-12-02.
                                     ^
    cause     a text of the user: a date or time differs
    survives  tools and system; the API says messages_changed
    remedy    keep what was sent and append only; what is new goes behind the last message

note  only the last block differs, as between the children of one fork: neither reads the other's
      end, and both read what their parent wrote; compare each with the parent
";
    assert_eq!(ran.stdout, expected);
    // The page on this verb shows the same.
    assert!(include_str!("../../docs/diff.md").contains(expected));
    assert_eq!(ran.stderr, "");
}

#[test]
fn many_divergences_of_one_kind_are_told_by_their_number() {
    let body = |word: &str| {
        let text = |n: usize| format!("{{\"type\":\"text\",\"text\":\"{word} {n}\"}}");
        let blocks: Vec<String> = (0..30).map(text).collect();
        format!("{{\"messages\":[{{\"role\":\"user\",\"content\":[{}]}}]}}", blocks.join(","))
    };
    let lab = Lab::new();
    lab.write("a.json", body("old"));
    lab.write("b.json", body("new"));
    let ran = done(&lab, &["diff", "a.json", "b.json"]);
    assert_eq!(ran.stdout.matches("cause ").count(), 5);
    assert!(ran.stdout.contains("and 25 more (--json lists all): 25 message_edited"));
    let json = done(&lab, &["diff", "--json", "a.json", "b.json"]).json();
    assert_eq!(json["divergences"].as_array().unwrap().len(), 30);
}

#[test]
fn growth_is_no_break() {
    let ran = done(&lab(), &["diff", "a.json", "grown.json", "--check"]);
    assert!(ran.stdout.starts_with("no break: B keeps all 2 blocks of A and appends 2\n"));
    let ran = done(&lab(), &["diff", "a.json", "a.json"]);
    assert!(ran.stdout.starts_with("no break: the prompts are equal, 2 blocks"), "{}", ran.stdout);
}

#[test]
fn json_has_the_documented_shape() {
    let json = done(&lab(), &["diff", "--json", "a.json", "b.json"]).json();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["break"], true);
    assert_eq!(json["first_divergence"]["pointer"], "/messages/0/content/0/text");
    assert_eq!(json["first_divergence"]["char_offset_in_string"], 18);
    assert_eq!(json["api_reason"], "messages_changed");
    let valid = serde_json::json!({"tools": true, "system": true, "messages": false});
    assert_eq!(json["segments_valid"], valid);
    let one = &json["divergences"][0];
    assert_eq!((&one["kind"], &one["segment"]), (&"message_edited".into(), &"messages".into()));
    assert_eq!(one["excerpt_b"]["differs"], "2");
    assert_eq!(one["survives"], valid);
    assert_eq!(json["appended_blocks"], 0);
    assert_eq!(json["ignored"], serde_json::json!([]));

    let json = done(&lab(), &["diff", "--json", "a.json", "grown.json"]).json();
    assert_eq!((&json["break"], &json["appended_blocks"]), (&false.into(), &2.into()));
    assert!(json["first_divergence"].is_null() && json["cause"].is_null());
}

#[test]
fn a_line_of_a_file_and_the_standard_input_are_bodies_too() {
    let lab = lab();
    let ran = done(&lab, &["diff", "rows.jsonl:1", "a.json"]);
    assert!(ran.stdout.starts_with("no break: the prompts are equal"), "{}", ran.stdout);
    let json = done(&lab, &["diff", "--json", "rows.jsonl:1", "rows.jsonl:2"]).json();
    let first = &json["first_divergence"];
    let rows = lab.read("rows.jsonl");
    for (key, from) in [("byte_a", 0), ("byte_b", rows.find('\n').unwrap())] {
        let byte = usize::try_from(first[key].as_u64().unwrap()).unwrap();
        let expected = from + rows[from..].find("2026-12-0").unwrap() + "2026-12-0".len();
        assert_eq!(byte, expected, "{key}");
    }
    let ran = lab.run_on(&["diff", "-", "b.json"], TEXT.as_bytes()).succeeded();
    assert!(ran.stdout.contains("  A  stdin "), "{}", ran.stdout);
    // A file of that very name comes first.
    lab.write("rows.jsonl:1", other());
    let ran = done(&lab, &["diff", "rows.jsonl:1", "b.json"]);
    assert!(ran.stdout.starts_with("no break: the prompts are equal"), "{}", ran.stdout);
}

#[test]
fn what_build_writes_can_be_compared() {
    let lab = Lab::with_good();
    let built = done(&lab, &["build", "good.toml"]);
    lab.write("bodies.jsonl", built.stdout);
    let json = done(&lab, &["diff", "--json", "bodies.jsonl:1", "bodies.jsonl:2"]).json();
    // A child appends to what its parent wrote.
    assert_eq!((&json["break"], &json["divergences"]), (&false.into(), &serde_json::json!([])));
    let json = done(&lab, &["diff", "--json", "bodies.jsonl:2", "bodies.jsonl:3"]).json();
    assert_eq!(json["divergences"].as_array().unwrap().len(), 1);
    assert!(json["notes"][0].as_str().unwrap().contains("children of one fork"));
}

#[test]
fn the_check_ends_with_one_where_there_is_a_break() {
    let lab = lab();
    let ran = lab.run(&["diff", "a.json", "b.json", "--check"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("break: ") && ran.stderr.contains("no break"));
}

#[test]
fn rules_can_be_changed() {
    let lab = lab();
    let billed = |line: &str| {
        let block =
            format!("{{\"type\":\"text\",\"text\":\"x-anthropic-billing-header: {line}\"}},");
        TEXT.replace("\"system\":[", &format!("\"system\":[{block}"))
    };
    lab.write("one.json", billed("1"));
    lab.write("two.json", billed("2"));
    let ran = done(&lab, &["diff", "one.json", "two.json", "--check"]);
    assert!(ran.stdout.contains("never matters: billing_line"), "{}", ran.stdout);
    let args = ["diff", "one.json", "two.json", "--rules", "hash_billing_line=true"];
    assert!(done(&lab, &args).stdout.starts_with("break: B keeps none of A's 3 blocks"));
    lab.refuses(&["diff", "one.json", "two.json", "--rules", "lookback=0"], 2, &["lookback", "1"]);
    lab.refuses(&["diff", "one.json", "two.json", "--rules", "x=1"], 2, &["`x`"]);
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let lab = lab();
    lab.write("empty.json", "\n");
    lab.write("broken.json", "{\n  \"model\": }");
    lab.write("config.json", "{\"tools\":[],\"temperature\":1}");
    let refused = |a: &str, words: &[&str]| lab.refuses(&["diff", a, "b.json"], 2, words);
    refused("empty.json", &["empty.json", "empty"]);
    refused("broken.json", &["broken.json:2:12", "not JSON"]);
    refused("config.json", &["config.json", "`messages`", "`tools`, `temperature`", "help"]);
    refused("rows.jsonl", &["rows.jsonl:2:1", "FILE:LINE"]);
    refused("rows.jsonl:3", &["rows.jsonl:3", "`x`"]);
    refused("rows.jsonl:9", &["rows.jsonl:9", "the file has 3 lines"]);
    refused("rows.jsonl:0", &["counted from 1"]);
    lab.refuses(&["diff", "-", "-"], 2, &["standard input"]);
    lab.refuses(&["diff", "none.json", "b.json"], 3, &["none.json"]);
}

#[test]
fn a_line_of_the_standard_input_and_a_line_behind_a_number_sign() {
    let lab = lab();
    let rows = lab.read("rows.jsonl");
    for (place, equal) in [("-:1", "a.json"), ("-:2", "b.json"), ("-#2", "b.json")] {
        for args in [["diff", "--check", place, equal], ["diff", place, equal, "--check"]] {
            let ran = lab.run_on(&args, rows.as_bytes()).succeeded();
            assert!(ran.stdout.starts_with("no break: the prompts are equal"), "{}", ran.stdout);
        }
    }
    let ran = done(&lab, &["diff", "rows.jsonl#2", "rows.jsonl:2"]);
    assert!(ran.stdout.starts_with("no break: the prompts are equal"), "{}", ran.stdout);
    lab.refuses(&["diff", "rows.jsonl#9", "b.json"], 2, &["the file has 3 lines"]);
    lab.refuses(&["diff", "--chek", "a.json", "b.json"], 2, &["--chek"]);
    lab.refuses(&["diff", "--chek", "b.json"], 2, &["--chek", "no such option"]);
    lab.refuses(&["diff", "-:1", "-:2"], 2, &["standard input"]);
}

#[test]
fn bodies_of_other_apis_are_refused() {
    let lab = lab();
    lab.write("converse.json", r#"{"messages":[{"role":"user","content":[{"text":"x"}]}]}"#);
    let tool = r#"{"type":"function","function":{"name":"a","parameters":{}}}"#;
    lab.write("chat.json", format!("{{\"messages\":[],\"tools\":[{tool}]}}"));
    let words = ["Bedrock's Converse API", "give the Messages API body", "/messages/0/content/0"];
    lab.refuses(&["diff", "converse.json", "b.json"], 2, &words);
    lab.refuses(&["diff", "a.json", "chat.json"], 2, &["chat.json: /tools/0", "OpenAI"]);
}

#[test]
fn nothing_is_said_of_reads_where_the_api_refuses_the_markers() {
    let lab = lab();
    let hour = r#""cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}"#;
    let end = r#""cache_control":{"type":"ephemeral"}}]}]}"#;
    lab.write("hour.json", TEXT.replace(end, hour));
    let ran = done(&lab, &["diff", "a.json", "hour.json"]);
    assert!(!ran.stdout.contains("reads up to"), "{}", ran.stdout);
    assert!(ran.stdout.contains("note  the API refuses this request (B, "), "{}", ran.stdout);
}
