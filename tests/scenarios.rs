//! Every scenario of `scenarios/`: what it expects of itself, and the laws that hold for any.
//!
//! A scenario that reads `${FORKCOST_DATA}` shows as ignored where the folder or its file is
//! absent.

#![allow(clippy::unwrap_used)]

#[path = "common/replayed.rs"]
mod replayed;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::{env, fs};

use forkcost::analysis::{Totals, expect};
use forkcost::record::RunRecord;
use forkcost::scenario::{self, Diagnostics, LoadError, Scenario};
use forkcost::whatif::{Study, study};
use libtest_mimic::{Arguments, Failed, Trial};

/// A file that a scenario refers to does not exist.
const FILE_MISSING: &str = "F0301";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files = Vec::new();
    collect(&root, &mut files).unwrap();
    files.sort();
    assert!(files.len() >= 50, "{} scenarios below {}", files.len(), root.display());
    let trials = files.iter().flat_map(|file| trials(&root, file)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// A scenario and what its run found, made once for all its trials.
struct Case {
    scenario: Result<Scenario, String>,
    study: OnceLock<Result<Study, String>>,
}

impl Case {
    fn scenario(&self) -> Result<&Scenario, Failed> {
        self.scenario.as_ref().map_err(|error| error.into())
    }

    fn study(&self) -> Result<&Study, Failed> {
        let scenario = self.scenario()?;
        let made = || study(scenario, &mut |_| {}).map_err(|error| error.to_string());
        self.study.get_or_init(made).as_ref().map_err(|error| error.into())
    }
}

fn trials(root: &Path, file: &Path) -> Vec<Trial> {
    let loaded = scenario::load(file, &[]);
    let ignored = loaded.as_ref().err().is_some_and(|error| without_data(error, file));
    let scenario = loaded.map_err(|error| error.to_string());
    let case = Arc::new(Case { scenario, study: OnceLock::new() });
    let name = file.strip_prefix(root).unwrap().with_extension("").display().to_string();
    let (same, again, written) = (Arc::clone(&case), Arc::clone(&case), Arc::clone(&case));
    let path = file.to_owned();
    vec![
        Trial::test(format!("expect::{name}"), move || meets_its_expectations(&case))
            .with_ignored_flag(ignored),
        Trial::test(format!("laws::{name}"), move || keeps_the_laws(same.study()?))
            .with_ignored_flag(ignored),
        Trial::test(format!("changes::{name}"), move || keeps_its_promises(&path, again.study()?))
            .with_ignored_flag(ignored),
        Trial::test(format!("replay::{name}"), move || {
            Ok(replayed::run_equals_replay(written.scenario()?, written.study()?)?)
        })
        .with_ignored_flag(ignored),
    ]
}

/// Whether nothing is wrong but that the data folder or a file of it is absent.
fn without_data(error: &LoadError, file: &Path) -> bool {
    match error {
        LoadError::DataFolderUnset(_) => true,
        LoadError::Diagnostics(Diagnostics(list)) => {
            let text = fs::read_to_string(file).unwrap_or_default();
            let of_data = |line: usize| {
                text.lines().nth(line - 1).is_some_and(|line| line.contains("${FORKCOST_DATA}"))
            };
            list.iter().all(|mistake| mistake.code == FILE_MISSING && of_data(mistake.line))
        }
        LoadError::Io { .. } => false,
    }
}

fn meets_its_expectations(case: &Case) -> Result<(), Failed> {
    let scenario = case.scenario()?;
    if scenario.expect.is_empty() {
        return Err("it expects nothing: a scenario without [expect] proves nothing".into());
    }
    let summary = &case.study()?.summary;
    let unmet = scenario.expect.iter().filter_map(|expected| {
        let unmet = expect::check(summary, &expected.path, &expected.value.as_text())?;
        let found = unmet.found.as_deref().unwrap_or("nothing of that name");
        Some(format!(
            "line {}: {} is {found}, expected {}",
            expected.line, unmet.path, unmet.expected
        ))
    });
    let unmet: Vec<String> = unmet.collect();
    if unmet.is_empty() { Ok(()) } else { Err(unmet.join("\n").into()) }
}

/// Every change that a run proposes can be written into the scenario as its patch says, and then
/// costs what was promised.
fn keeps_its_promises(path: &Path, studied: &Study) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    for change in studied.summary.changes.iter().filter(|change| change.keeps_context) {
        let mut changed = text.clone();
        let mut set = Vec::new();
        for line in &change.patch {
            if let Some(key) = line.strip_prefix("# remove ") {
                let name = key.rsplit('.').next().unwrap_or(key);
                let keeps = |line: &&str| line.split('=').next().is_none_or(|k| k.trim() != name);
                changed = text.lines().filter(keeps).collect::<Vec<_>>().join("\n");
            } else {
                let (key, value) = line.split_once(" = ").ok_or("a patch line sets a key")?;
                set.push((key.to_owned(), value.to_owned()));
            }
        }
        let scenario = scenario::parse(changed.as_bytes(), "changed", folder, &set)
            .map_err(|error| format!("{}: {error}", change.id))?;
        let te = study(&scenario, &mut |_| {})?.summary.totals.te;
        law(te == change.totals.te, || {
            format!("{} costs {te}, promised were {}", change.id, change.totals.te)
        })?;
    }
    Ok(())
}

/// Fails with the message where `holds` is false.
fn law(holds: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(message().into()) }
}

