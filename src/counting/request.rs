//! Tokens of one text or one request, by block and by section.

use jiff::civil::Date;

use super::accuracy::is_measured_exact;
use super::calibrate::{Class, class_of};
use crate::measure::{TokenizedPrompt, tokenize};
use crate::provider::{Provider, RenderOptions};
use crate::request::json::{JsonError, Node, parse};
use crate::request::{Extra, Mark, RequestBody};
use crate::tokens::{Tokenizer, TokenizerSpec};

/// How sure a count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    /// By the vocabulary's own rules, or by rules that nearly all recorded bills of its kind meet
    /// within a token.
    Exact,
    /// By another vocabulary, or with something in it that no bill shows.
    Estimated,
}

impl Exactness {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Exactness::Exact => "exact",
            Exactness::Estimated => "estimated",
        }
    }
}

/// A count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// What counted.
    pub tokenizer: TokenizerSpec,
    /// How sure the total is.
    pub exactness: Exactness,
    /// The model that decides over hidden prompts; empty for a text.
    pub model: String,
    /// What it has beside text.
    pub class: Class,
    /// Tokens of all of it.
    pub total: u64,
    /// The fewest and the most that the total can be by what is known.
    pub between: (u64, u64),
    /// Of a text under a Claude family: tokens of a request that holds it as its one message.
    pub as_message: Option<u64>,
    /// The least sure of what stands in no text; `None` where all is text.
    pub weakest: Option<Mark>,
    /// By part of the prompt, in order.
    pub sections: Vec<SectionCount>,
    /// By block, in order.
    pub blocks: Vec<BlockCount>,
    /// What no rule of counting is known for, by its name in the request.
    pub unmodelled: Vec<String>,
}

/// Tokens of one part of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionCount {
    /// `tools`, `system`, `messages`, or `answer`, what is billed behind the last message.
    pub section: &'static str,
    /// Number of its blocks.
    pub blocks: u64,
    /// Its tokens.
    pub tokens: u64,
    /// Those of them that stand in no text: hidden prompts, special tokens, media.
    pub extra_tokens: u64,
}

/// Tokens of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// JSON pointer.
    pub pointer: String,
    /// Its part of the prompt.
    pub section: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Its tokens.
    pub tokens: u64,
    /// Those of them that stand in no text.
    pub extras: Vec<Extra>,
}

/// The model that a request body, a JSON object with a list of messages, names, if it names one;
/// `None` where bytes are none.
pub fn model_of_request(bytes: &[u8]) -> Option<Option<String>> {
    let root = parse(bytes).ok()?;
    let messages = root.get("messages").is_some_and(|messages| !messages.items().is_empty());
    messages.then(|| model_named(bytes, &root))
}

/// Whether bytes that are no request body look as if they should be one: they begin like a JSON
/// object, behind a byte order mark too, and the words of one are in them.
pub fn may_be_request(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let head = &bytes[..bytes.len().min(LOOKED_AT_BYTES)];
    let holds = |word: &[u8]| head.windows(word.len()).any(|at| at == word);
    let named = holds(b"\"messages\"") || holds(b"\"model\"") && holds(b"\"input\"");
    bytes.starts_with(b"{") && named
}

/// Bytes that are looked at for the words of a request.
const LOOKED_AT_BYTES: usize = 1 << 20;

/// The model that a request body names.
pub fn model_in(bytes: &[u8]) -> Option<String> {
    model_named(bytes, &parse(bytes).ok()?)
}

fn model_named(bytes: &[u8], root: &Node) -> Option<String> {
    root.get("model").or_else(|| root.get("modelId"))?.text(bytes)
}

/// Counts one text that stands between other text, and as the one message of a request.
pub fn count_text(text: &str, tokenizer: TokenizerSpec) -> Counted {
    let mut counter = TextCounter::new(tokenizer);
    counter.add(text);
    let mut counted = counter.finish();
    let family = tokenizer.claude_family().filter(|_| !tokenizer.is_scaled());
    counted.as_message = family.map(|family| family.count_message(text));
    counted
}

/// The last place in UTF-8 at which the counts of two parts of a text add up under every built-in
/// vocabulary: behind a line end and before an ASCII letter or digit. 0 where there is none.
pub fn last_sure_cut(text: &[u8]) -> usize {
    let mut pairs = text.windows(2);
    let at = pairs.rposition(|pair| pair[0] == b'\n' && pair[1].is_ascii_alphanumeric());
    at.map_or(0, |at| at + 1)
}

/// Counts a text that comes in parts.
#[derive(Clone, Copy, Debug)]
pub struct TextCounter {
    counter: Tokenizer,
    unscaled: u64,
}

