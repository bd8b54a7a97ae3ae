//! The words behind each reason: why a request read no more than it did.

/// A reason and its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Stable name, as in the column `reason` of `records.csv`.
    pub name: &'static str,
    /// A clause that explains it to a reader who knows what a marker is.
    pub words: &'static str,
}

const fn reason(name: &'static str, words: &'static str) -> Reason {
    Reason { name, words }
}

/// All reasons, in the order of [`crate::record::Reason`].
pub const REASONS: &[Reason] = &[
    reason("first_of_prefix", "no request that started before or with it has its first block"),
    reason("hit", "everything it shares with another request was read"),
    reason("no_marker", "it has no marker at or behind an entry that was there to be read"),
    reason(
        "below_minimum",
        "a prefix that was marked for it is shorter than the model's minimum for caching",
    ),
    reason(
        "not_yet_readable",
        "another request was writing the same prefix, but its response had not begun",
    ),
    reason("expired", "the entry was there, but its lifetime was over"),
    reason(
        "lookback_exceeded",
        "the entry was there, but further before the marker than the lookback reaches",
    ),
    reason(
        "no_entry_at_boundary",
        "nobody wrote an entry at the end of what it shares, so at most a shorter one was read",
    ),
];

/// The words for `name`; a name outside [`REASONS`] gets a clause that says so.
pub fn reason_text(name: &str) -> &'static str {
    REASONS
        .iter()
        .find(|reason| reason.name == name)
        .map_or("a reason without an explanation", |reason| reason.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_a_record_has_words() {
        let names: Vec<&str> = REASONS.iter().map(|reason| reason.name).collect();
        assert_eq!(names, crate::record::Reason::ALL.map(crate::record::Reason::as_str));
    }

    #[test]
    fn every_reason_has_words_of_its_own() {
        for (index, reason) in REASONS.iter().enumerate() {
            assert_eq!(reason_text(reason.name), reason.words);
            assert!(REASONS[..index].iter().all(|before| before.name != reason.name));
            assert!(REASONS[..index].iter().all(|before| before.words != reason.words));
        }
        assert_eq!(reason_text("nonsense"), "a reason without an explanation");
    }
}
