//! The command line. Each verb is one file.

pub mod build;
pub mod calibrate;
pub mod completions;
pub mod config;
pub mod count;
pub mod diff;
pub mod error;
pub mod exit_code;
pub mod init;
pub mod interrupt;
pub mod man;
pub mod output;
pub mod price;
pub mod progress;
pub mod replay;
pub mod run;
pub mod schema;
pub mod sources;
mod spool;
mod tokenizer;
pub mod verify;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use config::Config;
use error::CliError;
use output::{Color, Output, stdout_error};

/// What forking an LLM agent into N children costs, what of it is read from the prompt cache, and
/// what to change.
#[derive(Debug, Parser)]
#[command(name = "forkcost", version, about, after_help = after_help(), max_term_width = 100)]
pub struct Cli {
    /// When to colour.
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    pub color: Option<Color>,
    /// Print results and errors only.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build, measure, simulate and price scenarios, and write their reports.
    Run(run::Args),
    /// Write the request bodies that a scenario sends.
    Build(build::Args),
    /// Play a timeline or recorded calls through the cache and hold them to what was billed.
    Replay(replay::Args),
    /// Replay published measurements and say whether they come out as published.
    Verify(verify::Args),
    /// Price a usage, or show the price list: what a request costs, by class, to the cent.
    Price(Box<price::Args>),
    /// Count the tokens of a text or a request: by block, section and total.
    Count(count::Args),
    /// Hold counts to what was billed for recorded requests, and fit what corrects them.
    Calibrate(calibrate::Args),
    /// Say where a later request parts from an earlier one, and what that loses of the cache.
    Diff(diff::Args),
    /// Write a commented scenario to start from.
    Init(init::Args),
    /// Print the JSON Schema of scenario files.
    Schema(schema::Args),
    /// Print the completion script of a shell.
    Completions(completions::Args),
    /// Print the man page.
    Man(man::Args),
}

fn after_help() -> String {
    format!("{}\n\n{}", config::HELP, exit_code::HELP)
}

/// Runs the command line and gives its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    interrupt::watch();
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(explain(&error)),
    };
    let fallback = Output::new(cli.color.unwrap_or_default(), cli.quiet);
    let (output, result) = match Config::load(Path::new("."), |name| std::env::var_os(name)) {
        Ok(config) => {
            let output = configured(&cli, &config);
            (output, dispatch(cli.command, output, &config))
        }
        Err(error) => (fallback, Err(error)),
    };
    match result {
        Ok(()) => ExitCode::from(exit_code::DONE),
        Err(error) => {
            output.error(&error);
            ExitCode::from(error.code())
        }
    }
}

/// Prints what the command line's reader has to say, help or a mistake, and gives the exit code.
fn explain(error: &clap::Error) -> u8 {
    let printed = error.print();
    if error.use_stderr() {
        return exit_code::BAD_INPUT;
    }
    let printed = printed.and_then(|()| std::io::stdout().flush()).map_err(stdout_error);
    printed.map_or_else(
        |error| {
            Output::new(Color::Auto, false).error(&error);
            error.code()
        },
        |()| exit_code::DONE,
    )
}

fn configured(cli: &Cli, config: &Config) -> Output {
    let named = match config.color.as_deref() {
        Some("always") => Color::Always,
        Some("never") => Color::Never,
        Some(_) | None => Color::Auto,
    };
    Output::new(cli.color.unwrap_or(named), cli.quiet || config.quiet.unwrap_or(false))
}

fn dispatch(command: Command, output: Output, config: &Config) -> Result<(), CliError> {
    match command {
        Command::Run(args) => run::run(&args, output, config),
        Command::Build(args) => build::run(&args, output),
        Command::Replay(args) => replay::run(&args, output),
        Command::Verify(args) => verify::run(&args, output),
        Command::Price(args) => price::run(&args, output),
        Command::Count(args) => count::run(&args, output),
        Command::Calibrate(args) => calibrate::run(&args, output),
        Command::Diff(args) => diff::run(&args, output),
        Command::Init(args) => init::run(&args, output),
        Command::Schema(args) => schema::run(&args, output),
        Command::Completions(args) => completions::run(&args, output),
        Command::Man(args) => man::run(&args, output),
    }
}
