//! What a child's prompt is made of.

use crate::measure::TokenizedPrompt;
use crate::record::SegmentRecord;
use crate::request::{BlockKind, ExtraKind, RenderedBlock, Section};

/// The segments in cache order.
const SEGMENTS: [&str; 10] = [
    "tool_prompt",
    "tools",
    "system",
    "hidden_prompts",
    "history",
    "dispatch",
    "placeholders",
    "boilerplate",
    "directive",
    "answer",
];

/// Of the provider's own prompt of tool use, what stands before the tools.
const TOOL_PROMPT: usize = 0;

/// What else a provider adds of its own: prompts that depend on parameters, behind the system
/// prompt.
const HIDDEN_PROMPTS: usize = 3;

/// What is billed behind the last block.
const ANSWER: usize = 9;

/// One row a segment of a child's prompt, of which the first `inherited` messages are the parent's.
pub fn segments(prompt: &TokenizedPrompt, inherited: usize) -> Vec<SegmentRecord> {
    let mut rows: Vec<SegmentRecord> = SEGMENTS.iter().map(|name| empty(name)).collect();
    let mut messages = 0;
    let mut bytes_before = 0;
    let blocks = prompt.len();
    for (index, (block, measure)) in prompt.blocks().enumerate() {
        messages += usize::from(block.starts_message);
        let is_own = prompt.own().is_some() && index + 1 == blocks;
        let row = &mut rows[segment_of(block, messages, inherited, is_own)];
        row.blocks += 1;
        row.tokens += measure.tokens.0;
        row.bytes += measure.bytes_so_far - bytes_before;
        bytes_before = measure.bytes_so_far;
        if let Some(ttl) = block.marker {
            let space = if row.markers.is_empty() { "" } else { " " };
            row.markers.push_str(&format!("{space}{}@{ttl}", measure.tokens_so_far.0));
        }
        for extra in &block.frame.extras {
            let Some(hidden) = hidden_of(extra.kind) else { continue };
            let moved = extra.tokens.min(measure.tokens.0);
            let segment = segment_of(block, messages, inherited, is_own);
            rows[segment].tokens -= moved;
            rows[hidden].tokens += moved;
        }
    }
    rows[ANSWER].tokens = prompt.tail().0;
    let mut end = 0;
    for row in &mut rows {
        row.start_tokens = end;
        end += row.tokens;
        row.end_tokens = end;
    }
    rows.retain(|row| row.blocks > 0 || row.tokens > 0);
    rows
}

fn empty(name: &str) -> SegmentRecord {
    SegmentRecord {
        segment: name.to_owned(),
        blocks: 0,
        bytes: 0,
        tokens: 0,
        start_tokens: 0,
        end_tokens: 0,
        markers: String::new(),
        shared: if ["directive", "answer"].contains(&name) { "own" } else { "all" }.to_owned(),
    }
}

/// Index into [`SEGMENTS`]; `message` counts from 1.
fn segment_of(block: &RenderedBlock, message: usize, inherited: usize, is_own: bool) -> usize {
    match block.section {
        Section::Tools => 1,
        Section::System => 2,
        Section::Messages if is_own => 8,
        Section::Messages if message <= inherited => 4,
        Section::Messages if block.role == Some(crate::request::Role::Assistant) => 5,
        Section::Messages if block.kind == BlockKind::Text => 7,
        Section::Messages => 6,
    }
}

/// The segment of tokens that the provider adds of its own; `None` for those that belong to their
/// block.
fn hidden_of(kind: ExtraKind) -> Option<usize> {
    match kind {
        ExtraKind::ToolPrompt => Some(TOOL_PROMPT),
        ExtraKind::ToolChoicePrompt | ExtraKind::OutputSchema => Some(HIDDEN_PROMPTS),
        ExtraKind::Frame
        | ExtraKind::Thinking
        | ExtraKind::Image
        | ExtraKind::Document
        | ExtraKind::Unknown => None,
    }
}
