//! Tokens of a prompt of 200 kB and of its children.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use forkcost::provider::RenderOptions;
use forkcost::provider::anthropic::Anthropic;
use forkcost::request::RequestEvent;
use forkcost::simulate::measure;
use forkcost::tokens::{Tokenizer, TokenizerSpec};

use crate::fixtures;

const PREFIX_BYTES: usize = 200_000;

/// The plain way counts each body by itself, so more children than this say the same ten times
/// slower.
const RECOUNTED_MAX: usize = 10;

pub(crate) fn bench(criterion: &mut Criterion) {
    let tokenizer = Tokenizer::new(TokenizerSpec::parse("o200k_base").unwrap());
    let count = |events: Vec<RequestEvent>| {
        measure(events, &Anthropic, RenderOptions::default(), &tokenizer).unwrap()
    };
    // The vocabulary is loaded outside what is timed.
    tokenizer.count("x");
    let mut group = crate::group(criterion, "counting");
    let mut salt = 1_000;
    for children in [1, 10, 100, 1_000] {
        let bodies =
            fixtures::build(&fixtures::fork(PREFIX_BYTES, 1), &fixtures::directives(children));
        let total = bodies.iter().map(|body| body.len() as u64).sum();
        group.throughput(Throughput::Bytes(total));
        // Text that was never counted before, in every iteration.
        group.bench_function(BenchmarkId::new("first", children), |bencher| {
            bencher.iter_batched(
                || {
                    salt += 1;
                    let told = |index| fixtures::directive(salt as usize * 10_000 + index);
                    let told: Vec<String> = (0..children).map(told).collect();
                    fixtures::events(&fixtures::build(&fixtures::fork(PREFIX_BYTES, salt), &told))
                },
                |events| black_box(count(events)),
                BatchSize::PerIteration,
            );
        });
        group.bench_function(BenchmarkId::new("again", children), |bencher| {
            bencher.iter(|| black_box(count(fixtures::events(&bodies))));
        });
        if children <= RECOUNTED_MAX {
            let bodies: Vec<Vec<u8>> = bodies.iter().map(|body| body.to_vec()).collect();
            group.bench_function(BenchmarkId::new("each_by_itself", children), |bencher| {
                bencher.iter(|| bodies.iter().map(|body| fixtures::recount(body)).sum::<u64>());
            });
        }
    }
    group.finish();
}
