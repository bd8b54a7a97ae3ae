//! Counts of tokens, and how far they are from bills: text and JSON.

mod calibrated;
mod json;
mod text;

pub use calibrated::{accuracy_markdown, calibration_json, calibration_text};
pub use json::{count_json, line_json};
pub use text::count_text;

use crate::counting::{Counted, Exactness, measured_error};
use crate::provider::{self, ModelFacts, find_model};

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
    let family = model.map(|model| model.family.as_str()).unwrap_or_default();
    let error = measured_error(counted.tokenizer, family, counted.class);
    let whose = match model.map(|model| is_own(model, counted)) {
        Some(true) => "",
        Some(false) => "counts of another family than the model's; ",
        None => "no known model is named; ",
    };
    format!("{label}: {whose}{error}")
}

fn is_own(model: &ModelFacts, counted: &Counted) -> bool {
    model.tokenizer == counted.tokenizer
}
