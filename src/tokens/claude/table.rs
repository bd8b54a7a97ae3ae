//! The tables that are part of the program: pieces as tries, and properties of characters.
//!
//! `data/claude/ORIGIN.md` says where they come from, `docs/claude-tokens.md` how they are laid
//! out. Reading them takes a fraction of a millisecond, at the first count that needs them.

use std::sync::LazyLock;

use super::ClaudeFamily;

const V3: &[u8] = include_bytes!("../../../data/claude/claude-v3.bin");
const V47: &[u8] = include_bytes!("../../../data/claude/claude-v4.7.bin");
const UNICODE: &[u8] = include_bytes!("../../../data/claude/claude-unicode.bin");

/// Bytes before the payload of a table.
const HEADER_BYTES: usize = 64;

/// Version of the layout.
const FORMAT: u32 = 1;

/// A node of a trie that ends a piece.
pub(super) const PIECE: u32 = 0x100;

/// A node that ends a known beginning of a character's bytes.
pub(super) const PREFIX: u32 = 0x200;

/// The pieces of a family.
#[derive(Debug, Default)]
pub(super) struct Trie {
    units: Vec<u32>,
    /// Whether curly quotes count as straight ones.
    pub(super) folds_quotes: bool,
    /// Fewest letters of a word that is written in capitals as one mark; `None` where none is.
    pub(super) capitals_min: Option<usize>,
}

impl Trie {
    /// The node behind `node` by `byte`, with its flags; the root is node 0.
    pub(super) fn next(&self, node: usize, byte: u8) -> Option<(usize, u32)> {
        let base = (self.units.get(node)? >> 10) as usize;
        let next = base ^ usize::from(byte);
        let unit = *self.units.get(next)?;
        (unit & 0xff == u32::from(byte)).then_some((next, unit))
    }

    fn read(bytes: &[u8]) -> Option<Trie> {
        let (fields, payload) = open(bytes, b"FCTRIE\0\0")?;
        let units = words(payload).collect::<Vec<u32>>();
        let capitals = fields[5] as usize;
        (units.len() == fields[0] as usize && !units.is_empty()).then_some(Trie {
            units,
            folds_quotes: fields[4] != 0,
            capitals_min: (capitals > 0).then_some(capitals),
        })
    }
}

/// The trie of a family. Empty, so that every byte is a token, if the table of the program does not
/// read; a test proves that it does.
pub(super) fn trie(family: ClaudeFamily) -> &'static Trie {
    static OLD: LazyLock<Trie> = LazyLock::new(|| Trie::read(V3).unwrap_or_default());
    static NEW: LazyLock<Trie> = LazyLock::new(|| Trie::read(V47).unwrap_or_default());
    match family {
        ClaudeFamily::V3 => &OLD,
        ClaudeFamily::V47 | ClaudeFamily::V48 => &NEW,
    }
}

/// Class of a character, as its lowest three bits.
pub(super) const CLASS: u32 = 0b111;

/// Flags of a character.
pub(super) mod flag {
    pub(crate) const STRAY: u32 = 1 << 3;
    pub(crate) const SELECTOR: u32 = 1 << 4;
    pub(crate) const EDGE: u32 = 1 << 5;
    pub(crate) const NUMBER_EDGE: u32 = 1 << 6;
    pub(crate) const DECIMAL: u32 = 1 << 7;
    pub(crate) const NUMERIC: u32 = 1 << 8;
    pub(crate) const UPPER: u32 = 1 << 9;
    pub(crate) const LOWER: u32 = 1 << 10;
    pub(crate) const LETTER: u32 = 1 << 11;
    pub(crate) const STRIPPED: u32 = 1 << 12;
    pub(crate) const TO_SPACE: u32 = 1 << 13;
    pub(crate) const COMPOSES: u32 = 1 << 14;
    pub(crate) const QUOTE: u32 = 1 << 15;
}

/// Properties of characters, Unicode 15.1.
#[derive(Debug, Default)]
pub(super) struct Unicode {
    index: Vec<u16>,
    data: Vec<u16>,
    values: Vec<u32>,
    decompositions: Vec<(u32, u32)>,
    pool: Vec<u32>,
    compositions: Vec<(u32, u32, u32)>,
    classes: Vec<u32>,
}

/// The properties. Empty if the table of the program does not read; a test proves that it does.
pub(super) fn unicode() -> &'static Unicode {
    static TABLE: LazyLock<Unicode> = LazyLock::new(|| Unicode::read(UNICODE).unwrap_or_default());
    &TABLE
}

impl Unicode {
    /// Class, flags, and in the upper half the distance to the lower-case letter.
    pub(super) fn properties(&self, character: char) -> u32 {
        let code = character as usize;
        let block = self.index.get(code >> 7).copied().unwrap_or(0);
        let place = usize::from(block) * 128 + (code & 127);
        let value = self.data.get(place).copied().unwrap_or(0);
        self.values.get(usize::from(value)).copied().unwrap_or(0)
    }

