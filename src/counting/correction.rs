//! What recorded bills say corrects a count: a factor and a number of tokens, by model and class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accuracy::percent;
use super::calibrate::{Class, RowResult};
use super::statistics::{Error, Statistics};
use crate::tokens::{SCALE_MILLI_MAX, TokenizerSpec};

/// Fewest requests that a correction rests on.
const ROWS_MIN: usize = 3;

/// Rows of one model and class differ in size by at least this factor before a factor is fitted:
/// between requests of one size a factor cannot be told from a number of tokens.
const SPREAD_MIN: u64 = 2;

/// Most tokens that a correction adds or takes.
const TOKENS_MAX: u64 = 100_000;

/// A factor of one.
const UNIT_PPM: u64 = 1_000_000;

/// Smallest and largest factor.
const FACTOR_PPM: std::ops::RangeInclusive<u64> = 100_000..=10_000_000;

/// A table of corrections, as it stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corrections {
    /// Version of the format: 1.
    pub forkcost_calibration: u32,
    /// The corrections.
    #[serde(default)]
    pub corrections: Vec<Correction>,
}

/// One correction: counted tokens times a factor, and so many more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// The model, by its name in the price list.
    pub model: String,
    /// The tokenizer that it corrects, by [`TokenizerSpec::identity`].
    pub tokenizer: String,
    /// What requests have beside text.
    pub class: String,
    /// Factor in millionths.
    pub factor_ppm: u64,
    /// Tokens added after that.
    pub tokens: i64,
    /// Requests that it was fitted on.
    pub rows: u64,
    /// Their median error after it, in millionths.
    pub median_ppm: u64,
}

/// Why a file is no table of corrections, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct CorrectionError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong: the key, its value and what is allowed.
    pub message: String,
}

impl CorrectionError {
    fn at(text: &str, offset: usize, message: String) -> CorrectionError {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        CorrectionError {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().count(),
            message,
        }
    }
}

impl Corrections {
    /// Version of the format.
    pub const VERSION: u32 = 1;

    /// Reads a file.
    ///
    /// # Errors
    /// Where it has another shape or version, or names a tokenizer or class that does not exist, or
    /// a factor outside of 0.1 to 10.
    pub fn parse(text: &str) -> Result<Corrections, CorrectionError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            forkcost_calibration: toml::Spanned<u32>,
            #[serde(default)]
            corrections: Vec<toml::Spanned<Correction>>,
        }
        let wrong = |offset: usize, message: String| CorrectionError::at(text, offset, message);
        let read: File = toml::from_str(text).map_err(|error| {
            let message = format!("not a calibration: {}", error.message());
            wrong(error.span().map_or(0, |span| span.start), message)
        })?;
        let version = read.forkcost_calibration.get_ref();
        if *version != Corrections::VERSION {
            let message = format!(
                "forkcost_calibration is {version}; this program reads version {}",
                Corrections::VERSION
            );
            return Err(wrong(read.forkcost_calibration.span().start, message));
        }
        let mut corrections: Vec<Correction> = Vec::with_capacity(read.corrections.len());
        for entry in read.corrections {
            let start = entry.span().start;
            let entry = entry.into_inner();
            entry.check(&corrections).map_err(|message| wrong(start, message))?;
            corrections.push(entry);
        }
        Ok(Corrections { forkcost_calibration: Corrections::VERSION, corrections })
    }

    /// The table as a file.
    pub fn to_text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The correction of a model's requests of a class.
    pub fn find(&self, model: &str, tokenizer: TokenizerSpec, class: Class) -> Option<&Correction> {
        let name = tokenizer.identity();
        self.corrections.iter().find(|entry| {
            entry.model == model && entry.tokenizer == name && entry.class == class.as_str()
        })
    }

    /// A count, corrected; as it is where no correction is known.
    pub fn correct(
        &self,
        model: &str,
        tokenizer: TokenizerSpec,
        class: Class,
        counted: u64,
    ) -> u64 {
        self.find(model, tokenizer, class).map_or(counted, |entry| entry.apply(counted))
    }
}

impl Correction {
    /// The tokenizer times the factor, which a scale holds to thousandths.
    pub fn scaled(&self, tokenizer: TokenizerSpec) -> TokenizerSpec {
        let scale = u64::from(tokenizer.scale_milli) * self.factor_ppm;
        let scale_milli = u32::try_from((scale + 500_000) / 1_000_000).unwrap_or(SCALE_MILLI_MAX);
        TokenizerSpec { scale_milli: scale_milli.clamp(1, SCALE_MILLI_MAX), ..tokenizer }
    }

