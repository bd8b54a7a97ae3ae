//! Mistakes in a scenario: where they are, what is wrong, what to do, and how they look.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::source::{SourceText, Sources, Span};

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)+) => {
        /// The stable codes of mistakes. A code never changes its meaning.
        pub mod code {
            $(#[doc = $meaning] pub const $name: &str = $code;)+
        }

        /// Every code with its meaning, in the order of the codes.
        pub const CODES: &[(&str, &str)] = &[$(($code, $meaning)),+];
    };
}

codes! {
    NOT_UTF8 = "F0001", "The file is not UTF-8 text.";
    BYTE_ORDER_MARK = "F0002", "The file starts with a byte order mark.";
    NUL = "F0003", "The file holds a NUL character.";
    EMPTY = "F0004", "The file holds nothing.";
    SYNTAX = "F0005", "The text is not TOML (or not JSON, for a `.json` file).";
    TOO_LARGE = "F0006", "The file is too large for a scenario.";
    OVERRIDE = "F0007", "A `--set` does not fit the file.";
    UNKNOWN_KEY = "F0101", "The key does not exist.";
    OUT_OF_RANGE = "F0102", "The number is outside its range.";
    WRONG_TYPE = "F0103", "The value has the wrong type.";
    MISSING_KEY = "F0104", "A required key is missing.";
    UNKNOWN_WORD = "F0105", "The word is not one of those allowed.";
    CONFLICT = "F0106", "Two keys exclude each other.";
    CONTRADICTION = "F0107", "Two values contradict each other.";
    DATE = "F0108", "The date does not exist or is outside its range.";
    TIME_PRECISION = "F0109", "The time is finer than a millisecond.";
    NOT_AVAILABLE = "F0110", "The value exists, but not in this version.";
    EMPTY_VALUE = "F0111", "The text or list is empty.";
    VERSION = "F0112", "The format version is not supported.";
    NEEDS_KEY = "F0113", "The key or value needs another key beside it, or the other way round.";
    UNKNOWN_MODEL = "F0201", "The model is not in the price list.";
    TOKENIZER = "F0202", "The tokenizer does not exist.";
    RULE = "F0203", "The cache rule cannot have this value.";
    NO_PRICE = "F0204", "The model has no price on the date.";
    MARKER = "F0205", "The marker is not in the grammar.";
    MARKERS = "F0206", "The markers cannot stand together in one request.";
    FILE_MISSING = "F0301", "The file does not exist.";
    FILE_IS_FOLDER = "F0302", "The path is a folder.";
    PATH_VARIABLE = "F0303", "The path uses a variable that is not expanded.";
    FILE_UNREADABLE = "F0304", "The file cannot be read.";
    LINE_SELECTION = "F0305", "The line of a JSON-lines file is not given or does not exist.";
    FILE_SYNTAX = "F0306", "The file is not JSON.";
    FILE_CONTENT = "F0307", "The file does not hold what the key wants.";
    FILE_NOT_UTF8 = "F0308", "The file is not UTF-8 text.";
    DATA_FOLDER_UNSET = "F0309", "The path uses FORKCOST_DATA, which is not set.";
    CONTEXT_WINDOW = "F0401", "The declared sizes are larger than the model's context window.";
    TOO_SMALL = "F0402", "There are fewer tokens than parts to share them.";
    NOT_PLAYABLE = "F0501", "The requests of the scenario cannot be built or billed.";
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code, e.g. `F0102`; see [`CODES`].
    pub code: &'static str,
    /// The text it is in.
    pub source: Arc<SourceText>,
    /// Bytes of that text.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The dotted key, where there is one.
    pub key: Option<String>,
    /// The value as written, where there is one; shortened where it is long.
    pub value: Option<String>,
    /// What is wrong and what is allowed.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { line, column, message, help, .. } = self;
        write!(f, "{}:{line}:{column}: {message} ({help})", self.source.label)
    }
}

/// All mistakes of one scenario, in the order of the text; flags come last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The mistakes as a terminal shows them: message, place with a caret, remedy. Ends in a newline
/// where there is a mistake. `styled` adds ANSI colours.
pub fn render(diagnostics: &Diagnostics, styled: bool) -> String {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for (index, diagnostic) in diagnostics.0.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&renderer.render(&[group(diagnostic)]));
        out.push('\n');
    }
    out
}

