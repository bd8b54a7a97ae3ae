//! Neighbours of one class of characters.

use std::ops::Range;

use super::table::{CLASS, IDEOGRAPH, IDEOGRAPH_BYTES, begins_ideograph, flag, unicode};

/// What a run is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Characters that stand for themselves: ideographs, emoji, symbols.
    Hard,
    /// Letters.
    Wordy,
    /// Digits.
    Digit,
    /// ASCII punctuation.
    Punctuation,
    /// White space.
    Space,
    /// Vowel signs and the like without a letter before them.
    Stray,
}

/// Neighbours of one class: bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) class: Class,
    pub(super) bytes: Range<usize>,
}

/// Replaces `runs` by the runs of a normal text, in order; together they are all of it.
pub(super) fn find_runs(text: &str, runs: &mut Vec<Run>) {
    let unicode = unicode();
    runs.clear();
    // Of a hard run: the kind that all of its characters have.
    let mut kind = 0;
    let mut end = 0;
    while let Some(first) = text.as_bytes().get(end) {
        let start = end;
        let properties = if begins_ideograph(*first) {
            let ideographs = text.as_bytes()[start..].chunks_exact(IDEOGRAPH_BYTES);
            let count = ideographs.take_while(|bytes| begins_ideograph(bytes[0])).count();
            end += IDEOGRAPH_BYTES * count;
            IDEOGRAPH
        } else {
            let Some(character) = text[start..].chars().next() else { break };
            end += character.len_utf8();
            unicode.properties(character)
        };
        let before = runs.last().map(|run| run.class);
        let class = class_of(properties, before);
        let own_kind = hard_kind(properties);
        let joins = before == Some(class)
            && (class != Class::Hard || properties & flag::SELECTOR != 0 || own_kind == kind);
        match runs.last_mut().filter(|_| joins) {
            Some(run) => run.bytes.end = end,
            None => {
                runs.push(Run { class, bytes: start..end });
                kind = own_kind;
            }
        }
    }
}

fn class_of(properties: u32, before: Option<Class>) -> Class {
    match properties & CLASS {
        1 if properties & flag::STRAY != 0 && before != Some(Class::Wordy) => Class::Stray,
        1 => Class::Wordy,
        2 => Class::Digit,
        3 => Class::Punctuation,
        4 => Class::Space,
        _ => Class::Hard,
    }
}

/// Hard runs are cut where this changes.
fn hard_kind(properties: u32) -> u32 {
    if properties & flag::EDGE != 0 {
        1
    } else if properties & flag::NUMBER_EDGE != 0 {
        2
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_part_and_cover_the_text() {
        let text = "it's 12 \u{6587}\u{ff1f}!\n";
        let mut runs = Vec::new();
        find_runs(text, &mut runs);
        let found: Vec<(Class, &str)> =
            runs.into_iter().map(|run| (run.class, &text[run.bytes])).collect();
        assert_eq!(
            found,
            [
                (Class::Wordy, "it"),
                (Class::Punctuation, "'"),
                (Class::Wordy, "s"),
                (Class::Space, " "),
                (Class::Digit, "12"),
                (Class::Space, " "),
                (Class::Hard, "\u{6587}"),
                (Class::Hard, "\u{ff1f}"),
                (Class::Punctuation, "!"),
                (Class::Space, "\n"),
            ]
        );
    }
}
