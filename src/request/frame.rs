//! What a provider bills around the text of a block.

use std::sync::Arc;

/// Where the size of something that stands in no text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Bills of recorded requests show it.
    Measured,
    /// The provider's documents state it.
    Documented,
    /// It follows from what is known of related models or requests.
    Inferred,
}

impl Mark {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Mark::Measured => "measured",
            Mark::Documented => "documented",
            Mark::Inferred => "inferred",
        }
    }
}

/// What tokens beside a text are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtraKind {
    /// What marks the request, a message or a block.
    Frame,
    /// The part of the hidden tool-use prompt that stands before the tools.
    ToolPrompt,
    /// The part of it that depends on `tool_choice` and stands behind the system prompt.
    ToolChoicePrompt,
    /// The hidden prompt of a schema for the answer, and the schema.
    OutputSchema,
    /// The hidden prompt of extended thinking, or what marks a thinking block.
    Thinking,
    /// An image.
    Image,
    /// A document.
    Document,
    /// A block that no rule is known for.
    Unknown,
}

impl ExtraKind {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ExtraKind::Frame => "frame",
            ExtraKind::ToolPrompt => "tool_prompt",
            ExtraKind::ToolChoicePrompt => "tool_choice_prompt",
            ExtraKind::OutputSchema => "output_schema",
            ExtraKind::Thinking => "thinking",
            ExtraKind::Image => "image",
            ExtraKind::Document => "document",
            ExtraKind::Unknown => "unknown",
        }
    }
}

/// Tokens that stand in no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extra {
    /// What they are for.
    pub kind: ExtraKind,
    /// How many are counted.
    pub tokens: u64,
    /// The fewest that they can be.
    pub low: u64,
    /// The most that they can be.
    pub high: u64,
    /// Where the number comes from.
    pub mark: Mark,
}

impl Extra {
    /// Tokens that are known.
    pub fn exact(kind: ExtraKind, tokens: u64, mark: Mark) -> Extra {
        Extra { kind, tokens, low: tokens, high: tokens, mark }
    }

    /// Tokens that are known as an interval alone.
    pub fn between(kind: ExtraKind, low: u64, tokens: u64, high: u64, mark: Mark) -> Extra {
        Extra { kind, tokens, low, high, mark }
    }
}

/// How the text of a block meets what stands around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It counts by itself: nothing is known of what is around it.
    #[default]
    Alone,
    /// It is a piece of one long text.
    Joined,
    /// Special tokens stand before and behind it.
    Apart,
}

/// What is billed around a block's counted text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Text before it.
    pub before: Arc<str>,
    /// Text behind it.
    pub after: Arc<str>,
    /// How all of it meets the block before.
    pub standing: Standing,
    /// Tokens that stand in no text.
    pub extras: Vec<Extra>,
    /// Tokens that recorded bills have more than the count, or less.
    pub correction: i64,
}

impl Frame {
    /// The counted text of a block with what stands around it.
    pub fn around(&self, text: &str) -> String {
        format!("{}{text}{}", self.before, self.after)
    }

    /// Tokens that stand in no text.
    pub fn extra_tokens(&self) -> u64 {
        self.extras.iter().map(|extra| extra.tokens).sum()
    }
}
