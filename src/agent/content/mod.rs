//! Synthetic text that hits its token size exactly: tools, system prompt, history, dispatch,
//! directives.
//!
//! Every piece is drawn from a generator of its own, seeded by the seed, the name of the stream and
//! its index, so one more child or turn changes no other text. Sizes are those of the tokenizer:
//! exact under a vocabulary, the nearest count there is under a scaled one. The text is about
//! software and from our own templates; deliberately absent is anything that depends on a machine.

mod code;
mod dispatch;
mod draw;
mod fit;
mod history;
mod output;
mod prose;
mod texts;
mod tools;
mod words;

#[cfg(test)]
mod tests;

pub use dispatch::dispatch;
pub use history::history;
pub use texts::{
    IDENTITY_TOKENS, TextKind, directive, identity_line, placeholder, prompt, system, text,
};
pub use tools::tools;

/// Why text of a size cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The size is below the smallest one.
    #[error("{what}: {asked} tokens asked for, but {smallest} is the smallest size possible")]
    TooSmall {
        /// What was to be made.
        what: &'static str,
        /// Tokens asked for.
        asked: u64,
        /// Fewest tokens possible.
        smallest: u64,
    },
    /// There is nothing to put the tokens in.
    #[error("{what}: {asked} tokens asked for, but there is nothing to hold them")]
    NothingToFill {
        /// What was to be made.
        what: &'static str,
        /// Tokens asked for.
        asked: u64,
    },
    /// The size was missed.
    #[error("{what}: {asked} tokens asked for, but only {reached} reached; try a size close by")]
    NotExact {
        /// What was to be made.
        what: &'static str,
        /// Tokens asked for, under the vocabulary.
        asked: u64,
        /// Tokens of the closest text, under the vocabulary.
        reached: u64,
    },
    /// Generated JSON is not valid.
    #[error("{what}: generated JSON is not valid")]
    BadJson {
        /// What was to be made.
        what: &'static str,
        /// What the parser says.
        source: serde_json::Error,
    },
}

impl ContentError {
    /// What was to be made: the key of the scenario that asks for it, or a part of one.
    pub fn what(&self) -> &'static str {
        match self {
            ContentError::TooSmall { what, .. }
            | ContentError::NothingToFill { what, .. }
            | ContentError::NotExact { what, .. }
            | ContentError::BadJson { what, .. } => what,
        }
    }
}
