//! `forkcost replay`: request events from outside through the same cache and money.

use std::io::{self, Write};
use std::path::PathBuf;

use jiff::civil::Date;

use super::error::CliError;
use super::output::{Output, stdout_error};
use super::progress::Progress;
use super::spool::{Spool, is_same_file};
use crate::provider::rules::{self, RULE_KEYS, RuleKind, RuleValue};
use crate::replay::{self, Options, Played, ReplayError, Sink, Timing};
use crate::report::replayed::{self, Disagreement};
use crate::trace::{self, Source};

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A timeline or recorded calls, as JSON lines, also gzip or zstd; `-` for the standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print every request and the sums as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Change a cache rule, e.g. lookback=10 or count=per_block.
    #[arg(long = "rules", value_name = "KEY=VALUE", value_parser = parse_rule)]
    pub rules: Vec<(String, RuleValue)>,
    /// Model of the requests that name none.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Day whose prices and default rules hold, e.g. 2026-07-24; by default the day of each
    /// request, or the newest prices where a trace names no day.
    #[arg(long, value_name = "DAY", value_parser = parse_day)]
    pub date: Option<Date>,
    /// Refuse requests that are not in the order of their starts, instead of sorting them.
    #[arg(long)]
    pub strict: bool,
    /// Also write one row a request as CSV, in the shape of records.csv.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Exit with 1 where a prediction differs from the bill.
    #[arg(long)]
    pub check: bool,
}

/// Most disagreements that the text shows.
const DISAGREEMENTS_MAX: usize = 20;

/// Reads `KEY=VALUE` of a cache rule.
pub(super) fn parse_rule(text: &str) -> Result<(String, RuleValue), String> {
    let (key, value) =
        text.split_once('=').ok_or_else(|| "KEY=VALUE expected, e.g. lookback=10".to_owned())?;
    let (key, value) = (key.trim(), value.trim().trim_matches('"'));
    let known = RULE_KEYS.iter().find(|known| known.key == key);
    let value = match (known.map(|known| known.kind), value) {
        (Some(RuleKind::Bool), "true") => RuleValue::Bool(true),
        (Some(RuleKind::Bool), "false") => RuleValue::Bool(false),
        (Some(RuleKind::Integer { .. }), number) if number.parse::<u64>().is_ok() => {
            RuleValue::Integer(number.parse().unwrap_or_default())
        }
        (Some(RuleKind::Text | RuleKind::Bool | RuleKind::Integer { .. }) | None, word) => {
            RuleValue::Text(word.to_owned())
        }
    };
    let rule = (key.to_owned(), value);
    rules::check(&rule.0, &rule.1).map_err(|error| error.to_string())?;
    Ok(rule)
}

/// Reads a day.
pub(super) fn parse_day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "a day such as 2026-07-24 expected".to_owned())
}

/// Plays the trace and prints what it came to.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    if let Some(csv) = args.csv.as_ref().filter(|csv| is_same_file(csv, &args.file)) {
        return Err(CliError::Usage {
            message: format!("--csv names the trace itself, {}", csv.display()),
            help: "name another file".to_owned(),
        });
    }
    let source = Source::open(&args.file).map_err(|source| CliError::Io {
        action: "read",
        path: args.file.clone(),
        source,
    })?;
    let trace = trace::open(source).map_err(ReplayError::from)?;
    let options = Options {
        model: args.model.clone(),
        date: args.date,
        rules: args.rules.clone(),
        strict: args.strict,
        timing: Timing::AsStated,
    };
    let spooled = |wanted: bool| wanted.then(Spool::new).transpose().map_err(spool_error);
    let mut rows = Rows {
        json: spooled(args.json)?,
        csv: spooled(args.csv.is_some())?,
        disagreements: Vec::new(),
        progress: Progress::new(output, 0),
        number: 0,
    };
    let outcome = replay::replay(&trace, &options, &mut rows)?;
    rows.progress.finish();
    if let (Some(path), Some(csv)) = (&args.csv, &mut rows.csv) {
        csv.persist(path)?;
    }
    let source = args.file.display().to_string();
    match &mut rows.json {
        Some(json) => {
            let mut out = io::stdout().lock();
            let head = replayed::json_head(&source).map_err(json_error)?;
            out.write_all(head.as_bytes()).map_err(stdout_error)?;
            json.copy_to(&mut out).map_err(stdout_error)?;
            let tail = replayed::json_tail(&outcome).map_err(json_error)?;
            out.write_all(tail.as_bytes()).and_then(|()| out.flush()).map_err(stdout_error)?;
        }
        None => {
            let (width, styled) = (output.width(), output.styles_stdout());
            let text = replayed::text(&source, &outcome, &rows.disagreements, width, styled);
            output.result(text.as_bytes())?;
        }
    }
    let agreements = &outcome.agreements;
    match (args.check, agreements.unexplained, agreements.predictable()) {
        (false, _, _) | (true, 0, 1..) => Ok(()),
        (true, 0, 0) => Err(CliError::NotMet {
            count: "1 comparison with a bill (there is none in the trace)".to_owned(),
        }),
        (true, 1, _) => Err(CliError::NotMet { count: "1 prediction".to_owned() }),
        (true, more, _) => Err(CliError::NotMet { count: format!("{more} predictions") }),
    }
}

/// Where the rows of a replay go. Nothing is printed before all of them are there.
struct Rows {
    json: Option<Spool>,
    csv: Option<Spool>,
    disagreements: Vec<Disagreement>,
    progress: Progress,
    number: u64,
}

impl Sink for Rows {
    fn row(&mut self, played: &Played) -> io::Result<()> {
        if let Some(json) = &mut self.json {
            json.write_all(replayed::json_row(played, self.number == 0)?.as_bytes())?;
        }
        if let Some(csv) = &mut self.csv {
            let mut writer =
                csv::WriterBuilder::new().has_headers(self.number == 0).from_writer(csv);
            writer.serialize(&played.record)?;
            writer.flush()?;
        }
        if self.disagreements.len() < DISAGREEMENTS_MAX {
            self.disagreements.extend(Disagreement::of(played));
        }
        self.number += 1;
        if self.number.is_multiple_of(1 << 14) {
            self.progress.say(&format!("{} requests", self.number));
        }
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.number = 0;
        self.disagreements.clear();
        for spool in [&mut self.json, &mut self.csv].into_iter().flatten() {
            *spool = Spool::new()?;
        }
        Ok(())
    }
}

fn spool_error(source: io::Error) -> CliError {
    CliError::Io { action: "create", path: "a temporary file".into(), source }
}

fn json_error(error: serde_json::Error) -> CliError {
    CliError::Io { action: "write", path: "the standard output".into(), source: error.into() }
}
