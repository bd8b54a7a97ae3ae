//! Recorded requests with what was billed, one JSON object a line.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::request::model_in;
use crate::provider::read_usage;

/// One recorded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The file that it stands in.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u64,
    /// Its name; `line-N` where it has none.
    pub id: String,
    /// The body.
    pub body: Vec<u8>,
    /// The model, where the row names one beside the body or in it.
    pub model: Option<String>,
    /// All billed input tokens: uncached, written and read.
    pub billed: u64,
    /// Day of the request, where it is known.
    pub date: Option<Date>,
    /// Where it was recorded, which decides the half it belongs to; empty where nobody says.
    pub recording: String,
}

/// A line that is no recorded request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}; {help}")]
pub struct RowError {
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What is allowed.
    pub help: &'static str,
}

/// A row that nothing can be learnt from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It has no usage.
    NoUsage,
    /// Its recorder took something out of it.
    Scrubbed,
    /// The provider ran more than one pass for it.
    SeveralPasses,
    /// Nothing was billed for its input.
    NothingBilled,
    /// It names no model that is known.
    UnknownModel,
    /// Its request is none.
    NoRequest,
}

impl Skipped {
    /// Why, in words.
    pub fn text(&self) -> &'static str {
        match self {
            Skipped::NoUsage => "without usage",
            Skipped::Scrubbed => "whose text was scrubbed",
            Skipped::SeveralPasses => "with several passes",
            Skipped::NothingBilled => "without billed input",
            Skipped::UnknownModel => "to no model that is known",
            Skipped::NoRequest => "whose request is none",
        }
    }
}

#[derive(Deserialize)]
struct WireRow<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    usage: Option<serde_json::Value>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    source: Option<serde_json::Value>,
    flags: Option<WireFlags>,
    t_request: Option<f64>,
}

#[derive(Deserialize)]
struct WireFlags {
    scrubbed: Option<bool>,
}

/// Reads a line.
///
/// # Errors
/// Where it is not JSON, or has no request, or its usage is none that is known.
pub fn read_row(file: &Arc<str>, line: u64, text: &str) -> Result<Result<Row, Skipped>, RowError> {
    let wire: WireRow<'_> = serde_json::from_str(text).map_err(|error| RowError {
        line,
        column: error.column(),
        message: format!("not a recorded request: {}", plain(&error)),
        help: "give one JSON object a line with `request` (the body) and `usage` (what was billed)",
    })?;
    if wire.flags.is_some_and(|flags| flags.scrubbed == Some(true)) {
        return Ok(Err(Skipped::Scrubbed));
    }
    let Some(usage) = wire.usage.filter(|usage| !usage.is_null()) else {
        return Ok(Err(Skipped::NoUsage));
    };
    if usage.get("iterations").and_then(|list| list.as_array()).is_some_and(|all| all.len() > 1) {
        return Ok(Err(Skipped::SeveralPasses));
    }
    let billed = read_usage(&usage, None).map_err(|error| RowError {
        line,
        column: 1,
        message: format!("`usage`: {error}"),
        help: "give the provider's own usage object",
    })?;
    let body = wire.request.get();
    let in_body = || model_in(body.as_bytes());
    if billed.usage.input().0 == 0 {
        return Ok(Err(Skipped::NothingBilled));
    }
    // What a recorder says of where it was: a path, or an object with one and a day.
    let source = wire.source.unwrap_or_default();
    let stated = source.get("recorded_at").and_then(day_of);
    let path = source.get("path").unwrap_or(&source).as_str().unwrap_or_default();
    Ok(Ok(Row {
        file: Arc::clone(file),
        line,
        id: wire.id.map_or_else(|| format!("line-{line}"), Cow::into_owned),
        body: body.as_bytes().to_vec(),
        model: wire.model.map(Cow::into_owned).or_else(in_body),
        billed: billed.usage.input().0,
        date: stated.or_else(|| wire.t_request.and_then(day_of_seconds)),
        recording: path.to_owned(),
    }))
}

fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn day_of(value: &serde_json::Value) -> Option<Date> {
    match value.as_f64() {
        Some(seconds) => day_of_seconds(seconds),
        None => value.as_str()?.get(..10)?.parse().ok(),
    }
}

fn day_of_seconds(seconds: f64) -> Option<Date> {
    // A float becomes the whole second that it lies in; out of range it becomes no time at all.
    let moment = jiff::Timestamp::from_second(seconds as i64).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(moment).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_was_sent_and_billed() {
        let text = r#"{"request": {"model": "m", "messages": []}, "t_request": 1748554704.2,
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 10}}"#;
        let row = read_row(&Arc::from("f"), 7, text).unwrap().unwrap();
        assert_eq!((row.billed, row.model.as_deref(), &*row.id), (13, Some("m"), "line-7"));
        assert_eq!(row.date, Some(Date::constant(2025, 5, 29)));
        let text = r#"{"request": {}, "usage": null, "model": "x"}"#;
        assert_eq!(read_row(&Arc::from("f"), 1, text).unwrap(), Err(Skipped::NoUsage));
        let text = r#"{"request": {}, "usage": {"input_tokens": 1}, "flags": {"scrubbed": true}}"#;
        assert_eq!(read_row(&Arc::from("f"), 1, text).unwrap(), Err(Skipped::Scrubbed));
    }

    #[test]
    fn a_line_that_is_none_says_where_and_what() {
        for (text, word) in [
            ("{", "EOF"),
            ("{\"usage\": {}}", "request"),
            ("{\"request\": {}, \"usage\": {\"x\": 1}}", "usage"),
            ("[]", "not a recorded request"),
        ] {
            let error = read_row(&Arc::from("f"), 3, text).unwrap_err().to_string();
            assert!(error.contains("line 3") && error.contains(word), "{text}: {error}");
        }
    }
}
