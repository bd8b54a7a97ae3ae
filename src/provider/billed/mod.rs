//! A provider's own usage object, read into the neutral [`Usage`].
//!
//! Providers name the same tokens differently, and two of them count differently: some leave what
//! is read from or written to the cache out of the input count, others count it in. The styles are
//! told apart by their field names. What does not add up is a warning that holds the difference.
//! What is deliberately absent: image, audio and search units, which are billed apart from tokens.

mod detect;
mod fault;
mod fields;
mod modifiers;
mod passes;
mod styles;
#[cfg(test)]
mod tests;
mod writes;

use std::fmt;

use serde_json::Value;

pub use fault::{NumberFault, UsageError, UsageWarning};
pub use modifiers::Unpriced;
pub use passes::Pass;

use crate::units::{CacheTtl, Tokens};
use crate::usage::Usage;
use fields::Fields;
use styles::Reading;

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
    /// What is stated beside the tokens and changes their price, which is not taken into account.
    pub unpriced: Vec<Unpriced>,
    /// Its prompts, at least one: a call of several passes is billed for each by itself.
    pub passes: Vec<Pass>,
}

impl BilledUsage {
    /// The usage with the writes of unstated lifetime taken as `ttl`.
    pub fn with_assumed_writes(&self, ttl: CacheTtl) -> Usage {
        match self.split {
            WriteSplit::Stated => self.usage,
            WriteSplit::Assumed(tokens) => moved(self.usage, tokens, ttl),
        }
    }

    /// [`read_usage`] for a call of `model`: an iteration that names it is part of the call,
    /// one that names another is left out. Without a model the iterations themselves say it.
    ///
    /// # Errors
    /// As [`read_usage`].
    pub fn of_call(
        value: &Value,
        style: Option<UsageStyle>,
        model: Option<&str>,
    ) -> Result<BilledUsage, UsageError> {
        let fields = Fields::of(value, String::new())?;
        let style = match style {
            Some(style) => detect::confirm(&fields, style)?,
            None => detect::style_of(&fields)?,
        };
        let mut reading = match style {
            UsageStyle::Anthropic => passes::messages(&fields, model),
            UsageStyle::Bedrock => styles::converse(&fields),
            UsageStyle::OpenAi => styles::inclusive(&fields),
            UsageStyle::Plain => styles::plain(&fields),
        }?;
        let (usage, assumed) = (reading.usage, reading.assumed);
        let contradictions = detect::contradictions(&fields, style, &usage, &reading.warnings);
        reading.warnings.extend(contradictions);
        if reading.passes.is_empty() {
            reading.passes.push(Pass { usage, assumed });
        }
        let split = match assumed {
            Tokens::ZERO => WriteSplit::Stated,
            tokens => WriteSplit::Assumed(tokens),
        };
        let unpriced = modifiers::of(&fields);
        let Reading { warnings, passes, .. } = reading;
        Ok(BilledUsage { usage, style, split, warnings, unpriced, passes })
    }
}

/// `usage` with `tokens` of its 5m writes taken as `ttl`.
fn moved(usage: Usage, tokens: Tokens, ttl: CacheTtl) -> Usage {
    match ttl {
        CacheTtl::FiveMinutes => usage,
        CacheTtl::OneHour => {
            Usage { write_5m: usage.write_5m - tokens, write_1h: usage.write_1h + tokens, ..usage }
        }
    }
}

/// Reads a usage object; its style is told by its field names unless `style` names it.
///
/// # Errors
/// Where the value is no object, has no field of the style, fields of two styles that count
/// differently, or a count that is no whole number from 0 to [`COUNT_MAX`].
pub fn read_usage(value: &Value, style: Option<UsageStyle>) -> Result<BilledUsage, UsageError> {
    BilledUsage::of_call(value, style, None)
}
