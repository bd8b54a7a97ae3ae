//! Counts of tokens, and how far they are from bills: text and JSON.

mod calibrated;
mod json;
mod text;

pub use calibrated::{accuracy_markdown, calibration_json, calibration_text};
pub use json::{count_json, line_json};
pub use text::count_text;

use crate::counting::{Counted, Exactness, measured_error};
use crate::provider::{self, find_model};
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
    let model = find_model(provider::ALL[0].facts(), &counted.model).ok();
    let retired = provider::ALL[0].tokenizer_for(&counted.model).map(|spec| spec.to_string());
    let family = model.map(|model| model.family.clone()).or(retired).unwrap_or_default();
    let error = measured_error(counted.tokenizer, &family, counted.class);
    let whose = if family.is_empty() {
        "no known model is named; "
    } else if counted.tokenizer.to_string() == family {
        ""
    } else {
        "counts of another family than the model's; "
    };
    let hidden = match counted.weakest {
        Some(Mark::Inferred) => "; some of its numbers are inferred from other models or requests",
        Some(Mark::Documented) => "; its hidden prompts are documented, not measured",
        Some(Mark::Measured) | None => "",
    };
    format!("{label}: {whose}{error}{hidden}")
}
