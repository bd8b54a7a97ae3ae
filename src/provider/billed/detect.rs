//! Which style a usage object has, told by its field names.

use crate::provider::billed::fields::Fields;
use crate::provider::billed::{UsageError, UsageStyle, UsageWarning};
use crate::units::Tokens;
use crate::usage::Usage;

/// Fields of the style that leaves what is read and written out of the input.
const ANTHROPIC: &[&str] = &[
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
    "iterations",
];

/// Those that the inclusive style does not have.
const ANTHROPIC_ONLY: &[&str] =
    &["cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation", "iterations"];

const BEDROCK: &[&str] = &[
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheReadInputTokenCount",
    "cacheWriteInputTokens",
    "cacheWriteInputTokenCount",
    "cacheCreationInputTokens",
    "cacheDetails",
    "totalTokens",
];

const OPENAI: &[&str] = &[
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details",
    "input_tokens",
    "output_tokens",
    "input_tokens_details",
    "prompt_cache_hit_tokens",
    "total_tokens",
];

/// Names of the inclusive style that no other has.
const OPENAI_ONLY: &[&str] =
    &["prompt_tokens", "completion_tokens", "prompt_tokens_details", "prompt_cache_hit_tokens"];

const PLAIN: &[&str] = &["uncached", "read", "write_5m", "write_1h", "write", "input", "output"];

/// Names of one count in all styles, and what it may be in a usage.
type Names = (&'static [&'static str], fn(&Usage) -> [Tokens; 2]);

const NAMES: [Names; 4] = [
    (&["input_tokens", "inputTokens", "prompt_tokens", "input", "uncached"], |usage| {
        [usage.uncached, usage.input()]
    }),
    (&["output_tokens", "outputTokens", "completion_tokens", "output"], |usage| [usage.output; 2]),
    (
        &["cache_read_input_tokens", "cacheReadInputTokens", "prompt_cache_hit_tokens", "read"],
        |usage| [usage.read; 2],
    ),
    (&["cache_creation_input_tokens", "cacheWriteInputTokens", "write"], |usage| {
        [usage.write_5m + usage.write_1h; 2]
    }),
];

impl UsageStyle {
    /// The fields by which the style is told.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            UsageStyle::Anthropic => ANTHROPIC,
            UsageStyle::Bedrock => BEDROCK,
            UsageStyle::OpenAi => OPENAI,
            UsageStyle::Plain => PLAIN,
        }
    }
}

/// The style of an object.
pub(super) fn style_of(fields: &Fields<'_>) -> Result<UsageStyle, UsageError> {
    if found(fields, BEDROCK).is_some() {
        return Ok(UsageStyle::Bedrock);
    }
    if found(fields, OPENAI_ONLY).is_some() {
        return Ok(UsageStyle::OpenAi);
    }
    let exclusive = found(fields, ANTHROPIC_ONLY);
    match (exclusive, found(fields, &["input_tokens_details"])) {
        (Some(exclusive), Some(inclusive)) => {
            return Err(UsageError::Ambiguous { exclusive, inclusive });
        }
        (None, Some(_)) => return Ok(UsageStyle::OpenAi),
        (Some(_), None) => return Ok(UsageStyle::Anthropic),
        (None, None) => {}
    }
    // Without a cache field both styles say the same; a total is one more thing to check.
    if fields.has("total_tokens") {
        return Ok(UsageStyle::OpenAi);
    }
    [UsageStyle::Anthropic, UsageStyle::Plain]
        .into_iter()
        .find(|style| found(fields, style.keys()).is_some())
        .ok_or_else(|| no_known_field(fields, None))
}

/// `style`, where the object has a field of it.
pub(super) fn confirm(fields: &Fields<'_>, style: UsageStyle) -> Result<UsageStyle, UsageError> {
    // The plain form refuses fields that it does not know, which says more.
    let plain = style == UsageStyle::Plain && fields.keys().next().is_some();
    match found(fields, style.keys()) {
        Some(_) => Ok(style),
        None if plain => Ok(style),
        None => Err(no_known_field(fields, Some(style))),
    }
}

/// Counts under names of other styles that contradict what was read in `style`.
pub(super) fn contradictions(
    fields: &Fields<'_>,
    style: UsageStyle,
    usage: &Usage,
    said: &[UsageWarning],
) -> Vec<UsageWarning> {
    let is_said = |name: &str| {
        said.iter().any(|warning| {
            matches!(warning, UsageWarning::Disagree { key, other, .. }
                if key == name || other == name)
        })
    };
    let mut warnings = Vec::new();
    for (names, counts) in NAMES {
        let counts = counts(usage);
        for key in names.iter().filter(|key| !style.keys().contains(key) && !is_said(key)) {
            let Some(left) = fields.whole(key).map(Tokens) else { continue };
            if !counts.contains(&left) {
                let (key, taken) = ((*key).to_owned(), counts[0]);
                warnings.push(UsageWarning::OtherStyle { key, left, style, taken });
            }
        }
    }
    warnings
}

fn found(fields: &Fields<'_>, keys: &[&'static str]) -> Option<&'static str> {
    keys.iter().copied().find(|key| fields.has(key))
}

fn no_known_field(fields: &Fields<'_>, style: Option<UsageStyle>) -> UsageError {
    let found = fields.keys().take(8).map(str::to_owned).collect();
    UsageError::NoKnownField { style, found }
}
