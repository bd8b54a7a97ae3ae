//! When each request is sent, begins to answer and ends, and how its input is billed.

use crate::record::RunRecord;
use crate::report::ReportError;
use crate::report::charts::canvas::{Anchor, Canvas, Label, MARGIN, TICK, fitted};
use crate::report::charts::colours::{self, Colour, INK, SOFT};
use crate::report::charts::rows::{children, describe};
use crate::report::charts::scale::{AXIS_HEIGHT, Axis, Scale, seconds};
use crate::report::charts::{Chart, ChartInput};
use crate::report::table::count;

pub(crate) const CHART: Chart = Chart {
    name: "timeline",
    title: "When requests are sent, and how their input is billed",
    draw,
};

/// Above this number of requests only the first and the last are shown.
const SHOWN_MOST: usize = 40;
const SHOWN_FIRST: usize = 20;
const SHOWN_LAST: usize = 10;
/// Left end of the time axis.
const LEFT: i32 = 130;
const ROW: i32 = 20;
const BAR: i32 = 12;
/// Width of the bar that shows the shares of the input.
const SHARE: i32 = 84;
/// Space between columns.
const GUTTER: i32 = 14;

/// One line of the chart.
enum Line<'a> {
    Request(&'a RunRecord),
    LeftOut(usize),
}

/// Tokens of one class of a request's input.
type Class = fn(&RunRecord) -> u64;

/// Figures of one column, right-aligned at `right`.
struct Column {
    name: &'static str,
    colour: Colour,
    value: Class,
    right: i32,
}

fn draw(input: &ChartInput<'_>) -> Result<Canvas, ReportError> {
    let all = children(input.records, CHART.name)?;
    let mut requests: Vec<&RunRecord> =
        input.records.iter().filter(|row| row.plan == "this_plan").collect();
    requests.sort_by_key(|row| (row.role != "parent", row.seq));
    let lines = shorten(&requests);
    let shown: Vec<&RunRecord> = lines.iter().filter_map(request_of).collect();
    let mut canvas = Canvas::new(0);
    let y = canvas.heading(
        CHART.title,
        &[describe(&all), "Times are assumed. The parent's own request is in no total.".to_owned()],
    );
    let billed = |class: Class| shown.iter().any(|row| row.role != "parent" && class(row) > 0);
    let items: Vec<(Colour, String)> = [
        (true, colours::WAITING, "waiting for the first token"),
        (true, colours::ANSWER, "response"),
        (billed(|row| row.read), colours::READ, "cache read"),
        (billed(|row| row.write_5m), colours::WRITE_5M, "cache write 5m"),
        (billed(|row| row.write_1h), colours::WRITE_1H, "cache write 1h"),
        (billed(|row| row.uncached), colours::UNCACHED, "uncached input"),
    ]
    .into_iter()
    .filter(|(present, ..)| *present)
    .map(|(_, colour, words)| (colour, words.to_owned()))
    .collect();
    let long_writes = shown.iter().any(|row| row.write_1h > 0);
    let y = canvas.legend(&items, y) + 8;
    let (columns, right) = columns(&canvas, &shown, long_writes);
    draw_lines(&mut canvas, &lines, &columns, y, right);
    Ok(canvas)
}

fn request_of<'a>(line: &Line<'a>) -> Option<&'a RunRecord> {
    match line {
        Line::Request(row) => Some(row),
        Line::LeftOut(_) => None,
    }
}

fn shorten<'a>(requests: &[&'a RunRecord]) -> Vec<Line<'a>> {
    let whole = |rows: &[&'a RunRecord]| -> Vec<Line<'a>> {
        rows.iter().map(|row| Line::Request(row)).collect()
    };
    if requests.len() <= SHOWN_MOST {
        return whole(requests);
    }
    let mut lines = whole(&requests[..SHOWN_FIRST]);
    lines.push(Line::LeftOut(requests.len() - SHOWN_FIRST - SHOWN_LAST));
    lines.extend(whole(&requests[requests.len() - SHOWN_LAST..]));
    lines
}

/// The columns of figures from the right edge to the left, and the right end of the time axis.
fn columns(canvas: &Canvas, shown: &[&RunRecord], long_writes: bool) -> (Vec<Column>, i32) {
    let mut kinds: Vec<(&'static str, Colour, Class)> = vec![
        ("read", colours::READ, |row| row.read),
        ("write 5m", colours::WRITE_5M, |row| row.write_5m),
        ("write 1h", colours::WRITE_1H, |row| row.write_1h),
        ("uncached", colours::UNCACHED, |row| row.uncached),
    ];
    if !long_writes {
        kinds.remove(2);
    }
    let mut right = canvas.width - MARGIN;
    let mut columns = Vec::new();
    for (name, colour, value) in kinds.into_iter().rev() {
        let figures = shown.iter().map(|row| Label::new(count(value(row)), 0, 0).width());
        let width = figures.max().unwrap_or_default().max(Label::new(name, 0, 0).bold().width());
        columns.push(Column { name, colour, value, right });
        right -= width + GUTTER;
    }
    columns.reverse();
    (columns, right - SHARE - 2 * GUTTER)
}

/// The time that the axis covers: all requests, but an early parent does not press the others
/// together.
fn range(shown: &[&RunRecord]) -> (i64, i64) {
    let start = |rows: &mut dyn Iterator<Item = &&RunRecord>| rows.map(|row| row.start_ms).min();
    let end = shown.iter().map(|row| row.end_ms).max().unwrap_or(0).max(0);
    let parent = start(&mut shown.iter().filter(|row| row.role == "parent"));
    let others = start(&mut shown.iter().filter(|row| row.role != "parent")).unwrap_or(0).min(0);
    let span = (end - others).max(1);
    match parent {
        Some(parent) if others - parent > 4 * span => (others - span / 5, end),
        Some(parent) => (others.min(parent), end),
        None => (others, end),
    }
}

