//! The system prompt and the messages: which blocks are the same, and what the gaps between them
//! are.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::align::align;
use super::found::{Found, Pair};
use super::gap;
use super::kind::Kind;
use crate::request::{BlockKind, RenderedBlock, Role, Section};

/// Divergences of one section and the number of blocks that B appends behind the end of A.
pub(super) fn compare(pair: Pair<'_>, section: Section) -> (Vec<Found>, usize) {
    let (start_a, a) = pair.a.section(section);
    let (start_b, b) = pair.b.section(section);
    let (ids_a, ids_b) = (identities(a), identities(b));
    let (aligned_a, aligned_b) = order_free(a, b, &ids_a, &ids_b);
    let pairs = align(&aligned_a, &aligned_b);
    let mut walk =
        Walk { pair, section, starts: (start_a, start_b), found: Vec::new(), appended: 0 };
    let mut from = (0, 0);
    let ends = (a.len(), b.len());
    let mut last_reordered = None;
    for &(i, j) in pairs.iter().chain(std::iter::once(&ends)) {
        let is_gap = (i, j) != from;
        if is_gap {
            walk.gap(from.0..i, from.1..j, (i, j) == ends);
        }
        from = (i + 1, j + 1);
        if (i, j) == ends {
            break;
        }
        if ids_a[i] != ids_b[j] {
            let message = message_start(a, i);
            if last_reordered != Some(message) {
                last_reordered = Some(message);
                walk.reordered(i, j);
            }
        } else if a[i].starts_message != b[j].starts_message && !is_gap {
            walk.boundary(i, j, b[j].starts_message);
        }
    }
    let Walk { mut found, appended, .. } = walk;
    join_moves(pair, &mut found);
    (found, appended)
}

/// What makes a block the same one: its bytes and who speaks.
fn identities(blocks: &[RenderedBlock]) -> Vec<u128> {
    let id = |block: &RenderedBlock| {
        let role = block.role.map_or("", Role::as_str);
        hash(&[role.as_bytes(), &block.prompt_bytes])
    };
    blocks.iter().map(id).collect()
}

fn hash(parts: &[&[u8]]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut first = [0; 16];
    hasher.finalize_xof().fill(&mut first);
    u128::from_le_bytes(first)
}

/// Identities for aligning: in a message that both have with the same blocks in whatever order, the
/// n-th block stands for itself, so that an order is one divergence and not many.
fn order_free(
    a: &[RenderedBlock],
    b: &[RenderedBlock],
    ids_a: &[u128],
    ids_b: &[u128],
) -> (Vec<u128>, Vec<u128>) {
    let sets = |blocks: &[RenderedBlock], ids: &[u128]| -> Vec<(Range<usize>, u128)> {
        let several = messages(blocks).into_iter().filter(|range| range.len() > 1);
        several.map(|range| (range.clone(), unordered_hash(&ids[range]))).collect()
    };
    let (sets_a, sets_b) = (sets(a, ids_a), sets(b, ids_b));
    let known = |sets: &[(Range<usize>, u128)]| -> HashSet<u128> {
        sets.iter().map(|(_, set)| *set).collect()
    };
    let (in_a, in_b) = (known(&sets_a), known(&sets_b));
    let renumbered = |ids: &[u128], sets: &[(Range<usize>, u128)]| {
        let mut ids = ids.to_vec();
        for (range, set) in sets.iter().filter(|(_, set)| in_a.contains(set) && in_b.contains(set))
        {
            for (n, at) in range.clone().enumerate() {
                ids[at] = hash(&[&set.to_le_bytes(), &n.to_le_bytes()]);
            }
        }
        ids
    };
    (renumbered(ids_a, &sets_a), renumbered(ids_b, &sets_b))
}

fn unordered_hash(ids: &[u128]) -> u128 {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let bytes: Vec<u8> = sorted.iter().flat_map(|id| id.to_le_bytes()).collect();
    hash(&[&bytes])
}

/// The blocks of each message; the system prompt is one.
fn messages(blocks: &[RenderedBlock]) -> Vec<Range<usize>> {
    let starts = (0..blocks.len()).filter(|at| *at == 0 || blocks[*at].starts_message);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in starts {
        if let Some(range) = ranges.last_mut() {
            range.end = at;
        }
        ranges.push(at..blocks.len());
    }
    ranges
}

fn message_start(blocks: &[RenderedBlock], at: usize) -> usize {
    (0..=at).rev().find(|at| blocks[*at].starts_message).unwrap_or(0)
}

