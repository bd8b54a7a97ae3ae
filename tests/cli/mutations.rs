//! Bytes changed at random in good inputs: an answer or an error, never a panic. In-process, for
//! speed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use forkcost::scenario;
use forkcost::whatif::study;
use proptest::prelude::*;

use crate::lab::{GOOD, Lab};

/// One change of a text.
#[derive(Clone, Debug)]
enum Change {
    Replace(u8),
    Insert(u8),
    Delete(usize),
    Repeat(usize),
    Truncate,
}

fn change() -> impl Strategy<Value = (prop::sample::Index, Change)> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&b"{}[]\",:=\\\n0-9e.\0#'"[..])];
    let change = prop_oneof![
        4 => byte.clone().prop_map(Change::Replace),
        4 => byte.prop_map(Change::Insert),
        2 => (1_usize..40).prop_map(Change::Delete),
        2 => (1_usize..60).prop_map(Change::Repeat),
        1 => Just(Change::Truncate),
    ];
    (any::<prop::sample::Index>(), change)
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, Change)>> {
    prop::collection::vec(change(), 1..5)
}

fn changed(text: &str, changes: &[(prop::sample::Index, Change)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (index, change) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = index.index(bytes.len());
        let until = |length: usize| (at + length).min(bytes.len());
        match change {
            Change::Replace(byte) => bytes[at] = *byte,
            Change::Insert(byte) => bytes.insert(at, *byte),
            Change::Delete(length) => drop(bytes.drain(at..until(*length))),
            Change::Repeat(length) => {
                let part = bytes[at..until(*length)].to_vec();
                bytes.splice(at..at, part);
            }
            Change::Truncate => bytes.truncate(at),
        }
    }
    bytes
}

/// Loads and, where that succeeds, studies; the message of a panic where there is one.
fn panics(bytes: &[u8], folder: &Path) -> Option<String> {
    let run = || {
        let Ok(scenario) = scenario::parse(bytes, "mutated", folder, &[]) else { return };
        // Sizes that a mutation made large take long and show nothing more.
        if scenario.fork.children <= 40 && bytes.len() < 100_000 {
            drop(study(&scenario, &mut |_| {}));
        }
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .or_else(|| Some("a panic without a text".to_owned()))
}

/// A small scenario, so that many runs are quick.
fn small() -> String {
    GOOD.replace("tokens = 1200", "tokens = 90")
        .replace("tokens = 400 }", "tokens = 60 }")
        .replace("tokens = 3000", "tokens = 120")
}

const BODY: &str = concat!(
    r#"{"model":"claude-opus-5","max_tokens":64,"#,
    r#""system":[{"type":"text","text":"You are \u00e9 \"it\".","#,
    r#""cache_control":{"type":"ephemeral"}}],"#,
    r#""tools":[{"name":"Task","description":"d","input_schema":"#,
    r#"{"type":"object","properties":{"p":{"type":"string"}}}}],"#,
    r#""messages":[{"role":"user","content":"hello"},{"role":"assistant","content":["#,
    r#"{"type":"thinking","thinking":"hm","signature":"s"},"#,
    r#"{"type":"tool_use","id":"toolu_1","name":"Task","input":{"p":1.50}}]},"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","#,
    r#""content":[{"type":"text","text":"ok"}]},"#,
    r#"{"type":"text","text":"go on","cache_control":{"type":"ephemeral","ttl":"5m"}}]}],"#,
    r#""stream":true}"#
);

const FROM_BODY: &str = "version = 1\n[parent]\nrequest = \"body.json\"\n[fork]\nchildren = 2\n\
                         directive = { texts = [\"a\", \"b\"] }\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_scenario_is_run_or_refused(changes in changes()) {
        let bytes = changed(&small(), &changes);
        let panic = panics(&bytes, Path::new("."));
        prop_assert!(panic.is_none(), "{panic:?}: {}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_changed_body_is_run_or_refused(changes in changes()) {
        let bytes = changed(BODY, &changes);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("body.json"), &bytes).unwrap();
        let panic = panics(FROM_BODY.as_bytes(), folder.path());
        prop_assert!(panic.is_none(), "{panic:?}: {}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn the_inputs_that_are_changed_are_good() {
    let lab = Lab::new();
    lab.write("body.json", BODY);
    lab.write("body.toml", FROM_BODY);
    lab.write("small.toml", small());
    for name in ["body.toml", "small.toml"] {
        lab.run(&["run", name, "--no-report"]).succeeded();
    }
}

/// A few through the command itself: its exit codes are those of its table.
#[test]
fn a_truncated_body_ends_with_a_listed_exit_code() {
    let lab = Lab::new();
    lab.write("body.toml", FROM_BODY);
    for end in (0..BODY.len()).step_by(61) {
        lab.write("body.json", &BODY.as_bytes()[..end]);
        lab.refuses(&["run", "body.toml"], 2, &["error"]);
    }
}