    /// What is wrong with it behind those before it.
    fn check(&self, before: &[Correction]) -> Result<(), String> {
        let Correction { tokenizer, class, tokens, factor_ppm, .. } = self;
        TokenizerSpec::check(tokenizer).map_err(|error| error.to_string())?;
        if !Class::ALL.iter().any(|known| known.as_str() == class) {
            let known = Class::ALL.map(Class::as_str).join(", ");
            return Err(format!("class = \"{class}\" does not exist; known are {known}"));
        }
        if tokens.unsigned_abs() > TOKENS_MAX {
            return Err(format!("tokens = {tokens} is not in -{TOKENS_MAX}..={TOKENS_MAX}"));
        }
        if !FACTOR_PPM.contains(factor_ppm) {
            return Err(format!("factor_ppm = {factor_ppm} is not in {FACTOR_PPM:?}"));
        }
        if before.iter().any(|other| other.key() == self.key()) {
            return Err("model, tokenizer and class stand in an earlier correction too".to_owned());
        }
        Ok(())
    }

    /// What it is of.
    fn key(&self) -> (&str, &str, &str) {
        (&self.model, &self.tokenizer, &self.class)
    }

    /// What is corrected, `tokens` of it, and what that rests on, without an end.
    pub fn sentence(&self, tokens: i64) -> String {
        let factor = match self.factor_ppm {
            1_000_000 => String::new(),
            ppm => format!("times {}.{:03} and ", ppm / 1_000_000, ppm % 1_000_000 / 1_000),
        };
        format!(
            "corrected, {factor}{:+} tokens a request, as {} recorded requests say, whose median \
             error is then {}",
            tokens,
            self.rows,
            percent(self.median_ppm)
        )
    }

    /// A count, corrected; halves rounded up.
    pub fn apply(&self, counted: u64) -> u64 {
        let scaled = (u128::from(counted) * u128::from(self.factor_ppm) + 500_000) / 1_000_000;
        u64::try_from(scaled).unwrap_or(u64::MAX).saturating_add_signed(self.tokens)
    }
}

/// Corrections of the rows, by model and class. Where sizes differ enough a factor is fitted (the
/// median of the ratios), then tokens (the median of what is left); what does not at least halve
/// the median error, or makes the 95th percentile larger, is left out.
pub(super) fn fit<'a>(rows: impl Iterator<Item = &'a RowResult>) -> Corrections {
    type Key<'a> = (&'a str, String, Class);
    let mut groups: BTreeMap<Key<'_>, Vec<(u64, u64)>> = BTreeMap::new();
    for row in rows {
        let key = (row.model.as_str(), row.tokenizer.identity(), row.class);
        groups.entry(key).or_default().push((row.counted, row.billed));
    }
    let fitted = groups.into_iter().filter_map(|((model, tokenizer, class), pairs)| {
        let (model, class) = (model.to_owned(), class.as_str().to_owned());
        Some(Correction { model, tokenizer, class, ..best(&pairs)? })
    });
    let corrections = fitted.collect();
    Corrections { forkcost_calibration: Corrections::VERSION, corrections }
}

/// The best correction of pairs of counted and billed tokens, where one is worth it.
fn best(pairs: &[(u64, u64)]) -> Option<Correction> {
    if pairs.len() < ROWS_MIN {
        return None;
    }
    let sizes = || pairs.iter().map(|(counted, _)| (*counted).max(1));
    let spread = sizes().max().unwrap_or(1) / sizes().min().unwrap_or(1);
    let nothing = Candidate::new(UNIT_PPM, 0, pairs);
    let factor = if spread >= SPREAD_MIN { median_ratio(pairs) } else { UNIT_PPM };
    let mut best = nothing.clone();
    for factor_ppm in [UNIT_PPM, factor] {
        let alone = Candidate::new(factor_ppm, 0, pairs);
        let tokens = alone.median_left(pairs);
        for candidate in [alone, Candidate::new(factor_ppm, tokens, pairs)] {
            let is_allowed = candidate.correction.tokens.unsigned_abs() <= TOKENS_MAX;
            if is_allowed && candidate.errors.median_ppm < best.errors.median_ppm {
                best = candidate;
            }
        }
    }
    let halves = best.errors.median_ppm * 2 <= nothing.errors.median_ppm;
    let is_worth_it = nothing.errors.median_ppm > 0 && halves;
    (is_worth_it && best.errors.p95_ppm <= nothing.errors.p95_ppm).then_some(best.correction)
}

/// A correction that may be the best, and the errors after it.
#[derive(Clone)]
struct Candidate {
    correction: Correction,
    errors: Statistics,
}

