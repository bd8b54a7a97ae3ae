//! One function a style.

use crate::provider::billed::fields::{Fields, first_of};
use crate::provider::billed::{COUNT_MAX, UsageError, UsageStyle, UsageWarning};
use crate::units::Tokens;
use crate::usage::Usage;

/// What one object says.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) usage: Usage,
    /// Tokens of `write_5m` whose lifetime is not stated.
    pub(super) assumed: Tokens,
    pub(super) warnings: Vec<UsageWarning>,
}

impl Reading {
    /// Adds what was written: a total, its parts by lifetime (5m, 1h), or both.
    fn write(&mut self, total: Option<Tokens>, split: Option<(Tokens, Tokens)>) {
        let (write_5m, write_1h) = split.unwrap_or_default();
        let parts = write_5m + write_1h;
        let total = total.unwrap_or(parts);
        if split.is_some() && total != parts {
            self.warnings.push(UsageWarning::SplitMismatch { total, write_5m, write_1h });
        }
        self.assumed = Tokens(total.0.saturating_sub(parts.0));
        self.usage.write_5m = write_5m + self.assumed;
        self.usage.write_1h = write_1h;
    }
}

/// The Messages API: the iterations where there are any, else the top level.
pub(super) fn messages(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let top = exclusive(fields)?;
    let iterations = fields.list("iterations")?;
    if iterations.is_empty() {
        return Ok(top);
    }
    let mut sum = Reading::default();
    let mut count = 0;
    for iteration in &iterations {
        let one = exclusive(iteration)?;
        // An advisor's answer is billed at the price of the model that it names.
        if let Some(model) = iteration.text("model") {
            let model = model.to_owned();
            sum.warnings.push(UsageWarning::OtherModel { model, usage: one.usage });
            continue;
        }
        count += 1;
        sum.usage = sum.usage + one.usage;
        sum.assumed += one.assumed;
        sum.warnings.extend(one.warnings);
        if sum.usage.input().0.max(sum.usage.output.0) > COUNT_MAX {
            return Err(UsageError::Overflow { key: "iterations".to_owned() });
        }
    }
    if count == 0 {
        sum.warnings.extend(top.warnings);
        return Ok(Reading { usage: top.usage, assumed: top.assumed, warnings: sum.warnings });
    }
    if without_lifetimes(&top.usage) != without_lifetimes(&sum.usage) {
        let warning = UsageWarning::Iterations { count, top: top.usage, sum: sum.usage };
        sum.warnings.insert(0, warning);
    }
    Ok(sum)
}

/// Counts as far as a top level states them: writes in one sum.
fn without_lifetimes(usage: &Usage) -> [Tokens; 4] {
    [usage.uncached, usage.read, usage.write_5m + usage.write_1h, usage.output]
}

/// One level of the Messages API.
fn exclusive(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let mut reading = Reading::default();
    reading.usage.uncached = fields.count_or_zero("input_tokens")?;
    reading.usage.read = fields.count_or_zero("cache_read_input_tokens")?;
    reading.usage.output = fields.count_or_zero("output_tokens")?;
    let total = fields.count("cache_creation_input_tokens")?;
    let split = match fields.object("cache_creation")? {
        Some(by_lifetime) => Some((
            by_lifetime.count_or_zero("ephemeral_5m_input_tokens")?,
            by_lifetime.count_or_zero("ephemeral_1h_input_tokens")?,
        )),
        None => None,
    };
    reading.write(total, split);
    Ok(reading)
}

