//! Pieces of a text: the patterns of the two vocabularies, written out.
//!
//! Tokens never reach over the border of two pieces. The patterns are alternatives tried in order
//! at the end of the piece before, with the backtracking that their repetitions have; the functions
//! below state for each alternative where it ends up, so that no character is looked at more than a
//! few times however long a run is.

use super::table::Table;
use super::table::class::{CASELESS, LINE_END, LOWER, MARK, NONE, NUMBER, OTHER, SPACE, UPPER};

const LETTER: u8 = UPPER | LOWER | CASELESS;

/// What a word of o200k begins with, and what it ends with.
const WORD_HEAD: u8 = UPPER | CASELESS | MARK;
const WORD_TAIL: u8 = LOWER | CASELESS | MARK;

/// Neither white space, letter nor number.
const SYMBOL: u8 = OTHER | MARK;

/// The end of the piece of o200k_base that begins at `start`, which is before the end of the text.
///
/// The pattern, with `H` for the class of word heads, `T` for that of word tails and `C` for
/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`:
///
/// ```text
/// [^\r\n\p{L}\p{N}]?H*T+C | [^\r\n\p{L}\p{N}]?H+T*C | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]*
/// | \s*[\r\n]+ | \s+(?!\S) | \s+
/// ```
#[inline]
pub(super) fn o200k(table: &Table, text: &[u8], start: usize) -> usize {
    let (first, length) = class_at(table, text, start);
    if first & (NUMBER | LINE_END) == 0 {
        let letters = if first & LETTER == 0 { start + length } else { start };
        if let Some(end) = small_word(table, text, letters) {
            return behind_contraction(text, end);
        }
        if first == MARK {
            // Given back by the optional first character, it is the one tail of a word.
            return behind_contraction(text, start + length);
        }
        let end = run_end(table, text, letters, UPPER);
        if end > letters {
            return behind_contraction(text, end);
        }
    }
    if let Some(end) = number(table, text, start).or_else(|| symbols(table, text, start, b"\r\n/"))
    {
        return end;
    }
    let space = Space::at(table, text, start);
    space.behind_line_end.or(space.at_text_end).unwrap_or(space.before_last)
}

/// Where `H*T+` ends from `start`.
#[inline]
fn small_word(table: &Table, text: &[u8], start: usize) -> Option<usize> {
    let mut behind_shared = None;
    let mut at = start;
    let next = loop {
        let (found, length) = class_at(table, text, at);
        if found & WORD_HEAD == 0 {
            break found;
        }
        at += length;
        if found & WORD_TAIL != 0 {
            behind_shared = Some(at);
        }
    };
    if next & WORD_TAIL != 0 {
        return Some(run_end(table, text, at, WORD_TAIL));
    }
    // The heads give back characters up to the last that is a tail as well.
    behind_shared
}

/// The end of the piece of cl100k_base that begins at `start`, which is before the end of the text.
///
/// ```text
/// '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ | ?[^\s\p{L}\p{N}]++[\r\n]*+
/// | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
/// ```
#[inline]
pub(super) fn cl100k(table: &Table, text: &[u8], start: usize) -> usize {
    let contraction = behind_contraction(text, start);
    if contraction > start {
        return contraction;
    }
    let (first, length) = class_at(table, text, start);
    if first & (NUMBER | LINE_END) == 0 {
        let letters = if first & LETTER == 0 { start + length } else { start };
        let end = run_end(table, text, letters, LETTER);
        if end > letters {
            return end;
        }
    }
    if let Some(end) = number(table, text, start).or_else(|| symbols(table, text, start, b"\r\n")) {
        return end;
    }
    let space = Space::at(table, text, start);
    space.at_text_end.or(space.behind_line_end).unwrap_or(space.before_last)
}

/// Where a contraction at `at` ends; `at` where there is none.
#[inline]
fn behind_contraction(text: &[u8], at: usize) -> usize {
    if text.get(at) != Some(&b'\'') {
        return at;
    }
    let behind = |offset: usize| text.get(at + offset).map_or(0, u8::to_ascii_lowercase);
    let length = match (behind(1), behind(2)) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => 3,
        // The long s is an s where case is ignored; no other letter of the list has such a twin.
        (0xc5, 0xbf) => 3,
        _ => 0,
    };
    at + length
}

