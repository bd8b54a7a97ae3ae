//! Recorded usage objects of several providers, read into the neutral form, and the models that
//! they name.
//!
//! The sums were taken from the files by a separate program. The files lie in the folder named by
//! `FORKCOST_DATA`; without them the comparisons are reported as ignored.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use forkcost::provider::{
    BilledUsage, UsageStyle, UsageWarning, WriteSplit, anthropic_facts, find_model, read_usage,
};
use forkcost::units::Tokens;
use forkcost::usage::Usage;
use libtest_mimic::{Arguments, Failed, Trial};

/// File, rows, and the sums of read, write 5m, write 1h, uncached and output.
type Sum = (&'static str, usize, [u64; 5]);

const SUMS: &[Sum] = &[
    ("claude_cache", 48, [175_417, 98_930, 4_112, 16_174, 8_511]),
    ("claude_messages", 528, [0, 0, 0, 543_141, 55_823]),
    ("claude_iterations", 3, [0, 0, 0, 117_194, 252]),
    ("claude_count_tokens", 7, [0, 0, 0, 4_002, 0]),
    ("openai_cache", 42, [185_544, 0, 0, 91_768, 16_225]),
];

/// One recorded call.
struct Row {
    line: usize,
    model: String,
    billed: BilledUsage,
}

fn main() {
    let sums = SUMS.iter().map(|sum| trial(sum.0, "adds_up", move || check_sum(sum)));
    let mut trials: Vec<Trial> = sums.collect();
    trials.push(trial("claude_cache", "names_known_models", check_models));
    trials.push(trial("claude_cache", "says_what_is_assumed", check_splits));
    trials.push(trial("claude_iterations", "stands_in_the_iterations", check_iterations));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial(
    file: &'static str,
    name: &str,
    check: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let present = path(file).is_some_and(|path| path.is_file());
    Trial::test(format!("{file}_{name}"), check).with_ignored_flag(!present)
}

fn path(file: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("FORKCOST_DATA")?);
    Some(folder.join("pairs").join(format!("{file}.jsonl")))
}

fn rows(file: &str) -> Vec<Row> {
    #[derive(serde::Deserialize)]
    struct Raw {
        model: String,
        usage: serde_json::Value,
    }
    let text = std::fs::read_to_string(path(file).unwrap()).unwrap();
    let row = |(index, line): (usize, &str)| {
        let raw: Raw = serde_json::from_str(line).unwrap();
        let billed = read_usage(&raw.usage, None)
            .unwrap_or_else(|error| panic!("{file}:{}: {error}", index + 1));
        Row { line: index + 1, model: raw.model, billed }
    };
    text.lines().enumerate().map(row).collect()
}

fn check_sum((file, count, sum): &Sum) -> Result<(), Failed> {
    let rows = rows(file);
    assert_eq!(rows.len(), *count);
    let total = rows.iter().fold(Usage::default(), |total, row| total + row.billed.usage);
    let Usage { read, write_5m, write_1h, uncached, output } = total;
    assert_eq!([read, write_5m, write_1h, uncached, output].map(|tokens| tokens.0), *sum);
    Ok(())
}

fn check_models() -> Result<(), Failed> {
    let models: BTreeSet<String> = rows("claude_cache").into_iter().map(|row| row.model).collect();
    assert!(models.len() >= 9, "{models:?}");
    for model in models {
        find_model(anthropic_facts(), &model).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn check_splits() -> Result<(), Failed> {
    let rows = rows("claude_cache");
    let warned: Vec<usize> =
        rows.iter().filter(|row| !row.billed.warnings.is_empty()).map(|row| row.line).collect();
    // Both state writes, and lifetimes that add up to nothing.
    assert_eq!(warned, [23, 24]);
    let row = &rows[22];
    assert_eq!(row.line, 23);
    let mismatch = UsageWarning::SplitMismatch {
        total: Tokens(11_913),
        write_5m: Tokens::ZERO,
        write_1h: Tokens::ZERO,
    };
    assert_eq!(row.billed.warnings, [mismatch]);
    assert_eq!(row.billed.split, WriteSplit::Assumed(Tokens(11_913)));
    let bedrock = rows.iter().filter(|row| row.billed.style == UsageStyle::Bedrock).count();
    assert_eq!(bedrock, 6);
    Ok(())
}

fn check_iterations() -> Result<(), Failed> {
    let rows = rows("claude_iterations");
    let warned: Vec<usize> =
        rows.iter().filter(|row| !row.billed.warnings.is_empty()).map(|row| row.line).collect();
    assert_eq!(warned, [2]);
    assert_eq!(rows[1].billed.usage.uncached, Tokens(83_555));
    assert_eq!(rows[1].billed.warnings[0].difference(), Tokens(83_555 + 139));
    Ok(())
}
