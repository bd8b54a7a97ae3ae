//! What a replay came to: the disagreements first, then the sums beside their bounds.

mod json;
mod text;

pub use json::{head as json_head, row as json_row, tail as json_tail};
pub use text::{Disagreement, text};
