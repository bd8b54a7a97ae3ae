//! Tokens of a piece that is none itself: the two neighbours whose joint bytes have the lowest rank
//! are joined, the leftmost of equals, until no two neighbours make a token.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::table::{NO_RANK, Table};

/// Longest span, in bytes, that is searched for its lowest rank before each join. Longer ones keep
/// their ranks in a heap.
const SEARCHED_BYTES_MAX: usize = 256;

/// Bytes of a window of a long piece, unless it has to be wider.
const WINDOW_BYTES: usize = 256;

/// Bits of a place in a span; a rank has 18.
const PLACE_BITS: u32 = 46;

/// Counts the tokens of pieces; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct Merger {
    /// Where the tokens of the merged span begin, and where the last one ends.
    borders: Vec<usize>,
    /// The rank of each token joined with its right neighbour.
    ranks: Vec<u32>,
    links: Vec<Link>,
    /// Ranks of two bytes, once they have been looked up, two more so that zero is "not yet".
    pairs: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

/// A place where a token may begin, in a span whose ranks are in a heap.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Where the token on the left begins.
    left: usize,
    /// Where the token on the right begins.
    right: usize,
    /// The rank of the token that begins here joined with the next; `NO_RANK` where it cannot be,
    /// or where none begins here.
    rank: u32,
}

impl Merger {
    /// Tokens of `text[start..end]`, a piece that is no token.
    pub(super) fn count(&mut self, table: &Table, text: &[u8], start: usize, end: usize) -> u64 {
        if end - start <= WINDOW_BYTES {
            self.merge(table, text, start, end);
            return self.borders.len() as u64 - 1;
        }
        self.count_in_windows(table, text, (start, end), WINDOW_BYTES)
    }

    /// Merges a long piece in windows that overlap, so that time grows with its length alone.
    ///
    /// This is exact. Within a merged span, tokens in a row are those that their own bytes merge
    /// to: no join crosses their outer borders, and which one is next among them depends on their
    /// ranks and order alone. Conversely, tokens in a row are those of their joint bytes if each
    /// two neighbours are those of theirs: the first join across a border would be made between
    /// these two alone as well. So where two windows have a token in common, the tokens of the one
    /// up to it and those of the other from it on are the tokens of both together. Where they have
    /// none, a wider window reaches further back and further on; in the end it is the whole piece.
    fn count_in_windows(
        &mut self,
        table: &Table,
        text: &[u8],
        (start, end): (usize, usize),
        window: usize,
    ) -> u64 {
        // Borders of the tokens of all before `merged`.
        let (mut done, mut merged, mut width) = (vec![start], start, window);
        while merged < end {
            let overlapped = done.partition_point(|border| border + width / 4 <= merged);
            let first = overlapped.saturating_sub(1);
            let window_end = end.min(done[first] + width);
            self.merge(table, text, done[first], window_end);
            let shared = match first {
                0 => Some((0, 0)),
                _ => first_shared(&done[first..], &self.borders),
            };
            match shared.filter(|_| window_end > merged) {
                Some((in_done, in_window)) => {
                    done.truncate(first + in_done);
                    done.extend(&self.borders[in_window..]);
                    (merged, width) = (window_end, window);
                }
                None => width *= 2,
            }
        }
        done.len() as u64 - 1
    }

    /// Puts the borders of the tokens of `text[start..end]` into `borders`.
    fn merge(&mut self, table: &Table, text: &[u8], start: usize, end: usize) {
        if end - start <= SEARCHED_BYTES_MAX {
            self.merge_by_search(table, text, start, end);
        } else {
            self.merge_by_heap(table, text, start, end);
        }
    }

    fn merge_by_search(&mut self, table: &Table, text: &[u8], start: usize, end: usize) {
        self.borders.clear();
        self.borders.extend(start..=end);
        self.ranks.clear();
        if self.pairs.is_empty() {
            self.pairs = vec![0; 1 << 16];
        }
        for at in start..end - 1 {
            let rank = self.pair_rank(table, text, at);
            self.ranks.push(rank);
        }
        // The last token has no right neighbour.
        self.ranks.push(NO_RANK);
        loop {
            let lowest = self.ranks.iter().copied().min().unwrap_or(NO_RANK);
            if lowest == NO_RANK {
                return;
            }
            self.join_all(table, text, lowest);
        }
    }

    /// The rank of two bytes: half of all look-ups, of few different pairs.
    #[inline]
    fn pair_rank(&mut self, table: &Table, text: &[u8], at: usize) -> u32 {
        let pair = usize::from(text[at]) << 8 | usize::from(text[at + 1]);
        if self.pairs[pair] == 0 {
            self.pairs[pair] = table.rank(text, at, at + 2).wrapping_add(2);
        }
        self.pairs[pair].wrapping_sub(2)
    }

    /// Joins the pairs of this lowest rank, leftmost first; stops early where that makes a pair of
    /// a lower one.
    ///
    /// No join makes a pair of the same rank: its bytes would be those of the token just made and
    /// more.
    fn join_all(&mut self, table: &Table, text: &[u8], lowest: u32) {
        let (borders, ranks) = (&mut self.borders, &mut self.ranks);
        let tokens = ranks.len();
        // Tokens before `kept` are done, those from `at` on are yet to be looked at.
        let (mut kept, mut at, mut is_lowest) = (0, 0, true);
        loop {
            let found = ranks[at..].iter().position(|rank| *rank == lowest && is_lowest);
            let next = found.map_or(tokens, |offset| at + offset);
            if kept < at {
                borders.copy_within(at..next, kept);
                ranks.copy_within(at..next, kept);
            }
            (kept, at) = (kept + next - at, next);
            if at == tokens {
                break;
            }
            let (begin, behind) = (borders[at], borders[at + 2]);
            borders[kept] = begin;
            ranks[kept] = match borders.get(at + 3) {
                Some(next) => table.rank(text, begin, *next),
                None => NO_RANK,
            };
            is_lowest = ranks[kept] > lowest;
            if kept > 0 {
                ranks[kept - 1] = table.rank(text, borders[kept - 1], behind);
                is_lowest &= ranks[kept - 1] > lowest;
            }
            (kept, at) = (kept + 1, at + 2);
        }
        borders[kept] = borders[tokens];
        borders.truncate(kept + 1);
        ranks.truncate(kept);
    }

