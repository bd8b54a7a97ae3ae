//! A canvas as SVG or PNG, by plotters' two backends; letters of a PNG by `text`.

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor};

use crate::report::ReportError;
use crate::report::charts::canvas::{Anchor, Canvas, Label, Mark, Weight};
use crate::report::charts::colours::{Colour, PAPER};
use crate::report::charts::png::encode;
use crate::report::charts::text::{Pixels, draw_label};

/// The font of the program, then what viewers of an SVG fall back to; Verdana has about the same
/// widths.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// Pixels of a PNG for each pixel of the canvas.
const PNG_SCALE: i32 = 2;

/// plotters divides the font size of an SVG by this.
const SVG_SIZE_PER_EM: f64 = 1.24;
/// Distance from the y given to plotters down to the baseline, in em.
const SVG_BASELINE_EM: f64 = 0.76;

/// How a backend sees the canvas.
#[derive(Clone, Copy)]
struct Medium {
    /// Pixels for each pixel of the canvas.
    scale: i32,
    /// What plotters draws beyond the right and bottom edge of a rectangle.
    overhang: i32,
}

const SVG: Medium = Medium { scale: 1, overhang: 0 };
const PNG: Medium = Medium { scale: PNG_SCALE, overhang: 1 };

/// The canvas as SVG with `title` for readers who do not see it.
pub(crate) fn svg(canvas: &Canvas, title: &str) -> Result<String, ReportError> {
    let mut text = String::new();
    let size = pixels(canvas, 1)?;
    paint(SVGBackend::with_string(&mut text, size), &canvas.marks, SVG, Some(PAPER))?;
    // plotters writes no title; the first tag is the opening of the whole drawing.
    let Some((head, body)) = text.split_once('\n') else {
        return Err(ReportError::Drawing { reason: "the SVG is empty".to_owned() });
    };
    let head = head.trim_end_matches('>');
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    Ok(format!("{head} role=\"img\">\n<title>{title}</title>\n{body}"))
}

/// The canvas as PNG at twice its size.
pub(crate) fn png(canvas: &Canvas) -> Result<Vec<u8>, ReportError> {
    let (width, height) = pixels(canvas, PNG_SCALE)?;
    let mut picture = Pixels { width, height, rgb: vec![0; (width * height * 3) as usize] };
    paint(BitMapBackend::with_buffer(&mut picture.rgb, (width, height)), &[], PNG, Some(PAPER))?;
    // plotters draws everything but text.
    for marks in canvas.marks.chunk_by(|one, next| one.label().is_some() == next.label().is_some())
    {
        let mut labels = marks.iter().filter_map(Mark::label).peekable();
        if labels.peek().is_none() {
            let backend = BitMapBackend::with_buffer(&mut picture.rgb, (width, height));
            paint(backend, marks, PNG, None)?;
        }
        for label in labels {
            draw_label(&mut picture, label, PNG_SCALE)?;
        }
    }
    encode(&picture)
}

fn pixels(canvas: &Canvas, scale: i32) -> Result<(u32, u32), ReportError> {
    u32::try_from(canvas.width * scale)
        .and_then(|width| Ok((width, u32::try_from(canvas.height * scale)?)))
        .map_err(|error| ReportError::Drawing { reason: error.to_string() })
}

/// Draws marks, on a ground of `ground` where it is given.
fn paint<Backend: DrawingBackend>(
    backend: Backend,
    marks: &[Mark],
    medium: Medium,
    ground: Option<Colour>,
) -> Result<(), ReportError> {
    let area = backend.into_drawing_area();
    let paint = || {
        if let Some(ground) = ground {
            area.fill(&rgb(ground))?;
        }
        for mark in marks {
            draw_mark(&area, mark, medium)?;
        }
        area.present()
    };
    paint().map_err(|error: DrawingAreaErrorKind<_>| ReportError::Drawing {
        reason: error.to_string(),
    })
}

fn draw_mark<Backend: DrawingBackend>(
    area: &DrawingArea<Backend, Shift>,
    mark: &Mark,
    medium: Medium,
) -> Result<(), DrawingAreaErrorKind<Backend::ErrorType>> {
    let point = |(x, y): (i32, i32)| (x * medium.scale, y * medium.scale);
    match mark {
        Mark::Rect { left, top, right, bottom, colour } => {
            let (right, bottom) = point((*right, *bottom));
            let corner = (right - medium.overhang, bottom - medium.overhang);
            area.draw(&Rectangle::new([point((*left, *top)), corner], rgb(*colour).filled()))
        }
        Mark::Line { from, to, colour } => {
            // One pixel in each medium: plotters draws wider slanted lines of a bitmap too heavy.
            area.draw(&PathElement::new(vec![point(*from), point(*to)], rgb(*colour)))
        }
        Mark::Polygon { points, colour } => {
            let points: Vec<(i32, i32)> = points.iter().map(|&at| point(at)).collect();
            area.draw(&Polygon::new(points, rgb(*colour).filled()))
        }
        Mark::Text(label) => draw_svg_text(area, label),
    }
}

fn draw_svg_text<Backend: DrawingBackend>(
    area: &DrawingArea<Backend, Shift>,
    label: &Label,
) -> Result<(), DrawingAreaErrorKind<Backend::ErrorType>> {
    let em = f64::from(label.size);
    let horizontal = match label.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let style = match label.weight {
        Weight::Normal => FontStyle::Normal,
        Weight::Bold => FontStyle::Bold,
    };
    let font = FontDesc::new(FontFamily::Name(FAMILY), em * SVG_SIZE_PER_EM, style)
        .color(&rgb(label.colour))
        .pos(Pos::new(horizontal, VPos::Top));
    let above = (em * SVG_BASELINE_EM).round() as i32;
    area.draw(&Text::new(label.text.as_str(), (label.x, label.baseline - above), font))
}

fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}
