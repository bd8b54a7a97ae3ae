//! `forkcost man`

use clap::CommandFactory;

use super::Cli;
use super::error::CliError;
use super::output::{Output, stdout_error};

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the man page.
pub(super) fn run(_args: &Args, output: Output) -> Result<(), CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(stdout_error)?;
    output.result(&page)
}
