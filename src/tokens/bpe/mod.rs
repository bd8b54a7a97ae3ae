//! Counts of o200k_base and cl100k_base, as many as their reference encoders find.
//!
//! A text is split into pieces ([`split`]); most pieces are a token, which one look-up into the
//! vocabulary tells ([`table`]), or have been counted before ([`cache`]); the others are merged
//! from their bytes ([`merge`]). There is nothing to load: vocabularies are read where they lie.
//! Deliberately absent: token ids, decoding, and special tokens, which count as the text they are.

use std::cell::RefCell;
use std::thread::LocalKey;

use rayon::prelude::*;

use cache::Cache;
use merge::Merger;
use table::{Key, NO_RANK, Table};

mod cache;
mod merge;
mod split;
mod table;

/// Shortest text, in bytes, that is counted in parts and in parallel.
const PARALLEL_BYTES_MIN: usize = 512 << 10;

/// Bytes of a part, at most, where the text offers places to cut.
const PART_BYTES: usize = 128 << 10;

const O200K_BYTES: &[u8] = include_bytes!("../../../data/openai/o200k_base.bin");
const CL100K_BYTES: &[u8] = include_bytes!("../../../data/openai/cl100k_base.bin");

static O200K: Table = open(O200K_BYTES, b"FCO200K\0");
static CL100K: Table = open(CL100K_BYTES, b"FCCL100K");

/// A vocabulary with its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// `o200k_base`.
    O200k,
    /// `cl100k_base`.
    Cl100k,
}

/// The table of the program, opened while it is compiled.
const fn open(bytes: &'static [u8], magic: &[u8; 8]) -> Table<'static> {
    match Table::open(bytes, magic) {
        Ok(table) => table,
        // A constant that fails its assertion ends the build.
        Err(_) => {
            assert!(bytes.is_empty(), "a table in data/openai is not whole");
            Table::EMPTY
        }
    }
}

impl Encoding {
    /// Every encoding.
    #[cfg(test)]
    pub(super) const ALL: [Encoding; 2] = [Encoding::O200k, Encoding::Cl100k];

    #[cfg(test)]
    fn table(self) -> &'static Table<'static> {
        match self {
            Encoding::O200k => &O200K,
            Encoding::Cl100k => &CL100K,
        }
    }

    fn memory(self) -> &'static LocalKey<RefCell<Memory>> {
        thread_local! {
            static O200K_MEMORY: RefCell<Memory> = RefCell::default();
            static CL100K_MEMORY: RefCell<Memory> = RefCell::default();
        }
        match self {
            Encoding::O200k => &O200K_MEMORY,
            Encoding::Cl100k => &CL100K_MEMORY,
        }
    }
}

/// What a thread keeps from one text to the next; it changes speed and no result.
#[derive(Debug, Default)]
struct Memory {
    cache: Cache,
    merger: Merger,
}

/// Tokens of `text`, special tokens taken as ordinary text. A long text is counted in parallel.
pub(super) fn count(encoding: Encoding, text: &str) -> u64 {
    if text.len() < PARALLEL_BYTES_MIN {
        return count_part(encoding, text);
    }
    parts(text).into_par_iter().map(|part| count_part(encoding, part)).sum()
}

/// The last place at or before `near`, and inside the text, where counts of what is before and of
/// what is behind add up to the count of the whole, in every encoding; 0 where there is none.
///
/// Such places are between a line feed and an ASCII letter or digit, and between an ASCII letter or
/// digit and a space: a piece begins there whatever stands around it, and no piece before it looks
/// further.
pub(super) fn cut(text: &str, near: usize) -> usize {
    let bytes = text.as_bytes();
    let last = near.min(bytes.len().saturating_sub(1));
    let is_cut = |at: &usize| {
        let (before, behind) = (bytes[at - 1], bytes[*at]);
        match before {
            b'\n' => behind.is_ascii_alphanumeric(),
            _ => behind == b' ' && before.is_ascii_alphanumeric(),
        }
    };
    (1..=last).rev().find(is_cut).unwrap_or(0)
}

/// The text in parts whose counts add up.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest, mut near) = (Vec::new(), text, PART_BYTES);
    while near < rest.len() {
        match cut(rest, near) {
            // Searched again only when as much again has been added.
            0 => near *= 2,
            place => {
                let (part, behind) = rest.split_at(place);
                parts.push(part);
                (rest, near) = (behind, PART_BYTES);
            }
        }
    }
    parts.push(rest);
    parts
}

fn count_part(encoding: Encoding, text: &str) -> u64 {
    encoding.memory().with_borrow_mut(|memory| {
        let text = text.as_bytes();
        memory.cache.prepare(text.len());
        match encoding {
            Encoding::O200k => count_pieces(&O200K, memory, text, split::o200k),
            Encoding::Cl100k => count_pieces(&CL100K, memory, text, split::cl100k),
        }
    })
}

#[inline]
fn count_pieces(
    table: &Table,
    memory: &mut Memory,
    text: &[u8],
    piece_end: impl Fn(&Table, &[u8], usize) -> usize,
) -> u64 {
    let (mut tokens, mut start) = (0, 0);
    while start < text.len() {
        let end = piece_end(table, text, start);
        tokens += memory.count(table, text, start, end);
        start = end;
    }
    tokens
}

