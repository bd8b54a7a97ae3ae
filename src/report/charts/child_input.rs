//! What a child's input is made of, and what the cache did with each part: the whole on one axis,
//! and the tail behind the history again on its own, as it is often a hundredth of the whole.

use crate::record::{RunRecord, SegmentRecord};
use crate::report::ReportError;
use crate::report::charts::canvas::{Anchor, Canvas, Label, MARGIN, Mark, fitted};
use crate::report::charts::colours::{self, Colour, INK, PAPER, SHADE, text_on};
use crate::report::charts::labels::{Callout, CalloutRow, draw_callouts};
use crate::report::charts::rows::{children, describe, usage_words};
use crate::report::charts::scale::{AXIS_HEIGHT, Axis, Scale, whole};
use crate::report::charts::{Chart, ChartInput};
use crate::report::table::count;

pub(crate) const CHART: Chart =
    Chart { name: "child_input", title: "What a child's input is made of", draw };

const LEFT: i32 = 118;
const PROMPT_BAR: i32 = 40;
const CLASS_BAR: i32 = 14;
const CLASS_STEP: i32 = 20;
/// Room for lines and labels above or below a bar.
const CALLOUTS: i32 = 36;

/// A marker: its place in tokens, and its lifetime as written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MarkerTick {
    tokens: i64,
    lifetime: String,
}

/// What both panels show.
struct Content<'a> {
    segments: &'a [SegmentRecord],
    children: Vec<&'a RunRecord>,
    markers: Vec<MarkerTick>,
    first_difference: Option<i64>,
}

/// One axis and what is labelled beside its bars: the places in `labelled`.
struct Panel<'a> {
    title: &'a str,
    range: (i64, i64),
    labelled: (i64, i64),
}

fn draw(input: &ChartInput<'_>) -> Result<Canvas, ReportError> {
    let segments = input.segments;
    let Some(last) = segments.last() else {
        return Err(ReportError::NothingToDraw { chart: CHART.name, missing: "no segments" });
    };
    let total = signed(last.end_tokens);
    let all = children(input.records, CHART.name)?;
    let shown = first_and_last(&all);
    let mut lines = vec![describe(&all)];
    lines.extend(shown.iter().map(|row| format!("{}: {}.", row.request, usage_words(row))));
    let content = Content {
        segments,
        children: shown,
        markers: segments.iter().flat_map(|segment| markers(&segment.markers)).collect(),
        first_difference: segments
            .iter()
            .find(|segment| segment.shared == "own" && all.len() > 1)
            .map(|segment| signed(segment.start_tokens)),
    };
    let mut canvas = Canvas::new(0);
    let y = canvas.heading(CHART.title, &lines);
    let y = canvas.legend(&legend(&content), y) + 6;
    let tail = tail(segments, total);
    let labelled = (0, tail.map_or(i64::MAX, |start| start - 1));
    let whole = Panel { title: "tokens from the start of the input", range: (0, total), labelled };
    let mut last = draw_panel(&mut canvas, &content, &whole, y);
    if let Some(start) = tail {
        last = draw_tail(&mut canvas, &content, (start, total), &last);
    }
    canvas.height = last.bottom + 4;
    Ok(canvas)
}

/// Draws the tail on its own axis below the panel of the whole, and what connects both.
fn draw_tail(
    canvas: &mut Canvas,
    content: &Content<'_>,
    (start, total): (i64, i64),
    whole: &Extent,
) -> Extent {
    let (left, right) = bounds(canvas);
    let (from, to) = Scale::new((0, total), (left, right)).part(start, total);
    let panel = Panel {
        title: "the tail behind the history, magnified: tokens from the start of the input",
        range: (start, total),
        labelled: (start, i64::MAX),
    };
    let top = whole.bottom + 16;
    let tail = draw_panel(canvas, content, &panel, top);
    let points = [
        (from, whole.bars_bottom),
        (to, whole.bars_bottom),
        (right, top + 4),
        (right, tail.bars_top),
        (left, tail.bars_top),
        (left, top + 4),
    ];
    // Behind the marks of both panels.
    canvas.marks.insert(0, Mark::Polygon { points: points.to_vec(), colour: SHADE });
    tail
}

/// Where a panel stands, from top to bottom.
struct Extent {
    bars_top: i32,
    bars_bottom: i32,
    bottom: i32,
}

/// The first child, and the last where the cache did something else with it.
fn first_and_last<'a>(children: &[&'a RunRecord]) -> Vec<&'a RunRecord> {
    let classes = |row: &RunRecord| (row.read, row.write_5m, row.write_1h, row.uncached);
    let mut shown: Vec<&RunRecord> = children.first().copied().into_iter().collect();
    if let (Some(first), Some(last)) = (children.first(), children.last())
        && classes(first) != classes(last)
    {
        shown.push(last);
    }
    shown
}

