//! The tables that are part of the program: pieces as tries, and properties of characters.
//!
//! `data/claude/ORIGIN.md` says where they come from, `docs/claude-tokens.md` how they are laid
//! out. They are read where they lie: nothing is parsed or copied.

use std::sync::LazyLock;

use super::ClaudeFamily;

const V3: &[u8] = include_bytes!("../../../data/claude/claude-v3.bin");
const V47: &[u8] = include_bytes!("../../../data/claude/claude-v4.7.bin");
const UNICODE: &[u8] = include_bytes!("../../../data/claude/claude-unicode.bin");

const TRIE_MAGIC: &[u8; 8] = b"FCTRIE\0\0";
const UNICODE_MAGIC: &[u8; 8] = b"FCUNICOD";

/// Bytes before the payload of a table.
const HEADER_BYTES: usize = 64;

/// Numbers of the header behind magic, version, length and checksum.
const FIELDS: usize = 11;

/// Version of the layout.
const FORMAT: u32 = 1;

/// A node of a trie that ends a piece.
pub(super) const PIECE: u32 = 0x100;

/// A node that ends a known beginning of a character's bytes.
pub(super) const PREFIX: u32 = 0x200;

/// Why a table is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It is no table of its kind.
    #[error("a table of token counts does not begin with the mark of its kind")]
    Magic,
    /// Its layout is another one.
    #[error("a table of token counts has layout {found}, not {FORMAT}")]
    Version {
        /// The layout it states.
        found: u32,
    },
    /// It is cut off or longer than it says, or its parts are.
    #[error("a table of token counts has {found_bytes} bytes where {stated_bytes} are stated")]
    Length {
        /// Bytes that its header states.
        stated_bytes: usize,
        /// Bytes that are there.
        found_bytes: usize,
    },
    /// Its bytes are not those that were written.
    #[error("a table of token counts has checksum {found:08x} where {stated:08x} is stated")]
    Checksum {
        /// Checksum that its header states.
        stated: u32,
        /// Checksum of its bytes.
        found: u32,
    },
}

/// Reads every table of the program, checksums included.
///
/// # Errors
/// A table is damaged or of another layout than this program reads.
pub fn check_tables() -> Result<(), TableError> {
    for (bytes, magic) in [(V3, TRIE_MAGIC), (V47, TRIE_MAGIC), (UNICODE, UNICODE_MAGIC)] {
        check_sum(bytes, magic)?;
    }
    Trie::read(V3).and(Trie::read(V47)).and(Unicode::read(UNICODE)).map(|_| ())
}

/// The pieces of a family.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trie<'a> {
    units: &'a [[u8; 4]],
    /// Whether curly quotes count as straight ones.
    pub(super) folds_quotes: bool,
    /// Fewest letters of a word that is written in capitals as one mark; `None` where none is.
    pub(super) capitals_min: Option<usize>,
}

impl<'a> Trie<'a> {
    /// The node that every walk starts from.
    pub(super) fn root(&self) -> u32 {
        self.units.first().map_or(0, |unit| u32::from_le_bytes(*unit))
    }

    /// The node behind `node` by `byte`, with its flags.
    pub(super) fn next(&self, node: u32, byte: u8) -> Option<u32> {
        let place = (node >> 10) as usize ^ usize::from(byte);
        let next = u32::from_le_bytes(*self.units.get(place)?);
        (next & 0xff == u32::from(byte)).then_some(next)
    }

    fn read(bytes: &'a [u8]) -> Result<Trie<'a>, TableError> {
        let (fields, payload) = open(bytes, TRIE_MAGIC)?;
        let mut parts = Parts { rest: payload };
        let units = parts.take(fields[0])?;
        parts.end()?;
        let capitals = fields[5] as usize;
        Ok(Trie {
            units,
            folds_quotes: fields[4] != 0,
            capitals_min: (capitals > 0).then_some(capitals),
        })
    }
}

/// The trie of a family. Empty, so that every byte is a token, if the table of the program does not
/// read; [`check_tables`] says why, and a test proves that it does.
pub(super) fn trie(family: ClaudeFamily) -> &'static Trie<'static> {
    static OLD: LazyLock<Trie> = LazyLock::new(|| Trie::read(V3).unwrap_or_default());
    static NEW: LazyLock<Trie> = LazyLock::new(|| Trie::read(V47).unwrap_or_default());
    match family {
        ClaudeFamily::V3 => &OLD,
        ClaudeFamily::V47 | ClaudeFamily::V48 => &NEW,
    }
}

/// Class of a character, as its lowest three bits.
pub(super) const CLASS: u32 = 0b111;

/// The class of letters.
pub(super) const WORDY: u32 = 1;

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
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unicode<'a> {
    index: &'a [[u8; 2]],
    data: &'a [[u8; 2]],
    values: &'a [[u8; 4]],
    /// Characters, and where in the pool their parts are.
    decompositions: &'a [[u8; 8]],
    pool: &'a [[u8; 4]],
    /// Two characters and the one that they make.
    compositions: &'a [[u8; 12]],
    classes: &'a [[u8; 4]],
}

