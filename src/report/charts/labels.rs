//! Labels beside small things: spread out so that none covers another, each tied to its place by a
//! line.

use crate::report::charts::canvas::{Anchor, Canvas, Label};
use crate::report::charts::colours::LEADER;

/// Least distance between two labels in pixels.
const GAP: i32 = 12;

/// A place on a bar and what is to stand beside it.
#[derive(Clone, Debug)]
pub(crate) struct Callout {
    pub(crate) x: i32,
    pub(crate) text: String,
}

/// Where a row of callouts stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalloutRow {
    /// Left and right end of the room for labels.
    pub(crate) bounds: (i32, i32),
    /// Where the lines begin, at the bar.
    pub(crate) bar_y: i32,
    /// Where the lines end, at the labels.
    pub(crate) label_y: i32,
    /// Baseline of the labels.
    pub(crate) baseline: i32,
}

/// Draws as many callouts as there is room for, the later ones first; gives the number left out.
pub(crate) fn draw_callouts(canvas: &mut Canvas, row: CalloutRow, callouts: &[Callout]) -> usize {
    let mut sorted = callouts.to_vec();
    sorted.sort_by_key(|callout| callout.x);
    let labels: Vec<Label> = sorted
        .iter()
        .map(|callout| {
            Label::new(callout.text.clone(), callout.x, row.baseline).anchor(Anchor::Middle)
        })
        .collect();
    let widths: Vec<i32> = labels.iter().map(Label::width).collect();
    let mut first = 0;
    let room = row.bounds.1 - row.bounds.0;
    while widths[first..].iter().map(|width| width + GAP).sum::<i32>() - GAP > room {
        first += 1;
    }
    let wanted: Vec<(i32, i32)> =
        sorted.iter().map(|callout| callout.x).zip(widths).skip(first).collect();
    for (label, left) in labels.into_iter().skip(first).zip(spread(&wanted, row.bounds)) {
        let middle = left + label.width() / 2;
        canvas.line((label.x, row.bar_y), (middle, row.label_y), LEADER);
        canvas.text(Label { x: middle, ..label });
    }
    first
}

/// Left ends of labels with the given middles and widths, in order, apart and inside the bounds,
/// each as near to its middle as the others allow. The widths must fit.
fn spread(wanted: &[(i32, i32)], bounds: (i32, i32)) -> Vec<i32> {
    let mut lefts: Vec<i32> = Vec::with_capacity(wanted.len());
    let mut free = bounds.0;
    for (middle, width) in wanted {
        let left = (middle - width / 2).max(free);
        lefts.push(left);
        free = left + width + GAP;
    }
    let mut limit = bounds.1;
    for (left, (_, width)) in lefts.iter_mut().zip(wanted).rev() {
        *left = (*left).min(limit - width);
        limit = *left - GAP;
    }
    lefts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn labels_stay_apart_and_inside(
            mut wanted in prop::collection::vec((0_i32..800, 10_i32..100), 1..7),
        ) {
            wanted.sort();
            let lefts = spread(&wanted, (0, 800));
            let mut free = 0;
            for (left, (_, width)) in lefts.iter().zip(&wanted) {
                prop_assert!(*left >= free);
                free = left + width + GAP;
            }
            prop_assert!(free - GAP <= 800);
        }
    }

    #[test]
    fn a_label_alone_stands_at_its_place() {
        assert_eq!(spread(&[(400, 50)], (0, 800)), [375]);
    }
}
