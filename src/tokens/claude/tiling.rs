//! The fewest pieces that cover a stream.

use super::stream::{BEGIN, CAPITALS, END, SHIFT};
use super::table::{PIECE, PREFIX, Trie};

/// Longer than the longest piece, so that no more counts are alive at once.
const RING: usize = 256;

/// A run of one ASCII character longer than this is counted by its period. From both sides pieces
/// reach less than `RING` bytes into it; what is left is long enough to cost one token a period.
const PERIODIC_BYTES: usize = 1_024;

/// Bytes that are looked at together for one to part at.
const STRETCH_BYTES: usize = 32;

/// No count yet.
const NONE: u64 = u64::MAX;

/// Covers streams, one after the other.
pub(super) struct Tiler {
    /// Counts of the places ahead; `NONE` between two streams.
    best: [u64; RING],
    /// A stream whose long runs are shortened.
    short: Vec<u8>,
}

impl Default for Tiler {
    fn default() -> Tiler {
        Tiler { best: [NONE; RING], short: Vec::new() }
    }
}

impl Tiler {
    /// The fewest tokens that cover the stream. No piece spans the end of a word, its beginning, or
    /// two kinds of ASCII white space, so the parts between are covered by themselves.
    pub(super) fn tile(&mut self, trie: &Trie, stream: &[u8]) -> u64 {
        let (mut tokens, mut start, mut at) = (0, 0, 1);
        while at < stream.len() {
            // Long stretches of other scripts have nothing to part at.
            let ahead = stream.get(at - 1..at + STRETCH_BYTES).unwrap_or(&[END]);
            if !ahead.iter().fold(false, |any, byte| any | may_part(*byte)) {
                at += STRETCH_BYTES;
                continue;
            }
            for _ in 0..STRETCH_BYTES.min(stream.len() - at) {
                if parts(stream[at - 1], stream[at]) {
                    tokens += self.tile_part(trie, &stream[start..at]);
                    start = at;
                }
                at += 1;
            }
        }
        tokens + self.tile_part(trie, &stream[start..])
    }

    /// The fewest tokens that cover a stretch: a piece of the table is one, and a character that is
    /// none costs its bytes, less those of its longest known beginning.
    pub(super) fn tile_part(&mut self, trie: &Trie, part: &[u8]) -> u64 {
        if part.len() <= PERIODIC_BYTES {
            return self.cover(trie, part);
        }
        let mut short = std::mem::take(&mut self.short);
        short.clear();
        let left_out = shorten(trie, part, &mut short);
        let tokens = left_out + self.cover(trie, &short);
        self.short = short;
        tokens
    }

    fn cover(&mut self, trie: &Trie, part: &[u8]) -> u64 {
        let root = trie.root();
        if part.len() < RING && is_piece(trie, part) {
            return 1;
        }
        self.best[0] = 0;
        for start in 0..part.len() {
            let here = std::mem::replace(&mut self.best[start % RING], NONE);
            if here == NONE {
                // Inside a character.
                continue;
            }
            let rest = &part[start..];
            let length = character_bytes(rest[0]).min(rest.len());
            let (mut node, mut known) = (root, 1);
            for (offset, byte) in rest.iter().enumerate().take(RING - 1) {
                let Some(next) = trie.next(node, *byte) else { break };
                node = next;
                if node & PIECE != 0 {
                    let there = &mut self.best[(start + offset + 1) % RING];
                    *there = (*there).min(here + 1);
                }
                if node & PREFIX != 0 && offset + 1 < length {
                    known = offset + 1;
                }
            }
            let floor = if length == 1 { 1 } else { (length - known + 1) as u64 };
            let there = &mut self.best[(start + length) % RING];
            *there = (*there).min(here + floor);
        }
        std::mem::replace(&mut self.best[part.len() % RING], NONE)
    }
}

/// Whether streams may part before or behind this byte.
fn may_part(byte: u8) -> bool {
    byte <= b' ' || byte >= BEGIN
}

/// Whether no piece spans the place between two bytes of a stream.
fn parts(before: u8, after: u8) -> bool {
    let is_white = |byte: u8| matches!(byte, b'\t' | b'\n' | b' ');
    before == END
        || matches!(after, SHIFT | CAPITALS)
        || after == BEGIN && !matches!(before, SHIFT | CAPITALS)
        || before != after && (is_white(before) || is_white(after))
}

