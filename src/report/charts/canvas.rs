//! A chart before it is rendered: marks in whole pixels, from the top left corner.

use crate::report::charts::colours::{Colour, INK, SOFT};
use crate::report::charts::text::text_width;

/// Width of every chart in pixels.
pub(crate) const WIDTH: i32 = 900;
/// Space at the left and right edge.
pub(crate) const MARGIN: i32 = 20;
/// Size of ordinary text in pixels.
pub(crate) const TEXT: i32 = 12;
/// Size of figures at an axis, the smallest text.
pub(crate) const TICK: i32 = 11;

/// A chart as a list of marks; later marks cover earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) marks: Vec<Mark>,
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A filled rectangle; right and bottom edge lie outside.
    Rect { left: i32, top: i32, right: i32, bottom: i32, colour: Colour },
    /// A straight line, one pixel wide.
    Line { from: (i32, i32), to: (i32, i32), colour: Colour },
    /// A filled outline.
    Polygon { points: Vec<(i32, i32)>, colour: Colour },
    /// A line of text.
    Text(Label),
}

impl Mark {
    /// The text, where it is one.
    pub(crate) fn label(&self) -> Option<&Label> {
        match self {
            Mark::Text(label) => Some(label),
            Mark::Rect { .. } | Mark::Line { .. } | Mark::Polygon { .. } => None,
        }
    }
}

/// Which point of a text its x is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How heavy a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Normal,
    Bold,
}

/// What a text says: figures of an axis are chosen by the scale, all others come from rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Words,
    Tick,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) text: String,
    pub(crate) x: i32,
    pub(crate) baseline: i32,
    pub(crate) size: i32,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
    pub(crate) colour: Colour,
    pub(crate) role: Role,
}

impl Label {
    /// Ordinary words that start at `x`.
    pub(crate) fn new(text: impl Into<String>, x: i32, baseline: i32) -> Label {
        Label {
            text: text.into(),
            x,
            baseline,
            size: TEXT,
            weight: Weight::Normal,
            anchor: Anchor::Start,
            colour: INK,
            role: Role::Words,
        }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Label {
        Label { anchor, ..self }
    }

    pub(crate) fn colour(self, colour: Colour) -> Label {
        Label { colour, ..self }
    }

    pub(crate) fn bold(self) -> Label {
        Label { weight: Weight::Bold, ..self }
    }

    pub(crate) fn size(self, size: i32) -> Label {
        Label { size, ..self }
    }

    /// A figure of an axis.
    pub(crate) fn tick(self) -> Label {
        Label { role: Role::Tick, size: TICK, ..self }
    }

    /// Width in pixels in the font of the program.
    pub(crate) fn width(&self) -> i32 {
        text_width(&self.text, self.size, self.weight)
    }

    /// Left end, for tests that look for text over text.
    #[cfg(test)]
    pub(crate) fn left(&self) -> i32 {
        match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - self.width() / 2,
            Anchor::End => self.x - self.width(),
        }
    }
}

impl Canvas {
    /// An empty canvas of the usual width.
    pub(crate) fn new(height: i32) -> Canvas {
        Canvas { width: WIDTH, height, marks: Vec::new() }
    }

    pub(crate) fn rect(
        &mut self,
        (left, right): (i32, i32),
        (top, bottom): (i32, i32),
        colour: Colour,
    ) {
        if left < right && top < bottom {
            self.marks.push(Mark::Rect { left, top, right, bottom, colour });
        }
    }

    /// A line; upright and level ones become rectangles, which renderers do not blur.
    pub(crate) fn line(&mut self, from: (i32, i32), to: (i32, i32), colour: Colour) {
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        if left == right {
            self.rect((left, left + 1), (top, bottom), colour);
        } else if top == bottom {
            self.rect((left, right), (top, top + 1), colour);
        } else {
            self.marks.push(Mark::Line { from, to, colour });
        }
    }

    /// An upright line of dashes.
    pub(crate) fn dashes(&mut self, x: i32, (top, bottom): (i32, i32), colour: Colour) {
        for start in (top..bottom).step_by(6) {
            self.rect((x, x + 1), (start, (start + 4).min(bottom)), colour);
        }
    }

    pub(crate) fn polygon(&mut self, points: &[(i32, i32)], colour: Colour) {
        self.marks.push(Mark::Polygon { points: points.to_vec(), colour });
    }

    pub(crate) fn text(&mut self, label: Label) {
        if !label.text.is_empty() {
            self.marks.push(Mark::Text(label));
        }
    }

    /// Title, and lines under it; the y below them.
    pub(crate) fn heading(&mut self, title: &str, lines: &[String]) -> i32 {
        self.text(Label::new(title, MARGIN, 28).size(17).bold());
        let mut y = 48;
        for line in lines {
            for part in wrapped(line, self.width - 2 * MARGIN) {
                let part = fitted(&part, self.width - 2 * MARGIN, TEXT);
                self.text(Label::new(part, MARGIN, y).colour(SOFT));
                y += 17;
            }
        }
        y
    }

    /// Squares with words beside them, in one line or more; the y below them.
    pub(crate) fn legend(&mut self, items: &[(Colour, String)], top: i32) -> i32 {
        let (mut x, mut y) = (MARGIN, top);
        for (colour, words) in items {
            let label = Label::new(words.clone(), x + 17, y + 11);
            let width = 17 + label.width() + 22;
            if x > MARGIN && x + width > self.width - MARGIN {
                (x, y) = (MARGIN, y + 20);
            }
            self.rect((x, x + 12), (y, y + 12), *colour);
            self.text(Label { x: x + 17, baseline: y + 11, ..label });
            x += width;
        }
        y + 20
    }
}

/// Text broken at spaces into parts no wider than `width` pixels; a wider word stands alone.
fn wrapped(text: &str, width: i32) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in text.split(' ') {
        if let Some(last) = parts.last_mut() {
            let longer = format!("{last} {word}");
            if text_width(&longer, TEXT, Weight::Normal) <= width {
                *last = longer;
                continue;
            }
        }
        parts.push(word.to_owned());
    }
    parts
}

/// `text`, or its head with an ellipsis where it is wider than `width` pixels.
pub(crate) fn fitted(text: &str, width: i32, size: i32) -> String {
    if text_width(text, size, Weight::Normal) <= width {
        return text.to_owned();
    }
    let mut head: Vec<char> = text.chars().collect();
    while head.pop().is_some() {
        let shorter = format!("{}…", head.iter().collect::<String>());
        if text_width(&shorter, size, Weight::Normal) <= width {
            return shorter;
        }
    }
    String::new()
}
