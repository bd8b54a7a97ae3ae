//! From values to pixels, and the round figures at an axis.

use crate::report::charts::canvas::{Anchor, Canvas, Label, TICK, Weight};
use crate::report::charts::colours::{GRID, INK, SOFT};
use crate::report::charts::text::text_width;
use crate::units::{Ratio, grouped};

/// A linear scale from whole values to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    min: i64,
    max: i64,
    left: i32,
    right: i32,
}

impl Scale {
    /// `min` stands at `left`, `max` at `right`; an empty range is widened by one.
    pub(crate) fn new((min, max): (i64, i64), (left, right): (i32, i32)) -> Scale {
        Scale { min, max: max.max(min.saturating_add(1)), left, right }
    }

    /// The pixel of a value; values outside stand at the edge.
    pub(crate) fn x(&self, value: i64) -> i32 {
        self.place(value as f64)
    }

    /// The pixel of an exact value between whole ones.
    pub(crate) fn x_of(&self, value: Ratio) -> i32 {
        self.place(value.to_f64())
    }

    /// The pixels of a part, at least three wide where it is not empty, so that it can be seen.
    pub(crate) fn part(&self, from: i64, to: i64) -> (i32, i32) {
        let (start, end) = (self.x(from), self.x(to));
        if from >= to || end - start >= 3 {
            return (start, end);
        }
        let end = (start + 3).min(self.right);
        (end - 3, end)
    }

    fn place(&self, value: f64) -> i32 {
        let share = (value - self.min as f64) / (self.max - self.min) as f64;
        let width = f64::from(self.right - self.left);
        self.left + (share.clamp(0.0, 1.0) * width).round() as i32
    }

    /// Round values between both ends, as many as their labels leave room for.
    fn ticks(&self, label: fn(i64) -> String) -> Vec<i64> {
        let width_of = |value: i64| text_width(&label(value), TICK, Weight::Normal);
        let room = width_of(self.min).max(width_of(self.max)) + 24;
        let most = i64::from((self.right - self.left) / room).clamp(1, 10);
        let step = round_step((self.max - self.min) / most);
        let first = self.min.div_euclid(step) * step;
        (0..)
            .map(|index| first + index * step)
            .skip_while(|tick| *tick < self.min)
            .take_while(|tick| *tick <= self.max)
            .collect()
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50 … that is at least `least`.
pub(crate) fn round_step(least: i64) -> i64 {
    let mut power = 1_i64;
    loop {
        for digit in [1, 2, 5] {
            let step = power.saturating_mul(digit);
            if step >= least || step == i64::MAX {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// An axis: what its figures look like and what they count.
pub(crate) struct Axis<'a> {
    pub(crate) scale: Scale,
    /// Top of the grid lines.
    pub(crate) top: i32,
    /// Where the axis stands.
    pub(crate) y: i32,
    pub(crate) label: fn(i64) -> String,
    pub(crate) title: &'a str,
}

/// Height of an axis with figures and title.
pub(crate) const AXIS_HEIGHT: i32 = 42;

impl Axis<'_> {
    /// Grid lines, to be drawn before what stands on them.
    pub(crate) fn draw_grid(&self, canvas: &mut Canvas) {
        for tick in self.scale.ticks(self.label) {
            let x = self.scale.x(tick);
            canvas.line((x, self.top), (x, self.y), GRID);
        }
    }

    /// The axis with figures and title.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        canvas.line((self.scale.left, self.y), (self.scale.right + 1, self.y), INK);
        for tick in self.scale.ticks(self.label) {
            let x = self.scale.x(tick);
            canvas.line((x, self.y), (x, self.y + 5), INK);
            let label = Label::new((self.label)(tick), x, self.y + 18).tick();
            canvas.text(label.anchor(Anchor::Middle));
        }
        let middle = (self.scale.left + self.scale.right) / 2;
        let title = Label::new(self.title, middle, self.y + 36).colour(SOFT);
        canvas.text(title.anchor(Anchor::Middle));
    }
}

/// Whole numbers with separators.
pub(crate) fn whole(value: i64) -> String {
    grouped(i128::from(value))
}

/// Milliseconds as seconds, without empty decimals.
pub(crate) fn seconds(value_ms: i64) -> String {
    let sign = if value_ms < 0 { "-" } else { "" };
    let magnitude = value_ms.unsigned_abs();
    let decimals = format!("{:03}", magnitude % 1_000);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{decimals}", grouped(i128::from(magnitude / 1_000)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ticks_are_round_inside_and_at_least_one(
            min in -1_000_000_i64..1_000_000, span in 1_i64..1_000_000_000,
        ) {
            let scale = Scale::new((min, min + span), (100, 800));
            let ticks = scale.ticks(whole);
            prop_assert!(ticks.iter().all(|tick| (min..=min + span).contains(tick)));
            prop_assert!(ticks.len() <= 11);
            if let [first, second, ..] = ticks[..] {
                let step = second - first;
                prop_assert_eq!(round_step(step), step);
                prop_assert_eq!(first % step, 0);
            }
            prop_assert!(!ticks.is_empty() || span < 10);
        }

        #[test]
        fn the_scale_keeps_order_and_edges(a in 0_i64..1_000, b in 0_i64..1_000) {
            let scale = Scale::new((0, 999), (50, 850));
            prop_assert!(a > b || scale.x(a) <= scale.x(b));
            let (start, end) = scale.part(a.min(b), a.max(b));
            prop_assert!(50 <= start && end <= 850);
            prop_assert!(a == b || end - start >= 3);
        }
    }

    #[test]
    fn seconds_have_no_empty_decimals() {
        assert_eq!(seconds(-40_000), "-40");
        assert_eq!(seconds(2_500), "2.5");
        assert_eq!(seconds(-3_600_000), "-3,600");
    }
}
