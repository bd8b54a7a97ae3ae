//! Which assumptions matter: each rule is changed, and the bills that are then no longer predicted
//! are counted.

use super::index::as_text;
use super::rows_of;
use crate::provider::rules::{RULE_KEYS, RuleKind, RuleValue};
use crate::replay::{Agreements, Options, ReplayError, Timing};
use crate::trace::Source;

/// One changed assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flip {
    /// A rule with another value.
    Rule(String, RuleValue),
    /// Other times.
    Timing(Timing),
}

impl Flip {
    fn options(&self) -> Options {
        match self {
            Flip::Rule(key, value) => {
                Options { rules: vec![(key.clone(), value.clone())], ..Options::default() }
            }
            Flip::Timing(timing) => Options { timing: *timing, ..Options::default() },
        }
    }

    fn text(&self) -> String {
        match self {
            Flip::Rule(key, value) => format!("`{}`", as_text(key, value)),
            Flip::Timing(Timing::AsStated) => "times as stated".to_owned(),
            Flip::Timing(Timing::AnswersAtOnce) => "readable at once".to_owned(),
            Flip::Timing(Timing::HundredTimesFaster) => "next to nothing expires".to_owned(),
        }
    }
}

/// Every rule with its other values (numbers with some on either side of the documented one), and
/// the two other ways for time to pass.
pub fn flips() -> Vec<Flip> {
    let mut flips = Vec::new();
    for known in RULE_KEYS {
        let values: Vec<RuleValue> = match (known.kind, known.key) {
            (RuleKind::Bool, _) => vec![RuleValue::Bool(false), RuleValue::Bool(true)],
            (RuleKind::Text, "count") => words(&["per_block", "collapse_tool_runs"]),
            (RuleKind::Text, _) => words(&["each", "one"]),
            (RuleKind::Integer { .. }, "lookback") => numbers(&[1, 5, 10, 19, 21, 1_000]),
            (RuleKind::Integer { .. }, _) => numbers(&[512, 1_024, 2_048, 4_096]),
        };
        flips.extend(values.into_iter().map(|value| Flip::Rule(known.key.to_owned(), value)));
    }
    flips.extend([Timing::AnswersAtOnce, Timing::HundredTimesFaster].map(Flip::Timing));
    flips
}

fn words(words: &[&str]) -> Vec<RuleValue> {
    words.iter().map(|word| RuleValue::Text((*word).to_owned())).collect()
}

fn numbers(numbers: &[u64]) -> Vec<RuleValue> {
    numbers.iter().copied().map(RuleValue::Integer).collect()
}

/// Assumptions whose change makes a prediction differ from its bill, as `assumption (n bills)`.
pub(super) fn matters(
    source: impl Fn() -> Result<Source, ReplayError>,
    agreements: &Agreements,
) -> Result<Vec<String>, ReplayError> {
    let mut found = Vec::new();
    for flip in flips() {
        let changed = rows_of(source()?, &flip.options())?.outcome.agreements;
        let lost = agreements.exact.saturating_sub(changed.exact);
        if lost > 0 {
            let bills = if lost == 1 { "bill" } else { "bills" };
            found.push(format!("{} ({lost} {bills})", flip.text()));
        }
    }
    Ok(found)
}
