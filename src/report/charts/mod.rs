//! Charts, each drawn from rows of `records.csv` and `segments.csv` and from nothing else.
//!
//! A chart lays out a [`Canvas`]: a list of marks in pixels, which tests read as easily as the two
//! renderers do. To add one, write `charts/<chart>.rs` and list it in [`ALL`]. Text is measured
//! and, in PNG, drawn with a font that stands in the program, never with one of the machine.

mod canvas;
mod child_input;
mod colours;
mod cost_by_plan;
mod labels;
mod png;
mod render;
mod rows;
mod scale;
#[cfg(test)]
mod tests;
mod text;
mod timeline;

pub use canvas::Canvas;

use crate::record::{RunRecord, SegmentRecord};
use crate::report::ReportError;

/// What charts are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct ChartInput<'a> {
    /// The rows of `records.csv`.
    pub records: &'a [RunRecord],
    /// The rows of `segments.csv`.
    pub segments: &'a [SegmentRecord],
}

/// One chart.
#[derive(Clone, Copy, Debug)]
pub struct Chart {
    /// File stem, e.g. `cost_by_plan`.
    pub name: &'static str,
    /// What stands above it.
    pub title: &'static str,
    /// Lays it out.
    pub draw: fn(&ChartInput<'_>) -> Result<Canvas, ReportError>,
}

/// Every chart, in the order in which a report shows them.
pub const ALL: &[Chart] = &[cost_by_plan::CHART, child_input::CHART, timeline::CHART];

/// The chart as SVG, 900 pixels wide; equal input gives equal bytes.
///
/// # Errors
/// [`ReportError::NothingToDraw`] without rows to draw, [`ReportError::Drawing`] where drawing
/// fails.
pub fn svg(chart: &Chart, input: &ChartInput<'_>) -> Result<String, ReportError> {
    render::svg(&(chart.draw)(input)?, chart.title)
}

/// The chart as PNG of twice the size of [`svg`], so that it stays sharp; equal input gives equal
/// bytes.
///
/// # Errors
/// [`ReportError::NothingToDraw`] without rows to draw, [`ReportError::Drawing`] where drawing
/// fails.
pub fn png(chart: &Chart, input: &ChartInput<'_>) -> Result<Vec<u8>, ReportError> {
    render::png(&(chart.draw)(input)?)
}
