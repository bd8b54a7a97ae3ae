//! Recorded requests, counted and held to their bills.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::correction::{Corrections, fit};
use super::request::{Exactness, count_request};
use super::rows::{Row, Skipped};
use super::statistics::{Error, Statistics};
use crate::measure::TokenizedPrompt;
use crate::provider::{Provider, find_model};
use crate::request::{Extra, ExtraKind, Section};
use crate::tokens::TokenizerSpec;

/// What a request has beside text, which decides how its tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Text, in messages and a system prompt.
    Text,
    /// Thinking is switched on.
    Thinking,
    /// The answer has a schema.
    OutputSchema,
    /// Tools without a system prompt.
    Tools,
    /// Tools and a system prompt.
    ToolsAndSystem,
    /// Images or documents.
    Media,
    /// Something that no rule is known for.
    Unmodelled,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 7] = [
        Class::Text,
        Class::Thinking,
        Class::OutputSchema,
        Class::Tools,
        Class::ToolsAndSystem,
        Class::Media,
        Class::Unmodelled,
    ];

    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Text => "text",
            Class::Thinking => "thinking",
            Class::OutputSchema => "output_schema",
            Class::Tools => "tools",
            Class::ToolsAndSystem => "tools_and_system",
            Class::Media => "media",
            Class::Unmodelled => "unmodelled",
        }
    }

    /// Whether rules are known for all that such requests hold.
    pub fn is_modelled(self) -> bool {
        match self {
            Class::Text
            | Class::Thinking
            | Class::OutputSchema
            | Class::Tools
            | Class::ToolsAndSystem => true,
            Class::Media | Class::Unmodelled => false,
        }
    }

    /// The class of a request with these extras.
    fn of<'a>(
        extras: impl Iterator<Item = &'a Extra>,
        has_tools: bool,
        has_system: bool,
        unmodelled: &[String],
    ) -> Class {
        let kinds: BTreeSet<ExtraKind> = extras.map(|extra| extra.kind).collect();
        if !unmodelled.is_empty() || kinds.contains(&ExtraKind::Unknown) {
            Class::Unmodelled
        } else if kinds.contains(&ExtraKind::Image) || kinds.contains(&ExtraKind::Document) {
            Class::Media
        } else if has_tools && has_system {
            Class::ToolsAndSystem
        } else if has_tools {
            Class::Tools
        } else if kinds.contains(&ExtraKind::OutputSchema) {
            Class::OutputSchema
        } else if kinds.contains(&ExtraKind::Thinking) {
            Class::Thinking
        } else {
            Class::Text
        }
    }
}

/// The class of a prompt.
pub fn class_of(prompt: &TokenizedPrompt) -> Class {
    let has = |section| prompt.blocks().any(|(block, _)| block.section == section);
    Class::of(prompt.extras(), has(Section::Tools), has(Section::System), prompt.unmodelled())
}

/// The half of the recordings that a request belongs to: what is fitted is fitted on one and judged
/// on the other, so that no recording stands in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// Corrections are fitted on it.
    Fit,
    /// Errors are reported on it.
    Report,
    /// Nothing is kept apart: what is fitted is judged on the same requests.
    All,
}

impl Half {
    /// The half of a recording, by its name.
    pub fn of(recording: &str) -> Half {
        let hash = blake3::hash(recording.as_bytes());
        if hash.as_bytes()[0] & 1 == 0 { Half::Fit } else { Half::Report }
    }

    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Half::Fit => "fit",
            Half::Report => "report",
            Half::All => "all",
        }
    }
}

/// One request, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowResult {
    /// The file that it stands in.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u64,
    /// Its name.
    pub id: String,
    /// The model, by its name in the price list where it is there.
    pub model: String,
    /// What counted.
    pub tokenizer: TokenizerSpec,
    /// What it has beside text.
    pub class: Class,
    /// The half that it belongs to.
    pub half: Half,
    /// How sure the count is.
    pub exactness: Exactness,
    /// Billed input tokens.
    pub billed: u64,
    /// Counted tokens.
    pub counted: u64,
    /// The fewest and the most by what is known.
    pub between: (u64, u64),
    /// Counted tokens after the corrections of the fit half.
    pub corrected: u64,
    /// What no rule of counting is known for.
    pub unmodelled: Vec<String>,
}

