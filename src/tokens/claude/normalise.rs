//! What a text becomes before it is cut: composed, without control characters, with one kind of
//! space.

use std::borrow::Cow;

use super::compose::compose;
use super::table::{flag, unicode};

/// First of the code points that programs use as they like; they are dropped after the others.
const PRIVATE_USE: u32 = 0xe000;

/// The normal form of a text; curly quotes become straight ones where `folds_quotes` says so.
pub(super) fn normalise(text: &str, folds_quotes: bool) -> Cow<'_, str> {
    let unicode = unicode();
    let quote = if folds_quotes { flag::QUOTE } else { 0 };
    let changed = flag::STRIPPED | flag::TO_SPACE | quote;
    let (mut is_changed, mut composes) = (false, false);
    for character in text.chars() {
        // ASCII but control characters is normal, and is most of what comes.
        if (' '..='~').contains(&character) {
            continue;
        }
        let properties = unicode.properties(character);
        is_changed |= properties & changed != 0 || character == '\u{e4d}';
        composes |= properties & flag::COMPOSES != 0;
    }
    if !is_changed && !composes {
        return Cow::Borrowed(text);
    }
    let composed = if composes { Cow::Owned(compose(text, unicode)) } else { Cow::Borrowed(text) };
    let is_control = |character: &char| {
        let is_stripped = unicode.properties(*character) & flag::STRIPPED != 0;
        is_stripped && (*character as u32) < PRIVATE_USE
    };
    let mut visible: String = composed.chars().filter(|c| !is_control(c)).collect();
    if visible.contains("\u{e4d}\u{e32}") {
        visible = visible.replace("\u{e4d}\u{e32}", "\u{e33}");
    }
    let kept = visible.chars().filter_map(|character| {
        let properties = unicode.properties(character);
        if properties & flag::STRIPPED != 0 {
            None
        } else if properties & flag::TO_SPACE != 0 {
            Some(' ')
        } else if properties & quote != 0 {
            Some(straight(character))
        } else {
            Some(character)
        }
    });
    Cow::Owned(kept.collect())
}

fn straight(quote: char) -> char {
    match quote {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_and_what_becomes_another_character() {
        for (text, normal) in [
            ("plain ASCII\n", "plain ASCII\n"),
            ("a\r\nb", "a\nb"),
            ("a\0b", "a b"),
            ("a\u{7}b\u{1b}\u{85}", "ab"),
            ("a\u{a0}b\u{2003}", "a b "),
            ("\u{3000}\t\n", "\u{3000}\t\n"),
            ("a\u{e000}b", "ab"),
            ("\u{e4d}\u{1}\u{e32}", "\u{e33}"),
            ("e\u{301}", "\u{e9}"),
            ("e\u{1}\u{301}", "e\u{301}"),
        ] {
            assert_eq!(normalise(text, false), normal, "{text:?}");
        }
        assert_eq!(normalise("\u{201c}it\u{2019}s\u{201d}", true), "\"it's\"");
        assert_eq!(normalise("\u{2019}", false), "\u{2019}");
    }
}