/// Where one to three numbers at `start` end.
#[inline]
fn number(table: &Table, text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for _ in 0..3 {
        let (found, length) = class_at(table, text, at);
        if found != NUMBER {
            break;
        }
        at += length;
    }
    (at > start).then_some(at)
}

/// Where symbols at `start`, behind a space or not, end, with the `closers` behind them.
#[inline]
fn symbols(table: &Table, text: &[u8], start: usize, closers: &[u8]) -> Option<usize> {
    let first = start + usize::from(text.get(start) == Some(&b' '));
    let end = run_end(table, text, first, SYMBOL);
    if end == first {
        return None;
    }
    let behind = text.get(end..).unwrap_or(&[]);
    let closing = behind.iter().position(|byte| !closers.contains(byte));
    Some(end + closing.unwrap_or(behind.len()))
}

/// Ends that a run of white space offers.
struct Space {
    /// The end of the run, where the text ends with it.
    at_text_end: Option<usize>,
    /// Behind its last line end.
    behind_line_end: Option<usize>,
    /// Before its last character, which goes with what follows; behind it where it is the only one.
    before_last: usize,
}

impl Space {
    fn at(table: &Table, text: &[u8], start: usize) -> Space {
        let (mut at, mut last, mut behind_line_end) = (start, start, None);
        loop {
            let (found, length) = class_at(table, text, at);
            if found & (SPACE | LINE_END) == 0 {
                break;
            }
            last = at;
            at += length;
            if found == LINE_END {
                behind_line_end = Some(at);
            }
        }
        Space {
            at_text_end: (at == text.len()).then_some(at),
            behind_line_end,
            before_last: if last > start { last } else { at },
        }
    }
}

/// The end of the longest run of characters from `start` whose class is in `classes`.
#[inline]
fn run_end(table: &Table, text: &[u8], start: usize, classes: u8) -> usize {
    let mut at = start;
    loop {
        let (found, length) = class_at(table, text, at);
        if found & classes == 0 {
            return at;
        }
        at += length;
    }
}

/// Class and length in bytes of the character at `at`; [`NONE`] at the end of the text.
#[inline]
fn class_at(table: &Table, text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        Some(byte) if byte.is_ascii() => (ASCII[usize::from(*byte)], 1),
        Some(byte) => beyond_ascii(table, text, at, *byte),
        None => (NONE, 0),
    }
}

/// [`class_at`] for a character of several bytes, the first of which is `lead`.
fn beyond_ascii(table: &Table, text: &[u8], at: usize, lead: u8) -> (u8, usize) {
    let bits = |offset: usize| text.get(at + offset).map_or(0, |byte| usize::from(*byte & 0x3f));
    let lead = usize::from(lead);
    if lead < 0xe0 {
        (table.class((lead & 0x1f) << 6 | bits(1)), 2)
    } else if lead < 0xf0 {
        (table.class((lead & 0x0f) << 12 | bits(1) << 6 | bits(2)), 3)
    } else {
        (table.class((lead & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3)), 4)
    }
}

