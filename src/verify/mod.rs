//! Published measurements and recordings, replayed and held to what was published.
//!
//! The timelines are part of the program; recordings are not, and are looked for where the caller
//! says. Published arithmetic stands beside them in [`money`].

mod index;
pub mod money;
mod sensitivity;
mod tokens;

pub use index::{Index, IndexError, LeftOut, Recording, Timeline, TokenRecordings};
pub use sensitivity::{Flip, flips};
pub use tokens::tokens;

use crate::record::RunRecord;
use crate::replay::{Agreement, Agreements, Options, Outcome, Played, ReplayError, Sink, replay};
use crate::trace::{self, Source};
use crate::units::Ratio;

/// What kind of thing was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// Requests through the cache, held to published or recorded bills.
    Replay,
    /// A documented rule, worked on numbers of our own.
    Rule,
    /// A usage and its price.
    Money,
    /// Counts of recorded requests, held to their bills.
    Tokens,
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its kind.
    pub kind: CheckKind,
    /// What was checked, e.g. a file's name.
    pub name: String,
    /// Who published it.
    pub source: String,
    /// Where; empty where no link is known.
    pub url: String,
    /// What was published and what is derived, in words.
    pub what: String,
    /// How it came out.
    pub result: CheckResult,
    /// The figures, in words; what differs where it failed.
    pub detail: String,
    /// Predictions against bills, where there are some.
    pub agreements: Option<Agreements>,
    /// Bills that hold a read, among those that are predicted.
    pub reads_exact: u64,
    /// The assumptions that matter, in Markdown: those whose change makes a prediction differ from
    /// its bill.
    pub matters: Vec<String>,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckResult {
    /// As published.
    Passed,
    /// Its input is not there.
    Skipped,
    /// Not as published.
    Failed,
}

impl CheckResult {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckResult::Passed => "pass",
            CheckResult::Skipped => "skipped",
            CheckResult::Failed => "FAIL",
        }
    }
}

/// Replays one published timeline: every bill in it to the token, the published token equivalents,
/// and the rules that it tells apart.
///
/// # Errors
/// Where the timeline cannot be replayed.
pub fn timeline(timeline: &Timeline) -> Result<Check, ReplayError> {
    let rows = rows_of(timeline.source(), &Options::default())?;
    let agreements = &rows.outcome.agreements;
    let mut faults = Vec::new();
    if agreements.exact == 0 || agreements.exact != agreements.observed {
        faults.push(format!("{} of {} bills differ", differing(agreements), agreements.observed));
    }
    for cost in &timeline.cost {
        let places = cost.te.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let te = rows.te(&cost.requests, u32::try_from(places).unwrap_or(0));
        if te.as_deref() != Some(&cost.te) {
            let found = te.unwrap_or_else(|| "nothing".to_owned());
            faults.push(format!("{} cost {found} TE, not {}", cost.requests.join(" + "), cost.te));
        }
    }
    for rule in &timeline.differs_under {
        let options = Options { rules: vec![rule.clone()], ..Options::default() };
        let other = rows_of(timeline.source(), &options)?;
        if differing(&other.outcome.agreements) == 0 {
            faults.push(format!("it does not tell apart {}", index::as_text(&rule.0, &rule.1)));
        }
    }
    let te: Vec<String> = timeline.cost.iter().map(|cost| format!("{} TE", cost.te)).collect();
    let exact = format!("{} of {} bills to the token", agreements.exact, agreements.observed);
    let passed = std::iter::once(exact).chain(te).collect::<Vec<_>>().join(", ");
    Ok(Check {
        kind: if timeline.is_rule { CheckKind::Rule } else { CheckKind::Replay },
        name: timeline.file.clone(),
        source: timeline.published_by.clone(),
        url: timeline.url.clone(),
        what: timeline.comment().unwrap_or_default(),
        result: if faults.is_empty() { CheckResult::Passed } else { CheckResult::Failed },
        detail: if faults.is_empty() { passed } else { faults.join("; ") },
        matters: sensitivity::matters(|| Ok(timeline.source()), agreements)?,
        reads_exact: rows.reads_exact,
        agreements: Some(rows.outcome.agreements),
    })
}

