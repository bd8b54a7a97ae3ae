//! Maps and sets keyed by the identity of a prefix.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by prefix hashes. Its order is never looked at.
pub type PrefixMap<K, V> = HashMap<K, V, BuildHasherDefault<PrefixHasher>>;

/// Hashes prefix hashes: they are fingerprints already, so folding them is enough and several times
/// faster than the standard hasher, which has to stand up to keys that somebody chose.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrefixHasher(u64);

/// An odd number with its bits spread, so that any one bit of a key reaches the upper bits of its
/// hash.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl PrefixHasher {
    fn fold(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(29) ^ value).wrapping_mul(SPREAD);
    }
}

impl Hasher for PrefixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.fold(u64::from(*byte)));
    }

    fn write_u128(&mut self, value: u128) {
        let (low, high) = (value as u64, (value >> 64) as u64);
        self.fold(low ^ high.rotate_left(32));
    }

    fn write_usize(&mut self, value: usize) {
        self.fold(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.fold(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;
    use crate::units::CacheTtl;

    #[test]
    fn keys_that_differ_in_one_bit_or_in_their_lifetime_have_hashes_of_their_own() {
        let hasher = BuildHasherDefault::<PrefixHasher>::default();
        let bits = (0..128).map(|bit| 1_u128 << bit).chain([0]);
        let ttls = [None, Some(CacheTtl::FiveMinutes), Some(CacheTtl::OneHour)];
        let keys: Vec<(u128, Option<CacheTtl>)> =
            bits.flat_map(|bit| ttls.map(|ttl| (bit, ttl))).collect();
        let hashes: BTreeSet<u64> = keys.iter().map(|key| hasher.hash_one(key)).collect();
        // Folding maps bit n and bit n + 64 together for some n, never more than two keys.
        assert!(hashes.len() * 2 >= keys.len(), "{} of {}", hashes.len(), keys.len());
        // The upper seven bits choose within a group of the table.
        let upper: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert!(upper.len() > 64, "{}", upper.len());
    }

    #[test]
    fn a_map_finds_what_was_put_in() {
        let mut map: PrefixMap<(u128, Option<CacheTtl>), usize> = PrefixMap::default();
        for number in 0..1_000_u128 {
            map.insert((number << 60, None), number as usize);
        }
        assert!((0..1_000_u128).all(|n| map.get(&(n << 60, None)) == Some(&(n as usize))));
        assert_eq!(map.get(&(0, Some(CacheTtl::OneHour))), None);
    }
}
