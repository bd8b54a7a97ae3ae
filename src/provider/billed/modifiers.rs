//! What a usage object states beside its tokens that changes what they cost.

use std::fmt;

use crate::provider::billed::fields::Fields;

/// Fields that name another price than the standard one, and the values that do not.
const MODIFIERS: [(&str, &[&str]); 5] = [
    ("service_tier", &["standard", "default", "auto", ""]),
    ("serviceTier", &["standard", "default", "auto", ""]),
    ("speed", &["standard", ""]),
    ("inference_geo", &["global", "not_available", ""]),
    ("inferenceGeo", &["global", "not_available", ""]),
];

/// A statement that is not part of the price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpriced {
    /// The tokens have another price than the standard one.
    Modifier {
        /// The field.
        key: String,
        /// Its value as JSON, shortened.
        value: String,
    },
    /// Uses of a tool that the provider runs.
    Tool {
        /// The field.
        key: String,
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Unpriced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unpriced::Modifier { key, value } => {
                write!(f, "`{key}` is {value}: the standard price is used, not the one for that")
            }
            Unpriced::Tool { key, count } => {
                write!(f, "`{key}` is {count}: what they cost beside their tokens is not priced")
            }
        }
    }
}

/// Every such statement of an object and of its iterations.
pub(super) fn of(fields: &Fields<'_>) -> Vec<Unpriced> {
    let mut found = Vec::new();
    of_one(fields, &mut found);
    for iteration in fields.list("iterations").into_iter().flatten() {
        of_one(&iteration, &mut found);
    }
    found
}

fn of_one(fields: &Fields<'_>, found: &mut Vec<Unpriced>) {
    for (key, standard) in MODIFIERS {
        let other = fields.text(key).filter(|value| !standard.contains(value));
        if other.is_some() {
            let (key, value) = (fields.name(key), fields.quoted(key));
            found.push(Unpriced::Modifier { key, value });
        }
    }
    if let Ok(Some(tools)) = fields.object("server_tool_use") {
        for key in tools.keys() {
            if let Some(count) = tools.whole(key).filter(|count| *count > 0) {
                found.push(Unpriced::Tool { key: tools.name(key), count });
            }
        }
    }
}
