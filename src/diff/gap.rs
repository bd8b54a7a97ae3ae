//! What stands between two blocks that are the same in both bodies: blocks that went, came, or
//! changed.

use std::ops::Range;

use super::changed::{block_leaves, changed_kind, subject};
use super::drill::{Leaf, Shape};
use super::found::{Found, Pair, leaf_words};
use super::kind::Kind;
use super::likeness::{likeness, pair_up};
use crate::request::{BlockKind, RenderedBlock, Role, Section};
use crate::units::grouped;

/// Below this likeness two blocks have little but their kind in common.
const LIKE: u32 = 300;

/// A gap: blocks of A and of B, at least one, without a counterpart that is equal.
pub(super) struct Gap<'a> {
    pub(super) pair: Pair<'a>,
    pub(super) section: Section,
    pub(super) a: Range<usize>,
    pub(super) b: Range<usize>,
    /// Whether both sections end with it.
    pub(super) at_end: bool,
}

/// What is made of a gap.
#[derive(Debug)]
enum Step {
    /// The same block, changed.
    Changed(usize, usize),
    /// Blocks that are unlike: gone, come, or one in place of the other.
    Unlike(Range<usize>, Range<usize>),
}

impl Gap<'_> {
    /// The divergences, and how many blocks of B are behind the end of A.
    pub(super) fn divergences(&self) -> (Vec<Found>, usize) {
        if !self.a.is_empty() && !self.b.is_empty() {
            let whole = self.regrouped().or_else(|| self.replaced());
            if let Some(found) = whole {
                return (vec![found], 0);
            }
        }
        let mut found: Vec<Found> = Vec::new();
        let mut appended = 0;
        for step in self.steps() {
            match step {
                Step::Changed(i, j) => self.changed(i, j, &mut found),
                Step::Unlike(a, b) => {
                    let grows = self.section == Section::Messages
                        && self.at_end
                        && a.is_empty()
                        && a.start == self.a.end
                        && b.end == self.b.end;
                    if grows {
                        appended = b.len();
                    } else {
                        found.push(self.unlike(a, b));
                    }
                }
            }
        }
        (found, appended)
    }

    fn block_a(&self, at: usize) -> &RenderedBlock {
        &self.pair.a.blocks[at]
    }

    fn block_b(&self, at: usize) -> &RenderedBlock {
        &self.pair.b.blocks[at]
    }

    fn steps(&self) -> Vec<Step> {
        let pairs =
            pair_up(&self.pair.a.blocks[self.a.clone()], &self.pair.b.blocks[self.b.clone()]);
        let mut steps = Vec::new();
        let mut from = (self.a.start, self.b.start);
        for (i, j) in pairs {
            let (i, j) = (i + self.a.start, j + self.b.start);
            if from != (i, j) {
                steps.push(Step::Unlike(from.0..i, from.1..j));
            }
            steps.push(Step::Changed(i, j));
            from = (i + 1, j + 1);
        }
        if from != (self.a.end, self.b.end) {
            steps.push(Step::Unlike(from.0..self.a.end, from.1..self.b.end));
        }
        steps
    }

    /// The same text cut into other blocks.
    fn regrouped(&self) -> Option<Found> {
        let blocks = || {
            let a = self.a.clone().map(|at| self.block_a(at));
            a.chain(self.b.clone().map(|at| self.block_b(at)))
        };
        let is_text =
            |block: &RenderedBlock| matches!(block.kind, BlockKind::Text | BlockKind::System);
        let role = self.block_a(self.a.start).role;
        if self.a.len() + self.b.len() < 3
            || !blocks().all(|block| is_text(block) && block.role == role)
        {
            return None;
        }
        let solid = |texts: &mut dyn Iterator<Item = &RenderedBlock>| -> String {
            let chars = texts.flat_map(|block| block.counted_text.chars());
            chars.filter(|char| !char.is_whitespace()).collect()
        };
        let in_a = solid(&mut self.a.clone().map(|at| self.block_a(at)));
        if in_a != solid(&mut self.b.clone().map(|at| self.block_b(at))) {
            return None;
        }
        let (kind, verb) = match (self.section, self.a.len() < self.b.len()) {
            (Section::System, true) => (Kind::SystemBlockSplit, "in more blocks"),
            (Section::System, false) => (Kind::SystemBlockJoined, "in fewer or other blocks"),
            (Section::Tools | Section::Messages, true) => (Kind::TextSplit, "in more blocks"),
            (Section::Tools | Section::Messages, false) => {
                (Kind::TextJoined, "in fewer or other blocks")
            }
        };
        let cause = format!(
            "the same text {verb}: {} in A, {} in B",
            count(self.a.len(), "block"),
            count(self.b.len(), "block")
        );
        Some(self.one(kind, self.a.start, cause).at_blocks(
            self.pair,
            self.a.clone(),
            self.b.clone(),
        ))
    }

    /// Several messages that make way for others with which they have nothing in common.
    fn replaced(&self) -> Option<Found> {
        let is_whole = self.is_whole_in_a(&self.a) && self.is_whole_in_b(&self.b);
        let (gone, come) = (self.messages_a(&self.a), self.messages_b(&self.b));
        // At the end one message that changed may be followed by growth.
        let least = if self.at_end { gone } else { gone.max(come) };
        if self.section != Section::Messages || !is_whole || least < 2 {
            return None;
        }
        let (a, b) = (&self.pair.a.blocks[self.a.clone()], &self.pair.b.blocks[self.b.clone()]);
        let is_like = |&(i, j): &(usize, usize)| likeness(&a[i], &b[j]) >= LIKE;
        if pair_up(a, b).iter().any(is_like) {
            return None;
        }
        let cause = if come < gone {
            format!("{} make way for {come}, as after a compaction", count(gone, "message"))
        } else {
            format!("{} make way for {come} others", count(gone, "message"))
        };
        Some(self.one(Kind::HistoryReplaced, self.a.start, cause).at_blocks(
            self.pair,
            self.a.clone(),
            self.b.clone(),
        ))
    }

    fn one(&self, kind: Kind, position: usize, cause: String) -> Found {
        Found::new(kind, self.section.as_str(), position, cause)
    }

    /// Blocks that went, or came, or both.
    fn unlike(&self, a: Range<usize>, b: Range<usize>) -> Found {
        let (kind, cause) = match (self.section, a.is_empty(), b.is_empty()) {
            (Section::System, true, _) => {
                let what = count(b.len(), "block");
                (Kind::SystemBlockAdded, format!("the system prompt has {what} more"))
            }
            (Section::System, false, true) => {
                let what = count(a.len(), "block");
                (Kind::SystemBlockRemoved, format!("the system prompt has {what} less"))
            }
            (_, true, _) => self.come(&b),
            (_, false, true) => self.gone(&a),
            (_, false, false) => self.instead(&a, &b),
        };
        let mut found = self.one(kind, a.start, cause);
        found.position_b = b.start;
        found.at_blocks(self.pair, a, b)
    }

    fn come(&self, b: &Range<usize>) -> (Kind, String) {
        if self.is_whole_in_b(b) {
            let messages = self.messages_b(b);
            let what = count(messages, "message");
            let verb = if messages == 1 { "is" } else { "are" };
            let bytes: usize =
                self.pair.b.blocks[b.clone()].iter().map(|block| block.prompt_bytes.len()).sum();
            let bytes = grouped(bytes as i128);
            let hint = self.hint(b.start);
            let where_to = match self.a.start == self.pair.a.section(Section::Messages).0 {
                true => "at the beginning of the conversation",
                false => "in the middle of the conversation",
            };
            let cause = format!("{what} of {bytes} prompt bytes {verb} inserted {where_to}{hint}");
            return (Kind::MessageInserted, cause);
        }
        let what = count(b.len(), noun(&self.pair.b.blocks[b.clone()]));
        let kind = match uniform(&self.pair.b.blocks[b.clone()]) {
            Some(BlockKind::ToolUse) => Kind::ToolCallAdded,
            Some(BlockKind::ToolResult) => Kind::ResultAdded,
            Some(BlockKind::Image) => Kind::ImageAdded,
            Some(BlockKind::Thinking) => Kind::ThinkingAdded,
            Some(
                BlockKind::Tool
                | BlockKind::System
                | BlockKind::Text
                | BlockKind::Document
                | BlockKind::Other,
            )
            | None => Kind::BlockInserted,
        };
        (kind, format!("B has {what} more in a message{}", self.hint(b.start)))
    }

    /// What a text that came says about itself.
    fn hint(&self, at: usize) -> &'static str {
        if self.block_b(at).counted_text.trim_start().starts_with("<system-reminder>") {
            ", a reminder of the harness"
        } else {
            ""
        }
    }

    fn gone(&self, a: &Range<usize>) -> (Kind, String) {
        if self.is_whole_in_a(a) {
            let what = count(self.messages_a(a), "message");
            let (start, blocks) = self.pair.a.section(Section::Messages);
            if a.end == start + blocks.len() && self.at_end {
                return (
                    Kind::HistoryTruncated,
                    format!("the last {what} of A {}", gone_verb(&what)),
                );
            }
            if a.start == start {
                let cause = format!("the first {what} of A {}, as by a window", gone_verb(&what));
                return (Kind::HistoryTruncated, cause);
            }
            let cause = format!("{what} in the middle of A {}", gone_verb(&what));
            return (Kind::MessageRemoved, cause);
        }
        let what = count(a.len(), noun(&self.pair.a.blocks[a.clone()]));
        let kind = match uniform(&self.pair.a.blocks[a.clone()]) {
            Some(BlockKind::ToolUse) => Kind::ToolCallRemoved,
            Some(BlockKind::ToolResult) => Kind::ResultRemoved,
            Some(BlockKind::Image) => Kind::ImageRemoved,
            Some(BlockKind::Thinking) => Kind::ThinkingDropped,
            Some(
                BlockKind::Tool
                | BlockKind::System
                | BlockKind::Text
                | BlockKind::Document
                | BlockKind::Other,
            )
            | None => Kind::BlockRemoved,
        };
        (kind, format!("{what} of a message of A {}", gone_verb(&what)))
    }

    fn instead(&self, a: &Range<usize>, b: &Range<usize>) -> (Kind, String) {
        let (old, new) = (&self.pair.a.blocks[a.clone()], &self.pair.b.blocks[b.clone()]);
        let cause =
            format!("{} of A: {} in B", count(old.len(), noun(old)), count(new.len(), noun(new)));
        let has = |blocks: &[RenderedBlock], kind| blocks.iter().any(|block| block.kind == kind);
        let kind = if has(old, BlockKind::Image) && !has(new, BlockKind::Image) {
            Kind::ImageRemoved
        } else if has(new, BlockKind::Image) && !has(old, BlockKind::Image) {
            Kind::ImageAdded
        } else if has(old, BlockKind::Thinking) && !has(new, BlockKind::Thinking) {
            Kind::ThinkingDropped
        } else if has(new, BlockKind::Thinking) && !has(old, BlockKind::Thinking) {
            Kind::ThinkingAdded
        } else {
            Kind::BlockReplaced
        };
        (kind, cause)
    }

    fn is_whole_in_a(&self, range: &Range<usize>) -> bool {
        is_whole(&self.pair.a.blocks, range)
    }

    fn is_whole_in_b(&self, range: &Range<usize>) -> bool {
        is_whole(&self.pair.b.blocks, range)
    }

    fn messages_a(&self, range: &Range<usize>) -> usize {
        starts(&self.pair.a.blocks[range.clone()])
    }

    fn messages_b(&self, range: &Range<usize>) -> usize {
        starts(&self.pair.b.blocks[range.clone()])
    }

    /// The same block, changed.
    fn changed(&self, i: usize, j: usize, found: &mut Vec<Found>) {
        let (block, other) = (self.block_a(i), self.block_b(j));
        if block.role != other.role {
            return self.role_changed(i, j, found);
        }
        let (Some(a), Some(b)) =
            (self.pair.a.node(&block.pointer), self.pair.b.node(&other.pointer))
        else {
            return;
        };
        let mut all = block_leaves(a, b);
        if all.is_empty() && block.prompt_bytes != other.prompt_bytes {
            // No member shows it, e.g. a string in place of a block without a text.
            let (path_a, path_b) = (String::new(), String::new());
            all.push(Leaf { path_a, path_b, a: Some(a), b: Some(b), shape: Shape::Value });
        }
        let Some(leaf) = all.first() else { return };
        let (flavour, words) = leaf_words(leaf);
        let only_order = all.iter().all(|leaf| leaf.shape == Shape::KeyOrder);
        let kind = changed_kind(other.kind, leaf, flavour, only_order);
        let one = self.one(kind, i, format!("{}: {words}", subject(b, other)));
        found.push(
            one.at_leaf(self.pair, (&block.pointer, &other.pointer), leaf)
                .blocks(i..i + 1, j..j + 1)
                .and_more(all.len() - 1),
        );
    }

    /// Once for a message, however many blocks it has.
    fn role_changed(&self, i: usize, j: usize, found: &mut Vec<Found>) {
        let (block, other) = (self.block_a(i), self.block_b(j));
        let pointer = |block: &RenderedBlock| {
            let message = block.pointer.split("/content").next().unwrap_or(&block.pointer);
            format!("{message}/role")
        };
        let (at_a, at_b) = (pointer(block), pointer(other));
        let last = found.last().and_then(|last| last.b.as_ref());
        if last.is_some_and(|spot| spot.pointer == at_b) {
            return;
        }
        let name = |role: Option<Role>| role.map_or("nobody", Role::as_str);
        let cause =
            format!("a message of the {} is the {}'s in B", name(block.role), name(other.role));
        let one = self.one(Kind::MessageRoleChanged, i, cause).blocks(i..i + 1, j..j + 1);
        let (Some(a), Some(b)) = (self.pair.a.node(&at_a), self.pair.b.node(&at_b)) else {
            return found.push(one.at_blocks(self.pair, i..i + 1, j..j + 1));
        };
        let leaf = Leaf {
            path_a: String::new(),
            path_b: String::new(),
            a: Some(a),
            b: Some(b),
            shape: Shape::Value,
        };
        found.push(one.at_leaf(self.pair, (&at_a, &at_b), &leaf));
    }
}

