//! `forkcost build`: the request bodies themselves.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::CliError;
use super::interrupt;
use super::output::{Output, stdout_error};
use super::sources;
use crate::agent::{AgentError, Play, Variant, play, prepare};
use crate::report::{self, Disk, Report};
use crate::request::RequestBody;
use crate::scenario::Scenario;
use crate::tokens::Tokenizer;
use crate::units::grouped;
use crate::whatif::StudyError;

/// Total size above which `--yes` is asked for.
const BYTES_UNASKED: u64 = 256 * 1024 * 1024;

/// Arguments of `build`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Scenario file, or `-` for the standard input.
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Folder for `parent.json`, `child-001.json` and so on; without it, one line of JSON a body is
    /// printed.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write also where the bodies have more than 256 MiB in all.
    #[arg(long)]
    pub yes: bool,
    /// Print what was written as JSON.
    #[arg(long, requires = "output")]
    pub json: bool,
    /// Change a key of the scenario, e.g. fork.children=8.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = sources::parse_override)]
    pub overrides: Vec<(String, String)>,
}

/// Builds and writes.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let source =
        sources::Source { path: args.scenario.clone(), report: PathBuf::new(), found: false };
    let scenario = sources::load(&source, &args.overrides)?;
    let played = built(&scenario)
        .map_err(|error| CliError::study(&args.scenario, &scenario, StudyError::Agent(error)))?;
    let bodies = named(&played);
    let bytes: u64 = bodies.iter().map(|(_, body)| body.len() as u64).sum();
    if bytes > BYTES_UNASKED && !args.yes {
        return Err(CliError::Usage {
            message: format!(
                "the {} bodies have {} bytes in all, more than 256 MiB",
                bodies.len(),
                grouped(i128::from(bytes))
            ),
            help: "add --yes to write them all the same, or lower fork.children".to_owned(),
        });
    }
    match &args.output {
        Some(folder) => to_folder(folder, &bodies, args.json, output),
        None => to_stdout(&bodies),
    }
}

fn built(scenario: &Scenario) -> Result<Play, AgentError> {
    let tokenizer = Tokenizer::new(scenario.tokenizer);
    let material = prepare(scenario, &tokenizer)?;
    play(scenario, &material, &Variant::of(scenario))
}

fn named(played: &Play) -> Vec<(String, &RequestBody)> {
    let mut bodies = vec![("parent".to_owned(), &played.parent)];
    bodies.extend(played.prewarm.iter().map(|body| ("prewarm".to_owned(), body)));
    let children = played.children.iter().enumerate();
    bodies.extend(children.map(|(index, body)| (format!("child-{:03}", index + 1), body)));
    bodies
}

fn to_folder(
    folder: &Path,
    bodies: &[(String, &RequestBody)],
    json: bool,
    output: Output,
) -> Result<(), CliError> {
    let mut bytes = 0;
    // All or none, as long as a second copy of the bodies is small.
    let total: u64 = bodies.iter().map(|(_, body)| body.len() as u64).sum();
    let at_once = if total <= BYTES_UNASKED { bodies.len() } else { 64 };
    for chunk in bodies.chunks(at_once.max(1)) {
        let files = chunk.iter().map(|(name, body)| (format!("{name}.json"), body.to_vec()));
        bytes += chunk.iter().map(|(_, body)| body.len()).sum::<usize>();
        let report = Report { files: files.collect() };
        interrupt::uninterrupted(|| report::write(folder, &report, &mut Disk))?;
    }
    if json {
        let files: Vec<serde_json::Value> = bodies
            .iter()
            .map(|(name, body)| {
                serde_json::json!({"file": format!("{name}.json"), "bytes": body.len()})
            })
            .collect();
        let all = serde_json::json!({"schema_version": 1, "bytes": bytes, "files": files});
        return output.result(format!("{all:#}\n").as_bytes());
    }
    let total = grouped(i128::try_from(bytes).unwrap_or(i128::MAX));
    let text = format!("{} bodies, {total} bytes, in {}\n", bodies.len(), folder.display());
    output.result(text.as_bytes())
}

/// One line a body: `{"request":"child-001","body":…}`. Line breaks between the tokens of a
/// recorded body become spaces, which changes nothing that a provider sees; `-o` keeps them.
fn to_stdout(bodies: &[(String, &RequestBody)]) -> Result<(), CliError> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (name, body) in bodies {
        let mut line = format!("{{\"request\":\"{name}\",\"body\":").into_bytes();
        let start = line.len();
        body.parts().into_iter().for_each(|part| line.extend_from_slice(part));
        line[start..].iter_mut().filter(|byte| matches!(**byte, b'\n' | b'\r')).for_each(|byte| {
            *byte = b' ';
        });
        line.extend_from_slice(b"}\n");
        out.write_all(&line).map_err(stdout_error)?;
    }
    out.flush().map_err(stdout_error)
}
