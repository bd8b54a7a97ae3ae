//! Comparing each recorded call with the one before it, against what the provider billed.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use forkcost::diff::{Diff, Input, diff};
use forkcost::provider::ALL;
use libtest_mimic::{Arguments, Failed, Trial};

const CAPTURE: &str = "captures/claude_code_1.0.6_conversation1.jsonl";

fn main() {
    let path = std::env::var_os("FORKCOST_DATA").map(|folder| PathBuf::from(folder).join(CAPTURE));
    let present = path.as_ref().is_some_and(|path| path.is_file());
    let trial = Trial::test("no_break_agrees_with_what_was_read", move || {
        agree(&std::fs::read_to_string(path.unwrap_or_default())?)
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial.with_ignored_flag(!present)]).exit();
}

/// A recorded call: its line and what was billed.
struct Call<'a> {
    line: usize,
    text: &'a str,
    start: f64,
    read: u64,
    created: u64,
}

fn calls(text: &str) -> Vec<Call<'_>> {
    let call = |(index, text): (usize, &'_ str)| {
        let row: serde_json::Value = serde_json::from_str(text).unwrap();
        let billed = |key: &str| row["usage"][key].as_u64().unwrap_or(0);
        (
            index + 1,
            row["t_request"].as_f64().unwrap(),
            billed("cache_read_input_tokens"),
            billed("cache_creation_input_tokens"),
        )
    };
    let mut calls: Vec<Call<'_>> = text
        .lines()
        .enumerate()
        .map(|(index, text)| {
            let (line, start, read, created) = call((index, text));
            Call { line, text, start, read, created }
        })
        // The others were not cached: unmarked, or below the minimum.
        .filter(|call| call.read + call.created > 0)
        .collect();
    calls.sort_by(|a, b| a.start.total_cmp(&b.start));
    calls
}

fn compared(a: &Call<'_>, b: &Call<'_>) -> Diff {
    let input = |call: &Call<'_>| {
        let (name, bytes) = (format!("line {}", call.line), call.text.as_bytes().to_vec());
        (name, bytes)
    };
    let ((name_a, bytes_a), (name_b, bytes_b)) = (input(a), input(b));
    let a = Input { name: &name_a, bytes: &bytes_a, line: None, file_byte: 0 };
    let b = Input { name: &name_b, bytes: &bytes_b, line: None, file_byte: 0 };
    diff(a, b, ALL[0], &[]).unwrap()
}

fn agree(text: &str) -> Result<(), Failed> {
    let calls = calls(text);
    let (mut kept, mut broken) = (0, 0);
    for pair in calls.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let diff = compared(a, b);
        // What the earlier call had cached in all is what the later one reads of it.
        let was_read = b.read == a.read + a.created;
        assert_eq!(!diff.is_break, was_read, "lines {} and {}: {diff:#?}", a.line, b.line);
        if diff.is_break {
            assert_eq!((b.line, b.read, diff.api_reason), (35, 0, Some("tools_changed")));
            assert!(!diff.segments_valid.tools && diff.read.is_none());
            broken += 1;
        } else {
            assert!(diff.divergences.is_empty() && diff.appended_blocks > 0, "line {}", b.line);
            let last = diff.entries.last().unwrap();
            assert_eq!(diff.read.unwrap().block, last.block, "line {}", b.line);
            kept += 1;
        }
    }
    assert_eq!((kept, broken), (12, 1));
    Ok(())
}
