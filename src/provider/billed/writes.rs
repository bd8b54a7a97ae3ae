//! What was written, from every field in which an API or a gateway before it states it.

use crate::provider::billed::fields::{Fields, first_of};
use crate::provider::billed::{COUNT_MAX, UsageError, UsageWarning};
use crate::units::{CacheTtl, Tokens};

/// Objects that hold the writes by lifetime.
const SPLITS: [&str; 4] = [
    "cache_creation",
    "cacheCreation",
    "cache_creation_token_details",
    "cache_write_tokens_details",
];

/// Members of them: the class that is taken, and whether it is exactly that lifetime.
const LIFETIMES: [(&str, CacheTtl, bool); 8] = [
    ("ephemeral_5m_input_tokens", CacheTtl::FiveMinutes, true),
    ("ephemeral_1h_input_tokens", CacheTtl::OneHour, true),
    ("ephemeral5mInputTokens", CacheTtl::FiveMinutes, true),
    ("ephemeral1hInputTokens", CacheTtl::OneHour, true),
    ("ttl_5m_tokens", CacheTtl::FiveMinutes, true),
    ("ttl_1h_tokens", CacheTtl::OneHour, true),
    ("ttl_30m_tokens", CacheTtl::FiveMinutes, false),
    ("ttl_12h_tokens", CacheTtl::OneHour, false),
];

/// Totals inside the details of an input.
const INNER_TOTALS: [&str; 2] = ["cache_write_tokens", "cache_creation_tokens"];

/// Writes by lifetime, as one object states them.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// The object, for messages.
    pub(super) name: String,
    pub(super) write_5m: Tokens,
    pub(super) write_1h: Tokens,
    /// Those of a lifetime that has no price.
    pub(super) unknown: Tokens,
    pub(super) warnings: Vec<UsageWarning>,
}

impl Split {
    /// All of its tokens.
    pub(super) fn sum(&self) -> Tokens {
        self.write_5m + self.write_1h + self.unknown
    }

    /// Adds tokens of a lifetime.
    pub(super) fn add(&mut self, ttl: CacheTtl, tokens: Tokens) -> Result<(), UsageError> {
        match ttl {
            CacheTtl::FiveMinutes => self.write_5m += tokens,
            CacheTtl::OneHour => self.write_1h += tokens,
        }
        self.check()
    }

    fn check(&self) -> Result<(), UsageError> {
        if self.sum().0 > COUNT_MAX {
            return Err(UsageError::Overflow { key: self.name.clone() });
        }
        Ok(())
    }

    fn say(&mut self, key: String, tokens: Tokens, taken_as: &'static str) {
        if tokens > Tokens::ZERO {
            self.warnings.push(UsageWarning::OtherLifetime { key, tokens, taken_as });
        }
    }

    fn of(name: String, by_lifetime: &Fields<'_>) -> Result<Split, UsageError> {
        let mut split = Split { name, ..Split::default() };
        for (key, ttl, exact) in LIFETIMES {
            let tokens = by_lifetime.count_or_zero(key)?;
            split.add(ttl, tokens)?;
            if !exact {
                split.say(by_lifetime.name(key), tokens, ttl.label());
            }
        }
        let is_known = |key: &str| LIFETIMES.iter().any(|(name, ..)| *name == key);
        for key in by_lifetime.keys().filter(|key| !is_known(key)) {
            if by_lifetime.is_number(key) {
                let tokens = by_lifetime.count_or_zero(key)?;
                split.unknown += tokens;
                split.check()?;
                split.say(by_lifetime.name(key), tokens, "written for an unstated lifetime");
            }
        }
        Ok(split)
    }
}

/// The objects that detail the input.
pub(super) fn input_details<'a>(fields: &Fields<'a>) -> Result<Vec<Fields<'a>>, UsageError> {
    let mut details = Vec::new();
    for key in ["prompt_tokens_details", "input_tokens_details"] {
        details.extend(fields.object(key)?);
    }
    Ok(details)
}

/// The total of the writes under one of `outer` or in the details of the input.
pub(super) fn total(
    fields: &Fields<'_>,
    outer: &[&'static str],
    warnings: &mut Vec<UsageWarning>,
) -> Result<Option<Tokens>, UsageError> {
    let details = input_details(fields)?;
    let inner = details.iter().flat_map(|inner| INNER_TOTALS.map(|key| (inner, key)));
    let counts: Vec<_> = inner.chain(outer.iter().map(|key| (fields, *key))).collect();
    first_of(&counts, warnings)
}

/// The writes by lifetime; `None` where no object states them. Of several objects the one that
/// states most is taken, since an empty one beside it is filled in by a gateway.
pub(super) fn by_lifetime(
    fields: &Fields<'_>,
    listed: Option<Split>,
    warnings: &mut Vec<UsageWarning>,
) -> Result<Option<Split>, UsageError> {
    let details = input_details(fields)?;
    let mut splits = Vec::from_iter(listed);
    for holder in std::iter::once(fields).chain(&details) {
        for key in SPLITS {
            if let Some(object) = holder.object(key)? {
                splits.push(Split::of(holder.name(key), &object)?);
            }
        }
    }
    let size = |split: &Split| (split.sum(), split.write_1h);
    let Some(most) = (0..splits.len()).rev().max_by_key(|index| size(&splits[*index])) else {
        return Ok(None);
    };
    let mut taken = splits.swap_remove(most);
    for other in splits.iter().filter(|other| size(other) != size(&taken)) {
        let same_sum = other.sum() == taken.sum();
        let count = |split: &Split| if same_sum { split.write_1h } else { split.sum() };
        let name = |split: &Split| format!("{}{}", split.name, if same_sum { ", 1h" } else { "" });
        warnings.push(UsageWarning::Disagree {
            key: name(&taken),
            taken: count(&taken),
            other: name(other),
            left: count(other),
        });
    }
    warnings.append(&mut taken.warnings);
    Ok(Some(taken))
}
