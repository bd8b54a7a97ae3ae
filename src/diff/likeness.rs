//! Which of the blocks in a gap are the same block, changed.

use crate::request::{BlockKind, RenderedBlock};

/// Most pairs of blocks that are all compared; in larger gaps neighbours meet in order.
const CELLS_MAX: usize = 40_000;

/// Bytes of a text that are compared at each end.
const BYTES_MAX: usize = 2_048;

/// Pairs of blocks that are the same, changed; rising in both.
pub(super) fn pair_up(a: &[RenderedBlock], b: &[RenderedBlock]) -> Vec<(usize, usize)> {
    if a.len() * b.len() > CELLS_MAX {
        let both = a.iter().zip(b).enumerate();
        return both.filter(|(_, (x, y))| x.kind == y.kind).map(|(n, _)| (n, n)).collect();
    }
    // best[i][j]: the most likeness that the blocks from i and from j on can have.
    let width = b.len() + 1;
    let mut best = vec![0_u32; (a.len() + 1) * width];
    let mut like = vec![0_u32; a.len() * b.len()];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let own = likeness(&a[i], &b[j]);
            like[i * b.len() + j] = own;
            let paired = if own > 0 { own + best[(i + 1) * width + j + 1] } else { 0 };
            let apart = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            best[i * width + j] = paired.max(apart);
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let own = like[i * b.len() + j];
        let here = best[i * width + j];
        if own > 0 && here == own + best[(i + 1) * width + j + 1] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// How much two blocks are the same one: 0 for never, 1,000 for equal bytes.
pub(super) fn likeness(a: &RenderedBlock, b: &RenderedBlock) -> u32 {
    if a.prompt_bytes == b.prompt_bytes {
        return 1_000;
    }
    if a.kind != b.kind {
        return 0;
    }
    let ends = match a.kind {
        // The names of a call stand before its arguments.
        BlockKind::ToolUse
        | BlockKind::ToolResult
        | BlockKind::Document
        | BlockKind::Image
        | BlockKind::Other => equal_ends(&a.prompt_bytes, &b.prompt_bytes),
        BlockKind::Text | BlockKind::System | BlockKind::Thinking | BlockKind::Tool => {
            equal_ends(a.counted_text.as_bytes(), b.counted_text.as_bytes())
        }
    };
    let role = if a.role == b.role { 50 } else { 1 };
    role + ends
}

/// The share of the shorter text that its equal ends make, of 900.
fn equal_ends(a: &[u8], b: &[u8]) -> u32 {
    let shorter = a.len().min(b.len());
    if shorter == 0 {
        return 0;
    }
    let limit = shorter.min(BYTES_MAX);
    let head = a.iter().zip(b).take(limit).take_while(|(x, y)| x == y).count();
    let from_the_end = a.iter().rev().zip(b.iter().rev());
    let tail = from_the_end.take(limit.min(shorter - head)).take_while(|(x, y)| x == y).count();
    let measured = shorter.min(2 * BYTES_MAX);
    (900 * (head + tail).min(measured) / measured) as u32
}
