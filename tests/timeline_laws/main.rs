//! Laws of the cache over random small timelines, read and played as `forkcost replay` does, and a
//! second interpreter of `docs/model.md` that must agree with the first.
//!
//! `FORKCOST_CASES` sets the number of timelines (100,000; a tenth of them for each law of its own
//! test), `FORKCOST_SEED` the first seed. A law that fails prints the seed and the smallest
//! timeline that it could find, as JSON lines for `forkcost replay`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod generator;
mod laws;
mod reference;
mod runner;
mod shrink;
mod timeline;

use forkcost::record::Reason;
use laws::{Case, Law};
use reference::Seen;
use runner::{cases, hold};

/// What must happen in how many of 10,000 timelines, at least.
const HAPPENS: [(&str, u64); 13] = [
    ("read", 6_000),
    ("read as its answer begins", 600),
    ("read in its last millisecond", 250),
    ("found by looking back", 1_200),
    ("found inside a position", 200),
    ("restarted below the read", 1_000),
    ("longer lifetime by a read", 120),
    ("written at once", 2_500),
    ("written twice", 1_000),
    ("no marker at or behind a readable entry", 600),
    ("expired after five minutes", 3_000),
    ("expired after an hour", 300),
    ("expired to the millisecond", 300),
];

/// Says of a timeline whether a law holds.
type Check = fn(&Case<'_>) -> Law;

/// Held by every timeline, beside the reference.
const LAWS: [(&str, Check); 5] = [
    ("INV-1", laws::inv_1_every_token_is_billed_once),
    ("INV-3", laws::inv_3_reads_lie_between_none_and_perfect),
    ("INV-9", laws::inv_9_nothing_is_read_early_or_late),
    ("an equal earlier request", laws::an_equal_earlier_request_increases_no_uncached_input),
    ("independent scopes", laws::independent_scopes_change_nothing),
];

/// Holds the laws for a quarter of the timelines, compares them with the reference, and asserts
/// that they were worth it.
fn laws_hold(part: u64) {
    let mut seen = Seen::new();
    let number = cases() / 4;
    hold(part * number..(part + 1) * number, |timeline, seed| {
        let case = Case::of(timeline, seed)?;
        for (name, law) in LAWS {
            law(&case).map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        laws::agrees_with_the_reference(&case, &mut seen)
    });
    println!("{number} timelines: {seen:#?}");
    let often = |what: &str, least: u64| {
        let times = seen.get(what).copied().unwrap_or(0);
        assert!(times * 10_000 >= least * number, "{what}: {times} in {number} timelines");
    };
    // Too few cases say nothing about how often something happens.
    if number >= 2_000 {
        HAPPENS.iter().for_each(|(what, least)| often(what, *least));
        Reason::ALL.iter().for_each(|reason| often(reason.as_str(), 500));
    }
}

#[test]
fn the_reference_agrees_and_the_laws_hold_1() {
    laws_hold(0);
}

#[test]
fn the_reference_agrees_and_the_laws_hold_2() {
    laws_hold(1);
}

#[test]
fn the_reference_agrees_and_the_laws_hold_3() {
    laws_hold(2);
}

#[test]
fn the_reference_agrees_and_the_laws_hold_4() {
    laws_hold(3);
}

/// Holds another law for a tenth of the timelines.
fn also_holds(law: Check) {
    hold(0..cases().div_ceil(10), |timeline, seed| law(&Case::of(timeline, seed)?));
}

#[test]
fn inv_9_lines_out_of_order_are_sorted_or_refused() {
    also_holds(laws::inv_9_lines_out_of_order);
}

#[test]
fn an_equal_earlier_request_costs_no_read_where_nothing_runs_out() {
    also_holds(laws::an_equal_earlier_request_costs_no_read);
}

#[test]
fn an_equal_request_just_before_is_read_up_to_the_last_marker() {
    also_holds(laws::an_equal_request_just_before_is_read);
}

#[test]
fn independent_requests_cost_alone_what_they_cost_together() {
    also_holds(laws::independent_requests_cost_alone_the_same);
}

#[test]
fn names_and_the_hour_of_the_day_change_nothing() {
    also_holds(laws::names_and_the_hour_change_nothing);
}

#[test]
fn a_longer_window_never_reads_less_where_it_first_matters() {
    also_holds(laws::a_longer_window_first_reads_more);
}
