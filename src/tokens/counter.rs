//! Counts, remembered by the text's fingerprint.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::bpe::{self, Encoding};
use super::claude::ClaudeFamily;
use super::spec::{TokenizerSpec, Vocabulary};
use crate::units::Tokens;

/// Shortest text, in bytes, whose count is remembered: below it, counting costs as much as
/// remembering.
const REMEMBERED_BYTES_MIN: usize = 256;

/// Most counts that are remembered per vocabulary, about 10 MB; beyond it all are forgotten at
/// once, which changes speed and no result.
const REMEMBERED_MAX: usize = 1 << 17;

/// Counts tokens. A copy is a number; vocabularies and remembered counts belong to the process.
///
/// Nothing is loaded: vocabularies of the program are read where they lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer {
    spec: TokenizerSpec,
}

impl Tokenizer {
    /// A tokenizer of this kind; loads nothing.
    pub fn new(spec: TokenizerSpec) -> Tokenizer {
        Tokenizer { spec }
    }

    /// What it counts with.
    pub fn spec(&self) -> TokenizerSpec {
        self.spec
    }

    /// True where counts are the vocabulary's times a factor.
    pub fn is_scaled(&self) -> bool {
        self.spec.is_scaled()
    }

    /// Tokens of one text, factor applied.
    pub fn count(&self, text: &str) -> Tokens {
        self.scaled(self.count_unscaled(text))
    }

    /// Tokens of one text under the vocabulary alone.
    pub fn count_unscaled(&self, text: &str) -> u64 {
        let memory = memory(self.spec.vocabulary);
        if text.len() < REMEMBERED_BYTES_MIN {
            return encode(self.spec.vocabulary, text);
        }
        let key = *blake3::hash(text.as_bytes()).as_bytes();
        if let Some(count) = memory.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return *count;
        }
        let count = encode(self.spec.vocabulary, text);
        let mut counts = memory.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= REMEMBERED_MAX {
            counts.clear();
        }
        counts.insert(key, count);
        count
    }

    /// The count of a text that has `unscaled` tokens under the vocabulary: times the factor,
    /// halves rounded up.
    pub fn scaled(&self, unscaled: u64) -> Tokens {
        let product = u128::from(unscaled) * u128::from(self.spec.scale_milli);
        Tokens(u64::try_from((product + 500) / 1_000).unwrap_or(u64::MAX))
    }

    /// The fewest tokens under the vocabulary whose scaled count is nearest to `tokens`; `tokens`
    /// itself where nothing is scaled.
    pub fn unscaled(&self, tokens: Tokens) -> u64 {
        let scale = u128::from(self.spec.scale_milli);
        let near = u64::try_from(u128::from(tokens.0) * 1_000 / scale).unwrap_or(u64::MAX);
        // Rounding moves a count by half a token: at most 500 / scale tokens under the vocabulary.
        let reach = 500 / u64::from(self.spec.scale_milli) + 1;
        let candidates = near.saturating_sub(reach)..=near.saturating_add(reach);
        let distance = |unscaled: &u64| self.scaled(*unscaled).0.abs_diff(tokens.0);
        candidates.min_by_key(distance).unwrap_or(near)
    }

    /// Tokens that `text` adds behind `before`, where both stand in one text. Only a Claude family
    /// looks at `before`; elsewhere a text counts the same wherever it stands.
    pub fn count_behind(&self, before: &str, text: &str) -> i64 {
        let alone = i64::try_from(self.count_unscaled(text)).unwrap_or(i64::MAX);
        let unscaled = match self.spec.claude_family() {
            Some(family) => alone + family.seam(before, text),
            None => alone,
        };
        match u64::try_from(unscaled) {
            Ok(tokens) => i64::try_from(self.scaled(tokens).0).unwrap_or(i64::MAX),
            // Less than nothing is a token or two, which a factor does not change.
            Err(_) => unscaled,
        }
    }

    /// Tokens of a text that stands alone between special tokens, as in a message; only a Claude
    /// family tells that from text among text.
    pub fn count_apart(&self, text: &str) -> Tokens {
        match self.spec.claude_family() {
            Some(family) => self.scaled(family.count_apart(text)),
            None => self.count(text),
        }
    }

    /// The longest prefix of `text` that ends at a single space between words, or at the end of the
    /// text, and has at most `unscaled` tokens under the vocabulary; with its count. Empty where
    /// the first word is too long already.
    ///
    /// What stands before a word is counted once and not again with every longer prefix: at such a
    /// space the pattern of either public vocabulary begins a piece whatever stands before it, and
    /// a Claude family says what a word adds behind its neighbour. A file's tokenizer may merge
    /// across spaces, so there prefixes are counted whole; "longest" then means that the next word
    /// is too much.
    pub fn prefix_within<'a>(&self, text: &'a str, unscaled: u64) -> (&'a str, u64) {
        let (mut end, mut tokens) = (0, 0_u64);
        while end < text.len() {
            let next = next_boundary(text, end);
            let word = &text[end..next];
            let with_next = match self.spec.vocabulary {
                Vocabulary::O200k | Vocabulary::Cl100k => tokens + self.count_unscaled(word),
                Vocabulary::File(_) => return self.whole_prefix_within(text, unscaled),
                Vocabulary::Claude(family) => {
                    let word_tokens = self.count_unscaled(word);
                    (tokens + word_tokens).saturating_add_signed(family.seam(&text[..end], word))
                }
            };
            if with_next > unscaled {
                break;
            }
            (end, tokens) = (next, with_next);
        }
        (&text[..end], tokens)
    }

    /// The prefix by counts of whole prefixes: words are tried in steps that double, then halve
    /// the range between the longest that fits and the shortest that does not.
    fn whole_prefix_within<'a>(&self, text: &'a str, unscaled: u64) -> (&'a str, u64) {
        let mut ends = vec![0];
        while let Some(end) = ends.last().copied().filter(|end| *end < text.len()) {
            ends.push(next_boundary(text, end));
        }
        let (mut fits, mut too_long, mut step, mut tokens) = (0, ends.len(), 1, 0);
        while fits + 1 < too_long {
            let tried = (fits + step).min(fits + (too_long - fits) / 2);
            let tried_tokens = self.count_unscaled(&text[..ends[tried]]);
            if tried_tokens > unscaled {
                too_long = tried;
            } else {
                (fits, tokens) = (tried, tried_tokens);
                step *= 2;
            }
        }
        (&text[..ends[fits]], tokens)
    }
}

