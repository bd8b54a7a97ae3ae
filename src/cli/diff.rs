//! `forkcost diff`: where a later request parts from an earlier one.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use super::error::CliError;
use super::output::Output;
use super::sources;
use crate::diff::{Diff, DiffError, Input, diff};
use crate::provider::rules::{RULE_KEYS, RuleKind, RuleValue};
use crate::provider::{self, Provider, find_model};
use crate::report;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The earlier request: a file with one body, FILE:LINE (or FILE#LINE) of a file with one JSON
    /// object a line, or `-` for the standard input.
    #[arg(value_name = "A", allow_hyphen_values = true, value_parser = place_parser())]
    pub a: PathBuf,
    /// The later request.
    #[arg(value_name = "B", allow_hyphen_values = true, value_parser = place_parser())]
    pub b: PathBuf,
    /// Print everything as JSON.
    #[arg(long)]
    pub json: bool,
    /// End with exit code 1 where there is a break.
    #[arg(long)]
    pub check: bool,
    /// Change a cache rule, e.g. hash_billing_line=true.
    #[arg(long = "rules", value_name = "KEY=VALUE", value_parser = sources::parse_override)]
    pub rules: Vec<(String, String)>,
}

const AFTER_HELP: &str = "\
An object with the body in `request` or `body` is taken too, as captures and `forkcost build` write
it. Whatever never matters to the cache (markers, max_tokens, white space, escapes, the order of a
block's keys, a leading billing line) is no divergence.";

/// Takes `-:LINE`, whose hyphen begins no option, and refuses misspelt options.
fn place_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let text = path.to_string_lossy();
        let is_option = text.strip_prefix('-').is_some_and(|rest| !rest.is_empty());
        if is_option && !Place::of(&path).is_stdin() {
            return Err("no such option; a file whose name begins with `-` is given as ./-NAME");
        }
        Ok(path)
    })
}

/// Compares and prints.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    if [&args.a, &args.b].iter().all(|path| Place::of(path).is_stdin()) {
        return Err(CliError::Usage {
            message: "A and B are both the standard input".to_owned(),
            help: "give one of them as a file".to_owned(),
        });
    }
    let (a, b) = (Text::read(&args.a)?, Text::read(&args.b)?);
    let rules: Vec<(String, RuleValue)> =
        args.rules.iter().map(|(key, value)| (key.clone(), rule_value(key, value))).collect();
    let compared = compare(&a, &b, &rules)?;
    if args.json {
        let json = serde_json::to_string_pretty(&compared).map_err(|error| CliError::Io {
            action: "write",
            path: "the comparison".into(),
            source: error.into(),
        })?;
        output.result(format!("{json}\n").as_bytes())?;
    } else {
        let text = report::diff_text(&compared, output.width(), output.styles_stdout());
        output.result(text.as_bytes())?;
    }
    if args.check && compared.is_break {
        return Err(CliError::NotMet { count: "1 expectation (no break)".to_owned() });
    }
    Ok(())
}

/// By the rules of the provider that has the model of either body, else of the first.
fn compare(a: &Text, b: &Text, rules: &[(String, RuleValue)]) -> Result<Diff, CliError> {
    let failed = |error: DiffError| CliError::Usage {
        message: error.to_string(),
        help: error.help().to_owned(),
    };
    let mut compared = diff(a.input(), b.input(), provider::ALL[0], rules).map_err(failed)?;
    let models: Vec<String> =
        [&compared.b.model, &compared.a.model].into_iter().flatten().cloned().collect();
    let knows = |provider: &&&dyn Provider| {
        models.iter().any(|model| find_model(provider.facts(), model).is_ok())
    };
    let known = provider::ALL.iter().position(|provider| knows(&provider));
    if let Some(at) = known.filter(|at| *at > 0) {
        compared = diff(a.input(), b.input(), provider::ALL[at], rules).map_err(failed)?;
    }
    Ok(compared)
}

/// The value as the rule wants it; what does not fit stays a word, and the rule says what it wants.
fn rule_value(key: &str, text: &str) -> RuleValue {
    let kind = RULE_KEYS.iter().find(|rule| rule.key == key).map(|rule| rule.kind);
    match (kind, text, text.parse::<u64>()) {
        (Some(RuleKind::Bool), "true", _) => RuleValue::Bool(true),
        (Some(RuleKind::Bool), "false", _) => RuleValue::Bool(false),
        (Some(RuleKind::Integer { .. }), _, Ok(number)) => RuleValue::Integer(number),
        (_, _, _) => RuleValue::Text(text.to_owned()),
    }
}

/// Where a body is: a file, or a line of it.
struct Place {
    path: PathBuf,
    line: Option<usize>,
}

impl Place {
    /// A file of that very name comes before a line of a file.
    fn of(path: &Path) -> Place {
        let whole = Place { path: path.to_owned(), line: None };
        let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole };
        match text.rsplit_once([':', '#']) {
            Some((file, line)) if !file.is_empty() => match line.parse() {
                Ok(line) => Place { path: PathBuf::from(file), line: Some(line) },
                Err(_) => whole,
            },
            Some(_) | None => whole,
        }
    }

    fn is_stdin(&self) -> bool {
        self.path.as_os_str() == OsStr::new("-")
    }
}

/// The text that holds a body, and where it stands.
struct Text {
    name: String,
    bytes: Vec<u8>,
    line: Option<usize>,
    file_byte: u64,
}

impl Text {
    fn read(path: &Path) -> Result<Text, CliError> {
        let place = Place::of(path);
        let name =
            if place.is_stdin() { "stdin".to_owned() } else { place.path.display().to_string() };
        let failed = |source| CliError::Io { action: "read", path: PathBuf::from(&name), source };
        let mut reader: Box<dyn BufRead> = if place.is_stdin() {
            Box::new(BufReader::new(std::io::stdin().lock()))
        } else {
            Box::new(BufReader::new(File::open(&place.path).map_err(failed)?))
        };
        let mut bytes = Vec::new();
        let Some(line) = place.line else {
            reader.read_to_end(&mut bytes).map_err(failed)?;
            return Ok(Text { name, bytes, line: None, file_byte: 0 });
        };
        let mut file_byte = 0;
        for number in 1.. {
            bytes.clear();
            if reader.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                return Err(out_of_range(&name, line, number - 1));
            }
            if number == line {
                break;
            }
            if line == 0 {
                return Err(out_of_range(&name, line, 0));
            }
            file_byte += bytes.len() as u64;
        }
        Ok(Text { name, bytes, line: Some(line), file_byte })
    }

    fn input(&self) -> Input<'_> {
        Input { name: &self.name, bytes: &self.bytes, line: self.line, file_byte: self.file_byte }
    }
}

fn out_of_range(name: &str, line: usize, lines: usize) -> CliError {
    let message = match (line, lines) {
        (0, _) => format!("{name}:0: lines are counted from 1"),
        (_, 1) => format!("{name}:{line}: no such line; the file has 1 line"),
        (_, lines) => format!("{name}:{line}: no such line; the file has {lines} lines"),
    };
    CliError::Usage { message, help: "give FILE:LINE with a line of the file".to_owned() }
}
