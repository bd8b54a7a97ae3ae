//! A page of text for a terminal.

use anstyle::{AnsiColor, Style};

use crate::report::layout::wrap;

/// Width of the column that holds the names of the blocks, in characters.
pub(crate) const HEAD: usize = 25;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const GOOD: Style =
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
pub(crate) const BAD: Style =
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));

/// Text that grows downwards.
pub(crate) struct Page {
    pub(crate) out: String,
    pub(crate) width: usize,
    styled: bool,
}

impl Page {
    /// An empty page of `width` columns, held between 80 and 120.
    pub(crate) fn new(width: usize, styled: bool) -> Page {
        Page { out: String::new(), width: width.clamp(80, 120), styled }
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(crate) fn paint(&self, text: &str, style: Style) -> String {
        if self.styled { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A name on the left and wrapped text beside it.
    pub(crate) fn block(&mut self, name: &str, style: Style, text: &str) {
        let painted = self.paint(name, style);
        let gap = " ".repeat(HEAD.saturating_sub(name.chars().count()).max(2));
        for (index, line) in wrap(text, self.width - HEAD).iter().enumerate() {
            if index == 0 {
                self.line(&format!("{painted}{gap}{line}"));
            } else {
                self.line(&format!("{}{line}", " ".repeat(HEAD)));
            }
        }
    }

    /// Text wrapped to the width, later lines indented.
    pub(crate) fn paragraph(&mut self, text: &str, indent: usize) {
        let space = " ".repeat(indent);
        for line in wrap(text, self.width - indent) {
            self.line(&format!("{space}{line}"));
        }
    }
}
