//! What two texts differ in, in plain words: clocks, ids, paths, white space, Unicode forms.

use super::excerpt::Between;

/// In what way two texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// In white space only.
    Whitespace,
    /// In Unicode form or typographic signs only.
    Unicode,
    /// In words.
    Words,
}

/// Characters looked at around a difference to find the word it is in.
const WORD_MAX: usize = 80;

/// How `b` differs from `a`, and in what, as the end of a sentence.
pub(super) fn explain(a: &str, b: &str) -> (Flavour, String) {
    let between = Between::of(a, b);
    let (before_a, in_a, after_a) = between.parts(a);
    let (_, in_b, _) = between.parts(b);
    if is_same_without_space(a, b) {
        return (Flavour::Whitespace, space_words(in_a, in_b));
    }
    if is_same_folded(a, b) {
        let words = "the same text in another Unicode form or with other typographic signs";
        return (Flavour::Unicode, words.to_owned());
    }
    let head = word_end(before_a);
    let tail = word_start(after_a);
    let (word_a, word_b) = (format!("{head}{in_a}{tail}"), format!("{head}{in_b}{tail}"));
    let words = match what(&word_a, &word_b, before_a) {
        Some(thing) => format!("{thing} differs"),
        None if in_a.is_empty() => format!("B has {} characters more", count(in_b)),
        None if in_b.is_empty() => format!("{} characters of A are gone", count(in_a)),
        None => "other words".to_owned(),
    };
    (Flavour::Words, words)
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn space_words(in_a: &str, in_b: &str) -> String {
    let more = if in_b.len() > in_a.len() { "B has more of it" } else { "A has more of it" };
    let which = if in_a.contains('\n') != in_b.contains('\n') { "line breaks" } else { "spaces" };
    if in_a.len() == in_b.len() {
        return "only white space differs".to_owned();
    }
    format!("only white space differs ({which}; {more})")
}

fn is_same_without_space(a: &str, b: &str) -> bool {
    let solid = |text: &str| -> Vec<char> { text.chars().filter(|c| !c.is_whitespace()).collect() };
    solid(a) == solid(b)
}

/// Equal after typographic signs became plain ones and accents were put together or taken off on
/// both sides. Not a normalisation: only enough to recognise one.
fn is_same_folded(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (folded(a).into_iter().peekable(), folded(b).into_iter().peekable());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) if x == y => {}
            (Some(x), Some(y)) => {
                let composes = |letter: char, marked: bool, whole: char| {
                    marked && letter.is_alphabetic() && !whole.is_ascii() && whole.is_alphabetic()
                };
                let marked_a = a.peek().copied().is_some_and(is_combining);
                let marked_b = b.peek().copied().is_some_and(is_combining);
                if !composes(x, marked_a, y) && !composes(y, marked_b, x) {
                    return false;
                }
                while a.next_if(|c| is_combining(*c)).is_some() {}
                while b.next_if(|c| is_combining(*c)).is_some() {}
            }
            (None, Some(_)) | (Some(_), None) => return false,
        }
    }
}

fn is_combining(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

fn folded(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    for char in text.chars() {
        match char {
            // A dash may stand for one or two hyphens.
            '\u{2010}'..='\u{2015}' | '-' | '\u{2212}' => {
                if out.last() != Some(&'-') {
                    out.push('-');
                }
            }
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            '\u{2026}' => out.extend(['.', '.', '.']),
            '\u{a0}' | '\u{202f}' => out.push(' '),
            '\u{200b}' | '\u{feff}' => {}
            other => out.push(other),
        }
    }
    out
}

/// The end of the text up to the last separator.
fn word_end(text: &str) -> &str {
    let start = text.char_indices().rev().take(WORD_MAX).take_while(|(_, c)| !separates(*c)).last();
    start.map_or("", |(at, _)| &text[at..])
}

/// The beginning of the text up to the first separator.
fn word_start(text: &str) -> &str {
    let end = text.char_indices().take(WORD_MAX).find(|(_, c)| separates(*c));
    let limit = text.char_indices().nth(WORD_MAX).map_or(text.len(), |(at, _)| at);
    &text[..end.map_or(limit, |(at, _)| at)]
}

fn separates(char: char) -> bool {
    char.is_whitespace() || "\"'`<>()[]{}|,;=".contains(char)
}

/// What both words are, where that is plain to see.
fn what(a: &str, b: &str, before: &str) -> Option<&'static str> {
    let both = |is: fn(&str) -> bool| is(a) && is(b);
    let line = before.rsplit('\n').next().unwrap_or("");
    let tail_start = line.char_indices().rev().nth(23).map_or(0, |(at, _)| at);
    let near = line[tail_start..].to_lowercase();
    if a.split_whitespace().count() > 6 || b.split_whitespace().count() > 6 {
        return None;
    }
    if both(has_uuid) {
        Some("a UUID (of a session, an agent or a request)")
    } else if both(is_clock)
        || (both(has_digit) && (near.contains("date") || near.contains("time")))
    {
        Some("a date or time")
    } else if both(|word| word.contains("://")) {
        Some("a URL")
    } else if both(is_path) {
        Some("a path (working folder, scratchpad or worktree)")
    } else if both(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())) {
        Some("a number")
    } else if both(is_id) {
        Some("an id")
    } else {
        None
    }
}

