//! The longest common prefix of byte strings, at memory speed and without unsafe code.

use crate::request::RequestBody;

/// Bytes compared at once: one `memcmp` over a chunk is several times faster than a loop over
/// bytes.
const CHUNK: usize = 4_096;

/// Length of the longest common prefix.
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let limit = a.len().min(b.len());
    let mut at = 0;
    while at < limit {
        let end = (at + CHUNK).min(limit);
        if a[at..end] != b[at..end] {
            return at + first_unequal(&a[at..end], &b[at..end]);
        }
        at = end;
    }
    limit
}

/// Where two slices of equal length first differ: whole words first, then the bytes of the word
/// that differs.
fn first_unequal(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(x, y)| x == y).count();
    let rest = a[words * 8..].iter().zip(&b[words * 8..]);
    words * 8 + rest.take_while(|(x, y)| x == y).count()
}

/// Length of the longest common prefix of two bodies. The head that siblings share in memory is not
/// read.
pub fn common_body_prefix(a: &RequestBody, b: &RequestBody) -> usize {
    let [head, own_a, tail] = a.parts();
    if a.same_family(b) {
        let [_, own_b, _] = b.parts();
        return head.len() + common_chain(&[own_a, tail], &[own_b, tail]);
    }
    common_chain(&a.parts(), &b.parts())
}

/// Length of the longest common prefix of two byte strings that stand in pieces.
fn common_chain(a: &[&[u8]], b: &[&[u8]]) -> usize {
    let (mut pieces_a, mut pieces_b) = (a.iter().copied(), b.iter().copied());
    let (mut rest_a, mut rest_b): (&[u8], &[u8]) = (&[], &[]);
    let mut total = 0;
    loop {
        if rest_a.is_empty() {
            let Some(next) = pieces_a.next() else { return total };
            rest_a = next;
            continue;
        }
        if rest_b.is_empty() {
            let Some(next) = pieces_b.next() else { return total };
            rest_b = next;
            continue;
        }
        let step = rest_a.len().min(rest_b.len());
        let equal = common_prefix(&rest_a[..step], &rest_b[..step]);
        total += equal;
        if equal < step {
            return total;
        }
        rest_a = &rest_a[step..];
        rest_b = &rest_b[step..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_bytes(a: &[u8], b: &[u8]) -> usize {
        a.iter().zip(b).take_while(|(x, y)| x == y).count()
    }

    proptest! {
        #[test]
        fn equals_the_byte_loop(
            shared in proptest::collection::vec(any::<u8>(), 0..9_000),
            a in proptest::collection::vec(any::<u8>(), 0..40),
            b in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let a = [shared.clone(), a].concat();
            let b = [shared, b].concat();
            prop_assert_eq!(common_prefix(&a, &b), by_bytes(&a, &b));
        }

        #[test]
        fn pieces_do_not_matter(
            a in proptest::collection::vec(0_u8..2, 0..60),
            b in proptest::collection::vec(0_u8..2, 0..60),
            cuts in proptest::array::uniform4(0_usize..60),
        ) {
            let cut = |text: &[u8], x: usize, y: usize| {
                let (x, y) = (x.min(y).min(text.len()), x.max(y).min(text.len()));
                [text[..x].to_vec(), text[x..y].to_vec(), text[y..].to_vec()]
            };
            let (pieces_a, pieces_b) = (cut(&a, cuts[0], cuts[1]), cut(&b, cuts[2], cuts[3]));
            let slices = |pieces: &[Vec<u8>; 3]| pieces.clone();
            let (pa, pb) = (slices(&pieces_a), slices(&pieces_b));
            let ra: Vec<&[u8]> = pa.iter().map(Vec::as_slice).collect();
            let rb: Vec<&[u8]> = pb.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(common_chain(&ra, &rb), by_bytes(&a, &b));
        }
    }
}
