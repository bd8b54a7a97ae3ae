//! `count` and `calibrate`: what they print, and what they refuse.

use std::path::Path;

use serde_json::{Value, json};

use crate::lab::Lab;

fn request() -> Value {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "Be brief.",
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "Count to three."}]})
}

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("text.txt", "hello, world");
    lab.write("request.json", request().to_string());
    lab
}

/// A document's console blocks that hold these verbs, each command with what it prints.
fn consoles(document: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks
        .map(|block| {
            let (command, printed) = block.split_once('\n').unwrap();
            (command.trim_start_matches("$ ").to_owned(), printed.to_owned())
        })
        .collect()
}

#[test]
fn the_document_shows_what_the_commands_print() {
    let shown = consoles("docs/count.md");
    assert_eq!(shown.len(), 2);
    for (command, printed) in shown {
        let args: Vec<&str> = command.split(' ').skip(1).collect();
        let mut command = Lab::new().command(&args);
        let ran = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), printed, "{args:?}");
    }
}

#[test]
fn a_text_has_the_known_counts_of_every_family() {
    let lab = lab();
    let found = lab.run(&["count", "text.txt", "--families", "all", "--json"]).succeeded().json();
    let total = |name: &str| {
        let all = found["families"].as_array().unwrap();
        let one = all.iter().find(|one| one["family"] == name).unwrap();
        (one["total"].as_u64().unwrap(), one["as_message"].as_u64())
    };
    // The messages are ctok's counts; docs/claude-tokens.md has them.
    assert_eq!(total("claude-v3").1, Some(10));
    assert_eq!(total("claude-v4.7").1, Some(15));
    assert_eq!(total("claude-v4.8").1, Some(10));
    assert_eq!(total("o200k_base"), (3, None));
    assert_eq!(found["exactness"], "exact");
    assert_eq!(found["family"], "claude-v4.8");
}

