//! Usages from words and from JSON text.

use serde_json::{Map, Value};

use super::error::{QuoteError, at};
use super::numbers::parse_count;
use super::rates::Listed;
use crate::provider::{BilledUsage, UsageStyle};
use crate::units::Tokens;

/// One usage to be priced.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where it stands, for messages: `rows.jsonl:3`; empty for what was typed.
    pub place: String,
    /// Its number: the line of a file, the item of a list, or 1.
    pub number: usize,
    /// The model that the row names.
    pub model: Option<String>,
    /// What was billed.
    pub billed: BilledUsage,
    /// The usage object where its iterations name models and the row names none: which of them
    /// are the row's depends on the model that prices it.
    unresolved: Option<Value>,
}

impl Row {
    /// The row as one of `model`, where nothing else says whose it is.
    ///
    /// # Errors
    /// Where its iterations add up to more than is counted.
    pub(super) fn of_model(&self, model: Option<&str>) -> Result<Row, QuoteError> {
        let names = |value: &Value, id: &str| {
            let is_id = |name| Listed::find(name, None).is_ok_and(|own| own.model.id == id);
            iteration_models(value).any(is_id)
        };
        let (Some(model), Some(value)) = (model, &self.unresolved) else { return Ok(self.clone()) };
        if !names(value, model) {
            return Ok(self.clone());
        }
        let billed = read(&self.place, value, Some(self.billed.style), Some(model))?;
        Ok(Row { billed, ..self.clone() })
    }
}

/// The models that the iterations of a usage object name.
fn iteration_models(usage: &Value) -> impl Iterator<Item = &str> {
    let iterations = usage.get("iterations").and_then(Value::as_array);
    iterations.into_iter().flatten().filter_map(|one| one.get("model").and_then(Value::as_str))
}

/// Reads a usage object of a row at `place`.
fn read(
    place: &str,
    value: &Value,
    style: Option<UsageStyle>,
    model: Option<&str>,
) -> Result<BilledUsage, QuoteError> {
    BilledUsage::of_call(value, style, model).map_err(|error| {
        usage(at(place, &format!("failed to read the usage: {error}")), USAGE_HELP.to_owned())
    })
}

/// Every usage of an input.
#[derive(Debug, Default)]
pub struct Input {
    /// Usages in their order.
    pub rows: Vec<Row>,
    /// Rows whose `usage` is null: calls without an answer.
    pub without_usage: usize,
}

/// What a usage is, for whoever gave something else.
pub const USAGE_HELP: &str = "a usage is a JSON object as a provider answers it, a file of it \
     or of such lines, `-`, or words such as input=3 write_5m=12304 output=550";

/// Whether an argument is a `key=value` word of a usage, and not its JSON.
pub fn is_word(word: &str) -> bool {
    word.contains('=') && !is_json(word)
}

/// Whether a text is meant as JSON.
pub fn is_json(text: &str) -> bool {
    text.starts_with(['{', '['])
}

/// Reads one usage from `key=value` words, which are the plain form.
///
/// # Errors
/// Where they name no usage, or `style` is another one.
pub fn read_words(words: &[String], style: Option<UsageStyle>) -> Result<Input, QuoteError> {
    Reader { name: "", style }.words(words)
}

/// Reads every usage of a text: one JSON value, a list of them, or one a line. `name` is the
/// file's, for messages; empty for what was typed.
///
/// # Errors
/// Where the text holds no usage, or one that cannot be read, with its file and line.
pub fn read_text(name: &str, text: &str, style: Option<UsageStyle>) -> Result<Input, QuoteError> {
    Reader { name, style }.document(text)
}

fn usage(message: String, help: String) -> QuoteError {
    QuoteError::Usage { message, help }
}

/// Reads one text.
struct Reader<'a> {
    /// The file's name; empty for what was typed.
    name: &'a str,
    style: Option<UsageStyle>,
}

