//! Which tokenizer counts, as a word in a scenario file.

use std::fmt;

use super::claude::ClaudeFamily;

/// Largest factor on a vocabulary's counts, in thousandths.
pub const SCALE_MILLI_MAX: u32 = 10_000;

/// Thousandths of no scaling at all.
const UNIT_MILLI: u32 = 1_000;

/// Which tokenizer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenizerSpec {
    /// The vocabulary.
    pub vocabulary: Vocabulary,
    /// Factor on its counts in thousandths, 1 to [`SCALE_MILLI_MAX`]; 1,000 for none.
    pub scale_milli: u32,
}

/// A vocabulary: what counts alike for every model that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `o200k_base`.
    O200k,
    /// `cl100k_base`.
    Cl100k,
    /// The counts of a Claude family.
    Claude(ClaudeFamily),
}

/// Why a text names no tokenizer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerError {
    /// The vocabulary does not exist.
    #[error(
        "tokenizer `{given}`: no vocabulary `{name}`; allowed are {}, each optionally with a \
         factor such as o200k_base*1.65; did you mean `{nearest}`?",
        names()
    )]
    UnknownVocabulary {
        /// The whole text.
        given: String,
        /// The part that names the vocabulary.
        name: String,
        /// The vocabulary whose name is most alike.
        nearest: &'static str,
    },
    /// The factor is no number of the allowed form and range.
    #[error(
        "tokenizer `{given}`: `{factor}` is no factor; allowed is a decimal above 0 and at most 10 \
         with at most 3 decimals, as in {vocabulary}*1.65"
    )]
    BadFactor {
        /// The whole text.
        given: String,
        /// The part behind the `*`.
        factor: String,
        /// The vocabulary before the `*`.
        vocabulary: Vocabulary,
    },
}

impl Vocabulary {
    /// Every vocabulary.
    pub const ALL: [Vocabulary; 5] = [
        Vocabulary::O200k,
        Vocabulary::Cl100k,
        Vocabulary::Claude(ClaudeFamily::V3),
        Vocabulary::Claude(ClaudeFamily::V47),
        Vocabulary::Claude(ClaudeFamily::V48),
    ];

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Vocabulary::O200k => "o200k_base",
            Vocabulary::Cl100k => "cl100k_base",
            Vocabulary::Claude(family) => family.name(),
        }
    }
}

/// Names of all vocabularies in a sentence.
fn names() -> String {
    let names = Vocabulary::ALL.map(Vocabulary::name);
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
}

impl fmt::Display for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TokenizerSpec {
    /// The vocabulary's own counts.
    pub fn exact(vocabulary: Vocabulary) -> TokenizerSpec {
        TokenizerSpec { vocabulary, scale_milli: UNIT_MILLI }
    }

    /// Reads the name of a vocabulary, optionally with a factor, as in `o200k_base*1.65`.
    ///
    /// # Errors
    /// Where the vocabulary is unknown (the nearest one is named), or the factor is not above 0,
    /// above 10, or has more than three decimals.
    pub fn parse(text: &str) -> Result<TokenizerSpec, TokenizerError> {
        let (name, factor) = match text.split_once('*') {
            Some((name, factor)) => (name, Some(factor)),
            None => (text, None),
        };
        let known = Vocabulary::ALL.into_iter().find(|vocabulary| vocabulary.name() == name);
        let vocabulary = known.ok_or_else(|| TokenizerError::UnknownVocabulary {
            given: text.to_owned(),
            name: name.to_owned(),
            nearest: nearest(name),
        })?;
        let scale_milli = match factor {
            None => UNIT_MILLI,
            Some(factor) => milli(factor).ok_or_else(|| TokenizerError::BadFactor {
                given: text.to_owned(),
                factor: factor.to_owned(),
                vocabulary,
            })?,
        };
        Ok(TokenizerSpec { vocabulary, scale_milli })
    }

    /// True where counts are the vocabulary's times a factor: estimates of another tokenizer.
    pub fn is_scaled(self) -> bool {
        self.scale_milli != UNIT_MILLI
    }

