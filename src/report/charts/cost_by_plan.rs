//! What the children cost under this plan, beside the same children under other rules.

use crate::record::{PLANS, RunRecord};
use crate::report::ReportError;
use crate::report::charts::canvas::{Anchor, Canvas, Label, MARGIN};
use crate::report::charts::colours::{self, Colour, PAPER, SOFT};
use crate::report::charts::rows::{billed, children, describe, token_equivalents};
use crate::report::charts::scale::{AXIS_HEIGHT, Axis, Scale, whole};
use crate::report::charts::{Chart, ChartInput};
use crate::report::table::{change_percent, count, decimal, plan_label};
use crate::units::PicoUsd;

pub(crate) const CHART: Chart = Chart { name: "cost_by_plan", title: "Input cost by plan", draw };

const BAR: i32 = 36;
const STEP: i32 = 56;

/// The parts of a bar in the order in which they are stacked.
const PARTS: [(&str, Colour); 4] = [
    ("cache read", colours::READ),
    ("cache write 5m", colours::WRITE_5M),
    ("cache write 1h", colours::WRITE_1H),
    ("uncached input", colours::UNCACHED),
];

/// One bar: costs of [`PARTS`] and their sums in pico-dollars.
struct Bar {
    plan: &'static str,
    parts: [i128; 4],
    input_pico_usd: i128,
    total_pico_usd: i128,
    output: u64,
}

fn draw(input: &ChartInput<'_>) -> Result<Canvas, ReportError> {
    let children = children(input.records, CHART.name)?;
    let base = children[0].base_pico_usd;
    let bars: Vec<Bar> =
        PLANS.into_iter().filter_map(|plan| bar(plan, &billed(input.records, plan))).collect();
    let mut canvas = Canvas::new(0);
    let mut lines = vec![describe(&children)];
    lines.push(
        "1 TE (token equivalent) costs what one uncached input token costs. No cache and perfect \
         cache are bounds, not plans."
            .to_owned(),
    );
    if bars.iter().any(|bar| bar.output > 0) {
        let output = bars.first().map_or(0, |bar| bar.output);
        lines.push(format!("USD includes output ({} tokens in this plan).", count(output)));
    }
    let y = canvas.heading(CHART.title, &lines);
    let shown: Vec<(Colour, String)> = PARTS
        .iter()
        .enumerate()
        .filter(|(index, _)| bars.iter().any(|bar| bar.parts[*index] > 0))
        .map(|(_, (name, colour))| (*colour, (*name).to_owned()))
        .collect();
    let top = canvas.legend(&shown, y) + 10;
    draw_bars(&mut canvas, &bars, base, top);
    Ok(canvas)
}

fn bar(plan: &'static str, rows: &[&RunRecord]) -> Option<Bar> {
    if rows.is_empty() {
        return None;
    }
    let mut bar = Bar { plan, parts: [0; 4], input_pico_usd: 0, total_pico_usd: 0, output: 0 };
    for row in rows {
        let costs = [
            row.read_pico_usd,
            row.write_5m_pico_usd,
            row.write_1h_pico_usd,
            row.uncached_pico_usd,
        ];
        for (part, cost) in bar.parts.iter_mut().zip(costs) {
            *part += cost;
        }
        bar.input_pico_usd += row.input_pico_usd;
        bar.total_pico_usd += row.input_pico_usd + row.output_pico_usd;
        bar.output += row.output;
    }
    Some(bar)
}

/// Both lines at the end of a bar.
fn labels(bar: &Bar, bars: &[Bar], base: i128) -> [String; 2] {
    let te = token_equivalents(bar.input_pico_usd, base).to_decimal(2);
    let no_cache = bars.iter().find(|other| other.plan == "no_cache");
    let versus = match no_cache {
        Some(other) if other.plan != bar.plan => {
            let change = change_percent(bar.input_pico_usd, other.input_pico_usd);
            format!(", {change} vs no cache")
        }
        Some(_) => ", the baseline".to_owned(),
        None => String::new(),
    };
    let usd = decimal(&PicoUsd(bar.total_pico_usd).to_usd_string());
    [format!("{} TE", decimal(&te)), format!("{usd} USD{versus}")]
}

fn draw_bars(canvas: &mut Canvas, bars: &[Bar], base: i128, top: i32) {
    let ends: Vec<[String; 2]> = bars.iter().map(|bar| labels(bar, bars, base)).collect();
    let names = bars.iter().map(|bar| Label::new(plan_label(bar.plan), 0, 0).bold().width());
    let left = MARGIN + names.max().unwrap_or_default() + 12;
    let bottom = top + STEP * bars.len() as i32;
    let scale = fit(bars, &ends, base, left, canvas.width - MARGIN);
    let axis = Axis { scale, top, y: bottom, label: whole, title: "input, token equivalents (TE)" };
    axis.draw_grid(canvas);
    for (index, (bar, end)) in bars.iter().zip(&ends).enumerate() {
        let y = top + STEP * index as i32 + (STEP - BAR) / 2;
        let name = Label::new(plan_label(bar.plan), left - 12, y + BAR / 2 + 4);
        let name = if bar.plan == "this_plan" { name.bold() } else { name };
        canvas.text(name.anchor(Anchor::End));
        let mut sum = 0;
        let mut x = left;
        for (cost, (_, colour)) in bar.parts.iter().zip(PARTS) {
            sum += cost;
            let next = scale.x_of(token_equivalents(sum, base));
            canvas.rect((x, next), (y, y + BAR), colour);
            if x > left && next > x + 2 {
                canvas.line((x, y), (x, y + BAR), PAPER);
            }
            x = next;
        }
        let upper = Label::new(end[0].clone(), x + 8, y + 15).bold();
        let lower = Label::new(end[1].clone(), x + 8, y + 31).colour(SOFT);
        // Grid lines behind the words would strike them through.
        canvas.rect((x + 4, x + 12 + upper.width().max(lower.width())), (y, y + BAR), PAPER);
        canvas.text(upper);
        canvas.text(lower);
    }
    axis.draw(canvas);
    canvas.height = bottom + AXIS_HEIGHT + 8;
}

/// The widest scale from `left` on which every bar and the words behind it end before `right`.
fn fit(bars: &[Bar], ends: &[[String; 2]], base: i128, left: i32, right: i32) -> Scale {
    let te = |bar: &Bar| token_equivalents(bar.input_pico_usd, base).to_f64();
    let longest = bars.iter().map(te).fold(1.0, f64::max);
    let width = bars
        .iter()
        .zip(ends)
        .map(|(bar, end)| {
            let upper = Label::new(end[0].clone(), 0, 0).bold().width();
            let words = upper.max(Label::new(end[1].clone(), 0, 0).width());
            f64::from(right - left - words - 16) / (te(bar) / longest).max(0.01)
        })
        .fold(f64::from(right - left - 40), f64::min);
    Scale::new((0, longest.ceil() as i64), (left, left + width as i32))
}
