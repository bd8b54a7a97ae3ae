//! The same text in another Unicode form or with other typographic signs.
//!
//! No whole normalisation: letters of Latin scripts with one sign above or below, wide letters,
//! ligatures, quotes, dashes and points. What is not in the tables counts as another text.

/// A combining sign, letters, and the same letters with the sign.
const COMPOSED: [(char, &str, &str); 11] = [
    ('\u{300}', "AEIOUaeiou", "ÀÈÌÒÙàèìòù"),
    ('\u{301}', "AEIOUYaeiouyCLNRSZclnrsz", "ÁÉÍÓÚÝáéíóúýĆĹŃŔŚŹćĺńŕśź"),
    ('\u{302}', "AEIOUaeiouCGHJSWYcghjswy", "ÂÊÎÔÛâêîôûĈĜĤĴŜŴŶĉĝĥĵŝŵŷ"),
    ('\u{303}', "ANOIUanoiu", "ÃÑÕĨŨãñõĩũ"),
    ('\u{304}', "AEIOUaeiou", "ĀĒĪŌŪāēīōū"),
    ('\u{308}', "AEIOUYaeiouy", "ÄËÏÖÜŸäëïöüÿ"),
    ('\u{30a}', "AUau", "ÅŮåů"),
    ('\u{30b}', "OUou", "ŐŰőű"),
    ('\u{30c}', "CDENRSTZcdenrstz", "ČĎĚŇŘŠŤŽčďěňřšťž"),
    ('\u{327}', "CSTcst", "ÇŞŢçşţ"),
    ('\u{328}', "AEIUaeiu", "ĄĘĮŲąęįų"),
];

/// A unit of a folded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Char(char),
    /// A run of dashes.
    Dashes {
        hyphens: usize,
        typographic: usize,
    },
}

/// Whether two texts are the same but for Unicode form and typographic signs. Hyphens of ASCII are
/// such signs only where they stand for typographic dashes: `-x` and `--x` differ.
pub(super) fn is_same_folded(a: &str, b: &str) -> bool {
    let (a, b) = (folded(a), folded(b));
    a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| is_same_unit(a, b))
}

fn is_same_unit(a: Unit, b: Unit) -> bool {
    match (a, b) {
        (
            Unit::Dashes { hyphens: x, typographic: p },
            Unit::Dashes { hyphens: y, typographic: q },
        ) => {
            // A typographic dash is written as one to three hyphens.
            let overlap = x + p <= y + 3 * q && y + q <= x + 3 * p;
            if p == q { x == y } else { overlap }
        }
        (Unit::Char(a), Unit::Char(b)) => a == b,
        (Unit::Char(_), Unit::Dashes { .. }) | (Unit::Dashes { .. }, Unit::Char(_)) => false,
    }
}

fn folded(text: &str) -> Vec<Unit> {
    let mut out = Vec::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '-' => dash(&mut out, 1, 0),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => dash(&mut out, 0, 1),
            '\u{2018}' | '\u{2019}' => out.push(Unit::Char('\'')),
            '\u{201c}' | '\u{201d}' => out.push(Unit::Char('"')),
            '\u{2026}' => out.extend(['.', '.', '.'].map(Unit::Char)),
            '\u{a0}' | '\u{202f}' => out.push(Unit::Char(' ')),
            '\u{200b}' | '\u{feff}' => {}
            '\u{fb01}' => out.extend(['f', 'i'].map(Unit::Char)),
            '\u{fb02}' => out.extend(['f', 'l'].map(Unit::Char)),
            '\u{ff01}'..='\u{ff5e}' => {
                let plain = char::from_u32(u32::from(char) - 0xfee0).unwrap_or(char);
                out.push(Unit::Char(plain));
            }
            other => decomposed(&mut out, other),
        }
    }
    out
}

fn dash(out: &mut Vec<Unit>, more: usize, more_typographic: usize) {
    if let Some(Unit::Dashes { hyphens, typographic }) = out.last_mut() {
        *hyphens += more;
        *typographic += more_typographic;
    } else {
        out.push(Unit::Dashes { hyphens: more, typographic: more_typographic });
    }
}

fn decomposed(out: &mut Vec<Unit>, char: char) {
    let parts = COMPOSED.iter().filter(|_| !char.is_ascii()).find_map(|(sign, plain, whole)| {
        let at = whole.chars().position(|one| one == char)?;
        Some([plain.chars().nth(at)?, *sign])
    });
    match parts {
        Some(parts) => out.extend(parts.map(Unit::Char)),
        None => out.push(Unit::Char(char)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_is_the_same_in_both_forms_and_no_other() {
        for (sign, plain, whole) in COMPOSED {
            assert_eq!(plain.chars().count(), whole.chars().count(), "{whole}");
            for (plain, whole) in plain.chars().zip(whole.chars()) {
                assert!(is_same_folded(&whole.to_string(), &format!("{plain}{sign}")), "{whole}");
                assert!(!is_same_folded(&whole.to_string(), &plain.to_string()), "{whole}");
            }
        }
        assert!(!is_same_folded("\u{e9}", "a\u{301}"));
        assert!(!is_same_folded("\u{e9}", "e\u{300}"));
    }

    #[test]
    fn a_hyphen_is_a_dash_only_where_the_other_side_has_one() {
        for (a, b, same) in [
            ("x \u{2014} y", "x -- y", true),
            ("x \u{2014} y", "x --- y", true),
            ("1\u{2013}2", "1-2", true),
            ("--x", "-x", false),
            ("x---", "x--", false),
            ("\u{2014} --x", "\u{2014} -x", false),
            ("\u{2014}", "----", false),
            ("\u{2014}", "", false),
            ("\u{ff21}\u{fb01}", "Afi", true),
            ("wait\u{2026}", "wait...", true),
        ] {
            assert_eq!(is_same_folded(a, b), same, "{a:?} {b:?}");
            assert_eq!(is_same_folded(b, a), same, "{b:?} {a:?}");
        }
    }
}
