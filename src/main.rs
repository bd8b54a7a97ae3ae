//! The `forkcost` command: parse, run, turn errors into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    forkcost::cli::main(std::env::args_os())
}
