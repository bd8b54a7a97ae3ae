//! Cuts text so that no run of whitespace is long enough to break the encoder.
//!
//! The encoder's pattern backtracks over whitespace and gives up, with a panic, at a million steps:
//! any run of 999,999 spaces, tabs or no-break spaces ends the process. So runs are cut to
//! [`RUN_BYTES_MAX`].

/// Longest run of whitespace, in bytes, that goes to the encoder in one piece.
pub(super) const RUN_BYTES_MAX: usize = 100_000;

/// The pieces of `text` in order: one piece, without a copy, unless a run of whitespace is longer
/// than [`RUN_BYTES_MAX`].
///
/// Counts of the pieces add up to the count of the text exactly where there is one piece. Each
/// further cut splits what the encoder would have merged across it: measured on runs that it still
/// survives, the sum is off by at most two tokens a cut (the tests hold it to that).
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(cut(rest));
        rest = behind;
        Some(piece)
    })
}

/// Where the first piece ends.
fn cut(text: &str) -> usize {
    if text.len() <= RUN_BYTES_MAX {
        return text.len();
    }
    let mut run_start = 0;
    for (at, character) in text.char_indices() {
        if !character.is_whitespace() {
            run_start = at + character.len_utf8();
        } else if at + character.len_utf8() - run_start > RUN_BYTES_MAX {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_cut() {
        let words = "a b\n".repeat(RUN_BYTES_MAX);
        assert_eq!(pieces(&words).collect::<Vec<_>>(), [words.as_str()]);
        let at_limit = format!("a{}b", " ".repeat(RUN_BYTES_MAX));
        assert_eq!(pieces(&at_limit).count(), 1);
        let over = format!("a{}b", " ".repeat(RUN_BYTES_MAX + 1));
        assert_eq!(pieces(&over).map(str::len).collect::<Vec<_>>(), [RUN_BYTES_MAX + 1, 2]);
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    fn wide_whitespace_is_cut_between_characters() {
        let text = "\u{3000}\u{a0}\t".repeat(RUN_BYTES_MAX / 2);
        let pieces: Vec<&str> = pieces(&text).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() > 2);
        assert!(pieces.iter().all(|piece| piece.len() <= RUN_BYTES_MAX));
    }
}
