//! Laws that every chart keeps for every made-up run.

use std::collections::BTreeSet;

use super::canvas::{Label, Mark, Role};
use super::colours::{READ, UNCACHED, WRITE_1H, WRITE_5M};
use super::*;
use crate::report::csv::{read_records, read_segments, records_csv, segments_csv};
use crate::report::fixtures::{self, Fixture};
use crate::units::PicoUsd;

fn input(fixture: &Fixture) -> ChartInput<'_> {
    ChartInput { records: &fixture.records, segments: &fixture.segments }
}

fn each(law: impl Fn(&Chart, &Fixture, &Canvas)) {
    for fixture in fixtures::all().into_iter().chain([crowded()]) {
        for chart in ALL {
            law(chart, &fixture, &(chart.draw)(&input(&fixture)).unwrap());
        }
    }
}

/// Endless names, and more markers than there is room for.
fn crowded() -> Fixture {
    let mut fixture = fixtures::prewarm();
    for record in &mut fixture.records {
        record.request = "endless".repeat(40);
        record.model = "model".repeat(60);
    }
    let markers: Vec<String> = (1..30).map(|at| format!("{}@5m", 16_000 + at * 1_000)).collect();
    fixture.segments[2].markers = markers.join(" ");
    fixture
}

fn labels(canvas: &Canvas) -> Vec<&Label> {
    canvas.marks.iter().filter_map(Mark::label).collect()
}

/// Left, top, right, bottom of a text.
fn extent(label: &Label) -> [i32; 4] {
    let left = label.left();
    let (ascent, descent) = (label.size * 3 / 4, label.size / 4);
    [left, label.baseline - ascent, left + label.width(), label.baseline + descent]
}

#[test]
fn no_text_covers_another() {
    each(|chart, fixture, canvas| {
        let labels = labels(canvas);
        for (index, one) in labels.iter().enumerate() {
            for other in &labels[index + 1..] {
                let (a, b) = (extent(one), extent(other));
                let apart = a[2] + 2 <= b[0] || b[2] + 2 <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                let name = &fixture.summary.scenario;
                assert!(apart, "{} {name}: {} / {}", chart.name, one.text, other.text);
            }
        }
    });
}

#[test]
fn everything_stands_inside_the_canvas() {
    each(|chart, fixture, canvas| {
        let inside = |x: i32, y: i32| {
            assert!(
                (0..=canvas.width).contains(&x) && (0..=canvas.height).contains(&y),
                "{} {}: {x}, {y}",
                chart.name,
                fixture.summary.scenario
            );
        };
        for mark in &canvas.marks {
            match mark {
                Mark::Rect { left, top, right, bottom, .. } => {
                    inside(*left, *top);
                    inside(*right, *bottom);
                }
                Mark::Line { from, to, .. } => {
                    inside(from.0, from.1);
                    inside(to.0, to.1);
                }
                Mark::Polygon { points, .. } => points.iter().for_each(|at| inside(at.0, at.1)),
                Mark::Text(label) => {
                    let [left, top, right, bottom] = extent(label);
                    inside(left, top);
                    inside(right, bottom);
                    assert!(label.size >= 11, "{}", label.text);
                }
            }
        }
    });
}

/// Every number in a text, separators removed.
fn numbers(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != ',')
        .map(|part| part.replace(',', "").trim_matches('.').to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

/// Every number that stands in a CSV or in the summary, and what the chart may say beside them.
fn known_numbers(fixture: &Fixture) -> BTreeSet<String> {
    let summary = serde_json::to_string(&fixture.summary).unwrap();
    let mut known: BTreeSet<String> = numbers(&summary.replace(',', " ")).into_iter().collect();
    for bytes in [records_csv(&fixture.records), segments_csv(&fixture.segments)] {
        let text = String::from_utf8(bytes.unwrap()).unwrap().replace(',', " ");
        known.extend(numbers(&text));
    }
    for row in crate::report::table::plan_rows(&fixture.summary) {
        known.extend(numbers(&row.versus_no_cache));
    }
    for record in &fixture.records {
        known.extend(numbers(&scale::seconds(record.start_ms)));
    }
    let requests = fixture.records.iter().filter(|row| row.plan == "this_plan").count();
    known.insert(requests.saturating_sub(30).to_string());
    // "1 TE costs what one uncached input token costs", and lifetimes of 5m and 1h.
    known.extend(["1".to_owned(), "5".to_owned()]);
    known
}

#[test]
fn every_number_stands_in_a_table() {
    each(|chart, fixture, canvas| {
        let known = known_numbers(fixture);
        for label in labels(canvas).iter().filter(|label| label.role == Role::Words) {
            for number in numbers(&label.text) {
                assert!(known.contains(&number), "{}: {number} in {}", chart.name, label.text);
            }
        }
    });
}

#[test]
fn charts_from_the_csv_are_the_charts_from_memory() {
    for fixture in fixtures::all() {
        let records = read_records(&records_csv(&fixture.records).unwrap()).unwrap();
        let segments = read_segments(&segments_csv(&fixture.segments).unwrap()).unwrap();
        let again = ChartInput { records: &records, segments: &segments };
        for chart in ALL {
            let one = svg(chart, &input(&fixture)).unwrap();
            assert_eq!(one, svg(chart, &again).unwrap(), "{}", chart.name);
            assert_eq!(one, svg(chart, &input(&fixture)).unwrap(), "{}", chart.name);
        }
    }
}

/// Every tag is closed in order, and nothing outside tags and attributes is a bare `<` or `&`.
fn check_well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "{rest}");
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    for entity in text.split('&').skip(1) {
        let name = entity.split(';').next().unwrap();
        assert!(["lt", "gt", "amp", "quot", "apos"].contains(&name), "{name}");
    }
}

