//! Seeded choices. Each piece of text has a stream of its own, so none depends on another.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Choices of one piece of text, the same on any machine for the same seed, stream and index.
#[derive(Clone)]
pub(super) struct Draw(Pcg64);

impl Draw {
    /// The choices of piece `index` in a named stream.
    pub(super) fn new(seed: u64, stream: &str, index: u64) -> Draw {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(&index.to_le_bytes());
        hasher.update(stream.as_bytes());
        Draw(Pcg64::from_seed(*hasher.finalize().as_bytes()))
    }

    /// A number from 0 to `end - 1`; 0 where `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // The upper half of a wide product is even enough: the bias is under 2^-50 for our pools.
        let product = u128::from(self.0.next_u64()) * end as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which are never empty.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of the words of a pool.
    pub(super) fn word(&mut self, pool: &[&'static str]) -> &'static str {
        pool[self.below(pool.len())]
    }

    /// Characters out of `alphabet`, which is ASCII.
    pub(super) fn characters(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(alphabet))).collect()
    }

    /// Characters of base 62, as in identities of tool calls.
    pub(super) fn base62(&mut self, length: usize) -> String {
        self.characters(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_apart_and_repeatable() {
        let first = |seed, stream, index| Draw::new(seed, stream, index).base62(24);
        assert_eq!(first(7, "a", 0), first(7, "a", 0));
        let texts = [first(7, "a", 0), first(8, "a", 0), first(7, "b", 0), first(7, "a", 1)];
        let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut draw = Draw::new(1, "range", 0);
        let seen: std::collections::BTreeSet<usize> =
            (0..2_000).map(|_| draw.between(3, 9)).collect();
        assert_eq!(seen, (3..=9).collect());
    }
}
