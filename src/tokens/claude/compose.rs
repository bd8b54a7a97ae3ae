//! Canonical composition (NFC) with the properties of the table, so that counts do not move with a
//! newer Unicode.

use super::table::Unicode;

/// The syllables that are composed by arithmetic: first of them, and of their parts, and how many
/// of each there are.
mod hangul {
    pub(super) const SYLLABLE: u32 = 0xac00;
    pub(super) const LEAD: u32 = 0x1100;
    pub(super) const VOWEL: u32 = 0x1161;
    /// One before the first tail: a syllable without a tail counts as the first of each pair.
    pub(super) const TAIL: u32 = 0x11a7;
    pub(super) const LEADS: u32 = 19;
    pub(super) const VOWELS: u32 = 21;
    pub(super) const TAILS: u32 = 28;
}

/// The text in composed form.
pub(super) fn compose(text: &str, unicode: &Unicode) -> String {
    let mut codes = Vec::with_capacity(text.len());
    for character in text.chars() {
        decompose(character as u32, unicode, &mut codes);
    }
    order(&mut codes, unicode);
    let mut out: Vec<u32> = Vec::with_capacity(codes.len());
    // The last starter, and the class of the character behind it that was kept last.
    let (mut starter, mut last): (Option<usize>, Option<u32>) = (None, None);
    for code in codes {
        let class = unicode.combining_class(code);
        let is_open = last.is_none_or(|last| last < class);
        if let Some(at) = starter.filter(|_| is_open)
            && let Some(both) = join(out[at], code, unicode)
        {
            out[at] = both;
            continue;
        }
        if class == 0 {
            (starter, last) = (Some(out.len()), None);
        } else {
            last = Some(class);
        }
        out.push(code);
    }
    out.into_iter().filter_map(char::from_u32).collect()
}

fn decompose(code: u32, unicode: &Unicode, codes: &mut Vec<u32>) {
    let syllables = hangul::LEADS * hangul::VOWELS * hangul::TAILS;
    let syllable = code.wrapping_sub(hangul::SYLLABLE);
    if syllable < syllables {
        let of_lead = hangul::VOWELS * hangul::TAILS;
        codes.push(hangul::LEAD + syllable / of_lead);
        codes.push(hangul::VOWEL + syllable % of_lead / hangul::TAILS);
        let tail = syllable % hangul::TAILS;
        codes.extend((tail > 0).then_some(hangul::TAIL + tail));
        return;
    }
    match unicode.decomposition(code) {
        [] => codes.push(code),
        parts => codes.extend_from_slice(parts),
    }
}

/// Combining characters between two starters stand in the order of their classes.
fn order(codes: &mut [u32], unicode: &Unicode) {
    let mut start = 0;
    while start < codes.len() {
        let marks = codes[start..].iter().take_while(|code| unicode.combining_class(**code) > 0);
        let end = start + marks.count();
        codes[start..end].sort_by_key(|code| unicode.combining_class(*code));
        start = end + 1;
    }
}

fn join(first: u32, second: u32, unicode: &Unicode) -> Option<u32> {
    let (lead, vowel) = (first.wrapping_sub(hangul::LEAD), second.wrapping_sub(hangul::VOWEL));
    if lead < hangul::LEADS && vowel < hangul::VOWELS {
        return Some(hangul::SYLLABLE + (lead * hangul::VOWELS + vowel) * hangul::TAILS);
    }
    let syllable = first.wrapping_sub(hangul::SYLLABLE);
    let tail = second.wrapping_sub(hangul::TAIL);
    let syllables = hangul::LEADS * hangul::VOWELS * hangul::TAILS;
    let is_open = syllable < syllables && syllable.is_multiple_of(hangul::TAILS);
    if is_open && (1..hangul::TAILS).contains(&tail) {
        return Some(first + tail);
    }
    unicode.composition(first, second)
}

#[cfg(test)]
mod tests {
    use super::super::table::unicode;
    use super::*;

    #[test]
    fn letters_marks_and_syllables_are_joined() {
        for (apart, joined) in [
            ("e\u{301}", "\u{e9}"),
            ("a\u{323}\u{302}", "\u{1ead}"),
            ("a\u{302}\u{323}", "\u{1ead}"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
            ("\u{d558}\u{11ab}", "\u{d55c}"),
            ("\u{212b}", "\u{c5}"),
            ("q\u{301}", "q\u{301}"),
            ("plain", "plain"),
        ] {
            assert_eq!(compose(apart, unicode()), joined);
            assert_eq!(compose(joined, unicode()), joined);
        }
    }
}
