//! Where bodies first differ.

use super::common::common_body_prefix;
use crate::request::RequestBody;
use crate::request::json::{JsonError, parse, pointer_at};

/// Bytes shown on each side of a difference.
const EXCERPT_BYTES: usize = 48;

/// The first difference between the first body and any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// JSON pointer of the innermost value of the first body that covers the byte.
    pub pointer: String,
    /// Byte offset in the bodies, from 0.
    pub byte: u64,
    /// Index of the first body that differs there.
    pub other: usize,
    /// What stands there in the first body, shortened.
    pub excerpt: String,
    /// What stands there in the other body, shortened.
    pub other_excerpt: String,
}

/// The earliest byte at which any body differs from the first; `None` where all are equal.
///
/// # Errors
/// Where the first body is not JSON.
pub fn first_difference(bodies: &[RequestBody]) -> Result<Option<Difference>, JsonError> {
    let Some((first, rest)) = bodies.split_first() else { return Ok(None) };
    let earliest = rest
        .iter()
        .enumerate()
        .map(|(index, body)| (common_body_prefix(first, body), index + 1, body))
        .filter(|(byte, _, body)| *byte < first.len().max(body.len()))
        .min_by_key(|(byte, index, _)| (*byte, *index));
    let Some((byte, other, body)) = earliest else { return Ok(None) };
    let bytes = first.to_vec();
    let root = parse(&bytes)?;
    Ok(Some(Difference {
        pointer: pointer_at(&bytes, &root, byte),
        byte: byte as u64,
        other,
        excerpt: excerpt(first, byte),
        other_excerpt: excerpt(body, byte),
    }))
}

/// The bytes from `at`, cut to whole characters.
fn excerpt(body: &RequestBody, at: usize) -> String {
    let bytes = body.parts().into_iter().flatten().copied();
    // A few more than are shown, so that it is known whether something follows them.
    let bytes: Vec<u8> = bytes.skip(at).take(2 * EXCERPT_BYTES).collect();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{fffd}');
    let end = text.floor_char_boundary(EXCERPT_BYTES.min(text.len()));
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", &text[..end])
}
