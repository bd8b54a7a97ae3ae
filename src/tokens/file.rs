//! Tokenizers that a user brings as a file: any `tokenizer.json` of HuggingFace's tokenizers
//! library.
//!
//! Whoever has read the bytes registers them under a name and gets a handle that is copied like any
//! other vocabulary. Texts are counted one by one, as ordinary text: no special token is added or
//! seen, nothing is cut off or filled up. Deliberately absent: files (this module reads none),
//! frames of requests, and counts that depend on chance.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "huggingface")]
use serde_json::Value;

use super::counter::Memory;
use super::spec::TokenizerError;

/// Whether the program can count by a file: the cargo feature `huggingface`.
pub const SUPPORTED: bool = cfg!(feature = "huggingface");

/// Every file so far; they live as long as the process, as the built-in vocabularies do.
static REGISTERED: Mutex<Vec<FileVocabulary>> = Mutex::new(Vec::new());

/// Tokens of a text.
type Count = Box<dyn Fn(&str) -> u64 + Send + Sync>;

/// The vocabulary of a registered file. Copies of one are equal; two files are not, and neither are
/// two names of one.
#[derive(Clone, Copy)]
pub struct FileVocabulary {
    /// Place among the registered files.
    number: usize,
    file: &'static Registered,
}

struct Registered {
    name: String,
    fingerprint: String,
    count: Count,
    memory: Memory,
}

/// The vocabulary of a file with these bytes, under the name by which users know it. The same bytes
/// under the same name are read once and give the same handle.
///
/// # Errors
/// [`TokenizerError::NoFileSupport`] without the feature; [`TokenizerError::FileSyntax`] and
/// [`TokenizerError::FileContent`] where the bytes are no tokenizer, or one that does not count
/// every text, or not the same text alike every time.
pub fn register(name: &str, bytes: &[u8]) -> Result<FileVocabulary, TokenizerError> {
    let fingerprint = blake3::hash(bytes).to_hex()[..FINGERPRINT_DIGITS].to_owned();
    // Held while the file is read, so that two threads do not read one file twice.
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&FileVocabulary| {
        known.name() == name && known.fingerprint() == fingerprint.as_str()
    };
    if let Some(known) = registered.iter().find(same) {
        return Ok(*known);
    }
    let count = read(name, bytes)?;
    let file = Registered { name: name.to_owned(), fingerprint, count, memory: Memory::default() };
    let file = FileVocabulary { number: registered.len(), file: Box::leak(Box::new(file)) };
    registered.push(file);
    Ok(file)
}

/// Hexadecimal digits of a fingerprint: 128 bits tell files apart, also hostile ones.
const FINGERPRINT_DIGITS: usize = 32;

impl FileVocabulary {
    /// The name that it was registered under.
    pub fn name(self) -> &'static str {
        &self.file.name
    }

    /// What tells its bytes from those of other files: 32 hexadecimal digits.
    pub fn fingerprint(self) -> &'static str {
        &self.file.fingerprint
    }

    /// Tokens of one text.
    pub(super) fn count(self, text: &str) -> u64 {
        if text.is_empty() { 0 } else { (self.file.count)(text) }
    }

    /// Its counts so far.
    pub(super) fn memory(self) -> &'static Memory {
        &self.file.memory
    }
}

impl PartialEq for FileVocabulary {
    fn eq(&self, other: &FileVocabulary) -> bool {
        self.number == other.number
    }
}

impl Eq for FileVocabulary {}

impl Hash for FileVocabulary {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl fmt::Debug for FileVocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileVocabulary").field(&self.name()).finish()
    }
}

#[cfg(not(feature = "huggingface"))]
fn read(name: &str, _bytes: &[u8]) -> Result<Count, TokenizerError> {
    Err(TokenizerError::NoFileSupport { given: name.to_owned() })
}

/// A text of characters that few vocabularies hold: what a model does with one that it does not
/// know it does with all.
#[cfg(feature = "huggingface")]
const UNKNOWN: &str = "\u{16a0} \u{2603} \u{1f9ff} \u{2a736} \u{10ffd} q\u{1d11e}z";

#[cfg(feature = "huggingface")]
fn read(name: &str, bytes: &[u8]) -> Result<Count, TokenizerError> {
    use std::panic::catch_unwind;

    let unfit = |message: String| TokenizerError::FileContent { name: name.to_owned(), message };
    let root: Value = serde_json::from_slice(bytes).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        let (line, column) = (error.line(), error.column());
        TokenizerError::FileSyntax { name: name.to_owned(), message, line, column }
    })?;
    // The library panics over some parts that are damaged.
    let tokenizer = catch_unwind(|| counting(root))
        .map_err(|_| unfit("it is damaged".to_owned()))?
        .map_err(unfit)?;
    Ok(Box::new(move |text| {
        // A model that fails does so at what it does not know, which is tried above. Were there
        // another reason, a token a byte is the most that a vocabulary of bytes would give.
        tokenizer.encode_fast(text, false).map_or(text.len() as u64, |all| all.len() as u64)
    }))
}