/// The x and y of every text lie inside the picture.
fn check_places(text: &str) {
    let number = |tag: &str, name: &str| -> i32 {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let (width, height) = (number(text, "width"), number(text, "height"));
    let mut texts = 0;
    for tag in text.split("<text").skip(1) {
        assert!((0..=width).contains(&number(tag, "x")), "{tag}");
        assert!((0..=height).contains(&number(tag, "y")), "{tag}");
        texts += 1;
    }
    assert!(texts > 5, "{texts}");
}

#[test]
fn an_svg_is_well_formed_whatever_requests_are_called() {
    for mut fixture in fixtures::all() {
        fixture.records[1].request = "<&\"'>".to_owned();
        for chart in ALL {
            let text = svg(chart, &input(&fixture)).unwrap();
            check_well_formed(&text);
            check_places(&text);
            assert!(text.starts_with("<svg width=\"900\""));
            assert!(text.contains(&format!("<title>{}</title>", chart.title)));
            assert!(text.contains("font-family=\"DejaVu Sans, Verdana, sans-serif\""));
        }
    }
}

#[test]
fn a_png_has_twice_the_size() {
    let fixture = fixtures::golden();
    for chart in ALL {
        let canvas = (chart.draw)(&input(&fixture)).unwrap();
        let bytes = png(chart, &input(&fixture)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        let size = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((size(16), size(20)), (1_800, canvas.height as u32 * 2), "{}", chart.name);
    }
}

/// Columns of pixels in which a colour is to be seen, among the bars of a height.
fn visible_columns(canvas: &Canvas, wanted: colours::Colour, height: i32) -> usize {
    let mut painted = std::collections::BTreeMap::new();
    for mark in &canvas.marks {
        if let Mark::Rect { left, top, right, bottom, colour } = mark
            && bottom - top == height
        {
            painted.extend((*left..*right).map(|x| ((*top, x), *colour)));
        }
    }
    painted.values().filter(|colour| **colour == wanted).count()
}

#[test]
fn bars_are_as_long_as_their_totals() {
    for fixture in fixtures::all() {
        let canvas = (cost_by_plan::CHART.draw)(&input(&fixture)).unwrap();
        let length = |plan: usize| -> i32 {
            // Bars stand one under another; their parts share a top.
            let tops: BTreeSet<i32> = bar_parts(&canvas).iter().map(|part| part.0).collect();
            let top = *tops.iter().nth(plan).unwrap();
            bar_parts(&canvas).iter().filter(|part| part.0 == top).map(|part| part.1).sum()
        };
        let te = |text: &str| text.parse::<f64>().unwrap();
        let share = te(&fixture.summary.totals.te) / te(&fixture.summary.baselines.no_cache.te);
        let drawn = f64::from(length(0)) / f64::from(length(1));
        assert!((share - drawn).abs() < 0.02, "{}: {share} {drawn}", fixture.summary.scenario);
    }
}

/// Top and width of each part of a cost bar.
fn bar_parts(canvas: &Canvas) -> Vec<(i32, i32)> {
    canvas
        .marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Rect { left, top, right, bottom, colour } => {
                let part = [READ, WRITE_5M, WRITE_1H, UNCACHED].contains(colour);
                (part && bottom - top == 36).then_some((*top, right - left))
            }
            Mark::Line { .. } | Mark::Polygon { .. } | Mark::Text(_) => None,
        })
        .collect()
}

#[test]
fn the_smallest_segment_is_seen_and_named() {
    for fixture in fixtures::all() {
        let canvas = (child_input::CHART.draw)(&input(&fixture)).unwrap();
        let texts: Vec<&str> = labels(&canvas).iter().map(|label| label.text.as_str()).collect();
        for segment in fixture.segments.iter().filter(|segment| segment.tokens > 0) {
            let named = texts.iter().any(|text| text.starts_with(&segment.segment));
            assert!(named, "{} {}", fixture.summary.scenario, segment.segment);
            let seen = visible_columns(&canvas, colours::segment(&segment.segment), 40);
            assert!(seen >= 2, "{} {}", fixture.summary.scenario, segment.segment);
        }
        let marked = fixture.segments.iter().any(|segment| !segment.markers.is_empty());
        assert_eq!(marked, texts.iter().any(|text| text.starts_with("marker ")));
    }
}

#[test]
fn totals_in_the_chart_are_those_of_the_summary() {
    for fixture in fixtures::all() {
        let canvas = (cost_by_plan::CHART.draw)(&input(&fixture)).unwrap();
        let texts: Vec<&str> = labels(&canvas).iter().map(|label| label.text.as_str()).collect();
        for row in crate::report::table::plan_rows(&fixture.summary) {
            let te = format!("{} TE", crate::report::table::decimal(&row.totals.te));
            assert!(texts.contains(&te.as_str()), "{te}");
            let cost = PicoUsd(row.totals.cost_pico_usd.parse().unwrap()).to_usd_string();
            let versus = match row.label.as_str() {
                "no cache" => "the baseline".to_owned(),
                _ => format!("{} vs no cache", row.versus_no_cache),
            };
            let usd = format!("{} USD, {versus}", crate::report::table::decimal(&cost));
            assert!(texts.contains(&usd.as_str()), "{usd} {texts:?}");
        }
    }
}

#[test]
fn without_rows_there_is_an_error_and_no_picture() {
    let fixture = fixtures::golden();
    for chart in ALL {
        let nothing = ChartInput { records: &[], segments: &fixture.segments };
        let message = svg(chart, &nothing).unwrap_err().to_string();
        assert!(message.starts_with(&format!("draw {}: ", chart.name)), "{message}");
    }
}
