//! How the capitals of a word are written.

use super::table::{Unicode, flag, unicode};

/// How the capitals of a word are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// As they are.
    Literal,
    /// As a mark before the word in small letters: its first letter is a capital.
    Title,
    /// As a mark before the word in small letters: all are capitals.
    Capitals,
}

/// The capital of the dotless i, which has no lower-case letter of its own.
const DOTTED_I: char = '\u{130}';

/// The capital sharp s, which is written as it is.
const SHARP_S: char = '\u{1e9e}';

/// How a word is written where words of at least `capitals_min` capitals are written as such.
pub(super) fn case_of(word: &str, capitals_min: Option<usize>) -> Case {
    let unicode = unicode();
    let (mut length, mut uppers, mut first_is_upper) = (0_usize, 0_usize, false);
    let (mut has_lower, mut has_other, mut dotted) = (false, false, 0_usize);
    for character in word.chars() {
        let properties = unicode.properties(character);
        let is_upper = properties & flag::UPPER != 0;
        let is_lower = properties & flag::LOWER != 0;
        if character == SHARP_S {
            return Case::Literal;
        }
        dotted += usize::from(character == DOTTED_I);
        if length == 0 {
            first_is_upper = is_upper && character != DOTTED_I;
        }
        uppers += usize::from(is_upper);
        has_lower |= is_lower && !is_upper;
        has_other |= properties & flag::LETTER != 0 && !is_upper && !is_lower;
        length += 1;
    }
    if dotted > 0 {
        let only_first = first_is_upper && uppers == 1 + dotted_uppers(word);
        return if only_first { Case::Title } else { Case::Literal };
    }
    let is_long = capitals_min.is_some_and(|least| length >= least);
    if is_long && uppers > 0 && !has_lower && !has_other {
        Case::Capitals
    } else if first_is_upper && uppers == 1 {
        Case::Title
    } else {
        Case::Literal
    }
}

/// How many dotted capitals of a word count as capitals.
fn dotted_uppers(word: &str) -> usize {
    let is_upper = unicode().properties(DOTTED_I) & flag::UPPER != 0;
    if is_upper { word.chars().filter(|c| *c == DOTTED_I).count() } else { 0 }
}

/// Appends each letter of the word in its small form; a dotted capital stays.
pub(super) fn push_lower(word: &str, out: &mut Vec<u8>) {
    let unicode = unicode();
    for character in word.chars() {
        let small = match character {
            DOTTED_I => DOTTED_I,
            other => Unicode::lower(other, unicode.properties(other)),
        };
        out.extend_from_slice(small.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_of_words() {
        for (word, case, small) in [
            ("word", Case::Literal, "word"),
            ("Word", Case::Title, "word"),
            ("NASA", Case::Capitals, "nasa"),
            ("NAS", Case::Literal, "nas"),
            ("WiFi", Case::Literal, "wifi"),
            ("\u{130}stanbul", Case::Literal, "\u{130}stanbul"),
            ("D\u{130}", Case::Title, "d\u{130}"),
            ("STRA\u{1e9e}E", Case::Literal, "stra\u{df}e"),
            ("\u{41c}\u{418}\u{420}\u{410}", Case::Capitals, "\u{43c}\u{438}\u{440}\u{430}"),
        ] {
            assert_eq!(case_of(word, Some(4)), case, "{word}");
            let mut found = Vec::new();
            push_lower(word, &mut found);
            assert_eq!(found, small.as_bytes(), "{word}");
        }
        assert_eq!(case_of("NASA", None), Case::Literal);
    }
}
