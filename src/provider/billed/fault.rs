//! What is wrong with a usage object, and what only looks wrong.

use std::fmt;

use crate::provider::billed::{COUNT_MAX, UsageStyle};
use crate::units::{Tokens, grouped};
use crate::usage::Usage;

/// What is wrong with a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// Not a number, e.g. a text.
    NotANumber,
    /// Below zero.
    Negative,
    /// Has a decimal point or an exponent.
    Fractional,
    /// Above [`COUNT_MAX`].
    TooLarge,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFault::NotANumber => "is not a number",
            NumberFault::Negative => "is negative",
            NumberFault::Fractional => "is not written as a whole number",
            NumberFault::TooLarge => "is too large",
        })
    }
}

/// Why a usage object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    /// The value is something else.
    #[error("`{key}` is {found}; an object such as {{\"input_tokens\": 3}} is allowed")]
    NotAnObject {
        /// Where it stands; `usage` for the whole.
        key: String,
        /// The value, shortened.
        found: String,
    },
    /// A field that has to hold a list holds something else.
    #[error("`{key}` is {found}; a list is allowed")]
    NotAList {
        /// Where it stands.
        key: String,
        /// The value, shortened.
        found: String,
    },
    /// A count is no whole number in range.
    #[error(
        "`{key}` {fault}: {value}; whole numbers from 0 to {} are allowed",
        grouped(i128::from(COUNT_MAX))
    )]
    Number {
        /// Where it stands.
        key: String,
        /// The value as JSON, shortened.
        value: String,
        /// What is wrong with it.
        fault: NumberFault,
    },
    /// Counts of a list add up to more than [`COUNT_MAX`].
    #[error("the counts of `{key}` add up to more than {}", grouped(i128::from(COUNT_MAX)))]
    Overflow {
        /// The list.
        key: String,
    },
    /// A lifetime that is neither of the two.
    #[error("`{key}` is {value}; \"5m\" and \"1h\" are allowed")]
    Lifetime {
        /// Where it stands.
        key: String,
        /// The value as JSON, shortened.
        value: String,
    },
    /// No field says anything.
    #[error("{}", no_known_field(*style, found))]
    NoKnownField {
        /// The style that was asked for.
        style: Option<UsageStyle>,
        /// The fields that are there.
        found: Vec<String>,
    },
    /// The plain form has a field that it does not know.
    #[error("`{key}` is no count; {}", nearest_or_all(nearest.as_deref()))]
    UnknownField {
        /// The field.
        key: String,
        /// The field that looks like it.
        nearest: Option<&'static str>,
    },
    /// Two fields say the same or exclude each other.
    #[error("`{one}` and `{other}` are both given; give one of them")]
    Conflict {
        /// One field.
        one: String,
        /// The other.
        other: String,
    },
    /// Fields of two styles that count differently.
    #[error(
        "`{exclusive}` counts apart from the input and `{inclusive}` is counted in it; name the \
         style: {}, {}, {} or {}",
        UsageStyle::ALL[0], UsageStyle::ALL[1], UsageStyle::ALL[2], UsageStyle::ALL[3]
    )]
    Ambiguous {
        /// A field of the style that leaves the cache out of the input.
        exclusive: &'static str,
        /// A field of the style that counts it in.
        inclusive: &'static str,
    },
}

fn no_known_field(style: Option<UsageStyle>, found: &[String]) -> String {
    let found = match found {
        [] => "the object is empty".to_owned(),
        some => format!("found {}", some.join(", ")),
    };
    match style {
        Some(style) => {
            format!("no count of the style {style}; {found}; known are {}", style.keys().join(", "))
        }
        None => format!(
            "no known count; {found}; known are input_tokens (anthropic), inputTokens (bedrock), \
             prompt_tokens (openai), uncached (plain) and what stands beside them"
        ),
    }
}

fn nearest_or_all(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("is `{nearest}` meant?"),
        None => format!("known are {}", UsageStyle::Plain.keys().join(", ")),
    }
}

