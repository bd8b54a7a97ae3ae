//! Tokenizers from a file, as users meet them: in a scenario, on the command line, and in what is
//! said where a file is none. Built with the feature `huggingface` only.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::process::Command;

use forkcost::agent::content::{TextKind, text};
use forkcost::tokens::{Tokenizer, TokenizerError, TokenizerSpec};
use serde_json::Value;
use tempfile::TempDir;

/// A token a word or mark.
const WORDS: &str = include_str!("data/words.json");

const SCENARIO: &str = r#"version = 1
model     = "claude-opus-5"
tokenizer = "hf:vocabularies/words.json"

[parent]
tools    = { count = 4, tokens = 1200 }
system   = { tokens = 400 }
history  = { tokens = 3000, turns = 3 }
dispatch = { tokens_per_call = 100 }

[fork]
children    = 3
directive   = { tokens = 60 }
boilerplate = "none"
placeholder = { tokens = 20 }
"#;

/// A folder with the vocabulary and the scenario in it.
struct Lab(TempDir);

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Lab {
    fn new() -> Lab {
        let lab = Lab(tempfile::tempdir().unwrap());
        fs::create_dir(lab.0.path().join("vocabularies")).unwrap();
        lab.write("vocabularies/words.json", WORDS);
        lab.write("fork.toml", SCENARIO);
        lab
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_forkcost"))
            .args(args)
            .current_dir(self.0.path())
            .env("FORKCOST_DATA", self.0.path().join("vocabularies"))
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Ran { code: output.status.code(), stdout, stderr }
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}\n{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    fn refused(&self, args: &[&str], words: &[&str]) {
        let ran = self.run(args);
        assert!(ran.code.is_some_and(|code| code != 0) && ran.stdout.is_empty(), "{args:?}");
        for word in words {
            assert!(ran.stderr.contains(word), "{args:?}: no `{word}` in\n{}", ran.stderr);
        }
    }
}

#[test]
fn a_text_is_counted_by_the_file() {
    let lab = Lab::new();
    lab.write("text.txt", "The cache is read. [CLS]\n");
    let words = ["count", "text.txt", "--json", "--tokenizer"];
    let counted = |tokenizer| lab.json(&[&words[..], &[tokenizer]].concat());
    let exact = counted("hf:vocabularies/words.json");
    assert_eq!((&exact["total"], &exact["exactness"]), (&8.into(), &"exact".into()));
    assert_eq!(exact["family"], "hf:vocabularies/words.json");
    let scaled = counted("hf:vocabularies/words.json*1.5");
    assert_eq!((&scaled["total"], &scaled["exactness"]), (&12.into(), &"estimated".into()));
    let ran = lab.run(&["count", "text.txt", "--tokenizer", "hf:vocabularies/words.json"]);
    assert!(ran.stdout.contains("exact by the rules of hf:vocabularies/words.json"));
}

#[test]
fn a_request_is_counted_by_its_texts_alone_and_estimated() {
    let lab = Lab::new();
    lab.write(
        "body.json",
        r#"{"model": "claude-opus-5", "max_tokens": 5, "system": "The cache.",
            "messages": [{"role": "user", "content": "Is the cache read?"}]}"#,
    );
    let name = "hf:vocabularies/words.json";
    let counted = lab.json(&["count", "body.json", "--json", "--tokenizer", name]);
    assert_eq!((&counted["total"], &counted["exactness"]), (&8.into(), &"estimated".into()));
    let tokens: Vec<&Value> =
        counted["blocks"].as_array().unwrap().iter().map(|block| &block["tokens"]).collect();
    assert_eq!(tokens, [3, 5]);
}

