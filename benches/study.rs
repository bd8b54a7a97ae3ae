//! Whole scenarios, from their text to the verdict, beside one plain count of their first child's
//! prompt.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion};
use forkcost::agent::{Variant, play, prepare};
use forkcost::scenario::{self, Scenario};
use forkcost::tokens::Tokenizer;
use forkcost::whatif::study;

use crate::fixtures;

/// A key of the scenario and what it is set to.
type Setting = (&'static str, &'static str);

/// Name, scenario file and settings of each row.
const ROWS: [(&str, &str, &[Setting]); 4] = [
    ("golden", "chapter9/five-children-warm.toml", &[]),
    ("64_children", "chapter9/five-children-warm.toml", &[("fork.children", "64")]),
    ("8_children_100k", "chapter9/eight-children-100k-warm-cc-tail.toml", &[]),
    (
        "1000_children_2k",
        "chapter9/five-children-warm.toml",
        &[
            ("fork.children", "1000"),
            ("parent.history.tokens", "2000"),
            ("parent.dispatch", "{ tokens = 60000 }"),
            ("fork.placeholder.tokens", "10"),
        ],
    ),
];

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = crate::group(criterion, "study");
    for (name, file, settings) in ROWS {
        let scenario = load(file, settings);
        let mut seed = 1_000;
        // Every iteration has a seed of its own, so no text was counted before.
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || {
                    seed += 1;
                    Scenario { seed, ..scenario.clone() }
                },
                |scenario| black_box(study(&scenario, &mut |_| {}).unwrap()),
                BatchSize::PerIteration,
            );
        });
        let body = first_child(&scenario);
        group.bench_function(format!("{name}/one_plain_count"), |bencher| {
            bencher.iter(|| fixtures::recount(black_box(&body)));
        });
    }
    group.finish();
}

fn load(file: &str, settings: &[Setting]) -> Scenario {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(file);
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    scenario::load(Path::new(&path), &settings).unwrap()
}

fn first_child(scenario: &Scenario) -> Vec<u8> {
    let material = prepare(scenario, &Tokenizer::new(scenario.tokenizer)).unwrap();
    let played = play(scenario, &material, &Variant::of(scenario)).unwrap();
    played.children[0].to_vec()
}
