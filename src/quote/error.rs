//! Why something has no price.

/// A usage, a model or a price that cannot be used, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuoteError {
    /// What was given is no usage, or none that can be counted.
    #[error("{message}")]
    Usage {
        /// What is wrong, with its place.
        message: String,
        /// What to do.
        help: String,
    },
    /// No model has the name.
    #[error("{message}")]
    Model {
        /// What is wrong, with its place.
        message: String,
        /// What to do.
        help: String,
    },
    /// A usage has no price, or none that is exact.
    #[error("{message}")]
    Price {
        /// What is wrong, with its place.
        message: String,
        /// What to do.
        help: String,
    },
    /// There is nothing to compare with.
    #[error("{message}")]
    Comparison {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
}

impl QuoteError {
    /// What to do about it.
    pub fn help(&self) -> &str {
        match self {
            QuoteError::Usage { help, .. }
            | QuoteError::Model { help, .. }
            | QuoteError::Price { help, .. }
            | QuoteError::Comparison { help, .. } => help,
        }
    }

    /// The error with its row's place before the message.
    pub(super) fn at(mut self, place: &str) -> QuoteError {
        let (QuoteError::Usage { message, .. }
        | QuoteError::Model { message, .. }
        | QuoteError::Price { message, .. }
        | QuoteError::Comparison { message, .. }) = &mut self;
        *message = at(place, message);
        self
    }
}

/// A message with the place it is about; the message alone for what was typed.
pub(super) fn at(place: &str, message: &str) -> String {
    if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") }
}