    /// The lower-case letter of a character with these properties; itself outside the first plane.
    pub(super) fn lower(character: char, properties: u32) -> char {
        let code = character as u32;
        if code >= 0x1_0000 {
            return character;
        }
        char::from_u32((code + (properties >> 16)) & 0xffff).unwrap_or(character)
    }

    /// The full canonical decomposition; empty where the character is its own.
    pub(super) fn decomposition(&self, code: u32) -> &[u32] {
        let Ok(at) = self.decompositions.binary_search_by_key(&code, |entry| entry.0) else {
            return &[];
        };
        let place = self.decompositions[at].1;
        let (start, length) = ((place >> 8) as usize, (place & 0xff) as usize);
        self.pool.get(start..start + length).unwrap_or(&[])
    }

    /// The character that two characters make together.
    pub(super) fn composition(&self, first: u32, second: u32) -> Option<u32> {
        let found = self.compositions.binary_search_by_key(&(first, second), |(a, b, _)| (*a, *b));
        found.ok().map(|at| self.compositions[at].2)
    }

    /// The canonical combining class.
    pub(super) fn combining_class(&self, code: u32) -> u32 {
        let found = self.classes.binary_search_by_key(&code, |entry| entry >> 8);
        found.map_or(0, |at| self.classes[at] & 0xff)
    }

    fn read(bytes: &[u8]) -> Option<Unicode> {
        let (fields, payload) = open(bytes, b"FCUNICOD")?;
        let count = |field: usize| fields[field] as usize;
        let mut rest = payload;
        let mut take = |bytes: usize| {
            let padded = bytes.next_multiple_of(4);
            let (part, after) = rest.split_at_checked(padded)?;
            rest = after;
            part.get(..bytes)
        };
        let index = halves(take(2 * count(0))?);
        let data = halves(take(2 * count(1))?);
        let values: Vec<u32> = words(take(4 * count(2))?).collect();
        let decompositions: Vec<u32> = words(take(8 * count(3))?).collect();
        let pool: Vec<u32> = words(take(4 * count(4))?).collect();
        let compositions: Vec<u32> = words(take(12 * count(5))?).collect();
        let classes: Vec<u32> = words(take(4 * count(6))?).collect();
        Some(Unicode {
            index,
            data,
            values,
            decompositions: decompositions.chunks_exact(2).map(|two| (two[0], two[1])).collect(),
            pool,
            compositions: compositions
                .chunks_exact(3)
                .map(|three| (three[0], three[1], three[2]))
                .collect(),
            classes,
        })
    }
}

/// Fields of the header and payload of a table.
fn open<'a>(bytes: &'a [u8], magic: &[u8; 8]) -> Option<(Vec<u32>, &'a [u8])> {
    let (header, payload) = bytes.split_at_checked(HEADER_BYTES)?;
    let numbers: Vec<u32> = words(&header[8..]).collect();
    let is_whole =
        header.starts_with(magic) && numbers[0] == FORMAT && numbers[1] as usize == payload.len();
    // Behind version, length and checksum.
    is_whole.then(|| (numbers[3..].to_vec(), payload))
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

fn halves(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_program_are_whole() {
        for bytes in [V3, V47, UNICODE] {
            let mut checksum = flate2::Crc::new();
            checksum.update(&bytes[HEADER_BYTES..]);
            let stated = words(&bytes[16..20]).next().unwrap();
            assert_eq!(checksum.sum(), stated);
        }
        let (old, new) = (Trie::read(V3).unwrap(), Trie::read(V47).unwrap());
        assert!(old.folds_quotes && old.capitals_min == Some(4));
        assert!(!new.folds_quotes && new.capitals_min.is_none());
        let unicode = Unicode::read(UNICODE).unwrap();
        assert_eq!(unicode.index.len(), 0x11_0000 / 128);
        assert_eq!(unicode.decomposition(0xe9), [0x65, 0x301]);
        assert_eq!(unicode.composition(0x65, 0x301), Some(0xe9));
        assert_eq!(unicode.combining_class(0x301), 230);
        // The two tables are 0.64 MB together.
        assert!(V3.len() + V47.len() + UNICODE.len() < 1_000_000);
    }

    #[test]
    fn a_damaged_table_is_not_read() {
        assert!(Trie::read(&V47[..V47.len() - 1]).is_none());
        assert!(Trie::read(UNICODE).is_none() && Unicode::read(V47).is_none());
        assert!(Trie::read(&[]).is_none() && Trie::read(&V47[..HEADER_BYTES]).is_none());
    }
}
