//! `[schedule]`, `[rules]`, `[baselines]` and `[expect]`.

use super::diagnostic::{Mistakes, code};
use super::forking::CHILDREN_MAX;
use super::parent::TOKENS_MAX;
use super::tree::{Table, Value};
use super::walk::{Field, Section};
use super::{Expectation, ExpectedValue, FreshSpec, Order, Schedule, wire};
use crate::cache::CacheRules;
use crate::provider::rules::{self, RULE_KEYS, RuleError, RuleKind, RuleValue};

const SECONDS_MAX: i64 = 86_400;
const FIRST_TOKEN_LATENCY_MS: i64 = 2_000;
const REQUEST_MS: i64 = 20_000;

/// Reads `[schedule]`.
pub(super) fn schedule(section: &Section<'_>, mistakes: &mut Mistakes) -> Option<Schedule> {
    let seconds = |field: &Field<'_>, m: &mut Mistakes| field.millis(0..=SECONDS_MAX, m);
    let latency = section.read("first_token_latency_s", FIRST_TOKEN_LATENCY_MS, mistakes, seconds);
    let request = section.read("request_s", REQUEST_MS, mistakes, seconds);
    let order = order(section, mistakes);
    let (first_token_latency_ms, request_ms) = (latency?, request?);
    if first_token_latency_ms > request_ms {
        let field =
            section.field("first_token_latency_s").or_else(|| section.field("request_s"))?;
        let message = format!(
            "{} does not fit: the first token comes after {}, but a request ends after {}",
            field.key,
            seconds_text(first_token_latency_ms),
            seconds_text(request_ms)
        );
        let help = "make request_s at least as long as first_token_latency_s";
        field.report(code::CONTRADICTION, message, help, mistakes);
        return None;
    }
    Some(Schedule { order: order?, first_token_latency_ms, request_ms })
}

fn seconds_text(millis: i64) -> String {
    let text = crate::units::SimTime(millis).to_seconds_string();
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn order(section: &Section<'_>, mistakes: &mut Mistakes) -> Option<Order> {
    // The numbers are placeholders until their keys are read.
    let words = [
        Order::Simultaneous,
        Order::Sequential,
        Order::AfterFirstToken,
        Order::Waves { width: 1 },
        Order::Stagger { gap_ms: 1 },
        Order::Prewarm,
    ]
    .map(|order| (order.name(), order));
    let order =
        section.read("order", Order::Simultaneous, mistakes, |field, m| field.choice(&words, m));
    let width = section.read("wave_width", None, mistakes, |field, m| {
        field.integer(1..=CHILDREN_MAX, m).map(Some)
    });
    let gap = section
        .read("stagger_s", None, mistakes, |field, m| field.millis(0..=SECONDS_MAX, m).map(Some));
    let (order, width, gap) = (order?, width?, gap?);
    let waves = belongs(section, "wave_width", ("waves", order), mistakes);
    let stagger = belongs(section, "stagger_s", ("stagger", order), mistakes);
    if !(waves && stagger) {
        return None;
    }
    match (order, width, gap) {
        (Order::Waves { .. }, Some(width), _) => Some(Order::Waves { width }),
        (Order::Stagger { .. }, _, Some(0)) => {
            let field = section.field("stagger_s")?;
            let message = format!("{} must be more than 0, got 0", field.key);
            let help = "set order = \"simultaneous\" to send all children at once";
            field.report(code::OUT_OF_RANGE, message, help, mistakes);
            None
        }
        (Order::Stagger { .. }, _, Some(gap_ms)) => Some(Order::Stagger { gap_ms }),
        (order, _, _) => Some(order),
    }
}

/// Reports a key without its order, and an order without its key; true where they fit.
fn belongs(
    section: &Section<'_>,
    name: &str,
    (word, order): (&str, Order),
    mistakes: &mut Mistakes,
) -> bool {
    match (section.field(name), order.name() == word) {
        (Some(field), false) => {
            let message = format!(
                "{} has an effect with order = \"{word}\" only, and the order is \"{}\"",
                field.key,
                order.name()
            );
            let help = format!("set order = \"{word}\", or delete {name}");
            field.report(code::NEEDS_KEY, message, help, mistakes);
            false
        }
        (None, true) => {
            let key = section.key(name);
            let message = format!("{key} is missing: order = \"{word}\" needs it");
            section.missing(&key, &message, &format!("add {name} = 2"), mistakes);
            false
        }
        (Some(_), true) | (None, false) => true,
    }
}

/// One override of `[rules]`, not yet applied.
pub(super) struct RuleOverride<'a> {
    key: &'static str,
    field: Field<'a>,
    value: RuleValue,
}

