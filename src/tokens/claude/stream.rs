//! A text as the stream of bytes that pieces cover: words with marks for their beginning, their end
//! and their capitals. The marks are bytes that UTF-8 never has.

use super::runs::{Class, Run, runs};
use super::table::{Trie, Unicode, flag, unicode};

/// A word begins.
pub(super) const BEGIN: u8 = 0xf8;
/// A word ends.
pub(super) const END: u8 = 0xf9;
/// The first letter of the word is a capital.
pub(super) const SHIFT: u8 = 0xfa;
/// All letters of the word are capitals.
pub(super) const CAPITALS: u8 = 0xfb;

/// What may follow an apostrophe without beginning a word.
const CONTRACTIONS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];

/// How a text meets what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edges {
    /// It begins a message whose frame stands before it like a space.
    pub(super) start: bool,
    /// The space that it begins with is the frame's.
    pub(super) drops_space: bool,
}

/// The stream of a normal text.
pub(super) fn write_stream(text: &str, trie: &Trie, edges: Edges) -> Vec<u8> {
    let own_space = text.starts_with(' ') && !text.starts_with("  ");
    let text = if edges.start && edges.drops_space && own_space { &text[1..] } else { text };
    let runs = runs(text);
    let view = View { text, runs: &runs, edges, capitals_min: trie.capitals_min };
    let mut out = Out { bytes: Vec::with_capacity(text.len() + text.len() / 2), space: false };
    view.write_head(&mut out);
    for index in 0..runs.len() {
        view.write_run(index, &mut out);
    }
    out.flush();
    out.bytes
}

/// Bytes so far. A single space behind the end of a word is held back: where a word begins next it
/// costs nothing.
struct Out {
    bytes: Vec<u8>,
    space: bool,
}

impl Out {
    fn flush(&mut self) {
        if std::mem::take(&mut self.space) {
            self.bytes.push(b' ');
        }
    }

    /// Marks and text of which the first mark but capitals is `BEGIN` where `begins`.
    fn open(&mut self, capitals: Option<u8>, begins: bool) {
        if begins {
            self.space = false;
        } else {
            self.flush();
        }
        self.bytes.extend(capitals);
        self.bytes.extend(begins.then_some(BEGIN));
    }

    fn text(&mut self, text: &str) {
        self.flush();
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn character(&mut self, character: char) {
        self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn space_run(&mut self, text: &str) {
        if text == " " && self.bytes.last() == Some(&END) {
            self.space = true;
        } else {
            self.text(text);
        }
    }
}

struct View<'a> {
    text: &'a str,
    runs: &'a [Run],
    edges: Edges,
    capitals_min: Option<usize>,
}

impl View<'_> {
    fn class(&self, index: usize) -> Option<Class> {
        self.runs.get(index).map(|run| run.class)
    }

    fn body(&self, index: usize) -> &str {
        self.runs.get(index).map_or("", |run| &self.text[run.bytes.clone()])
    }

    fn before(&self, index: usize) -> Option<usize> {
        index.checked_sub(1)
    }

    fn space_on_the_left(&self, index: usize) -> bool {
        match self.before(index) {
            None => self.edges.start,
            Some(before) => {
                self.class(before) == Some(Class::Space) && self.body(before).ends_with(' ')
            }
        }
    }

    fn space_on_the_right(&self, index: usize) -> bool {
        let next = self.body(index + 1);
        self.class(index + 1) == Some(Class::Space)
            && next.starts_with(' ')
            && !next.starts_with("  ")
    }

    fn is_apostrophe(&self, index: usize) -> bool {
        self.class(index) == Some(Class::Punctuation) && self.body(index) == "'"
    }

    /// An apostrophe before a word belongs to it.
    fn opens_a_word(&self, index: usize) -> bool {
        let next = self.class(index + 1);
        self.is_apostrophe(index) && matches!(next, Some(Class::Wordy | Class::Stray))
    }

    /// Whether a run may carry a mark at its first (last) character.
    fn has_edge(&self, index: usize, character: Option<char>) -> bool {
        let Some(character) = character else { return false };
        let properties = unicode().properties(character);
        let digits = match self.class(index) {
            Some(Class::Punctuation) => return true,
            Some(Class::Digit | Class::Hard) => is_digit_run(self.body(index)),
            Some(Class::Wordy | Class::Space | Class::Stray) | None => false,
        };
        properties & (flag::EDGE | flag::SELECTOR) != 0
            || digits && properties & flag::NUMBER_EDGE != 0
    }

    fn has_left_edge(&self, index: usize) -> bool {
        self.has_edge(index, self.body(index).chars().next())
    }

    fn has_right_edge(&self, index: usize) -> bool {
        self.has_edge(index, self.body(index).chars().next_back())
    }

