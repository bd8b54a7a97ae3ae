//! The one place that prints.

use std::io::{self, IsTerminal, Write};

use super::error::CliError;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where results and messages go.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// No messages on stderr.
    pub quiet: bool,
    color: Color,
}

/// Narrowest and widest text.
const WIDTHS: (usize, usize) = (80, 120);

impl Output {
    /// Output as asked for.
    pub fn new(color: Color, quiet: bool) -> Output {
        Output { quiet, color }
    }

    /// Whether results on stdout are coloured.
    pub fn styles_stdout(&self) -> bool {
        self.styles(anstream::AutoStream::choice(&io::stdout()))
    }

    /// Whether messages on stderr are coloured.
    pub fn styles_stderr(&self) -> bool {
        self.styles(anstream::AutoStream::choice(&io::stderr()))
    }

    fn styles(&self, automatic: anstream::ColorChoice) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => automatic != anstream::ColorChoice::Never,
        }
    }

    /// Width of the text: COLUMNS where set, else 100, so that output does not depend on the
    /// terminal.
    pub fn width(&self) -> usize {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        columns.unwrap_or(100).clamp(WIDTHS.0, WIDTHS.1)
    }

    /// Whether stderr is a terminal on which progress may be drawn.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Writes a result to stdout.
    ///
    /// # Errors
    /// [`CliError::OutputClosed`] where the reader has gone, else the system's reason.
    pub fn result(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(stdout_error)
    }

    /// Writes a message to stderr; one that cannot be written is dropped, there is nowhere left to
    /// say so.
    pub fn message(&self, text: &str) {
        if !self.quiet {
            drop(writeln!(io::stderr().lock(), "{text}"));
        }
    }

    /// Writes an error to stderr, also when quiet.
    pub fn error(&self, error: &CliError) {
        if let Some(text) = error.text(self.styles_stderr()) {
            drop(writeln!(io::stderr().lock(), "{text}"));
        }
    }
}

/// What a failed write to stdout means.
pub(super) fn stdout_error(source: io::Error) -> CliError {
    if source.kind() == io::ErrorKind::BrokenPipe {
        return CliError::OutputClosed;
    }
    CliError::Io { action: "write", path: "the standard output".into(), source }
}
