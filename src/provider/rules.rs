//! The cache rules of a model on a day, and the overrides of a scenario.
//!
//! Deliberately absent: the rules of clouds that resell the models; their differences are
//! overrides, e.g. `count = "per_block"` for Bedrock.

use std::fmt;

use jiff::civil::Date;

use crate::cache::{CacheRules, PositionCount, ToolPositions};
use crate::provider::facts::{Facts, ModelFacts};
use crate::units::Tokens;

/// Every key of `[rules]`, in alphabetical order.
pub const RULE_KEYS: &[RuleKey] = &[
    RuleKey::text("count", "\"per_block\" or \"collapse_tool_runs\""),
    RuleKey::flag("hash_billing_line"),
    RuleKey::flag("longer_ttl_extends"),
    RuleKey::integer("lookback", 1, 1_000, "a whole number of positions from 1 to 1000"),
    RuleKey::flag("match_inside_runs"),
    RuleKey::integer("min_tokens", 0, 1_000_000, "a whole number of tokens from 0 to 1000000"),
    RuleKey::flag("refresh_earlier"),
    RuleKey::flag("thinking_positions"),
    RuleKey::text("tool_positions", "\"each\" or \"one\""),
    RuleKey::flag("ttl_in_key"),
    RuleKey::flag("write_below_hit"),
];

/// The names of [`RULE_KEYS`], in the same order.
pub const RULE_NAMES: &[&str] = &{
    let mut names = [""; RULE_KEYS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = RULE_KEYS[at].key;
        at += 1;
    }
    names
};

/// The rules for requests to `model` on `date` without overrides.
pub fn documented_rules(facts: &Facts, model: &ModelFacts, date: Date) -> CacheRules {
    let count = if date >= facts.runs_collapse_from {
        PositionCount::CollapseToolRuns
    } else {
        PositionCount::PerBlock
    };
    CacheRules { count, min_tokens: model.min_tokens, ..facts.rules.clone() }
}

/// Sets one rule.
///
/// # Errors
/// Where the key is unknown or the value is not allowed; the rules are then as before.
pub fn apply(rules: &mut CacheRules, key: &str, value: RuleValue) -> Result<(), RuleError> {
    use RuleValue::{Bool, Integer, Text};
    let Some(known) = RULE_KEYS.iter().find(|known| known.key == key) else {
        return Err(RuleError::unknown(key));
    };
    if let (RuleKind::Integer { least, most }, Integer(number)) = (known.kind, &value)
        && !(least..=most).contains(number)
    {
        return Err(RuleError::Value { key: known.key, value, allowed: known.allowed });
    }
    match (known.key, value) {
        ("count", Text(text)) if text == "per_block" => rules.count = PositionCount::PerBlock,
        ("count", Text(text)) if text == "collapse_tool_runs" => {
            rules.count = PositionCount::CollapseToolRuns;
        }
        ("tool_positions", Text(text)) if text == "each" => {
            rules.tool_positions = ToolPositions::Each;
        }
        ("tool_positions", Text(text)) if text == "one" => {
            rules.tool_positions = ToolPositions::One;
        }
        ("lookback", Integer(positions)) => rules.lookback = positions as u32,
        ("min_tokens", Integer(tokens)) => rules.min_tokens = Tokens(tokens),
        ("hash_billing_line", Bool(on)) => rules.hash_billing_line = on,
        ("longer_ttl_extends", Bool(on)) => rules.longer_ttl_extends = on,
        ("match_inside_runs", Bool(on)) => rules.match_inside_runs = on,
        ("refresh_earlier", Bool(on)) => rules.refresh_earlier = on,
        ("thinking_positions", Bool(on)) => rules.thinking_positions = on,
        ("ttl_in_key", Bool(on)) => rules.ttl_in_key = on,
        ("write_below_hit", Bool(on)) => rules.write_below_hit = on,
        (key, value) => {
            return Err(RuleError::Value { key, value, allowed: known.allowed });
        }
    }
    Ok(())
}

/// Whether a rule may have a value.
///
/// # Errors
/// Where the key is unknown or the value is not allowed.
pub fn check(key: &str, value: &RuleValue) -> Result<(), RuleError> {
    let mut probe = crate::provider::facts::anthropic_facts().rules.clone();
    apply(&mut probe, key, value.clone())
}

