//! What recorded bills say corrects a count: a factor and a number of tokens, by model and class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accuracy::percent;
use super::calibrate::{Class, RowResult};
use crate::tokens::{SCALE_MILLI_MAX, TokenizerSpec};

/// Fewest requests that a correction rests on.
const ROWS_MIN: usize = 3;

/// Rows of one model and class differ in size by at least this factor before a factor is fitted:
/// between requests of one size a factor cannot be told from a number of tokens.
const SPREAD_MIN: u64 = 2;

/// Most tokens that a correction adds or takes.
const TOKENS_MAX: u64 = 100_000;

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

/// Why a file is no table of corrections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorrectionError {
    /// It has another shape.
    #[error("not a calibration: {message}")]
    Shape {
        /// What the parser says.
        message: String,
    },
    /// It has another version.
    #[error("a calibration of version {found}; this program reads version 1")]
    Version {
        /// The version that it states.
        found: u32,
    },
    /// It has an entry that corrects nothing.
    #[error("correction {number}: {message}")]
    Entry {
        /// Number of the entry, from 1.
        number: usize,
        /// What is wrong with it.
        message: String,
    },
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
        let read: Corrections = toml::from_str(text)
            .map_err(|error| CorrectionError::Shape { message: error.message().to_owned() })?;
        if read.forkcost_calibration != Corrections::VERSION {
            return Err(CorrectionError::Version { found: read.forkcost_calibration });
        }
        for (index, entry) in read.corrections.iter().enumerate() {
            let wrong = |message: String| CorrectionError::Entry { number: index + 1, message };
            TokenizerSpec::check(&entry.tokenizer).map_err(|error| wrong(error.to_string()))?;
            if !Class::ALL.iter().any(|class| class.as_str() == entry.class) {
                let known = Class::ALL.map(Class::as_str).join(", ");
                let class = &entry.class;
                return Err(wrong(format!("class `{class}` does not exist; known are {known}")));
            }
            if entry.tokens.unsigned_abs() > TOKENS_MAX {
                let tokens = entry.tokens;
                return Err(wrong(format!(
                    "tokens {tokens} is not in -{TOKENS_MAX}..={TOKENS_MAX}"
                )));
            }
            let same = |other: &Correction| other.key() == entry.key();
            if read.corrections[..index].iter().any(same) {
                return Err(wrong(
                    "model, tokenizer and class stand in an earlier one too".to_owned(),
                ));
            }
            if !(100_000..=10_000_000).contains(&entry.factor_ppm) {
                let factor = entry.factor_ppm;
                return Err(wrong(format!("factor_ppm {factor} is not in 100000..=10000000")));
            }
        }
        Ok(read)
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
    let mut corrections = Vec::new();
    for ((model, tokenizer, class), pairs) in groups {
        if pairs.len() < ROWS_MIN {
            continue;
        }
        let sizes = || pairs.iter().map(|(counted, _)| (*counted).max(1));
        let spread = sizes().max().unwrap_or(1) / sizes().min().unwrap_or(1);
        let mut best = Candidate::new(1_000_000, 0, &pairs);
        let nothing = best;
        let factor = if spread >= SPREAD_MIN { median_ratio(&pairs) } else { 1_000_000 };
        for factor_ppm in [1_000_000, factor] {
            let alone = Candidate::new(factor_ppm, 0, &pairs);
            let tokens = alone.median_left(&pairs);
            for candidate in [alone, Candidate::new(factor_ppm, tokens, &pairs)] {
                if candidate.tokens.unsigned_abs() <= TOKENS_MAX
                    && candidate.median_ppm < best.median_ppm
                {
                    best = candidate;
                }
            }
        }
        if best.median_ppm * 2 <= nothing.median_ppm
            && nothing.median_ppm > 0
            && best.p95_ppm <= nothing.p95_ppm
        {
            corrections.push(Correction {
                model: model.to_owned(),
                tokenizer,
                class: class.as_str().to_owned(),
                factor_ppm: best.factor_ppm,
                tokens: best.tokens,
                rows: pairs.len() as u64,
                median_ppm: best.median_ppm,
            });
        }
    }
    Corrections { forkcost_calibration: Corrections::VERSION, corrections }
}

#[derive(Clone, Copy)]
struct Candidate {
    factor_ppm: u64,
    tokens: i64,
    median_ppm: u64,
    p95_ppm: u64,
}

impl Candidate {
    fn new(factor_ppm: u64, tokens: i64, pairs: &[(u64, u64)]) -> Candidate {
        let candidate = Candidate { factor_ppm, tokens, median_ppm: 0, p95_ppm: 0 };
        let errors = pairs.iter().map(|(counted, billed)| {
            let off = u128::from(candidate.apply(*counted).abs_diff(*billed));
            u64::try_from(off * 1_000_000 / u128::from((*billed).max(1))).unwrap_or(u64::MAX)
        });
        let mut errors: Vec<u64> = errors.collect();
        errors.sort_unstable();
        let p95 = (errors.len() * 95).div_ceil(100).max(1) - 1;
        let p95_ppm = errors.get(p95).copied().unwrap_or_default();
        Candidate { median_ppm: median(errors), p95_ppm, ..candidate }
    }

    fn apply(self, counted: u64) -> u64 {
        let correction = Correction {
            model: String::new(),
            tokenizer: String::new(),
            class: String::new(),
            factor_ppm: self.factor_ppm,
            tokens: self.tokens,
            rows: 0,
            median_ppm: 0,
        };
        correction.apply(counted)
    }

    /// The median of what the bills have more.
    fn median_left(self, pairs: &[(u64, u64)]) -> i64 {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        let left = |(counted, billed): &(u64, u64)| signed(*billed) - signed(self.apply(*counted));
        median(pairs.iter().map(left).collect())
    }
}

fn median_ratio(pairs: &[(u64, u64)]) -> u64 {
    let ratios = pairs.iter().map(|(counted, billed)| {
        let ratio = u128::from(*billed) * 1_000_000 / u128::from((*counted).max(1));
        u64::try_from(ratio).unwrap_or(u64::MAX)
    });
    median(ratios.collect()).clamp(100_000, 10_000_000)
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
            ("forkcost_calibration = 2".to_owned(), "version 2"),
            ("x = 1".to_owned(), "not a calibration"),
            (entry("gpt2", "text", 1_000_000), "gpt2"),
            (entry("o200k_base", "words", 1_000_000), "known are text"),
            (entry("o200k_base", "text", 1), "factor_ppm 1"),
        ] {
            let error = Corrections::parse(&text).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
