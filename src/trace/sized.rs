//! Sizes of all blocks of a recorded call, from what is known of some of its prefixes.

use super::capture::Call;
use super::learn::{Learnt, written};
use crate::units::Tokens;

/// What is known of the sizes of a call's blocks.
#[derive(Debug)]
pub(super) struct SizedBlocks {
    /// Tokens of every block.
    pub(super) tokens: Vec<Tokens>,
    /// Blocks whose prefixes have a learnt size.
    pub(super) known: Vec<usize>,
    /// Whether a learnt size contradicts the bill of the call.
    pub(super) contradicts: bool,
}

/// The sizes of all blocks of a call.
///
/// The whole has the size that was billed. Between known places tokens are shared out by bytes, so
/// the sizes of all blocks add up to the bill.
pub(super) fn sizes(call: &Call, learnt: &Learnt) -> SizedBlocks {
    let own = written(call);
    let total = call.usage.input().0;
    let mut known: Vec<(usize, u64)> = Vec::new();
    let mut contradicts = false;
    for (block, prefix) in call.prefixes.iter().enumerate() {
        let of_own = own.iter().find(|(at, _)| at == &block).map(|(_, tokens)| *tokens);
        let size = of_own.or_else(|| learnt.size(*prefix));
        let before = known.last().map_or(0, |(_, tokens)| *tokens);
        match size {
            Some(size) if (before..=total).contains(&size) => known.push((block, size)),
            Some(_) => contradicts = true,
            None => {}
        }
    }
    let mut tokens = Vec::with_capacity(call.blocks.len());
    let mut start = 0;
    let last = call.blocks.len().checked_sub(1).map(|last| (last, total));
    for (end, size) in known.iter().copied().chain(last) {
        if end < tokens.len() {
            continue;
        }
        let weights: Vec<u64> =
            call.blocks[tokens.len()..=end].iter().map(|block| block.bytes.max(1)).collect();
        share_out(size - start, &weights, &mut tokens);
        start = size;
    }
    let known = known.into_iter().map(|(block, _)| block).collect();
    SizedBlocks { tokens, known, contradicts }
}

/// Parts of `total` in proportion to `weights`; they add up to it exactly.
fn share_out(total: u64, weights: &[u64], parts: &mut Vec<Tokens>) {
    let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let (mut weight_so_far, mut given) = (0_u128, 0_u64);
    for weight in weights {
        weight_so_far += u128::from(*weight);
        let until = u128::from(total) * weight_so_far / all.max(1);
        let until = u64::try_from(until).unwrap_or(total);
        parts.push(Tokens(until - given));
        given = until;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_add_up_and_follow_the_weights(
            total in 0_u64..1_000_000_000,
            weights in prop::collection::vec(1_u64..1_000_000, 1..40),
        ) {
            let mut parts = Vec::new();
            share_out(total, &weights, &mut parts);
            prop_assert_eq!(parts.iter().map(|part| part.0).sum::<u64>(), total);
            let all: u64 = weights.iter().sum();
            for (part, weight) in parts.iter().zip(&weights) {
                let exact = u128::from(total) * u128::from(*weight);
                let got = u128::from(part.0) * u128::from(all);
                // Rounding moves less than one token either way.
                prop_assert!(got.abs_diff(exact) < u128::from(all));
            }
        }
    }
}
