//! A vocabulary and the classes of characters, as they lie in the program's read-only data.
//!
//! Opening a table slices it and reads nothing else: the system loads the pages that are touched.
//! A token is found without a search: its hash names a bucket, the bucket's pilot moves the hash to
//! a slot that no other token has, and the slot's rank leads to the bytes that decide.
//! `data/openai/generate_tables.py` lays the tables out.

use thiserror::Error;

/// Bytes before the payload of a table.
const HEADER_BYTES: usize = 64;

/// Version of the layout.
const FORMAT: u32 = 1;

/// Low bits of a slot that hold the rank; the others hold a part of the hash.
const RANK_BITS: u32 = 18;

/// Zeros behind the last token, so that sixteen bytes can be read anywhere.
const PADDING: usize = 16;

/// Code points that share a block of classes.
const BLOCK: usize = 128;

/// What a span that is no token has for a rank: above that of every token.
pub(super) const NO_RANK: u32 = u32::MAX;

// Odd numbers without a pattern: the fractional bits of pi.
const LENGTH_FACTOR: u64 = 0x243F_6A88_85A3_08D3;
const HIGH_KEY: u64 = 0x1319_8A2E_0370_7344;
const PILOT_FACTOR: u64 = 0xA409_3822_299F_31D1;
const PLACE_FACTOR: u64 = 0x082E_FA98_EC4E_6C89;

/// Classes of characters. A character has exactly one; they are bits so that sets are masks.
pub(super) mod class {
    /// Capital and title-case letters.
    pub(crate) const UPPER: u8 = 1;
    /// Small letters.
    pub(crate) const LOWER: u8 = 1 << 1;
    /// Letters without case, and modifier letters.
    pub(crate) const CASELESS: u8 = 1 << 2;
    /// Combining marks.
    pub(crate) const MARK: u8 = 1 << 3;
    /// Numbers of every kind.
    pub(crate) const NUMBER: u8 = 1 << 4;
    /// White space other than line ends.
    pub(crate) const SPACE: u8 = 1 << 5;
    /// Carriage return and line feed.
    pub(crate) const LINE_END: u8 = 1 << 6;
    /// Everything else.
    pub(crate) const OTHER: u8 = 1 << 7;
    /// What the end of the text has for a class.
    pub(crate) const NONE: u8 = 0;
}

/// Why bytes are no table.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(super) enum TableError {
    /// It does not begin as a table of this vocabulary.
    #[error("read the table: it does not begin with the vocabulary's mark")]
    Magic,
    /// Another version of the layout.
    #[error("read the table: its format is {found}, not {FORMAT}")]
    Format {
        /// The version it states.
        found: u32,
    },
    /// It is shorter or longer than it says, or its parts are.
    #[error("read the table: its length is not the stated one")]
    Length,
}

/// The parts of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    slots: &'a [[u8; 4]],
    offsets: &'a [[u8; 4]],
    pilots: &'a [u8],
    index: &'a [u8],
    blocks: &'a [[u8; BLOCK]],
    bytes: &'a [u8],
    longest: usize,
}

/// The beginning of a span: up to sixteen bytes as a number (zeros behind the end), and the hash of
/// the whole span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) head: u128,
    pub(super) hash: u64,
}

