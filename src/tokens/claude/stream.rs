//! A text as the stream of bytes that pieces cover: words with marks for their beginning, their end
//! and their capitals. The marks are bytes that UTF-8 never has.
//!
//! Words and what stands between them are written apart: no piece spans the border, and a word is
//! written alike wherever it stands.

use super::case::{Case, case_of, push_lower};
use super::runs::{Class, Run, find_runs};
use super::table::{flag, unicode};

/// A word begins.
pub(super) const BEGIN: u8 = 0xf8;
/// A word ends.
pub(super) const END: u8 = 0xf9;
/// The first letter of the word is a capital.
pub(super) const SHIFT: u8 = 0xfa;
/// All letters of the word are capitals.
pub(super) const CAPITALS: u8 = 0xfb;

/// What may follow an apostrophe without beginning a word.
pub(super) const CONTRACTIONS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];

/// What stands before a gap between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// A place inside a text that it does not depend on.
    Nothing,
    /// The frame of a message, which is like a space.
    Frame,
    /// A word.
    Word,
    /// A word whose last character may carry a mark as punctuation does.
    EdgedWord,
}

/// What stands behind a gap between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Nothing, or a place that it does not depend on.
    Nothing,
    /// A word.
    Word,
}

/// Appends the stream of a word: letters that stand neither behind a stray run nor as contraction.
pub(super) fn write_word(word: &str, capitals_min: Option<usize>, out: &mut Vec<u8>) {
    let case = case_of(word, capitals_min);
    match case {
        Case::Literal => out.push(BEGIN),
        Case::Title => out.extend([SHIFT, BEGIN]),
        Case::Capitals => out.extend([CAPITALS, BEGIN]),
    }
    match case {
        Case::Literal => out.extend_from_slice(word.as_bytes()),
        Case::Title | Case::Capitals => push_lower(word, out),
    }
    out.push(END);
}

/// Appends the stream of what stands between two words, or between a word and an end of the text.
pub(super) fn write_gap(
    gap: &str,
    before: Before,
    behind: Behind,
    runs: &mut Vec<Run>,
    out: &mut Vec<u8>,
) {
    find_runs(gap, runs);
    let view = View { text: gap, runs, before, behind };
    let ends = matches!(before, Before::Word | Before::EdgedWord);
    let mut out = Out { bytes: out, ends, space: false };
    view.write_head(&mut out);
    for index in 0..view.runs.len() {
        view.write_run(index, &mut out);
    }
    if behind == Behind::Nothing {
        out.flush();
    }
}

/// Bytes so far. A single space behind the end of a word is held back: where a word begins next it
/// costs nothing.
struct Out<'a> {
    bytes: &'a mut Vec<u8>,
    /// The last byte is `END`.
    ends: bool,
    space: bool,
}

impl Out<'_> {
    fn flush(&mut self) {
        if std::mem::take(&mut self.space) {
            self.push(b' ');
        }
    }

    fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
        self.ends = byte == END;
    }

    /// A run behind a `BEGIN` where `begins`.
    fn run(&mut self, begins: bool, text: &str) {
        if begins {
            self.space = false;
            self.push(BEGIN);
        } else {
            self.flush();
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends = false;
    }

    fn space_run(&mut self, text: &str) {
        if text == " " && self.ends {
            self.space = true;
        } else {
            self.run(false, text);
        }
    }
}

/// The runs of a gap. Letters among them are fused to a stray run, or a contraction.
struct View<'a> {
    text: &'a str,
    runs: &'a [Run],
    before: Before,
    behind: Behind,
}

impl View<'_> {
    fn class(&self, index: usize) -> Option<Class> {
        match self.runs.get(index) {
            Some(run) => Some(run.class),
            None if self.behind == Behind::Word && index == self.runs.len() => Some(Class::Wordy),
            None => None,
        }
    }

    fn body(&self, index: usize) -> &str {
        self.runs.get(index).map_or("", |run| &self.text[run.bytes.clone()])
    }

    fn space_on_the_left(&self, index: usize) -> bool {
        match index.checked_sub(1) {
            None => self.before == Before::Frame,
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
        if properties & (flag::EDGE | flag::SELECTOR) != 0 {
            return true;
        }
        match self.class(index) {
            Some(Class::Punctuation) => true,
            Some(Class::Digit | Class::Hard) => {
                properties & flag::NUMBER_EDGE != 0 && is_digit_run(self.body(index))
            }
            Some(Class::Wordy | Class::Space | Class::Stray) | None => false,
        }
    }

    fn has_left_edge(&self, index: usize) -> bool {
        self.has_edge(index, self.body(index).chars().next())
    }

    fn has_right_edge(&self, index: usize) -> bool {
        self.has_edge(index, self.body(index).chars().next_back())
    }

    fn write_head(&self, out: &mut Out) {
        if self.before != Before::Frame || self.runs.is_empty() {
            return;
        }
        if self.opens_a_word(0) {
            out.push(b' ');
            return;
        }
        let begins_itself = self.class(0) == Some(Class::Stray)
            || self.has_left_edge(0)
            || self.body(0).starts_with(' ');
        if !begins_itself {
            out.push(BEGIN);
        }
    }

    fn write_run(&self, index: usize, out: &mut Out) {
        let Some(class) = self.class(index) else { return };
        let body = self.body(index);
        match class {
            Class::Wordy => {
                // Behind a stray run it has no beginning of its own; else it is spelt as small as
                // contractions are.
                let begins = !self.is_fused(index) && !self.is_contracted(index);
                out.run(begins, body);
                out.push(END);
            }
            Class::Stray => {
                out.run(true, body);
                if self.class(index + 1) != Some(Class::Wordy) {
                    out.push(END);
                }
            }
            Class::Space => out.space_run(body),
            Class::Hard | Class::Digit | Class::Punctuation => {
                let begins = self.space_on_the_left(index)
                    && self.has_left_edge(index)
                    && !self.opens_a_word(index);
                out.run(begins, body);
                if self.space_on_the_right(index) && self.has_right_edge(index) {
                    out.push(END);
                }
            }
        }
    }

    fn is_fused(&self, index: usize) -> bool {
        index.checked_sub(1).is_some_and(|before| self.class(before) == Some(Class::Stray))
    }

    fn is_contracted(&self, index: usize) -> bool {
        let is_apart = match index.checked_sub(2) {
            Some(second) => !self.has_right_edge(second),
            None => self.before != Before::EdgedWord,
        };
        let follows = index.checked_sub(1).is_some_and(|before| self.is_apostrophe(before));
        follows && is_apart && CONTRACTIONS.contains(&self.body(index))
    }
}

/// Digits of one kind alone.
fn is_digit_run(body: &str) -> bool {
    let kind = |c: char| unicode().properties(c) & (flag::DECIMAL | flag::NUMERIC);
    let Some(first) = body.chars().next().map(kind) else { return false };
    (first == flag::DECIMAL || first == flag::NUMERIC) && body.chars().all(|c| kind(c) == first)
}