fn keeps_the_laws(studied: &Study) -> Result<(), Failed> {
    for row in &studied.records {
        input_is_billed_once(row)?;
    }
    let summary = &studied.summary;
    let plans: BTreeSet<&str> = studied.records.iter().map(|row| row.plan.as_str()).collect();
    for plan in &plans {
        let sums = match *plan {
            "this_plan" => Some(&summary.totals),
            "no_cache" => Some(&summary.baselines.no_cache),
            "perfect" => Some(&summary.baselines.perfect),
            "chapter" => Some(&summary.baselines.chapter),
            "fresh" => summary.baselines.fresh.as_ref(),
            change => summary
                .changes
                .iter()
                .find(|item| change.strip_prefix("change.") == Some(item.id.as_str()))
                .map(|item| &item.totals),
        };
        let sums = sums.ok_or_else(|| format!("{plan} has rows and no totals"))?;
        totals_are_sums(&rows(studied, plan), sums, plan)?;
    }
    reads_lie_between_none_and_perfect(studied)?;
    the_uncached_plan_pays_for_every_token(studied)?;
    the_shared_prefix_fits(studied)
}

/// The rows of a plan that its totals are made of.
fn rows<'s>(studied: &'s Study, plan: &str) -> Vec<&'s RunRecord> {
    studied.records.iter().filter(|row| row.plan == plan && row.role != "parent").collect()
}

/// INV-1.
fn input_is_billed_once(row: &RunRecord) -> Result<(), Failed> {
    let name = || format!("{} {}", row.plan, row.request);
    let classes = row.read + row.write_5m + row.write_1h + row.uncached;
    law(classes == row.input, || format!("{}: {classes} billed of {}", name(), row.input))?;
    let writes = row.write_5m_pico_usd + row.write_1h_pico_usd;
    let parts = row.read_pico_usd + writes + row.uncached_pico_usd;
    law(parts == row.input_pico_usd, || format!("{}: {row:?}", name()))
}

fn totals_are_sums(rows: &[&RunRecord], sums: &Totals, plan: &str) -> Result<(), Failed> {
    let sum = |of: fn(&RunRecord) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    let tokens = [
        (sum(|row| row.read), sums.read),
        (sum(|row| row.write_5m), sums.write_5m),
        (sum(|row| row.write_1h), sums.write_1h),
        (sum(|row| row.uncached), sums.uncached),
        (sum(|row| row.output), sums.output),
        (rows.len() as u64, sums.requests),
    ];
    law(tokens.iter().all(|(ours, theirs)| ours == theirs), || format!("{plan}: {tokens:?}"))?;
    let input: i128 = rows.iter().map(|row| row.input_pico_usd).sum();
    let output: i128 = rows.iter().map(|row| row.output_pico_usd).sum();
    let cost = (input + output).to_string();
    law(cost == sums.cost_pico_usd, || format!("{plan}: {cost} is not {}", sums.cost_pico_usd))?;
    let base = rows.first().ok_or("a plan without rows")?.base_pico_usd;
    let hundredths: i128 = sums.te.replace('.', "").parse()?;
    // Two decimals: at most half a hundredth off.
    let error = (hundredths * base - 100 * input).abs();
    law(2 * error <= base, || format!("{plan}: {} TE, {input} / {base}", sums.te))
}

/// INV-3, request by request.
fn reads_lie_between_none_and_perfect(studied: &Study) -> Result<(), Failed> {
    let perfect = rows(studied, "perfect");
    for row in rows(studied, "this_plan").into_iter().filter(|row| row.role == "child") {
        let twin = perfect.iter().find(|other| other.request == row.request);
        let twin = twin.ok_or_else(|| format!("{} is not in perfect", row.request))?;
        law(row.input == twin.input, || format!("{}: inputs differ", row.request))?;
        // A prewarm request is no request of the bound, and what it wrote can be read.
        let prewarmed = studied.records.iter().any(|other| other.role == "prewarm");
        law(row.read <= twin.read || prewarmed, || {
            format!("{} reads {}, perfect {}", row.request, row.read, twin.read)
        })?;
    }
    Ok(())
}

fn the_uncached_plan_pays_for_every_token(studied: &Study) -> Result<(), Failed> {
    let children = rows(studied, "this_plan").into_iter().filter(|row| row.role == "child");
    let tokens: u64 = children.map(|row| row.input).sum();
    let none = &studied.summary.baselines.no_cache;
    law(none.read + none.write_5m + none.write_1h == 0, || format!("{none:?}"))?;
    law(none.uncached == tokens, || format!("{} uncached of {tokens}", none.uncached))?;
    // Prices past a cliff are higher and the base is not: then a token costs more than one TE.
    let te: i128 = none.te.replace('.', "").parse()?;
    law(te >= 100 * i128::from(tokens), || format!("{} TE for {tokens} tokens", none.te))
}

fn the_shared_prefix_fits(studied: &Study) -> Result<(), Failed> {
    let summary = &studied.summary;
    let (shared, parent) = (summary.shared, summary.shared_with_parent);
    law(shared.prompt_tokens <= summary.child_tokens, || format!("{shared:?}"))?;
    law(parent.prompt_tokens <= shared.prompt_tokens, || format!("{parent:?} {shared:?}"))?;
    law(parent.body_bytes <= shared.body_bytes, || format!("{parent:?} {shared:?}"))?;
    let reasons: u64 = summary.reasons.values().sum();
    law(reasons == summary.children, || format!("{:?}", summary.reasons))?;
    let segments: u64 = studied.segments.iter().map(|segment| segment.tokens).sum();
    law(segments == summary.child_tokens, || format!("segments have {segments} tokens"))
}
