//! Token counts behind one type.
//!
//! [`Tokenizer`] counts; [`claude`] holds the counts of the Claude families. Nothing else knows a
//! vocabulary. Text is counted as ordinary text: words that look like special tokens are text too.
//! Deliberately absent: token ids (nothing downstream needs them) and special tokens.

mod bpe;
pub mod claude;
mod counter;
mod spec;

pub use claude::{ClaudeFamily, JOINT_BYTES, joint};
pub use counter::Tokenizer;
pub use spec::{SCALE_MILLI_MAX, TokenizerError, TokenizerSpec, Vocabulary};
