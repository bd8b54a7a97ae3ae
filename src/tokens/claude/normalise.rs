//! What a text becomes before it is cut: composed, without control characters, with one kind of
//! space.

use std::borrow::Cow;

use super::compose::Composer;
use super::table::{IDEOGRAPH_BYTES, Unicode, begins_ideograph, flag, unicode};

/// First of the code points that programs use as they like; they are dropped after the others.
const PRIVATE_USE: u32 = 0xe000;

/// A Thai mark and vowel that become one vowel.
const MARK_AND_VOWEL: (char, char, char) = ('\u{e4d}', '\u{e32}', '\u{e33}');

/// The normal form of a text; curly quotes become straight ones where `folds_quotes` says so.
pub(super) fn normalise<'a>(
    text: &'a str,
    folds_quotes: bool,
    composer: &mut Composer,
) -> Cow<'a, str> {
    let unicode = unicode();
    let quote = if folds_quotes { flag::QUOTE } else { 0 };
    let replaced = flag::STRIPPED | flag::TO_SPACE | quote;
    let found = flags(text, unicode);
    let composed = if found & flag::COMPOSES == 0 {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(composer.compose(text, unicode))
    };
    // Composing makes no character that is replaced.
    if found & replaced == 0 { composed } else { Cow::Owned(replace(&composed, unicode, quote)) }
}

/// Bytes that are looked at together for one that is not plain.
const STRETCH_BYTES: usize = 64;

/// Flags that any character of a text has that may change.
fn flags(text: &str, unicode: &Unicode) -> u32 {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (0, 0);
    while at < bytes.len() {
        let end = bytes.len().min(at + STRETCH_BYTES);
        if bytes[at..end].iter().fold(true, |all, byte| all & is_plain(*byte)) {
            at = end;
            continue;
        }
        while at < end {
            if begins_ideograph(bytes[at]) {
                at += IDEOGRAPH_BYTES;
            } else if is_plain(bytes[at]) {
                at += 1;
            } else {
                let Some(character) = text[at..].chars().next() else { break };
                found |= unicode.properties(character);
                // It is no control character, but is looked for like one.
                found |= if character == MARK_AND_VOWEL.0 { flag::STRIPPED } else { 0 };
                at += character.len_utf8();
            }
        }
    }
    found
}

/// ASCII that is in its normal form.
fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte) | (byte == b'\n') | (byte == b'\t')
}

fn replace(text: &str, unicode: &Unicode, quote: u32) -> String {
    let (mark, vowel, both) = MARK_AND_VOWEL;
    let mut out = String::with_capacity(text.len());
    // The last character that is no control character.
    let (mut rest, mut last) = (text, ' ');
    loop {
        let plain = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        if plain > 0 {
            out.push_str(&rest[..plain]);
            last = ' ';
        }
        let mut others = rest[plain..].chars();
        let Some(character) = others.next() else { return out };
        rest = others.as_str();
        let properties = unicode.properties(character);
        if properties & flag::STRIPPED != 0 {
            // Only private use parts a mark from its vowel.
            last = if character as u32 >= PRIVATE_USE { character } else { last };
            continue;
        }
        if character == vowel && last == mark {
            out.truncate(out.len() - mark.len_utf8());
            last = both;
        } else if properties & flag::TO_SPACE != 0 {
            last = ' ';
        } else if properties & quote != 0 {
            last = straight(character);
        } else {
            last = character;
        }
        out.push(last);
    }
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
    fn composing_makes_no_character_that_is_replaced() {
        let mut composer = Composer::default();
        let replaced = flag::STRIPPED | flag::TO_SPACE | flag::QUOTE;
        let mut counted = 0;
        for character in '\u{80}'..=char::MAX {
            let properties = unicode().properties(character);
            if properties & flag::COMPOSES != 0 && properties & replaced == 0 {
                counted += 1;
                for text in [format!("{character}"), format!("a{character}")] {
                    let composed = composer.compose(&text, unicode());
                    assert_eq!(flags(&composed, unicode()) & replaced, 0, "{text:?}");
                }
            }
        }
        assert!(counted > 1_000, "{counted}");
    }

    #[test]
    fn what_is_dropped_and_what_becomes_another_character() {
        let mut composer = Composer::default();
        for (text, normal) in [
            ("plain ASCII\n", "plain ASCII\n"),
            ("a\r\nb", "a\nb"),
            ("a\0b", "a b"),
            ("a\u{7}b\u{1b}\u{85}", "ab"),
            ("a\u{a0}b\u{2003}", "a b "),
            ("\u{3000}\t\n", "\u{3000}\t\n"),
            ("a\u{e000}b", "ab"),
            ("\u{e4d}\u{e32}", "\u{e33}"),
            ("\u{e4d}\u{1}\u{e32}\u{e32}", "\u{e33}\u{e32}"),
            ("\u{e4d}\u{e000}\u{e32}", "\u{e4d}\u{e32}"),
            ("e\u{301}", "\u{e9}"),
            ("e\u{1}\u{301}", "e\u{301}"),
        ] {
            assert_eq!(normalise(text, false, &mut composer), normal, "{text:?}");
        }
        let quoted = normalise("\u{201c}it\u{2019}s\u{201d}", true, &mut composer);
        assert_eq!(quoted, "\"it's\"");
        assert_eq!(normalise("\u{2019}", false, &mut composer), "\u{2019}");
    }
}