#[test]
fn a_request_is_counted_by_block_section_and_total() {
    let lab = lab();
    let found = lab.run(&["count", "request.json", "--json"]).succeeded().json();
    assert_eq!(
        (&found["family"], &found["model"]),
        (&json!("claude-v3"), &json!("claude-sonnet-4-5"))
    );
    let sum = |list: &str| -> u64 {
        found[list].as_array().unwrap().iter().map(|one| one["tokens"].as_u64().unwrap()).sum()
    };
    assert_eq!(Some(sum("sections")), found["total"].as_u64());
    let pointers: Vec<&str> = found["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(pointers, ["/tools/0", "/system", "/messages/0/content"]);
    // Both parts of the hidden prompt are named, and make up what the provider's page states less
    // the wrapper that is counted as text.
    let hidden: u64 = found["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|block| block["extras"].as_array().unwrap())
        .filter(|extra| extra["kind"].as_str().unwrap().ends_with("prompt"))
        .map(|extra| extra["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(hidden, 496 - 7);
    let other = lab.run(&["count", "request.json", "--json", "--model", "claude-opus-5"]);
    assert_eq!(other.succeeded().json()["family"], "claude-v4.8");
    let text = lab.run(&["count", "request.json", "--as", "text", "--json"]).succeeded().json();
    assert!(text["sections"].as_array().unwrap().is_empty());
}

#[test]
fn lines_files_and_the_standard_input_agree() {
    let lab = lab();
    let from_file = lab.run(&["count", "text.txt", "--json"]).succeeded().json();
    let from_input = lab.run_on(&["count", "--json"], b"hello, world").succeeded().json();
    assert_eq!(from_file["total"], from_input["total"]);
    let lines = format!("\"hello, world\"\n\n{}\n\"\"", request());
    let printed = lab.run_on(&["count", "--each-line"], lines.as_bytes()).succeeded().stdout;
    let rows: Vec<Value> = printed.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["claude-v4.8"]["total"], from_file["total"]);
    let whole = lab.run(&["count", "request.json", "--json"]).succeeded().json();
    assert_eq!(rows[1]["claude-v3"]["total"], whole["total"]);
    assert_eq!((&rows[1]["line"], &rows[2]["claude-v4.8"]["total"]), (&json!(3), &json!(0)));
}

#[test]
fn a_text_that_is_counted_in_parts_has_the_count_of_the_whole() {
    let lab = lab();
    let line = "It's 12 lines; ünïcode \u{6587}\u{5b57} here.\n  indented\n";
    let part = line.repeat(1_000);
    // Longer than what is held whole.
    let text = part.repeat((70 << 20) / part.len());
    lab.write("long.txt", &text);
    let once = lab.run_on(&["count", "--as", "text", "--json"], part.as_bytes()).succeeded().json();
    let all = lab.run(&["count", "long.txt", "--json"]).succeeded().json();
    let copies = (text.len() / part.len()) as u64;
    assert_eq!(all["total"], once["total"].as_u64().unwrap() * copies);
    assert_eq!(all["bytes"], text.len() as u64);
}

#[test]
fn bad_input_is_refused_with_what_is_allowed() {
    let lab = lab();
    lab.write("bytes.bin", b"abc\xff\xfe");
    lab.write("no-request.json", r#"{"messages": []}"#);
    for (args, words) in [
        (vec!["count", "text.txt", "--tokenizer", "gpt2"], ["`gpt2`", "claude-v4.8"]),
        (vec!["count", "text.txt", "--model", "claude-9"], ["claude-9", "known are claude-"]),
        (vec!["count", "bytes.bin"], ["not UTF-8 at byte 3", "UTF-8"]),
        (vec!["count", "text.txt", "--as", "request"], ["text.txt", "`messages`"]),
        (vec!["count", "no-request.json", "--as", "request"], ["`messages`", "body"]),
    ] {
        let ran = lab.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        for word in words {
            assert!(ran.stderr.contains(word), "{args:?}: {}", ran.stderr);
        }
    }
    assert_eq!(lab.run(&["count", "absent.txt"]).code, Some(3));
    let ran = lab.run_on(&["count", "--each-line"], b"\"a\"\n{\"x\": 1}\n");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("standard input:2"), "{}", ran.stderr);
}

#[test]
fn what_looks_like_a_request_is_never_taken_for_text() {
    let lab = lab();
    let whole = request().to_string();
    let row = format!("{{\"request\": {whole}, \"usage\": {{}}}}");
    for text in [
        whole[..whole.len() - 1].to_owned(),
        format!("{whole} and more"),
        format!("\u{feff}{whole}"),
        r#"{"model": "claude-opus-5", "messages": []}"#.to_owned(),
        r#"{"model": "gpt-5", "input": "hello"}"#.to_owned(),
        row,
    ] {
        lab.write("odd.json", &text);
        let ran = lab.refuses(&["count", "odd.json"], 2, &["looks like a request", "--as text"]);
        assert_eq!(ran.stdout, "");
        lab.run(&["count", "odd.json", "--as", "text"]).succeeded();
    }
    // Other JSON is a text like any other.
    lab.write("other.json", "{\"name\": \"a model of words\"}");
    lab.run(&["count", "other.json"]).succeeded();
}

#[test]
fn shapes_that_the_api_does_not_know_are_named_and_never_exact() {
    let with = |key: &str, value: Value| {
        let mut body = json!({"model": "claude-sonnet-4", "messages": [
            {"role": "user", "content": "hello"}]});
        body[key] = value;
        body
    };
    for (body, place) in [
        (with("messages", json!([1])), "/messages/0"),
        (with("messages", json!([{"role": "user", "content": {"text": "x"}}])), "content"),
        (with("messages", json!([{"role": "user"}])), "/messages/0/content"),
        (with("messages", json!([{"role": "robot", "content": "x"}])), "/messages/0"),
        (
            with("messages", json!([{"role": "user", "content": [{"type": "text", "text": 3}]}])),
            "0",
        ),
        (with("system", json!(["abc"])), "/system"),
        (with("tools", json!({"a": 1})), "/tools"),
        (with("tool_choice", json!({"type": "zebra"})), "/tool_choice"),
        (with("model", json!("claude-opus-99")), "model claude-opus-99"),
    ] {
        let args = ["count", "--json", "--as", "request"];
        let ran = Lab::new().run_on(&args, body.to_string().as_bytes()).succeeded().json();
        assert_eq!(ran["exactness"], "estimated", "{body}");
        let named = ran["unmodelled"].as_array().unwrap();
        assert!(named.iter().any(|name| name.as_str().unwrap().contains(place)), "{body}: {ran}");
    }
}

#[test]
fn data_in_a_request_is_not_counted_as_text() {
    let data = "QUJD".repeat(100_000);
    let image = json!({"model": "anthropic/claude-haiku-4.5", "messages": [{"role": "user",
        "content": [{"type": "image_url", "image_url": {"url":
            format!("data:image/png;base64,{data}")}}]}]});
    let video = json!({"model": "claude-haiku-4-5", "messages": [{"role": "user",
        "content": [{"type": "video", "source": {"type": "base64", "data": data}}]}]});
    for body in [image, video] {
        for tokenizer in ["claude-v3", "claude-v4.8", "o200k_base"] {
            let args = ["count", "--json", "--tokenizer", tokenizer];
            let found = Lab::new().run_on(&args, body.to_string().as_bytes()).succeeded().json();
            assert!(found["total"].as_u64().unwrap() < 3_000, "{found}");
            let is_known = tokenizer == "o200k_base";
            assert!(is_known || found["low"].as_u64() < found["high"].as_u64());
        }
    }
}

#[test]
fn a_timeline_of_a_run_replays_to_its_costs_where_equal_blocks_differ_in_size() {
    let lab = Lab::new();
    lab.write(
        "body.json",
        r#"{"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "hi"}]}"#,
    );
    lab.write(
        "s.toml",
        "version = 1\nparent.request = \"body.json\"\n\
                         fork = { children = 2, directive = { tokens = 50 } }\n",
    );
    let args = ["run", "s.toml", "--no-report", "--json", "--timeline", "t.jsonl"];
    let run = lab.run(&args).succeeded().json();
    let replayed = lab.run(&["replay", "t.jsonl", "--json"]).succeeded().json();
    let children = replayed["requests"].as_array().unwrap().iter();
    let sum =
        |key: &str| -> u64 { children.clone().skip(1).map(|row| row[key].as_u64().unwrap()).sum() };
    for key in ["read", "write_5m", "uncached"] {
        assert_eq!(run["totals"][key], sum(key), "{key}");
    }
    assert!(sum("uncached") > 0);
}

/// Recorded requests whose bills are the counts times three halves.
fn rows(lab: &Lab) -> String {
    let mut rows = String::new();
    for words in [20, 60, 200, 900, 3_000] {
        let text = "word ".repeat(words);
        let body =
            json!({"model": "claude-opus-5", "messages": [{"role": "user", "content": text}]});
        let line = format!("{body}\n");
        let count =
            lab.run_on(&["count", "--json", "--as", "request"], line.as_bytes()).succeeded().json();
        let billed = count["total"].as_u64().unwrap() * 3 / 2;
        let row = json!({"request": body, "usage": {"input_tokens": billed}});
        rows.push_str(&format!("{row}\n"));
    }
    rows
}

#[test]
fn a_calibration_finds_what_bills_have_more_and_a_run_counts_with_it() {
    let lab = lab();
    lab.write("rows.jsonl", rows(&lab));
    let args = ["calibrate", "rows.jsonl", "--out", "found.toml", "--json"];
    let found = lab.run(&args).succeeded().json();
    let correction = &found["corrections"][0];
    assert_eq!(
        (&correction["model"], &correction["class"]),
        (&json!("claude-opus-5"), &json!("text"))
    );
    let factor = correction["factor_ppm"].as_u64().unwrap();
    assert!(factor.abs_diff(1_500_000) < 3_000, "{factor}");
    let all = &found["judged"].as_array().unwrap().iter().find(|one| one["model"] == "").unwrap();
    assert_eq!(all["errors"]["rows"], 5);
    assert!(all["corrected"]["worst_ppm"].as_u64() < all["errors"]["worst_ppm"].as_u64());
    let scenario = "version = 1\nmodel = \"claude-opus-5\"\nparent.history = { tokens = 9000 }\n\
                    fork = { children = 2, directive = { tokens = 50 } }\n";
    lab.write("s.toml", scenario);
    // A parent without tools has the class of the rows.
    let plain = lab.run(&["run", "s.toml", "--no-report", "--json"]).succeeded().json();
    let args = ["run", "s.toml", "--no-report", "--json", "--calibration", "found.toml"];
    let calibrated = lab.run(&args).succeeded().json();
    assert_eq!(calibrated["tokenizer"]["exactness"], "estimated");
    let note = calibrated["tokenizer"]["note"].as_str().unwrap();
    assert!(note.contains("5 recorded requests"), "{note}");
    assert!(!plain["tokenizer"]["note"].as_str().unwrap().contains("corrected"));
    assert_ne!(calibrated["tokenizer"]["name"], plain["tokenizer"]["name"]);
}

#[test]
fn rows_and_calibrations_that_are_none_are_refused_with_their_place() {
    let lab = lab();
    lab.write("bad.jsonl", "{\"request\": {}, \"usage\": {\"input_tokens\": 1}}\nnot json\n");
    lab.write("empty.jsonl", "");
    lab.write("other.toml", "forkcost_calibration = 7\n");
    lab.write(
        "s.toml",
        "version = 1\nmodel = \"claude-opus-5\"\nparent.history = { tokens = 9 }\n\
                         fork = { children = 1, directive = { tokens = 5 } }\n",
    );
    for (args, word) in [
        (vec!["calibrate", "bad.jsonl"], "bad.jsonl:2:"),
        (vec!["calibrate", "empty.jsonl"], "no recorded request"),
        (vec!["calibrate", "bad.jsonl", "--tokenizer", "x"], "`x`"),
        (
            vec!["run", "s.toml", "--no-report", "--calibration", "other.toml"],
            "other.toml:1:24: forkcost_calibration is 7",
        ),
        (
            vec!["run", "s.toml", "--no-report", "--calibration", "bad.jsonl"],
            "bad.jsonl:1:1: not a calibration",
        ),
    ] {
        let ran = lab.run(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(lab.run(&["calibrate", "absent.jsonl"]).code, Some(3));
    // Nothing that is read is written over.
    lab.write("rows.jsonl", rows(&lab));
    let before = lab.read("rows.jsonl");
    lab.refuses(&["calibrate", "rows.jsonl", "--out", "./rows.jsonl"], 2, &["an input"]);
    assert_eq!(lab.read("rows.jsonl"), before);
    let unknown = json!({"usage": {"input_tokens": 5}, "request": {"model": "gpt-4o",
        "messages": [{"role": "user", "content": "x"}]}});
    lab.write("unknown.jsonl", unknown.to_string());
    lab.refuses(&["calibrate", "unknown.jsonl"], 2, &["1 to no model that is known"]);
}
