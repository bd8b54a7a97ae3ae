//! `forkcost calibrate`: recorded requests, counted and held to their bills.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::CliError;
use super::output::Output;
use super::progress::Progress;
use super::spool::{Spool, is_same_file};
use super::tokenizer;
use crate::counting::{Row, calibrate, read_row};
use crate::provider;
use crate::report::counted;

/// Arguments of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files with one JSON object a line: `request` (the body as it was sent) and `usage` (what was
    /// billed); `model`, `id`, `source` and `t_request` are read where they are there. `-` for the
    /// standard input.
    #[arg(value_name = "ROWS", required = true)]
    pub rows: Vec<PathBuf>,
    /// Judge this tokenizer instead of each model's own, as in `count`.
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    /// Fit on one half of the recordings (by the path in `source`) and report on the other.
    #[arg(long)]
    pub split: bool,
    /// Write the fitted corrections for `run --calibration`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// List every row that is off by more than one token.
    #[arg(long = "rows")]
    pub all_rows: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  forkcost calibrate calls.jsonl
  forkcost calibrate calls.jsonl --tokenizer o200k_base --out calibration.toml
  forkcost run scenario.toml --calibration calibration.toml";

/// Counts the rows, prints their errors and writes the corrections.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let tokenizer = args.tokenizer.as_deref().map(tokenizer::named).transpose()?;
    if let Some(out) = &args.out {
        let taken = args.rows.iter().any(|rows| is_same_file(rows, out));
        if taken || out.as_os_str() == "-" {
            return Err(CliError::Usage {
                message: format!("--out names {}", if taken { "an input" } else { "no file" }),
                help: "name another file".to_owned(),
            });
        }
    }
    let (rows, mut skipped) = read(&args.rows)?;
    if rows.is_empty() && skipped.is_empty() {
        return Err(CliError::Usage {
            message: "there is no recorded request to calibrate with".to_owned(),
            help: "give files with one JSON object a line: `request` and `usage`".to_owned(),
        });
    }
    let mut progress = Progress::new(output, rows.len() as u64);
    progress.say("requests");
    let found = calibrate(&rows, provider::ALL[0], tokenizer, args.split);
    progress.finish();
    if let Some(path) = args.out.as_ref().filter(|_| !found.rows.is_empty()) {
        let failed = |source| CliError::Io { action: "write", path: path.clone(), source };
        let mut spool = Spool::new().map_err(failed)?;
        spool.write_all(found.corrections.to_text().as_bytes()).map_err(failed)?;
        spool.persist(path)?;
    }
    for why in &found.skipped {
        *skipped.entry(why.text()).or_default() += 1;
    }
    if found.rows.is_empty() {
        let why: Vec<String> = skipped.iter().map(|(why, rows)| format!("{rows} {why}")).collect();
        return Err(CliError::Usage {
            message: format!("no recorded request can be counted: {}", why.join(", ")),
            help: "give rows with a request to a known model and its usage".to_owned(),
        });
    }
    let named = args.out.as_ref().map(|path| path.display().to_string());
    let skipped: Vec<(&'static str, u64)> = skipped.into_iter().collect();
    let text = if args.json {
        counted::calibration_json(&found, &skipped)
    } else {
        let page = (output.width(), output.styles_stdout());
        counted::calibration_text(&found, &skipped, named.as_deref(), args.all_rows, page)
    };
    output.result(text.as_bytes())
}

type Read = (Vec<Row>, BTreeMap<&'static str, u64>);

/// The rows of all files, in order, and how many were left out, and why.
fn read(paths: &[PathBuf]) -> Result<Read, CliError> {
    let (mut rows, mut skipped) = (Vec::new(), BTreeMap::new());
    for path in paths {
        let text = read_text(path)?;
        let text = text.trim_start_matches('\u{feff}');
        let file: Arc<str> = Arc::from(path.display().to_string());
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let read =
                read_row(&file, index as u64 + 1, line).map_err(|error| CliError::Usage {
                    message: format!(
                        "{}:{}:{}: {}",
                        path.display(),
                        error.line,
                        error.column,
                        error.message
                    ),
                    help: error.help.to_owned(),
                })?;
            match read {
                Ok(row) => rows.push(row),
                Err(why) => *skipped.entry(why.text()).or_default() += 1,
            }
        }
    }
    Ok((rows, skipped))
}

fn read_text(path: &Path) -> Result<String, CliError> {
    let failed = |source| CliError::Io { action: "read", path: path.to_owned(), source };
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => CliError::Usage {
            message: format!("{}: not a text in UTF-8", path.display()),
            help: "give JSON lines, not compressed".to_owned(),
        },
        _ => failed(error),
    })
}
