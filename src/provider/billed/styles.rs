//! One function a style.

use crate::provider::billed::fields::{Fields, first_of};
use crate::provider::billed::passes::Pass;
use crate::provider::billed::writes::{self, Split};
use crate::provider::billed::{UsageError, UsageStyle, UsageWarning};
use crate::units::{CacheTtl, Tokens};
use crate::usage::Usage;

/// What one object says.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) usage: Usage,
    /// Tokens of `write_5m` whose lifetime is not stated.
    pub(super) assumed: Tokens,
    pub(super) warnings: Vec<UsageWarning>,
    /// The prompts one by one; none where all of it is one prompt.
    pub(super) passes: Vec<Pass>,
}

impl Reading {
    /// Adds what was written: a total, its parts by lifetime, or both.
    fn write(&mut self, total: Option<Tokens>, split: Option<Split>) {
        let stated = split.is_some();
        let split = split.unwrap_or_default();
        let (write_5m, write_1h, parts) = (split.write_5m, split.write_1h, split.sum());
        let total = total.unwrap_or(parts);
        if total < parts && split.unknown > Tokens::ZERO {
            let (key, other) = (split.name, "the total of the writes".to_owned());
            self.warnings.push(UsageWarning::Disagree { key, taken: parts, other, left: total });
        } else if stated && total != parts {
            self.warnings.push(UsageWarning::SplitMismatch { total, write_5m, write_1h });
        }
        self.assumed = total.max(parts) - write_5m - write_1h;
        self.usage.write_5m = write_5m + self.assumed;
        self.usage.write_1h = write_1h;
    }
}

/// One level of the Messages API.
pub(super) fn exclusive(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let mut reading = Reading::default();
    reading.usage.uncached = fields.count_or_zero("input_tokens")?;
    reading.usage.read = fields.count_or_zero("cache_read_input_tokens")?;
    reading.usage.output = fields.count_or_zero("output_tokens")?;
    let warnings = &mut reading.warnings;
    let total = writes::total(fields, &["cache_creation_input_tokens"], warnings)?;
    let split = writes::by_lifetime(fields, None, warnings)?;
    reading.write(total, split);
    Ok(reading)
}

/// Bedrock's Converse. A command-line client writes the same names with `cacheCreation`.
pub(super) fn converse(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let mut reading = Reading::default();
    reading.usage.uncached = fields.count_or_zero("inputTokens")?;
    reading.usage.output = fields.count_or_zero("outputTokens")?;
    let reads = ["cacheReadInputTokens", "cacheReadInputTokenCount", "cache_read_input_tokens"];
    let reads = reads.map(|key| (fields, key));
    reading.usage.read = first_of(&reads, &mut reading.warnings)?.unwrap_or_default();
    let write_keys = [
        "cacheWriteInputTokens",
        "cacheWriteInputTokenCount",
        "cacheCreationInputTokens",
        "cache_creation_input_tokens",
    ];
    let warnings = &mut reading.warnings;
    let total = writes::total(fields, &write_keys, warnings)?;
    let split = writes::by_lifetime(fields, listed_split(fields)?, warnings)?;
    reading.write(total, split);
    check_total(fields, "totalTokens", &mut reading)?;
    Ok(reading)
}

/// Writes by lifetime as Converse lists them, `None` where the answer has no details.
fn listed_split(fields: &Fields<'_>) -> Result<Option<Split>, UsageError> {
    if !fields.has("cacheDetails") {
        return Ok(None);
    }
    let mut split = Split { name: fields.name("cacheDetails"), ..Split::default() };
    for detail in fields.list("cacheDetails")? {
        let tokens = detail.count_or_zero("inputTokens")?;
        match detail.text("ttl") {
            Some("5m") => split.add(CacheTtl::FiveMinutes, tokens)?,
            Some("1h") => split.add(CacheTtl::OneHour, tokens)?,
            Some(_) | None => {
                let (key, value) = (detail.name("ttl"), detail.quoted("ttl"));
                return Err(UsageError::Lifetime { key, value });
            }
        }
    }
    Ok(Some(split))
}

/// Chat completions and responses: the cache is counted in the input.
pub(super) fn inclusive(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let mut reading = Reading::default();
    let warnings = &mut reading.warnings;
    let details = writes::input_details(fields)?;
    let inner = |key: &'static str| details.iter().map(move |inner| (inner, key));
    let outer = |keys: &[&'static str]| keys.iter().map(|key| (fields, *key)).collect::<Vec<_>>();

    let prompt = first_of(&outer(&["prompt_tokens", "input_tokens"]), warnings)?;
    let output = first_of(&outer(&["completion_tokens", "output_tokens"]), warnings)?;
    let elsewhere = outer(&["cache_read_input_tokens", "prompt_cache_hit_tokens", "cached_tokens"]);
    let reads: Vec<_> = inner("cached_tokens").chain(elsewhere).collect();
    let read = first_of(&reads, warnings)?.unwrap_or_default();
    let written = writes::total(fields, &["cache_creation_input_tokens"], warnings)?;
    let split = writes::by_lifetime(fields, None, warnings)?;

    reading.usage.read = read;
    reading.usage.output = output.unwrap_or_default();
    reading.write(written, split);
    let cached = reading.usage.input();
    let prompt = prompt.unwrap_or(cached);
    if cached > prompt {
        reading.warnings.push(UsageWarning::CacheExceedsPrompt { cached, prompt });
    }
    reading.usage.uncached = Tokens(prompt.0.saturating_sub(cached.0));
    check_total(fields, "total_tokens", &mut reading)?;
    Ok(reading)
}

fn check_total(
    fields: &Fields<'_>,
    key: &'static str,
    reading: &mut Reading,
) -> Result<(), UsageError> {
    let sum = reading.usage.input() + reading.usage.output;
    if let Some(stated) = fields.count(key)?.filter(|stated| *stated != sum) {
        reading.warnings.push(UsageWarning::TotalMismatch { key, stated, sum });
    }
    Ok(())
}

/// The words of this program; a field that is none of them is refused, since nobody else writes
/// this form.
pub(super) fn plain(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let known = UsageStyle::Plain.keys();
    for key in fields.keys() {
        if !known.contains(&key) {
            let near = |word: &&&str| strsim::damerau_levenshtein(key, word) <= key.len() / 2;
            let nearest = known
                .iter()
                .filter(near)
                .min_by_key(|word| strsim::damerau_levenshtein(key, word))
                .copied();
            return Err(UsageError::UnknownField { key: fields.name(key), nearest });
        }
    }
    for (one, other) in [("uncached", "input"), ("write", "write_5m"), ("write", "write_1h")] {
        if fields.has(one) && fields.has(other) {
            return Err(UsageError::Conflict { one: one.to_owned(), other: other.to_owned() });
        }
    }
    let input = fields.count("input")?;
    let mut reading = Reading::default();
    reading.usage.uncached = fields.count("uncached")?.or(input).unwrap_or_default();
    reading.usage.read = fields.count_or_zero("read")?;
    reading.usage.output = fields.count_or_zero("output")?;
    let total = fields.count("write")?;
    let split = match total {
        Some(_) => None,
        None => Some(Split {
            write_5m: fields.count_or_zero("write_5m")?,
            write_1h: fields.count_or_zero("write_1h")?,
            ..Split::default()
        }),
    };
    reading.write(total, split);
    Ok(reading)
}
