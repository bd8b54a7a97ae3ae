//! Counts of tokens, and how far they are from bills: text and JSON.

mod calibrated;
mod json;
mod text;

pub use calibrated::{accuracy_markdown, calibration_json, calibration_text};
pub use json::{count_json, line_json};
pub use text::count_text;

use crate::counting::{self, Counted, Exactness};
use crate::provider;
use crate::request::Mark;

/// What stands beside a count: how sure it is, and what was measured.
fn evidence(counted: &Counted) -> String {
    let label = counted.exactness.as_str();
    if counted.sections.is_empty() {
        return match counted.exactness {
            Exactness::Exact => format!("{label} by the rules of {}", counted.tokenizer),
            Exactness::Estimated => format!("{label}: counts of another vocabulary, scaled"),
        };
    }
    let own = provider::ALL[0].tokenizer_for(&counted.model);
    let error = counting::evidence(counted.tokenizer, own, counted.class);
    let hidden = match counted.weakest {
        Some(Mark::Inferred) => "; some of its numbers are inferred from other models or requests",
        Some(Mark::Documented) => "; its hidden prompts are documented, not measured",
        Some(Mark::Measured) | None => "",
    };
    format!("{label}: {error}{hidden}")
}
