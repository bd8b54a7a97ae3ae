//! What a text adds behind another one, from the end of the other one alone.

use super::ClaudeFamily;
use super::count::{clean_cut, is_clean_cut};

/// How far back into the text before a place is looked for where texts come apart.
pub const JOINT_BYTES: usize = 4_096;

impl ClaudeFamily {
    /// Tokens that `text` adds behind `before`, both inside a longer text:
    /// `count_inside(before + text) - count_inside(before)`. It can be negative: a space may cost
    /// a token until a word follows.
    ///
    /// Reads `text` and at most 4 KiB of `before`: back to the last place that no token spans, the
    /// beginning of a word of ASCII letters or of a line. It is exact where there is such a place,
    /// and where `before` is no longer than that. In 4 KiB without one (digits, white space,
    /// ideographs) it may be off by a token; in a single word of more than 4 KiB by as many as the
    /// spelling of the word's beginning changes by.
    pub fn count_behind(self, before: &str, text: &str) -> i64 {
        signed(self.count_inside(text)) + self.seam(before, text)
    }

    /// What two neighbours count more together than each inside a longer text by itself; mostly
    /// nothing or less. As exact as [`ClaudeFamily::count_behind`], in time of their two ends.
    pub fn seam(self, before: &str, text: &str) -> i64 {
        if before.is_empty() || text.is_empty() || is_clean_cut(before.as_bytes(), text.as_bytes())
        {
            return 0;
        }
        let (head, window) = (&text[..clean_cut(text, 1)], joint(before));
        let joined = self.count_inside(&[window, head].concat());
        signed(joined) - signed(self.count_inside(window)) - signed(self.count_inside(head))
    }
}

/// The end of a text that decides how what follows is counted, at most [`JOINT_BYTES`] bytes.
pub fn joint(text: &str) -> &str {
    if text.is_empty() { text } else { &text[window_start(text)..] }
}

/// Tokens are far fewer than the bytes of a text, which are at most `isize::MAX`.
fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Where the part of a text begins that decides what something behind it adds.
fn window_start(before: &str) -> usize {
    let bytes = before.as_bytes();
    let earliest = bytes.len().saturating_sub(JOINT_BYTES);
    // The part is never empty: its first character stays what it is whatever follows.
    let place = (earliest.max(1)..bytes.len()).rev().find(|at| {
        is_clean_cut(&bytes[..*at], &bytes[*at..]) || begins_a_word(bytes[*at - 1], bytes[*at])
    });
    place.unwrap_or_else(|| before.floor_char_boundary(earliest))
}