/// Where the tail begins: behind the history, if that leaves a tail of less than half of the whole.
fn tail(segments: &[SegmentRecord], total: i64) -> Option<i64> {
    let history = segments.iter().find(|segment| segment.segment == "history")?;
    let start = signed(history.end_tokens);
    (start < total && (total - start) * 2 < total).then_some(start)
}

fn legend(content: &Content<'_>) -> Vec<(Colour, String)> {
    let any = |class: fn(&RunRecord) -> u64| content.children.iter().any(|row| class(row) > 0);
    let mut items = Vec::new();
    let mut push = |shown: bool, colour, words: &str| {
        if shown {
            items.push((colour, words.to_owned()));
        }
    };
    push(any(|row| row.read), colours::READ, "cache read");
    push(any(|row| row.write_5m), colours::WRITE_5M, "cache write 5m");
    push(any(|row| row.write_1h), colours::WRITE_1H, "cache write 1h");
    push(any(|row| row.uncached), colours::UNCACHED, "uncached input");
    items
}

fn bounds(canvas: &Canvas) -> (i32, i32) {
    (LEFT, canvas.width - MARGIN - 20)
}

fn draw_panel(canvas: &mut Canvas, content: &Content<'_>, panel: &Panel<'_>, top: i32) -> Extent {
    let scale = Scale::new(panel.range, bounds(canvas));
    let parts = parts(content, panel, scale);
    let outside: Vec<Callout> = parts
        .iter()
        .filter(|part| !part.words_fit() && part.is_labelled(panel))
        .map(|part| {
            let text = format!("{} {}", in_words(part.segment), count(part.segment.tokens));
            Callout { x: part.middle(), text }
        })
        .collect();
    let bar = top + bar_offset(&outside);
    let classes = bar + PROMPT_BAR + 8;
    let bars_end = classes + CLASS_STEP * content.children.len() as i32;
    let axis =
        Axis { scale, top: bar, y: bars_end + CALLOUTS + 14, label: whole, title: panel.title };
    draw_parts(canvas, &parts, bar);
    let row = CalloutRow {
        bounds: (MARGIN, canvas.width - MARGIN),
        bar_y: bar,
        label_y: bar - 14,
        baseline: bar - 18,
    };
    draw_callouts(canvas, row, &outside);
    for (index, row) in content.children.iter().enumerate() {
        draw_classes(canvas, row, panel, scale, classes + CLASS_STEP * index as i32);
    }
    draw_places(canvas, content, panel, scale, (bar, bars_end));
    axis.draw(canvas);
    Extent { bars_top: bar, bars_bottom: bars_end, bottom: axis.y + AXIS_HEIGHT }
}

/// Room above a bar: for callouts where there are any, else for the end of the dashed line.
fn bar_offset(outside: &[Callout]) -> i32 {
    if outside.is_empty() { 10 } else { CALLOUTS }
}

fn in_words(segment: &SegmentRecord) -> String {
    segment.segment.replace('_', " ")
}

/// A segment where it stands in a panel.
struct Part<'a> {
    segment: &'a SegmentRecord,
    left: i32,
    right: i32,
}

impl Part<'_> {
    fn middle(&self) -> i32 {
        (self.left + self.right) / 2
    }

    fn labels(&self, bar: i32) -> [Label; 2] {
        let ink = text_on(colours::segment(&self.segment.segment));
        let upper = Label::new(in_words(self.segment), self.middle(), bar + 17).bold();
        let lower = Label::new(count(self.segment.tokens), self.middle(), bar + 32);
        [upper, lower].map(|label| label.colour(ink).anchor(Anchor::Middle))
    }

    fn words_fit(&self) -> bool {
        self.labels(0).iter().all(|label| label.width() + 8 <= self.right - self.left)
    }

    fn is_labelled(&self, panel: &Panel<'_>) -> bool {
        (panel.labelled.0..=panel.labelled.1).contains(&signed(self.segment.start_tokens))
    }
}

/// The segments that a panel shows, in the order of the prompt.
fn parts<'a>(content: &Content<'a>, panel: &Panel<'_>, scale: Scale) -> Vec<Part<'a>> {
    content
        .segments
        .iter()
        .filter(|segment| segment.tokens > 0 && signed(segment.end_tokens) > panel.range.0)
        .map(|segment| {
            let (left, right) =
                scale.part(signed(segment.start_tokens), signed(segment.end_tokens));
            Part { segment, left, right }
        })
        .collect()
}

