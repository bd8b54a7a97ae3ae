//! Reading typed values out of the tree; each reader reports what it refuses and gives `None`.

use std::ops::RangeInclusive;

use jiff::civil::Date;

use super::diagnostic::{Mistake, Mistakes, alternatives, code, nearest};
use super::source::Span;
use super::tree::{Entry, Node, Table, Value};
use crate::units::grouped;

/// Days that a scenario may name.
const DATES: [&str; 2] = ["2020-01-01", "2099-12-31"];

/// One table of the scenario. An absent optional table reads as an empty one.
pub(super) struct Section<'a> {
    /// Dotted path; empty for the root.
    pub(super) path: String,
    /// The header, or that of the table around it where it is absent.
    pub(super) header: Span,
    entries: &'a [Entry],
    allowed: &'static [&'static str],
}

/// One key with its value.
pub(super) struct Field<'a> {
    /// The dotted key.
    pub(super) key: String,
    key_span: &'a Span,
    pub(super) node: &'a Node,
}

impl<'a> Section<'a> {
    /// The whole scenario; unknown keys are reported.
    pub(super) fn root(
        table: &'a Table,
        allowed: &'static [&'static str],
        mistakes: &mut Mistakes,
    ) -> Section<'a> {
        let section = Section { allowed, ..Section::unchecked(table) };
        section.check_keys(mistakes);
        section
    }

    /// The whole scenario, any key allowed.
    pub(super) fn unchecked(table: &'a Table) -> Section<'a> {
        Section { path: String::new(), header: 0..0, entries: &table.entries, allowed: &[] }
    }

    /// The dotted key of `name` in this table.
    pub(super) fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn field(&self, name: &str) -> Option<Field<'a>> {
        debug_assert!(self.allowed.is_empty() || self.allowed.contains(&name), "{name}");
        let entry = self.entries.iter().find(|entry| entry.key == name)?;
        Some(self.entry_field(entry))
    }

    fn entry_field(&self, entry: &'a Entry) -> Field<'a> {
        Field::of_entry(self.key(&entry.key), entry)
    }

    /// All keys in their order.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> + '_ {
        self.entries.iter().map(|entry| (entry.key.as_str(), self.entry_field(entry)))
    }

    /// The table `name`, empty where it is absent; unknown keys in it are reported.
    pub(super) fn table(
        &self,
        name: &str,
        allowed: &'static [&'static str],
        mistakes: &mut Mistakes,
    ) -> Option<Section<'a>> {
        let Some(field) = self.field(name) else {
            let header = self.header.clone();
            return Some(Section { path: self.key(name), header, entries: &[], allowed });
        };
        let Value::Table(table) = &field.node.value else {
            field.wrong_type("a table", mistakes);
            return None;
        };
        let header = field.node.span.clone();
        let section = Section { path: field.key, header, entries: &table.entries, allowed };
        section.check_keys(mistakes);
        Some(section)
    }

    fn check_keys(&self, mistakes: &mut Mistakes) {
        let strangers = self.entries.iter().filter(|e| !self.allowed.contains(&e.key.as_str()));
        for entry in strangers.filter(|_| !self.allowed.is_empty()) {
            let key = self.key(&entry.key);
            let list = format!("allowed here: {}", self.allowed.join(", "));
            let help = match nearest(&entry.key, self.allowed.iter().copied()) {
                Some(word) => format!("did you mean `{word}`? {list}"),
                None => list,
            };
            mistakes.add(Mistake {
                code: code::UNKNOWN_KEY,
                span: &entry.key_span,
                key: Some(&key),
                value: Some(&entry.node.span),
                message: format!("unknown key {key}"),
                help,
            });
        }
    }

    /// The value of `name` as `read` gives it, `absent` where there is no such key.
    pub(super) fn read<T>(
        &self,
        name: &str,
        absent: T,
        mistakes: &mut Mistakes,
        read: impl FnOnce(&Field<'a>, &mut Mistakes) -> Option<T>,
    ) -> Option<T> {
        match self.field(name) {
            None => Some(absent),
            Some(field) => read(&field, mistakes),
        }
    }

    /// The field `name`; a missing one is reported with `example` as the remedy.
    pub(super) fn required(
        &self,
        name: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<Field<'a>> {
        let field = self.field(name);
        if field.is_none() {
            let key = self.key(name);
            self.missing(&key, &format!("{key} is missing"), example, mistakes);
        }
        field
    }

    /// Reports something missing in this table.
    pub(super) fn missing(&self, key: &str, message: &str, help: &str, mistakes: &mut Mistakes) {
        mistakes.add(Mistake {
            code: code::MISSING_KEY,
            span: &self.header,
            key: Some(key),
            value: None,
            message: message.to_owned(),
            help: help.to_owned(),
        });
    }

    /// Reports all but the first of `names` that stand here; true where at most one does.
    pub(super) fn at_most_one(&self, names: &[&str], mistakes: &mut Mistakes) -> bool {
        let mut given: Vec<Field<'a>> = names.iter().filter_map(|name| self.field(name)).collect();
        given.sort_by_key(|field| field.key_span.start);
        let Some((first, others)) = given.split_first() else { return true };
        for other in others {
            let message = format!("{} and {} exclude each other", first.key, other.key);
            let list = names.iter().copied();
            other.report(
                code::CONFLICT,
                message,
                format!("keep one of {}", alternatives(list)),
                mistakes,
            );
        }
        others.is_empty()
    }
}

