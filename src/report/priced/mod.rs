//! What usages cost, models side by side, the price list of a day and the history of a model: text
//! for a person, and JSON.

mod json;
mod list;
mod text;

pub use json::{bill as bill_json, comparison as comparison_json};
pub use list::{
    history as history_text, history_to_json as history_json, text as list_text,
    to_json as list_json,
};
pub use text::{bill as bill_text, comparison as comparison_text};