/// Whether a range begins and ends at messages.
fn is_whole(blocks: &[RenderedBlock], range: &Range<usize>) -> bool {
    let begins = |at: usize| blocks.get(at).is_none_or(|block| block.starts_message);
    !range.is_empty() && begins(range.start) && begins(range.end)
}

fn starts(blocks: &[RenderedBlock]) -> usize {
    blocks.iter().filter(|block| block.starts_message).count()
}

/// The kind of all blocks, where it is one.
fn uniform(blocks: &[RenderedBlock]) -> Option<BlockKind> {
    let first = blocks.first()?.kind;
    blocks.iter().all(|block| block.kind == first).then_some(first)
}

fn noun(blocks: &[RenderedBlock]) -> &'static str {
    match uniform(blocks) {
        Some(BlockKind::ToolUse) => "tool call",
        Some(BlockKind::ToolResult) => "tool result",
        Some(BlockKind::Image) => "image",
        Some(BlockKind::Thinking) => "thinking block",
        Some(BlockKind::Document) => "document",
        Some(BlockKind::Text) => "text block",
        Some(BlockKind::Tool | BlockKind::System | BlockKind::Other) | None => "block",
    }
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    }
}

fn gone_verb(what: &str) -> &'static str {
    if what.starts_with("1 ") { "is gone" } else { "are gone" }
}
