//! Counts a text: stretch by stretch between clean cuts, word by word in each.

use std::cell::Cell;

use rayon::prelude::*;

use super::ClaudeFamily;
use super::compose::Composer;
use super::memory::{Kind, Memory, tagged};
use super::normalise::normalise;
use super::runs::Run;
use super::scan::{self, KEY_BYTES, Key};
use super::stream::{BEGIN, Before, Behind, write_gap, write_word};
use super::table::{Trie, Unicode, flag, trie, unicode};
use super::tiling::Tiler;

/// Least bytes of a stretch between two cuts, unless it is the last.
const STRETCH_BYTES: usize = 32 * 1_024;

/// Least bytes of a text whose stretches are counted in parallel.
const PARALLEL_BYTES: usize = 256 * 1_024;

/// Whether texts of which the first is `before` and the second `after` count apart what they count
/// together: a line ends before an ASCII character that is seen.
pub(super) fn is_clean_cut(before: &[u8], after: &[u8]) -> bool {
    before.last() == Some(&b'\n') && after.first().is_some_and(u8::is_ascii_graphic)
}

/// The first clean cut of a text at `least` or behind, or its end.
pub(super) fn clean_cut(text: &str, least: usize) -> usize {
    let bytes = text.as_bytes();
    let places = least.max(1)..bytes.len();
    let cut = places.into_iter().find(|at| is_clean_cut(&bytes[..*at], &bytes[*at..]));
    cut.unwrap_or(bytes.len())
}

/// How a text is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// As a message.
    Message,
    /// Inside a longer text.
    Inside,
}

/// Tokens of a text.
pub(super) fn count(family: ClaudeFamily, text: &str, place: Place) -> u64 {
    if text.len() <= STRETCH_BYTES {
        return count_stretch(family, text, place, true, true);
    }
    let mut stretches = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (stretch, behind) = rest.split_at(clean_cut(rest, STRETCH_BYTES));
        stretches.push(stretch);
        rest = behind;
    }
    let last = stretches.len() - 1;
    let count_numbered = |(number, stretch): (usize, &&str)| {
        count_stretch(family, stretch, place, number == 0, number == last)
    };
    if text.len() < PARALLEL_BYTES {
        stretches.iter().enumerate().map(count_numbered).sum()
    } else {
        stretches.par_iter().enumerate().map(count_numbered).sum()
    }
}

/// Tokens of a stretch, with the edges of a message where it has them.
fn count_stretch(
    family: ClaudeFamily,
    text: &str,
    place: Place,
    is_first: bool,
    is_last: bool,
) -> u64 {
    thread_local! {
        static OLD: Cell<Option<Box<Counter>>> = const { Cell::new(None) };
        static NEW: Cell<Option<Box<Counter>>> = const { Cell::new(None) };
    }
    let own = match family {
        ClaudeFamily::V3 => &OLD,
        ClaudeFamily::V47 | ClaudeFamily::V48 => &NEW,
    };
    let mut counter = own.take().unwrap_or_else(|| Box::new(Counter::new(trie(family))));
    let begins = place == Place::Message && is_first && family.frame_begins_a_word();
    let ends = place == Place::Message && is_last;
    let tokens = counter.count(text, begins, ends);
    own.set(Some(counter));
    tokens
}

/// What counting needs, kept by each thread for its next text.
struct Counter {
    trie: &'static Trie<'static>,
    unicode: &'static Unicode<'static>,
    composer: Composer,
    memory: Memory,
    writer: Writer,
}

/// Writes stretches that are not remembered, and covers them.
#[derive(Default)]
struct Writer {
    runs: Vec<Run>,
    stream: Vec<u8>,
    tiler: Tiler,
}

impl Writer {
    fn word(&mut self, trie: &Trie, word: &str) -> u64 {
        self.stream.clear();
        write_word(word, trie.capitals_min, &mut self.stream);
        self.tiler.tile_part(trie, &self.stream)
    }

    fn gap(&mut self, trie: &Trie, gap: &str, before: Before, behind: Behind) -> u64 {
        self.stream.clear();
        write_gap(gap, before, behind, &mut self.runs, &mut self.stream);
        self.tiler.tile(trie, &self.stream)
    }
}

impl Counter {
    fn new(trie: &'static Trie<'static>) -> Counter {
        Counter {
            trie,
            unicode: unicode(),
            composer: Composer::default(),
            memory: Memory::default(),
            writer: Writer::default(),
        }
    }

    /// Tokens of a text; it `begins` behind a frame that is like a space, and `ends` a message.
    fn count(&mut self, text: &str, begins: bool, ends: bool) -> u64 {
        let normal = normalise(text, self.trie.folds_quotes, &mut self.composer);
        let mut body = normal.as_ref();
        let mut tokens = 0;
        if ends {
            body = body.trim_end_matches('\n');
            let line_ends = normal.len() - body.len();
            if line_ends > 0 {
                // The frame ends in two line ends of its own.
                tokens += self.line_ends(line_ends + 2) - 1;
            }
        }
        if begins && text.starts_with(' ') && body.starts_with(' ') && !body.starts_with("  ") {
            // The space is the frame's.
            body = &body[1..];
        }
        if body.is_empty() && begins {
            return tokens + self.writer.tiler.tile_part(self.trie, &[BEGIN]);
        }
        tokens + self.count_body(body, if begins { Before::Frame } else { Before::Nothing })
    }

    fn line_ends(&mut self, count: usize) -> u64 {
        self.writer.stream.clear();
        self.writer.stream.resize(count, b'\n');
        self.writer.tiler.tile_part(self.trie, &self.writer.stream)
    }