fn draw_parts(canvas: &mut Canvas, parts: &[Part<'_>], bar: i32) {
    let name = Label::new("input", LEFT - 12, bar + PROMPT_BAR / 2 + 4).bold();
    canvas.text(name.anchor(Anchor::End));
    // The widest first, so that none covers a narrow one, which is drawn wider than it is.
    let mut by_width: Vec<&Part<'_>> = parts.iter().collect();
    by_width.sort_by_key(|part| part.left - part.right);
    for part in by_width {
        let colour = colours::segment(&part.segment.segment);
        canvas.rect((part.left, part.right), (bar, bar + PROMPT_BAR), colour);
        canvas.line((part.left, bar), (part.left, bar + PROMPT_BAR), PAPER);
        if part.words_fit() {
            for label in part.labels(bar) {
                canvas.text(label);
            }
        }
    }
}

/// One thin bar: what was read, written and left uncached, in the order of the prompt.
fn draw_classes(canvas: &mut Canvas, row: &RunRecord, panel: &Panel<'_>, scale: Scale, top: i32) {
    let name = fitted(&row.request, LEFT - 12 - MARGIN, 12);
    canvas.text(Label::new(name, LEFT - 12, top + 11).anchor(Anchor::End));
    // One-hour markers stand before five-minute ones, so their writes come first.
    let parts = [
        (row.read, colours::READ),
        (row.write_1h, colours::WRITE_1H),
        (row.write_5m, colours::WRITE_5M),
        (row.uncached, colours::UNCACHED),
    ];
    let mut start = 0;
    let mut drawn = Vec::new();
    for (tokens, colour) in parts {
        let end = start + signed(tokens);
        if tokens > 0 && end > panel.range.0 {
            drawn.push((scale.part(start, end), colour));
        }
        start = end;
    }
    drawn.sort_by_key(|((left, right), _)| left - right);
    for ((left, right), colour) in drawn {
        canvas.rect((left, right), (top, top + CLASS_BAR), colour);
        canvas.line((left, top), (left, top + CLASS_BAR), PAPER);
    }
}

/// Markers as triangles under the bars, and the point where the children differ as a line through
/// them.
fn draw_places(
    canvas: &mut Canvas,
    content: &Content<'_>,
    panel: &Panel<'_>,
    scale: Scale,
    (top, bottom): (i32, i32),
) {
    let mut callouts = Vec::new();
    let visible = |at: i64| (panel.range.0..=panel.range.1).contains(&at);
    let labelled = |at: i64| (panel.labelled.0..=panel.labelled.1).contains(&at);
    if let Some(at) = content.first_difference.filter(|at| visible(*at)) {
        let x = scale.x(at);
        canvas.dashes(x, (top - 4, bottom + 8), INK);
        if labelled(at) {
            callouts.push(Callout { x, text: format!("first difference {}", whole(at)) });
        }
    }
    for marker in content.markers.iter().filter(|marker| visible(marker.tokens)) {
        let x = scale.x(marker.tokens);
        canvas.polygon(&[(x, bottom - 3), (x - 6, bottom + 8), (x + 6, bottom + 8)], INK);
        if labelled(marker.tokens) {
            let text = format!("marker {} @{}", whole(marker.tokens), marker.lifetime);
            callouts.push(Callout { x, text });
        }
    }
    let row = CalloutRow {
        bounds: (MARGIN, canvas.width - MARGIN),
        bar_y: bottom + 8,
        label_y: bottom + 22,
        baseline: bottom + 35,
    };
    draw_callouts(canvas, row, &callouts);
}

/// The markers of a cell such as `12030@5m 16000@5m`; what is not of that form is no marker.
fn markers(cell: &str) -> Vec<MarkerTick> {
    cell.split_whitespace()
        .filter_map(|word| {
            let (tokens, lifetime) = word.split_once('@')?;
            Some(MarkerTick { tokens: tokens.parse().ok()?, lifetime: lifetime.to_owned() })
        })
        .collect()
}

/// Tokens as a signed number for a scale; prompts are far shorter than what does not fit.
fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn markers_are_read_from_their_cell() {
        let expected = [(12_030, "5m"), (16_000, "1h")]
            .map(|(tokens, lifetime)| MarkerTick { tokens, lifetime: lifetime.to_owned() });
        assert_eq!(markers("12030@5m 16000@1h"), expected);
        assert_eq!(markers(""), []);
    }

    #[test]
    fn the_tail_is_magnified_only_where_it_is_the_smaller_part() {
        let start = |fixture: fixtures::Fixture| {
            tail(&fixture.segments, signed(fixture.segments[5].end_tokens))
        };
        assert_eq!(start(fixtures::golden()), Some(46_000));
        assert_eq!(start(fixtures::uncached()), None);
    }
}
