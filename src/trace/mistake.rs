//! What is wrong with a trace, and where.

use std::fmt;
use std::io;

use crate::request::json::{JsonError, Node, parse, pointer_at};

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The system says so.
    #[error("failed to read {name}: {source}")]
    Io {
        /// The trace.
        name: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Its text says so.
    #[error("{0}")]
    Mistake(Box<Mistake>),
    /// A request starts before the one above it.
    #[error("{0}")]
    OutOfOrder(Box<Mistake>),
}

impl TraceError {
    /// An error of the system.
    pub(super) fn io(name: &str, source: io::Error) -> TraceError {
        TraceError::Io { name: name.to_owned(), source }
    }
}

impl From<Box<Mistake>> for TraceError {
    fn from(mistake: Box<Mistake>) -> TraceError {
        TraceError::Mistake(mistake)
    }
}

/// One mistake in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The trace as it was named.
    pub name: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1; 0 where the whole line is meant.
    pub column: usize,
    /// JSON pointer of the value in its line; empty where the whole line is meant.
    pub key: String,
    /// The value as written, shortened; empty where there is none.
    pub value: String,
    /// What is wrong and what is allowed.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        write!(f, ": ")?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}", self.message)?;
        if !self.value.is_empty() {
            write!(f, ", found {}", self.value)?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

/// Most characters of a value that a message shows.
const VALUE_CHARS_MAX: usize = 60;

/// One line of a trace, for messages about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) line: u64,
    pub(super) bytes: &'a [u8],
    /// False for a last line without a line end.
    pub(super) ended: bool,
}

impl Place<'_> {
    /// A mistake that is the whole line.
    pub(super) fn whole(
        &self,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Mistake> {
        Box::new(Mistake {
            name: self.name.to_owned(),
            line: self.line,
            column: 0,
            key: String::new(),
            value: String::new(),
            message: message.into(),
            help: help.into(),
        })
    }

    /// A mistake at a value of the line.
    pub(super) fn at(
        &self,
        node: &Node,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Mistake> {
        let offset = node.span.start;
        let text = String::from_utf8_lossy(node.raw(self.bytes));
        let mut value: String = text.chars().take(VALUE_CHARS_MAX).collect();
        if value.len() < text.len() {
            value.push('…');
        }
        let root = parse(self.bytes).ok();
        let key = root.map_or(String::new(), |root| pointer_at(self.bytes, &root, offset));
        let column = JsonError::at(self.bytes, offset, "").column;
        Box::new(Mistake { column, key, value, ..*self.whole(message, help) })
    }

    /// The line is not JSON.
    pub(super) fn syntax(&self, error: &JsonError) -> Box<Mistake> {
        let cut = !self.ended && error.offset >= self.bytes.len();
        let (message, help) = if cut {
            (
                "the last line ends early".to_owned(),
                "the file is cut off: copy it again, or remove its last line",
            )
        } else {
            (format!("not JSON: {}", error.message), "one JSON object a line is expected")
        };
        Box::new(Mistake { column: error.column, ..*self.whole(message, help) })
    }
}
