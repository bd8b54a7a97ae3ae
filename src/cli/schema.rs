//! `forkcost schema`

use super::error::CliError;
use super::output::Output;
use crate::scenario;

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints the JSON Schema of scenario files.
pub(super) fn run(_args: &Args, output: Output) -> Result<(), CliError> {
    output.result(format!("{:#}\n", scenario::schema()).as_bytes())
}
