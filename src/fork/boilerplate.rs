//! The rules text that a child reads before its directive.

use super::gate::Era;

/// Opens the rules text; a harness recognises a fork by it.
pub const OPENING_TAG: &str = "<fork-boilerplate>";

/// Stands between the rules text and the directive.
pub const DIRECTIVE_PREFIX: &str = "Your directive: ";

/// The rules text with its tags.
pub const STANDARD: &str = include_str!("boilerplate.txt");

const CLOSING_TAG: &str = "</fork-boilerplate>";

/// Where the rules text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boilerplate {
    /// In one text with the directive, as an era writes it.
    SameBlock(Era),
    /// In a block of its own before the directive's: all children share it, and a marker can stand
    /// on it.
    OwnBlock,
    /// Nowhere: the directive stands alone.
    None,
}

impl Boilerplate {
    /// The text of the block that all children share, where there is one.
    pub fn shared(self) -> Option<&'static str> {
        (self == Boilerplate::OwnBlock).then(|| STANDARD.trim_end())
    }

    /// The text of a child's own block.
    pub fn own(self, directive: &str) -> String {
        match self {
            Boilerplate::SameBlock(era) => with(directive, era),
            Boilerplate::OwnBlock => format!("{DIRECTIVE_PREFIX}{directive}"),
            Boilerplate::None => directive.to_owned(),
        }
    }
}

/// One text: rules, then the directive behind the closing tag.
pub fn before(directive: &str) -> String {
    format!("{}\n\n{DIRECTIVE_PREFIX}{directive}", STANDARD.trim_end())
}

/// One text: rules, then the directive before the closing tag.
fn around(directive: &str) -> String {
    let rules = STANDARD.trim_end();
    let open = rules.strip_suffix(CLOSING_TAG).unwrap_or(rules);
    format!("{open}\n{DIRECTIVE_PREFIX}{directive}\n{CLOSING_TAG}")
}

/// One text of rules and directive. The directive follows the closing tag; in the chapter's account
/// it stands inside.
pub fn with(directive: &str, era: Era) -> String {
    match era {
        Era::Today => before(directive),
        Era::Chapter => around(directive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directive_follows_the_closing_tag() {
        let text = before("Look at src.");
        assert!(text.starts_with(OPENING_TAG));
        assert!(text.ends_with("</fork-boilerplate>\n\nYour directive: Look at src."));
    }

    #[test]
    fn in_the_chapter_the_directive_stands_inside_the_tags() {
        let text = with("Look at src.", Era::Chapter);
        assert!(text.starts_with(OPENING_TAG));
        assert!(text.ends_with("\n\nYour directive: Look at src.\n</fork-boilerplate>"));
        assert_eq!(text.matches(CLOSING_TAG).count(), 1);
        assert_eq!(with("Look at src.", Era::Today), before("Look at src."));
    }

    #[test]
    fn in_two_blocks_it_says_the_same() {
        let apart = Boilerplate::OwnBlock;
        let both = format!("{}\n\n{}", apart.shared().unwrap(), apart.own("Look at src."));
        assert_eq!(both, before("Look at src."));
        for other in [Boilerplate::None, Boilerplate::SameBlock(Era::Today)] {
            assert_eq!(other.shared(), None);
        }
        assert_eq!(Boilerplate::None.own("Look at src."), "Look at src.");
    }

    #[test]
    fn there_are_ten_rules_and_five_report_fields() {
        let numbered = (1..=10).filter(|n| STANDARD.contains(&format!("\n{n}. "))).count();
        assert_eq!(numbered, 10);
        assert!(!STANDARD.contains("\n11. "));
        for field in ["Scope:", "Result:", "Key files:", "Files changed:", "Issues:"] {
            assert!(STANDARD.contains(field), "{field}");
        }
    }
}
