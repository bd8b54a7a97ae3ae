//! Synthetic text that hits its token size exactly: tools, system prompt, history, dispatch,
//! directives.
//!
//! Every piece is drawn from a generator of its own, seeded by the seed, the name of the stream and
//! its index, so one more child or turn changes no other text. Sizes are those of the tokenizer:
//! exact under a vocabulary, the nearest count there is under a scaled one, within a hundredth and
//! four tokens under a file's. The text is about software and from our own templates; deliberately
//! absent is anything that depends on a machine.

mod code;
mod dispatch;
mod draw;
mod fit;
mod history;
mod output;
mod prose;
mod texts;
mod tools;
mod words;

#[cfg(test)]
mod tests;

use crate::provider::Provider;
use crate::request::{Block, RawJson, ResultContent, Tool};
use crate::tokens::Tokenizer;

use draw::Draw;
use fit::{Fit, Nearest};

pub use dispatch::dispatch;
pub use history::history;
pub use texts::{
    IDENTITY_TOKENS, TextKind, directive, identity_line, placeholder, prompt, system, text,
};
pub use tools::tools;

/// How tools and calls are written where they are counted.
#[derive(Clone, Copy, Debug)]
pub struct Wording<'a> {
    /// Counts.
    pub tokenizer: &'a Tokenizer,
    /// Writes.
    pub provider: &'a dyn Provider,
}

impl Wording<'_> {
    /// Tokens of a tool definition under the vocabulary.
    fn tool(&self, tool: &Tool) -> u64 {
        let schema = tool.input_schema.as_ref().map(RawJson::as_str);
        let family = self.tokenizer.spec().claude_family();
        let text =
            self.provider.counted_tool(family, &tool.name, tool.description.as_deref(), schema);
        self.tokenizer.count_unscaled(&text)
    }

    /// Tokens of a block under the vocabulary; of anything but a call, those of its text.
    fn block(&self, block: &Block) -> u64 {
        let family = self.tokenizer.spec().claude_family();
        match block {
            Block::ToolUse { name, input, .. } => {
                let text = self.provider.counted_call(family, name, input.as_str());
                self.tokenizer.count_unscaled(&text)
            }
            Block::Text(text) | Block::Thinking { text, .. } => self.tokenizer.count_unscaled(text),
            Block::ToolResult { content: ResultContent::Text(text), .. } => {
                self.tokenizer.count_unscaled(text)
            }
            Block::ToolResult { content: ResultContent::Blocks(blocks), .. } => {
                blocks.iter().map(|block| self.block(block)).sum()
            }
            Block::Other(raw) => self.tokenizer.count_unscaled(raw.as_str()),
        }
    }
}

/// Makes something whose written form has exactly `tokens` tokens. `make` is asked for sizes of the
/// form that the generator knows, name and JSON; the two differ by what the provider writes around
/// and between, so the size that is asked for moves by what was missed. Where a count is jumped
/// over, other words are drawn; under a file's vocabulary the nearest stands.
fn exactly<T>(
    fit: &Fit<'_>,
    tokens: u64,
    draw: &mut Draw,
    mut make: impl FnMut(u64, &mut Draw) -> Result<T, ContentError>,
    count: impl Fn(&T) -> u64,
) -> Result<T, ContentError> {
    const DRAWS_MAX: usize = 12;
    const SIZES_MAX: usize = 6;
    let start = draw.clone();
    let mut nearest = Nearest::new(fit.tokenizer, tokens);
    for skipped in 0..DRAWS_MAX {
        let mut asked = tokens;
        for _ in 0..SIZES_MAX {
            *draw = start.clone();
            for _ in 0..skipped {
                draw.below(2);
            }
            let made = make(asked, draw)?;
            let reached = count(&made);
            if reached == tokens {
                return Ok(made);
            }
            nearest.offer(made, reached);
            asked = (asked + tokens).saturating_sub(reached);
        }
        if nearest.is_near() {
            break;
        }
    }
    nearest.take(fit.what)
}

/// Why text of a size cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The size is below the smallest one.
    #[error("{what}: {asked} tokens asked for, but {smallest} is the smallest size possible")]
    TooSmall {
        /// What was to be made.
        what: &'static str,
        /// Tokens asked for.
        asked: u64,
        /// Fewest tokens possible.
        smallest: u64,
    },
    /// There is nothing to put the tokens in.
    #[error("{what}: {asked} tokens asked for, but there is nothing to hold them")]
    NothingToFill {
        /// What was to be made.
        what: &'static str,
        /// Tokens asked for.
        asked: u64,
    },
    /// The size was missed.
    #[error("{what}: {asked} tokens asked for, but only {reached} reached; try a size close by")]
    NotExact {
        /// What was to be made.
        what: &'static str,
        /// Tokens asked for, under the vocabulary.
        asked: u64,
        /// Tokens of the closest text, under the vocabulary.
        reached: u64,
    },
    /// Generated JSON is not valid.
    #[error("{what}: generated JSON is not valid")]
    BadJson {
        /// What was to be made.
        what: &'static str,
        /// What the parser says.
        source: serde_json::Error,
    },
}

impl ContentError {
    /// What was to be made: the key of the scenario that asks for it, or a part of one.
    pub fn what(&self) -> &'static str {
        match self {
            ContentError::TooSmall { what, .. }
            | ContentError::NothingToFill { what, .. }
            | ContentError::NotExact { what, .. }
            | ContentError::BadJson { what, .. } => what,
        }
    }
}
