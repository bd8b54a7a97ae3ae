//! Which blocks of two lists are the same ones: pairs that grow in both lists.
//!
//! The equal head and tail are paired first, then blocks that stand exactly once in both (the
//! longest rising chain of them), then what lies between two such, by itself. Where nothing is
//! unique, the n-th of equal blocks meets the n-th. So the work grows like n log n and never like
//! the product of the lengths, at the price of a chain that is not always the longest there is.

use std::collections::HashMap;

/// How often a stretch between unique blocks is taken apart again.
const DEPTH_MAX: usize = 32;

/// Pairs of indices, rising in both, whose identities are equal. The equal head is always paired.
pub(super) fn align(a: &[u128], b: &[u128]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::with_capacity(a.len().min(b.len()));
    stretch(Stretch { a, b, at: (0, 0) }, 0, &mut pairs);
    pairs
}

/// A part of both lists and where it begins.
struct Stretch<'a> {
    a: &'a [u128],
    b: &'a [u128],
    at: (usize, usize),
}

fn stretch(part: Stretch<'_>, depth: usize, pairs: &mut Vec<(usize, usize)>) {
    let Stretch { a, b, at } = part;
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (inner_a, inner_b) = (&a[head..], &b[head..]);
    let tail = inner_a.iter().rev().zip(inner_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (inner_a, inner_b) = (&inner_a[..inner_a.len() - tail], &inner_b[..inner_b.len() - tail]);
    pairs.extend((0..head).map(|n| (at.0 + n, at.1 + n)));
    let inner_at = (at.0 + head, at.1 + head);
    if !inner_a.is_empty() && !inner_b.is_empty() {
        let anchors = if depth < DEPTH_MAX { unique_pairs(inner_a, inner_b) } else { Vec::new() };
        if anchors.is_empty() {
            let chain = rising(&nth_pairs(inner_a, inner_b));
            pairs.extend(chain.into_iter().map(|(i, j)| (inner_at.0 + i, inner_at.1 + j)));
        } else {
            between(inner_a, inner_b, inner_at, &rising(&anchors), depth, pairs);
        }
    }
    let tail_at = (at.0 + a.len() - tail, at.1 + b.len() - tail);
    pairs.extend((0..tail).map(|n| (tail_at.0 + n, tail_at.1 + n)));
}

/// Pairs the anchors and what lies before, between and behind them.
fn between(
    a: &[u128],
    b: &[u128],
    at: (usize, usize),
    anchors: &[(usize, usize)],
    depth: usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    let mut from = (0, 0);
    for &(i, j) in anchors {
        let part =
            Stretch { a: &a[from.0..i], b: &b[from.1..j], at: (at.0 + from.0, at.1 + from.1) };
        stretch(part, depth + 1, pairs);
        pairs.push((at.0 + i, at.1 + j));
        from = (i + 1, j + 1);
    }
    let part = Stretch { a: &a[from.0..], b: &b[from.1..], at: (at.0 + from.0, at.1 + from.1) };
    stretch(part, depth + 1, pairs);
}

/// Pairs of what stands exactly once on both sides, in the order of the first list.
fn unique_pairs(a: &[u128], b: &[u128]) -> Vec<(usize, usize)> {
    let places = |ids: &[u128]| {
        let mut places: HashMap<u128, Option<usize>> = HashMap::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            places.entry(*id).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (in_a, in_b) = (places(a), places(b));
    let once = |(i, id): (usize, &u128)| {
        Some((in_a.get(id).copied()??, in_b.get(id).copied()??)).filter(|(at, _)| *at == i)
    };
    a.iter().enumerate().filter_map(once).collect()
}

/// Pairs of the n-th with the n-th of equal blocks, in the order of the first list.
fn nth_pairs(a: &[u128], b: &[u128]) -> Vec<(usize, usize)> {
    let mut places: HashMap<u128, std::collections::VecDeque<usize>> = HashMap::new();
    for (at, id) in b.iter().enumerate() {
        places.entry(*id).or_default().push_back(at);
    }
    let next = |(i, id): (usize, &u128)| Some((i, places.get_mut(id)?.pop_front()?));
    a.iter().enumerate().filter_map(next).collect()
}

/// The longest chain of pairs that rises in the second index too; `pairs` rises in the first.
pub(super) fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair with the lowest end, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, j)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *j);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        chain.push(pairs[pair]);
        at = before[pair];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(text: &str) -> Vec<u128> {
        text.bytes().map(u128::from).collect()
    }

    fn kept(a: &str, b: &str) -> String {
        let (a, b) = (ids(a), ids(b));
        align(&a, &b).into_iter().map(|(i, _)| char::from(a[i] as u8)).collect()
    }

    #[test]
    fn an_insertion_moves_what_follows_and_loses_nothing() {
        assert_eq!(kept("abcdef", "abcXdef"), "abcdef");
        assert_eq!(kept("aaaa", "aaXaa"), "aaaa");
        assert_eq!(kept("abcdef", "bcdefa"), "bcdef");
        assert_eq!(kept("abXcdXef", "abYcdYef"), "abcdef");
        assert_eq!(kept("", "abc"), "");
    }

    #[test]
    fn long_lists_without_a_common_block_are_quick() {
        let (a, b): (Vec<u128>, Vec<u128>) = ((0..100_000).collect(), (200_000..300_000).collect());
        assert_eq!(align(&a, &b), []);
        // Two kinds of blocks only: nothing is unique.
        let a: Vec<u128> = (0..100_000).map(|n| n % 2).collect();
        let b: Vec<u128> = (0..100_000).map(|n| n / 2 % 2).collect();
        assert!(align(&a, &b).len() > 1_000);
    }

    proptest! {
        #[test]
        fn pairs_rise_are_equal_and_cover_the_common_head_and_tail(
            a in proptest::collection::vec(0_u128..6, 0..40),
            b in proptest::collection::vec(0_u128..6, 0..40),
        ) {
            let pairs = align(&a, &b);
            prop_assert!(pairs.iter().all(|(i, j)| a[*i] == b[*j]));
            prop_assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
            let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            prop_assert!((0..head).all(|n| pairs[n] == (n, n)));
        }

        #[test]
        fn one_inserted_block_leaves_all_others_paired(
            a in proptest::collection::vec(0_u128..6, 1..40),
            at in any::<prop::sample::Index>(),
            id in 0_u128..9,
        ) {
            let mut b = a.clone();
            b.insert(at.index(a.len() + 1), id);
            prop_assert_eq!(align(&a, &b).len(), a.len());
        }
    }
}