/// A walk along both lists; places are counted from the section's beginning.
struct Walk<'a> {
    pair: Pair<'a>,
    section: Section,
    starts: (usize, usize),
    found: Vec<Found>,
    appended: usize,
}

impl Walk<'_> {
    fn gap(&mut self, a: Range<usize>, b: Range<usize>, at_end: bool) {
        let a = a.start + self.starts.0..a.end + self.starts.0;
        let b = b.start + self.starts.1..b.end + self.starts.1;
        let gap = gap::Gap { pair: self.pair, section: self.section, a, b, at_end };
        let (found, appended) = gap.divergences();
        self.found.extend(found);
        self.appended += appended;
    }

    fn reordered(&mut self, i: usize, j: usize) {
        let (i, j) = (i + self.starts.0, j + self.starts.1);
        let (block, other) = (&self.pair.a.blocks[i], &self.pair.b.blocks[j]);
        let results = [block, other].iter().all(|block| block.kind == BlockKind::ToolResult);
        let (kind, cause) = match self.section {
            Section::System => {
                (Kind::SystemReordered, "the same blocks of the system prompt in another order")
            }
            Section::Tools | Section::Messages if results => {
                (Kind::ResultOrderChanged, "the same tool results in another order")
            }
            Section::Tools | Section::Messages => {
                (Kind::BlocksReordered, "the same blocks of a message in another order")
            }
        };
        let one = Found::new(kind, self.section.as_str(), i, cause.to_owned());
        self.found.push(one.at_blocks(self.pair, i..i + 1, j..j + 1));
    }

    fn boundary(&mut self, i: usize, j: usize, starts_in_b: bool) {
        let (i, j) = (i + self.starts.0, j + self.starts.1);
        let (kind, cause) = if starts_in_b {
            (Kind::MessageSplit, "one message of A is several in B: this block begins one there")
        } else {
            (Kind::MessageJoined, "several messages of A are one in B: this block begins one in A")
        };
        let one = Found::new(kind, self.section.as_str(), i, cause.to_owned());
        self.found.push(one.at_blocks(self.pair, i..i + 1, j..j + 1));
    }
}

/// Blocks that went at one place and came at another are one divergence, at the earlier place.
fn join_moves(pair: Pair<'_>, found: &mut Vec<Found>) {
    let content = |blocks: &[RenderedBlock]| unordered_hash(&identities(blocks));
    let key = |one: &Found| match (one.blocks_a.is_empty(), one.blocks_b.is_empty()) {
        (false, true) => Some((true, content(&pair.a.blocks[one.blocks_a.clone()]))),
        (true, false) => Some((false, content(&pair.b.blocks[one.blocks_b.clone()]))),
        (true, true) | (false, false) => None,
    };
    let keys: Vec<Option<(bool, u128)>> = found.iter().map(key).collect();
    let mut waiting: HashMap<(bool, u128), VecDeque<usize>> = HashMap::new();
    let mut joined: Vec<usize> = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let Some((gone, content)) = *key else { continue };
        let partner = waiting.get_mut(&(!gone, content)).and_then(VecDeque::pop_front);
        match partner {
            Some(first) => {
                found[first] = moved(pair, &found[first], &found[at]);
                joined.push(at);
            }
            None => waiting.entry((gone, content)).or_default().push_back(at),
        }
    }
    let mut at = 0;
    found.retain(|_| {
        at += 1;
        joined.binary_search(&(at - 1)).is_err()
    });
}

/// The divergence of blocks that moved. Its place is where the prompts part, on both sides, so that
/// it is the same whichever of the moved blocks is said to have moved.
fn moved(pair: Pair<'_>, first: &Found, second: &Found) -> Found {
    let (gone, come) = if first.blocks_a.is_empty() { (second, first) } else { (first, second) };
    let from = &pair.a.blocks[gone.blocks_a.start].pointer;
    let to = &pair.b.blocks[come.blocks_b.start].pointer;
    let cause = match gone.blocks_a.len() {
        1 => format!("the block at {from} in A stands at {to} in B"),
        count => format!("{count} blocks that begin at {from} in A begin at {to} in B"),
    };
    let kind = if gone.segment == Section::System.as_str() {
        Kind::SystemReordered
    } else {
        Kind::BlockMoved
    };
    let one =
        |at: usize, blocks: &[RenderedBlock]| at.min(blocks.len())..(at + 1).min(blocks.len());
    let a = one(first.position, &pair.a.blocks);
    let b = one(first.position_b, &pair.b.blocks);
    Found::new(kind, gone.segment, first.position, cause).at_blocks(pair, a, b)
}
