//! What stands at a place, cut short so that the difference is in view.

use std::borrow::Cow;

use super::body::View;

/// Characters shown before a difference, of it, and behind it.
const BEFORE_MAX: usize = 32;
const DIFFERS_MAX: usize = 56;
const AFTER_MAX: usize = 24;

/// Bytes of raw JSON that are looked at for an excerpt.
const RAW_BYTES: usize = 400;

/// What stands at a place on one side. Cuts are at characters and shown as `…`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Excerpt {
    /// What both sides have before the difference.
    pub before: String,
    /// What only this side has; empty where the other has something more.
    pub differs: String,
    /// What both sides have behind it; empty where the difference is cut.
    pub after: String,
}

impl Excerpt {
    /// Text that is wholly of this side.
    pub(super) fn whole(text: &str) -> Excerpt {
        Excerpt { differs: cut(text, DIFFERS_MAX + AFTER_MAX), ..Excerpt::default() }
    }

    /// The raw JSON of a value, as a member of that name where one is given.
    pub(super) fn json(name: Option<&str>, view: View<'_>) -> Excerpt {
        let raw = view.raw();
        let head: Cow<'_, str> = String::from_utf8_lossy(&raw[..raw.len().min(RAW_BYTES)]);
        let head = head.trim_end_matches('\u{fffd}');
        // One more character than fits tells that the value goes on.
        let more = if raw.len() > RAW_BYTES { "…" } else { "" };
        let text = match name {
            Some(name) => format!("\"{name}\": {head}{more}"),
            None => format!("{head}{more}"),
        };
        Excerpt::whole(&text)
    }
}

/// Where two texts differ, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Between {
    /// Characters of the equal head.
    pub(super) head: usize,
    /// Characters of the equal tail behind it.
    pub(super) tail: usize,
}

impl Between {
    /// The equal head and the equal tail of two texts; they never overlap.
    pub(super) fn of(a: &str, b: &str) -> Between {
        let head = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
        let room = a.chars().count().min(b.chars().count()) - head;
        let from_the_end = a.chars().rev().zip(b.chars().rev());
        let tail = from_the_end.take(room).take_while(|(x, y)| x == y).count();
        Between { head, tail }
    }

    /// The parts of a text before, at and behind the difference.
    pub(super) fn parts(self, text: &str) -> (&str, &str, &str) {
        let byte_of = |char: usize| text.char_indices().nth(char).map_or(text.len(), |(at, _)| at);
        let start = byte_of(self.head);
        let end = match self.tail {
            0 => text.len(),
            tail => text.char_indices().rev().nth(tail - 1).map_or(start, |(at, _)| at),
        };
        (&text[..start], &text[start..end], &text[end..])
    }

    /// The excerpt of a text.
    pub(super) fn excerpt(self, text: &str) -> Excerpt {
        let (before, differs, after) = self.parts(text);
        let shown = match before.char_indices().rev().nth(BEFORE_MAX - 1) {
            Some((at, _)) if at > 0 => format!("…{}", &before[at..]),
            Some(_) | None => before.to_owned(),
        };
        // Behind a cut there is nothing to line up.
        let is_cut = differs.chars().nth(DIFFERS_MAX).is_some();
        let after = if is_cut { String::new() } else { cut(after, AFTER_MAX) };
        Excerpt { before: shown, differs: cut(differs, DIFFERS_MAX), after }
    }
}

/// At most so many characters.
pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Byte offset, in a raw JSON string (quotes included), of its `char`-th decoded character.
pub(super) fn raw_offset(raw: &[u8], char: usize) -> usize {
    let mut at = 1;
    for _ in 0..char {
        at += match (raw.get(at), raw.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => {
                let unit = |at: usize| {
                    let digits = raw.get(at..at + 4)?;
                    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
                };
                let is_high = matches!(unit(at + 2), Some(0xd800..=0xdbff));
                let escaped = raw.get(at + 6..at + 8) == Some(b"\\u");
                let has_low = escaped && matches!(unit(at + 8), Some(0xdc00..=0xdfff));
                if is_high && has_low { 12 } else { 6 }
            }
            (Some(b'\\'), _) => 2,
            (Some(0..=0x7f), _) => 1,
            (Some(0x80..=0xdf), _) => 2,
            (Some(0xe0..=0xef), _) => 3,
            (Some(0xf0..=0xff), _) => 4,
            (None, _) => break,
        };
    }
    at.min(raw.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_around_the_difference() {
        let (a, b) = (format!("{}1{}", "é".repeat(90), "z".repeat(90)), String::new());
        let other = format!("{}22{}", "é".repeat(90), "z".repeat(90));
        let between = Between::of(&a, &other);
        assert_eq!(between, Between { head: 90, tail: 90 });
        let excerpt = between.excerpt(&a);
        assert_eq!(excerpt.before, format!("…{}", "é".repeat(32)));
        assert_eq!((excerpt.differs.as_str(), excerpt.after.chars().count()), ("1", 25));
        assert_eq!(Between::of(&a, &b), Between { head: 0, tail: 0 });
        // A repeated letter is in the head, not in both.
        assert_eq!(Between::of("aa", "aaa"), Between { head: 2, tail: 0 });
    }

    #[test]
    fn characters_are_found_in_raw_strings() {
        let raw = "\"a\\n\\u00e9\\ud83d\\ude00é😀x\"".as_bytes();
        let at = |char: usize| String::from_utf8_lossy(&raw[raw_offset(raw, char)..]).into_owned();
        assert!(at(1).starts_with("\\n"));
        assert!(at(2).starts_with("\\u00e9"));
        assert!(at(3).starts_with("\\ud83d"));
        assert!(at(4).starts_with('é'));
        assert!(at(6).starts_with('x'));
        assert_eq!(at(7), "\"");
    }
}
