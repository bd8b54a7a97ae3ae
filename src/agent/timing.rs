//! When each child is sent.

use crate::scenario::{Order, Schedule};
use crate::units::SimTime;

/// Start of each of `children` requests, in the order in which they are sent.
pub(super) fn starts(order: Order, schedule: &Schedule, children: usize) -> Vec<SimTime> {
    let at = |index: usize| {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let millis = match order {
            Order::Simultaneous => 0,
            Order::Sequential => index.saturating_mul(schedule.request_ms),
            Order::AfterFirstToken if index == 0 => 0,
            Order::AfterFirstToken | Order::Prewarm => schedule.first_token_latency_ms,
            Order::Waves { width } => {
                let width = i64::try_from(width.max(1)).unwrap_or(i64::MAX);
                (index / width).saturating_mul(schedule.request_ms)
            }
            Order::Stagger { gap_ms } => index.saturating_mul(gap_ms),
        };
        SimTime(millis)
    };
    (0..children).map(at).collect()
}

/// When the answer of a request begins and ends.
pub(super) fn answer(schedule: &Schedule, start: SimTime) -> (SimTime, SimTime) {
    let first = start.plus_ms(schedule.first_token_latency_ms);
    (first, start.plus_ms(schedule.request_ms).max(first))
}

/// Most children that run at the same time.
pub(super) fn most_at_once(schedule: &Schedule, children: u64) -> u64 {
    let children = usize::try_from(children).unwrap_or(usize::MAX);
    let starts = starts(schedule.order, schedule, children);
    // They are sorted, so those that still run when one starts stand right before it.
    let mut oldest = 0;
    let mut most = 0;
    for (index, start) in starts.iter().enumerate() {
        while starts[oldest] != *start && answer(schedule, starts[oldest]).1 <= *start {
            oldest += 1;
        }
        most = most.max(index + 1 - oldest);
    }
    most as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule =
        Schedule { order: Order::Simultaneous, first_token_latency_ms: 2_000, request_ms: 20_000 };

    fn at(order: Order) -> Vec<i64> {
        starts(order, &SCHEDULE, 4).into_iter().map(|time| time.0).collect()
    }

    #[test]
    fn those_that_run_at_once_are_counted() {
        let most = |order| most_at_once(&Schedule { order, ..SCHEDULE }, 100);
        assert_eq!(most(Order::Simultaneous), 100);
        assert_eq!(most(Order::AfterFirstToken), 100);
        assert_eq!(most(Order::Sequential), 1);
        assert_eq!(most(Order::Waves { width: 3 }), 3);
        assert_eq!(most(Order::Stagger { gap_ms: 5_000 }), 4);
        assert_eq!(most(Order::Stagger { gap_ms: 30_000 }), 1);
        assert_eq!(most_at_once(&SCHEDULE, 0), 0);
    }

    #[test]
    fn every_order_has_its_starts() {
        assert_eq!(at(Order::Simultaneous), [0, 0, 0, 0]);
        assert_eq!(at(Order::Sequential), [0, 20_000, 40_000, 60_000]);
        assert_eq!(at(Order::AfterFirstToken), [0, 2_000, 2_000, 2_000]);
        assert_eq!(at(Order::Prewarm), [2_000; 4]);
        assert_eq!(at(Order::Waves { width: 3 }), [0, 0, 0, 20_000]);
        assert_eq!(at(Order::Stagger { gap_ms: 500 }), [0, 500, 1_000, 1_500]);
    }
}
