//! Where the words of a text are, eight bytes at a time where they are ASCII.

use super::stream::CONTRACTIONS;
use super::table::{CLASS, IDEOGRAPH_BYTES, Unicode, WORDY, begins_ideograph, flag};

/// Most bytes that a [`Key`] holds.
pub(super) const KEY_BYTES: usize = 23;

/// A stretch of at most [`KEY_BYTES`] bytes, and in its last byte what else its cost depends on,
/// the length included.
pub(super) type Key = [u64; 3];

const HIGHS: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte that is an ASCII letter.
fn letters(bytes: u64) -> u64 {
    let small = (bytes | (0x20 * ONES)) & !HIGHS;
    let from_a = small + (0x80 - u64::from(b'a')) * ONES;
    let past_z = small + (0x80 - u64::from(b'z') - 1) * ONES;
    from_a & !past_z & !bytes & HIGHS
}

/// The first bytes of a text as three words; zeros where it has fewer.
pub(super) fn load(bytes: &[u8]) -> Key {
    let mut padded = [0; 24];
    let chunk = bytes.first_chunk::<24>().unwrap_or_else(|| {
        padded[..bytes.len()].copy_from_slice(bytes);
        &padded
    });
    let (words, _) = chunk.as_chunks::<8>();
    [0, 1, 2].map(|at| u64::from_le_bytes(words[at]))
}

/// How many of the first 24 bytes are letters (24 where all are), and those bytes.
pub(super) fn leading_letters(head: &Key) -> (usize, Key) {
    leading(head, |word| letters(word) ^ HIGHS)
}

/// How many of the first 24 bytes are neither letters nor parts of longer characters, and those.
pub(super) fn leading_others(head: &Key) -> (usize, Key) {
    leading(head, |word| letters(word) | word & HIGHS)
}

/// The bytes before the first for which `ends` sets its highest bit, and how many they are.
fn leading(head: &Key, ends: impl Fn(u64) -> u64) -> (usize, Key) {
    let [first, second, third] = *head;
    let cut = |word: u64, found: u64| {
        let bits = found.trailing_zeros() & !7;
        (bits as usize / 8, word & !(u64::MAX << bits))
    };
    // Most stretches are shorter than eight bytes.
    let found = ends(first);
    if found != 0 {
        let (length, kept) = cut(first, found);
        return (length, [kept, 0, 0]);
    }
    let found = ends(second);
    if found != 0 {
        let (length, kept) = cut(second, found);
        return (8 + length, [first, kept, 0]);
    }
    let found = ends(third);
    if found != 0 {
        let (length, kept) = cut(third, found);
        return (16 + length, [first, second, kept]);
    }
    (24, *head)
}

/// The bytes of a short stretch.
pub(super) fn key(stretch: &[u8]) -> Option<Key> {
    (stretch.len() <= KEY_BYTES).then(|| load(stretch))
}

/// The end of the letters that go on at `at`.
pub(super) fn word_end(text: &str, at: usize, unicode: &Unicode) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    while at < bytes.len() {
        if bytes[at].is_ascii() {
            if !bytes[at].is_ascii_alphabetic() {
                break;
            }
            at += 1;
            continue;
        }
        let Some(character) = text[at..].chars().next() else { break };
        if unicode.properties(character) & CLASS != WORDY {
            break;
        }
        at += character.len_utf8();
    }
    at
}

/// The end of what stands between two words and goes on at `at`; it began at `start`. Letters
/// behind a stray vowel sign belong to it, and those that may be a contraction.
pub(super) fn gap_end(text: &str, start: usize, at: usize, unicode: &Unicode) -> usize {
    let bytes = text.as_bytes();
    let mut at = at;
    while at < bytes.len() {
        if bytes[at].is_ascii() {
            if !bytes[at].is_ascii_alphabetic() {
                at += 1;
                continue;
            }
        } else if begins_ideograph(bytes[at]) {
            at += IDEOGRAPH_BYTES;
            continue;
        } else {
            let Some(character) = text[at..].chars().next() else { break };
            let properties = unicode.properties(character);
            if properties & CLASS != WORDY {
                at += character.len_utf8();
                continue;
            }
            if properties & flag::STRAY != 0 {
                at = word_end(text, at, unicode);
                continue;
            }
        }
        match contraction_end(text, start, at, unicode) {
            Some(end) => at = end,
            None => break,
        }
    }
    at
}

/// The end of the letters at `at` if they may be a contraction: they follow an apostrophe.
pub(super) fn contraction_end(
    text: &str,
    start: usize,
    at: usize,
    unicode: &Unicode,
) -> Option<usize> {
    if at == start || text.as_bytes()[at - 1] != b'\'' {
        return None;
    }
    let end = word_end(text, at, unicode);
    CONTRACTIONS.contains(&&text[at..end]).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_apart_eight_at_a_time() {
        for byte in 0..=0xff_u8 {
            let at_each = (0..8).map(|at| letters(u64::from(byte) << (8 * at)));
            for (at, found) in at_each.enumerate() {
                let expected = if byte.is_ascii_alphabetic() { 0x80 << (8 * at) } else { 0 };
                assert_eq!(found, expected, "{byte:02x}");
            }
        }
        // Neighbours make no difference.
        assert_eq!(letters(u64::from_le_bytes(*b"aZ[`{@z\xff")), 0x0080_0000_0000_8080);
    }

    #[test]
    fn stretches_end_where_their_kind_does() {
        let head = load(b"Word, and more of the same text");
        assert_eq!(leading_letters(&head), (4, load(b"Word")));
        assert_eq!(leading_letters(&load(b"abcdefghijklm1")).0, 13);
        assert_eq!(leading_letters(&load(&[b'x'; 30])).0, 24);
        assert_eq!(leading_others(&load(b", 12 \xe9")), (5, load(b", 12 ")));
        assert_eq!(leading_others(&load(b"")).0, 24);
    }
}