impl RowResult {
    /// Counted less billed.
    pub fn error(&self) -> i64 {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        signed(self.counted) - signed(self.billed)
    }

    pub(super) fn of_count(&self) -> Error {
        Error { counted: self.counted, billed: self.billed, between: self.between }
    }

    fn of_corrected(&self) -> Error {
        Error { counted: self.corrected, ..self.of_count() }
    }
}

/// Errors of one group of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The model; empty for all models of a tokenizer.
    pub model: String,
    /// What counted.
    pub tokenizer: TokenizerSpec,
    /// What the requests have beside text.
    pub class: Class,
    /// The half that they belong to.
    pub half: Half,
    /// Their errors.
    pub errors: Statistics,
    /// Their errors after the corrections of the fit half.
    pub corrected: Statistics,
}

/// What recorded requests say of the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    /// The requests, in order.
    pub rows: Vec<RowResult>,
    /// Their errors by tokenizer and class, and by model, class by class.
    pub judged: Vec<Judged>,
    /// What the fit half says corrects the counts.
    pub corrections: Corrections,
    /// Why rows were left out, one each.
    pub skipped: Vec<Skipped>,
}

/// Counts every row and holds it to its bill, by the family of its model or by `tokenizer`. Rows to
/// models that are not known, and those whose request is none, are left out. `split` keeps a half
/// of the recordings for the report; else all rows are fitted and reported.
pub fn calibrate(
    rows: &[Row],
    provider: &dyn Provider,
    tokenizer: Option<TokenizerSpec>,
    split: bool,
) -> Calibration {
    let counted: Vec<Result<RowResult, Skipped>> =
        rows.par_iter().map(|row| judge(row, provider, tokenizer, split)).collect();
    let (mut rows, mut skipped) = (Vec::with_capacity(counted.len()), Vec::new());
    for row in counted {
        match row {
            Ok(row) => rows.push(row),
            Err(why) => skipped.push(why),
        }
    }
    let corrections = fit(rows.iter().filter(|row| row.half != Half::Report));
    for row in &mut rows {
        row.corrected = corrections.correct(&row.model, row.tokenizer, row.class, row.counted);
    }
    let judged = judged(&rows);
    Calibration { rows, judged, corrections, skipped }
}

fn judge(
    row: &Row,
    provider: &dyn Provider,
    tokenizer: Option<TokenizerSpec>,
    split: bool,
) -> Result<RowResult, Skipped> {
    let name = row.model.as_deref().ok_or(Skipped::UnknownModel)?;
    let facts = find_model(provider.facts(), name).ok();
    let family = provider.tokenizer_for(name).ok_or(Skipped::UnknownModel)?;
    let tokenizer = tokenizer.unwrap_or(family);
    let counted = count_request(&row.body, provider, tokenizer, Some(name), row.date)
        .map_err(|_| Skipped::NoRequest)?;
    let half = if split { Half::of(&row.recording) } else { Half::All };
    Ok(RowResult {
        file: row.file.clone(),
        line: row.line,
        id: row.id.clone(),
        model: facts.map_or_else(|| name.to_owned(), |facts| facts.id.clone()),
        tokenizer,
        class: counted.class,
        half,
        exactness: counted.exactness,
        billed: row.billed,
        counted: counted.total,
        between: counted.between,
        corrected: counted.total,
        unmodelled: counted.unmodelled,
    })
}

fn judged(rows: &[RowResult]) -> Vec<Judged> {
    type Key<'a> = (String, Half, Class, &'a str);
    let mut groups: BTreeMap<Key<'_>, Vec<&RowResult>> = BTreeMap::new();
    for row in rows {
        let tokenizer = row.tokenizer.to_string();
        for model in ["", &row.model] {
            let key = (tokenizer.clone(), row.half, row.class, model);
            groups.entry(key).or_default().push(row);
        }
    }
    let judged = groups.into_iter().filter_map(|((_, half, class, model), rows)| {
        let corrected: Vec<Error> = rows.iter().map(|row| row.of_corrected()).collect();
        Some(Judged {
            model: model.to_owned(),
            tokenizer: rows.first()?.tokenizer,
            class,
            half,
            errors: Statistics::of_rows(&rows),
            corrected: Statistics::of(&corrected),
        })
    });
    judged.collect()
}
