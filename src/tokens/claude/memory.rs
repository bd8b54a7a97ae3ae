//! Costs of short stretches that were counted before.

use super::scan::{KEY_BYTES, Key};
use super::stream::{Before, Behind};

/// Places of 32 bytes; a power of two. Most texts have fewer different words; what a short text
/// does not touch costs nothing.
const PLACES: usize = 1 << 15;

/// What a stretch is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Gap(Before, Behind),
}

/// Costs by stretch: each stretch has one place, where it replaces what was there. Exact, because a
/// place holds the whole stretch.
pub(super) struct Memory {
    /// Keys, and behind each its cost. Numbers alone, so that zeros come from the system untouched.
    places: Vec<[u64; 4]>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { places: vec![[0; 4]; PLACES] }
    }
}

impl Memory {
    /// The cost of a stretch, remembered or counted now.
    pub(super) fn cost(&mut self, key: Key, count: impl FnOnce() -> u64) -> u64 {
        let place = &mut self.places[place_of(key)];
        let [first, second, third, cost] = *place;
        if [first, second, third] == key {
            return cost;
        }
        let cost = count();
        let [first, second, third] = key;
        *place = [first, second, third, cost];
        cost
    }
}

/// The key of a stretch of `length` bytes, at most [`KEY_BYTES`] and at least 1.
pub(super) fn tagged(bytes: Key, length: usize, kind: Kind) -> Key {
    let number = match kind {
        Kind::Word => 0,
        Kind::Gap(before, behind) => 1 + 2 * before as u64 + behind as u64,
    };
    let [first, second, third] = bytes;
    [first, second, third | (number * (KEY_BYTES as u64 + 1) + length as u64) << 56]
}

fn place_of([first, second, third]: Key) -> usize {
    let mixed = first ^ second.rotate_left(23) ^ third.rotate_left(41);
    let spread = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::super::scan::load;
    use super::*;

    #[test]
    fn every_kind_and_length_has_a_key_of_its_own() {
        let befores = [Before::Nothing, Before::Frame, Before::Word, Before::EdgedWord];
        let gaps = befores.iter().flat_map(|before| {
            [Behind::Nothing, Behind::Word].map(|behind| Kind::Gap(*before, behind))
        });
        let mut keys: Vec<Key> = gaps
            .chain([Kind::Word])
            .flat_map(|kind| (1..=KEY_BYTES).map(move |length| tagged([0; 3], length, kind)))
            .collect();
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), keys.first() == Some(&[0; 3])), (all, false));
    }

    #[test]
    fn a_cost_is_counted_once_and_again_when_it_was_replaced() {
        let mut memory = Memory::default();
        let word = tagged(load(b"word"), 4, Kind::Word);
        assert_eq!((memory.cost(word, || 7), memory.cost(word, || 8)), (7, 7));
        for number in 0..100_000_u64 {
            memory.cost(tagged([number, 0, 0], 8, Kind::Word), || 1);
        }
        assert_eq!(memory.cost(word, || 9), 9);
    }
}
