//! `forkcost verify`: published measurements, replayed.

use std::path::PathBuf;

use super::error::CliError;
use super::output::Output;
use super::progress::Progress;
use crate::counting::Accuracy;
use crate::report::{counted, verified};
use crate::trace::Source;
use crate::verify::{self, Check, CheckResult, Index, money};

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the checks as JSON instead of text.
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the page docs/accuracy.md.
    #[arg(long)]
    pub markdown: bool,
    /// Print the table of measured errors that reports state.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub measured: bool,
    /// Folder with recordings, by default FORKCOST_DATA; without one they are skipped.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Checks everything and exits with 1 where something is not as published.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let (checks, accuracy) = checks(args, output)?;
    if args.measured {
        return match accuracy {
            Some(found) => output.result(found.to_text().as_bytes()),
            None => Err(CliError::Usage {
                message: "the recordings that errors are measured on are not here".to_owned(),
                help: "set FORKCOST_DATA, or use --data".to_owned(),
            }),
        };
    }
    let text = if args.json {
        verified::json(&checks).map_err(|error| CliError::Io {
            action: "write",
            path: "the standard output".into(),
            source: error.into(),
        })?
    } else if args.markdown {
        let index = Index::published().map_err(|error| CliError::Config(error.to_string()))?;
        let counts = accuracy.map(|found| counted::accuracy_markdown(&found, &index.tokens));
        verified::markdown(&checks) + &counts.unwrap_or_default()
    } else {
        verified::text(&checks, output.width(), output.styles_stdout())
    };
    output.result(text.as_bytes())?;
    let failed = checks.iter().filter(|check| check.result == CheckResult::Failed).count();
    if failed > 0 {
        return Err(CliError::NotMet { count: format!("{failed} published results") });
    }
    Ok(())
}

fn checks(args: &Args, output: Output) -> Result<(Vec<Check>, Option<Accuracy>), CliError> {
    let index = Index::published().map_err(|error| CliError::Config(error.to_string()))?;
    let set = || std::env::var_os("FORKCOST_DATA").filter(|folder| !folder.is_empty());
    let data = args.data.clone().or_else(|| set().map(PathBuf::from));
    if let Some(folder) = args.data.as_ref().filter(|folder| !folder.is_dir()) {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(CliError::Io { action: "read", path: folder.clone(), source });
    }
    let steps = index.timelines.len() + index.recordings.len();
    let mut progress = Progress::new(output, steps as u64);
    let mut checks = Vec::with_capacity(steps);
    for timeline in &index.timelines {
        progress.say(&timeline.file);
        checks.push(verify::timeline(timeline)?);
        progress.step();
    }
    for recording in &index.recordings {
        progress.say(&recording.file);
        let path = data.as_ref().map(|folder| folder.join(&recording.file));
        let path = path.filter(|path| path.is_file());
        let open = path.map(|path| move || Source::open(&path));
        let open = open.as_ref().map(|open| open as &dyn Fn() -> std::io::Result<Source>);
        checks.push(
            verify::recording(recording, open)
                .unwrap_or_else(|error| verify::unreadable(recording, &error)),
        );
        progress.step();
    }
    for row in money::rows().map_err(|error| CliError::Config(error.to_string()))? {
        checks.push(money::check(&row)?);
    }
    progress.say("token counts");
    let texts: Vec<(String, Option<String>)> = index
        .tokens
        .files
        .iter()
        .map(|file| {
            let path = data.as_ref().map(|folder| folder.join(file));
            (file.clone(), path.and_then(|path| std::fs::read_to_string(path).ok()))
        })
        .collect();
    let (counts, accuracy) = verify::tokens(&index.tokens, &texts);
    checks.extend(counts);
    progress.finish();
    Ok((checks, accuracy))
}
