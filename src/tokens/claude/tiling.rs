//! The fewest pieces that cover a stream.

use super::stream::BEGIN;
use super::table::{PIECE, PREFIX, Trie};

/// Longer than the longest piece, so that no more counts are alive at once.
const RING: usize = 256;

/// The fewest tokens that cover the stream: a piece of the table is one, and a character that is
/// none costs its bytes, less those of its longest known beginning.
pub(super) fn tile(trie: &Trie, stream: &[u8]) -> u64 {
    const NONE: u64 = u64::MAX;
    let mut best = [NONE; RING];
    best[0] = 0;
    for start in 0..stream.len() {
        let here = std::mem::replace(&mut best[start % RING], NONE);
        if here == NONE {
            // Inside a character.
            continue;
        }
        let length = character_bytes(stream[start]).min(stream.len() - start);
        let (mut node, mut known) = (0, 1);
        for (offset, byte) in stream[start..].iter().enumerate().take(RING - 1) {
            let Some((next, unit)) = trie.next(node, *byte) else { break };
            node = next;
            let end = start + offset + 1;
            if unit & PIECE != 0 {
                let there = &mut best[end % RING];
                *there = (*there).min(here + 1);
            }
            if unit & PREFIX != 0 && offset + 1 < length {
                known = offset + 1;
            }
        }
        let floor = if length == 1 { 1 } else { (length - known + 1) as u64 };
        let there = &mut best[(start + length) % RING];
        *there = (*there).min(here + floor);
    }
    best[stream.len() % RING]
}

/// Bytes of the character that begins with `first`; marks are characters of one byte.
fn character_bytes(first: u8) -> usize {
    match first {
        0..0x80 | BEGIN.. => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..BEGIN => 4,
    }
}
