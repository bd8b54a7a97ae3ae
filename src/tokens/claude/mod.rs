//! Token counts of the Claude families, from measured piece tables.
//!
//! A text is normalised, cut into runs of one class of characters, written as a stream of bytes in
//! which the beginnings and ends of words and their capitals are marked, and the stream is covered
//! with as few pieces as it takes. `docs/claude-tokens.md` has the rules and where they come from.
//! The counts are an unofficial reconstruction; which tokens they are is not known, and not
//! claimed.

mod behind;
mod case;
mod compose;
mod count;
mod memory;
mod normalise;
mod runs;
mod scan;
mod stream;
mod table;
mod tiling;

pub use behind::{JOINT_BYTES, joint};
use count::{Place, count};
pub use table::{TableError, check_tables};

/// Models that count tokens alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaudeFamily {
    /// Claude 3 to Opus 4.6, Sonnet 4.6 and Haiku 4.5.
    V3,
    /// Opus 4.7.
    V47,
    /// Opus 4.8, Sonnet 5, Opus 5, Fable 5 and later: the pieces of Opus 4.7 in another frame.
    V48,
}

impl ClaudeFamily {
    /// Every family.
    pub const ALL: [ClaudeFamily; 3] = [ClaudeFamily::V3, ClaudeFamily::V47, ClaudeFamily::V48];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ClaudeFamily::V3 => "claude-v3",
            ClaudeFamily::V47 => "claude-v4.7",
            ClaudeFamily::V48 => "claude-v4.8",
        }
    }

    /// Tokens of a request that holds one user message of this text and nothing else, as the
    /// provider counts it.
    pub fn count_message(self, text: &str) -> u64 {
        self.count_apart(text) + self.frame_tokens()
    }

    /// Tokens of a text that is a message of its own, without the message's frame: it begins and
    /// ends as a message does, and its trailing line ends cost what they cost there.
    pub fn count_apart(self, text: &str) -> u64 {
        count(self, text, Place::Message)
    }

    /// Tokens of a text inside a longer one: what it adds where it begins behind a line end and
    /// another character than white space follows its own last line end.
    pub fn count_inside(self, text: &str) -> u64 {
        count(self, text, Place::Inside)
    }

    /// Tokens of a request with one empty message, without the empty text itself.
    fn frame_tokens(self) -> u64 {
        match self {
            ClaudeFamily::V3 => 7,
            ClaudeFamily::V47 => 11,
            ClaudeFamily::V48 => 6,
        }
    }

    /// Whether the frame ends so that a message begins like a word behind a space.
    fn frame_begins_a_word(self) -> bool {
        match self {
            ClaudeFamily::V3 | ClaudeFamily::V47 => true,
            ClaudeFamily::V48 => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn worked_examples() {
        for (text, counts) in [
            ("", [8, 12, 6]),
            ("hello, world", [10, 15, 10]),
            ("NASA", [8, 14, 9]),
            ("it's", [9, 13, 8]),
            ("12345", [10, 14, 8]),
            ("a\r\nb", [10, 14, 9]),
            ("e\u{301}", [8, 12, 7]),
            ("\u{2764}\u{fe0f} a", [13, 17, 11]),
            ("a\n\n", [8, 12, 7]),
        ] {
            let found = ClaudeFamily::ALL.map(|family| family.count_message(text));
            assert_eq!(found, counts, "{text:?}");
        }
    }

    #[test]
    fn long_runs_have_their_closed_forms() {
        for family in ClaudeFamily::ALL {
            for length in [1, 15, 16, 17, 1_000, 100_000] {
                let spaces = family.count_inside(&" ".repeat(length));
                assert_eq!(spaces, length.div_ceil(16) as u64, "{length} spaces");
                let digits = family.count_inside(&"7".repeat(length));
                assert_eq!(digits, length.div_ceil(3) as u64, "{length} digits");
            }
        }
    }

    #[test]
    fn hostile_text_is_counted_and_costs_no_more_than_its_bytes() {
        let million = 1_000_000;
        for text in [
            "a".repeat(million),
            "A".repeat(million),
            "=".repeat(million),
            "\n".repeat(million),
            " \n".repeat(million / 2),
            "\u{a0}".repeat(million / 2),
            "\u{301}".repeat(million / 2),
            "a\u{301}\u{323}".repeat(million / 5),
            "\u{1f600}".repeat(million / 4),
            "\0\u{7}\u{1b}".repeat(million / 3),
            "'s".repeat(million / 2),
            "\u{e4d}\u{e32}".repeat(million / 6),
        ] {
            for family in ClaudeFamily::ALL {
                let tokens = family.count_inside(&text);
                // A word costs its marks beside its bytes.
                assert!(tokens <= 3 * text.len() as u64);
            }
        }
    }

    pub(super) fn mixed() -> impl Strategy<Value = String> {
        crate::tokens::samples::mixed(60)
    }

    proptest! {
        #[test]
        fn parts_cut_behind_a_line_end_add_up(
            left in mixed(), first in "[!-~]", right in mixed(),
        ) {
            let (left, right) = (format!("{left}\n"), format!("{first}{right}"));
            let whole = format!("{left}{right}");
            for family in ClaudeFamily::ALL {
                let parts = family.count_inside(&left) + family.count_inside(&right);
                prop_assert_eq!(family.count_inside(&whole), parts);
            }
        }

        #[test]
        fn carriage_returns_and_escapes_cost_nothing(text in "[ -~\n]{0,80}") {
            let noisy: String = text.chars().flat_map(|c| ['\u{7}', c, '\u{1b}']).collect();
            for family in ClaudeFamily::ALL {
                prop_assert_eq!(family.count_inside(&noisy), family.count_inside(&text));
            }
        }
    }
}