/// The tokenizer without what cuts off, fills up, or adds to a text, and without its way back to
/// text; or what is wrong with it.
#[cfg(feature = "huggingface")]
fn counting(mut root: Value) -> Result<tokenizers::Tokenizer, String> {
    use tokenizers::{ModelWrapper, Tokenizer};

    if root.get("model").is_none_or(Value::is_null) {
        return Err("it has no member `model`".to_owned());
    }
    if let Value::Object(members) = &mut root {
        let counts = ["version", "added_tokens", "normalizer", "pre_tokenizer", "model"];
        members.retain(|member, _| counts.contains(&member.as_str()));
    }
    let mut tokenizer: Tokenizer =
        serde_json::from_value(root).map_err(|error| error.to_string())?;
    if let ModelWrapper::BPE(model) = tokenizer.get_model()
        && model.dropout.is_some_and(|share| share > 0.0)
    {
        return Err("its model drops merges by chance (`dropout`)".to_owned());
    }
    tokenizer.set_encode_special_tokens(true);
    tokenizer.encode_fast(UNKNOWN, false).map_err(|error| {
        format!("it gives no tokens for characters that it does not know: {error}")
    })?;
    Ok(tokenizer)
}

#[cfg(test)]
mod tests {
    #![cfg(feature = "huggingface")]

    use super::*;
    use crate::tokens::{Tokenizer, TokenizerSpec, Vocabulary};
    use crate::units::Tokens;
    use proptest::prelude::*;

    /// One token a word or mark; cuts off behind three tokens, fills up to eight, and begins with a
    /// special token, none of which belongs to a text.
    const WORDS: &str = include_str!("../../tests/data/words.json");

    /// Merges `a b`, then `ab` with a space, then that with `ab`; unknown characters are one each.
    const MERGES: &str = include_str!("../../tests/data/merges.json");

    fn spec(text: &str, file: &str) -> TokenizerSpec {
        let read = |_: &str| Ok::<_, TokenizerError>(file.as_bytes().to_vec());
        TokenizerSpec::parse_with(text, read).unwrap()
    }

    fn tokenizer(text: &str, file: &str) -> Tokenizer {
        Tokenizer::new(spec(text, file))
    }

    fn refused(file: &str) -> TokenizerError {
        register("hf:refused.json", file.as_bytes()).unwrap_err()
    }

    #[test]
    fn counts_are_those_made_by_hand() {
        let words = tokenizer("hf:words.json", WORDS);
        // A special token's name is text: bracket, word, bracket.
        for (text, tokens) in [
            ("", 0),
            (" \n", 0),
            ("The cache is read.", 5),
            ("the parser is not read", 5),
            ("[CLS]", 3),
            ("the\u{2603}cache", 3),
        ] {
            assert_eq!(words.count(text), Tokens(tokens), "{text:?}");
        }
        let merges = tokenizer("hf:merges.json", MERGES);
        // `ab |ab ab`: the pair `ab `, `ab` merges where nothing follows it.
        for (text, tokens) in
            [("", 0), ("ab", 1), ("ba", 2), ("ab ab", 1), ("ab ab ab", 2), ("x\u{2603} ab", 4)]
        {
            assert_eq!(merges.count(text), Tokens(tokens), "{text:?}");
        }
    }

    #[test]
    fn a_factor_scales_and_is_written_back() {
        let scaled = spec("hf:words.json*1.5", WORDS);
        assert_eq!(scaled.to_string(), "hf:words.json*1.5");
        assert_eq!(Tokenizer::new(scaled).count("the cache is read."), Tokens(8));
        assert!(scaled.is_scaled() && scaled.is_file() && scaled.claude_family().is_none());
    }

    #[test]
    fn the_same_bytes_under_the_same_name_are_one_vocabulary() {
        let [first, again] = [(); 2].map(|()| register("hf:a.json", WORDS.as_bytes()).unwrap());
        assert_eq!((first, first.name(), first.count("x y")), (again, "hf:a.json", 2));
        assert!(std::ptr::eq(first.memory(), again.memory()));
        let named = register("hf:b.json", WORDS.as_bytes()).unwrap();
        let other = register("hf:a.json", MERGES.as_bytes()).unwrap();
        assert!(first != named && first != other && named != other);
        assert_eq!(first.fingerprint(), named.fingerprint());
        let identity = |file| TokenizerSpec::exact(Vocabulary::File(file)).identity();
        assert_eq!(identity(first), identity(named));
        assert_ne!(identity(first), identity(other));
        assert_eq!(TokenizerSpec::check(&identity(first)), Ok(()));
    }

