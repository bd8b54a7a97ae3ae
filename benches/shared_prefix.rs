//! The longest common prefix of two bodies, and of many.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use forkcost::measure::common::{common_body_prefix, common_prefix};
use forkcost::measure::shared_body_bytes;

use crate::fixtures;

const SIBLINGS: usize = 1_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    for (name, prefix_bytes) in [("200_kB", 200_000), ("4_MB", 4_000_000)] {
        let mut group = crate::group(criterion, &format!("shared_prefix/{name}"));
        let bodies =
            fixtures::build(&fixtures::fork(prefix_bytes, 1), &fixtures::directives(SIBLINGS));
        let (one, other) = (bodies[0].to_vec(), bodies[1].to_vec());
        group.throughput(Throughput::Bytes(one.len() as u64));
        group.bench_function("siblings", |bencher| {
            bencher.iter(|| common_body_prefix(black_box(&bodies[0]), black_box(&bodies[1])));
        });
        group.bench_function("contiguous", |bencher| {
            bencher.iter(|| common_prefix(black_box(&one), black_box(&other)));
        });
        group.bench_function("byte_loop", |bencher| {
            bencher.iter(|| fixtures::byte_loop(black_box(&one), black_box(&other)));
        });
        group.throughput(Throughput::Bytes((one.len() * SIBLINGS) as u64));
        group.bench_function("a_thousand_siblings", |bencher| {
            bencher.iter(|| shared_body_bytes(black_box(&bodies)));
        });
        group.finish();
    }
}