#[test]
fn bills_are_held_to_the_file_and_corrections_find_it_by_what_it_holds() {
    let lab = Lab::new();
    let row = |words: usize| {
        let text = "the cache ".repeat(words / 2);
        let body = format!(
            r#"{{"model": "claude-opus-5", "messages": [{{"role": "user", "content": "{text}"}}]}}"#
        );
        let usage = format!(r#"{{"input_tokens": {}, "output_tokens": 1}}"#, words * 2);
        format!("{{\"request\": {body}, \"usage\": {usage}}}\n")
    };
    lab.write("rows.jsonl", &[10, 20, 40, 80].map(row).concat());
    let name = "hf:vocabularies/words.json";
    let args = ["calibrate", "rows.jsonl", "--tokenizer", name, "--out", "c.toml", "--json"];
    let found = lab.json(&args);
    assert_eq!(found["rows"][1]["family"], name, "{found:#}");
    assert_eq!(
        (&found["rows"][1]["billed"], &found["rows"][1]["counted"]),
        (&40.into(), &20.into())
    );
    let corrections = fs::read_to_string(lab.0.path().join("c.toml")).unwrap();
    assert!(corrections.contains("factor_ppm = 2000000"), "{corrections}");
    assert!(corrections.contains("tokenizer = \"hf:blake3-"), "{corrections}");
    // A scenario without tools is text; the same file has another path from there.
    lab.write(
        "vocabularies/text.toml",
        &SCENARIO
            .replace("vocabularies/", "")
            .replace("tools    = { count = 4, tokens = 1200 }\nsystem   = { tokens = 400 }\n", ""),
    );
    let run = ["run", "vocabularies/text.toml", "--no-report", "--json"];
    let plain = lab.json(&run);
    let corrected = lab.json(&[&run[..], &["--calibration", "c.toml"]].concat());
    let name = |summary: &Value| summary["tokenizer"]["name"].as_str().unwrap().to_owned();
    assert_eq!(
        (name(&plain), name(&corrected)),
        ("hf:words.json".into(), "hf:words.json*2".into())
    );
}

#[test]
fn a_scenario_counts_by_the_file_beside_it() {
    let lab = Lab::new();
    let run =
        |set: &[&str]| lab.json(&[&["run", "fork.toml", "--no-report", "--json"], set].concat());
    let summary = run(&[]);
    assert_eq!(summary["tokenizer"]["name"], "hf:vocabularies/words.json");
    assert_eq!(summary["tokenizer"]["exactness"], "estimated");
    // Of 4,960: parent, a call and a placeholder for each of three children.
    let shared = summary["shared"]["prompt_tokens"].as_u64().unwrap();
    assert!(shared.abs_diff(1_200 + 400 + 3_000 + 3 * (100 + 20)) <= 50, "{shared}");
    // The same file by way of the data folder.
    let other = run(&["--set", "tokenizer=\"hf:${FORKCOST_DATA}/words.json\""]);
    assert_eq!(other["shared"], summary["shared"]);
}

#[test]
fn what_is_wrong_with_a_file_stands_at_its_key() {
    let lab = Lab::new();
    lab.write("broken.json", "{\"version\": \"1.0\",\n  \"model\": }");
    lab.write("other.json", "{\"name\": \"x\"}");
    lab.write("unknown.json", &WORDS.replace("\"[UNK]\": 1, ", ""));
    let cases = [
        ("hf:none.json", "F0301", "none.json does not exist"),
        ("hf:vocabularies", "F0302", "vocabularies is a folder"),
        ("hf:${HOME}/x.json", "F0303", "only ${FORKCOST_DATA} is expanded"),
        ("hf:broken.json", "F0306", "not JSON: expected value (line 2, column 12)"),
        ("hf:other.json", "F0307", "no tokenizer.json that can count: it has no member `model`"),
        ("hf:unknown.json", "F0307", "no tokens for characters that it does not know"),
        ("hf:", "F0202", "no path behind hf:"),
        ("hf:other.json*11", "F0202", "`11` is no factor"),
    ];
    lab.write("text.txt", "x");
    for (name, code, message) in cases {
        lab.write("bad.toml", &SCENARIO.replace("hf:vocabularies/words.json", name));
        let at = format!("error[{code}]: tokenizer");
        let run = ["run", "bad.toml", "--no-report"];
        lab.refused(&run, &[&at, message, "bad.toml:3:13", "help: "]);
        if code != "F0303" && !matches!(code, "F0301" | "F0302") {
            let counted = ["count", "text.txt", "--tokenizer", name];
            lab.refused(&counted, &[message]);
            lab.refused(&["calibrate", "text.txt", "--tokenizer", name], &[message]);
        }
    }
    lab.refused(&["count", "text.txt", "--tokenizer", "hf:none.json"], &["read none.json"]);
}

#[test]
fn a_text_that_would_be_counted_in_parts_is_refused() {
    let lab = Lab::new();
    let file = fs::File::create(lab.0.path().join("long.txt")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let name = "hf:vocabularies/words.json";
    lab.refused(&["count", "long.txt", "--tokenizer", name], &["64 MB", "need not add up"]);
}

/// A token a character: no closing word has one token, so sizes are met by the slack.
#[test]
fn sizes_come_near_where_words_have_many_tokens() {
    let characters: Vec<String> =
        (' '..='~').enumerate().map(|(id, c)| format!("{:?}: {}", c.to_string(), id + 1)).collect();
    let file = format!(
        r#"{{"version": "1.0", "model": {{"type": "BPE", "unk_token": "?", "merges": [],
            "vocab": {{{}, "\n": 99}}}}}}"#,
        characters.join(", ")
    );
    let read = |_: &str| Ok::<_, TokenizerError>(file.clone().into_bytes());
    let spec = TokenizerSpec::parse_with("hf:characters.json", read).unwrap();
    let tokenizer = Tokenizer::new(spec);
    for kind in TextKind::ALL {
        for size in [200, 1_000, 5_000] {
            let made = text(7, "near", kind, size, &tokenizer).unwrap();
            let tokens = tokenizer.count(&made).0;
            assert_eq!(tokens, made.chars().count() as u64);
            assert!(tokens.abs_diff(size) <= size / 100 + 4, "{kind:?} {size}: {tokens}");
        }
    }
}