    /// Tokens of a normal text: of its words, and of what stands between them.
    fn count_body(&mut self, text: &str, before: Before) -> u64 {
        let (mut tokens, mut at, mut before) = (0, 0, before);
        while at < text.len() {
            let (end, gap_tokens) = self.gap(text, at, before);
            tokens += gap_tokens;
            if end == text.len() {
                break;
            }
            let (behind, word_tokens) = self.word(text, end);
            tokens += word_tokens;
            before = self.before_a_gap(text, behind);
            at = behind;
        }
        tokens
    }

    /// What a word that ends at `end` is for what follows.
    fn before_a_gap(&self, text: &str, end: usize) -> Before {
        if text.as_bytes()[end - 1].is_ascii() {
            return Before::Word;
        }
        let last = text[..end].chars().next_back().map_or(0, |c| self.unicode.properties(c));
        let is_edged = last & (flag::EDGE | flag::SELECTOR) != 0;
        if is_edged { Before::EdgedWord } else { Before::Word }
    }

    /// The end of the gap that begins at `at`, and its tokens.
    fn gap(&mut self, text: &str, at: usize, before: Before) -> (usize, u64) {
        let bytes = &text.as_bytes()[at..];
        let head = scan::load(bytes);
        let (length, key) = scan::leading_others(&head);
        let follows = bytes.get(length).copied();
        if length == 0 && follows.is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return (at, 0);
        }
        let ends_here = length <= KEY_BYTES
            && follows.is_some_and(|byte| byte.is_ascii_alphabetic())
            && bytes[length - 1] != b'\'';
        if ends_here {
            let is_seam = length == 1 && bytes[0] == b' ';
            if is_seam && matches!(before, Before::Word | Before::EdgedWord) {
                return (at + 1, 0);
            }
            return (at + length, self.gap_tokens(text, at, length, Some(key), before));
        }
        let end = scan::gap_end(text, at, at + length.min(bytes.len()), self.unicode);
        let key = scan::key(&text.as_bytes()[at..end]);
        (end, self.gap_tokens(text, at, end - at, key, before))
    }

    fn gap_tokens(
        &mut self,
        text: &str,
        at: usize,
        length: usize,
        key: Option<Key>,
        before: Before,
    ) -> u64 {
        if length == 0 {
            return 0;
        }
        let end = at + length;
        let behind = if end < text.len() { Behind::Word } else { Behind::Nothing };
        let (trie, writer) = (self.trie, &mut self.writer);
        match key {
            Some(key) => {
                let key = tagged(key, length, Kind::Gap(before, behind));
                self.memory.cost(key, || writer.gap(trie, &text[at..end], before, behind))
            }
            None => writer.gap(trie, &text[at..end], before, behind),
        }
    }

    /// The end of the word that begins at `at`, and its tokens.
    fn word(&mut self, text: &str, at: usize) -> (usize, u64) {
        let bytes = &text.as_bytes()[at..];
        let (mut length, key) = scan::leading_letters(&scan::load(bytes));
        let is_ascii = length <= KEY_BYTES && bytes.get(length).is_none_or(u8::is_ascii);
        let mut key = Some(key);
        if !is_ascii {
            length = scan::word_end(text, at + length.min(bytes.len()), self.unicode) - at;
            key = scan::key(&bytes[..length]);
        }
        let end = at + length;
        let (trie, writer) = (self.trie, &mut self.writer);
        let tokens = match key {
            Some(key) => {
                let key = tagged(key, length, Kind::Word);
                self.memory.cost(key, || writer.word(trie, &text[at..end]))
            }
            None => writer.word(trie, &text[at..end]),
        };
        (end, tokens)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::mixed;
    use super::*;

    /// Lines of words, numbers and other scripts: many stretches between clean cuts.
    fn long_text() -> String {
        let line = |number: usize| {
            format!("{number}: It's the Words of LINE {}, e\u{301} \u{6587}\u{5b57}\n", number * 7)
        };
        (0..9_000).map(line).collect()
    }

    #[test]
    fn a_long_text_is_the_sum_of_its_lines_on_any_number_of_threads() {
        let text = long_text();
        assert!(text.len() > PARALLEL_BYTES);
        for family in ClaudeFamily::ALL {
            let lines: u64 = text.split_inclusive('\n').map(|line| family.count_inside(line)).sum();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| family.count_inside(&text)), lines);
            }
        }
    }

    #[test]
    fn a_long_message_has_the_edges_of_a_short_one() {
        let text = long_text();
        for (head, tail) in [("", "\n\n"), (" a", ""), ("'s ", "x \n"), ("\u{a0}", "\u{7}\n\r")] {
            for family in ClaudeFamily::ALL {
                let edges = |part: &str| {
                    let apart = family.count_apart(&format!("{head}{part}{tail}"));
                    i64::try_from(apart).unwrap()
                        - i64::try_from(family.count_inside(part)).unwrap()
                };
                // The ends meet the same first and last line.
                let mut lines = text.split_inclusive('\n');
                let (first, last) = (lines.next().unwrap(), lines.next_back().unwrap());
                assert_eq!(edges(&text), edges(&format!("{first}{last}")), "{head:?} {tail:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_remembered_changes_no_count(texts in proptest::collection::vec(mixed(), 1..8)) {
            for family in [ClaudeFamily::V3, ClaudeFamily::V47] {
                let mut used = Counter::new(trie(family));
                for (text, edges) in texts.iter().zip(0..) {
                    for edges in [edges, edges + 1] {
                        let (begins, ends) = (edges % 2 == 0, edges % 4 < 2);
                        let fresh = Counter::new(trie(family)).count(text, begins, ends);
                        prop_assert_eq!(used.count(text, begins, ends), fresh);
                    }
                }
            }
        }
    }
}