/// Replays one recording and holds it to the counts that the index states; skipped without `data`.
///
/// # Errors
/// Where the recording cannot be replayed.
pub fn recording(
    recording: &Recording,
    data: Option<&dyn Fn() -> std::io::Result<Source>>,
) -> Result<Check, ReplayError> {
    let mut check = Check {
        kind: CheckKind::Replay,
        name: recording.file.clone(),
        source: recording.published_by.clone(),
        url: recording.url.clone(),
        what: String::new(),
        result: CheckResult::Skipped,
        detail: "the recording is not here: set FORKCOST_DATA, or use --data".to_owned(),
        agreements: None,
        reads_exact: 0,
        matters: Vec::new(),
    };
    let Some(open) = data else { return Ok(check) };
    let rows = rows_of(open().map_err(ReplayError::Sink)?, &Options::default())?;
    let agreements = rows.outcome.agreements.clone();
    let found = [rows.number, rows.reads, agreements.exact, agreements.explained_total()];
    let stated = [recording.requests, recording.reads, recording.exact, recording.explained];
    let names = ["requests", "reads", "exact", "explained"];
    let faults: Vec<String> = names
        .iter()
        .zip(found.iter().zip(stated))
        .filter(|(_, (found, stated))| **found != *stated)
        .map(|(name, (found, stated))| format!("{name}: {found}, not {stated}"))
        .chain(
            (agreements.unexplained > 0)
                .then(|| format!("{} predictions differ from the bill", agreements.unexplained)),
        )
        .collect();
    check.result = if faults.is_empty() { CheckResult::Passed } else { CheckResult::Failed };
    check.detail = if faults.is_empty() {
        format!(
            "{} of {} predictable bills, {} of them reads; {} explained, {} of them reads",
            agreements.exact,
            agreements.predictable(),
            rows.reads_exact,
            agreements.explained_total(),
            rows.reads - rows.reads_exact,
        )
    } else {
        faults.join("; ")
    };
    let again = || open().map_err(ReplayError::Sink);
    check.matters = sensitivity::matters(again, &agreements)?;
    check.agreements = Some(agreements);
    check.reads_exact = rows.reads_exact;
    Ok(check)
}

/// The check of a recording that cannot be replayed.
pub fn unreadable(recording: &Recording, error: &ReplayError) -> Check {
    Check {
        kind: CheckKind::Replay,
        name: recording.file.clone(),
        source: recording.published_by.clone(),
        url: recording.url.clone(),
        what: String::new(),
        result: CheckResult::Failed,
        detail: error.to_string(),
        agreements: None,
        reads_exact: 0,
        matters: Vec::new(),
    }
}

/// Bills that are not predicted to the token.
fn differing(agreements: &Agreements) -> u64 {
    agreements.observed - agreements.exact
}

/// The rows of a replay, for sums over some of them.
#[derive(Default)]
struct Rows {
    records: Vec<RunRecord>,
    outcome: Outcome,
    number: u64,
    /// Requests that were billed a read.
    reads: u64,
    /// Those of them whose read is predicted.
    reads_exact: u64,
}

impl Rows {
    /// Token equivalents of the named requests together; `None` where one is missing or unpriced.
    fn te(&self, requests: &[String], places: u32) -> Option<String> {
        let mut input = 0;
        let mut base = None;
        for name in requests {
            let record = self.records.iter().find(|record| record.request == *name)?;
            if *base.get_or_insert(record.base_pico_usd) != record.base_pico_usd {
                return None;
            }
            input += record.input_pico_usd;
        }
        Ratio::new(input, base?).map(|te| te.to_decimal(places))
    }
}

impl Sink for Rows {
    fn row(&mut self, played: &Played) -> std::io::Result<()> {
        self.number += 1;
        let read = played.observed.and_then(|observed| observed.read);
        let reads = u64::from(read.is_some_and(|read| read > 0));
        self.reads += reads;
        self.reads_exact += if played.agreement == Some(Agreement::Exact) { reads } else { 0 };
        self.records.push(played.record.clone());
        Ok(())
    }

    fn restart(&mut self) -> std::io::Result<()> {
        *self = Rows::default();
        Ok(())
    }
}

fn rows_of(source: Source, options: &Options) -> Result<Rows, ReplayError> {
    let trace = trace::open(source)?;
    let mut rows = Rows::default();
    rows.outcome = replay(&trace, options, &mut rows)?;
    Ok(rows)
}