/// What does not add up in a usage object, and what is taken instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageWarning {
    /// The writes by lifetime do not add up to the total of the writes.
    SplitMismatch {
        /// The total.
        total: Tokens,
        /// The part with five minutes.
        write_5m: Tokens,
        /// The part with one hour.
        write_1h: Tokens,
    },
    /// The billed tokens stand in the iterations, the top level says something else.
    Iterations {
        /// How many iterations are summed.
        count: usize,
        /// The top level.
        top: Usage,
        /// Their sum, which is taken.
        sum: Usage,
    },
    /// An iteration of another model, billed at that model's price and left out.
    OtherModel {
        /// The model.
        model: String,
        /// Its tokens.
        usage: Usage,
    },
    /// More is read and written than the input that counts both in.
    CacheExceedsPrompt {
        /// Tokens read and written.
        cached: Tokens,
        /// The whole input as stated.
        prompt: Tokens,
    },
    /// A total that its parts do not add up to.
    TotalMismatch {
        /// The total's field.
        key: &'static str,
        /// What it states.
        stated: Tokens,
        /// What the parts add up to.
        sum: Tokens,
    },
    /// Two fields for the same count state different numbers.
    Disagree {
        /// The field that is taken.
        key: String,
        /// What it states.
        taken: Tokens,
        /// The other field.
        other: String,
        /// What that one states.
        left: Tokens,
    },
    /// Writes with a lifetime that is neither five minutes nor one hour.
    OtherLifetime {
        /// The field.
        key: String,
        /// The tokens.
        tokens: Tokens,
        /// What they are taken as.
        taken_as: &'static str,
    },
    /// A count under the name of another style states another number.
    OtherStyle {
        /// The field.
        key: String,
        /// What it states.
        left: Tokens,
        /// The style that is read.
        style: UsageStyle,
        /// The count that is read.
        taken: Tokens,
    },
}

impl UsageWarning {
    /// The tokens by which two statements differ; zero where the warning is of another kind.
    pub fn difference(&self) -> Tokens {
        let apart = |one: Tokens, other: Tokens| Tokens(one.0.abs_diff(other.0));
        match self {
            UsageWarning::SplitMismatch { total, write_5m, write_1h } => {
                apart(*total, *write_5m + *write_1h)
            }
            UsageWarning::Iterations { top, sum, .. } => {
                apart(top.input() + top.output, sum.input() + sum.output)
            }
            UsageWarning::CacheExceedsPrompt { cached, prompt } => apart(*cached, *prompt),
            UsageWarning::TotalMismatch { stated, sum, .. } => apart(*stated, *sum),
            UsageWarning::Disagree { taken, left, .. }
            | UsageWarning::OtherStyle { taken, left, .. } => apart(*taken, *left),
            UsageWarning::OtherModel { .. } | UsageWarning::OtherLifetime { .. } => Tokens::ZERO,
        }
    }
}

impl fmt::Display for UsageWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = match self.difference() {
            Tokens(1) => "1 token differs".to_owned(),
            tokens => format!("{tokens} tokens differ"),
        };
        match self {
            UsageWarning::SplitMismatch { total, write_5m, write_1h } => {
                let split = *write_5m + *write_1h;
                write!(
                    f,
                    "{total} tokens were written, but the lifetimes add up to {split} (5m \
                     {write_5m}, 1h {write_1h}): {difference}; "
                )?;
                if split > *total {
                    write!(f, "the lifetimes are taken")
                } else {
                    write!(f, "the total is taken, the difference has no stated lifetime")
                }
            }
            UsageWarning::Iterations { count, top, sum } => write!(
                f,
                "the iterations ({count}) are billed: input {}, output {}; the top level has input \
                 {}, output {}",
                sum.input(),
                sum.output,
                top.input(),
                top.output
            ),
            UsageWarning::OtherModel { model, usage } => write!(
                f,
                "left out: input {}, output {} of {model}, billed at that model's price",
                usage.input(),
                usage.output
            ),
            UsageWarning::CacheExceedsPrompt { cached, prompt } => write!(
                f,
                "{cached} tokens were read or written of an input of {prompt} in all: \
                 {difference}; nothing is taken as uncached"
            ),
            UsageWarning::TotalMismatch { key, stated, sum } => write!(
                f,
                "`{key}` is {stated}, its parts add up to {sum}: {difference}; the \
                 parts are taken"
            ),
            UsageWarning::Disagree { key, taken, other, left } => write!(
                f,
                "`{key}` is {taken} and `{other}` is {left}: {difference}; `{key}` \
                 is taken"
            ),
            UsageWarning::OtherLifetime { key, tokens, taken_as } => {
                write!(f, "`{key}`: {tokens} tokens of that lifetime are taken as {taken_as}")
            }
            UsageWarning::OtherStyle { key, left, style, taken } => write!(
                f,
                "`{key}` is {left}, but the object is read in the style {style}, where that count \
                 is {taken}: {difference}; `{key}` is not taken"
            ),
        }
    }
}
