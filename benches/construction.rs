//! The bodies of N children: built as a family, copied out, and made the plain way.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};

use crate::fixtures::{self, Fork};

const PREFIXES: [(&str, usize); 2] = [("200_kB", 200_000), ("4_MB", 4_000_000)];
const CHILDREN: [usize; 5] = [1, 10, 100, 1_000, 10_000];

/// Most bytes that a row of copies or of the plain way makes: both are linear in the children, so
/// the rows behind would take minutes to say the same.
const BYTES_MAX: usize = 500_000_000;

pub(crate) fn bench(criterion: &mut Criterion) {
    for (name, prefix_bytes) in PREFIXES {
        rows(criterion, name, &fixtures::fork(prefix_bytes, 1));
    }
}

fn rows(criterion: &mut Criterion, name: &str, fork: &Fork) {
    let mut group = crate::group(criterion, &format!("construction/{name}"));
    let body = fixtures::build(fork, &fixtures::directives(1)).remove(0);
    let bytes = body.to_vec();
    for children in CHILDREN {
        let directives = fixtures::directives(children);
        let total = children * body.len();
        group.throughput(Throughput::Bytes(total as u64));
        let row = |way: &str| BenchmarkId::new(way, children);
        group.bench_function(row("family"), |bencher| {
            bencher.iter(|| black_box(fixtures::build(fork, &directives)));
        });
        if total > BYTES_MAX {
            continue;
        }
        group.bench_function(row("family_copied_out"), |bencher| {
            bencher.iter(|| {
                fixtures::build(fork, &directives)
                    .iter()
                    .for_each(|body| drop(black_box(body.to_vec())));
            });
        });
        group.bench_function(row("memcpy"), |bencher| {
            bencher.iter(|| (0..children).for_each(|_| drop(black_box(bytes.clone()))));
        });
        group.bench_function(row("naive"), |bencher| {
            bencher.iter(|| {
                directives.iter().for_each(|text| drop(black_box(fixtures::naive(fork, text))));
            });
        });
    }
    group.finish();
}