/// Whether a character that begins with this byte is an ideograph or a Korean syllable of the large
/// blocks, which have all the properties of [`IDEOGRAPH`].
pub(super) fn begins_ideograph(byte: u8) -> bool {
    matches!(byte, 0xe5..=0xe9 | 0xeb..=0xec)
}

/// Bytes of such a character.
pub(super) const IDEOGRAPH_BYTES: usize = 3;

/// Properties of such a character: it stands for itself.
pub(super) const IDEOGRAPH: u32 = flag::LETTER;

/// The properties. Empty if the table of the program does not read; a test proves that it does.
pub(super) fn unicode() -> &'static Unicode<'static> {
    static TABLE: LazyLock<Unicode> = LazyLock::new(|| Unicode::read(UNICODE).unwrap_or_default());
    &TABLE
}

impl<'a> Unicode<'a> {
    /// Class, flags, and in the upper half the distance to the lower-case letter.
    pub(super) fn properties(&self, character: char) -> u32 {
        let code = character as usize;
        let half = |halves: &[[u8; 2]], at: usize| {
            halves.get(at).map_or(0, |half| usize::from(u16::from_le_bytes(*half)))
        };
        let block = half(self.index, code >> 7);
        let value = half(self.data, block * 128 + (code & 127));
        self.values.get(value).map_or(0, |value| u32::from_le_bytes(*value))
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
    pub(super) fn decomposition(&self, code: u32) -> impl Iterator<Item = u32> + use<'a> {
        let found = self.decompositions.binary_search_by_key(&code, |entry| word(entry, 0));
        let place = found.map_or(0, |at| word(&self.decompositions[at], 1));
        let (start, length) = ((place >> 8) as usize, (place & 0xff) as usize);
        let parts = self.pool.get(start..start + length).unwrap_or_default();
        parts.iter().map(|part| u32::from_le_bytes(*part))
    }

    /// The character that two characters make together.
    pub(super) fn composition(&self, first: u32, second: u32) -> Option<u32> {
        let pair = |entry: &[u8; 12]| (word(entry, 0), word(entry, 1));
        let found = self.compositions.binary_search_by_key(&(first, second), pair);
        found.ok().map(|at| word(&self.compositions[at], 2))
    }

    /// The canonical combining class.
    pub(super) fn combining_class(&self, code: u32) -> u32 {
        let found = self.classes.binary_search_by_key(&code, |entry| word(entry, 0) >> 8);
        found.map_or(0, |at| word(&self.classes[at], 0) & 0xff)
    }

    fn read(bytes: &'a [u8]) -> Result<Unicode<'a>, TableError> {
        let (fields, payload) = open(bytes, UNICODE_MAGIC)?;
        let mut parts = Parts { rest: payload };
        let unicode = Unicode {
            index: parts.take(fields[0])?,
            data: parts.take(fields[1])?,
            values: parts.take(fields[2])?,
            decompositions: parts.take(fields[3])?,
            pool: parts.take(fields[4])?,
            compositions: parts.take(fields[5])?,
            classes: parts.take(fields[6])?,
        };
        parts.end()?;
        Ok(unicode)
    }
}

/// The numbered four bytes of an entry.
fn word(entry: &[u8], number: usize) -> u32 {
    let bytes = entry.as_chunks::<4>().0;
    bytes.get(number).map_or(0, |word| u32::from_le_bytes(*word))
}

/// What is left of a payload.
struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    /// The next `count` entries; the part behind them begins at a multiple of four bytes.
    fn take<const SIZE: usize>(&mut self, count: u32) -> Result<&'a [[u8; SIZE]], TableError> {
        let bytes = SIZE * count as usize;
        let found_bytes = self.rest.len();
        let stated_bytes = bytes.next_multiple_of(4);
        let (part, rest) = self
            .rest
            .split_at_checked(stated_bytes)
            .ok_or(TableError::Length { stated_bytes, found_bytes })?;
        self.rest = rest;
        Ok(part[..bytes].as_chunks::<SIZE>().0)
    }

    fn end(&self) -> Result<(), TableError> {
        let found_bytes = self.rest.len();
        if found_bytes == 0 {
            Ok(())
        } else {
            Err(TableError::Length { stated_bytes: 0, found_bytes })
        }
    }
}