fn is_piece(trie: &Trie, part: &[u8]) -> bool {
    let mut node = trie.root();
    for byte in part {
        let Some(next) = trie.next(node, *byte) else { return false };
        node = next;
    }
    node & PIECE != 0
}

/// Appends the part with its long runs of one ASCII character shortened by whole periods; returns
/// the tokens of what is left out.
fn shorten(trie: &Trie, part: &[u8], short: &mut Vec<u8>) -> u64 {
    let mut left_out = 0;
    for run in part.chunk_by(|first, second| first == second) {
        let mut kept = run.len();
        if run[0].is_ascii() && run.len() > PERIODIC_BYTES {
            let period = longest_run(trie, run[0]);
            let periods = (run.len() - PERIODIC_BYTES) / period;
            left_out += periods as u64;
            kept -= periods * period;
        }
        short.extend_from_slice(&run[..kept]);
    }
    left_out
}

/// Length of the longest piece of one character alone, at least 1.
fn longest_run(trie: &Trie, byte: u8) -> usize {
    let (mut node, mut longest) = (trie.root(), 1);
    for length in 1..RING {
        let Some(next) = trie.next(node, byte) else { break };
        node = next;
        if node & PIECE != 0 {
            longest = length;
        }
    }
    longest
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

#[cfg(test)]
mod tests {
    use super::super::ClaudeFamily;
    use super::super::table::trie;
    use super::*;

    const TRIES: [ClaudeFamily; 2] = [ClaudeFamily::V3, ClaudeFamily::V47];

    /// Every piece of a table.
    fn pieces(trie: &Trie) -> Vec<Vec<u8>> {
        let (mut found, mut open) = (Vec::new(), vec![(trie.root(), Vec::new())]);
        while let Some((node, bytes)) = open.pop() {
            for byte in 0..0xff {
                if let Some(next) = trie.next(node, byte) {
                    let longer = [bytes.as_slice(), &[byte]].concat();
                    if next & PIECE != 0 {
                        found.push(longer.clone());
                    }
                    open.push((next, longer));
                }
            }
        }
        found
    }

    #[test]
    fn no_piece_spans_a_place_where_streams_part() {
        let mut counted = 0;
        for family in TRIES {
            for piece in pieces(trie(family)) {
                counted += 1;
                assert!(piece.len() < RING);
                let spans = (1..piece.len()).any(|at| parts(piece[at - 1], piece[at]));
                assert!(!spans, "{}", piece.escape_ascii());
            }
        }
        assert_eq!(counted, 48_332 + 14_819);
    }

    /// From where on a run of the character costs a token more for each further period: there the
    /// costs of a whole period are those of the period before and one, so all that follow are.
    fn period_starts(trie: &Trie, byte: u8) -> usize {
        let mut tiler = Tiler::default();
        let period = longest_run(trie, byte);
        let run = vec![byte; 1_000];
        let costs: Vec<u64> = (0..1_000).map(|n| tiler.cover(trie, &run[..n])).collect();
        let repeats = |n: &usize| costs[n + period] == costs[*n] + 1;
        let odd = (0..1_000 - period).rfind(|n| !repeats(n));
        odd.map_or(0, |last| last + 1)
    }

    #[test]
    fn every_run_of_one_character_becomes_periodic_early() {
        for family in TRIES {
            for byte in 0..0x80 {
                // What pieces reach into from both sides leaves more of a run than this.
                let start = period_starts(trie(family), byte);
                assert!(start <= PERIODIC_BYTES - 2 * RING, "{byte}: {start}");
            }
        }
    }

    #[test]
    fn shortened_runs_cost_what_whole_ones_cost() {
        let mut tiler = Tiler::default();
        for family in TRIES {
            let trie = trie(family);
            for byte in (b' '..=b'~').chain([b'\t', b'\n']) {
                for (before, after) in [("", ""), ("\u{f8}", "("), ("x('", "=s"), ("==-", "7")] {
                    for length in [1_025, 1_152, 1_301, 3_000] {
                        let run = vec![byte; length];
                        let part = [before.as_bytes(), &run, after.as_bytes()].concat();
                        let whole = tiler.cover(trie, &part);
                        assert_eq!(tiler.tile_part(trie, &part), whole, "{byte} {length}");
                    }
                }
            }
        }
    }
}