impl Memory {
    /// Tokens of the piece `text[start..end]`.
    #[inline]
    fn count(&mut self, table: &Table, text: &[u8], start: usize, end: usize) -> u64 {
        if end - start == 1 {
            return 1;
        }
        if end - start > table.longest() {
            return self.merger.count(table, text, start, end);
        }
        let key = Key::of(text, start, end);
        let place = self.cache.place(key, end - start);
        if let Some(count) = place.and_then(|place| self.cache.count(place)) {
            return count;
        }
        let count = match table.rank_of(key, text, start, end) {
            NO_RANK => self.merger.count(table, text, start, end),
            _ => 1,
        };
        if let Some(place) = place {
            self.cache.remember(place, count);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts_have_known_counts() {
        for encoding in Encoding::ALL {
            assert_eq!(count(encoding, ""), 0);
            assert_eq!(count(encoding, "hello world"), 2);
            // Ordinary text: several pieces, not the one special token.
            assert!(count(encoding, "<|endoftext|>") > 3);
        }
        assert_eq!(count(Encoding::O200k, "\u{1f600}"), 1);
        assert_eq!(count(Encoding::Cl100k, "\u{1f600}"), 2);
    }

    #[test]
    fn a_cut_is_where_it_may_be() {
        assert_eq!(cut("ab\ncd", 5), 3);
        assert_eq!(cut("ab\ncd", 3), 3);
        assert_eq!(cut("ab\ncd", 2), 0);
        assert_eq!(cut("ab cd ef", 4), 2);
        assert_eq!(cut("ab cd ef", usize::MAX), 5);
        assert_eq!(cut("ab ", 3), 2);
        for text in ["", "a", "\n", "ab\n", "ab\n\u{e9}", "\n\n  \n", "é é", "!\n!", "a-b"] {
            assert_eq!(cut(text, usize::MAX), 0, "{text:?}");
        }
    }

    #[test]
    fn parts_are_the_text_and_are_not_too_small() {
        let texts = [
            "let value = 1;\n".repeat(100_000),
            "a".repeat(1_000_000),
            format!("{} b {}", "=".repeat(400_000), "word ".repeat(200_000)),
            "\u{1f600}".repeat(200_000),
        ];
        let expected = [12, 1, 8, 1];
        for (text, expected) in texts.iter().zip(expected) {
            let parts = parts(text);
            assert_eq!(parts.concat(), *text);
            assert_eq!(parts.len(), expected);
            for part in &parts[..parts.len() - 1] {
                assert!(part.len() >= PART_BYTES / 2, "{}", part.len());
            }
        }
    }

    #[test]
    fn a_text_in_parts_has_the_count_of_the_whole() {
        let text = "fn main() {\n    let x = \"ünïcode 12345\";\n\n\n}\n// it's\n".repeat(20_000);
        assert!(text.len() > 2 * PARALLEL_BYTES_MIN);
        for encoding in Encoding::ALL {
            assert_eq!(count(encoding, &text), count_part(encoding, &text));
        }
    }

    #[test]
    fn a_run_of_white_space_leaves_its_last_character_to_what_follows() {
        for encoding in Encoding::ALL {
            for (unit, length) in [(" ", 1), ("\t", 1), ("\u{a0}", 2), ("\u{3000}", 3_usize)] {
                let run = unit.repeat(1 << 20);
                let shorter = &run[length..];
                let with_word = count(encoding, &format!("{run}x"));
                let apart = count(encoding, shorter) + count(encoding, &format!("{unit}x"));
                assert_eq!(with_word, apart, "{encoding:?} {unit:?}");
                // Half the run is a multiple of every token of it, so that halves add up.
                let half = &run[..run.len() / 2];
                assert_eq!(count(encoding, &run), 2 * count(encoding, half), "{unit:?}");
            }
        }
    }

    /// Text with many places where a cut may be and must not be.
    fn lines() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            3 => "[a-zA-Z0-9']{1,6}",
            3 => "[ \t\r\n]{1,4}",
            1 => "[!-/:-@]{1,3}",
            1 => "[éſ\u{301}\u{a0}\u{3000}日]{1,2}",
            1 => "(\n|\r\n| \n|\n )[a-z0-9]",
        ];
        proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn counts_on_both_sides_of_a_cut_add_up(text in lines(), near in 0_usize..200) {
            let place = cut(&text, near);
            prop_assert!(place <= near && (place == 0 || place < text.len()));
            let (before, behind) = text.split_at(place);
            for encoding in Encoding::ALL {
                let apart = count_part(encoding, before) + count_part(encoding, behind);
                prop_assert_eq!(apart, count_part(encoding, &text));
            }
        }

        #[test]
        fn a_thread_that_has_counted_before_counts_the_same(
            texts in prop::collection::vec(lines(), 1..5),
        ) {
            for encoding in Encoding::ALL {
                for text in &texts {
                    let here = count_part(encoding, text);
                    let mut fresh = Memory::default();
                    let split = match encoding {
                        Encoding::O200k => split::o200k,
                        Encoding::Cl100k => split::cl100k,
                    };
                    prop_assert_eq!(
                        here, count_pieces(encoding.table(), &mut fresh, text.as_bytes(), split));
                }
            }
        }
    }
}
