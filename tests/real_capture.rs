//! The cache model against what a provider really billed: recordings in their real order and at
//! their real times, and the page that says how well they are predicted.
//!
//! Token counts are not ours here: the size of a prefix is learnt from the call that wrote it, and
//! never from a read.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use forkcost::provider::{anthropic_facts, find_model};
use forkcost::replay::{Agreement, Agreements, Explanation, Options, Played, Sink, replay};
use forkcost::trace::{self, Source};
use libtest_mimic::{Arguments, Failed, Trial};

const SESSION: &str = "captures/claude_code_1.0.6_conversation1.jsonl";
const PAIRS: &str = "pairs/claude_cache.jsonl";

fn main() {
    let folder = std::env::var_os("FORKCOST_DATA").map(PathBuf::from).unwrap_or_default();
    let present = |file: &str| folder.join(file).is_file();
    let of = |name: &str, file: &str, check: fn(&str) -> Result<(), Failed>| {
        let path = folder.join(file);
        Trial::test(name, move || check(&std::fs::read_to_string(path)?))
            .with_ignored_flag(!present(file))
    };
    let both = present(SESSION) && present(PAIRS);
    let data = folder.clone();
    let trials = vec![
        of("every_read_of_the_recorded_session_is_predicted", SESSION, session),
        of("no_size_of_the_session_is_learnt_from_a_read", SESSION, without_writers),
        of("every_recorded_pair_is_exact_or_explained", PAIRS, pairs),
        Trial::test("the_accuracy_page_is_what_verify_says", move || accuracy(&data))
            .with_ignored_flag(!both),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

#[derive(Default)]
struct Rows(Vec<Played>);

impl Sink for Rows {
    fn row(&mut self, played: &Played) -> std::io::Result<()> {
        self.0.push(played.clone());
        Ok(())
    }

    fn restart(&mut self) -> std::io::Result<()> {
        self.0.clear();
        Ok(())
    }
}

fn played(text: &str) -> Result<(Vec<Played>, Agreements), Failed> {
    let mut rows = Rows::default();
    let trace = trace::open(Source::of_bytes("recording", text.as_bytes()))?;
    let outcome = replay(&trace, &Options::default(), &mut rows)?;
    Ok((rows.0, outcome.agreements))
}

/// 35 calls: 14 are cached, of which 12 read; 15 carry no marker; 6 are below the minimum.
fn session(text: &str) -> Result<(), Failed> {
    let (rows, agreements) = played(text)?;
    let lines: Vec<&str> = text.lines().collect();
    let (mut cached, mut reads, mut unmarked, mut small) = (0, 0, 0, 0);
    for row in &rows {
        let call: serde_json::Value = serde_json::from_str(lines[row.line as usize - 1])?;
        let billed = |key: &str| call["usage"][key].as_u64().unwrap_or(0);
        let read = billed("cache_read_input_tokens");
        let created = billed("cache_creation_input_tokens");
        assert_eq!(row.record.read, read, "line {}", row.line);
        assert_eq!(row.agreement, Some(Agreement::Exact), "line {}", row.line);
        if read + created > 0 {
            cached += 1;
            reads += usize::from(read > 0);
            // What a provider adds outside the blocks is not predicted.
            let (ours, theirs) = (row.record.uncached, billed("input_tokens"));
            assert!(ours.abs_diff(theirs) <= 8, "line {}: {ours}, billed {theirs}", row.line);
        } else if call["request"].to_string().contains("\"cache_control\"") {
            let model = find_model(anthropic_facts(), call["model"].as_str().unwrap()).unwrap();
            assert!(billed("input_tokens") < model.min_tokens.0, "line {}", row.line);
            small += 1;
        } else {
            unmarked += 1;
        }
    }
    assert_eq!((cached, reads, unmarked, small), (14, 12, 15, 6));
    assert_eq!((agreements.observed, agreements.exact), (35, 35));
    Ok(())
}

/// Where the call that wrote a prefix is taken out, no read of it is claimed to be predicted.
fn without_writers(text: &str) -> Result<(), Failed> {
    let is_writer = |line: &&str| {
        let call: serde_json::Value = serde_json::from_str(line).unwrap();
        call["usage"]["cache_creation_input_tokens"].as_u64().unwrap_or(0) > 0
    };
    let readers: Vec<&str> = text.lines().filter(|line| !is_writer(line)).collect();
    let all = readers.join("\n");
    let (rows, _) = played(&all)?;
    let reading = rows.iter().filter(|row| row.observed.unwrap().read.unwrap_or(0) > 0);
    for row in reading {
        assert!(
            matches!(
                row.agreement,
                Some(Agreement::Explained(Explanation::SizeNotLearnt | Explanation::WarmStart))
            ),
            "line {}: {:?}",
            row.line,
            row.agreement
        );
    }
    Ok(())
}

/// What is not predictable, by line: recordings that begin warm, reads of prefixes whose writer is
/// not recorded (or ran the provider's tools), and calls that ran them.
const EXPLAINED: [(u64, Explanation); 14] = [
    (23, Explanation::SeveralPasses),
    (24, Explanation::SeveralPasses),
    (25, Explanation::WarmStart),
    (29, Explanation::WarmStart),
    (30, Explanation::OtherParameters),
    (31, Explanation::SizeNotLearnt),
    (32, Explanation::SizeNotLearnt),
    (33, Explanation::WarmStart),
    (34, Explanation::SizeNotLearnt),
    (35, Explanation::SizeNotLearnt),
    (40, Explanation::SeveralPasses),
    (41, Explanation::SizeNotLearnt),
    (44, Explanation::SeveralPasses),
    (45, Explanation::SizeNotLearnt),
];

fn pairs(text: &str) -> Result<(), Failed> {
    let (rows, agreements) = played(text)?;
    assert_eq!((rows.len(), agreements.exact, agreements.unexplained), (48, 34, 0));
    let explained: BTreeMap<u64, Explanation> = rows
        .iter()
        .filter_map(|row| match row.agreement {
            Some(Agreement::Explained(why)) => Some((row.line, why)),
            _ => None,
        })
        .collect();
    assert_eq!(explained, BTreeMap::from(EXPLAINED));
    // Names of clouds and dated ids are one model each.
    assert!(rows.iter().all(|row| find_model(anthropic_facts(), &row.record.model).is_ok()));
    Ok(())
}

fn accuracy(folder: &Path) -> Result<(), Failed> {
    let ran = Command::new(env!("CARGO_BIN_EXE_forkcost"))
        .args(["verify", "--markdown"])
        .env("FORKCOST_DATA", folder)
        .output()?;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy.md");
    let page = std::fs::read_to_string(path)?;
    let made = String::from_utf8(ran.stdout)?;
    if page != made {
        return Err("docs/accuracy.md is old: `forkcost verify --markdown > docs/accuracy.md` \
                    with FORKCOST_DATA set"
            .into());
    }
    Ok(())
}
