//! Images and documents: intervals.

use super::constants::constants;
use crate::provider::anthropic::parts::Part;
use crate::request::{Extra, ExtraKind};

/// An image of that size in pixels.
pub(super) fn image(size: Option<(u32, u32)>) -> Extra {
    let media = &constants().media;
    let Some((width, height)) = size else { return media.image_unknown.extra(ExtraKind::Image) };
    let tokens = image_tokens(u64::from(width), u64::from(height));
    let frame = media.image_frame.extra(ExtraKind::Image);
    super::plus(frame, tokens)
}

/// Pixels over pixels per token, after an image that is too long or too large is scaled down.
fn image_tokens(width: u64, height: u64) -> u64 {
    let media = &constants().media;
    let edge = width.max(height);
    let (mut pixels, limit) = (width.saturating_mul(height), media.image_edge_max);
    if edge > limit && limit > 0 {
        let scaled = u128::from(pixels) * u128::from(limit) * u128::from(limit);
        pixels = u64::try_from(scaled / u128::from(edge) / u128::from(edge)).unwrap_or(u64::MAX);
    }
    pixels.div_ceil(media.pixels_per_token.max(1)).min(media.image_tokens_max)
}

/// What a document costs beside its text.
pub(super) fn document(part: &Part, pages: Option<u64>) -> Option<Extra> {
    let Part::Document { text, .. } = part else { return None };
    let media = &constants().media;
    if text.is_some() {
        return Some(media.text_document.extra(ExtraKind::Document));
    }
    let one = media.pdf_page.extra(ExtraKind::Document);
    Some(match pages {
        Some(pages) => media.pdf_page.times(ExtraKind::Document, pages.max(1)),
        None => Extra { high: one.high * media.pdf_pages_max, ..one },
    })
}

/// What switching citations on costs, once.
pub(super) fn citations() -> Extra {
    constants().media.citations.extra(ExtraKind::Document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_scaled_to_its_limits() {
        assert_eq!(image_tokens(750, 100), 100);
        assert_eq!(image_tokens(239, 178), 57);
        assert_eq!(image_tokens(1_568, 765), 1_600);
        // Twice as long and twice as high is scaled back to the same.
        assert_eq!(image_tokens(3_136, 1_000), image_tokens(1_568, 500));
        assert_eq!(image_tokens(100_000, 100_000), 1_600);
        let unknown = image(None);
        assert!(unknown.low < unknown.tokens && unknown.tokens < unknown.high);
    }
}
