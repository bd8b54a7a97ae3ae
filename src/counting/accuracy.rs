//! How far counts are from bills, measured on recorded requests: computed by [`measure`], and kept
//! as a table of the program for every report to state.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::calibrate::{Class, Half, RowResult, calibrate};
use super::correction::Corrections;
use super::request::Exactness;
use super::rows::Row;
use super::statistics::Statistics;
use crate::provider::Provider;
use crate::tokens::{TokenizerSpec, Vocabulary};

/// The table that is part of the program.
const TABLE: &str = include_str!("accuracy.toml");

/// The word for all classes together.
const ALL: &str = "all";

/// Errors of one tokenizer on one kind of request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What counted.
    pub tokenizer: String,
    /// The family of the models that billed.
    pub family: String,
    /// What the requests have beside text, or `all`.
    pub class: String,
    /// `fit` or `report`.
    pub half: String,
    /// Number of requests.
    pub rows: u64,
    /// Counted to the token.
    pub exact: u64,
    /// Off by at most one token.
    pub within_one: u64,
    /// Bills that lie in the stated interval.
    pub inside: u64,
    /// Median error in millionths of the bill.
    pub median_ppm: u64,
    /// 95th percentile.
    pub p95_ppm: u64,
    /// Largest error.
    pub worst_ppm: u64,
    /// Largest error in tokens.
    pub worst_tokens: u64,
}

/// What recorded requests say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// Errors by tokenizer, family, class and half.
    pub measured: Vec<Measured>,
    /// Requests counted by their model's own family, in order.
    pub rows: Vec<RowResult>,
    /// What the fit half says corrects the families' own counts.
    pub corrections: Corrections,
}

impl Accuracy {
    /// Requests whose class is modelled and whose bill is not met by more than one token.
    pub fn unexplained(&self) -> impl Iterator<Item = &RowResult> {
        self.rows.iter().filter(|row| row.class.is_modelled() && row.error().abs() > 1)
    }

    /// Corrections of classes that rules are known for; there should be none.
    pub fn corrections_of_rules(&self) -> usize {
        let modelled = Class::ALL.into_iter().filter(|class| class.is_modelled());
        let names: Vec<&str> = modelled.map(Class::as_str).collect();
        let all = self.corrections.corrections.iter();
        all.filter(|entry| names.contains(&entry.class.as_str())).count()
    }

    /// Counts that are labelled exact, and how many of them are within one token.
    pub fn labelled_exact(&self) -> (u64, u64) {
        let exact = self.rows.iter().filter(|row| row.exactness == Exactness::Exact);
        exact.fold((0, 0), |(all, close), row| (all + 1, close + u64::from(row.error().abs() <= 1)))
    }

    /// The table as it stands in the program.
    pub fn to_text(&self) -> String {
        #[derive(Serialize)]
        struct File<'a> {
            measured: &'a [Measured],
        }
        let table = toml::to_string(&File { measured: &self.measured }).unwrap_or_default();
        format!("# Made by `forkcost verify --measured`; a test compares it.\n\n{table}")
    }
}

/// Counts recorded requests by their models' own families and, beside them, by the public
/// vocabularies.
pub fn measure(rows: &[Row], provider: &dyn Provider) -> Accuracy {
    let own = calibrate(rows, provider, None, true);
    let mut measured = Vec::new();
    for judged in own.judged.iter().filter(|judged| judged.model.is_empty()) {
        let name = judged.tokenizer.to_string();
        let class = judged.class.as_str();
        measured.push(entry(&name, &name, class, judged.half, &judged.errors));
    }
    for vocabulary in [Vocabulary::O200k, Vocabulary::Cl100k] {
        let spec = TokenizerSpec::exact(vocabulary);
        let other = calibrate(rows, provider, Some(spec), true);
        let mut families: BTreeMap<String, Vec<&RowResult>> = BTreeMap::new();
        // What a request holds is told by the family's own count; a public one sees texts alone.
        let kinds: HashMap<(&str, u64), Class> =
            own.rows.iter().map(|row| ((&*row.file, row.line), row.class)).collect();
        let judged = |row: &&RowResult| {
            let kind = kinds.get(&(&*row.file, row.line));
            row.half == Half::Report && kind.is_some_and(|class| class.is_modelled())
        };
        for row in other.rows.iter().filter(judged) {
            if let Some(family) = provider.tokenizer_for(&row.model) {
                families.entry(family.to_string()).or_default().push(row);
            }
        }
        for (family, rows) in families {
            let errors = Statistics::of_rows(&rows);
            measured.push(entry(&spec.to_string(), &family, ALL, Half::Report, &errors));
        }
    }
    Accuracy { measured, rows: own.rows, corrections: own.corrections }
}

fn entry(tokenizer: &str, family: &str, class: &str, half: Half, errors: &Statistics) -> Measured {
    Measured {
        tokenizer: tokenizer.to_owned(),
        family: family.to_owned(),
        class: class.to_owned(),
        half: half.as_str().to_owned(),
        rows: errors.rows,
        exact: errors.exact,
        within_one: errors.within_one,
        inside: errors.inside,
        median_ppm: errors.median_ppm,
        p95_ppm: errors.p95_ppm,
        worst_ppm: errors.worst_ppm,
        worst_tokens: errors.worst_tokens,
    }
}