/// The end of the word that begins at `start`: the next single space between non-blank characters.
pub(super) fn next_boundary(text: &str, start: usize) -> usize {
    let mut before = None;
    let mut characters = text[start..].char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let after_word = before.is_some_and(|c: char| !c.is_whitespace());
        let before_word = characters.peek().is_some_and(|(_, next)| !next.is_whitespace());
        if at > 0 && character == ' ' && after_word && before_word {
            return start + at;
        }
        before = Some(character);
    }
    text.len()
}

fn encode(vocabulary: Vocabulary, text: &str) -> u64 {
    match vocabulary {
        Vocabulary::O200k => bpe::count(Encoding::O200k, text),
        Vocabulary::Cl100k => bpe::count(Encoding::Cl100k, text),
        Vocabulary::Claude(family) => family.count_inside(text),
        Vocabulary::File(file) => file.count(text),
    }
}

/// Counts by the fingerprints of their texts.
pub(super) type Memory = Mutex<HashMap<[u8; 32], u64>>;

fn memory(vocabulary: Vocabulary) -> &'static Memory {
    static O200K: LazyLock<Memory> = LazyLock::new(Memory::default);
    static CL100K: LazyLock<Memory> = LazyLock::new(Memory::default);
    static V3: LazyLock<Memory> = LazyLock::new(Memory::default);
    static V47: LazyLock<Memory> = LazyLock::new(Memory::default);
    match vocabulary {
        Vocabulary::O200k => &O200K,
        Vocabulary::Cl100k => &CL100K,
        Vocabulary::Claude(ClaudeFamily::V3) => &V3,
        // The two count text alike; only their frames differ.
        Vocabulary::Claude(ClaudeFamily::V47 | ClaudeFamily::V48) => &V47,
        Vocabulary::File(file) => file.memory(),
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::tokens::samples;
    use proptest::prelude::*;

    fn exact(vocabulary: Vocabulary) -> Tokenizer {
        Tokenizer::new(TokenizerSpec::exact(vocabulary))
    }

    fn scaled(scale_milli: u32) -> Tokenizer {
        Tokenizer::new(TokenizerSpec { vocabulary: Vocabulary::O200k, scale_milli })
    }

    #[test]
    fn known_texts_have_known_counts() {
        let tokenizer = exact(Vocabulary::O200k);
        assert_eq!(tokenizer.count(""), Tokens(0));
        assert_eq!(tokenizer.count("hello world"), Tokens(2));
        // Ordinary text: five pieces and more, not the one special token.
        assert!(tokenizer.count("<|endoftext|>") > Tokens(1));
    }

    #[test]
    fn scaled_counts_round_halves_up() {
        assert_eq!(scaled(1_500).count("hello"), Tokens(2));
        assert_eq!(scaled(1_499).count("hello"), Tokens(1));
        assert_eq!(scaled(1_650).scaled(100), Tokens(165));
        assert!(scaled(1_650).is_scaled() && !exact(Vocabulary::O200k).is_scaled());
    }

    #[test]
    fn many_texts_are_counted_in_their_order() {
        let texts: Vec<String> = (0..500).map(|n| "word ".repeat(n)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokenizer = scaled(1_650);
        let one_by_one: Vec<Tokens> = texts.iter().map(|text| tokenizer.count(text)).collect();
        let at_once: Vec<Tokens> = texts.par_iter().map(|text| tokenizer.count(text)).collect();
        assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn a_remembered_count_is_the_count() {
        let tokenizer = exact(Vocabulary::O200k);
        let text = "let value = cache.entry(key);\n".repeat(40);
        let direct = encode(Vocabulary::O200k, &text);
        assert_eq!([tokenizer.count_unscaled(&text), tokenizer.count_unscaled(&text)], [direct; 2]);
        // The memories of the two vocabularies are apart.
        let other = exact(Vocabulary::Cl100k).count_unscaled(&text);
        assert_eq!(other, encode(Vocabulary::Cl100k, &text));
    }

    #[test]
    fn hostile_text_does_not_break_the_encoder() {
        // Runs that the splitter could choke on have a million characters, the others enough.
        let (million, long) = (1_000_000, 100_000);
        let texts = [
            " ".repeat(million),
            "\t".repeat(million),
            "\u{a0}".repeat(million),
            "\u{3000}".repeat(million),
            "\n".repeat(million),
            " \n".repeat(million),
            " \t\u{a0}\r\u{85}".repeat(million / 5),
            "a".repeat(million),
            "A".repeat(long),
            "\u{4e00}".repeat(long),
            "a\u{301}".repeat(long),
            "\u{301}".repeat(long),
            "7".repeat(long),
            "!".repeat(long),
            "!\n/".repeat(long),
            "\u{1f600}".repeat(long),
            "\0\u{7}\u{1b}".repeat(long),
        ];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for vocabulary in Vocabulary::ALL {
            let tokenizer = exact(vocabulary);
            let counts: Vec<Tokens> = texts.par_iter().map(|text| tokenizer.count(text)).collect();
            for (count, text) in counts.iter().zip(&texts) {
                let bytes = text.len() as u64;
                match vocabulary {
                    // The marks of a word count beside its letters, control characters not at all.
                    Vocabulary::Claude(_) => assert!(count.0 <= 3 * bytes),
                    Vocabulary::O200k | Vocabulary::Cl100k | Vocabulary::File(_) => {
                        assert!(count.0 > 0 && count.0 <= bytes);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_prefix_is_within_its_limit_and_is_the_longest(
            text in samples::mixed(120), limit in 0_u64..200,
        ) {
            for vocabulary in Vocabulary::ALL {
                let tokenizer = exact(vocabulary);
                let (prefix, tokens) = tokenizer.prefix_within(&text, limit);
                prop_assert!(text.starts_with(prefix));
                prop_assert_eq!(tokenizer.count_unscaled(prefix), tokens);
                prop_assert!(tokens <= limit);
                if prefix.len() < text.len() {
                    let longer = &text[..next_boundary(&text, prefix.len())];
                    prop_assert!(tokenizer.count_unscaled(longer) > limit);
                }
            }
        }

        #[test]
        fn no_other_count_is_nearer(tokens in 0_u64..5_000, scale_milli in 1_u32..=10_000) {
            let tokenizer = scaled(scale_milli);
            let near = tokenizer.unscaled(Tokens(tokens));
            let distance = |unscaled| tokenizer.scaled(unscaled).0.abs_diff(tokens);
            prop_assert!(near == 0 || distance(near - 1) > distance(near));
            prop_assert!(distance(near + 1) >= distance(near));
        }
    }
}