impl<'a> Field<'a> {
    /// The field of an entry under a key of its own.
    pub(super) fn of_entry(key: String, entry: &'a Entry) -> Field<'a> {
        Field { key, key_span: &entry.key_span, node: &entry.node }
    }

    /// Reports this value.
    pub(super) fn report(
        &self,
        code: &'static str,
        message: String,
        help: impl Into<String>,
        mistakes: &mut Mistakes,
    ) {
        mistakes.add(Mistake {
            code,
            span: &self.node.span,
            key: Some(&self.key),
            value: Some(&self.node.span),
            message,
            help: help.into(),
        });
    }

    /// The line of the value in its source, from 1.
    pub(super) fn line(&self, mistakes: &Mistakes) -> usize {
        let place = mistakes.sources.locate(self.key_span);
        place.map_or(1, |(source, span)| source.line_column(span.start).0)
    }

    pub(super) fn wrong_type(&self, wanted: &str, mistakes: &mut Mistakes) {
        let got = self.node.value.type_name();
        let message = format!("{} must be {wanted}, got {got}", self.key);
        let help = match (&self.node.value, wanted) {
            (Value::Text(_), "a whole number" | "true or false") => "write it without quotes",
            (Value::Integer(_) | Value::Float(_) | Value::Bool(_), "text") => {
                "write it in double quotes"
            }
            (_, "a table") => "write a table: key = { ... } or [key] on a line of its own",
            (_, "a list of text") => "write a list: key = [\"...\", \"...\"]",
            _ => "see docs/scenario-format.md for the type of each key",
        };
        self.report(code::WRONG_TYPE, message, help, mistakes);
    }

    /// Text that is not empty.
    pub(super) fn text(&self, mistakes: &mut Mistakes) -> Option<&'a str> {
        let Value::Text(text) = &self.node.value else {
            self.wrong_type("text", mistakes);
            return None;
        };
        if text.trim().is_empty() {
            let message = format!("{} must not be empty", self.key);
            self.report(code::EMPTY_VALUE, message, "write a text or delete the key", mistakes);
            return None;
        }
        Some(text)
    }

