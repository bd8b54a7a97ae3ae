//! Pixels as a PNG in memory: with a palette where a picture has few colours, as charts do.

use std::collections::BTreeMap;

use png::{BitDepth, ColorType, Compression, Encoder, Filter};

use crate::report::ReportError;
use crate::report::charts::text::Pixels;

/// The most colours that a palette holds.
const PALETTE_MOST: usize = 256;

/// The PNG of a picture; no pixel differs from it.
///
/// # Errors
/// [`ReportError::Drawing`] where the picture has no pixels.
pub(crate) fn encode(pixels: &Pixels) -> Result<Vec<u8>, ReportError> {
    let refused = |error: png::EncodingError| ReportError::Drawing { reason: error.to_string() };
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, pixels.width, pixels.height);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    match indexed(&pixels.rgb) {
        Some((palette, indices)) => {
            encoder.set_color(ColorType::Indexed);
            encoder.set_palette(palette);
            // Differences of indices mean nothing.
            encoder.set_filter(Filter::NoFilter);
            let mut writer = encoder.write_header().map_err(refused)?;
            writer.write_image_data(&indices).map_err(refused)?;
        }
        None => {
            encoder.set_color(ColorType::Rgb);
            let mut writer = encoder.write_header().map_err(refused)?;
            writer.write_image_data(&pixels.rgb).map_err(refused)?;
        }
    }
    Ok(file)
}

/// The colours in order of their first pixel, three bytes each, and the index of each pixel's;
/// `None` where there are more than a palette holds.
fn indexed(rgb: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut known: BTreeMap<&[u8], u8> = BTreeMap::new();
    let (mut palette, mut indices) = (Vec::new(), Vec::with_capacity(rgb.len() / 3));
    for colour in rgb.chunks_exact(3) {
        let index = match known.get(colour) {
            Some(index) => *index,
            None if known.len() == PALETTE_MOST => return None,
            None => {
                let index = u8::try_from(known.len()).ok()?;
                known.insert(colour, index);
                palette.extend(colour);
                index
            }
        };
        indices.push(index);
    }
    Some((palette, indices))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    /// The picture that a reader sees.
    fn decoded(file: &[u8]) -> Pixels {
        let mut decoder = png::Decoder::new(Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        Pixels { width: info.width, height: info.height, rgb }
    }

    proptest! {
        #[test]
        fn a_reader_sees_the_same_pixels(
            width in 1_u32..40, rows in prop::collection::vec(any::<[u8; 3]>(), 1..40), noise: bool,
        ) {
            let height = rows.len() as u32;
            let red = |row: &[u8; 3], x: u32| if noise { x as u8 } else { row[0] };
            let line = |row: &[u8; 3]| -> Vec<u8> {
                (0..width).flat_map(|x| [red(row, x), row[1], row[2]]).collect()
            };
            let rgb: Vec<u8> = rows.iter().flat_map(line).collect();
            let pixels = Pixels { width, height, rgb };
            let seen = decoded(&encode(&pixels).unwrap());
            prop_assert_eq!((seen.width, seen.height, seen.rgb), (width, height, pixels.rgb));
        }
    }

    #[test]
    fn a_palette_holds_256_colours_and_no_more() {
        let colours = |count: u16| -> Vec<u8> {
            (0..count).flat_map(|index| [index as u8, (index >> 8) as u8, 7]).collect()
        };
        assert_eq!(indexed(&colours(256)).unwrap().0, colours(256));
        assert_eq!(indexed(&colours(257)), None);
    }

    #[test]
    fn a_picture_without_pixels_is_refused() {
        let nothing = Pixels { width: 0, height: 3, rgb: Vec::new() };
        assert!(encode(&nothing).unwrap_err().to_string().starts_with("draw a chart: "));
    }
}
