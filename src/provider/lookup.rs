//! Models by the names that requests and clouds give them.

use jiff::civil::Date;

use crate::provider::facts::{Facts, ModelFacts};

/// Most names that an error suggests.
const NEAREST_MAX: usize = 3;

/// The model called `name`: its id, an alias, or one of them with a date and the decoration of a
/// cloud or a gateway, e.g. `us.anthropic.claude-sonnet-4-5-20250929-v1:0`,
/// `claude-sonnet-4@20250514` or `anthropic/claude-opus-4.5`.
///
/// # Errors
/// Where no model has that name.
pub fn find_model<'a>(facts: &'a Facts, name: &str) -> Result<&'a ModelFacts, UnknownModel> {
    let plain = without_decoration(name);
    let undated = without_date(&plain);
    [name, &plain, undated]
        .into_iter()
        .find_map(|name| named(facts, name))
        .ok_or_else(|| UnknownModel::of(facts, name, undated))
}

/// No model has the name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("find the model `{name}`: {}", hint(nearest, known))]
pub struct UnknownModel {
    /// The name that was looked for.
    pub name: String,
    /// At most three ids that look like it, the nearest first.
    pub nearest: Vec<String>,
    /// The ids of all models in the order of the table.
    pub known: Vec<String>,
}

impl UnknownModel {
    fn of(facts: &Facts, name: &str, plain: &str) -> UnknownModel {
        let known: Vec<String> = facts.models.iter().map(|model| model.id.clone()).collect();
        // Half of the name has to be right, else a suggestion would be noise.
        let distance_max = plain.len() / 2;
        let mut ranked: Vec<(usize, &String)> = known
            .iter()
            .map(|id| (strsim::damerau_levenshtein(plain, id), id))
            .filter(|(distance, _)| *distance <= distance_max)
            .collect();
        // Stable: equal distances keep the order of the table.
        ranked.sort_by_key(|(distance, _)| *distance);
        let nearest = ranked.into_iter().take(NEAREST_MAX).map(|(_, id)| id.clone()).collect();
        UnknownModel { name: name.to_owned(), nearest, known }
    }
}

fn hint(nearest: &[String], known: &[String]) -> String {
    if nearest.is_empty() {
        format!("known are {}", known.join(", "))
    } else {
        format!("the nearest are {}", nearest.join(", "))
    }
}

fn named<'a>(facts: &'a Facts, name: &str) -> Option<&'a ModelFacts> {
    facts.models.iter().find(|model| model.id == name || model.aliases.iter().any(|a| a == name))
}

/// The name without route (`vertex_ai/`), region and vendor (`us.anthropic.`), version (`-v1:0`)
/// and `@default`, and with `-` between the digits of a version (`4.5`).
fn without_decoration(name: &str) -> String {
    let mut name = name.rsplit('/').next().unwrap_or(name);
    // Region and vendor are labels without digits; the dot of `claude-opus-4.5` follows one.
    while let Some((label, rest)) = name.split_once('.') {
        if label.bytes().any(|byte| byte.is_ascii_digit()) {
            break;
        }
        name = rest;
    }
    let name = name.strip_suffix("@default").unwrap_or(name);
    without_version(name).replace('.', "-")
}

/// The name without a trailing `-v1` or `-v1:0`.
fn without_version(name: &str) -> &str {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let base = match name.rsplit_once(':') {
        Some((base, revision)) if digits(revision) => base,
        Some(_) | None => name,
    };
    match base.rsplit_once("-v") {
        Some((model, version)) if digits(version) => model,
        Some(_) | None => name,
    }
}

/// The name without a trailing `-YYYYMMDD` or `@YYYYMMDD`.
fn without_date(name: &str) -> &str {
    match name.rsplit_once(['-', '@']) {
        Some((base, date)) if date.len() == 8 && is_date(date) => base,
        Some(_) | None => name,
    }
}

fn is_date(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::facts::anthropic_facts;

    fn id_of(name: &str) -> Option<&'static str> {
        find_model(anthropic_facts(), name).ok().map(|model| model.id.as_str())
    }

    #[test]
    fn every_id_and_alias_finds_its_own_model() {
        let facts = anthropic_facts();
        assert!(!facts.models.is_empty());
        for model in &facts.models {
            for name in std::iter::once(&model.id).chain(&model.aliases) {
                assert_eq!(id_of(name), Some(model.id.as_str()), "{name}");
            }
        }
    }

    #[test]
    fn the_names_of_clouds_and_gateways_are_understood() {
        for (name, id) in [
            ("claude-opus-5-20260724", "claude-opus-5"),
            ("claude-sonnet-4@20250514", "claude-sonnet-4"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
            ("us-gov.anthropic.claude-opus-5-5", "claude-opus-5-5"),
            ("vertex_ai/claude-haiku-5-5@default", "claude-haiku-5-5"),
            ("bedrock/us.anthropic.claude-3-5-haiku-20241022-v1:0", "claude-3-5-haiku"),
            ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ] {
            assert_eq!(id_of(name), Some(id), "{name}");
        }
    }

    #[test]
    fn a_name_is_not_cut_to_fit() {
        // No such day, no such version, a model that is not in the table.
        for name in ["claude-opus-5-20261345", "claude-opus-5-vx", "claude-opus-6", "", "opus"] {
            assert_eq!(id_of(name), None, "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = find_model(anthropic_facts(), "claude-sonet-4-5").unwrap_err();
        assert_eq!(error.nearest[0], "claude-sonnet-4-5");
        assert_eq!(error.nearest.len(), 3);
        assert_eq!(error.known.len(), anthropic_facts().models.len());
        assert!(error.to_string().contains("`claude-sonet-4-5`"));

        let far = find_model(anthropic_facts(), "gpt").unwrap_err();
        assert!(far.nearest.is_empty());
        assert!(far.to_string().contains("claude-opus-5"));
    }
}
