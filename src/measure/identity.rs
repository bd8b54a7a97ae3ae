//! Identities: of a block by its place and bytes, of a prefix by the chain of its blocks.

use crate::request::{RenderedBlock, Role};

/// Identity of a block: where it stands (section, speaker, start of a message) and its prompt
/// bytes. The same bytes said by somebody else are another prompt.
pub fn of_block(block: &RenderedBlock) -> u128 {
    let role = block.role.map_or("", Role::as_str);
    let starts = if block.starts_message { "message" } else { "" };
    fingerprint(&[
        block.section.as_str().as_bytes(),
        role.as_bytes(),
        starts.as_bytes(),
        &block.prompt_bytes,
    ])
}

/// Identity of a block that is known by a name that stands for its bytes. Names are not chosen to
/// collide, so a fast fingerprint of the same width does.
pub fn of_name(name: &str) -> u128 {
    xxhash_rust::xxh3::xxh3_128(name.as_bytes())
}

/// Identity of the empty prefix of a namespace (what besides the prompt keys the cache).
pub fn of_namespace(namespace: &str) -> u128 {
    fingerprint(&[namespace.as_bytes()])
}

/// Odd numbers with their bits spread.
const SPREAD: [u128; 2] =
    [0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835, 0xd1b5_4a32_d192_ed03_c2b2_ae3d_27d4_eb4f];

/// Identity of the prefix that is longer by one block.
///
/// Both are fingerprints already, so mixing them is enough: each step is a bijection of either
/// while the other stays, and two chains meet no sooner than two random numbers do.
pub fn followed_by(prefix: u128, block: u128) -> u128 {
    let mixed = prefix.wrapping_mul(SPREAD[0]).wrapping_add(block);
    let mixed = (mixed ^ (mixed >> 65)).wrapping_mul(SPREAD[1]);
    mixed ^ (mixed >> 61)
}

/// A fingerprint of parts with their lengths, so that bytes never run from one part into the next.
fn fingerprint(parts: &[&[u8]]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    first_bytes(&hasher)
}

fn first_bytes(hasher: &blake3::Hasher) -> u128 {
    let mut first = [0; 16];
    hasher.finalize_xof().fill(&mut first);
    u128::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_depends_on_every_block_and_on_their_order() {
        let [a, b] = ["a", "b"].map(of_name);
        let start = of_namespace("model");
        let chain = |blocks: &[u128]| blocks.iter().fold(start, |p, block| followed_by(p, *block));
        let all = [chain(&[]), chain(&[a]), chain(&[b]), chain(&[a, b]), chain(&[b, a])];
        for (index, one) in all.iter().enumerate() {
            assert!(all[index + 1..].iter().all(|other| other != one), "{index}");
        }
        assert_ne!(followed_by(of_namespace("other"), a), chain(&[a]));
    }
}
