//! Measures prompts and bodies: tokens by block, shared prefixes, the first difference.

pub mod common;
pub mod difference;
pub mod identity;
pub mod position;
pub mod shared_prefix;
pub mod tokenize;

pub use difference::{Difference, first_difference};
pub use position::position_kind;
pub use shared_prefix::{SharedPrefix, shared_body_bytes, shared_prefix};
pub use tokenize::{BlockMeasure, TokenizedPrompt, tokenize};
