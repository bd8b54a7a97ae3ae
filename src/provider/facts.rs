//! Models, prices and cache rules as data, each with its source and the day it was read.
//!
//! A table is parsed once and valid from then on: no overlapping prices, no name twice, nothing
//! without a source. What is deliberately absent: batch, fast, regional and subscription prices.

mod wire;

#[cfg(test)]
mod golden;

use std::sync::LazyLock;

use jiff::civil::Date;

pub use wire::parse_usd_per_mtok;

use crate::cache::CacheRules;
use crate::pricing::{Confidence, PriceTable};
use crate::tokens::TokenizerSpec;
use crate::units::Tokens;

/// The table that is part of the program.
const ANTHROPIC: &str = include_str!("anthropic/facts.toml");

/// The facts of Anthropic. Empty, so that no model is found, if the table of the program does not
/// parse; a test proves that it does.
pub fn anthropic_facts() -> &'static Facts {
    static FACTS: LazyLock<Facts> =
        LazyLock::new(|| Facts::parse(ANTHROPIC).unwrap_or_else(|_| Facts::empty()));
    &FACTS
}

/// What is known of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Day on which the table was last checked.
    pub checked: Date,
    /// Models in the order of the table.
    pub models: Vec<ModelFacts>,
    /// Tokenizer families in the order of the table.
    pub families: Vec<FamilyFacts>,
    /// Most markers in one request.
    pub markers_max: u32,
    /// Largest request body in bytes.
    pub body_bytes_max: u64,
    /// First day on which runs of tool blocks count as one position.
    pub runs_collapse_from: Date,
    /// The rules as far as they depend on neither model nor date: `count` is per block and
    /// `min_tokens` is zero until both are known.
    pub rules: CacheRules,
    /// Where each documented number of the rules was read.
    pub rule_sources: Vec<RuleSource>,
    /// The rules that no page documents, in alphabetical order.
    pub switches: Vec<RuleSwitch>,
}

impl Facts {
    /// Reads a table.
    ///
    /// # Errors
    /// Where the text is no table of facts, or an entry lacks a source or a date, has an unknown
    /// family, a name that stands twice, a price that is no exact decimal, or prices that overlap.
    pub fn parse(text: &str) -> Result<Facts, FactsError> {
        wire::parse(text)
    }

    /// A table without models.
    fn empty() -> Facts {
        Facts {
            checked: Date::ZERO,
            models: Vec::new(),
            families: Vec::new(),
            markers_max: 0,
            body_bytes_max: 0,
            runs_collapse_from: Date::ZERO,
            rules: wire::strictest_rules(),
            rule_sources: Vec::new(),
            switches: Vec::new(),
        }
    }
}

/// What becomes of reasoning blocks of earlier turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingInHistory {
    /// They stay input for good.
    Kept,
    /// They are dropped once a plain user message follows.
    Stripped,
}

/// What is known of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// Its name in the price list, e.g. `claude-opus-5`.
    pub id: String,
    /// Other names of it: aliases and dated ids.
    pub aliases: Vec<String>,
    /// Shortest prefix that is cached.
    pub min_tokens: Tokens,
    /// Where the minimum was read.
    pub min_evidence: Evidence,
    /// Longest prompt, in tokens.
    pub context_window: Tokens,
    /// What becomes of reasoning blocks of earlier turns.
    pub thinking: ThinkingInHistory,
    /// Counts its tokens where the scenario names no tokenizer.
    pub tokenizer: TokenizerSpec,
    /// Its tokenizer family, e.g. `claude-v4.8`.
    pub family: String,
    /// Its prices.
    pub prices: PriceTable,
    /// What is uncertain about these facts, in words; empty where nothing is.
    pub notes: Vec<String>,
}

/// Models that count tokens alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyFacts {
    /// Its name, e.g. `claude-v4.8`.
    pub name: String,
    /// Counts its tokens.
    pub tokenizer: TokenizerSpec,
    /// How far its counts are off, in words.
    pub spread: String,
    /// Where the counts come from.
    pub source: String,
    /// When it was checked.
    pub checked: Date,
}

/// Where a fact was read, when, and how sure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Link or document.
    pub source: String,
    /// When it was read.
    pub checked: Date,
    /// How sure it is.
    pub mark: Confidence,
}

/// Where a number of the rules was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSource {
    /// The number's key in the table, e.g. `lookback`.
    pub key: &'static str,
    /// What it means exactly, in words.
    pub note: String,
    /// Where it was read.
    pub evidence: Evidence,
}

/// A rule that no page documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSwitch {
    /// Its key, e.g. `refresh_earlier`.
    pub key: &'static str,
    /// Its default as a scenario would write it, without quotes.
    pub default: String,
    /// Why that is the default, in words.
    pub reason: String,
    /// What speaks for it.
    pub source: String,
    /// When that was read.
    pub checked: Date,
}

/// Why a table of facts is refused. `entry` names the place, e.g. `claude-opus-5, price 1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactsError {
    /// The text is no TOML or has an unknown or a missing key.
    #[error("read the table of facts: {0}")]
    Shape(String),
    /// An entry has no source or no day on which it was checked.
    #[error("read {entry}: `{key}` is missing")]
    Missing {
        /// The entry.
        entry: String,
        /// The key.
        key: &'static str,
    },
    /// A value is not a day of the calendar.
    #[error("read {entry}: `{value}` is not a date such as 2026-07-24")]
    Day {
        /// The entry.
        entry: String,
        /// The value.
        value: String,
    },
    /// A price is no plain decimal with at most six decimals.
    #[error(
        "read {entry}: `{key} = \"{value}\"` is not a price in USD per million tokens with at \
         most 6 decimals"
    )]
    Price {
        /// The entry.
        entry: String,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// A model has no price.
    #[error("read {entry}: it has no price")]
    NoPrice {
        /// The model.
        entry: String,
    },
    /// A price ends before it begins.
    #[error("read {entry}: `to` is not later than `from`")]
    Backwards {
        /// The entry.
        entry: String,
    },
    /// Two prices of one model hold for the same prompts on the same day.
    #[error("read {entry}: it overlaps {other}")]
    Overlap {
        /// The later entry.
        entry: String,
        /// The earlier entry.
        other: String,
    },
    /// A day lies after the day on which it was checked.
    #[error("read {entry}: it is checked on {checked}, before it can be known")]
    Future {
        /// The entry.
        entry: String,
        /// The day.
        checked: Date,
    },
    /// A model names a family that the table lacks.
    #[error("read {entry}: the family `{family}` is not in the table")]
    Family {
        /// The model.
        entry: String,
        /// The family.
        family: String,
    },
    /// Two models have the same name.
    #[error("read {entry}: the name `{name}` stands twice")]
    Duplicate {
        /// The later model.
        entry: String,
        /// The name.
        name: String,
    },
    /// A tokenizer is not `name` or `name*factor`.
    #[error("read {entry}: `{value}` is not a tokenizer such as o200k_base*1.25")]
    Tokenizer {
        /// The entry.
        entry: String,
        /// The value.
        value: String,
    },
}