    /// A list of texts, none of them empty.
    pub(super) fn texts(&self, mistakes: &mut Mistakes) -> Option<Vec<&'a str>> {
        let Value::List(items) = &self.node.value else {
            self.wrong_type("a list of text", mistakes);
            return None;
        };
        if items.is_empty() {
            let message = format!("{} must not be empty", self.key);
            self.report(code::EMPTY_VALUE, message, "list at least one text", mistakes);
            return None;
        }
        let item_field = |(index, node)| {
            let key = format!("{}[{index}]", self.key);
            Field { key, key_span: self.key_span, node }
        };
        let read: Vec<Option<&str>> =
            items.iter().enumerate().map(item_field).map(|item| item.text(mistakes)).collect();
        read.into_iter().collect()
    }

    pub(super) fn flag(&self, mistakes: &mut Mistakes) -> Option<bool> {
        let Value::Bool(flag) = self.node.value else {
            self.wrong_type("true or false", mistakes);
            return None;
        };
        Some(flag)
    }

    /// A whole number inside `range`.
    pub(super) fn integer(
        &self,
        range: RangeInclusive<u64>,
        mistakes: &mut Mistakes,
    ) -> Option<u64> {
        let Value::Integer(integer) = self.node.value else {
            self.wrong_type("a whole number", mistakes);
            return None;
        };
        let value = integer.and_then(|integer| u64::try_from(integer).ok());
        if let Some(value) = value.filter(|value| range.contains(value)) {
            return Some(value);
        }
        let (low, high) = (grouped((*range.start()).into()), grouped((*range.end()).into()));
        let got = mistakes.sources.excerpt(&self.node.span);
        let message = format!("{} must be between {low} and {high}, got {got}", self.key);
        let too_low = integer.is_some_and(|integer| integer < i128::from(*range.start()));
        let help = format!("write {} instead", if too_low { &low } else { &high });
        self.report(code::OUT_OF_RANGE, message, help.replace(',', ""), mistakes);
        None
    }

    /// Seconds as milliseconds, exactly; `range` is in seconds.
    pub(super) fn millis(
        &self,
        range: RangeInclusive<i64>,
        mistakes: &mut Mistakes,
    ) -> Option<i64> {
        let millis = match &self.node.value {
            Value::Integer(seconds) => seconds.and_then(|seconds| seconds.checked_mul(1000)),
            Value::Float(text) => match decimal_millis(text) {
                Millis::Exact(millis) => Some(millis),
                Millis::TooFine => {
                    let message = format!(
                        "{} must have at most three decimals, got {text}: times are whole \
                         milliseconds",
                        self.key
                    );
                    let help = "round it to three decimals";
                    self.report(code::TIME_PRECISION, message, help, mistakes);
                    return None;
                }
                Millis::NoNumber => None,
            },
            _ => {
                self.wrong_type("a number of seconds", mistakes);
                return None;
            }
        };
        let (low, high) = (*range.start(), *range.end());
        let allowed = i128::from(low) * 1000..=i128::from(high) * 1000;
        let millis = millis.filter(|millis| allowed.contains(millis));
        if let Some(millis) = millis.and_then(|millis| i64::try_from(millis).ok()) {
            return Some(millis);
        }
        let got = mistakes.sources.excerpt(&self.node.span);
        let (low, high) = (grouped(low.into()), grouped(high.into()));
        let message = format!("{} must be between {low} and {high} seconds, got {got}", self.key);
        self.report(code::OUT_OF_RANGE, message, "write seconds, e.g. 2.5", mistakes);
        None
    }

    /// One of `words`.
    pub(super) fn choice<T: Clone>(
        &self,
        words: &[(&str, T)],
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        let text = self.text(mistakes)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let names = || words.iter().map(|(word, _)| *word);
            let list = alternatives(names());
            let message = format!("{} must be {list}, got \"{text}\"", self.key);
            let help = match nearest(text, names()) {
                Some(word) => format!("did you mean \"{word}\"?"),
                None => "take one of these words".to_owned(),
            };
            self.report(code::UNKNOWN_WORD, message, help, mistakes);
        }
        found.map(|(_, value)| value.clone())
    }

    /// A day, as a date of TOML or as text.
    pub(super) fn date(&self, mistakes: &mut Mistakes) -> Option<Date> {
        let (Value::Text(text) | Value::Date(text)) = &self.node.value else {
            self.wrong_type("a date", mistakes);
            return None;
        };
        let date = text.parse::<Date>().ok().filter(|date| date.to_string() == *text);
        let [first, last] = DATES;
        let inside = (first..=last).contains(&text.as_str());
        if date.is_none() || !inside {
            let message = format!(
                "{} must be a day from {first} to {last} as YYYY-MM-DD, got {text}",
                self.key
            );
            self.report(code::DATE, message, "write e.g. date = 2026-07-24", mistakes);
        }
        date.filter(|_| inside)
    }
}

enum Millis {
    Exact(i128),
    TooFine,
    NoNumber,
}

/// Milliseconds of decimal seconds without a detour over floats: `0.1` is 100, never 99 or 101.
fn decimal_millis(text: &str) -> Millis {
    const EXPONENT_MAX: i32 = 15;
    let lower = text.to_ascii_lowercase();
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let (Ok(digits), Ok(exponent)) = (digits.parse::<i128>(), exponent.parse::<i32>()) else {
        return Millis::NoNumber;
    };
    let Ok(places) = i32::try_from(fraction.len()) else { return Millis::NoNumber };
    let shift = exponent.saturating_sub(places).saturating_add(3);
    if digits == 0 {
        return Millis::Exact(0);
    }
    if shift > EXPONENT_MAX {
        return Millis::NoNumber;
    }
    let power = |by: u32| 10_i128.checked_pow(by);
    if shift >= 0 {
        let scaled = power(shift.unsigned_abs()).and_then(|power| digits.checked_mul(power));
        return scaled.map_or(Millis::NoNumber, Millis::Exact);
    }
    match power(shift.unsigned_abs()) {
        Some(power) if digits % power == 0 => Millis::Exact(digits / power),
        Some(_) | None => Millis::TooFine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(text: &str) -> Option<i128> {
        match decimal_millis(text) {
            Millis::Exact(millis) => Some(millis),
            Millis::TooFine | Millis::NoNumber => None,
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(millis("0.1"), Some(100));
        assert_eq!(millis("-2.5000"), Some(-2500));
        assert_eq!(millis("1e3"), Some(1_000_000));
        assert_eq!(millis("1200e-3"), Some(1200));
        assert_eq!(millis("+1.5E+1"), Some(15_000));
        assert_eq!(millis("0e99"), Some(0));
        assert!(matches!(decimal_millis("0.0001"), Millis::TooFine));
        assert!(matches!(decimal_millis("1e-999999999"), Millis::TooFine));
        for text in ["nan", "inf", "-inf", "1e999999999999", "1e40"] {
            assert!(matches!(decimal_millis(text), Millis::NoNumber), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_number_of_milliseconds_survives(millis_in in 0_i128..10_000_000_000) {
            let text = format!("{}.{:03}", millis_in / 1000, millis_in % 1000);
            prop_assert_eq!(millis(&text), Some(millis_in));
        }
    }
}
