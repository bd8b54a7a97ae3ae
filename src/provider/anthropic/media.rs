//! Sizes of pictures and documents, from their bytes.

/// Bytes of a picture that are looked at: where a JPEG has a preview, its size stands far behind
/// the beginning.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// The text that base64 stands for.
pub(super) fn base64_text(base64: &str) -> String {
    String::from_utf8_lossy(&decode(base64, usize::MAX)).into_owned()
}

/// Pages of a PDF given as base64; `None` for anything else, and where its pages are packed away.
pub(super) fn pdf_pages(base64: &str) -> Option<u64> {
    let bytes = decode(base64, usize::MAX);
    if !bytes.starts_with(b"%PDF-") {
        return None;
    }
    let mut pages = 0;
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.windows(5).position(|five| five == b"/Type") {
        rest = rest[at + 5..].trim_ascii_start();
        let is_page = rest.strip_prefix(b"/Page").is_some_and(|behind| !behind.starts_with(b"s"));
        pages += u64::from(is_page);
    }
    (pages > 0).then_some(pages)
}

/// Width and height in pixels of a PNG, GIF, JPEG or WebP given as base64; `None` for anything else
/// and for less than its head.
pub(super) fn image_size(base64: &str) -> Option<(u32, u32)> {
    let bytes = decode(base64, HEAD_BYTES_MAX);
    let size =
        png(&bytes).or_else(|| gif(&bytes)).or_else(|| webp(&bytes)).or_else(|| jpeg(&bytes));
    size.filter(|(width, height)| *width > 0 && *height > 0)
}

/// The beginning of what base64 stands for; up to the first character that is none.
fn decode(text: &str, bytes_max: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 0xff).unwrap_or(0));
        }
        if out.len() >= bytes_max {
            break;
        }
    }
    out
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes
        .starts_with(b"\x89PNG\r\n\x1a\n")
        .then(|| Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?)))?
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes.starts_with(b"GIF8").then(|| Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?)))?
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WEBP" {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff)),
        b"VP8L" => {
            let packed = little(bytes, 21, 4)?;
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

/// Segment after segment up to the one that begins the picture.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"\xff\xd8") {
        return None;
    }
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let kind = *bytes.get(at + 1)?;
        match kind {
            // Filling.
            0xff => at += 1,
            // Without a length.
            0x01 | 0xd0..=0xd7 => at += 2,
            // The frame, in all its codings; between them stand tables.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            _ => at += 2 + big(bytes, at + 2, 2)? as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for three in bytes.chunks(3) {
            let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
            let bits = at(0) << 16 | at(1) << 8 | at(2);
            for shift in [18, 12, 6, 0].into_iter().take(three.len() + 1) {
                out.push(char::from(LETTERS[(bits >> shift & 63) as usize]));
            }
        }
        out
    }

    #[test]
    fn the_size_stands_in_the_head_of_each_format() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 3, 32, 0, 0, 2, 88]);
        let gif = [b"GIF89a".as_slice(), &[64, 1, 240, 0]].concat();
        let mut jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08".to_vec();
        jpeg.extend([0, 100, 0, 200]);
        let mut lossy = b"RIFF\0\0\0\0WEBPVP8 ".to_vec();
        lossy.extend([0; 10]);
        lossy.extend([10, 0, 20, 0]);
        let mut extended = b"RIFF\0\0\0\0WEBPVP8X".to_vec();
        extended.extend([0; 8]);
        extended.extend([9, 0, 0, 19, 0, 0]);
        for (bytes, size) in [
            (png, (800, 600)),
            (gif, (320, 240)),
            (jpeg, (200, 100)),
            (lossy, (10, 20)),
            (extended, (10, 20)),
        ] {
            assert_eq!(image_size(&encode(&bytes)), Some(size));
            for length in 0..bytes.len() {
                // Cut anywhere, it has no size or the same one, and nothing breaks.
                let cut = image_size(&encode(&bytes[..length]));
                assert!(cut.is_none() || cut == Some(size));
            }
        }
        let pdf = b"%PDF-1.4 <</Type /Pages>> <</Type/Page>> <</Type /Page /X 1>> /TypePage";
        assert_eq!(pdf_pages(&encode(pdf)), Some(2));
        assert_eq!(pdf_pages(&encode(b"%PDF-1.7 packed")), None);
        assert_eq!(pdf_pages(&encode(b"/Type/Page")), None);
        assert_eq!(image_size("not base64!"), None);
        assert_eq!(image_size(""), None);
    }
}