/// Classes of the ASCII characters: what the table says of them, without the way there.
const ASCII: [u8; 128] = {
    let mut classes = [OTHER; 128];
    let mut code = 0_u8;
    while code < 128 {
        classes[code as usize] = match code {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'\n' | b'\r' => LINE_END,
            b'\t' | 0x0b | 0x0c | b' ' => SPACE,
            _ => OTHER,
        };
        code += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::bpe::Encoding;
    use regex_syntax::hir::{Class, HirKind};

    /// The code points that a class of the regular expressions stands for.
    fn members(pattern: &str) -> Vec<bool> {
        let parsed = regex_syntax::parse(pattern).unwrap();
        let HirKind::Class(Class::Unicode(found)) = parsed.kind() else { panic!("{pattern}") };
        let mut members = vec![false; 0x11_0000];
        for range in found.ranges() {
            members[range.start() as usize..=range.end() as usize].fill(true);
        }
        members
    }

    #[test]
    fn every_character_has_the_class_that_the_patterns_give_it() {
        let classes = [
            (r"[\p{Lu}\p{Lt}]", UPPER),
            (r"\p{Ll}", LOWER),
            (r"[\p{Lm}\p{Lo}]", CASELESS),
            (r"\p{M}", MARK),
            (r"\p{N}", NUMBER),
            (r"[\s--[\r\n]]", SPACE),
            (r"[\r\n]", LINE_END),
            (r"[^\s\p{L}\p{N}\p{M}]", OTHER),
        ];
        let classes = classes.map(|(pattern, class)| (members(pattern), class));
        for encoding in Encoding::ALL {
            let table = encoding.table();
            for character in '\0'..=char::MAX {
                let text = String::from(character);
                let found = class_at(table, text.as_bytes(), 0);
                let code = character as usize;
                assert_eq!(found.1, text.len());
                assert_eq!(found.0, table.class(code), "{code:x}");
                for (members, class) in &classes {
                    assert_eq!(found.0 == *class, members[code], "{code:x} {class:b}");
                }
            }
            assert_eq!(class_at(table, b"a", 1), (NONE, 0));
        }
    }

    #[test]
    fn only_the_long_s_is_another_letter_of_a_contraction() {
        let hir = regex_syntax::parse("(?i:[stmdrvel])").unwrap();
        let HirKind::Class(Class::Unicode(found)) = hir.kind() else { panic!() };
        let beyond: Vec<_> = found.ranges().iter().filter(|r| !r.start().is_ascii()).collect();
        assert_eq!(beyond.len(), 1);
        assert_eq!((beyond[0].start(), beyond[0].end()), ('\u{17f}', '\u{17f}'));
    }

    fn pieces(encoding: Encoding, text: &str) -> Vec<&str> {
        let (mut pieces, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let end = match encoding {
                Encoding::O200k => o200k(encoding.table(), text.as_bytes(), start),
                Encoding::Cl100k => cl100k(encoding.table(), text.as_bytes(), start),
            };
            pieces.push(&text[start..end]);
            start = end;
        }
        pieces
    }

    #[test]
    fn o200k_splits_as_its_pattern_says() {
        let split = |text| pieces(Encoding::O200k, text);
        assert_eq!(split("It's HTTPServer's"), ["It's", " HTTPServer's"]);
        assert_eq!(split("fooBar FOO's'ſx"), ["foo", "Bar", " FOO's", "'ſx"]);
        assert_eq!(split("don'ſt I'LL"), ["don'ſ", "t", " I'LL"]);
        assert_eq!(split("日AB c"), ["日", "AB", " c"]);
        assert_eq!(split("\u{301}AB's"), ["\u{301}", "AB's"]);
        assert_eq!(split("\u{301}'s"), ["\u{301}'s"]);
        assert_eq!(split("!\u{301}"), ["!\u{301}"]);
        assert_eq!(split("!!\u{301}"), ["!!\u{301}"]);
        assert_eq!(split("1234567"), ["123", "456", "7"]);
        assert_eq!(split(" !?\n//\n a"), [" !?\n//\n", " a"]);
        assert_eq!(split("  \n \n  x"), ["  \n \n", " ", " x"]);
        assert_eq!(split("a  \n  "), ["a", "  \n", "  "]);
        assert_eq!(split("a\t\tb\u{a0}c"), ["a", "\t", "\tb", "\u{a0}c"]);
        assert_eq!(split(" 1  2"), [" ", "1", " ", " ", "2"]);
    }

    #[test]
    fn cl100k_splits_as_its_pattern_says() {
        let split = |text| pieces(Encoding::Cl100k, text);
        assert_eq!(split("It's HTTPServer's"), ["It", "'s", " HTTPServer", "'s"]);
        assert_eq!(split("'ſx'LLm"), ["'ſ", "x", "'LL", "m"]);
        assert_eq!(split("e\u{301}AB"), ["e", "\u{301}AB"]);
        assert_eq!(split("1234"), ["123", "4"]);
        assert_eq!(split(" !?\n//\n a"), [" !?\n", "//\n", " a"]);
        assert_eq!(split("  \n \n  x"), ["  \n \n", " ", " x"]);
        assert_eq!(split("a  \n  "), ["a", "  \n  "]);
        assert_eq!(split(" 1  2"), [" ", "1", " ", " ", "2"]);
    }
}
