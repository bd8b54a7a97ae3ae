//! Canonical composition (NFC) with the properties of the table, so that counts do not move with a
//! newer Unicode.

use super::table::{Unicode, flag};

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

/// Composes the stretches of a text that need it: from a character before one that may combine to
/// the next that never does.
#[derive(Default)]
pub(super) struct Composer {
    /// Characters of a stretch apart, each with its combining class.
    apart: Vec<(u32, u32)>,
    joined: Vec<u32>,
}

impl Composer {
    /// The text in composed form.
    pub(super) fn compose(&mut self, text: &str, unicode: &Unicode) -> String {
        let mut out = String::with_capacity(text.len());
        // What is written, the last character that never combines, and whether others follow it.
        let (mut done, mut starter, mut combines) = (0, 0, false);
        for (at, character) in text.char_indices() {
            if !character.is_ascii() && unicode.properties(character) & flag::COMPOSES != 0 {
                if !combines {
                    out.push_str(&text[done..starter]);
                    (done, combines) = (starter, true);
                }
                continue;
            }
            if combines {
                self.push_composed(&text[done..at], unicode, &mut out);
                (done, combines) = (at, false);
            }
            starter = at;
        }
        if combines {
            self.push_composed(&text[done..], unicode, &mut out);
        } else {
            out.push_str(&text[done..]);
        }
        out
    }

    fn push_composed(&mut self, stretch: &str, unicode: &Unicode, out: &mut String) {
        self.apart.clear();
        for character in stretch.chars() {
            decompose(character as u32, unicode, &mut self.apart);
        }
        order(&mut self.apart);
        self.joined.clear();
        // The last starter, and the class of the character behind it that was kept last.
        let (mut starter, mut last): (Option<usize>, Option<u32>) = (None, None);
        for (code, class) in &self.apart {
            let is_open = last.is_none_or(|last| last < *class);
            if let Some(at) = starter.filter(|_| is_open)
                && let Some(both) = join(self.joined[at], *code, unicode)
            {
                self.joined[at] = both;
                continue;
            }
            if *class == 0 {
                (starter, last) = (Some(self.joined.len()), None);
            } else {
                last = Some(*class);
            }
            self.joined.push(*code);
        }
        out.extend(self.joined.iter().filter_map(|code| char::from_u32(*code)));
    }
}

fn decompose(code: u32, unicode: &Unicode, codes: &mut Vec<(u32, u32)>) {
    let syllables = hangul::LEADS * hangul::VOWELS * hangul::TAILS;
    let syllable = code.wrapping_sub(hangul::SYLLABLE);
    if syllable < syllables {
        let of_lead = hangul::VOWELS * hangul::TAILS;
        codes.push((hangul::LEAD + syllable / of_lead, 0));
        codes.push((hangul::VOWEL + syllable % of_lead / hangul::TAILS, 0));
        let tail = syllable % hangul::TAILS;
        codes.extend((tail > 0).then_some((hangul::TAIL + tail, 0)));
        return;
    }
    let known = codes.len();
    let parts = unicode.decomposition(code);
    codes.extend(parts.map(|part| (part, unicode.combining_class(part))));
    if codes.len() == known {
        codes.push((code, unicode.combining_class(code)));
    }
}

/// Combining characters between two starters stand in the order of their classes.
fn order(codes: &mut [(u32, u32)]) {
    for marks in codes.split_mut(|(_, class)| *class == 0) {
        marks.sort_by_key(|(_, class)| *class);
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
        let mut composer = Composer::default();
        let mut compose = |text: &str| composer.compose(text, unicode());
        for (apart, joined) in [
            ("e\u{301}", "\u{e9}"),
            ("a\u{323}\u{302}", "\u{1ead}"),
            ("a\u{302}\u{323}", "\u{1ead}"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
            ("\u{d558}\u{11ab}", "\u{d55c}"),
            ("\u{212b}", "\u{c5}"),
            ("q\u{301}", "q\u{301}"),
            ("plain", "plain"),
            ("\u{301}e\u{301}x", "\u{301}\u{e9}x"),
            ("", ""),
        ] {
            assert_eq!(compose(apart), joined);
            assert_eq!(compose(joined), joined);
        }
    }

    #[test]
    fn stretches_are_composed_as_the_whole_is() {
        // One character that never combines (the first) makes no difference to its neighbours.
        let mut composer = Composer::default();
        for code in (0xa0..0x3100).chain(0xa000..0xac20).chain(0xf900..0xfb50) {
            let Some(character) = char::from_u32(code) else { continue };
            for text in [format!("a{character}\u{301}"), format!("\u{1100}{character}\u{323}b")] {
                let mut whole = String::new();
                composer.push_composed(&text, unicode(), &mut whole);
                assert_eq!(composer.compose(&text, unicode()), whole, "{code:x}");
            }
        }
    }
}