fn group(diagnostic: &Diagnostic) -> Group<'_> {
    let label = match diagnostic.code {
        code::UNKNOWN_KEY => "this key",
        code::MISSING_KEY => "here",
        _ if diagnostic.value.is_some() => "this value",
        _ => "here",
    };
    let primary = AnnotationKind::Primary.span(diagnostic.span.clone()).label(label);
    let snippet = Snippet::source(diagnostic.source.text.as_str())
        .path(diagnostic.source.label.as_str())
        .annotation(primary);
    Level::ERROR
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code)
        .element(snippet)
        .element(Level::HELP.message(diagnostic.help.as_str()))
}

/// One mistake before its place is looked up.
pub(super) struct Mistake<'a> {
    pub(super) code: &'static str,
    /// What the caret points at.
    pub(super) span: &'a Span,
    pub(super) key: Option<&'a str>,
    /// Where the value stands.
    pub(super) value: Option<&'a Span>,
    pub(super) message: String,
    pub(super) help: String,
}

/// Mistakes of one scenario that are reported.
const MISTAKES_MAX: usize = 100;

/// Gathers the mistakes of one scenario.
#[derive(Debug)]
pub(super) struct Mistakes {
    pub(super) sources: Sources,
    found: Vec<(Span, Diagnostic)>,
}

impl Mistakes {
    pub(super) fn new(sources: Sources) -> Mistakes {
        Mistakes { sources, found: Vec::new() }
    }

    /// Adds one; a second one of the same code at the same place is not repeated.
    pub(super) fn add(&mut self, mistake: Mistake<'_>) {
        if self.found.len() >= MISTAKES_MAX {
            return;
        }
        let Some((source, span)) = self.sources.locate(mistake.span) else { return };
        let (line, column) = source.line_column(span.start);
        let diagnostic = Diagnostic {
            code: mistake.code,
            source,
            span,
            line,
            column,
            key: mistake.key.map(str::to_owned),
            value: mistake.value.map(|span| self.sources.excerpt(span)),
            message: mistake.message,
            help: mistake.help,
        };
        let same = |(span, other): &(Span, Diagnostic)| {
            span == mistake.span && other.code == diagnostic.code && other.key == diagnostic.key
        };
        if !self.found.iter().any(same) {
            self.found.push((mistake.span.clone(), diagnostic));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All mistakes in the order of the text.
    pub(super) fn into_diagnostics(mut self) -> Diagnostics {
        self.found.sort_by_key(|(span, _)| span.start);
        Diagnostics(self.found.into_iter().map(|(_, diagnostic)| diagnostic).collect())
    }
}

/// `"a", "b" or "c"`, for lists of allowed words.
pub(super) fn alternatives<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("\"{word}\"")).collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// The word most like `word`, where one is like it at all.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const LIKENESS_MIN: f64 = 0.5;
    let likeness = |candidate: &str| strsim::normalized_damerau_levenshtein(word, candidate);
    candidates
        .into_iter()
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(CODES.iter().all(|(code, meaning)| code.len() == 5 && meaning.ends_with('.')));
    }

    #[test]
    fn nearest_finds_slips_and_leaves_strangers() {
        assert_eq!(nearest("childen", ["children", "clone"]), Some("children"));
        assert_eq!(nearest("zebra", ["children", "clone"]), None);
        assert_eq!(alternatives(["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }

    #[test]
    fn a_rendered_mistake_shows_code_place_and_help() {
        let mut mistakes = Mistakes::new(Sources::new("bad.toml", "a = 1\nb = -3\n"));
        mistakes.add(Mistake {
            code: code::OUT_OF_RANGE,
            span: &(10..12),
            key: Some("b"),
            value: Some(&(10..12)),
            message: "b must be between 1 and 5, got -3".to_owned(),
            help: "take 1".to_owned(),
        });
        let diagnostics = mistakes.into_diagnostics();
        let expected = "\
error[F0102]: b must be between 1 and 5, got -3
 --> bad.toml:2:5
  |
2 | b = -3
  |     ^^ this value
  |
  = help: take 1
";
        assert_eq!(render(&diagnostics, false), expected);
        assert!(render(&diagnostics, true).contains("\u{1b}["));
        assert_eq!(
            diagnostics.to_string(),
            "bad.toml:2:5: b must be between 1 and 5, got -3 (take 1)"
        );
    }
}
