//! The assistant message that starts the children.

use super::code::escape;
use super::draw::Draw;
use super::fit::{Carry, Fit, Frame, Opening};
use super::history::split_call;
use super::prose::{self, Topic};
use super::texts::{TextKind, fill_kind};
use super::words::expand;
use super::{ContentError, Wording, exactly};
use crate::request::{Block, Message, Role};
use crate::scenario::DispatchSize;

/// Tokens of a reasoning and of a text block where the size is left open.
const NATURAL_TOKENS: [u64; 2] = [60, 20];

/// Attempts to cut a directive; the escapes of JSON make the first one miss at times.
const CUTS_MAX: usize = 12;

/// Characters of a reasoning block's signature.
const SIGNATURE_LENGTH: usize = 344;

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// An assistant message with one call of `tool_name` a directive, behind reasoning and text blocks.
///
/// The blocks' counts sum to the size. A call's prompt is its directive: padded with notes where
/// the size leaves room, cut between words where it does not.
///
/// # Errors
/// [`ContentError::TooSmall`] where the shortest blocks take more, [`ContentError::NothingToFill`]
/// where there is a size and no directive.
pub fn dispatch(
    seed: u64,
    directives: &[String],
    size: DispatchSize,
    thinking_blocks: u64,
    text_blocks: u64,
    tool_name: &str,
    wording: &Wording<'_>,
) -> Result<Message, ContentError> {
    let tokenizer = wording.tokenizer;
    let fit = Fit { tokenizer, what: "parent.dispatch" };
    let total = match size {
        DispatchSize::PerCall(tokens) => Some(tokens.saturating_mul(directives.len() as u64)),
        DispatchSize::Total(tokens) => Some(tokens),
        DispatchSize::Natural => None,
    };
    let before = [thinking_blocks, text_blocks];
    let sizes = match total {
        Some(total) => {
            let shortest = shortest(&fit, tool_name, wording)?;
            sizes(&fit, total, before, directives.len(), shortest)?
        }
        None => Sizes { before: NATURAL_TOKENS, calls: Vec::new(), shortest: 0 },
    };
    let mut carry = Carry::new(tokenizer);
    let mut blocks = Vec::new();
    for index in 0..thinking_blocks {
        let mut draw = Draw::new(seed, "dispatch.thinking", index);
        let unscaled = carry.unscaled(sizes.before[0], 1);
        let text = fill_kind(&fit, TextKind::Notes, unscaled, &mut draw)?;
        let signature = draw.characters(BASE64, SIGNATURE_LENGTH - 2) + "==";
        blocks.push(Block::Thinking { text, signature });
    }
    for index in 0..text_blocks {
        let mut draw = Draw::new(seed, "dispatch.text", index);
        let unscaled = carry.unscaled(sizes.before[1], 1);
        blocks.push(Block::Text(fill_kind(&fit, TextKind::Notes, unscaled, &mut draw)?));
    }
    for (index, directive) in directives.iter().enumerate() {
        let mut draw = Draw::new(seed, "dispatch.call", index as u64);
        let id = format!("toolu_{}", draw.base62(24));
        let description = expand(&mut draw, "~Verb~ ~adjective~ ~noun~");
        let call = Call { fit: &fit, tool_name, description, directive };
        blocks.push(match sizes.calls.get(index) {
            Some(tokens) => {
                let unscaled = carry.unscaled(*tokens, sizes.shortest);
                let make = |size, draw: &mut Draw| split_call(&call.sized(size, draw)?, id.clone());
                let bare = |size, draw: &mut Draw| split_call(&call.bare(size, draw)?, id.clone());
                let count = |call: &Block| wording.block(call);
                exactly(&fit, unscaled, &mut draw.clone(), make, count)
                    .or_else(|_| exactly(&fit, unscaled, &mut draw, bare, count))?
            }
            None => split_call(&call.natural(), id)?,
        });
    }
    Ok(Message { role: Role::Assistant, blocks })
}

/// Sizes of the blocks, in scaled tokens.
struct Sizes {
    /// Of each reasoning and of each text block.
    before: [u64; 2],
    /// Of each call; none where the size is left open.
    calls: Vec<u64>,
    /// Tokens of the shortest call under the vocabulary.
    shortest: u64,
}

