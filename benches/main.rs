//! Times the shipped paths beside the plain way to do the same job. `docs/benchmarks.md` has the
//! commands and the ratios.

#![allow(missing_docs, clippy::unwrap_used)]

mod cache;
mod construction;
mod counting;
mod fixtures;
mod replay;
mod shared_prefix;
mod study;
mod tokens;

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};

/// A group with few and short samples: rows differ by factors, not by percents.
fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(200));
    group.measurement_time(Duration::from_millis(1_500));
    group
}

criterion_group! {
    name = benches;
    // Plots would need a font of the machine; `target/criterion` has the figures.
    config = Criterion::default().without_plots();
    targets = construction::bench, shared_prefix::bench, counting::bench, cache::bench,
        study::bench, replay::bench,
        tokens::bench
}
criterion_main!(benches);
