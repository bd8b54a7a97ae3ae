//! What a child's prompt is made of.

use crate::measure::TokenizedPrompt;
use crate::record::SegmentRecord;
use crate::request::{RenderedBlock, Section};

/// The segments in cache order.
const SEGMENTS: [&str; 6] = ["tools", "system", "history", "dispatch", "placeholders", "directive"];

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
    }
    let mut end = 0;
    for row in &mut rows {
        row.start_tokens = end;
        end += row.tokens;
        row.end_tokens = end;
    }
    rows.retain(|row| row.blocks > 0);
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
        shared: if name == "directive" { "own" } else { "all" }.to_owned(),
    }
}

/// Index into [`SEGMENTS`]; `message` counts from 1.
fn segment_of(block: &RenderedBlock, message: usize, inherited: usize, is_own: bool) -> usize {
    match block.section {
        Section::Tools => 0,
        Section::System => 1,
        Section::Messages if is_own => 5,
        Section::Messages if message <= inherited => 2,
        Section::Messages if block.role == Some(crate::request::Role::Assistant) => 3,
        Section::Messages => 4,
    }
}
