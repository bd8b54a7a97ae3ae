//! Real inputs as neutral conversations: tools, system prompts, messages and session files.
//!
//! Everything here is text in, values out; reading files is left to the caller. Raw JSON that a
//! provider sees (`input_schema`, `tool_use.input`, blocks of other kinds) keeps its bytes and its
//! key order. Cache markers are dropped: where they go is decided by a marker policy.

mod prompt;
mod source;
mod tools;
mod transcript;

pub use prompt::{messages, system};
pub use source::ImportError;
pub use tools::tools;
pub use transcript::transcript;
