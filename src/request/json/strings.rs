//! Strings of JSON: decoding, and writing with the shortest escapes.

/// A piece of a decoded string: text, or half of a surrogate pair that has no other half.
enum Piece<'a> {
    Text(&'a str),
    Char(char),
    LoneSurrogate(u16),
}

/// Walks the pieces of a raw string (quotes included) that [`parse`](super::parse) accepted.
fn pieces<'a>(raw: &'a [u8], mut visit: impl FnMut(Piece<'a>)) {
    let text = std::str::from_utf8(raw).unwrap_or("\"\"");
    let mut rest = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    while let Some(at) = rest.find('\\') {
        visit(Piece::Text(&rest[..at]));
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        let mut taken = at + 2;
        match escape {
            b'u' => {
                let unit = hex4(rest, at + 2);
                taken = at + 6;
                let low =
                    rest[taken.min(rest.len())..].starts_with("\\u").then(|| hex4(rest, taken + 2));
                match (char::from_u32(u32::from(unit)), low) {
                    (Some(char), _) => visit(Piece::Char(char)),
                    (None, Some(low @ 0xdc00..=0xdfff)) if unit < 0xdc00 => {
                        let scalar = 0x1_0000
                            + ((u32::from(unit) - 0xd800) << 10)
                            + (u32::from(low) - 0xdc00);
                        visit(Piece::Char(char::from_u32(scalar).unwrap_or('\u{fffd}')));
                        taken += 6;
                    }
                    (None, _) => visit(Piece::LoneSurrogate(unit)),
                }
            }
            b'b' => visit(Piece::Char('\u{8}')),
            b'f' => visit(Piece::Char('\u{c}')),
            b'n' => visit(Piece::Char('\n')),
            b'r' => visit(Piece::Char('\r')),
            b't' => visit(Piece::Char('\t')),
            other => visit(Piece::Char(char::from(other))),
        }
        rest = rest.get(taken..).unwrap_or("");
    }
    visit(Piece::Text(rest));
}

fn hex4(text: &str, at: usize) -> u16 {
    text.get(at..at + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0xfffd)
}

/// Decodes a raw string (quotes included) that [`parse`](super::parse) accepted; a lone surrogate
/// becomes U+FFFD.
pub fn decode_string(raw: &[u8]) -> String {
    let mut out = String::with_capacity(raw.len());
    pieces(raw, |piece| match piece {
        Piece::Text(text) => out.push_str(text),
        Piece::Char(char) => out.push(char),
        Piece::LoneSurrogate(_) => out.push('\u{fffd}'),
    });
    out
}

/// Appends `text` as a JSON string: the only escapes are those that JSON demands.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

/// Bytes that cannot stand in a JSON string as they are.
pub(super) const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        escaped[byte] = true;
        byte += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};

fn write_escaped(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| ESCAPED[usize::from(*byte)]) {
        out.extend_from_slice(&rest[..at]);
        write_escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let escape: &[u8] = match byte {
        b'"' => b"\\\"",
        b'\\' => b"\\\\",
        b'\n' => b"\\n",
        b'\r' => b"\\r",
        b'\t' => b"\\t",
        0x08 => b"\\b",
        0x0c => b"\\f",
        other => return out.extend_from_slice(format!("\\u{other:04x}").as_bytes()),
    };
    out.extend_from_slice(escape);
}

/// Appends a raw string in its canonical form; half of a surrogate pair keeps its escape.
pub(super) fn write_canonical_string(out: &mut Vec<u8>, raw: &[u8]) {
    if !raw.contains(&b'\\') {
        out.extend_from_slice(raw);
        return;
    }
    out.push(b'"');
    pieces(raw, |piece| match piece {
        Piece::Text(text) => write_escaped(out, text),
        Piece::Char(char) => write_escaped(out, char.encode_utf8(&mut [0; 4])),
        Piece::LoneSurrogate(unit) => out.extend_from_slice(format!("\\u{unit:04x}").as_bytes()),
    });
    out.push(b'"');
}