    /// The Claude family whose counts these are, with or without a factor: it says what stands
    /// around the texts of a request.
    pub fn claude_family(self) -> Option<ClaudeFamily> {
        match self.vocabulary {
            Vocabulary::Claude(family) => Some(family),
            Vocabulary::O200k | Vocabulary::Cl100k => None,
        }
    }
}

impl fmt::Display for TokenizerSpec {
    /// The text that [`TokenizerSpec::parse`] reads, without a factor of one and without trailing
    /// zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_scaled() {
            return f.pad(self.vocabulary.name());
        }
        let (whole, thousandths) = (self.scale_milli / UNIT_MILLI, self.scale_milli % UNIT_MILLI);
        let decimals = format!("{thousandths:03}");
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        f.pad(&format!("{}*{whole}{point}{decimals}", self.vocabulary))
    }
}

fn nearest(name: &str) -> &'static str {
    let likeness = |vocabulary: &Vocabulary| {
        // Compared as an integer, because floats have no total order; six digits decide any real
        // case.
        (strsim::jaro_winkler(name, vocabulary.name()) * 1e6) as u64
    };
    let best = Vocabulary::ALL.into_iter().max_by_key(likeness);
    best.unwrap_or(Vocabulary::O200k).name()
}

/// Thousandths of a plain decimal; `None` where it is none, out of range, or too fine.
fn milli(factor: &str) -> Option<u32> {
    let (whole, decimals) = match factor.split_once('.') {
        Some((whole, decimals)) if !decimals.is_empty() => (whole, decimals),
        Some(_) => return None,
        None => (factor, ""),
    };
    let digits_only = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits_only(whole) || !digits_only(decimals) || decimals.len() > 3 {
        return None;
    }
    let value = format!("{whole}{decimals:0<3}").parse::<u32>().ok()?;
    (1..=SCALE_MILLI_MAX).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_read_and_written_back() {
        let texts = ["o200k_base", "cl100k_base", "o200k_base*1.65", "cl100k_base*0.001"];
        for text in texts.into_iter().chain(["o200k_base*10", "o200k_base*1.005"]) {
            assert_eq!(TokenizerSpec::parse(text).unwrap().to_string(), text);
        }
        let scaled = TokenizerSpec::parse("o200k_base*1.65").unwrap();
        assert_eq!((scaled.vocabulary, scaled.scale_milli), (Vocabulary::O200k, 1_650));
        assert_eq!(TokenizerSpec::parse("o200k_base*1.0").unwrap().to_string(), "o200k_base");
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_one() {
        let error = TokenizerSpec::parse("cl100k").unwrap_err().to_string();
        assert!(error.contains("did you mean `cl100k_base`"), "{error}");
        assert!(error.contains("o200k_base*1.65"), "{error}");
        let error = TokenizerSpec::parse("claude-v4").unwrap_err().to_string();
        assert!(error.contains("claude-v3, claude-v4.7 and claude-v4.8"), "{error}");
        let error = TokenizerSpec::parse("o200_base*2").unwrap_err().to_string();
        assert!(error.contains("did you mean `o200k_base`"), "{error}");
    }

    #[test]
    fn factors_out_of_range_or_too_fine_are_refused() {
        let factors = ["", "0", "0.000", "10.001", "11", "1.", ".5", "1.2345", "-1", "+1", "1e1"];
        for factor in factors.into_iter().chain(["1,5", "x", "1.6 ", "99999999999"]) {
            let text = format!("o200k_base*{factor}");
            let error = TokenizerSpec::parse(&text).unwrap_err();
            assert!(matches!(error, TokenizerError::BadFactor { .. }), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn every_spec_survives_its_text(
            scale_milli in 1..=SCALE_MILLI_MAX,
            vocabulary in proptest::sample::select(Vocabulary::ALL.to_vec()),
        ) {
            let spec = TokenizerSpec { vocabulary, scale_milli };
            prop_assert_eq!(TokenizerSpec::parse(&spec.to_string()), Ok(spec));
        }

        #[test]
        fn no_text_breaks_the_parser(text in "\\PC{0,20}") {
            let _ = TokenizerSpec::parse(&text);
        }
    }
}