fn draw_lines(canvas: &mut Canvas, lines: &[Line<'_>], columns: &[Column], y: i32, right: i32) {
    let shown: Vec<&RunRecord> = lines.iter().filter_map(request_of).collect();
    let scale = Scale::new(range(&shown), (LEFT, right));
    let top = y + 24;
    let bottom = top + ROW * lines.len() as i32 + 4;
    let axis = Axis { scale, top, y: bottom, label: seconds, title: "seconds from the fork" };
    axis.draw_grid(canvas);
    let fork = scale.x(0);
    canvas.dashes(fork, (top - 4, bottom), INK);
    canvas.text(Label::new("fork", fork, y + 14).colour(SOFT).anchor(Anchor::Middle));
    let share = right + GUTTER + SHARE / 2;
    canvas.text(Label::new("input", share, y + 14).bold().anchor(Anchor::Middle));
    for column in columns {
        canvas.text(Label::new(column.name, column.right, y + 14).bold().anchor(Anchor::End));
    }
    for (index, line) in lines.iter().enumerate() {
        let row_top = top + ROW * index as i32 + (ROW - BAR) / 2;
        match line {
            Line::Request(row) => {
                draw_request(canvas, row, scale, row_top);
                draw_billing(canvas, row, columns, right + GUTTER, row_top);
            }
            Line::LeftOut(number) => {
                let text = format!("… {} more requests", count(*number as u64));
                canvas.text(Label::new(text, MARGIN, row_top + 10).colour(SOFT));
            }
        }
    }
    axis.draw(canvas);
    canvas.height = bottom + AXIS_HEIGHT + 4;
}

fn draw_request(canvas: &mut Canvas, row: &RunRecord, scale: Scale, top: i32) {
    let name = fitted(&row.request, LEFT - 12 - MARGIN, 12);
    canvas.text(Label::new(name, LEFT - 12, top + 10).anchor(Anchor::End));
    let from = scale.x(row.start_ms);
    if scale.x(row.end_ms) <= scale.x(i64::MIN) && row.start_ms < row.end_ms {
        // Before the axis: an arrow, and when.
        let middle = top + BAR / 2;
        canvas.polygon(&[(from, middle), (from + 9, top), (from + 9, top + BAR)], colours::ANSWER);
        let text = format!("sent at {} s", seconds(row.start_ms));
        let label = Label::new(text, from + 14, top + 10).size(TICK);
        canvas.rect(
            (from + 11, from + 17 + label.width()),
            (top - 2, top + BAR + 2),
            colours::PAPER,
        );
        canvas.text(label);
        return;
    }
    let (start, end) = scale.part(row.start_ms, row.end_ms);
    let first_token = scale.x(row.first_token_ms).clamp(start, end);
    canvas.rect((start, first_token), (top, top + BAR), colours::WAITING);
    canvas.rect((first_token, end), (top, top + BAR), colours::ANSWER);
    canvas.line((first_token, top - 2), (first_token, top + BAR + 2), INK);
}

/// The shares of a request's input as a bar of fixed width, and the figures; no bar for the parent,
/// whose request is paid either way.
fn draw_billing(canvas: &mut Canvas, row: &RunRecord, columns: &[Column], left: i32, top: i32) {
    let total = i64::try_from(row.input).unwrap_or(i64::MAX);
    let scale = Scale::new((0, total), (left, left + SHARE));
    let parent = row.role == "parent";
    let mut sum = 0;
    let mut parts = Vec::new();
    for column in columns {
        let value = (column.value)(row);
        let next = sum + i64::try_from(value).unwrap_or(i64::MAX - sum);
        parts.push((scale.part(sum, next), column.colour));
        sum = next;
        let label = Label::new(count(value), column.right, top + 10);
        let label = if value == 0 || parent { label.colour(SOFT) } else { label };
        canvas.text(label.anchor(Anchor::End));
    }
    if parent {
        let label = Label::new("in no total", left + SHARE / 2, top + 10).colour(SOFT);
        canvas.text(label.anchor(Anchor::Middle));
        return;
    }
    // The widest first, so that none covers a narrow one, which is drawn wider than it is.
    parts.sort_by_key(|((from, to), _)| from - to);
    for (ends, colour) in parts {
        canvas.rect(ends, (top, top + BAR), colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    fn requests(fixture: &fixtures::Fixture) -> Vec<&RunRecord> {
        fixture.records.iter().filter(|row| row.plan == "this_plan").collect()
    }

    #[test]
    fn many_requests_are_shortened_and_the_rest_counted() {
        let fixture = fixtures::uncached();
        let requests = requests(&fixture);
        let lines = shorten(&requests);
        assert_eq!(lines.len(), 31);
        assert!(matches!(lines[20], Line::LeftOut(left_out) if left_out + 30 == requests.len()));
        assert_eq!(request_of(&lines[30]).unwrap().request, "child-400");
    }

    #[test]
    fn a_parent_of_an_hour_ago_does_not_stretch_the_axis() {
        let fixture = fixtures::one_child();
        assert_eq!(range(&requests(&fixture)), (-4_000, 20_000));
        let fixture = fixtures::golden();
        assert_eq!(range(&requests(&fixture)), (-40_000, 20_000));
    }
}
