//! A divergence while it is being put together.

use std::ops::Range;

use super::body::{Body, View};
use super::cause::{Flavour, explain};
use super::drill::{Leaf, Shape};
use super::excerpt::{Between, Excerpt, raw_offset};
use super::kind::Kind;
use crate::provider::{KeyRule, Provider};
use crate::request::json::Value;
use crate::request::{BlockKind, RenderedBlock};

/// The two bodies.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) a: &'a Body<'a>,
    pub(super) b: &'a Body<'a>,
    pub(super) provider: &'static dyn Provider,
}

/// A place in one of the bodies.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) pointer: String,
    pub(super) byte: u64,
}

/// What a value is called that is a number.
const NUMBER: &str = "a number";

/// One divergence.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) cause: String,
    /// Blocks of A that are before it and stay valid.
    pub(super) position: usize,
    /// Blocks of B that are before it, where it is about whole blocks.
    pub(super) position_b: usize,
    pub(super) segment: &'static str,
    pub(super) a: Option<Spot>,
    pub(super) b: Option<Spot>,
    pub(super) char: Option<usize>,
    pub(super) excerpt_a: Option<Excerpt>,
    pub(super) excerpt_b: Option<Excerpt>,
    pub(super) blocks_a: Range<usize>,
    pub(super) blocks_b: Range<usize>,
    pub(super) more: usize,
    pub(super) rule: Option<KeyRule>,
}

impl Found {
    /// A divergence that is not about a place yet.
    pub(super) fn new(kind: Kind, segment: &'static str, position: usize, cause: String) -> Found {
        Found {
            kind,
            cause,
            position,
            position_b: 0,
            segment,
            a: None,
            b: None,
            char: None,
            excerpt_a: None,
            excerpt_b: None,
            blocks_a: 0..0,
            blocks_b: 0..0,
            more: 0,
            rule: None,
        }
    }

    /// Places it at a leaf below `base`, the pointers of the compared values.
    pub(super) fn at_leaf(mut self, pair: Pair<'_>, base: (&str, &str), leaf: &Leaf<'_>) -> Found {
        let char = match leaf.shape {
            Shape::Text { char } => Some(char),
            Shape::Value | Shape::KeyOrder | Shape::Added | Shape::Removed | Shape::Renamed => None,
        };
        let spot = |body: &Body<'_>, view: Option<View<'_>>, base: &str, path: &str| {
            let view = view?;
            let inside = char.map_or(0, |char| raw_offset(view.raw(), char) as u64);
            Some(Spot { pointer: format!("{base}{path}"), byte: body.file_byte(view) + inside })
        };
        self.a = spot(pair.a, leaf.a, base.0, &leaf.path_a);
        self.b = spot(pair.b, leaf.b, base.1, &leaf.path_b);
        self.char = char;
        (self.excerpt_a, self.excerpt_b) = leaf_excerpts(leaf, base);
        self
    }

    /// Places it at whole blocks: the first of each range that is not empty.
    pub(super) fn at_blocks(mut self, pair: Pair<'_>, a: Range<usize>, b: Range<usize>) -> Found {
        let first = |body: &Body<'_>, range: &Range<usize>| {
            let block = body.blocks.get(range.start).filter(|_| !range.is_empty())?;
            let view = body.node(&block.pointer)?;
            let spot = Spot { pointer: block.pointer.clone(), byte: body.file_byte(view) };
            Some((spot, block_excerpt(view, block)))
        };
        (self.a, self.excerpt_a) = first(pair.a, &a).unzip();
        (self.b, self.excerpt_b) = first(pair.b, &b).unzip();
        self.blocks(a, b)
    }

    /// Says which blocks it is about.
    pub(super) fn blocks(mut self, a: Range<usize>, b: Range<usize>) -> Found {
        (self.blocks_a, self.blocks_b) = (a, b);
        self
    }

    /// Says how many further places differ.
    pub(super) fn and_more(mut self, more: usize) -> Found {
        self.more = more;
        self
    }
}

/// What a block says: its text, or its JSON.
fn block_excerpt(view: View<'_>, block: &RenderedBlock) -> Excerpt {
    match block.kind {
        BlockKind::Text | BlockKind::System | BlockKind::Thinking => {
            Excerpt::whole(&block.counted_text)
        }
        BlockKind::Tool
        | BlockKind::ToolUse
        | BlockKind::ToolResult
        | BlockKind::Image
        | BlockKind::Document
        | BlockKind::Other => Excerpt::json(None, view),
    }
}