/// Bedrock's Converse. A command-line client writes the same names with `cacheCreation`.
pub(super) fn converse(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let mut reading = Reading::default();
    let first = |keys: &[&str], warnings: &mut Vec<UsageWarning>| {
        let counts: Vec<_> = keys.iter().map(|key| (fields, *key)).collect();
        first_of(&counts, warnings)
    };
    reading.usage.uncached = fields.count_or_zero("inputTokens")?;
    reading.usage.output = fields.count_or_zero("outputTokens")?;
    let read_keys = ["cacheReadInputTokens", "cacheReadInputTokenCount"];
    reading.usage.read = first(&read_keys, &mut reading.warnings)?.unwrap_or_default();
    let write_keys =
        ["cacheWriteInputTokens", "cacheWriteInputTokenCount", "cacheCreationInputTokens"];
    let total = first(&write_keys, &mut reading.warnings)?;
    reading.write(total, converse_split(fields)?);
    check_total(fields, "totalTokens", &mut reading)?;
    Ok(reading)
}

/// Writes by lifetime, `None` where the answer has no details.
fn converse_split(fields: &Fields<'_>) -> Result<Option<(Tokens, Tokens)>, UsageError> {
    if !fields.has("cacheDetails") {
        return Ok(None);
    }
    let (mut write_5m, mut write_1h) = (Tokens::ZERO, Tokens::ZERO);
    for detail in fields.list("cacheDetails")? {
        let tokens = detail.count_or_zero("inputTokens")?;
        match detail.text("ttl") {
            Some("5m") => write_5m += tokens,
            Some("1h") => write_1h += tokens,
            Some(_) | None => {
                let (key, value) = (detail.name("ttl"), detail.quoted("ttl"));
                return Err(UsageError::Lifetime { key, value });
            }
        }
        if (write_5m + write_1h).0 > COUNT_MAX {
            return Err(UsageError::Overflow { key: "cacheDetails".to_owned() });
        }
    }
    Ok(Some((write_5m, write_1h)))
}

/// Chat completions and responses: the cache is counted in the input.
pub(super) fn inclusive(fields: &Fields<'_>) -> Result<Reading, UsageError> {
    let mut reading = Reading::default();
    let warnings = &mut reading.warnings;
    let mut details = Vec::new();
    for key in ["prompt_tokens_details", "input_tokens_details"] {
        details.extend(fields.object(key)?);
    }
    let inner = |key: &'static str| details.iter().map(move |inner| (inner, key));
    let outer = |keys: &[&'static str]| keys.iter().map(|key| (fields, *key)).collect::<Vec<_>>();

    let prompt = first_of(&outer(&["prompt_tokens", "input_tokens"]), warnings)?;
    let output = first_of(&outer(&["completion_tokens", "output_tokens"]), warnings)?;
    let elsewhere = outer(&["cache_read_input_tokens", "prompt_cache_hit_tokens", "cached_tokens"]);
    let reads: Vec<_> = inner("cached_tokens").chain(elsewhere).collect();
    let read = first_of(&reads, warnings)?.unwrap_or_default();
    let elsewhere = outer(&["cache_creation_input_tokens"]);
    let writes: Vec<_> = inner("cache_write_tokens").chain(elsewhere).collect();
    let written = first_of(&writes, warnings)?;
    let split = match details.first() {
        Some(details) => inclusive_split(details, warnings)?,
        None => None,
    };

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

/// Writes by lifetime: the shorter one is taken as 5m, the longer one as 1h, and said.
fn inclusive_split(
    details: &Fields<'_>,
    warnings: &mut Vec<UsageWarning>,
) -> Result<Option<(Tokens, Tokens)>, UsageError> {
    let Some(by_lifetime) = details.object("cache_write_tokens_details")? else {
        return Ok(None);
    };
    let mut taken = |key, taken_as| -> Result<Tokens, UsageError> {
        let tokens = by_lifetime.count_or_zero(key)?;
        if tokens > Tokens::ZERO {
            warnings.push(UsageWarning::OtherLifetime { key, tokens, taken_as });
        }
        Ok(tokens)
    };
    Ok(Some((taken("ttl_30m_tokens", "5m")?, taken("ttl_12h_tokens", "1h")?)))
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
        None => Some((fields.count_or_zero("write_5m")?, fields.count_or_zero("write_1h")?)),
    };
    reading.write(total, split);
    Ok(reading)
}
