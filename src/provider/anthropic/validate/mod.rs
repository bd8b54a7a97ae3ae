//! What the Messages API would refuse, told from the body alone.
//!
//! Absent on purpose: what depends on the account, the headers, the clock or the model (a role or
//! parameter that some models lack, the signature of a thinking block), and limits of the content
//! itself (context window, size of images). Unknown block types, tool types and parameters are
//! accepted, since the API adds to them.

mod body;
mod content;
mod envelope;
mod markers;
mod pairing;
mod rules;
#[cfg(test)]
mod tests;

pub use rules::{refusals, rule_names};