/// Fields of the header and payload of a table.
fn open<'a>(bytes: &'a [u8], magic: &[u8; 8]) -> Result<([u32; FIELDS], &'a [u8]), TableError> {
    if !bytes.starts_with(magic) {
        return Err(TableError::Magic);
    }
    let too_short = TableError::Length { stated_bytes: HEADER_BYTES, found_bytes: bytes.len() };
    let (header, payload) = bytes.split_at_checked(HEADER_BYTES).ok_or(too_short)?;
    if word(header, 2) != FORMAT {
        return Err(TableError::Version { found: word(header, 2) });
    }
    let (stated_bytes, found_bytes) = (word(header, 3) as usize, payload.len());
    if stated_bytes != found_bytes {
        return Err(TableError::Length { stated_bytes, found_bytes });
    }
    Ok((std::array::from_fn(|field| word(header, field + 5)), payload))
}

fn check_sum(bytes: &[u8], magic: &[u8; 8]) -> Result<(), TableError> {
    let (_, payload) = open(bytes, magic)?;
    let mut sum = flate2::Crc::new();
    sum.update(payload);
    let (stated, found) = (word(bytes, 4), sum.sum());
    if stated == found { Ok(()) } else { Err(TableError::Checksum { stated, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_program_are_whole() {
        assert_eq!(check_tables(), Ok(()));
        let (old, new) = (Trie::read(V3).unwrap(), Trie::read(V47).unwrap());
        assert!(old.folds_quotes && old.capitals_min == Some(4));
        assert!(!new.folds_quotes && new.capitals_min.is_none());
        let unicode = Unicode::read(UNICODE).unwrap();
        assert_eq!(unicode.index.len(), 0x11_0000 / 128);
        assert!(unicode.decomposition(0xe9).eq([0x65, 0x301]));
        assert_eq!(unicode.decomposition(0x65).count(), 0);
        assert_eq!(unicode.composition(0x65, 0x301), Some(0xe9));
        assert_eq!(unicode.combining_class(0x301), 230);
        // The tables are 0.64 MB together.
        assert!(V3.len() + V47.len() + UNICODE.len() < 1_000_000);
    }

    #[test]
    fn ideographs_are_told_by_their_first_byte() {
        let mut counted = 0;
        for character in '\u{80}'..=char::MAX {
            let mut bytes = [0; 4];
            let length = character.encode_utf8(&mut bytes).len();
            if begins_ideograph(bytes[0]) {
                counted += 1;
                assert_eq!(length, IDEOGRAPH_BYTES);
                assert_eq!(unicode().properties(character), IDEOGRAPH, "{character:?}");
            }
        }
        assert_eq!(counted, 7 * 4_096);
    }

    #[test]
    fn a_damaged_table_says_what_is_wrong_with_it() {
        let cut = &V47[..V47.len() - 1];
        let length = TableError::Length {
            stated_bytes: V47.len() - HEADER_BYTES,
            found_bytes: cut.len() - HEADER_BYTES,
        };
        assert_eq!(Trie::read(cut).unwrap_err(), length);
        assert_eq!(Trie::read(UNICODE).unwrap_err(), TableError::Magic);
        assert_eq!(Unicode::read(V47).unwrap_err(), TableError::Magic);
        assert_eq!(Trie::read(&[]).unwrap_err(), TableError::Magic);
        let stub = TableError::Length { stated_bytes: HEADER_BYTES, found_bytes: 20 };
        assert_eq!(Trie::read(&V47[..20]).unwrap_err(), stub);

        let mut newer = V47.to_vec();
        newer[8] = 2;
        assert_eq!(Trie::read(&newer).unwrap_err(), TableError::Version { found: 2 });
        let mut flipped = UNICODE.to_vec();
        flipped[70_000] ^= 1;
        let error = check_sum(&flipped, UNICODE_MAGIC).unwrap_err();
        assert!(matches!(error, TableError::Checksum { .. }), "{error}");
        // One value fewer than there are.
        let mut fewer = UNICODE.to_vec();
        fewer[20 + 2 * 4] -= 1;
        let left = TableError::Length { stated_bytes: 0, found_bytes: 4 };
        assert_eq!(Unicode::read(&fewer).unwrap_err(), left);
    }
}
