//! Dates and clock times in a text.

use std::ops::Range;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const ZONES: [&str; 5] = ["am", "pm", "utc", "gmt", "z"];

/// Years that a date may name.
const YEARS: Range<u32> = 1900..2200;

/// Whether a part of a text is of nothing but dates and clock times; an empty part, whether it
/// stands at one.
pub(super) fn is_moment(text: &str, part: &Range<usize>) -> bool {
    let spans = spans(text);
    if part.is_empty() {
        return spans.iter().any(|span| span.start <= part.start && part.start <= span.end);
    }
    let signs = text.get(part.clone()).unwrap_or_default().char_indices();
    let mut places = signs.filter(|(_, c)| c.is_alphanumeric()).map(|(at, _)| part.start + at);
    let inside = |at: usize| spans.iter().any(|span| span.contains(&at));
    places.next().is_some_and(inside) && places.all(inside)
}

fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = in_figures(text.as_bytes());
    let named = in_words(text, &spans);
    spans.extend(named);
    spans
}

/// Dates of three figures and clock times.
fn in_figures(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let run = digits(bytes, at);
        if run == 0 {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
        let is_behind_date = spans.last().is_some_and(|span| span.end + 1 == at);
        let is_free = before.is_none_or(|sign| !sign.is_ascii_alphanumeric() && sign < 0x80);
        let end = match before {
            Some(b'T' | b't' | b'_') if is_behind_date => clock(bytes, at),
            Some(b':' | b'.') => date(bytes, at),
            _ if is_free => date(bytes, at).or_else(|| clock(bytes, at)),
            _ => None,
        };
        if let Some(end) = end {
            spans.push(at..end);
        }
        at = end.unwrap_or(at + run);
    }
    spans
}

/// Length of the run of figures.
fn digits(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// A run of figures with its length.
#[derive(Clone, Copy)]
struct Figure {
    length: usize,
    value: u32,
}

impl Figure {
    fn at(bytes: &[u8], at: usize) -> Option<Figure> {
        let length = digits(bytes, at);
        let text = std::str::from_utf8(bytes.get(at..at + length)?).ok()?;
        Some(Figure { length, value: text.parse().ok()? })
    }

    fn is_year(self) -> bool {
        self.length == 4 && YEARS.contains(&self.value)
    }

    fn is_small(self) -> bool {
        self.length <= 2 && (1..=31).contains(&self.value)
    }
}

/// The end of a date that begins here: three figures with the same sign between them.
fn date(bytes: &[u8], at: usize) -> Option<usize> {
    let first = Figure::at(bytes, at)?;
    let sign_at = at + first.length;
    let sign = *bytes.get(sign_at).filter(|sign| b"-/.".contains(sign))?;
    let second = Figure::at(bytes, sign_at + 1)?;
    let other_at = sign_at + 1 + second.length;
    bytes.get(other_at).filter(|other| **other == sign)?;
    let third = Figure::at(bytes, other_at + 1)?;
    let end = other_at + 1 + third.length;
    let day_and_month =
        |x: Figure, y: Figure| x.is_small() && y.is_small() && x.value.min(y.value) <= 12;
    let is_date = (first.is_year() && day_and_month(second, third))
        || (third.is_year() && day_and_month(first, second))
        || (sign == b'/' && third.length == 2 && day_and_month(first, second));
    let goes_on = match (bytes.get(end), bytes.get(end + 1)) {
        (Some(b'T' | b't' | b'_'), Some(next)) => !next.is_ascii_digit(),
        (Some(next), _) => next.is_ascii_alphanumeric(),
        (None, _) => false,
    };
    (is_date && !goes_on).then_some(end)
}

/// The end of a clock time that begins here: hours, two figures of minutes, perhaps seconds, and a
/// zone or a half of the day directly behind it.
fn clock(bytes: &[u8], at: usize) -> Option<usize> {
    let hours = Figure::at(bytes, at).filter(|hours| hours.length <= 2 && hours.value <= 24)?;
    let two = |at: usize| {
        bytes.get(at).filter(|sign| **sign == b':')?;
        let figure = Figure::at(bytes, at + 1)?;
        (figure.length == 2 && figure.value < 60).then_some(at + 3)
    };
    let mut end = two(at + hours.length)?;
    if let Some(seconds) = two(end) {
        end = seconds;
        let fraction = digits(bytes, end + 1);
        if bytes.get(end) == Some(&b'.') && fraction > 0 {
            end += 1 + fraction;
        }
    }
    let rest = bytes.get(end..).unwrap_or_default();
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let behind = std::str::from_utf8(&rest[..letters]).unwrap_or_default().to_lowercase();
    let is_ended = letters == 0 || ZONES.contains(&behind.as_str());
    end += letters;
    let goes_on = bytes.get(end).is_some_and(|next| next.is_ascii_digit() || *next == b':');
    (is_ended && !goes_on).then_some(end)
}

/// What a word may be to a date.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// A part of a date or time of figures.
    Moment,
    Month,
    /// The whole name of a day of the week; it needs nothing beside it.
    Weekday,
    /// The short name of one.
    WeekdayShort,
    /// A day of a month.
    DayNumber,
    Year,
    Zone,
    Other,
}

