//! Which tokenizer counts, as a word in a scenario file.

use std::fmt;

use super::claude::ClaudeFamily;
use super::file::{self, FileVocabulary};

/// What stands before the path of a tokenizer's file.
const FILE_PREFIX: &str = "hf:";

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
    /// The counts of a `tokenizer.json`.
    File(FileVocabulary),
}

/// Why a text names no tokenizer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerError {
    /// The vocabulary does not exist.
    #[error(
        "tokenizer `{given}`: no vocabulary `{name}`; allowed are {}, or hf: and the path of a \
         tokenizer.json, each optionally with a factor such as o200k_base*1.65; did you mean \
         `{nearest}`?",
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
        vocabulary: String,
    },
    /// A file's tokenizer is named, and the program is built without what reads it.
    #[error(
        "tokenizer `{given}`: this forkcost is built without the feature huggingface, which counts \
         by a tokenizer.json"
    )]
    NoFileSupport {
        /// The whole text.
        given: String,
    },
    /// A file's tokenizer is named where none can stand.
    #[error("tokenizer `{given}`: a file cannot stand here; allowed are {}", names())]
    FileNotAllowed {
        /// The whole text.
        given: String,
    },
    /// No path stands behind the prefix.
    #[error("tokenizer `{given}`: no path behind hf:, as in hf:tokenizer.json")]
    NoPath {
        /// The whole text.
        given: String,
    },
    /// The file is not JSON.
    #[error("tokenizer `{name}`: not JSON: {message} (line {line}, column {column})")]
    FileSyntax {
        /// The vocabulary's name.
        name: String,
        /// What the parser says.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The file is JSON, but no tokenizer that can count.
    #[error("tokenizer `{name}`: no tokenizer.json that can count: {message}")]
    FileContent {
        /// The vocabulary's name.
        name: String,
        /// What is wrong.
        message: String,
    },
}

impl TokenizerError {
    /// What to do about a file's tokenizer; `None` where the mistake is in the words.
    pub fn file_remedy(&self) -> Option<&'static str> {
        match self {
            TokenizerError::NoFileSupport { .. } => {
                Some("install it with `cargo install --path . --features huggingface`")
            }
            TokenizerError::FileSyntax { .. } | TokenizerError::FileContent { .. } => {
                Some("name a tokenizer.json as HuggingFace's tokenizers library saves it")
            }
            TokenizerError::UnknownVocabulary { .. }
            | TokenizerError::BadFactor { .. }
            | TokenizerError::FileNotAllowed { .. }
            | TokenizerError::NoPath { .. } => None,
        }
    }
}

impl Vocabulary {
    /// Every vocabulary that is built in.
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
            Vocabulary::File(file) => file.name(),
        }
    }
}

/// Names of all built-in vocabularies in a sentence.
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

    /// Reads the name of a built-in vocabulary, optionally with a factor, as in `o200k_base*1.65`.
    ///
    /// # Errors
    /// Where the vocabulary is unknown (the nearest one is named), or the factor is not above 0,
    /// above 10, or has more than three decimals.
    pub fn parse(text: &str) -> Result<TokenizerSpec, TokenizerError> {
        let refuse = |_: &str| Err(TokenizerError::FileNotAllowed { given: text.to_owned() });
        TokenizerSpec::parse_with(text, refuse)
    }

    /// Reads what [`TokenizerSpec::parse`] reads, or the path of a tokenizer.json, as in
    /// `hf:tokenizer.json*1.65`: `read` gives the bytes at the path. It is called only where the
    /// rest of the text is right and the program can count by a file.
    ///
    /// # Errors
    /// Those of [`TokenizerSpec::parse`], what `read` gives, and where the bytes are no tokenizer.
    pub fn parse_with<E: From<TokenizerError>>(
        text: &str,
        read: impl FnOnce(&str) -> Result<Vec<u8>, E>,
    ) -> Result<TokenizerSpec, E> {
        let parts = Parts::of(text)?;
        let vocabulary = match parts.vocabulary {
            Named::BuiltIn(vocabulary) => vocabulary,
            Named::File(_) if !file::SUPPORTED => {
                return Err(TokenizerError::NoFileSupport { given: text.to_owned() }.into());
            }
            Named::File(path) => {
                let bytes = read(path)?;
                let name = format!("{FILE_PREFIX}{path}");
                Vocabulary::File(file::register(&name, &bytes)?)
            }
        };
        Ok(TokenizerSpec { vocabulary, scale_milli: parts.scale_milli })
    }

    /// Whether a text names a tokenizer; no file is read.
    ///
    /// # Errors
    /// Those of [`TokenizerSpec::parse`] for built-in vocabularies and for factors.
    pub fn check(text: &str) -> Result<(), TokenizerError> {
        Parts::of(text).map(|_| ())
    }

    /// What tells its counts from those of any other tokenizer: its text, with a fingerprint of
    /// the file in place of a path, which says nothing of what the file holds.
    pub fn identity(self) -> String {
        match self.vocabulary {
            Vocabulary::O200k | Vocabulary::Cl100k | Vocabulary::Claude(_) => self.to_string(),
            Vocabulary::File(file) => {
                let name = format!("{FILE_PREFIX}blake3-{}", file.fingerprint());
                self.written_with(&name)
            }
        }
    }

    /// True where the counts are those of a file, of which nothing else is known.
    pub fn is_file(self) -> bool {
        match self.vocabulary {
            Vocabulary::O200k | Vocabulary::Cl100k | Vocabulary::Claude(_) => false,
            Vocabulary::File(_) => true,
        }
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
            Vocabulary::O200k | Vocabulary::Cl100k | Vocabulary::File(_) => None,
        }
    }

    /// The name of a vocabulary, and the factor without trailing zeros where it is not one.
    fn written_with(self, name: &str) -> String {
        if !self.is_scaled() {
            return name.to_owned();
        }
        let (whole, thousandths) = (self.scale_milli / UNIT_MILLI, self.scale_milli % UNIT_MILLI);
        let decimals = format!("{thousandths:03}");
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        format!("{name}*{whole}{point}{decimals}")
    }
}