/// All rules as a scenario would set them, in the order of [`RULE_KEYS`].
pub fn stated(rules: &CacheRules) -> Vec<(String, RuleValue)> {
    let count = match rules.count {
        PositionCount::PerBlock => "per_block",
        PositionCount::CollapseToolRuns => "collapse_tool_runs",
    };
    let tools = match rules.tool_positions {
        ToolPositions::Each => "each",
        ToolPositions::One => "one",
    };
    let values = [
        ("count", RuleValue::Text(count.to_owned())),
        ("hash_billing_line", RuleValue::Bool(rules.hash_billing_line)),
        ("longer_ttl_extends", RuleValue::Bool(rules.longer_ttl_extends)),
        ("lookback", RuleValue::Integer(u64::from(rules.lookback))),
        ("match_inside_runs", RuleValue::Bool(rules.match_inside_runs)),
        ("min_tokens", RuleValue::Integer(rules.min_tokens.0)),
        ("refresh_earlier", RuleValue::Bool(rules.refresh_earlier)),
        ("thinking_positions", RuleValue::Bool(rules.thinking_positions)),
        ("tool_positions", RuleValue::Text(tools.to_owned())),
        ("ttl_in_key", RuleValue::Bool(rules.ttl_in_key)),
        ("write_below_hit", RuleValue::Bool(rules.write_below_hit)),
    ];
    values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// What holds where a scenario does not set `key`, and why; `None` for an unknown key.
pub fn rule_default(facts: &Facts, key: &str) -> Option<RuleDefault> {
    if let Some(switch) = facts.switches.iter().find(|switch| switch.key == key) {
        let (text, reason) = (switch.default.clone(), switch.reason.clone());
        return Some(RuleDefault { text, reason });
    }
    let note = |key| facts.rule_sources.iter().find(|source| source.key == key);
    match key {
        "count" => note("runs_collapse_from").map(|source| RuleDefault {
            text: format!("collapse_tool_runs from {}, else per_block", facts.runs_collapse_from),
            reason: source.note.clone(),
        }),
        "lookback" => note("lookback").map(|source| RuleDefault {
            text: facts.rules.lookback.to_string(),
            reason: source.note.clone(),
        }),
        "min_tokens" => Some(RuleDefault {
            text: "the model's".to_owned(),
            reason: "shorter prefixes are silently uncached; the length differs by model".into(),
        }),
        _ => None,
    }
}

/// A key of `[rules]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleKey {
    /// The key, e.g. `lookback`.
    pub key: &'static str,
    /// What its value is.
    pub kind: RuleKind,
    /// What it may be, in words.
    pub allowed: &'static str,
}

impl RuleKey {
    const fn text(key: &'static str, allowed: &'static str) -> RuleKey {
        RuleKey { key, kind: RuleKind::Text, allowed }
    }

    const fn integer(key: &'static str, least: u64, most: u64, allowed: &'static str) -> RuleKey {
        RuleKey { key, kind: RuleKind::Integer { least, most }, allowed }
    }

    const fn flag(key: &'static str) -> RuleKey {
        RuleKey { key, kind: RuleKind::Bool, allowed: "true or false" }
    }
}

/// What the value of a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// One of a few words.
    Text,
    /// A whole number of a range, both ends included.
    Integer {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// True or false.
    Bool,
}

/// The value of a rule as a scenario gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleValue {
    /// A word.
    Text(String),
    /// A whole number, zero or more.
    Integer(u64),
    /// True or false.
    Bool(bool),
}

/// As it stands in a scenario.
impl fmt::Display for RuleValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleValue::Text(text) => write!(f, "{text:?}"),
            RuleValue::Integer(number) => write!(f, "{number}"),
            RuleValue::Bool(on) => write!(f, "{on}"),
        }
    }
}

/// A rule's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDefault {
    /// The default in words, e.g. `true`.
    pub text: String,
    /// Why, in words.
    pub reason: String,
}

/// Why an override is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No rule has the key.
    #[error("set the rule `{key}`: no such rule{}; known are {}", did_you_mean(*nearest), keys())]
    Key {
        /// The key.
        key: String,
        /// The rule that looks most like it, if one does.
        nearest: Option<&'static str>,
    },
    /// The value is not allowed.
    #[error("set the rule `{key}` to {value}: allowed is {allowed}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        value: RuleValue,
        /// What is allowed.
        allowed: &'static str,
    },
}

impl RuleError {
    fn unknown(key: &str) -> RuleError {
        let nearest = RULE_KEYS
            .iter()
            .map(|known| (strsim::damerau_levenshtein(key, known.key), known.key))
            .filter(|(distance, _)| *distance <= key.len() / 2)
            .min()
            .map(|(_, known)| known);
        RuleError::Key { key: key.to_owned(), nearest }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|key| format!(", did you mean `{key}`?")).unwrap_or_default()
}

