//! Counts of short pieces, remembered: most pieces of a text have stood in it before.

use super::table::Key;

/// Longest piece, in bytes, that is remembered; it leaves a byte for its length and count.
const PIECE_BYTES_MAX: usize = 15;

/// Fewest and most entries, of sixteen bytes each.
const ENTRIES_MIN: usize = 1 << 8;
const ENTRIES_MAX: usize = 1 << 16;

/// Bytes of text for which one entry is worth its page.
const BYTES_AN_ENTRY: usize = 16;

/// A table with one place for each hash; what comes later takes the place of what was there.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// The bytes of a piece, its length above them, its count in the lowest bits of the last byte;
    /// zero where nothing is.
    entries: Vec<u128>,
    seen_bytes: usize,
}

/// Where a piece is or goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    entry: usize,
    piece: u128,
}

impl Cache {
    /// Makes room for a text of this length, in proportion to all texts up to it.
    pub(super) fn prepare(&mut self, bytes: usize) {
        self.seen_bytes = self.seen_bytes.saturating_add(bytes);
        let wanted = (self.seen_bytes / BYTES_AN_ENTRY).clamp(ENTRIES_MIN, ENTRIES_MAX);
        if wanted > self.entries.len() {
            // Fresh memory instead of growth: it is zero without being written.
            self.entries = vec![0; wanted.next_power_of_two()];
        }
    }

    /// The place of a piece; `None` where it is too long to be remembered.
    #[inline]
    pub(super) fn place(&self, key: Key, length: usize) -> Option<Place> {
        if length > PIECE_BYTES_MAX || self.entries.is_empty() {
            return None;
        }
        let entry = key.hash as usize & (self.entries.len() - 1);
        Some(Place { entry, piece: key.head | (length as u128) << 124 })
    }

    /// The count that stands there, if it is this piece's.
    #[inline]
    pub(super) fn count(&self, place: Place) -> Option<u64> {
        let found = self.entries.get(place.entry).copied().unwrap_or(0);
        let count = (found >> 120) as u64 & 0xf;
        (found ^ place.piece == u128::from(count) << 120).then_some(count)
    }

    /// Writes a count there.
    pub(super) fn remember(&mut self, place: Place, count: u64) {
        if let Some(entry) = self.entries.get_mut(place.entry) {
            *entry = place.piece | u128::from(count & 0xf) << 120;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(piece: &[u8]) -> Key {
        Key::of(piece, 0, piece.len())
    }

    #[test]
    fn a_count_is_remembered_for_its_piece_alone() {
        let mut cache = Cache::default();
        assert!(cache.place(key(b"piece"), 5).is_none(), "a cache without room");
        cache.prepare(1);
        let place = cache.place(key(b"piece"), 5).unwrap();
        assert_eq!(cache.count(place), None);
        cache.remember(place, 3);
        assert_eq!(cache.count(place), Some(3));
        // Others in the same place: a longer one with the same bytes and zeros, another piece.
        for piece in [&b"piece\0"[..], b"pieces", b"Piece", b"pieceandpieces!"] {
            let other = cache.place(key(piece), piece.len()).unwrap();
            let other = Place { entry: place.entry, ..other };
            assert_eq!(cache.count(other), None, "{piece:?}");
            cache.remember(other, 15);
            assert_eq!((cache.count(place), cache.count(other)), (None, Some(15)));
            cache.remember(place, 3);
        }
        assert!(cache.place(key(b"pieceandpieces!!"), 16).is_none());
    }

    #[test]
    fn room_grows_with_the_texts_up_to_a_limit() {
        let mut cache = Cache::default();
        let mut rooms = Vec::new();
        for bytes in [10, 2_000, 100_000, 100, 200_000, 1 << 40, usize::MAX] {
            cache.prepare(bytes);
            rooms.push(cache.entries.len());
        }
        let limit = ENTRIES_MAX;
        assert_eq!(rooms, [256, 256, 8_192, 8_192, 32_768, limit, limit]);
    }
}