/// Whether a word begins at `byte` behind `previous` whatever else is around, so that what is
/// before it has its tokens and it has its own. An apostrophe might make it a contraction.
fn begins_a_word(previous: u8, byte: u8) -> bool {
    let parts = match previous {
        b'\t' | b'\n' | b' ' => true,
        b'\'' => false,
        other => other.is_ascii_graphic() && !other.is_ascii_alphabetic(),
    };
    parts && byte.is_ascii_alphabetic()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::mixed;
    use super::*;

    /// What `count_behind` says less what it stands for.
    fn error(family: ClaudeFamily, before: &str, text: &str) -> i64 {
        let whole = signed(family.count_inside(&format!("{before}{text}")));
        family.count_behind(before, text) - (whole - signed(family.count_inside(before)))
    }

    /// Text and a place in it.
    fn cut() -> impl Strategy<Value = (String, String)> {
        (mixed(), any::<proptest::sample::Index>()).prop_map(|(text, place)| {
            let places: Vec<usize> =
                text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (before, after) = text.split_at(places[place.index(places.len())]);
            (before.to_owned(), after.to_owned())
        })
    }

    #[test]
    fn borders_of_every_kind() {
        for (before, text) in [
            ("", ""),
            ("", "a"),
            ("a", ""),
            ("hel", "lo"),
            ("Hel", "Lo"),
            ("NAS", "A"),
            ("NASA", "a"),
            ("12", "34"),
            ("a ", "b"),
            ("a", " b"),
            ("a ", " b"),
            ("a  ", "  b"),
            ("a\n", "\nb"),
            ("a\n", "b"),
            ("a \n", " b"),
            ("e", "\u{301}"),
            ("x e", "\u{301}\u{323}"),
            ("it'", "s"),
            ("it", "'s"),
            ("'", "s"),
            ("it's", "t"),
            ("('", "re"),
            ("\u{24b6}'", "s"),
            ("\u{e4d}", "\u{e32}"),
            ("'\u{7}", "s"),
            ("\u{1100}", "\u{1161}\u{11a8}"),
            ("\u{2764}", "\u{fe0f}"),
            ("\r", "\n"),
            ("(", "?"),
            ("\u{93f}", "a"),
        ] {
            for family in ClaudeFamily::ALL {
                for lead in ["", "one ", "x ('", "one\ntwo", "\u{6587}"] {
                    let before = format!("{lead}{before}");
                    assert_eq!(error(family, &before, text), 0, "{before:?} + {text:?}");
                }
            }
        }
    }

    #[test]
    fn a_text_that_no_word_parts_is_off_by_a_token_at_most() {
        let digits = "1234567".repeat(2_000);
        let ideographs = "\u{6587}\u{5b57}\u{7684}\u{3001}\u{4e2d}".repeat(2_000);
        let spaces = " ".repeat(9_999);
        let lines = "\n".repeat(9_999);
        let rule = "=-".repeat(5_000);
        let faces = "\u{1f600}\u{1f468}\u{200d}\u{1f4bb}".repeat(1_500);
        for before in [&digits, &ideographs, &spaces, &lines, &rule, &faces] {
            for text in ["1", "12 a", " ", "  a", "\n", "=", "\u{6587}", "'s", "word", "\u{301}"] {
                for family in ClaudeFamily::ALL {
                    assert!(
                        error(family, before, text).abs() <= 1,
                        "{:?} + {text:?}",
                        &before[..9]
                    );
                }
            }
        }
    }

    #[test]
    fn a_word_longer_than_the_window_is_as_far_off_as_its_beginning_is_respelt() {
        let capitals = "A".repeat(3 * JOINT_BYTES);
        let family = ClaudeFamily::V3;
        // With a small letter behind it the word is no longer spelt as one of capitals.
        let beginning = &capitals[JOINT_BYTES..];
        let small = signed(family.count_inside(&beginning.to_lowercase()));
        let respelt = (signed(family.count_inside(&format!("{beginning}a"))) - small).abs();
        let off = error(family, &capitals, "a").abs();
        assert!(off > 0 && off <= respelt + 1, "{off} of {respelt}");
        assert_eq!(error(ClaudeFamily::V47, &"a".repeat(3 * JOINT_BYTES), "a b"), 0);
    }

    proptest! {
        #[test]
        fn it_is_what_the_whole_has_more_than_the_first_part((before, text) in cut()) {
            for family in ClaudeFamily::ALL {
                prop_assert_eq!(error(family, &before, &text), 0);
            }
        }

        #[test]
        fn any_two_texts_add_up(before in mixed(), text in mixed()) {
            for family in ClaudeFamily::ALL {
                prop_assert_eq!(error(family, &before, &text), 0);
            }
        }

        #[test]
        fn small_pieces_add_up(
            pieces in proptest::collection::vec("\\PC{0,2}|[a-z' \n]{0,3}", 0..40),
        ) {
            for family in ClaudeFamily::ALL {
                let (mut before, mut sum) = (String::new(), 0);
                for piece in &pieces {
                    sum += family.count_behind(&before, piece);
                    before.push_str(piece);
                }
                prop_assert_eq!(sum, signed(family.count_inside(&before)));
            }
        }
    }
}