/// The table of the program; empty, if it does not parse, which a test rules out.
pub fn measured() -> &'static [Measured] {
    #[derive(Default, Deserialize)]
    struct File {
        measured: Vec<Measured>,
    }
    static TABLE_READ: LazyLock<Vec<Measured>> =
        LazyLock::new(|| toml::from_str::<File>(TABLE).unwrap_or_default().measured);
    &TABLE_READ
}

/// Share of recorded requests within one token from which a kind of request counts as exact, in per
/// cent, and the fewest requests that show it.
const EXACT_PERCENT_MIN: u64 = 98;
const EXACT_ROWS_MIN: u64 = 20;

/// Whether a family's counts of requests of that class meet nearly all recorded bills, of both
/// halves, within one token.
pub(super) fn is_measured_exact(tokenizer: TokenizerSpec, class: Class) -> bool {
    let name = tokenizer.to_string();
    let of_class = measured().iter().filter(|entry| {
        entry.tokenizer == name && entry.family == name && entry.class == class.as_str()
    });
    let (rows, close) =
        of_class.fold((0, 0), |(rows, close), entry| (rows + entry.rows, close + entry.within_one));
    rows >= EXACT_ROWS_MIN && close * 100 >= rows * EXACT_PERCENT_MIN
}

/// Whose counts these are beside those of the model that bills, and what was measured of them on
/// requests of that class, in a sentence without its end; `own` are the counts of the model's
/// family, where the model is known.
pub fn evidence(tokenizer: TokenizerSpec, own: Option<TokenizerSpec>, class: Class) -> String {
    let error = measured_error(tokenizer, &own.map_or(String::new(), |own| own.to_string()), class);
    let whose = match (own, tokenizer.claude_family(), tokenizer.is_scaled()) {
        (Some(own), _, _) if own == tokenizer => return error,
        (None, _, _) => "no known model is named",
        (Some(_), Some(_), false) => "counts of another family than the model's",
        (Some(_), Some(_), true) => "a family's counts times a factor",
        (Some(_), None, true) => "a scaled stand-in for the model's own tokenizer",
        (Some(_), None, false) => "counts of another vocabulary than the model's",
    };
    format!("{whose}; {error}")
}

/// What is measured of a tokenizer's counts of requests of that class to models of that family, in
/// a sentence without its end.
fn measured_error(tokenizer: TokenizerSpec, family: &str, class: Class) -> String {
    let plain = TokenizerSpec::exact(tokenizer.vocabulary).to_string();
    let known = |class: &str| {
        measured().iter().find(|entry| {
            entry.tokenizer == plain
                && entry.family == family
                && entry.class == class
                && entry.half == Half::Report.as_str()
        })
    };
    let Some(entry) = known(class.as_str()).or_else(|| known(ALL)) else {
        return "no error is measured on recorded requests".to_owned();
    };
    if tokenizer.is_scaled() {
        return format!(
            "without the factor the median error on {} recorded requests is {}",
            entry.rows,
            percent(entry.median_ppm)
        );
    }
    let what = match class {
        _ if entry.class == ALL => "",
        Class::Text => " of text",
        Class::Thinking => " with thinking",
        Class::OutputSchema => " with a schema",
        Class::Tools => " with tools",
        Class::ToolsAndSystem => " with tools and a system prompt",
        Class::Media => " with media",
        Class::Unmodelled => " with parts that no rule is known for",
    };
    let requests = if entry.rows == 1 { "request" } else { "requests" };
    format!(
        "on {} recorded {requests}{what} to models of {family}: {} within one token, median error \
         {}, 95th percentile {}",
        entry.rows,
        entry.within_one,
        percent(entry.median_ppm),
        percent(entry.p95_ppm)
    )
}

/// Millionths as per cent with at most two decimals.
pub fn percent(ppm: u64) -> String {
    let hundredths = (ppm + 50) / 100;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_program_is_read_and_sound() {
        assert!(!measured().is_empty());
        for entry in measured() {
            assert!(TokenizerSpec::parse(&entry.tokenizer).is_ok(), "{entry:?}");
            assert!(entry.exact <= entry.within_one && entry.within_one <= entry.rows, "{entry:?}");
            assert!(entry.median_ppm <= entry.p95_ppm, "{entry:?}");
            assert!(entry.p95_ppm <= entry.worst_ppm, "{entry:?}");
        }
        let v3 = TokenizerSpec::parse("claude-v3").unwrap();
        let text = measured_error(v3, "claude-v3", Class::Text);
        assert!(text.contains("recorded requests of text to models of claude-v3"), "{text}");
        let other =
            measured_error(TokenizerSpec::parse("o200k_base").unwrap(), "claude-v3", Class::Text);
        assert!(other.contains("recorded requests to models"), "{other}");
        let none = measured_error(TokenizerSpec::parse("claude-v4.7").unwrap(), "x", Class::Text);
        assert!(none.contains("no error is measured"), "{none}");
    }

    #[test]
    fn per_cent_has_two_decimals_at_most() {
        let texts = [0, 49, 50, 5_000, 12_345, 1_000_000].map(percent);
        assert_eq!(texts, ["0 %", "0 %", "0.01 %", "0.5 %", "1.23 %", "100 %"]);
    }
}
