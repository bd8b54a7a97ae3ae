//! Texts with a label: the scenario itself and each `--set`, as one space of byte offsets.
//!
//! Every position in a parsed scenario is an offset into that space, so a value that a flag has
//! replaced still leads back to the flag.

use std::ops::Range;
use std::sync::Arc;

/// Byte range in the space of all sources.
pub(super) type Span = Range<usize>;

/// A text that mistakes point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// What it is called in messages: a path, `stdin` or `--set`.
    pub label: String,
    /// The text.
    pub text: String,
}

impl SourceText {
    /// Line and column of a byte offset, both from 1; the column counts characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, 1 + before[start..].chars().count())
    }
}

/// All sources of one scenario.
#[derive(Debug)]
pub(super) struct Sources {
    parts: Vec<(usize, Arc<SourceText>)>,
}

impl Sources {
    /// The scenario's own text, from offset 0.
    pub(super) fn new(label: &str, text: &str) -> Sources {
        let source = SourceText { label: label.to_owned(), text: text.to_owned() };
        Sources { parts: vec![(0, Arc::new(source))] }
    }

    /// Adds a text behind all others; its first byte is at the returned offset.
    pub(super) fn push(&mut self, label: &str, text: String) -> usize {
        let base = self.parts.last().map_or(0, |(base, part)| base + part.text.len() + 1);
        self.parts.push((base, Arc::new(SourceText { label: label.to_owned(), text })));
        base
    }

    /// The source that holds `span`, and the span inside it.
    pub(super) fn locate(&self, span: &Span) -> Option<(Arc<SourceText>, Span)> {
        let (base, part) = self.parts.iter().rev().find(|(base, _)| *base <= span.start)?;
        let end = (span.end.max(span.start) - base).min(part.text.len());
        let start = (span.start - base).min(end);
        Some((Arc::clone(part), start..end))
    }

    /// The text of `span` as written, on one line and at most 80 characters long.
    pub(super) fn excerpt(&self, span: &Span) -> String {
        const LENGTH_MAX: usize = 80;
        let Some((source, local)) = self.locate(span) else { return String::new() };
        let text = source.text.get(local).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = if text.contains('\n') { line } else { text.to_owned() };
        if line.chars().count() <= LENGTH_MAX {
            return line;
        }
        let head: String = line.chars().take(LENGTH_MAX - 1).collect();
        format!("{head}…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back_to_their_source() {
        let mut sources = Sources::new("a.toml", "x = 1\ny = 2\n");
        let base = sources.push("--set", "y=3".to_owned());
        let (source, local) = sources.locate(&(6..7)).unwrap();
        assert_eq!((source.label.as_str(), source.line_column(local.start)), ("a.toml", (2, 1)));
        let (source, local) = sources.locate(&(base + 2..base + 3)).unwrap();
        assert_eq!((source.label.as_str(), &source.text[local]), ("--set", "3"));
    }

    #[test]
    fn columns_count_characters() {
        let source = SourceText { label: String::new(), text: "ä = 1\r\nö = é".to_owned() };
        assert_eq!(source.line_column(3), (1, 3));
        assert_eq!(source.line_column(source.text.len()), (2, 6));
    }

    #[test]
    fn long_values_are_cut_and_lines_joined() {
        let text = format!("[\n  1,\n  {}]", "2".repeat(200));
        let cut = Sources::new("a", &text).excerpt(&(0..text.len()));
        assert!(cut.starts_with("[ 1, 222") && cut.ends_with('…') && cut.chars().count() == 80);
    }
}