impl fmt::Display for TokenizerSpec {
    /// The text that [`TokenizerSpec::parse_with`] reads, without a factor of one and without
    /// trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.written_with(self.vocabulary.name()))
    }
}

/// A text, taken apart.
struct Parts<'t> {
    vocabulary: Named<'t>,
    scale_milli: u32,
}

/// What a text names as the vocabulary.
enum Named<'t> {
    BuiltIn(Vocabulary),
    /// The path of a file.
    File(&'t str),
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Result<Parts<'t>, TokenizerError> {
        let (name, factor) = match text.rsplit_once('*') {
            Some((name, factor)) => (name, Some(factor)),
            None => (text, None),
        };
        let known = || Vocabulary::ALL.into_iter().find(|vocabulary| vocabulary.name() == name);
        let vocabulary = match name.strip_prefix(FILE_PREFIX) {
            Some(path) if path.trim().is_empty() => {
                return Err(TokenizerError::NoPath { given: text.to_owned() });
            }
            Some(path) => Named::File(path),
            None => Named::BuiltIn(known().ok_or_else(|| TokenizerError::UnknownVocabulary {
                given: text.to_owned(),
                name: name.to_owned(),
                nearest: nearest(name),
            })?),
        };
        let scale_milli = match factor {
            None => UNIT_MILLI,
            Some(factor) => milli(factor).ok_or_else(|| TokenizerError::BadFactor {
                given: text.to_owned(),
                factor: factor.to_owned(),
                vocabulary: name.to_owned(),
            })?,
        };
        Ok(Parts { vocabulary, scale_milli })
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
    fn a_file_is_read_only_where_all_else_is_right() {
        let read = |text: &str| {
            let mut read = None;
            let result = TokenizerSpec::parse_with(text, |path| {
                read = Some(path.to_owned());
                Err(TokenizerError::FileNotAllowed { given: "read".to_owned() })
            });
            (read, result.unwrap_err())
        };
        for text in ["hf:a b/tokenizer.json", "hf:a b/tokenizer.json*1.5"] {
            let (path, error) = read(text);
            assert_eq!(path.is_some(), file::SUPPORTED);
            assert!(path.is_none_or(|path| path == "a b/tokenizer.json"));
            let unsupported = matches!(error, TokenizerError::NoFileSupport { .. });
            assert_eq!(unsupported, !file::SUPPORTED);
            assert_eq!(TokenizerSpec::check(text), Ok(()));
            let error = TokenizerSpec::parse(text).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
        for (text, word) in [("hf:", "no path"), ("hf: *2", "no path"), ("hf:a*b", "`b` is no")] {
            let (path, error) = read(text);
            assert!(path.is_none() && error.to_string().contains(word), "{text}: {error}");
            assert_eq!(TokenizerSpec::check(text), Err(error));
        }
    }

    #[cfg(not(feature = "huggingface"))]
    #[test]
    fn without_the_feature_the_error_says_how_to_install_it() {
        let none = |_: &str| Ok::<_, TokenizerError>(Vec::new());
        let error = TokenizerSpec::parse_with("hf:tokenizer.json", none).unwrap_err();
        assert!(error.to_string().contains("without the feature huggingface"), "{error}");
        assert!(error.file_remedy().unwrap().contains("--features huggingface"));
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