    fn merge_by_heap(&mut self, table: &Table, text: &[u8], start: usize, end: usize) {
        let length = end - start;
        self.links.clear();
        self.links.extend((0..length).map(|at| Link {
            left: at.saturating_sub(1),
            right: at + 1,
            rank: NO_RANK,
        }));
        self.heap.clear();
        for at in 0..length {
            self.offer(table, text, start, at, length);
        }
        while let Some(Reverse(lowest)) = self.heap.pop() {
            let at = (lowest & ((1 << PLACE_BITS) - 1)) as usize;
            // An offer that a join has overtaken.
            if u64::from(self.links[at].rank) != lowest >> PLACE_BITS {
                continue;
            }
            let joined = self.links[at].right;
            let right = self.links[joined].right;
            self.links[joined].rank = NO_RANK;
            self.links[at].right = right;
            if right < length {
                self.links[right].left = at;
            }
            self.offer(table, text, start, at, length);
            if at > 0 {
                self.offer(table, text, start, self.links[at].left, length);
            }
        }
        self.borders.clear();
        let mut at = 0;
        while at < length {
            self.borders.push(start + at);
            at = self.links[at].right;
        }
        self.borders.push(end);
    }

    /// Notes the rank of the token at `at` joined with the next.
    fn offer(&mut self, table: &Table, text: &[u8], start: usize, at: usize, length: usize) {
        let next = self.links[at].right;
        let rank = if next < length {
            table.rank(text, start + at, start + self.links[next].right)
        } else {
            NO_RANK
        };
        self.links[at].rank = rank;
        if rank != NO_RANK {
            self.heap.push(Reverse(u64::from(rank) << PLACE_BITS | at as u64));
        }
    }
}

/// Where the first token begins that both have, as an index into either.
fn first_shared(done: &[usize], window: &[usize]) -> Option<(usize, usize)> {
    let (mut left, mut right) = (0, 0);
    while let (Some(one), Some(other)) = (done.get(left..left + 2), window.get(right..right + 2)) {
        if one == other {
            return Some((left, right));
        }
        if one[0] <= other[0] {
            left += 1;
        }
        if other[0] <= one[0] {
            right += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::bpe::Encoding;
    use crate::tokens::bpe::table::Key;
    use crate::tokens::bpe::table::tests::written;
    use proptest::prelude::*;

    /// The definition, word by word.
    fn reference(table: &Table, text: &[u8]) -> Vec<usize> {
        let mut borders: Vec<usize> = (0..=text.len()).collect();
        loop {
            let pairs = borders.windows(3).enumerate();
            let ranked = pairs.map(|(at, pair)| (table.rank(text, pair[0], pair[2]), at + 1));
            match ranked.min() {
                Some((rank, border)) if rank != NO_RANK => drop(borders.remove(border)),
                _ => return borders,
            }
        }
    }

    /// Bytes that merge over long distances: few letters, runs, and what vocabularies know.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-e]{1,40}",
            "[a-zA-Z]{1,60}",
            "[ \t]{1,90}",
            "(ab|ba|aab|=|-|\\*|the|ing){1,50}",
            "a{1,300}",
            "\\PC{1,30}",
        ];
        prop::collection::vec(part, 1..12).prop_map(|parts| parts.concat().into_bytes())
    }

    /// All ways to merge, held to the definition.
    fn check(table: &Table, text: &[u8]) -> Result<(), TestCaseError> {
        let expected = reference(table, text);
        let mut merger = Merger::default();
        merger.merge_by_search(table, text, 0, text.len());
        prop_assert_eq!(&merger.borders, &expected);
        merger.merge_by_heap(table, text, 0, text.len());
        prop_assert_eq!(&merger.borders, &expected);
        for window in [WINDOW_BYTES, 64, 16, 8, 4, 2, 1] {
            let count = merger.count_in_windows(table, text, (0, text.len()), window);
            prop_assert_eq!(count, expected.len() as u64 - 1, "windows of {} bytes", window);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_way_to_merge_is_the_definition(text in bytes()) {
            for encoding in Encoding::ALL {
                check(encoding.table(), &text)?;
            }
        }

        /// The ranks of these tokens follow no training: what is joined may make a pair of a lower
        /// rank, tokens may be out of reach, and far bytes may decide.
        #[test]
        fn the_order_of_the_ranks_does_not_matter(
            tokens in prop::collection::btree_set("[ab]{2,6}|[abc]{2,3}|[a-d]{2}", 1..60),
            order in any::<prop::sample::Index>(),
            texts in prop::collection::vec("[ab]{1,60}|[abc]{1,60}|[a-d]{1,60}", 1..8),
        ) {
            let mut tokens: Vec<Vec<u8>> = tokens.into_iter().map(String::into_bytes).collect();
            // From the order of the alphabet to one without order.
            tokens.sort_by_key(|token| Key::of(token, 0, token.len()).hash >> order.index(64));
            let file = written(&tokens, b"ANYRANKS");
            check(&Table::open(&file, b"ANYRANKS").unwrap(), texts.concat().as_bytes())?;
        }
    }
}