impl Reader<'_> {
    /// `key=value` words, which are the plain form.
    fn words(&self, words: &[String]) -> Result<Input, QuoteError> {
        if let Some(style) = self.style.filter(|style| *style != UsageStyle::Plain) {
            return Err(usage(
                format!("--style {style} is for JSON; key=value words are always plain"),
                "leave --style out, or give the provider's object as JSON".to_owned(),
            ));
        }
        let mut object = Map::new();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let known = UsageStyle::Plain.keys();
            let count = match parse_count(value) {
                Ok(count) => count,
                Err(fault) if known.contains(&key) => {
                    let help = "counts are whole numbers, with k or M for thousands and millions";
                    return Err(usage(format!("{key}={value}: {fault}"), help.to_owned()));
                }
                // The unknown key is the first thing to say.
                Err(_) => Tokens::ZERO,
            };
            if object.insert(key.to_owned(), Value::from(count.0)).is_some() {
                return Err(usage(format!("`{key}` is given twice"), "give it once".to_owned()));
            }
        }
        let billed = read("", &Value::Object(object), Some(UsageStyle::Plain), None)?;
        let row = Row { place: String::new(), number: 1, model: None, billed, unresolved: None };
        Ok(Input { rows: vec![row], without_usage: 0 })
    }

    /// One JSON value, or one a line.
    fn document(&self, text: &str) -> Result<Input, QuoteError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            let name = if self.name.is_empty() { "the usage" } else { self.name };
            return Err(usage(format!("{name} is empty"), USAGE_HELP.to_owned()));
        }
        let mut input = Input::default();
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let place = format!("{}[{index}]", self.name);
                    self.row(place, index + 1, item, &mut input)?;
                }
            }
            Ok(value) => self.row(self.name.to_owned(), 1, &value, &mut input)?,
            Err(_) if is_lines(text) => self.lines(text, &mut input)?,
            Err(error) => return Err(self.not_json(0, &error)),
        }
        if input.rows.is_empty() {
            let name = if self.name.is_empty() { "the list" } else { self.name };
            return Err(usage(format!("{name} holds no usage"), USAGE_HELP.to_owned()));
        }
        Ok(input)
    }

    fn lines(&self, text: &str, input: &mut Input) -> Result<(), QuoteError> {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value = serde_json::from_str(line).map_err(|error| self.not_json(index, &error))?;
            let name = if self.name.is_empty() { "line" } else { self.name };
            self.row(format!("{name}:{}", index + 1), index + 1, &value, input)?;
        }
        Ok(())
    }

    /// A usage, or a row that has one as its member.
    fn row(
        &self,
        place: String,
        number: usize,
        value: &Value,
        input: &mut Input,
    ) -> Result<(), QuoteError> {
        let member = value.as_object().and_then(|object| object.get("usage"));
        if member.is_some_and(Value::is_null) {
            input.without_usage += 1;
            return Ok(());
        }
        let model = member.and_then(|_| value.get("model")).and_then(Value::as_str);
        let usage = member.unwrap_or(value);
        let billed = read(&place, usage, self.style, model)?;
        let is_unresolved = model.is_none() && iteration_models(usage).next().is_some();
        let unresolved = is_unresolved.then(|| usage.clone());
        let model = model.map(str::to_owned);
        input.rows.push(Row { place, number, model, billed, unresolved });
        Ok(())
    }

    /// A text that is no JSON, `lines` lines below the start of the file.
    fn not_json(&self, lines: usize, error: &serde_json::Error) -> QuoteError {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        let (line, column) = (lines + error.line(), error.column());
        let name = if self.name.is_empty() { "the usage" } else { self.name };
        usage(format!("{name}:{line}:{column}: not JSON: {reason}"), USAGE_HELP.to_owned())
    }
}

/// Whether a text that is no JSON as a whole is one value a line: a line that is not indented is an
/// object by itself.
fn is_lines(text: &str) -> bool {
    text.trim().contains('\n')
        && text.lines().any(|line| {
            line.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
        })
}
