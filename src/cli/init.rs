//! `forkcost init`: a commented scenario to start from.

use std::path::{Path, PathBuf};

use super::error::CliError;
use super::interrupt;
use super::output::Output;
use crate::report::{self, Disk, Report};
use crate::scenario;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File to write, or `-` for the standard output.
    #[arg(default_value = "scenario.toml", value_name = "FILE")]
    pub file: PathBuf,
    /// Start from a recorded request body instead of synthetic sizes: a path, with `#N` for line N
    /// of JSON lines.
    #[arg(long, value_name = "FILE")]
    pub from_request: Option<String>,
    /// Replace a file that is there.
    #[arg(long)]
    pub force: bool,
}

/// Writes the starter.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let text = match &args.from_request {
        Some(request) => scenario::starter_from_request(request),
        None => scenario::STARTER.to_owned(),
    };
    // What is written must run: a request that cannot be read is refused here.
    scenario::parse(text.as_bytes(), "scenario", folder, &[])?;
    if args.file.as_os_str() == "-" {
        return output.result(text.as_bytes());
    }
    if args.file.exists() && !args.force {
        return Err(CliError::Usage {
            message: format!("{} is there already", args.file.display()),
            help: "name another file, or add --force to replace it".to_owned(),
        });
    }
    let name = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let report = Report { files: vec![(name, text.into_bytes())] };
    interrupt::uninterrupted(|| report::write(folder, &report, &mut Disk))?;
    let file = args.file.display();
    output.result(format!("{file} written; run it with: forkcost run {file}\n").as_bytes())
}
