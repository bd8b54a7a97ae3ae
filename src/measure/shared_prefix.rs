//! What requests share: three prefixes with three names.

use rayon::prelude::*;

use super::common::{common_body_prefix, common_prefix};
use super::tokenize::{BlockMeasure, TokenizedPrompt};
use crate::request::RequestBody;
use crate::tokens::Tokenizer;
use crate::units::Tokens;

/// The longest common prefix of a set of requests, by its measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedPrefix {
    /// Equal bytes from the start of the HTTP bodies.
    pub body_bytes: u64,
    /// Whole equal blocks.
    pub blocks: usize,
    /// Bytes of the whole equal blocks and of the equal head of the first block that differs.
    pub prompt_bytes: u64,
    /// Tokens of the whole equal blocks.
    pub prompt_tokens: Tokens,
    /// Tokens of the equal head of the first block that differs.
    pub head_tokens: Tokens,
}

/// Equal bytes from the start of all bodies; the whole length where there is one body, 0 where
/// there is none.
pub fn shared_body_bytes(bodies: &[RequestBody]) -> u64 {
    let Some((first, rest)) = bodies.split_first() else { return 0 };
    let shortest = rest.par_iter().map(|body| common_body_prefix(first, body)).min();
    shortest.unwrap_or(first.len()) as u64
}

/// The shared prefix of all requests; bodies and prompts are of the same requests in the same
/// order.
pub fn shared_prefix(
    bodies: &[RequestBody],
    prompts: &[TokenizedPrompt],
    tokenizer: &Tokenizer,
) -> SharedPrefix {
    let Some((first, rest)) = prompts.split_first() else { return SharedPrefix::default() };
    let blocks = rest.iter().map(|prompt| equal_blocks(first, prompt)).min().unwrap_or(first.len());
    let whole =
        blocks.checked_sub(1).and_then(|last| first.block(last)).map(|(_, measure)| measure);
    let (head_bytes, head_tokens) = equal_head(prompts, blocks, tokenizer);
    SharedPrefix {
        body_bytes: shared_body_bytes(bodies),
        blocks,
        prompt_bytes: whole.map_or(0, |measure| measure.bytes_so_far) + head_bytes,
        prompt_tokens: whole.map_or(Tokens::ZERO, |measure| measure.tokens_so_far),
        head_tokens,
    }
}

/// Number of whole blocks from the start that are equal in both prompts.
pub fn equal_blocks(a: &TokenizedPrompt, b: &TokenizedPrompt) -> usize {
    let equal =
        |((_, x), (_, y)): ((_, &BlockMeasure), (_, &BlockMeasure))| x.prefix_hash == y.prefix_hash;
    if a.same_family(b) {
        let own = a.own().zip(b.own()).is_some_and(equal);
        return a.shared_len() + usize::from(own);
    }
    a.blocks().zip(b.blocks()).take_while(|both| equal(*both)).count()
}

/// Bytes and tokens of the common head of the block at `index`, over all prompts.
fn equal_head(prompts: &[TokenizedPrompt], index: usize, tokenizer: &Tokenizer) -> (u64, Tokens) {
    let mut blocks = Vec::with_capacity(prompts.len());
    for prompt in prompts {
        let Some((block, _)) = prompt.block(index) else { return (0, Tokens::ZERO) };
        blocks.push(block);
    }
    let Some((first, rest)) = blocks.split_first() else { return (0, Tokens::ZERO) };
    if rest.is_empty() {
        return (0, Tokens::ZERO);
    }
    let bytes = rest.iter().map(|block| common_prefix(&first.prompt_bytes, &block.prompt_bytes));
    let bytes = bytes.min().unwrap_or(0);
    let texts = rest
        .iter()
        .map(|block| common_prefix(first.counted_text.as_bytes(), block.counted_text.as_bytes()));
    let text = first.counted_text.floor_char_boundary(texts.min().unwrap_or(0));
    (bytes as u64, tokenizer.count(&first.counted_text[..text]))
}
