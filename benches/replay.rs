//! Timelines from their text to their sums, beside what a reader without cache rules and money
//! would do.

use std::collections::HashMap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use forkcost::replay::{Options, Played, Sink, replay};
use forkcost::trace::{self, Source};
use serde::Deserialize;

use crate::fixtures;

/// Requests of forty blocks on average.
const REQUESTS: usize = 20_000;

/// Rows that nobody looks at.
struct Nowhere;

impl Sink for Nowhere {
    fn row(&mut self, played: &Played) -> std::io::Result<()> {
        black_box(played);
        Ok(())
    }

    fn restart(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What an endless cache without markers needs of a request.
#[derive(Deserialize)]
struct Request {
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    id: String,
    tokens: u64,
}

/// Tokens of blocks seen before: ids as numbers, one look a block.
fn endless_cache(text: &str) -> u64 {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut seen: Vec<bool> = Vec::new();
    let mut hits = 0;
    for line in text.lines().skip(1) {
        let request: Request = serde_json::from_str(line).unwrap();
        for block in request.blocks {
            let next = numbers.len() as u32;
            let number = *numbers.entry(block.id).or_insert(next) as usize;
            if seen.len() <= number {
                seen.resize(number + 1, false);
            }
            hits += if seen[number] { block.tokens } else { 0 };
            seen[number] = true;
        }
    }
    hits
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let text = fixtures::timeline(REQUESTS);
    let blocks = text.matches("\"id\"").count() as u64;
    let mut group = crate::group(criterion, "replay");
    group.throughput(Throughput::Elements(blocks));
    group.bench_function(BenchmarkId::new("replay", REQUESTS), |bencher| {
        bencher.iter(|| {
            let trace = trace::open(Source::of_bytes("bench", text.as_bytes())).unwrap();
            replay(&trace, &Options::default(), &mut Nowhere).unwrap()
        });
    });
    group.bench_function(BenchmarkId::new("endless cache", REQUESTS), |bencher| {
        bencher.iter(|| endless_cache(&text));
    });
    group.bench_function(BenchmarkId::new("read as values", REQUESTS), |bencher| {
        bencher.iter(|| {
            let lines = text.lines().map(serde_json::from_str::<serde_json::Value>);
            lines.map(|line| line.unwrap()["blocks"].as_array().map_or(0, Vec::len)).sum::<usize>()
        });
    });
    group.finish();
}
