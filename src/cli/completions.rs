//! `forkcost completions`

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use super::error::CliError;
use super::output::Output;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    pub shell: Shell,
}

/// Prints the completion script of a shell.
pub(super) fn run(args: &Args, output: Output) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "forkcost", &mut script);
    output.result(&script)
}
