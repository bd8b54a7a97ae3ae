//! What can go wrong in a command, and the exit code of each.

use std::io;
use std::path::{Path, PathBuf};

use super::exit_code;
use crate::quote::QuoteError;
use crate::replay::ReplayError;
use crate::report::ReportError;
use crate::scenario::{self, LoadError, Scenario};
use crate::trace::TraceError;
use crate::whatif::StudyError;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line asks for something that cannot be.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// A scenario cannot be read.
    #[error("failed to read a scenario")]
    Load(#[from] LoadError),
    /// A scenario is well-formed but cannot be run.
    #[error("failed to run {scenario}: {source}")]
    Study {
        /// Path as given.
        scenario: String,
        /// Why.
        source: StudyError,
    },
    /// A trace cannot be replayed.
    #[error("{0}")]
    Replay(#[from] ReplayError),
    /// Results cannot be written.
    #[error("{0}")]
    Report(#[from] ReportError),
    /// A file or stream.
    #[error("failed to {action} {path}: {source}")]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// Path as given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// `forkcost.toml` cannot be used.
    #[error("{0}")]
    Config(String),
    /// Expectations that do not hold, printed already.
    #[error("{count} not met")]
    NotMet {
        /// In words, e.g. `2 expectations`.
        count: String,
    },
    /// Several scenarios failed, each printed already.
    #[error("{failed} of {total} scenarios failed")]
    Several {
        /// How many.
        failed: usize,
        /// Of how many.
        total: usize,
        /// The highest exit code among them.
        code: u8,
    },
    /// The reader of the output has gone: nothing to say and nothing wrong.
    #[error("the output was closed")]
    OutputClosed,
}

impl CliError {
    /// A scenario that cannot be run, at the key that it is about where that stands in the file.
    pub(super) fn study(path: &Path, scenario: &Scenario, source: StudyError) -> CliError {
        let (key, help) = source.key(scenario);
        let text = source.to_string();
        let message = if text.starts_with(key) { text } else { format!("{key}: {text}") };
        let place = scenario.places.mistake(key, &message, help);
        match place {
            Some(diagnostics) => CliError::Load(LoadError::Diagnostics(diagnostics)),
            None => CliError::Study { scenario: path.display().to_string(), source },
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            CliError::Usage { .. } | CliError::Study { .. } | CliError::Config(_) => {
                exit_code::BAD_INPUT
            }
            CliError::Load(LoadError::Io { .. }) | CliError::Io { .. } | CliError::Report(_) => {
                exit_code::IO
            }
            CliError::Load(LoadError::Diagnostics(_) | LoadError::DataFolderUnset(_)) => {
                exit_code::BAD_INPUT
            }
            CliError::Replay(ReplayError::Trace(TraceError::Io { .. }) | ReplayError::Sink(_)) => {
                exit_code::IO
            }
            CliError::Replay(
                ReplayError::Trace(TraceError::Mistake(_) | TraceError::OutOfOrder(_))
                | ReplayError::Model { .. }
                | ReplayError::Rule(_),
            ) => exit_code::BAD_INPUT,
            CliError::NotMet { .. } => exit_code::NOT_MET,
            CliError::Several { code, .. } => *code,
            CliError::OutputClosed => exit_code::DONE,
        }
    }

    /// The text for a person; `None` where there is nothing to say.
    pub fn text(&self, styled: bool) -> Option<String> {
        match self {
            CliError::OutputClosed => None,
            CliError::Load(
                LoadError::Diagnostics(diagnostics) | LoadError::DataFolderUnset(diagnostics),
            ) => Some(scenario::render(diagnostics, styled)),
            CliError::Load(error @ LoadError::Io { .. }) => {
                let help =
                    "name a scenario file or a folder of them, or write one with `forkcost init`";
                Some(format!("error: {error}\n  help: {help}"))
            }
            CliError::Usage { message, help } => Some(format!("error: {message}\n  help: {help}")),
            other => Some(with_sources(other)),
        }
    }
}

impl From<QuoteError> for CliError {
    fn from(error: QuoteError) -> CliError {
        CliError::Usage { message: error.to_string(), help: error.help().to_owned() }
    }
}

/// The error and what caused it, one a line.
fn with_sources(error: &CliError) -> String {
    let mut text = format!("error: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str("\n  because: ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
