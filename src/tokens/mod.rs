//! Token counts behind one type.
//!
//! [`Tokenizer`] counts; [`claude`] holds the counts of the Claude families, [`file`](mod@file) the
//! tokenizers that a user brings as bytes. Nothing else knows a vocabulary. Text is counted as
//! ordinary text: words that look like special tokens are text too.
//! Deliberately absent: token ids (nothing downstream needs them) and special tokens.

mod bpe;
pub mod claude;
mod counter;
pub mod file;
#[cfg(test)]
mod samples;
mod spec;

pub use claude::{ClaudeFamily, JOINT_BYTES, joint};
pub use counter::Tokenizer;
pub use file::FileVocabulary;
pub use spec::{SCALE_MILLI_MAX, TokenizerError, TokenizerSpec, Vocabulary};