/// Reads `[rules]`; what has the wrong type is reported and left out.
pub(super) fn rule_values<'a>(
    section: &Section<'a>,
    mistakes: &mut Mistakes,
) -> Vec<RuleOverride<'a>> {
    let mut overrides = Vec::new();
    for known in RULE_KEYS {
        let Some(field) = section.field(known.key) else { continue };
        let value = match known.kind {
            RuleKind::Integer { least, most } => {
                field.integer(least..=most, mistakes).map(RuleValue::Integer)
            }
            RuleKind::Text => field.text(mistakes).map(|text| RuleValue::Text(text.to_owned())),
            RuleKind::Bool => field.flag(mistakes).map(RuleValue::Bool),
        };
        overrides.extend(value.map(|value| RuleOverride { key: known.key, field, value }));
    }
    overrides
}

/// Applies the overrides to `rules`; gives them as `key = value`, in the order of the keys.
pub(super) fn apply_rules(
    overrides: Vec<RuleOverride<'_>>,
    rules: &mut CacheRules,
    mistakes: &mut Mistakes,
) -> Vec<String> {
    let mut applied = Vec::new();
    for RuleOverride { key, field, value } in overrides {
        match rules::apply(rules, key, value) {
            Ok(()) => {
                let written = mistakes.sources.excerpt(&field.node.span);
                applied.push(format!("{key} = {written}"));
            }
            Err(error) => {
                let message = match error {
                    RuleError::Value { value, allowed, .. } => {
                        format!("{} must be {allowed}, got {value}", field.key)
                    }
                    error @ RuleError::Key { .. } => format!("{}: {error}", field.key),
                };
                let help = "see docs/scenario-format.md, \"[rules]\", for the values";
                field.report(code::RULE, message, help, mistakes);
            }
        }
    }
    applied
}

/// Reads `[baselines]`.
pub(super) fn fresh(section: &Section<'_>, mistakes: &mut Mistakes) -> Option<FreshSpec> {
    let section = section.table("fresh", wire::FRESH, mistakes)?;
    let prompt_tokens = section.read("prompt_tokens", None, mistakes, |field, m| {
        field.integer(1..=TOKENS_MAX, m).map(Some)
    });
    let same_type = section.read("same_type", true, mistakes, |field, m| field.flag(m));
    Some(FreshSpec { prompt_tokens: prompt_tokens?, same_type: same_type? })
}

/// Reads `[expect]`, in the order of the paths.
pub(super) fn expect(root: &Section<'_>, mistakes: &mut Mistakes) -> Option<Vec<Expectation>> {
    let section = root.table("expect", &[], mistakes)?;
    let mut found = Vec::new();
    let mut sound = true;
    for (name, field) in section.fields() {
        sound &= expectation(name, &field, &mut found, mistakes);
    }
    found.sort_by(|a: &Expectation, b| a.path.cmp(&b.path));
    Some(found).filter(|_| sound)
}

fn expectation(
    path: &str,
    field: &Field<'_>,
    found: &mut Vec<Expectation>,
    mistakes: &mut Mistakes,
) -> bool {
    let value = match &field.node.value {
        Value::Table(Table { entries }) => {
            let inner = entries.iter().map(|entry| {
                let key = format!("{}.{}", field.key, entry.key);
                (format!("{path}.{}", entry.key), Field::of_entry(key, entry))
            });
            // A fold that visits all, so that every mistake is found.
            return inner.fold(true, |sound, (path, field)| {
                expectation(&path, &field, found, mistakes) && sound
            });
        }
        Value::Text(text) => Some(ExpectedValue::Text(text.clone())),
        Value::Bool(flag) => Some(ExpectedValue::Bool(*flag)),
        Value::Integer(Some(integer)) => i64::try_from(*integer).ok().map(ExpectedValue::Integer),
        Value::Integer(None) | Value::Float(_) | Value::Date(_) | Value::List(_) | Value::Null => {
            None
        }
    };
    let Some(value) = value else {
        let got = field.node.value.type_name();
        let message =
            format!("{} must be text, a whole number or true or false, got {got}", field.key);
        let written = mistakes.sources.excerpt(&field.node.span);
        let help = format!("write it as text: \"{}\"", written.trim_matches('"'));
        field.report(code::WRONG_TYPE, message, help, mistakes);
        return false;
    };
    let twice = found.iter().any(|other| other.path == path);
    if twice || path.split('.').any(str::is_empty) {
        let (code, problem) = if twice {
            (code::CONFLICT, "stands twice")
        } else {
            (code::EMPTY_VALUE, "has an empty part")
        };
        let message = format!("{} {problem}", field.key);
        field.report(code, message, "name each path of summary.json once", mistakes);
        return false;
    }
    found.push(Expectation { path: path.to_owned(), value, line: field.line(mistakes) });
    true
}