impl<'a> Table<'a> {
    /// No token and no letter: every byte counts as one token.
    pub(super) const EMPTY: Table<'static> = Table {
        slots: &[],
        offsets: &[],
        pilots: &[],
        index: &[],
        blocks: &[],
        bytes: &[],
        longest: 0,
    };

    /// The table in these bytes. Its checksum is compared by a test and not here: that would read
    /// all of it.
    ///
    /// # Errors
    /// Where mark, format or length are not those of a table.
    pub(super) const fn open(table: &'a [u8], magic: &[u8; 8]) -> Result<Table<'a>, TableError> {
        let Some((header, payload)) = table.split_at_checked(HEADER_BYTES) else {
            return Err(TableError::Length);
        };
        let (mark, numbers) = header.split_at(8);
        let mut at = 0;
        while at < magic.len() {
            if mark[at] != magic[at] {
                return Err(TableError::Magic);
            }
            at += 1;
        }
        let (numbers, _) = numbers.as_chunks::<4>();
        let found = u32::from_le_bytes(numbers[0]);
        if found != FORMAT {
            return Err(TableError::Format { found });
        }
        if number(numbers, 1) != payload.len() {
            return Err(TableError::Length);
        }
        // Behind format, length and checksum.
        let (_, sizes) = numbers.split_at(3);
        match Table::slice(payload, sizes) {
            Some(parts) => Ok(parts),
            None => Err(TableError::Length),
        }
    }

    const fn slice(payload: &'a [u8], sizes: &[[u8; 4]]) -> Option<Table<'a>> {
        let (tokens, slots, pilots) = (number(sizes, 0), number(sizes, 1), number(sizes, 2));
        let (bytes, longest, blocks) = (number(sizes, 3), number(sizes, 4), number(sizes, 5));
        let index = 0x11_0000 / BLOCK;
        let lengths = [4 * slots, 4 * (tokens + 1), pilots, index, BLOCK * blocks, bytes + PADDING];
        let mut parts: [&[u8]; 6] = [&[]; 6];
        let (mut rest, mut at) = (payload, 0);
        while at < lengths.len() {
            let Some((part, behind)) = rest.split_at_checked(lengths[at]) else { return None };
            (parts[at], rest) = (part, behind);
            at += 1;
        }
        if !rest.is_empty() {
            return None;
        }
        let [slots, offsets, pilots, index, blocks, bytes] = parts;
        Some(Table {
            slots: slots.as_chunks().0,
            offsets: offsets.as_chunks().0,
            pilots,
            index,
            blocks: blocks.as_chunks().0,
            bytes,
            longest,
        })
    }

    /// Bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The rank of the token that `text[start..end]` is; [`NO_RANK`] where it is none.
    #[inline]
    pub(super) fn rank(&self, text: &[u8], start: usize, end: usize) -> u32 {
        if end - start > self.longest {
            return NO_RANK;
        }
        self.rank_of(Key::of(text, start, end), text, start, end)
    }

    /// The same for a span whose key is known.
    #[inline]
    pub(super) fn rank_of(&self, key: Key, text: &[u8], start: usize, end: usize) -> u32 {
        let pilot = self.pilots.get(scaled(key.hash, self.pilots.len())).copied().unwrap_or(0);
        let place = place(key.hash, pilot, self.slots.len());
        let Some(slot) = self.slots.get(place) else { return NO_RANK };
        let slot = u32::from_le_bytes(*slot);
        if u64::from(slot >> RANK_BITS) != key.hash & ((1 << (32 - RANK_BITS)) - 1) {
            return NO_RANK;
        }
        // A free slot has a rank above every token's.
        let rank = slot & ((1 << RANK_BITS) - 1);
        if self.is_token(rank as usize, key, text, start, end) { rank } else { NO_RANK }
    }

    #[inline]
    fn is_token(&self, rank: usize, key: Key, text: &[u8], start: usize, end: usize) -> bool {
        let (Some(first), Some(last)) = (self.offsets.get(rank), self.offsets.get(rank + 1)) else {
            return false;
        };
        let (first, last) =
            (u32::from_le_bytes(*first) as usize, u32::from_le_bytes(*last) as usize);
        if last.wrapping_sub(first) != end - start {
            return false;
        }
        if end - start <= 16 {
            head(self.bytes, first, last) == key.head
        } else {
            self.bytes.get(first..last) == text.get(start..end)
        }
    }

    /// The class of a character beyond ASCII.
    #[inline]
    pub(super) fn class(&self, code: usize) -> u8 {
        let block = self.index.get(code / BLOCK).map_or(0, |block| usize::from(*block));
        self.blocks.get(block).map_or(class::OTHER, |block| block[code % BLOCK])
    }
}

impl Key {
    /// The key of `text[start..end]`.
    #[inline]
    pub(super) fn of(text: &[u8], start: usize, end: usize) -> Key {
        let length = end - start;
        let head_only = head(text, start, end);
        let mut hash = mixed(head_only, (length as u64).wrapping_mul(LENGTH_FACTOR));
        let mut at = start + 16;
        while at < end {
            hash = mixed(head(text, at, end), hash);
            at += 16;
        }
        Key { head: head_only, hash }
    }
}

/// Sixteen bytes, mixed into a hash.
#[inline]
fn mixed(bytes: u128, hash: u64) -> u64 {
    let low = bytes as u64 ^ hash;
    let high = (bytes >> 64) as u64 ^ HIGH_KEY;
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}

/// The slot to which a pilot moves a hash.
#[inline]
fn place(hash: u64, pilot: u8, slots: usize) -> usize {
    let moved = (hash ^ u64::from(pilot).wrapping_mul(PILOT_FACTOR)).wrapping_mul(PLACE_FACTOR);
    scaled(moved, slots)
}

/// A place below `size`, from the upper half of a hash.
#[inline]
fn scaled(hash: u64, size: usize) -> usize {
    (((hash >> 32) * size as u64) >> 32) as usize
}

/// The first sixteen bytes of `text[start..end]` as a number, zeros behind the end.
#[inline]
fn head(text: &[u8], start: usize, end: usize) -> u128 {
    let length = (end - start).min(16);
    let Some(chunk) = text.get(start..).and_then(|rest| rest.first_chunk::<16>()) else {
        return near_end(text, start, start + length);
    };
    u128::from_le_bytes(*chunk) & HEADS[length]
}

/// [`head`] where the text itself ends within sixteen bytes.
#[cold]
fn near_end(text: &[u8], start: usize, end: usize) -> u128 {
    let bytes = text.get(start..end).unwrap_or(&[]);
    bytes.iter().rev().fold(0, |head, byte| head << 8 | u128::from(*byte))
}

/// Masks of the first bytes, by their number.
const HEADS: [u128; 17] = {
    let mut masks = [0; 17];
    let mut length = 1;
    while length < masks.len() {
        masks[length] = masks[length - 1] << 8 | 0xff;
        length += 1;
    }
    masks
};

const fn number(numbers: &[[u8; 4]], at: usize) -> usize {
    u32::from_le_bytes(numbers[at]) as usize
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tokens::bpe::{CL100K_BYTES, Encoding, O200K_BYTES};

    const TABLES: [(&[u8], &[u8; 8]); 2] =
        [(O200K_BYTES, b"FCO200K\0"), (CL100K_BYTES, b"FCCL100K")];

    impl Table<'_> {
        /// The bytes of a token.
        fn token(&self, rank: usize) -> &[u8] {
            let border = |at: usize| u32::from_le_bytes(self.offsets[at]) as usize;
            &self.bytes[border(rank)..border(rank + 1)]
        }
    }

    /// A table of these tokens, by rank, without classes.
    pub(crate) fn written(tokens: &[Vec<u8>], magic: &[u8; 8]) -> Vec<u8> {
        let slots_length = 1 << 14;
        let slots = (0..=u8::MAX).find_map(|pilot| {
            let mut slots = vec![u32::MAX; slots_length];
            for (rank, token) in tokens.iter().enumerate() {
                let hash = Key::of(token, 0, token.len()).hash;
                let slot = &mut slots[place(hash, pilot, slots_length)];
                if *slot != u32::MAX {
                    return None;
                }
                *slot = (hash as u32) << RANK_BITS | rank as u32;
            }
            Some((slots, pilot))
        });
        let (slots, pilot) = slots.unwrap();
        let ends = tokens.iter().scan(0, |end, token| {
            *end += token.len() as u32;
            Some(*end)
        });
        let offsets: Vec<u32> = [0].into_iter().chain(ends).collect();
        let mut payload: Vec<u8> =
            slots.iter().chain(&offsets).flat_map(|number| number.to_le_bytes()).collect();
        payload.push(pilot);
        payload.extend([0; 0x11_0000 / BLOCK + BLOCK]);
        payload.extend(tokens.concat());
        payload.extend([0; PADDING]);
        let longest = tokens.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let sizes =
            [tokens.len() as u32, slots_length as u32, 1, offsets[tokens.len()], longest, 1];
        let numbers = [FORMAT, payload.len() as u32, 0].into_iter().chain(sizes);
        let mut table = magic.to_vec();
        table.extend(numbers.flat_map(u32::to_le_bytes));
        table.resize(HEADER_BYTES, 0);
        table.extend(payload);
        table
    }

    #[test]
    fn the_tables_of_the_program_are_as_they_were_written() {
        for (bytes, _) in TABLES {
            let mut checksum = flate2::Crc::new();
            checksum.update(&bytes[HEADER_BYTES..]);
            assert_eq!(checksum.sum().to_le_bytes(), bytes[16..20]);
        }
        // They are part of every program that counts.
        assert!(O200K_BYTES.len() + CL100K_BYTES.len() < 5_000_000);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (bytes, magic) in TABLES {
            let refused = |bytes: &[u8]| Table::open(bytes, magic).unwrap_err();
            assert!(Table::open(bytes, magic).is_ok());
            assert_eq!(Table::open(bytes, b"FCTRIE\0\0").unwrap_err(), TableError::Magic);
            for length in [0, HEADER_BYTES - 1, HEADER_BYTES, bytes.len() - 1] {
                assert_eq!(refused(&bytes[..length]), TableError::Length);
            }
            let with = |at: usize, value: u8| {
                let mut changed = bytes.to_vec();
                changed[at] = value;
                changed
            };
            assert_eq!(refused(&with(0, b'f')), TableError::Magic);
            assert_eq!(refused(&with(8, 2)), TableError::Format { found: 2 });
            // Length, and the sizes of the parts.
            for at in [12, 20, 24, 28, 32, 40] {
                assert_eq!(refused(&with(at, bytes[at] ^ 1)), TableError::Length, "byte {at}");
            }
            assert_eq!(refused(&[bytes, &[0]].concat()), TableError::Length);
        }
    }

    #[test]
    fn every_token_has_its_rank_and_nothing_else_has_one() {
        for (encoding, tokens) in [(Encoding::O200k, 199_998), (Encoding::Cl100k, 100_256)] {
            let table = encoding.table();
            assert_eq!(table.offsets.len(), tokens + 1);
            let known: std::collections::HashSet<&[u8]> =
                (0..tokens).map(|rank| table.token(rank)).collect();
            assert_eq!(known.len(), tokens);
            for rank in 0..tokens {
                let token = table.token(rank);
                assert_eq!(table.rank(token, 0, token.len()), rank as u32);
                // A neighbour of the token, and the token inside a longer text.
                let text = [b"<", token, b">0123456789abcdef"].concat();
                assert_eq!(table.rank(&text, 1, 1 + token.len()), rank as u32);
                let longer = &text[1..2 + token.len()];
                assert_eq!(
                    table.rank(&text, 1, 2 + token.len()) == NO_RANK,
                    !known.contains(longer)
                );
            }
            assert_eq!(table.rank(&[b' '; 500], 0, 500), NO_RANK);
        }
    }

    #[test]
    fn an_empty_table_knows_nothing() {
        assert_eq!(Table::EMPTY.rank(b"a", 0, 1), NO_RANK);
        assert_eq!(Table::EMPTY.class(0x4e00), class::OTHER);
    }
}