    fn write_head(&self, out: &mut Out) {
        if !self.edges.start {
            return;
        }
        if self.opens_a_word(0) {
            out.bytes.push(b' ');
            return;
        }
        let begins_itself = matches!(self.class(0), Some(Class::Wordy | Class::Stray))
            || self.has_left_edge(0)
            || self.body(0).starts_with(' ');
        if !begins_itself {
            out.bytes.push(BEGIN);
        }
    }

    fn write_run(&self, index: usize, out: &mut Out) {
        let Some(class) = self.class(index) else { return };
        let body = self.body(index);
        match class {
            Class::Wordy => self.write_word(index, body, out),
            Class::Stray => {
                out.open(None, true);
                out.text(body);
                if self.class(index + 1) != Some(Class::Wordy) {
                    out.bytes.push(END);
                }
            }
            Class::Space => out.space_run(body),
            Class::Hard | Class::Digit | Class::Punctuation => {
                let begins = self.space_on_the_left(index)
                    && self.has_left_edge(index)
                    && !self.opens_a_word(index);
                out.open(None, begins);
                out.text(body);
                if self.space_on_the_right(index) && self.has_right_edge(index) {
                    out.bytes.push(END);
                }
            }
        }
    }

    fn write_word(&self, index: usize, body: &str, out: &mut Out) {
        let before = self.before(index);
        let is_fused = before.is_some_and(|before| self.class(before) == Some(Class::Stray));
        if is_fused {
            out.open(None, false);
            out.text(body);
            out.bytes.push(END);
            return;
        }
        let is_contracted = CONTRACTIONS.contains(&body)
            && before.is_some_and(|before| self.is_apostrophe(before))
            && index.checked_sub(2).is_none_or(|second| !self.has_right_edge(second));
        let case = case_of(body, self.capitals_min);
        let mark = match case {
            Case::Literal => None,
            Case::Title => Some(SHIFT),
            Case::Capitals => Some(CAPITALS),
        };
        out.open(mark, !is_contracted);
        match case {
            Case::Literal => out.text(body),
            Case::Title | Case::Capitals => lower(body).for_each(|c| out.character(c)),
        }
        out.bytes.push(END);
    }
}

/// Digits of one kind alone.
fn is_digit_run(body: &str) -> bool {
    let kind = |c: char| unicode().properties(c) & (flag::DECIMAL | flag::NUMERIC);
    let Some(first) = body.chars().next().map(kind) else { return false };
    (first == flag::DECIMAL || first == flag::NUMERIC) && body.chars().all(|c| kind(c) == first)
}

/// How the capitals of a word are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Literal,
    Title,
    Capitals,
}

/// The capital of the dotless i, which has no lower-case letter of its own.
const DOTTED_I: char = '\u{130}';

/// The capital sharp s, which is written as it is.
const SHARP_S: char = '\u{1e9e}';

fn case_of(word: &str, capitals_min: Option<usize>) -> Case {
    let unicode = unicode();
    let (mut length, mut uppers, mut first_is_upper) = (0_usize, 0_usize, false);
    let (mut has_lower, mut has_other, mut dotted) = (false, false, 0_usize);
    for character in word.chars() {
        let properties = unicode.properties(character);
        let is_upper = properties & flag::UPPER != 0;
        let is_lower = properties & flag::LOWER != 0;
        if character == SHARP_S {
            return Case::Literal;
        }
        dotted += usize::from(character == DOTTED_I);
        if length == 0 {
            first_is_upper = is_upper && character != DOTTED_I;
        }
        uppers += usize::from(is_upper);
        has_lower |= is_lower && !is_upper;
        has_other |= properties & flag::LETTER != 0 && !is_upper && !is_lower;
        length += 1;
    }
    if dotted > 0 {
        let only_first = first_is_upper && uppers == 1 + dotted_uppers(word);
        return if only_first { Case::Title } else { Case::Literal };
    }
    let is_long = capitals_min.is_some_and(|least| length >= least);
    if is_long && uppers > 0 && !has_lower && !has_other {
        Case::Capitals
    } else if first_is_upper && uppers == 1 {
        Case::Title
    } else {
        Case::Literal
    }
}

/// How many dotted capitals of a word count as capitals.
fn dotted_uppers(word: &str) -> usize {
    let is_upper = unicode().properties(DOTTED_I) & flag::UPPER != 0;
    if is_upper { word.chars().filter(|c| *c == DOTTED_I).count() } else { 0 }
}

/// Each letter by itself; a dotted capital stays.
fn lower(word: &str) -> impl Iterator<Item = char> {
    word.chars().map(|character| match character {
        DOTTED_I => DOTTED_I,
        other => Unicode::lower(other, unicode().properties(other)),
    })
}