fn word_of(text: &str) -> Word {
    let lower = text.to_lowercase();
    let is_short = |names: &[&str]| {
        names.iter().any(|name| *name == lower || name[..3] == *lower) || lower == "sept"
    };
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| lower.strip_suffix(end));
    let number = number.unwrap_or(&lower);
    let figure = Figure::at(number.as_bytes(), 0).filter(|figure| figure.length == number.len());
    match figure {
        Some(figure) if figure.is_year() => Word::Year,
        Some(figure) if figure.is_small() => Word::DayNumber,
        Some(_) => Word::Other,
        None if DAYS.contains(&lower.as_str()) => Word::Weekday,
        None if is_short(&MONTHS) => Word::Month,
        None if is_short(&DAYS) => Word::WeekdayShort,
        None if ZONES.contains(&lower.as_str()) => Word::Zone,
        None => Word::Other,
    }
}

/// Dates with names in them: a month beside a figure, and what belongs to it.
fn in_words(text: &str, figures: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut words: Vec<(Range<usize>, Word)> = Vec::new();
    let mut start = None;
    for (at, char) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, char.is_alphanumeric()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let is_inside = figures.iter().any(|span| span.contains(&from));
                let word = if is_inside { Word::Moment } else { word_of(&text[from..at]) };
                words.push((from..at, word));
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    let is_beside = |one: usize, other: usize| {
        let gap = text.get(words[one].0.end..words[other].0.start).unwrap_or("?");
        gap.len() <= 2 && gap.chars().all(|sign| " ,./-".contains(sign))
    };
    let mut is_part: Vec<bool> =
        words.iter().map(|(_, word)| [Word::Moment, Word::Weekday].contains(word)).collect();
    // A weekday, a month, a day, a year, a clock and a zone: five steps reach from any to any.
    for _ in 0..5 {
        for at in 0..words.len() {
            let before = at.checked_sub(1).filter(|before| is_beside(*before, at));
            let after = Some(at + 1).filter(|after| *after < words.len() && is_beside(at, *after));
            let joins = |other: usize| joins(words[at].1, words[other].1, is_part[other]);
            let joined = before.into_iter().chain(after).any(joins);
            is_part[at] |= joined;
        }
    }
    let parts = words.into_iter().zip(is_part).filter(|(_, is_part)| *is_part);
    parts.map(|((range, _), _)| range).collect()
}

/// Whether a word is part of a date for the sake of the word beside it.
fn joins(word: Word, other: Word, other_is_part: bool) -> bool {
    match word {
        Word::Month => [Word::DayNumber, Word::Year].contains(&other),
        Word::DayNumber => other == Word::Month,
        Word::Year | Word::WeekdayShort | Word::Zone => other_is_part,
        Word::Moment | Word::Weekday | Word::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut spans = spans(text);
        spans.sort_by_key(|span| span.start);
        spans.dedup_by(|one, other| other.contains(&one.start));
        spans.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn dates_and_clocks_are_found() {
        for (text, parts) in [
            ("on 2026-12-01.", vec!["2026-12-01"]),
            ("log-2026-12-01.txt", vec!["2026-12-01"]),
            ("2026-12-01T10:41:05.123Z", vec!["2026-12-01", "10:41:05.123Z"]),
            ("1.12.2026 and 12/1/26", vec!["1.12.2026", "12/1/26"]),
            ("at [10:41] or 9:05pm", vec!["10:41", "9:05pm"]),
            ("on Mon Dec 1", vec!["Mon", "Dec", "1"]),
            ("1st December, 2026", vec!["1st", "December", "2026"]),
            ("it is Monday", vec!["Monday"]),
        ] {
            assert_eq!(found(text), parts, "{text:?}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in [
            "ratio 3:4",
            "decided 2 things",
            "separate 3 files",
            "market 12",
            "you may go",
            "the sun is up",
            "version 1.2.3 or 10.1.1",
            "main.rs:10:42",
            "1-2-3",
            "2026-13-45",
            "10:4100",
            "99:99",
            "x2026-12-01",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text:?}");
        }
    }

    #[test]
    fn a_part_is_a_moment_where_nothing_else_is_in_it() {
        let text = "at 10:41 we met";
        assert!(is_moment(text, &(6..8)));
        assert!(is_moment(text, &(8..8)));
        assert!(!is_moment(text, &(6..11)));
        assert!(!is_moment(text, &(9..11)));
        assert!(!is_moment("ü10:41é", &(3..5)));
    }
}
