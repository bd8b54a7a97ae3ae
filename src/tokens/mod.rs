//! Token counts behind one type.
//!
//! [`Tokenizer`] counts for scenarios; [`claude`] holds the counts of the Claude families, which no
//! scenario uses. Nothing else knows a vocabulary. Text is counted as ordinary text: words
//! that look like special tokens are text too. Deliberately absent: token ids (nothing downstream
//! needs them) and special tokens.

pub mod claude;
mod counter;
mod guard;
mod spec;

pub use claude::ClaudeFamily;
pub use counter::Tokenizer;
pub use spec::{SCALE_MILLI_MAX, TokenizerError, TokenizerSpec, Vocabulary};
