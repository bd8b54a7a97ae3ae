//! Where each key of a scenario stands, for mistakes that show only when it is played.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics, code};
use super::source::{SourceText, Sources, Span};
use super::tree::{Table, Value};

/// The place of every key, by its dotted name.
#[derive(Clone, Debug, Default)]
pub struct Places {
    keys: BTreeMap<String, Place>,
}

#[derive(Clone, Debug)]
struct Place {
    source: Arc<SourceText>,
    span: Span,
    value: String,
}

impl Places {
    /// The places of all keys of a tree, `--set` included.
    pub(super) fn of(table: &Table, sources: &Sources) -> Places {
        let mut places = Places::default();
        places.add(table, "", sources);
        places
    }

    fn add(&mut self, table: &Table, above: &str, sources: &Sources) {
        for entry in &table.entries {
            let key = format!("{above}{}", entry.key);
            if let Value::Table(inner) = &entry.node.value {
                self.add(inner, &format!("{key}."), sources);
            }
            if let Some((source, span)) = sources.locate(&entry.node.span) {
                let value = sources.excerpt(&entry.node.span);
                self.keys.insert(key, Place { source, span, value });
            }
        }
    }

    /// The mistake `message` at `key`, or at the nearest table above it that stands in the text;
    /// `None` where none does.
    pub fn mistake(&self, key: &str, message: &str, help: &str) -> Option<Diagnostics> {
        let mut at = key;
        let place = loop {
            if let Some(place) = self.keys.get(at) {
                break place;
            }
            at = at.rsplit_once('.')?.0;
        };
        let (line, column) = place.source.line_column(place.span.start);
        Some(Diagnostics(vec![Diagnostic {
            code: code::NOT_PLAYABLE,
            source: Arc::clone(&place.source),
            span: place.span.clone(),
            line,
            column,
            key: Some(at.to_owned()),
            value: Some(place.value.clone()),
            message: message.to_owned(),
            help: help.to_owned(),
        }]))
    }
}