fn leaf_excerpts(leaf: &Leaf<'_>, base: (&str, &str)) -> (Option<Excerpt>, Option<Excerpt>) {
    let texts = |view: Option<View<'_>>| view.and_then(View::text).unwrap_or_default();
    match leaf.shape {
        Shape::Text { .. } => {
            let (a, b) = (texts(leaf.a), texts(leaf.b));
            let between = Between::of(&a, &b);
            (Some(between.excerpt(&a)), Some(between.excerpt(&b)))
        }
        Shape::KeyOrder => {
            let (a, b) = (keys(leaf.a), keys(leaf.b));
            let between = Between::of(&a, &b);
            (Some(between.excerpt(&a)), Some(between.excerpt(&b)))
        }
        Shape::Value | Shape::Added | Shape::Removed | Shape::Renamed => {
            let name = |base: &str, path: &str| last_step(&format!("{base}{path}"));
            let (name_a, name_b) = (name(base.0, &leaf.path_a), name(base.1, &leaf.path_b));
            (
                leaf.a.map(|view| Excerpt::json(name_a.as_deref(), view)),
                leaf.b.map(|view| Excerpt::json(name_b.as_deref(), view)),
            )
        }
    }
}

/// The keys of an object as a list.
fn keys(view: Option<View<'_>>) -> String {
    let members = view.map_or(&[][..], |view| view.node.members());
    members.iter().map(|member| member.key.as_str()).collect::<Vec<_>>().join(", ")
}

/// The key at the end of a pointer; `None` for an index.
fn last_step(pointer: &str) -> Option<String> {
    let step = pointer.rsplit('/').next()?;
    let is_index = step.is_empty() || step.bytes().all(|byte| byte.is_ascii_digit());
    (!is_index).then(|| step.replace("~1", "/").replace("~0", "~"))
}

/// What differs at a leaf, as the end of a sentence, and in what way.
pub(super) fn leaf_words(leaf: &Leaf<'_>) -> (Flavour, String) {
    let key = |path: &str| last_step(path).map_or("an item".to_owned(), |key| format!("`{key}`"));
    let words = match (leaf.shape, leaf.a, leaf.b) {
        (Shape::Text { .. }, Some(a), Some(b)) => {
            return explain(&a.text().unwrap_or_default(), &b.text().unwrap_or_default());
        }
        (Shape::KeyOrder, _, _) => "the same keys in another order".to_owned(),
        (Shape::Added, _, _) => format!("B has {} more", key(&leaf.path_b)),
        (Shape::Removed, _, _) => format!("{} is gone", key(&leaf.path_a)),
        (Shape::Renamed, _, _) => {
            format!("{} is called {}", key(&leaf.path_a), key(&leaf.path_b))
        }
        (Shape::Value, Some(a), Some(b)) => value_words(a, b),
        (Shape::Value | Shape::Text { .. }, _, _) => "another value".to_owned(),
    };
    (Flavour::Words, words)
}

fn value_words(a: View<'_>, b: View<'_>) -> String {
    let (x, y) = (type_of(a), type_of(b));
    match (x, y) {
        (NUMBER, NUMBER) if is_same_number(&a.raw_text(), &b.raw_text()) => {
            "the same number in another form".to_owned()
        }
        (NUMBER, NUMBER) => "another number".to_owned(),
        (x, y) if x == y => "another value".to_owned(),
        (x, y) => format!("{x} in A, {y} in B"),
    }
}

fn type_of(view: View<'_>) -> &'static str {
    match (&view.node.value, view.raw()) {
        (Value::Object(_), _) => "an object",
        (Value::Array(_), _) => "an array",
        (Value::String, _) => "a text",
        (Value::Scalar, b"null") => "null",
        (Value::Scalar, b"true" | b"false") => "true or false",
        (Value::Scalar, _) => NUMBER,
    }
}

/// Whether two numbers of JSON are equal, to the last figure of any length.
fn is_same_number(a: &str, b: &str) -> bool {
    let parts = |text: &str| {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (sign, mantissa) =
            mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let figures = format!("{whole}{fraction}");
        let figures = figures.trim_start_matches('0');
        let short = figures.trim_end_matches('0');
        if short.is_empty() {
            return Some((String::new(), 0));
        }
        let exponent: i64 = exponent.parse().ok()?;
        let moved = i64::try_from(figures.len() - short.len()).ok()?;
        let behind_point = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.checked_add(moved)?.checked_sub(behind_point)?;
        Some((format!("{sign}{short}"), exponent))
    };
    a == b || parts(a).is_some_and(|a| Some(a) == parts(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_to_the_last_figure() {
        for (a, b, same) in [
            ("1", "1.0", true),
            ("10", "1e1", true),
            ("-0", "0.0", true),
            ("0.05", "5E-2", true),
            ("1200", "1.2e+3", true),
            ("9007199254740993", "9007199254740992", false),
            ("123456789012345678901234567890", "123456789012345678901234567891", false),
            ("123456789012345678901234567890", "12345678901234567890123456789e1", true),
            ("1e999999999999999999999", "1e999999999999999999998", false),
            ("-1", "1", false),
            ("1e400", "2e400", false),
        ] {
            assert_eq!(is_same_number(a, b), same, "{a} {b}");
        }
    }
}
