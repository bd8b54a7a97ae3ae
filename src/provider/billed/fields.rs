//! A JSON object whose counts are checked as they are read.

use serde_json::{Map, Number, Value};

use crate::provider::billed::{COUNT_MAX, NumberFault, UsageError, UsageWarning};
use crate::units::Tokens;

/// Longest value that an error quotes, in characters.
const QUOTED_MAX: usize = 40;

/// One object and where it stands.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Value>,
    /// Prefix of its keys in messages: empty, or e.g. `cache_creation.`.
    place: String,
}

impl<'a> Fields<'a> {
    /// The fields of `value`, whose keys stand behind `place`.
    pub(super) fn of(value: &'a Value, place: String) -> Result<Fields<'a>, UsageError> {
        match value.as_object() {
            Some(object) => Ok(Fields { object, place }),
            None => {
                let key = if place.is_empty() { "usage" } else { place.trim_end_matches('.') };
                Err(UsageError::NotAnObject { key: key.to_owned(), found: quoted(value) })
            }
        }
    }

    /// The names of all fields, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.object.keys().map(String::as_str)
    }

    /// Whether the field is there and not null.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The count of a field; `None` where it is absent or null.
    pub(super) fn count(&self, key: &str) -> Result<Option<Tokens>, UsageError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let fault = match value {
            Value::Number(number) => match number.as_u64() {
                Some(count) if count <= COUNT_MAX => return Ok(Some(Tokens(count))),
                Some(_) => NumberFault::TooLarge,
                None => fault_of(number),
            },
            _ => NumberFault::NotANumber,
        };
        Err(UsageError::Number { key: self.name(key), value: quoted(value), fault })
    }

    /// The count of a field, zero where it is absent.
    pub(super) fn count_or_zero(&self, key: &str) -> Result<Tokens, UsageError> {
        Ok(self.count(key)?.unwrap_or_default())
    }

    /// The object in a field.
    pub(super) fn object(&self, key: &str) -> Result<Option<Fields<'a>>, UsageError> {
        self.value(key).map(|value| Fields::of(value, format!("{}.", self.name(key)))).transpose()
    }

    /// The objects in a list; none where the field is absent.
    pub(super) fn list(&self, key: &str) -> Result<Vec<Fields<'a>>, UsageError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let Some(items) = value.as_array() else {
            return Err(UsageError::NotAList { key: self.name(key), found: quoted(value) });
        };
        let place = |index: usize| format!("{}[{index}].", self.name(key));
        items.iter().enumerate().map(|(index, item)| Fields::of(item, place(index))).collect()
    }

    /// The text of a field.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key).and_then(Value::as_str)
    }

    /// Whether a field holds a number of any kind.
    pub(super) fn is_number(&self, key: &str) -> bool {
        self.value(key).is_some_and(Value::is_number)
    }

    /// A whole number, `None` where the field holds anything else.
    pub(super) fn whole(&self, key: &str) -> Option<u64> {
        self.value(key).and_then(Value::as_u64)
    }

    /// The value of a field as JSON, shortened, for a message.
    pub(super) fn quoted(&self, key: &str) -> String {
        self.value(key).map_or_else(|| "absent".to_owned(), quoted)
    }

    /// The field's name with its place.
    pub(super) fn name(&self, key: &str) -> String {
        format!("{}{key}", self.place)
    }

    fn value(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }
}

/// The first of several counts that are there; where another differs, a warning says so.
pub(super) fn first_of(
    counts: &[(&Fields<'_>, &str)],
    warnings: &mut Vec<UsageWarning>,
) -> Result<Option<Tokens>, UsageError> {
    let mut first: Option<(String, Tokens)> = None;
    for (fields, key) in counts {
        let Some(count) = fields.count(key)? else { continue };
        match &first {
            None => first = Some((fields.name(key), count)),
            Some((_, taken)) if *taken == count => {}
            Some((name, taken)) => warnings.push(UsageWarning::Disagree {
                key: name.clone(),
                taken: *taken,
                other: fields.name(key),
                left: count,
            }),
        }
    }
    Ok(first.map(|(_, count)| count))
}

/// What is wrong with a number that is no count; told by its text, so that no float is compared.
fn fault_of(number: &Number) -> NumberFault {
    let text = number.to_string();
    if text.starts_with('-') {
        NumberFault::Negative
    } else if text.contains('e') && !text.contains("e-") {
        // Past what 64 bits hold a whole number becomes a float.
        NumberFault::TooLarge
    } else {
        NumberFault::Fractional
    }
}

fn quoted(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= QUOTED_MAX {
        return text;
    }
    let start: String = text.chars().take(QUOTED_MAX).collect();
    format!("{start}…")
}