/// Tokens of the shortest call.
fn shortest(fit: &Fit<'_>, tool_name: &str, wording: &Wording<'_>) -> Result<u64, ContentError> {
    let frame = frame(tool_name, "Fix", "", Opening::Always);
    let size = frame.smallest(fit.tokenizer);
    let call = fit.fill(&frame, size, &mut Draw::new(0, "shortest", 0), |_| String::new())?;
    Ok(wording.block(&split_call(&call, String::new())?))
}

fn sizes(
    fit: &Fit<'_>,
    total: u64,
    blocks: [u64; 2],
    calls: usize,
    shortest: u64,
) -> Result<Sizes, ContentError> {
    let smallest_block = fit.tokenizer.scaled(1).0.max(1);
    let smallest_calls = fit.tokenizer.scaled(shortest).0 * calls as u64;
    let smallest = smallest_calls + smallest_block * (blocks[0] + blocks[1]);
    if total < smallest {
        return Err(ContentError::TooSmall { what: fit.what, asked: total, smallest });
    }
    if calls == 0 {
        return Err(ContentError::NothingToFill { what: fit.what, asked: total });
    }
    // Reasoning and text are short beside the calls: their natural size, or an eighth of what is
    // left.
    let count = (blocks[0] + blocks[1]).max(1);
    let most = smallest_block + (total - smallest) / 8 / count;
    let before = NATURAL_TOKENS.map(|natural| natural.min(most));
    let left = total - before[0] * blocks[0] - before[1] * blocks[1];
    let calls = fit.share(left, &vec![shortest; calls], &vec![1; calls])?;
    Ok(Sizes { before, calls, shortest })
}

/// A call up to its prompt's closing words; `prompt` is the escaped beginning.
fn frame(tool_name: &str, description: &str, prompt: &str, opening: Opening) -> Frame {
    Frame {
        head: format!("{tool_name}\n{{\"description\":\"{description}\",\"prompt\":\"{prompt}"),
        joint: String::new(),
        tail: "\",\"subagent_type\":\"fork\"}".to_owned(),
        opening,
        comment: "",
    }
}

struct Call<'a> {
    fit: &'a Fit<'a>,
    tool_name: &'a str,
    description: String,
    directive: &'a str,
}

impl Call<'_> {
    /// The call with the whole directive and nothing else.
    fn natural(&self) -> String {
        let prompt = escape(self.directive);
        let frame = frame(self.tool_name, &self.description, &prompt, Opening::Never);
        format!("{}{}", frame.head, frame.tail)
    }

    /// The call with exactly `unscaled` tokens.
    fn sized(&self, unscaled: u64, draw: &mut Draw) -> Result<String, ContentError> {
        let Call { fit, tool_name, description, directive } = self;
        let directive = directive.trim_end();
        let whole = frame(tool_name, description, &escape(directive), Opening::Never);
        if !directive.is_empty() && whole.smallest(fit.tokenizer) <= unscaled {
            let padded = fit.fill(&whole, unscaled, draw, prose::running(Topic::Notes));
            if padded.is_ok() {
                return padded;
            }
        }
        for description in [description.as_str(), "Fix"] {
            if let Some(text) = self.cut(description, directive, unscaled, draw)? {
                return Ok(text);
            }
        }
        self.bare(unscaled, draw)
    }

    /// The call with nothing of its directive.
    fn bare(&self, unscaled: u64, draw: &mut Draw) -> Result<String, ContentError> {
        let bare = frame(self.tool_name, "Fix", "", Opening::IfBare);
        self.fit.fill(&bare, unscaled, draw, prose::running(Topic::Task))
    }

    /// The call with as many words of the directive as fit; `None` where none does.
    fn cut(
        &self,
        description: &str,
        directive: &str,
        unscaled: u64,
        draw: &mut Draw,
    ) -> Result<Option<String>, ContentError> {
        let tokenizer = self.fit.tokenizer;
        let around = frame(self.tool_name, description, "", Opening::Never).smallest(tokenizer);
        let mut room = unscaled.saturating_sub(around);
        for _ in 0..CUTS_MAX {
            let (words, _) = tokenizer.prefix_within(directive, room);
            // Behind a letter or digit, closing words count one each whatever follows them.
            let words = words.trim_end_matches(|c: char| !c.is_alphanumeric());
            if words.is_empty() {
                return Ok(None);
            }
            let cut = frame(self.tool_name, description, &escape(words), Opening::Never);
            let smallest = cut.smallest(tokenizer);
            if smallest <= unscaled {
                return self.fit.fill(&cut, unscaled, draw, |_| String::new()).map(Some);
            }
            room = room.saturating_sub(smallest - unscaled);
        }
        Ok(None)
    }
}
