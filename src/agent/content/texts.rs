//! Single texts of exact size.

use super::ContentError;
use super::code::{self, Language};
use super::draw::Draw;
use super::fit::{Carry, Fit, Frame, Opening};
use super::output;
use super::prose::{self, Topic};
use crate::tokens::Tokenizer;
use crate::units::Tokens;

/// Tokens of the line that says who the agent is.
pub const IDENTITY_TOKENS: u64 = 30;

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Paragraphs of notes.
    Notes,
    /// Paragraphs that set a task.
    Task,
    /// Lists of rules under headings.
    Rules,
    /// Rust with line numbers.
    Rust,
    /// TypeScript with line numbers.
    TypeScript,
    /// Python with line numbers.
    Python,
    /// A change of several files.
    Diff,
    /// A listing of files.
    Listing,
    /// Matches of a search.
    Matches,
    /// The log of a test run.
    Log,
    /// A JSON array; valid JSON from about twelve tokens on.
    Json,
}

impl TextKind {
    /// Every kind.
    pub const ALL: [TextKind; 11] = [
        TextKind::Notes,
        TextKind::Task,
        TextKind::Rules,
        TextKind::Rust,
        TextKind::TypeScript,
        TextKind::Python,
        TextKind::Diff,
        TextKind::Listing,
        TextKind::Matches,
        TextKind::Log,
        TextKind::Json,
    ];

    fn frame(self) -> Frame {
        let comment = match self {
            TextKind::Notes | TextKind::Task | TextKind::Rules | TextKind::Json => "",
            TextKind::Rust | TextKind::TypeScript | TextKind::Diff => " //",
            TextKind::Python | TextKind::Listing | TextKind::Matches | TextKind::Log => " #",
        };
        if self != TextKind::Json {
            return Frame { comment, ..Frame::bare() };
        }
        Frame {
            head: "[\n".to_owned(),
            joint: "{\"note\":\"".to_owned(),
            tail: "\"}\n]".to_owned(),
            opening: Opening::Always,
            comment,
        }
    }

    fn units(self) -> Box<dyn FnMut(&mut Draw) -> String> {
        match self {
            TextKind::Notes => Box::new(prose::paragraphs(Topic::Notes)),
            TextKind::Task => Box::new(prose::paragraphs(Topic::Task)),
            TextKind::Rules => Box::new(prose::rules()),
            TextKind::Rust => Box::new(code::numbered(Language::Rust)),
            TextKind::TypeScript => Box::new(code::numbered(Language::TypeScript)),
            TextKind::Python => Box::new(code::numbered(Language::Python)),
            TextKind::Diff => Box::new(code::diff(Language::Rust)),
            TextKind::Listing => Box::new(output::listing()),
            TextKind::Matches => Box::new(output::matches()),
            TextKind::Log => Box::new(output::log()),
            TextKind::Json => Box::new(output::rows()),
        }
    }
}

/// A text of exactly `tokens` tokens; under a scaled tokenizer the nearest count there is.
///
/// # Errors
/// [`ContentError::TooSmall`] for less than one token.
pub fn text(
    seed: u64,
    stream: &str,
    kind: TextKind,
    tokens: u64,
    tokenizer: &Tokenizer,
) -> Result<String, ContentError> {
    let fit = Fit { tokenizer, what: "text" };
    let unscaled = at_least_one(&fit, tokens)?;
    fill_kind(&fit, kind, unscaled, &mut Draw::new(seed, stream, 0))
}

/// A text of one kind, of at least one token; too little room for JSON gives prose.
pub(super) fn fill_kind(
    fit: &Fit<'_>,
    kind: TextKind,
    unscaled: u64,
    draw: &mut Draw,
) -> Result<String, ContentError> {
    let frame = kind.frame();
    if kind == TextKind::Json && unscaled < frame.smallest(fit.tokenizer) {
        return fit.fill(&Frame::bare(), unscaled, draw, TextKind::Notes.units());
    }
    fit.fill(&frame, unscaled, draw, kind.units())
}

/// The system prompt: a line of 30 tokens that says who the agent is, and the main prompt with the
/// rest; one block where there is no rest, none for no tokens.
///
/// # Errors
/// [`ContentError::NotExact`] where a size cannot be met; no size is known that cannot.
pub fn system(seed: u64, tokens: u64, tokenizer: &Tokenizer) -> Result<Vec<String>, ContentError> {
    let fit = Fit { tokenizer, what: "parent.system" };
    let mut carry = Carry::new(tokenizer);
    let mut blocks = Vec::new();
    let identity = tokens.min(IDENTITY_TOKENS);
    if identity > 0 {
        let unscaled = carry.unscaled(identity, 1);
        let options = ["You are a software engineering agent that works in a terminal."];
        let mut draw = Draw::new(seed, "system.identity", 0);
        blocks.push(headed(&fit, &options, unscaled, &mut draw, Topic::Rules)?);
    }
    if tokens > identity {
        let unscaled = carry.unscaled(tokens - identity, 1);
        let mut draw = Draw::new(seed, "system.main", 0);
        blocks.push(fill_kind(&fit, TextKind::Rules, unscaled, &mut draw)?);
    }
    Ok(blocks)
}