impl Candidate {
    fn new(factor_ppm: u64, tokens: i64, pairs: &[(u64, u64)]) -> Candidate {
        let mut correction = Correction {
            model: String::new(),
            tokenizer: String::new(),
            class: String::new(),
            factor_ppm,
            tokens,
            rows: pairs.len() as u64,
            median_ppm: 0,
        };
        let errors = pairs.iter().map(|(counted, billed)| {
            let counted = correction.apply(*counted);
            Error { counted, billed: *billed, between: (counted, counted) }
        });
        let errors = Statistics::of(&errors.collect::<Vec<_>>());
        correction.median_ppm = errors.median_ppm;
        Candidate { correction, errors }
    }

    /// The median of what the bills have more.
    fn median_left(&self, pairs: &[(u64, u64)]) -> i64 {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        let left = |(counted, billed): &(u64, u64)| {
            signed(*billed) - signed(self.correction.apply(*counted))
        };
        median(pairs.iter().map(left).collect())
    }
}

fn median_ratio(pairs: &[(u64, u64)]) -> u64 {
    let ratios = pairs.iter().map(|(counted, billed)| {
        let ratio = u128::from(*billed) * 1_000_000 / u128::from((*counted).max(1));
        u64::try_from(ratio).unwrap_or(u64::MAX)
    });
    median(ratios.collect()).clamp(*FACTOR_PPM.start(), *FACTOR_PPM.end())
}

/// The lower of the two in the middle; the default of nothing.
fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::calibrate::Half;
    use super::super::request::Exactness;
    use super::*;

    fn rows(pairs: &[(u64, u64)]) -> Vec<RowResult> {
        let row = |(counted, billed): &(u64, u64)| RowResult {
            file: "f".into(),
            line: 1,
            id: String::new(),
            model: "m".to_owned(),
            tokenizer: TokenizerSpec::parse("o200k_base").unwrap(),
            class: Class::Text,
            half: Half::Fit,
            exactness: Exactness::Estimated,
            billed: *billed,
            counted: *counted,
            between: (*counted, *counted),
            corrected: *counted,
            unmodelled: Vec::new(),
        };
        pairs.iter().map(row).collect()
    }

    #[test]
    fn a_factor_and_tokens_are_found_and_applied() {
        // 1.5 times and 7 more: the ratio's median is of the middle row, tokens take the rest.
        let rows = rows(&[(1_000, 1_507), (2_000, 3_007), (10_000, 15_007)]);
        let fitted = fit(rows.iter());
        let entry = &fitted.corrections[0];
        assert_eq!((entry.factor_ppm, entry.rows), (1_503_500, 3));
        for row in &rows {
            let corrected = entry.apply(row.counted);
            assert!(corrected.abs_diff(row.billed) * 500 < row.billed, "{corrected}");
        }
        assert_eq!(Corrections::parse(&fitted.to_text()), Ok(fitted));
    }

    #[test]
    fn tokens_alone_where_sizes_are_alike_and_nothing_where_nothing_helps() {
        let same = fit(rows(&[(1_000, 1_183), (1_010, 1_193), (1_020, 1_203)]).iter());
        let entry = &same.corrections[0];
        assert_eq!((entry.factor_ppm, entry.tokens, entry.median_ppm), (1_000_000, 183, 0));
        assert!(fit(rows(&[(5, 5), (6, 6), (700, 700)]).iter()).corrections.is_empty());
        assert!(fit(rows(&[(5, 9), (6, 10)]).iter()).corrections.is_empty());
    }

    #[test]
    fn a_file_that_is_none_is_refused_by_its_fault() {
        let entry = |tokenizer: &str, class: &str, factor: u64| {
            format!(
                "forkcost_calibration = 1\n[[corrections]]\nmodel = \"m\"\nrows = 3\ntokens = 0\n\
                 median_ppm = 0\ntokenizer = \"{tokenizer}\"\nclass = \"{class}\"\n\
                 factor_ppm = {factor}\n"
            )
        };
        assert!(Corrections::parse(&entry("o200k_base", "text", 1_000_000)).is_ok());
        for (text, word) in [
            ("forkcost_calibration = 2".to_owned(), "1:24: forkcost_calibration is 2"),
            ("forkcost_calibration = 1\nx = 1".to_owned(), "2:1: not a calibration"),
            (entry("gpt2", "text", 1_000_000), "2:1: tokenizer `gpt2`"),
            (
                entry("o200k_base", "words", 1_000_000),
                "class = \"words\" does not exist; known are text",
            ),
            (entry("o200k_base", "text", 1), "factor_ppm = 1 is not in 100000..=10000000"),
        ] {
            let error = Corrections::parse(&text).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
