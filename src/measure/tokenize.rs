//! Tokens and chained hashes of every block of a prompt.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::identity;
use crate::request::{Extra, Frame, RenderedBlock, RenderedPrompt, Standing, StatedPrompt};
use crate::tokens::{JOINT_BYTES, Tokenizer, joint};
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
    tail: Tokens,
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
        TokenizedPrompt { rendered, shared, marked, own: None, tail: prompt.tail }
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
        self.last().map_or(Tokens::ZERO, |measure| measure.tokens_so_far) + self.tail
    }

    /// Tokens behind the last block, which no cache holds.
    pub fn tail(&self) -> Tokens {
        self.tail
    }

    /// What is billed beside texts, over all blocks and behind them.
    pub fn extras(&self) -> impl Iterator<Item = &Extra> {
        let blocks = self.rendered.blocks().flat_map(|block| &block.frame.extras);
        blocks.chain(&self.rendered.tail.extras)
    }

    /// Tokens behind the last block that stand in no text.
    pub fn tail_extra_tokens(&self) -> u64 {
        self.rendered.tail.extra_tokens()
    }

    /// The fewest and the most tokens that the whole prompt can have by what is known.
    pub fn tokens_between(&self) -> (Tokens, Tokens) {
        let less: u64 = self.extras().map(|extra| extra.tokens.saturating_sub(extra.low)).sum();
        let more: u64 = self.extras().map(|extra| extra.high.saturating_sub(extra.tokens)).sum();
        (Tokens(self.tokens().0.saturating_sub(less)), self.tokens() + Tokens(more))
    }

    /// What no rule of counting is known for, by its name in the request.
    pub fn unmodelled(&self) -> &[String] {
        &self.rendered.unmodelled
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
        .map(|(rendered, Family { shared, marked, window, mut debt })| {
            let start = shared.last().copied().unwrap_or_else(|| start_of(&rendered.namespace));
            let mut behind = (*window).clone();
            let own = rendered.own.as_ref().map(|block| {
                let tokens = count(&behind, &block.counted_text, &block.frame, tokenizer);
                behind.push(&block.counted_text, &block.frame);
                start.followed_by(block, debt.settle(tokens))
            });
            let tail = debt.settle(count(&behind, "", &rendered.tail, tokenizer));
            TokenizedPrompt { rendered, shared, marked, own, tail }
        })
        .collect()
}

/// What is known of the blocks that siblings share.
#[derive(Clone)]
struct Family {
    shared: Arc<[BlockMeasure]>,
    marked: Arc<[usize]>,
    /// What stands before the block behind them.
    window: Arc<Window>,
    /// What the block behind them has to make up for.
    debt: Debt,
}

/// Tokens that blocks had less than none. Where letters meet, a text can be cheaper with a block
/// than without it; blocks have no negative tokens, so the next ones make up for it and the sum
/// holds.
#[derive(Clone, Copy, Debug, Default)]
struct Debt(u64);

impl Debt {
    /// The tokens of the next block, of which it adds `tokens` to what stands before it.
    fn settle(&mut self, tokens: i64) -> Tokens {
        let more = tokens.unsigned_abs();
        if tokens < 0 {
            self.0 += more;
            return Tokens::ZERO;
        }
        let paid = self.0.min(more);
        self.0 -= paid;
        Tokens(more - paid)
    }
}

impl Family {
    fn of(prompt: &RenderedPrompt, tokenizer: &Tokenizer) -> Family {
        let mut window = Window::default();
        let before = |block: &RenderedBlock| {
            let before = window.clone();
            window.push(&block.counted_text, &block.frame);
            before
        };
        let windows: Vec<Window> = prompt.shared.iter().map(before).collect();
        let counts: Vec<i64> = prompt
            .shared
            .par_iter()
            .zip(&windows)
            .map(|(block, before)| count(before, &block.counted_text, &block.frame, tokenizer))
            .collect();
        let mut so_far = start_of(&prompt.namespace);
        let mut debt = Debt::default();
        let measures = prompt.shared.iter().zip(counts).map(|(block, tokens)| {
            so_far = so_far.followed_by(block, debt.settle(tokens));
            so_far
        });
        let shared = measures.collect();
        Family { shared, marked: marked(prompt), window: Arc::new(window), debt }
    }
}

/// Tokens that a block or a tail adds to what stands before it.
fn count(before: &Window, text: &str, frame: &Frame, tokenizer: &Tokenizer) -> i64 {
    let around = match frame.before.is_empty() && frame.after.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(frame.around(text)),
    };
    let tokens = match frame.standing {
        // A text that begins like a word costs even where it is empty; here there is none.
        Standing::Apart if around.is_empty() => 0,
        Standing::Alone => signed(tokenizer.count(&around).0),
        Standing::Apart => signed(tokenizer.count_apart(&around).0),
        Standing::Joined => tokenizer.count_behind(&before.text, &around),
    };
    // A factor on a family's counts is one on all that it bills.
    let extras = match tokenizer.spec().claude_family() {
        Some(_) => tokenizer.scaled(frame.extra_tokens()).0,
        None => frame.extra_tokens(),
    };
    tokens.saturating_add(signed(extras)).saturating_add(frame.correction)
}

/// Tokens are far fewer than `i64::MAX`.
fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// The end of what stands before a block of one long text: as much of it as can change how the
/// block is counted.
#[derive(Clone, Debug, Default)]
struct Window {
    text: String,
}

impl Window {
    /// The block comes behind.
    fn push(&mut self, text: &str, frame: &Frame) {
        if frame.standing != Standing::Joined {
            return;
        }
        let parts = [&*frame.before, text, &*frame.after];
        let mut joined = std::mem::take(&mut self.text);
        for part in parts {
            joined.push_str(
                &part[part.floor_char_boundary(part.len().saturating_sub(JOINT_BYTES))..],
            );
        }
        self.text = joint(&joined).to_owned();
    }
}

/// Indices of the shared blocks that carry a marker.
fn marked(prompt: &RenderedPrompt) -> Arc<[usize]> {
    let blocks = prompt.shared.iter().enumerate();
    blocks.filter(|(_, block)| block.marker.is_some()).map(|(index, _)| index).collect()
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