fn keys() -> String {
    RULE_KEYS.iter().map(|known| known.key).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::mem::discriminant;

    use jiff::civil::date;

    use super::*;
    use crate::provider::facts::anthropic_facts;
    use crate::provider::lookup::find_model;

    fn rules_of(model: &str, day: Date) -> CacheRules {
        let facts = anthropic_facts();
        documented_rules(facts, find_model(facts, model).unwrap(), day)
    }

    #[test]
    fn runs_count_as_one_position_from_a_day_on() {
        let count = |day| rules_of("claude-opus-5", day).count;
        assert_eq!(count(date(2026, 9, 14)), PositionCount::PerBlock);
        assert_eq!(count(date(2026, 9, 15)), PositionCount::CollapseToolRuns);
    }

    #[test]
    fn a_model_brings_its_minimum_and_the_table_the_rest() {
        let day = date(2026, 12, 1);
        let haiku = rules_of("claude-haiku-4-5", day);
        assert_eq!((haiku.min_tokens, haiku.lookback), (Tokens(4_096), 20));
        let opus = rules_of("claude-opus-5", day);
        assert_eq!(opus.min_tokens, Tokens(512));
        assert_eq!(CacheRules { min_tokens: opus.min_tokens, ..haiku }, opus);
    }

    #[test]
    fn every_key_changes_its_rule_and_no_other_kind_of_value_does() {
        let start = rules_of("claude-opus-5", date(2026, 12, 1));
        let samples = |kind| match kind {
            RuleKind::Text => vec![
                RuleValue::Text("per_block".into()),
                RuleValue::Text("collapse_tool_runs".into()),
                RuleValue::Text("each".into()),
                RuleValue::Text("one".into()),
            ],
            RuleKind::Integer { .. } => vec![RuleValue::Integer(7)],
            RuleKind::Bool => vec![RuleValue::Bool(true), RuleValue::Bool(false)],
        };
        for known in RULE_KEYS {
            let mut changed = 0;
            let integer = RuleKind::Integer { least: 0, most: 0 };
            for kind in [RuleKind::Text, integer, RuleKind::Bool] {
                for value in samples(kind) {
                    let mut rules = start.clone();
                    let result = apply(&mut rules, known.key, value);
                    let same_kind = discriminant(&kind) == discriminant(&known.kind);
                    assert!(result.is_err() || same_kind, "{}", known.key);
                    assert!(result.is_ok() || rules == start, "{}", known.key);
                    changed += u32::from(rules != start);
                }
            }
            assert_eq!(changed, 1, "{}", known.key);
        }
    }

    #[test]
    fn what_is_stated_can_be_applied_and_says_the_same() {
        let facts = anthropic_facts();
        let start = rules_of("claude-opus-5", date(2026, 12, 1));
        for known in RULE_KEYS {
            let samples = match known.kind {
                RuleKind::Text => vec!["per_block", "collapse_tool_runs", "each", "one"],
                RuleKind::Integer { .. } | RuleKind::Bool => vec![""],
            };
            for sample in samples {
                let mut changed = start.clone();
                for value in
                    [RuleValue::Text(sample.into()), RuleValue::Integer(3), RuleValue::Bool(true)]
                {
                    drop(apply(&mut changed, known.key, value));
                }
                let mut again = facts.rules.clone();
                for (key, value) in stated(&changed) {
                    apply(&mut again, &key, value).unwrap();
                }
                assert_eq!(again, changed, "{}", known.key);
            }
        }
        let keys: Vec<String> = stated(&start).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, RULE_NAMES);
    }

    #[test]
    fn numbers_are_bounded() {
        let mut rules = rules_of("claude-opus-5", date(2026, 12, 1));
        for (key, number, allowed) in [
            ("lookback", 0, false),
            ("lookback", 1, true),
            ("lookback", 1_000, true),
            ("lookback", 1_001, false),
            ("lookback", u64::MAX, false),
            ("min_tokens", 0, true),
            ("min_tokens", 1_000_000, true),
            ("min_tokens", 1_000_001, false),
        ] {
            let result = apply(&mut rules, key, RuleValue::Integer(number));
            assert_eq!(result.is_ok(), allowed, "{key} = {number}");
        }
    }

    #[test]
    fn errors_say_what_is_allowed_and_what_is_near() {
        let mut rules = rules_of("claude-opus-5", date(2026, 12, 1));
        let mut error = |key: &str, value| apply(&mut rules, key, value).unwrap_err().to_string();
        assert_eq!(
            error("count", RuleValue::Text("all".into())),
            "set the rule `count` to \"all\": allowed is \"per_block\" or \"collapse_tool_runs\""
        );
        let typo = error("lookbak", RuleValue::Integer(3));
        assert!(typo.contains("did you mean `lookback`?"), "{typo}");
        let far = error("zzzzzzzzzz", RuleValue::Bool(true));
        assert!(!far.contains("did you mean") && far.contains("write_below_hit"), "{far}");
    }

    #[test]
    fn names_are_those_of_the_keys() {
        let names: Vec<&str> = RULE_KEYS.iter().map(|known| known.key).collect();
        assert_eq!(RULE_NAMES, names);
        assert!(names.is_sorted());
    }

    #[test]
    fn every_key_has_a_default_with_a_reason() {
        let facts = anthropic_facts();
        for known in RULE_KEYS {
            let default = rule_default(facts, known.key).unwrap();
            assert!(!default.text.is_empty() && !default.reason.is_empty(), "{}", known.key);
        }
        assert_eq!(rule_default(facts, "lookback").unwrap().text, "20");
        assert_eq!(rule_default(facts, "no such key"), None);
    }
}
