//! What two texts differ in, in plain words: clocks, ids, paths, white space, Unicode forms.

use std::ops::Range;

use super::excerpt::Between;
use super::fold::is_same_folded;
use super::moment::is_moment;

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

/// Most words on a side of a difference that can be one thing, e.g. a date.
const WORDS_MAX: usize = 6;

/// Lengths of a time as seconds or milliseconds since 1970.
const STAMP_LENGTHS: [usize; 2] = [10, 13];

/// How `b` differs from `a`, and in what, as the end of a sentence.
pub(super) fn explain(a: &str, b: &str) -> (Flavour, String) {
    let between = Between::of(a, b);
    let (before_a, in_a, after_a) = between.parts(a);
    let (_, in_b, _) = between.parts(b);
    if is_same_without_space(a, b) {
        return (Flavour::Whitespace, space_words((a, in_a), (b, in_b)));
    }
    if is_same_folded(a, b) {
        let words = "the same text in another Unicode form or with other typographic signs";
        return (Flavour::Unicode, words.to_owned());
    }
    let head = word_end(before_a);
    let tail = word_start(after_a);
    let (word_a, word_b) = (format!("{head}{in_a}{tail}"), format!("{head}{in_b}{tail}"));
    let is_date = [(a, in_a), (b, in_b)].iter().all(|(text, part)| {
        let (line, part) = around(text, before_a.len(), part.len());
        is_moment(line, &part)
    });
    let words = match what((&word_a, &word_b), is_date, before_a) {
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

/// What white space differs; each side is its text and the part of it that differs.
fn space_words((a, in_a): (&str, &str), (b, in_b): (&str, &str)) -> String {
    const SPACES: [(&str, &str); 2] = [("no-break spaces", "spaces"), ("tabs", "spaces")];
    let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}', '\u{2007}'], " ");
    let differ = |what_a: &str, what_b: &str| {
        format!("only white space differs ({what_a} in A, {what_b} in B)")
    };
    let lines = |text: &str| text.replace("\r\n", "\n");
    if lines(a) == lines(b) {
        let ends = [r"\r\n", r"\n"];
        let more_a = a.matches('\r').count() > b.matches('\r').count();
        let [one, other] = if more_a { ends } else { [ends[1], ends[0]] };
        return differ(&format!("line ends {one}"), other);
    }
    let holds = |is: fn(char) -> bool| (in_a.contains(is), in_b.contains(is));
    let is_tab: fn(char) -> bool = |c| c == '\t';
    let is_no_break: fn(char) -> bool = |c| ['\u{a0}', '\u{202f}', '\u{2007}'].contains(&c);
    let [no_break, tabs] = SPACES;
    match (plain(a) == plain(b), holds(is_no_break), holds(is_tab)) {
        (true, (true, false), _) => return differ(no_break.0, no_break.1),
        (true, (false, true), _) => return differ(no_break.1, no_break.0),
        (_, _, (true, false)) if in_b.contains(' ') => return differ(tabs.0, tabs.1),
        (_, _, (false, true)) if in_a.contains(' ') => return differ(tabs.1, tabs.0),
        (_, _, _) => {}
    }
    let more = if in_b.len() > in_a.len() { "B has more of it" } else { "A has more of it" };
    let which = if in_a.contains('\n') != in_b.contains('\n') { "line breaks" } else { "spaces" };
    if in_a.len() == in_b.len() {
        return "only white space differs".to_owned();
    }
    format!("only white space differs ({which}; {more})")
}

/// The line around a part of a text, cut short, and where the part is in it.
fn around(text: &str, start: usize, length: usize) -> (&str, Range<usize>) {
    let end = start + length;
    let (before, after) = (&text[..start], &text[end..]);
    let cut = before.char_indices().rev().take(WORD_MAX).take_while(|(_, c)| *c != '\n').last();
    let from = cut.map_or(start, |(at, _)| at);
    let cut = after.char_indices().take(WORD_MAX).take_while(|(_, c)| *c != '\n').last();
    let to = end + cut.map_or(0, |(at, char)| at + char.len_utf8());
    (&text[from..to], start - from..end - from)
}

fn is_same_without_space(a: &str, b: &str) -> bool {
    let solid = |text: &str| -> Vec<char> { text.chars().filter(|c| !c.is_whitespace()).collect() };
    solid(a) == solid(b)
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
fn what((a, b): (&str, &str), is_date: bool, before: &str) -> Option<&'static str> {
    let both = |is: fn(&str) -> bool| is(a) && is(b);
    if a.split_whitespace().count() > WORDS_MAX || b.split_whitespace().count() > WORDS_MAX {
        return None;
    }
    if both(has_uuid) {
        Some("a UUID (of a session, an agent or a request)")
    } else if is_date || (both(is_stamp) && is_behind_time(before)) {
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

/// A time as a number since 1970.
fn is_stamp(word: &str) -> bool {
    let figures = word.trim_start_matches(':');
    STAMP_LENGTHS.contains(&figures.len()) && figures.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the line before a difference ends in a word for time, a sign or two, and the number.
fn is_behind_time(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or("");
    let words = line.trim_end_matches(|c: char| !c.is_alphabetic());
    let last = words.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    ["date", "time", "timestamp", "now"].contains(&last.to_lowercase().as_str())
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
            ("on 3 May 2026, 9:05", "on 4 May 2026, 9:17", "a date or time"),
            ("{\"timestamp\":1764590000}", "{\"timestamp\":1764590009}", "a date or time"),
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
        for (a, b) in [
            ("ratio 3:4", "ratio 3:5"),
            ("he decided 2", "he separate 2"),
            ("market 1 a", "decide 1 a"),
            ("at 10:41", "at noon"),
            ("timeout is 30s", "timeout is 40s"),
        ] {
            assert_eq!(words(a, b), "other words", "{a:?} -> {b:?}");
        }
        assert_eq!(words("updated 3 files", "updated 4 files"), "a number differs");
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
            ("run --x", "run -x", Flavour::Words),
            ("\u{201c}x\u{201d} is", "\"x\" was", Flavour::Words),
            ("a\u{301}", "\u{e9}", Flavour::Words),
            ("a", "\u{e9}", Flavour::Words),
        ] {
            assert_eq!(explain(a, b).0, flavour, "{a:?} -> {b:?}");
            assert_eq!(explain(b, a).0, flavour, "{b:?} -> {a:?}");
        }
    }

    #[test]
    fn the_white_space_that_differs_is_named() {
        for (a, b, words) in [
            ("x\r\ny\r\n", "x\ny\n", r"line ends \r\n in A, \n in B"),
            ("x\ny", "x\r\ny", r"line ends \n in A, \r\n in B"),
            ("\tx", "    x", "tabs in A, spaces in B"),
            ("x\u{a0}y", "x y", "no-break spaces in A, spaces in B"),
            ("x y", "x\u{202f}y", "spaces in A, no-break spaces in B"),
            ("x\n\ny", "x\ny", "line breaks; A has more of it"),
            ("x  y", "x y", "spaces; A has more of it"),
        ] {
            let said = explain(a, b).1;
            assert_eq!(said, format!("only white space differs ({words})"), "{a:?} -> {b:?}");
        }
    }
}
