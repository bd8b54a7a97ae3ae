//! Letters of the program's font: how wide they are, and their pixels.
//!
//! plotters sets each letter at a whole pixel and leaves out the space before it, so that words
//! look uneven in a bitmap. Here a line is laid out as a whole, at fractions of a pixel.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, Glyph, InvalidFont, PxScale, ScaleFont, point};

use crate::report::ReportError;
use crate::report::charts::canvas::{Anchor, Label, Weight};
use crate::report::charts::colours::Colour;

/// Steps from paper to ink at the edge of a letter: few enough that a chart has few colours.
const STEPS: u32 = 16;

/// A picture of three bytes a pixel, row by row.
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgb: Vec<u8>,
}

/// Letters of a line from its left end, and its width, in pixels.
struct Line {
    glyphs: Vec<Glyph>,
    width: f32,
}

/// Width of a text in pixels, kerning included, rounded up.
pub(crate) fn text_width(text: &str, size: i32, weight: Weight) -> i32 {
    match font(weight) {
        Ok(font) => lay_out(font, text, size as f32).width.ceil() as i32,
        // Wider than any line of DejaVu Sans; drawing will report the font.
        Err(_) => text.chars().count() as i32 * size,
    }
}

/// Draws a label with `scale` pixels for each pixel of its canvas.
///
/// # Errors
/// [`ReportError::Drawing`] where the font cannot be read.
pub(crate) fn draw_label(
    pixels: &mut Pixels,
    label: &Label,
    scale: i32,
) -> Result<(), ReportError> {
    let font =
        font(label.weight).map_err(|error| ReportError::Drawing { reason: error.to_string() })?;
    let line = lay_out(font, &label.text, (label.size * scale) as f32);
    let x = (label.x * scale) as f32;
    let left = match label.anchor {
        Anchor::Start => x,
        Anchor::Middle => x - line.width / 2.0,
        Anchor::End => x - line.width,
    };
    let origin = point(left.round(), (label.baseline * scale) as f32);
    for mut glyph in line.glyphs {
        glyph.position += origin;
        let Some(outline) = font.outline_glyph(glyph) else {
            continue;
        };
        let corner = outline.px_bounds().min;
        outline.draw(|x, y, coverage| {
            let at = (corner.x as i64 + i64::from(x), corner.y as i64 + i64::from(y));
            pixels.blend(at, label.colour, coverage);
        });
    }
    Ok(())
}

impl Pixels {
    /// Mixes a colour into a pixel; `coverage` is its share, 0 to 1. Pixels outside are left out.
    fn blend(&mut self, (x, y): (i64, i64), colour: Colour, coverage: f32) {
        let (width, height) = (i64::from(self.width), i64::from(self.height));
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return;
        }
        let ink = (coverage.clamp(0.0, 1.0) * STEPS as f32).round() as u32;
        let at = (y * width + x) as usize * 3;
        let Some(pixel) = self.rgb.get_mut(at..at + 3) else {
            return;
        };
        for (channel, target) in pixel.iter_mut().zip([colour.0, colour.1, colour.2]) {
            let mixed = u32::from(*channel) * (STEPS - ink) + u32::from(target) * ink;
            *channel = ((mixed + STEPS / 2) / STEPS) as u8;
        }
    }
}

/// The font of the program.
fn font(weight: Weight) -> Result<&'static FontRef<'static>, InvalidFont> {
    type Loaded = Result<FontRef<'static>, InvalidFont>;
    static NORMAL: OnceLock<Loaded> = OnceLock::new();
    static BOLD: OnceLock<Loaded> = OnceLock::new();
    let (cell, bytes) = match weight {
        Weight::Normal => (&NORMAL, dejavu::sans::regular()),
        Weight::Bold => (&BOLD, dejavu::sans::bold()),
    };
    cell.get_or_init(|| FontRef::try_from_slice(bytes)).as_ref().map_err(|_| InvalidFont)
}

/// A line of text with an em square of `em` pixels.
fn lay_out(font: &FontRef<'static>, text: &str, em: f32) -> Line {
    // ab_glyph takes the height from the deepest descender to the highest ascender for the size.
    let units_per_em = font.units_per_em().unwrap_or(1_000.0);
    let scale = PxScale::from(em * font.height_unscaled() / units_per_em);
    let scaled = font.as_scaled(scale);
    let mut line = Line { glyphs: Vec::new(), width: 0.0 };
    let mut before = None;
    for letter in text.chars() {
        let id = scaled.glyph_id(letter);
        if let Some(before) = before {
            line.width += scaled.kern(before, id);
        }
        line.glyphs.push(id.with_scale_and_position(scale, point(line.width, 0.0)));
        line.width += scaled.h_advance(id);
        before = Some(id);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::colours::{INK, PAPER};

    fn drawn(text: &str) -> Pixels {
        let mut pixels = Pixels { width: 200, height: 40, rgb: vec![255; 200 * 40 * 3] };
        draw_label(&mut pixels, &Label::new(text, 10, 15), 2).unwrap();
        pixels
    }

    /// Columns in which something is darker than paper.
    fn columns(pixels: &Pixels) -> Vec<u32> {
        let dark = |x: u32, y: u32| pixels.rgb[((y * pixels.width + x) * 3) as usize] < 128;
        (0..pixels.width).filter(|x| (0..pixels.height).any(|y| dark(*x, y))).collect()
    }

    #[test]
    fn widths_are_those_of_the_font() {
        // Advances of DejaVu Sans in units of 1/2048 em: a figure has 1303, a bold one 1425.
        assert_eq!(text_width("0000000000", 2_048, Weight::Normal), 13_030);
        assert_eq!(text_width("0000000000", 2_048, Weight::Bold), 14_250);
        assert_eq!(text_width("", 12, Weight::Normal), 0);
    }

    #[test]
    fn equal_letters_stand_at_equal_distances() {
        // An l is a stem: ten of them advance by 569/2048 of 24 pixels each.
        let columns = columns(&drawn("llllllllll"));
        let starts: Vec<u32> =
            columns.iter().copied().filter(|x| !columns.contains(&(x - 1))).collect();
        assert_eq!(starts.len(), 10);
        for (index, start) in starts.iter().enumerate() {
            let expected = starts[0] as f32 + index as f32 * 24.0 * 569.0 / 2_048.0;
            assert!((*start as f32 - expected).abs() <= 1.0, "{starts:?}");
        }
    }

    #[test]
    fn a_letter_keeps_the_space_before_it() {
        // The stem of an l begins 193/2048 em right of its origin.
        let first = columns(&drawn("l"))[0];
        assert!((21..=23).contains(&first), "{first}");
    }

    #[test]
    fn mixing_goes_from_paper_to_ink() {
        let mut pixels = Pixels { width: 2, height: 1, rgb: vec![PAPER.0; 6] };
        pixels.blend((0, 0), INK, 1.0);
        pixels.blend((1, 0), INK, 0.0);
        pixels.blend((2, 0), INK, 1.0);
        pixels.blend((0, -1), INK, 1.0);
        assert_eq!(pixels.rgb, [INK.0, INK.1, INK.2, 255, 255, 255]);
    }
}
