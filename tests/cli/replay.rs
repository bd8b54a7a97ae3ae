//! `forkcost replay` as a user meets it.

use std::io::Write;

use crate::lab::Lab;

const HEADER: &str = r#"{"forkcost_timeline":1,"model":"claude-opus-5"}"#;

/// A writer, a reader, and a reader after six minutes.
const REQUESTS: [&str; 3] = [
    concat!(
        r#"{"start_s":0,"first_token_at_s":2,"request":"writer","output_tokens":10,"#,
        r#""blocks":[{"id":"a","tokens":4000,"marker":"5m"}]}"#,
    ),
    concat!(
        r#"{"start_s":60,"first_token_at_s":62,"request":"reader","#,
        r#""blocks":[{"id":"a","tokens":4000,"marker":"5m"}],"#,
        r#""observed":{"read":4000,"write_5m":0,"write_1h":0,"uncached":0}}"#,
    ),
    concat!(
        r#"{"start_s":420,"first_token_at_s":422,"request":"late","#,
        r#""blocks":[{"id":"a","tokens":4000,"marker":"5m"}],"observed":{"read":4000}}"#,
    ),
];

fn timeline(requests: &[&str]) -> String {
    let lines = std::iter::once(HEADER).chain(requests.iter().copied());
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn json(lab: &Lab, args: &[&str]) -> serde_json::Value {
    let mut all = vec!["replay"];
    all.extend(args);
    all.push("--json");
    let ran = lab.run(&all);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn every_request_is_billed_and_compared() {
    let lab = Lab::new();
    lab.write("t.jsonl", timeline(&REQUESTS));
    let all = json(&lab, &["t.jsonl"]);
    let rows = all["requests"].as_array().unwrap();
    let classes = |row: &serde_json::Value| {
        ["read", "write_5m", "write_1h", "uncached", "output"].map(|key| row[key].as_u64().unwrap())
    };
    assert_eq!(classes(&rows[0]), [0, 4_000, 0, 0, 10]);
    assert_eq!(classes(&rows[1]), [4_000, 0, 0, 0, 0]);
    // The read at 60 s gave the entry five more minutes, until 360 s.
    assert_eq!(classes(&rows[2]), [0, 4_000, 0, 0, 0]);
    let reasons: Vec<&str> = rows.iter().map(|row| row["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["first_of_prefix", "hit", "expired"]);
    // 4,000 x 6.25 USD + 10 x 25 USD a million tokens; 4,000 x 0.5 USD.
    assert_eq!(rows[0]["cost_pico_usd"], "25250000000");
    assert_eq!(rows[1]["cost_pico_usd"], "2000000000");
    assert_eq!(rows[1]["agreement"], "exact");
    assert_eq!(rows[2]["agreement"], "unexplained");
    assert_eq!(
        all["agreement"],
        serde_json::json!({
            "observed": 2, "predictable": 2, "exact": 1, "explained": 0, "unexplained": 1,
            "explained_by": {},
        })
    );
    let sum: i128 = rows
        .iter()
        .map(|row| row["cost_pico_usd"].as_str().unwrap().parse::<i128>().unwrap())
        .sum();
    assert_eq!(all["totals"]["cost_pico_usd"], sum.to_string());
}

#[test]
fn the_text_begins_with_what_disagrees_and_check_fails() {
    let lab = Lab::new();
    lab.write("t.jsonl", timeline(&REQUESTS));
    let ran = lab.run(&["replay", "t.jsonl"]);
    assert_eq!(ran.code, Some(0));
    let place = |text: &str| {
        ran.stdout.find(text).unwrap_or_else(|| panic!("{text} not in {}", ran.stdout))
    };
    assert!(place("1 of 2 predictable") < place("line 4 late"));
    assert!(place("line 4 late") < place("as predicted"));
    let checked = lab.run(&["replay", "t.jsonl", "--check"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    lab.write("good.jsonl", timeline(&REQUESTS[..2]));
    assert_eq!(lab.run(&["replay", "good.jsonl", "--check"]).code, Some(0));
}

#[test]
fn order_streams_and_compression_change_nothing() {
    let lab = Lab::new();
    let text = timeline(&REQUESTS);
    lab.write("t.jsonl", &text);
    lab.write("mixed.jsonl", timeline(&[REQUESTS[2], REQUESTS[0], REQUESTS[1]]));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    lab.write("t.jsonl.gz", gzip.finish().unwrap());
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    lab.write("packed", ruzstd::encoding::compress_to_vec(text.as_bytes(), level));
    let rows = |name: &str| {
        let mut all = json(&lab, &[name]);
        for row in all["requests"].as_array_mut().unwrap() {
            row["line"] = serde_json::Value::Null;
        }
        all["requests"].clone()
    };
    let plain = rows("t.jsonl");
    for other in ["mixed.jsonl", "t.jsonl.gz", "packed"] {
        assert_eq!(rows(other), plain, "{other}");
    }
    let piped = lab.run_on(&["replay", "-", "--json"], text.as_bytes());
    let piped: serde_json::Value = serde_json::from_str(&piped.stdout).unwrap();
    assert_eq!(piped["requests"], json(&lab, &["t.jsonl"])["requests"]);
    assert!(json(&lab, &["mixed.jsonl"])["notes"][0].as_str().unwrap().contains("sorted"));
    let strict = lab.run(&["replay", "mixed.jsonl", "--strict"]);
    assert_eq!(strict.code, Some(2));
    assert!(strict.stderr.contains("mixed.jsonl:3:12"), "{}", strict.stderr);
    assert!(strict.stderr.contains("before the request of line 2"), "{}", strict.stderr);
}

#[test]
fn rules_of_the_command_line_win_over_the_header() {
    let lab = Lab::new();
    let header = r#"{"forkcost_timeline":1,"model":"claude-opus-5","rules":{"min_tokens":5000}}"#;
    lab.write("t.jsonl", timeline(&REQUESTS[..2]).replace(HEADER, header));
    let read = |args: &[&str]| json(&lab, args)["totals"]["read"].as_u64().unwrap();
    assert_eq!(read(&["t.jsonl"]), 0);
    assert_eq!(read(&["t.jsonl", "--rules", "min_tokens=1000"]), 4_000);
    for wrong in ["lookback=0", "lookbak=3", "ttl_in_key=maybe", "lookback"] {
        let ran = lab.run(&["replay", "t.jsonl", "--rules", wrong]);
        assert_eq!(ran.code, Some(2), "{wrong}");
        assert!(ran.stderr.contains("--rules"), "{}", ran.stderr);
    }
}

#[test]
fn without_a_model_nothing_has_a_price() {
    let lab = Lab::new();
    let header = r#"{"forkcost_timeline":1}"#;
    lab.write("t.jsonl", timeline(&REQUESTS).replace(HEADER, header));
    let all = json(&lab, &["t.jsonl"]);
    assert!(all["requests"][0]["cost_pico_usd"].is_null());
    assert_eq!(all["totals"]["unpriced_requests"], 3);
    assert!(all["notes"].to_string().contains("--model"), "{}", all["notes"]);
    let named = json(&lab, &["t.jsonl", "--model", "claude-opus-5"]);
    assert_eq!(named["requests"][0]["cost_pico_usd"], "25250000000");
}

#[test]
fn rows_as_csv_are_those_of_the_json() {
    let lab = Lab::new();
    lab.write("t.jsonl", timeline(&REQUESTS));
    let all = json(&lab, &["t.jsonl", "--csv", "rows.csv"]);
    let text = lab.read("rows.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<forkcost::record::RunRecord> =
        reader.deserialize().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), 3);
    for (row, json) in rows.iter().zip(all["requests"].as_array().unwrap()) {
        assert_eq!(row.read, json["read"].as_u64().unwrap());
        assert_eq!(row.reason, json["reason"]);
        assert_eq!(row.plan, "replay");
    }
}

/// What stands behind the two times of a request, the text at which the message points, and words
/// of it.
const BAD: [(&str, &str, &[&str]); 12] = [
    (
        r#""blocks":[{"id":"a","tokens":-5}]"#,
        "-5}",
        &["/blocks/0/tokens", "found -5", "a whole number of tokens from 0"],
    ),
    (r#""blocks":[{"id":"a","tokens":1.5}]"#, "1.5}", &["found 1.5"]),
    (r#""blocks":[{"id":"a","tokens":99999999999999999999}]"#, "99999", &["1000000000000"]),
    (
        r#""blocks":[{"id":"a","tokens":1,"kind":"txt"}]"#,
        r#""txt""#,
        &["/blocks/0/kind", "did you mean `text`", "tool_result"],
    ),
    (r#""blocks":[{"id":"a","tokens":1,"marker":"10m"}]"#, r#""10m""#, &["5m, 1h"]),
    (r#""block":[]"#, r#""block""#, &["unknown key `block`", "did you mean `blocks`"]),
    (r#""blocks":{}"#, "{}}", &["an array of blocks"]),
    (r#""blocks":[7]"#, "7]", &["an object expected"]),
    (r#""blocks":[{"id":7,"tokens":1}]"#, r#"7,"tokens"#, &["stands for the block"]),
    (r#""blocks":[],"params":[7]"#, "[7]", &["/params", "an object"]),
    (r#""blocks":[],"observed":{"reads":1}"#, r#""reads""#, &["did you mean `read`"]),
    (
        r#""blocks":[{"id":"a","tokens":1,"marker":"5m"},{"id":"b","tokens":1,"marker":"1h"}]"#,
        r#""1h""#,
        &["a 1h marker behind a 5m marker"],
    ),
];

/// Whole lines that are no requests.
const BAD_LINES: [(&str, &str, &[&str]); 9] = [
    (
        r#"{"start_s":5,"first_token_at_s":2,"blocks":[]}"#,
        r#"2,"blocks"#,
        &["/first_token_at_s", "earlier than `start_s`"],
    ),
    (r#"{"start_s":0,"blocks":[]}"#, r#"{"start_s"#, &["`first_token_at_s` is missing"]),
    (r#"{"start_s":"0","first_token_at_s":2,"blocks":[]}"#, r#""0""#, &["a number of seconds"]),
    (r#"{"start_s":1e300,"first_token_at_s":1e301,"blocks":[]}"#, "1e300", &["-1e12 to 1e12"]),
    (
        r#"{"start_s":0,"start_s":1,"first_token_at_s":2,"blocks":[]}"#,
        r#""start_s":1"#,
        &["stands twice"],
    ),
    ("[1]", "[1]", &["an object expected"]),
    (r#"{"start_s":0,"#, "", &["not JSON"]),
    ("{\"start_s\":\"\u{0}\"}", "", &["not JSON"]),
    ("nonsense", "nonsense", &["not JSON"]),
];

#[track_caller]
fn refused(lab: &Lab, line: &str, at: &str, words: &[&str]) {
    lab.write("t.jsonl", timeline(&[line]));
    let column = line.find(at).unwrap() + 1;
    let place =
        if at.is_empty() { "t.jsonl:2:".to_owned() } else { format!("t.jsonl:2:{column}:") };
    let ran = lab.run(&["replay", "t.jsonl", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
    for word in words.iter().copied().chain([place.as_str()]) {
        assert!(ran.stderr.contains(word), "{line}: {word} not in {}", ran.stderr);
    }
}

#[test]
fn bad_requests_are_named_with_place_value_and_remedy() {
    let lab = Lab::new();
    for (rest, at, words) in BAD {
        let line = format!(r#"{{"start_s":0,"first_token_at_s":2,{rest}}}"#);
        refused(&lab, &line, at, words);
    }
    for (line, at, words) in BAD_LINES {
        refused(&lab, line, at, words);
    }
}

#[test]
fn an_unknown_model_is_named_with_its_line_and_the_nearest() {
    let lab = Lab::new();
    let line = r#"{"start_s":0,"first_token_at_s":2,"model":"claude-opus-55","blocks":[]}"#;
    lab.write("t.jsonl", timeline(&[line]));
    lab.refuses(&["replay", "t.jsonl"], 2, &["t.jsonl:2:", "claude-opus-55", "claude-opus-5-5"]);
}

#[test]
fn two_sizes_of_one_block_name_both_lines() {
    let lab = Lab::new();
    let block = |tokens| {
        format!(
            r#"{{"start_s":0,"first_token_at_s":2,"blocks":[{{"id":"twice","tokens":{tokens}}}]}}"#
        )
    };
    lab.write("t.jsonl", timeline(&[&block(10), REQUESTS[0], &block(11)]));
    let ran = lab.run(&["replay", "t.jsonl"]);
    assert_eq!(ran.code, Some(2));
    for word in ["t.jsonl:4:", "`twice`", "in line 2", "found 11"] {
        assert!(ran.stderr.contains(word), "{word} not in {}", ran.stderr);
    }
}

#[test]
fn more_markers_than_the_provider_takes_are_refused() {
    let lab = Lab::new();
    let blocks = |count: usize| {
        let block = |n| format!(r#"{{"id":"b{n}","tokens":1,"marker":"5m"}}"#);
        let blocks: Vec<String> = (0..count).map(block).collect();
        format!(r#"{{"start_s":0,"first_token_at_s":2,"blocks":[{}]}}"#, blocks.join(","))
    };
    for count in [5, 100_000] {
        lab.write("t.jsonl", timeline(&[&blocks(count)]));
        let ran = lab.run(&["replay", "t.jsonl"]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(&format!("marker 5 of {count}")), "{}", ran.stderr);
    }
    lab.write("t.jsonl", timeline(&[&blocks(4)]));
    assert_eq!(lab.run(&["replay", "t.jsonl"]).code, Some(0));
}

#[test]
fn files_that_are_no_trace_say_what_is_expected() {
    let lab = Lab::new();
    let head = |rest: &str| format!("{{\"forkcost_timeline\":1,{rest}}}\n");
    let call = |request: &str, rest: &str| format!("{{\"request\":{request},\"usage\":{rest}}}\n");
    let used = "{\"input_tokens\":1}";
    let opus = "\"model\":\"claude-opus-5\"";
    let request = "{\"start_s\":0,\"first_token_at_s\":0,\"blocks\":[]}\n";
    let rule = head("\"rules\":{\"lookback\":0}") + request;
    for (text, words) in [
        (String::new(), "the file is empty"),
        ("{\"a\":1}\n".to_owned(), "neither a timeline nor a recorded call (its keys: a)"),
        ("{\"forkcost_timeline\":2}\n".to_owned(), "version 1"),
        (head("\"modle\":\"x\""), "did you mean `model`"),
        (head("\"rules\":{\"lookbak\":1}"), "did you mean `lookback`"),
        (rule, "from 1 to 1000"),
        (head("\"date\":\"soon\""), "2026-07-24"),
        (call("{}", "3"), "usage"),
        (call("[]", &format!("{used},{opus}")), "request"),
        (call("{\"messages\":[]}", used), "no model"),
        (call("{}", &format!("{{\"input_tokens\":-1}},{opus}")), "input_tokens"),
    ] {
        lab.write("t.jsonl", &text);
        let ran = lab.run(&["replay", "t.jsonl"]);
        assert_eq!(ran.code, Some(2), "{text}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(words), "{text}: {words} not in {}", ran.stderr);
    }
    let missing = lab.run(&["replay", "no-such-file"]);
    assert_eq!(missing.code, Some(3));
    assert!(missing.stderr.contains("no-such-file"), "{}", missing.stderr);
}

#[test]
fn calls_that_cannot_be_played_are_left_out_with_a_note() {
    let lab = Lab::new();
    let call = |rest: &str| {
        let body = r#"{"model":"claude-opus-5","messages":[{"role":"user","content":"x"}]}"#;
        format!("{{\"request\":{body}{rest}}}\n")
    };
    let used = r#","usage":{"input_tokens":9}"#;
    let calls = [
        call(used),
        call(""),
        call(r#","usage":null"#),
        call(&format!(r#"{used},"endpoint":"count_tokens""#)),
        call(&format!(r#"{used},"provider":"openai""#)),
    ];
    lab.write("calls.jsonl", calls.concat());
    let all = json(&lab, &["calls.jsonl"]);
    assert_eq!(all["totals"]["requests"], 1);
    let notes = all["notes"].to_string();
    for words in ["2 calls without usage", "1 call that only asked", "1 call to `openai`"] {
        assert!(notes.contains(words), "{words} not in {notes}");
    }
}

#[cfg(unix)]
#[test]
fn results_go_into_pipes_and_behind_links_and_never_over_the_input() {
    let lab = Lab::new();
    lab.write("t.jsonl", timeline(&REQUESTS));
    lab.write("real.csv", "old");
    std::os::unix::fs::symlink("real.csv", lab.path("link.csv")).unwrap();
    assert_eq!(lab.run(&["replay", "t.jsonl", "--csv", "link.csv"]).code, Some(0));
    assert!(lab.read("real.csv").starts_with("plan,seq,"));
    assert!(lab.path("link.csv").is_symlink());
    // A device takes what is written and stays a device.
    assert_eq!(lab.run(&["replay", "t.jsonl", "--csv", "/dev/null"]).code, Some(0));
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    lab.refuses(&["replay", "t.jsonl", "--csv", "t.jsonl"], 2, &["the trace itself"]);
    assert_eq!(lab.read("t.jsonl"), timeline(&REQUESTS));
    let missing = lab.run(&["replay", "t.jsonl", "--csv", "no/such/folder.csv"]);
    assert_eq!(missing.code, Some(3));
    assert!(!missing.stderr.contains("tmp"), "{}", missing.stderr);
}

#[test]
fn a_check_without_anything_to_compare_is_not_met() {
    let lab = Lab::new();
    lab.write("t.jsonl", timeline(&REQUESTS[..1]));
    assert_eq!(lab.run(&["replay", "t.jsonl", "--check"]).code, Some(1));
}

#[test]
fn a_cut_off_last_line_is_told_apart_from_bad_json() {
    let lab = Lab::new();
    let text = timeline(&REQUESTS);
    lab.write("t.jsonl", &text[..text.len() - 30]);
    let ran = lab.run(&["replay", "t.jsonl"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("t.jsonl:4:") && ran.stderr.contains("ends early"),
        "{}",
        ran.stderr
    );
    // Whole, it may lack its line end.
    lab.write("t.jsonl", text.trim_end());
    assert_eq!(lab.run(&["replay", "t.jsonl"]).code, Some(0));
}

#[test]
fn recorded_calls_learn_sizes_from_writers_only() {
    let lab = Lab::new();
    let call = |time: u32, text: &str, read: u64, written: u64| {
        serde_json::json!({
            "t_request": time, "t_response": time + 5, "model": "claude-opus-5",
            "request": {"model": "claude-opus-5", "max_tokens": 1, "system": [
                {"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}
            ], "messages": [{"role": "user", "content": text}]},
            "usage": {"input_tokens": 7, "output_tokens": 1,
                "cache_read_input_tokens": read, "cache_creation_input_tokens": written},
        })
        .to_string()
    };
    let calls = [call(0, "one", 0, 3_000), call(30, "two", 3_000, 0), call(60, "three", 2_999, 0)];
    lab.write("calls.jsonl", calls.join("\n"));
    let all = json(&lab, &["calls.jsonl"]);
    let agreement: Vec<&str> = all["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["agreement"].as_str().unwrap())
        .collect();
    assert_eq!(agreement, ["exact", "exact", "unexplained"]);
    // Without the writer nothing is learnt, and nothing is claimed.
    lab.write("calls.jsonl", calls[1..].join("\n"));
    let all = json(&lab, &["calls.jsonl"]);
    let explained: Vec<&str> = all["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["explanation"].as_str().unwrap())
        .collect();
    assert_eq!(explained, ["warm_start", "size_not_learnt"]);
}

/// One recorded call: system text, parameters, when, and what was billed as uncached, read and
/// written.
fn recorded(system: &str, parameters: &str, time: u32, billed: [u64; 3]) -> String {
    let [uncached, read, written] = billed;
    let marker = r#""cache_control":{"type":"ephemeral"}"#;
    format!(
        concat!(
            r#"{{"t_request":{0},"t_response":{0},"model":"claude-opus-5","request":{{"#,
            r#""max_tokens":1{1},"system":[{{"type":"text","text":"{2}",{3}}}],"#,
            r#""messages":[{{"role":"user","content":"q"}}]}},"usage":{{"input_tokens":{4},"#,
            r#""cache_read_input_tokens":{5},"cache_creation_input_tokens":{6}}}}}"#,
            "\n"
        ),
        time, parameters, system, marker, uncached, read, written
    )
}

#[test]
fn what_is_explained_cannot_hide_a_wrong_prediction() {
    let lab = Lab::new();
    let choice = r#","tool_choice":{"type":"any"}"#;
    let writer = recorded("rules", "", 0, [5, 0, 4_000]);
    for (second, agreement, explanation) in [
        // As predicted.
        (recorded("rules", "", 10, [5, 4_000, 0]), "exact", None),
        // Nothing was read although it was predicted, or another number.
        (recorded("rules", "", 10, [4_005, 0, 0]), "unexplained", None),
        (recorded("rules", "", 10, [6, 3_999, 0]), "unexplained", None),
        // The read is right, but it was billed as written for another reason.
        (recorded("rules", "", 10, [5, 4_000, 7]), "unexplained", None),
        // Nothing was written although the marker is past the minimum.
        (recorded("other rules", "", 10, [4_005, 0, 0]), "unexplained", None),
        // Other parameters are another cache here, and the reason says so.
        (recorded("rules", choice, 10, [5, 4_000, 0]), "explained", Some("other_parameters")),
        (recorded("new rules", "", 10, [5, 4_000, 0]), "explained", Some("warm_start")),
        // Too short to have been cached at all.
        (recorded("new rules", "", 10, [5, 17, 0]), "unexplained", None),
    ] {
        lab.write("calls.jsonl", format!("{writer}{second}"));
        let all = json(&lab, &["calls.jsonl"]);
        let row = &all["requests"][1];
        assert_eq!(row["agreement"], agreement, "{second}{row}");
        assert_eq!(row["explanation"].as_str(), explanation, "{second}");
    }
}

#[test]
fn a_run_and_the_replay_of_its_timeline_cost_the_same() {
    let lab = Lab::with_good();
    let ran = lab.run(&["run", "good.toml", "-o", "out", "--timeline", "t.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let all = json(&lab, &["t.jsonl"]);
    let text = lab.read("out/records.csv");
    let rows: Vec<forkcost::record::RunRecord> = csv::Reader::from_reader(text.as_bytes())
        .deserialize()
        .map(|row| row.unwrap())
        .filter(|row: &forkcost::record::RunRecord| row.plan == "this_plan")
        .collect();
    let replayed = all["requests"].as_array().unwrap();
    assert_eq!(rows.len(), replayed.len());
    for (row, json) in rows.iter().zip(replayed) {
        let cost = row.input_pico_usd + row.output_pico_usd;
        assert_eq!(json["request"], row.request.as_str());
        assert_eq!(json["cost_pico_usd"], cost.to_string());
        assert_eq!(json["reason"], row.reason.as_str());
        assert_eq!(json["shared_tokens"], row.shared_end);
    }
    let several = lab.run(&["run", "good.toml", "good.toml", "--timeline", "t.jsonl"]);
    assert_eq!(several.code, Some(2));
}