    #[test]
    fn remembered_counts_of_two_files_are_apart() {
        let text = "ab ".repeat(200);
        let [merges, words] =
            [tokenizer("hf:merges.json", MERGES), tokenizer("hf:words.json", WORDS)];
        for _ in 0..2 {
            assert_eq!([merges.count(&text), words.count(&text)], [Tokens(200), Tokens(200)]);
            assert_eq!(merges.count(text.trim_end()), Tokens(199));
        }
    }

    #[test]
    fn what_is_no_tokenizer_is_refused_with_its_place() {
        let cut = &WORDS[..WORDS.len() / 2];
        let last = cut.lines().count();
        for (file, line, column) in [("", 1, 0), ("{\n  x", 2, 3), (cut, last, 0)] {
            let error = refused(file);
            let TokenizerError::FileSyntax { line: at, column: col, name, .. } = &error else {
                panic!("{file}: {error}")
            };
            assert_eq!((*at, name.as_str()), (line, "hf:refused.json"), "{error}");
            assert!(column == 0 || *col == column, "{error}");
        }
        for file in ["{}", "[]", "5", "{\"model\": {\"type\": \"WordLevel\"}}"] {
            let error = refused(file);
            assert!(matches!(error, TokenizerError::FileContent { .. }), "{file}: {error}");
            assert!(error.file_remedy().unwrap().contains("tokenizer.json"));
        }
        let error = refused("{\"name\": \"x\"}").to_string();
        assert!(error.contains("no member `model`"), "{error}");
        let damaged = r#"{ "type": "Precompiled", "precompiled_charsmap": "AAAA" }"#;
        let error =
            refused(&MERGES.replace("\"normalizer\": null", &format!("\"normalizer\": {damaged}")));
        assert!(error.to_string().contains("damaged"), "{error}");
        let error = refused(&WORDS.replace("\"1.0\"", "\"9.0\"")).to_string();
        assert!(error.contains("'9.0'"), "{error}");
    }

    #[test]
    fn what_counts_by_chance_or_not_every_text_is_refused() {
        let error = refused(&MERGES.replace("\"dropout\": null", "\"dropout\": 0.1")).to_string();
        assert!(error.contains("by chance"), "{error}");
        let zero = MERGES.replace("\"dropout\": null", "\"dropout\": 0.0");
        assert!(register("hf:zero.json", zero.as_bytes()).is_ok());
        let error = refused(&WORDS.replace("\"[UNK]\": 1, ", "")).to_string();
        assert!(error.contains("does not know"), "{error}");
        let error = refused(&MERGES.replace("\"unk_token\": \"?\"", "\"unk_token\": \"!\""));
        assert!(error.to_string().contains("does not know"), "{error}");
    }

    /// What the library itself counts.
    fn direct(file: &str, text: &str) -> u64 {
        let mut direct = tokenizers::Tokenizer::from_bytes(file).unwrap();
        direct.with_truncation(None).unwrap();
        direct.with_padding(None);
        direct.set_encode_special_tokens(true);
        direct.encode(text, false).unwrap().get_ids().len() as u64
    }

    fn mixed() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            4 => "(ab|a|b)",
            3 => " {1,2}",
            1 => "(the|Cache|is|read|\\.)",
            1 => "\\[CLS\\]",
            1 => "\\PC{1,3}",
        ];
        proptest::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn counts_are_the_library_s(text in mixed()) {
            for (name, file) in [("hf:words.json", WORDS), ("hf:merges.json", MERGES)] {
                let counted = tokenizer(name, file).count(&text);
                prop_assert_eq!(counted, Tokens(direct(file, &text)));
            }
        }

        #[test]
        fn a_prefix_fits_and_its_next_word_does_not(text in mixed(), limit in 0_u64..60) {
            for (name, file) in [("hf:words.json", WORDS), ("hf:merges.json", MERGES)] {
                let tokenizer = tokenizer(name, file);
                let (prefix, tokens) = tokenizer.prefix_within(&text, limit);
                prop_assert!(text.starts_with(prefix) && tokens <= limit);
                prop_assert_eq!(tokenizer.count_unscaled(prefix), tokens);
                if prefix.len() < text.len() {
                    let word = crate::tokens::counter::next_boundary(&text, prefix.len());
                    prop_assert!(tokenizer.count_unscaled(&text[..word]) > limit);
                }
            }
        }

        #[test]
        fn no_bytes_break_the_reader(at in 0..WORDS.len(), byte in any::<u8>()) {
            let mut bytes = WORDS.as_bytes().to_vec();
            bytes[at] = byte;
            if let Ok(file) = register("hf:damaged.json", &bytes) {
                let _ = file.count("the cache is read");
            }
        }
    }
}