/// What child `index` is told; it begins with its number, so no two are equal.
///
/// # Errors
/// [`ContentError::TooSmall`] where not even the number fits.
pub fn directive(
    seed: u64,
    index: u64,
    tokens: u64,
    tokenizer: &Tokenizer,
) -> Result<String, ContentError> {
    let number = index + 1;
    let options = [format!("{number}."), number.to_string()];
    let options = options.each_ref().map(String::as_str);
    let piece = Piece { what: "fork.directive", stream: "directive", topic: Topic::Task };
    piece.make(seed, index, tokens, &options, tokenizer)
}

/// The task of a fresh agent, without any context.
///
/// # Errors
/// [`ContentError::TooSmall`] where not even its number fits.
pub fn prompt(
    seed: u64,
    index: u64,
    tokens: u64,
    tokenizer: &Tokenizer,
) -> Result<String, ContentError> {
    let number = index + 1;
    let options = [format!("Task {number}:"), format!("{number}:"), number.to_string()];
    let options = options.each_ref().map(String::as_str);
    let piece = Piece { what: "baselines.fresh", stream: "prompt", topic: Topic::Task };
    piece.make(seed, index, tokens, &options, tokenizer)
}

/// The line that says who an agent of another type is.
///
/// # Errors
/// [`ContentError::TooSmall`] where not even its number fits.
pub fn identity_line(
    seed: u64,
    index: u64,
    tokens: u64,
    tokenizer: &Tokenizer,
) -> Result<String, ContentError> {
    let number = index + 1;
    let options = [
        format!("You are agent {number}, made for one kind of task."),
        format!("Agent {number}"),
        number.to_string(),
    ];
    let options = options.each_ref().map(String::as_str);
    let piece = Piece { what: "identity line", stream: "identity", topic: Topic::Rules };
    piece.make(seed, index, tokens, &options, tokenizer)
}

/// What stands in for each result: the same text for every child.
///
/// # Errors
/// [`ContentError::TooSmall`] for less than one token.
pub fn placeholder(seed: u64, tokens: u64, tokenizer: &Tokenizer) -> Result<String, ContentError> {
    let fit = Fit { tokenizer, what: "fork.placeholder" };
    let unscaled = at_least_one(&fit, tokens)?;
    let options = ["The agent was started in the background; its report follows later."];
    let mut draw = Draw::new(seed, "placeholder", 0);
    headed(&fit, &options, unscaled, &mut draw, Topic::Notes)
}

/// A numbered text.
struct Piece {
    what: &'static str,
    stream: &'static str,
    topic: Topic,
}

impl Piece {
    /// The text under the first of `heads` that fits; the last is the shortest and must.
    fn make(
        &self,
        seed: u64,
        index: u64,
        tokens: u64,
        heads: &[&str],
        tokenizer: &Tokenizer,
    ) -> Result<String, ContentError> {
        let fit = Fit { tokenizer, what: self.what };
        let shortest = heads.last().map_or(1, |head| tokenizer.count_unscaled(head));
        if Tokens(tokens) < tokenizer.scaled(shortest) || tokens == 0 {
            return Err(fit.too_small(Tokens(tokens), shortest));
        }
        let unscaled = tokenizer.unscaled(Tokens(tokens)).max(shortest);
        let mut draw = Draw::new(seed, self.stream, index);
        headed(&fit, heads, unscaled, &mut draw, self.topic)
    }
}

/// Sentences behind the first head that fits, or on their own where none does.
fn headed(
    fit: &Fit<'_>,
    heads: &[&str],
    unscaled: u64,
    draw: &mut Draw,
    topic: Topic,
) -> Result<String, ContentError> {
    let head = heads.iter().find(|head| fit.tokenizer.count_unscaled(head) <= unscaled);
    let Some(head) = head else {
        return fit.fill(&Frame::bare(), unscaled, draw, prose::running(topic));
    };
    let opening = Opening::Never;
    let frame = Frame { head: (*head).to_owned(), opening, ..Frame::bare() };
    fit.fill(&frame, unscaled, draw, prose::running(topic))
}

/// The size under the vocabulary; at least one token has to be asked for.
fn at_least_one(fit: &Fit<'_>, tokens: u64) -> Result<u64, ContentError> {
    if tokens == 0 {
        return Err(ContentError::TooSmall { what: fit.what, asked: 0, smallest: 1 });
    }
    Ok(fit.tokenizer.unscaled(Tokens(tokens)).max(1))
}