impl TextCounter {
    /// Nothing is counted.
    pub fn new(tokenizer: TokenizerSpec) -> TextCounter {
        TextCounter { counter: Tokenizer::new(tokenizer), unscaled: 0 }
    }

    /// Counts a part. The sum is the count of the whole where each part but the last ends at a
    /// [`last_sure_cut`]; under a file's tokenizer only where there is one part.
    pub fn add(&mut self, part: &str) {
        self.unscaled += self.counter.count_unscaled(part);
    }

    /// The count of all parts.
    pub fn finish(self) -> Counted {
        let tokenizer = self.counter.spec();
        let total = self.counter.scaled(self.unscaled).0;
        let exactness = if tokenizer.is_scaled() { Exactness::Estimated } else { Exactness::Exact };
        Counted {
            tokenizer,
            exactness,
            model: String::new(),
            class: Class::Text,
            total,
            between: (total, total),
            as_message: None,
            weakest: None,
            sections: Vec::new(),
            blocks: Vec::new(),
            unmodelled: Vec::new(),
        }
    }
}

/// Counts a request body, of any API that carries requests to the provider's models. `model`
/// stands in for the one that the body names.
///
/// # Errors
/// Where the bytes are no request body.
pub fn count_request(
    bytes: &[u8],
    provider: &dyn Provider,
    tokenizer: TokenizerSpec,
    model: Option<&str>,
    date: Option<Date>,
) -> Result<Counted, JsonError> {
    let body = RequestBody::captured(bytes.to_vec());
    let family = tokenizer.claude_family();
    let options = RenderOptions { family, date, model, ..RenderOptions::default() };
    let prompt = provider.render_recorded(&body, options)?;
    let prompt = tokenize(vec![prompt], &Tokenizer::new(tokenizer)).remove(0);
    let model = model.map(str::to_owned).or_else(|| model_in(bytes)).unwrap_or_default();
    let own = provider.tokenizer_for(&model);
    let mut counted = of_prompt(&prompt, tokenizer, model, own);
    if family.is_none() {
        // Without frames nobody looked for them.
        counted.unmodelled = provider.unmodelled(bytes);
    }
    if own.is_none() && !counted.model.is_empty() {
        counted.unmodelled.push(format!("model {}", counted.model));
    }
    Ok(counted)
}

/// How sure the count of a prompt is, given the tokenizer of the model that bills it: exact where
/// the model's own family counts, everything in the prompt was seen on recorded bills, and nearly
/// all recorded requests of its kind are met within a token.
pub fn exactness_of(
    prompt: &TokenizedPrompt,
    tokenizer: TokenizerSpec,
    own: Option<TokenizerSpec>,
) -> Exactness {
    let sure = prompt.extras().all(|extra| extra.mark == Mark::Measured && extra.low == extra.high);
    let by_rule = own == Some(tokenizer) && is_measured_exact(tokenizer, class_of(prompt));
    if by_rule && sure && prompt.unmodelled().is_empty() {
        Exactness::Exact
    } else {
        Exactness::Estimated
    }
}

fn of_prompt(
    prompt: &TokenizedPrompt,
    tokenizer: TokenizerSpec,
    model: String,
    own: Option<TokenizerSpec>,
) -> Counted {
    let mut sections: Vec<SectionCount> = Vec::new();
    let mut blocks = Vec::with_capacity(prompt.len());
    for (block, measure) in prompt.blocks() {
        let section = block.section.as_str();
        if sections.last().is_none_or(|last| last.section != section) {
            sections.push(SectionCount { section, blocks: 0, tokens: 0, extra_tokens: 0 });
        }
        if let Some(last) = sections.last_mut() {
            last.blocks += 1;
            last.tokens += measure.tokens.0;
            last.extra_tokens += block.frame.extra_tokens();
        }
        blocks.push(BlockCount {
            pointer: block.pointer.clone(),
            section,
            kind: block.kind.as_str(),
            tokens: measure.tokens.0,
            extras: block.frame.extras.clone(),
        });
    }
    if prompt.tail().0 > 0 {
        let tokens = prompt.tail().0;
        let (section, extra_tokens) = ("answer", prompt.tail_extra_tokens());
        sections.push(SectionCount { section, blocks: 0, tokens, extra_tokens });
    }
    let (low, high) = prompt.tokens_between();
    Counted {
        tokenizer,
        exactness: exactness_of(prompt, tokenizer, own),
        model,
        class: class_of(prompt),
        total: prompt.tokens().0,
        between: (low.0, high.0),
        as_message: None,
        weakest: prompt.extras().filter(|extra| extra.high > 0).map(|extra| extra.mark).max(),
        sections,
        blocks,
        unmodelled: prompt.unmodelled().to_vec(),
    }
}