fn has_digit(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
}

fn has_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.windows(5).any(|five| {
        let lengths: [usize; 5] = [8, 4, 4, 4, 12];
        let middle = |part: &str, n: usize| part.len() == n && is_hex(part);
        let first = five[0].len() >= 8 && five[0].get(five[0].len() - 8..).is_some_and(is_hex);
        let last = five[4].get(..12).is_some_and(is_hex);
        first && last && (1..4).all(|n| middle(five[n], lengths[n]))
    })
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A clock or a calendar: figures with `:` or two `-` or `/` between them, or names of days and
/// months beside figures.
fn is_clock(text: &str) -> bool {
    const NAMES: [&str; 19] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mon",
        "tue", "wed", "thu", "fri", "sat", "sun",
    ];
    let lower = text.to_lowercase();
    let named = lower
        .split(|c: char| !c.is_alphabetic())
        .any(|word| NAMES.iter().any(|name| word.starts_with(name) && word.len() <= 9));
    let bytes: Vec<u8> = text.bytes().collect();
    let between_digits = |sign: u8| {
        bytes
            .windows(3)
            .filter(|w| w[1] == sign && w[0].is_ascii_digit() && w[2].is_ascii_digit())
            .count()
    };
    let plain = text.chars().all(|c| c.is_ascii_digit() || "-:/.TZ+, ".contains(c));
    let dated = between_digits(b'-') >= 2 || (plain && between_digits(b'/') >= 2);
    let timed = between_digits(b':') >= 1;
    dated || timed || (named && text.chars().count() <= 40 && (has_digit(text) || lower.len() <= 9))
}

fn is_path(text: &str) -> bool {
    let rooted = text.starts_with('/') || text.starts_with("~/") || text.contains(":\\");
    rooted && text.len() > 1 || text.matches('/').count() >= 2
}

/// Long, of letters and figures, with both.
fn is_id(text: &str) -> bool {
    let word = text.rsplit(['=', ':', '/']).next().unwrap_or(text);
    word.len() >= 7
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && has_digit(word)
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(a: &str, b: &str) -> String {
        let (flavour, words) = explain(a, b);
        assert_eq!(flavour, Flavour::Words);
        words
    }

    #[test]
    fn things_that_change_by_themselves_are_named() {
        for (a, b, thing) in [
            ("Today's date: 2026-12-01\n", "Today's date: 2026-12-02\n", "a date or time"),
            ("at 10:41 sharp", "at 10:42 sharp", "a date or time"),
            ("on Mon Dec 1", "on Tue Dec 1", "a date or time"),
            (
                "/tmp/6f1e2a34-0000-4abc-8def-0123456789ab/x",
                "/tmp/6f1e2a34-0000-4abc-8def-0123456789ac/x",
                "a UUID",
            ),
            ("cwd: /home/a/wt1 ok", "cwd: /home/a/wt2 ok", "a path"),
            ("see https://x.y/s/1 now", "see https://x.y/s/2 now", "a URL"),
            ("left: 41 tokens", "left: 42 tokens", "a number"),
            ("HEAD is 9fceb02a", "HEAD is 1b2c3d4e", "an id"),
        ] {
            let words = words(a, b);
            assert!(words.starts_with(thing), "{a:?} -> {b:?}: {words}");
        }
    }

    #[test]
    fn ordinary_edits_are_only_described() {
        assert_eq!(words("be brief", "be kind"), "other words");
        assert_eq!(words("be brief", "be brief and kind"), "B has 9 characters more");
        assert_eq!(words("be brief and kind", "be brief"), "9 characters of A are gone");
        assert_eq!(words("read and/or write", "read and/or wipe"), "other words");
    }

    #[test]
    fn white_space_and_unicode_forms_are_told_from_words() {
        for (a, b, flavour) in [
            ("x\n", "x", Flavour::Whitespace),
            ("a  b", "a b", Flavour::Whitespace),
            ("started \u{2014} now", "started -- now", Flavour::Unicode),
            ("caf\u{e9}s", "cafe\u{301}s", Flavour::Unicode),
            ("\u{201c}x\u{201d}", "\"x\"", Flavour::Unicode),
            ("cafe", "caf\u{e9}", Flavour::Words),
            ("a", "\u{e9}", Flavour::Words),
        ] {
            assert_eq!(explain(a, b).0, flavour, "{a:?} -> {b:?}");
            assert_eq!(explain(b, a).0, flavour, "{b:?} -> {a:?}");
        }
    }
}
