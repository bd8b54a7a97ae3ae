//! A provider's own usage object, read into the neutral [`Usage`].
//!
//! Providers name the same tokens differently, and two of them count differently: some leave what
//! is read from or written to the cache out of the input count, others count it in. The styles are
//! told apart by their field names. What does not add up is a warning that holds the difference.
//! What is deliberately absent: image, audio and search units, which are billed apart from tokens.

mod detect;
mod fault;
mod fields;
mod styles;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::Value;

pub use fault::{NumberFault, UsageError, UsageWarning};

use crate::units::{CacheTtl, Tokens};
use crate::usage::Usage;
use fields::Fields;

/// Most tokens that one count may state; sums of counts stay far from overflow.
pub const COUNT_MAX: u64 = 1_000_000_000_000_000;

/// How a provider writes a usage object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageStyle {
    /// `input_tokens` without what is read and written, which have fields of their own.
    Anthropic,
    /// The same in camel case, with a total, as Bedrock's Converse answers.
    Bedrock,
    /// `prompt_tokens` or `input_tokens` with what is read and written counted in.
    OpenAi,
    /// The words of this program: `read`, `write_5m`, `write_1h`, `uncached`, `output`.
    Plain,
}

impl UsageStyle {
    /// Every style.
    pub const ALL: [UsageStyle; 4] =
        [UsageStyle::Anthropic, UsageStyle::Bedrock, UsageStyle::OpenAi, UsageStyle::Plain];

    /// Its word on a command line.
    pub fn label(self) -> &'static str {
        match self {
            UsageStyle::Anthropic => "anthropic",
            UsageStyle::Bedrock => "bedrock",
            UsageStyle::OpenAi => "openai",
            UsageStyle::Plain => "plain",
        }
    }

    /// The style of that word.
    pub fn parse(label: &str) -> Option<UsageStyle> {
        UsageStyle::ALL.into_iter().find(|style| style.label() == label)
    }
}

impl fmt::Display for UsageStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// Whether the lifetime of what was written is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteSplit {
    /// Every written token has a stated lifetime, or nothing was written.
    Stated,
    /// That many of the tokens in `write_5m` are there only because no lifetime is stated.
    Assumed(Tokens),
}

impl fmt::Display for WriteSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteSplit::Stated => write!(f, "the lifetime of every write is stated"),
            WriteSplit::Assumed(tokens) => {
                write!(f, "{tokens} written tokens have no stated lifetime: 5m is assumed")
            }
        }
    }
}

/// What a provider billed, in neutral terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BilledUsage {
    /// The billed tokens; [`Usage::input`] is the whole input.
    pub usage: Usage,
    /// The style that was read.
    pub style: UsageStyle,
    /// Whether the lifetimes of the writes are stated.
    pub split: WriteSplit,
    /// What does not add up, in the order of the fields.
    pub warnings: Vec<UsageWarning>,
}

impl BilledUsage {
    /// The usage with the writes of unstated lifetime taken as `ttl`.
    pub fn with_assumed_writes(&self, ttl: CacheTtl) -> Usage {
        match (self.split, ttl) {
            (WriteSplit::Stated, _) | (WriteSplit::Assumed(_), CacheTtl::FiveMinutes) => self.usage,
            (WriteSplit::Assumed(tokens), CacheTtl::OneHour) => Usage {
                write_5m: self.usage.write_5m - tokens,
                write_1h: self.usage.write_1h + tokens,
                ..self.usage
            },
        }
    }
}

/// Reads a usage object; its style is told by its field names unless `style` names it.
///
/// # Errors
/// Where the value is no object, has no field of the style, fields of two styles that count
/// differently, or a count that is no whole number from 0 to [`COUNT_MAX`].
pub fn read_usage(value: &Value, style: Option<UsageStyle>) -> Result<BilledUsage, UsageError> {
    let fields = Fields::of(value, String::new())?;
    let style = match style {
        Some(style) => detect::confirm(&fields, style)?,
        None => detect::style_of(&fields)?,
    };
    let reading = match style {
        UsageStyle::Anthropic => styles::messages(&fields),
        UsageStyle::Bedrock => styles::converse(&fields),
        UsageStyle::OpenAi => styles::inclusive(&fields),
        UsageStyle::Plain => styles::plain(&fields),
    }?;
    let split = match reading.assumed {
        Tokens::ZERO => WriteSplit::Stated,
        tokens => WriteSplit::Assumed(tokens),
    };
    Ok(BilledUsage { usage: reading.usage, style, split, warnings: reading.warnings })
}
