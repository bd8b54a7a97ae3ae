//! Requests of forty blocks through the model of the cache.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use forkcost::cache::CacheRequest;
use forkcost::units::SimTime;

use crate::fixtures;

/// Requests that start together.
const WAVE: usize = 10;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = crate::group(criterion, "cache");
    for requests in [1_000, 10_000] {
        let prompts: Vec<_> = (0..requests).map(fixtures::cache_blocks).collect();
        group.throughput(Throughput::Elements(
            prompts.iter().map(|blocks| blocks.len() as u64).sum(),
        ));
        group.bench_function(BenchmarkId::new("blocks", requests), |bencher| {
            bencher.iter_batched(
                fixtures::empty_cache,
                |mut cache| {
                    for (index, blocks) in prompts.iter().enumerate() {
                        let start = SimTime((index / WAVE) as i64 * 1_000);
                        let readable_at = start.plus_ms(2_000);
                        black_box(cache.access(CacheRequest { blocks, start, readable_at }));
                    }
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}
