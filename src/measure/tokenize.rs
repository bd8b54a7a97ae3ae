//! Tokens and chained hashes of every block of a prompt.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::identity;
use crate::request::{RenderedBlock, RenderedPrompt, StatedPrompt};
use crate::tokens::Tokenizer;
use crate::units::Tokens;

/// One block, by the prefix that ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMeasure {
    /// Identity of the prefix: key parameters, and of each block its place and prompt bytes.
    pub prefix_hash: u128,
    /// Tokens of the block.
    pub tokens: Tokens,
    /// Tokens of the prefix.
    pub tokens_so_far: Tokens,
    /// Prompt bytes of the prefix: the sum over its blocks.
    pub bytes_so_far: u64,
}

/// A prompt with the measures of its blocks. What siblings share is shared in memory.
#[derive(Clone, Debug)]
pub struct TokenizedPrompt {
    rendered: RenderedPrompt,
    shared: Arc<[BlockMeasure]>,
    /// Indices of the shared blocks that carry a marker.
    marked: Arc<[usize]>,
    own: Option<BlockMeasure>,
}

impl TokenizedPrompt {
    /// A prompt whose blocks somebody else measured: it has sizes and identities, but no bytes.
    pub fn stated(prompt: &StatedPrompt) -> TokenizedPrompt {
        let mut before = start_of(&prompt.namespace);
        let measures = prompt.blocks.iter().map(|block| {
            before = before.longer_by(block.identity, block.tokens, 0);
            before
        });
        let shared: Arc<[BlockMeasure]> = measures.collect();
        let rendered = prompt.rendered();
        let marked = marked(&rendered);
        TokenizedPrompt { rendered, shared, marked, own: None }
    }

    /// Blocks with their measures, in the provider's order.
    pub fn blocks(&self) -> impl Iterator<Item = (&RenderedBlock, &BlockMeasure)> {
        self.rendered.blocks().zip(self.shared.iter().chain(&self.own))
    }

    /// What besides the prompt keys the cache, as canonical text.
    pub fn namespace(&self) -> &str {
        &self.rendered.namespace
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.shared.len() + usize::from(self.own.is_some())
    }

    /// True where there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The block at `index` and its measure.
    pub fn block(&self, index: usize) -> Option<(&RenderedBlock, &BlockMeasure)> {
        match self.shared.get(index) {
            Some(measure) => Some((&self.rendered.shared[index], measure)),
            None if index == self.shared.len() => self.rendered.own.as_ref().zip(self.own.as_ref()),
            None => None,
        }
    }

    /// The blocks that carry a marker, with their measures, in the provider's order.
    pub fn marked(&self) -> impl Iterator<Item = (&RenderedBlock, &BlockMeasure)> {
        let shared = self.marked.iter().filter_map(|index| self.block(*index));
        shared.chain(self.own().filter(|(block, _)| block.marker.is_some()))
    }

    /// Number of blocks that siblings share in memory: all but the own one.
    pub fn shared_len(&self) -> usize {
        self.shared.len()
    }

    /// The same number for all prompts of one family, another for each other family that is alive:
    /// a key for maps whose order is never looked at.
    pub fn family_key(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// True where both prompts share their blocks, but for the own one, in memory.
    pub fn same_family(&self, other: &TokenizedPrompt) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The measure of the last block; `None` for an empty prompt.
    pub fn last(&self) -> Option<&BlockMeasure> {
        self.own.as_ref().or(self.shared.last())
    }

    /// The block that is this prompt's own and its measure, where it has one.
    pub fn own(&self) -> Option<(&RenderedBlock, &BlockMeasure)> {
        self.rendered.own.as_ref().zip(self.own.as_ref())
    }

    /// Tokens of the whole prompt.
    pub fn tokens(&self) -> Tokens {
        self.last().map_or(Tokens::ZERO, |measure| measure.tokens_so_far)
    }

    /// Bytes of the whole prompt: the sum over its blocks.
    pub fn bytes(&self) -> u64 {
        self.last().map_or(0, |measure| measure.bytes_so_far)
    }
}

/// Measures prompts. Blocks that several share in memory are measured once; the own blocks in
/// parallel, results in order.
pub fn tokenize(prompts: Vec<RenderedPrompt>, tokenizer: &Tokenizer) -> Vec<TokenizedPrompt> {
    let mut families: HashMap<usize, Family> = HashMap::new();
    let mut shared = Vec::with_capacity(prompts.len());
    for prompt in &prompts {
        let measures = families
            .entry(Arc::as_ptr(&prompt.shared).addr())
            .or_insert_with(|| Family::of(prompt, tokenizer));
        shared.push(measures.clone());
    }
    prompts
        .into_par_iter()
        .zip(shared)
        .map(|(rendered, Family { shared, marked })| {
            let start = shared.last().copied().unwrap_or_else(|| start_of(&rendered.namespace));
            let own = rendered.own.as_ref().map(|block| {
                let tokens = tokenizer.count(&block.counted_text) + Tokens(block.assumed_tokens);
                start.followed_by(block, tokens)
            });
            TokenizedPrompt { rendered, shared, marked, own }
        })
        .collect()
}

/// What is known of the blocks that siblings share.
#[derive(Clone)]
struct Family {
    shared: Arc<[BlockMeasure]>,
    marked: Arc<[usize]>,
}

impl Family {
    fn of(prompt: &RenderedPrompt, tokenizer: &Tokenizer) -> Family {
        Family { shared: measure_all(prompt, tokenizer).into(), marked: marked(prompt) }
    }
}

/// Indices of the shared blocks that carry a marker.
fn marked(prompt: &RenderedPrompt) -> Arc<[usize]> {
    let blocks = prompt.shared.iter().enumerate();
    blocks.filter(|(_, block)| block.marker.is_some()).map(|(index, _)| index).collect()
}

fn measure_all(prompt: &RenderedPrompt, tokenizer: &Tokenizer) -> Vec<BlockMeasure> {
    let texts: Vec<&str> = prompt.shared.iter().map(|block| &*block.counted_text).collect();
    let counts = tokenizer.count_all(&texts);
    let mut before = start_of(&prompt.namespace);
    let blocks = prompt.shared.iter().zip(counts);
    blocks
        .map(|(block, count)| {
            before = before.followed_by(block, count + Tokens(block.assumed_tokens));
            before
        })
        .collect()
}

/// The empty prefix of a namespace.
fn start_of(namespace: &str) -> BlockMeasure {
    BlockMeasure {
        prefix_hash: identity::of_namespace(namespace),
        tokens: Tokens::ZERO,
        tokens_so_far: Tokens::ZERO,
        bytes_so_far: 0,
    }
}

impl BlockMeasure {
    /// The prefix that is longer by one block.
    fn followed_by(&self, block: &RenderedBlock, tokens: Tokens) -> BlockMeasure {
        let bytes = block.prompt_bytes.len() as u64;
        self.longer_by(identity::of_block(block), tokens, bytes)
    }

    /// The prefix that is longer by a block of that identity and size.
    fn longer_by(&self, identity: u128, tokens: Tokens, bytes: u64) -> BlockMeasure {
        BlockMeasure {
            prefix_hash: identity::followed_by(self.prefix_hash, identity),
            tokens,
            tokens_so_far: self.tokens_so_far + tokens,
            bytes_so_far: self.bytes_so_far + bytes,
        }
    }
}
