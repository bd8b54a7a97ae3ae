//! Token counts behind one type.
//!
//! [`Tokenizer`] is the only thing that knows a vocabulary. Text is counted as ordinary text: words
//! that look like special tokens are text too. Deliberately absent: token ids (nothing downstream
//! needs them) and special tokens.

mod counter;
mod guard;
mod spec;

pub use counter::Tokenizer;
pub use spec::{SCALE_MILLI_MAX, TokenizerError, TokenizerSpec, Vocabulary};
