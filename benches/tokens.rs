//! Counting text: on a first pass, again, on hostile text, and from the start of a process.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use forkcost::tokens::{Tokenizer, TokenizerSpec};

/// Bytes of text that is counted at once.
const TEXT_BYTES: usize = 1 << 20;

/// What counts.
const TOKENIZERS: [&str; 4] = ["o200k_base", "cl100k_base", "claude-v3", "claude-v4.8"];

fn tokenizer(name: &str) -> Tokenizer {
    Tokenizer::new(TokenizerSpec::parse(name).unwrap())
}

fn reference(name: &str, text: &str) -> Option<usize> {
    let encoder = match name {
        "o200k_base" => tiktoken_rs::o200k_base_singleton(),
        "cl100k_base" => tiktoken_rs::cl100k_base_singleton(),
        _ => return None,
    };
    Some(encoder.encode_ordinary(text).len())
}

/// Prose, code and JSON of this repository.
fn mixed() -> String {
    let mut text = String::new();
    let mut folders = ["docs", "src", "scenarios", "tests"].map(str::to_owned).to_vec();
    while let Some(folder) = folders.pop() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder);
        let mut names: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap()).collect();
        names.sort_by_key(|entry| entry.file_name());
        for entry in names {
            let below = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(below);
            } else if let Ok(more) = fs::read_to_string(entry.path()) {
                text.push_str(&more);
            }
        }
    }
    let end = text.floor_char_boundary(TEXT_BYTES.min(text.len()));
    text.truncate(end);
    text
}

pub(crate) fn bench(criterion: &mut Criterion) {
    throughput(criterion);
    hostile(criterion);
    start(criterion);
}

/// A megabyte that was never counted before, under each tokenizer: by a thread that has counted
/// nothing (*first*) and by one that has counted such text (*again*); *reference* is tiktoken-rs.
fn throughput(criterion: &mut Criterion) {
    let text = mixed();
    let mut group = crate::group(criterion, "tokens");
    group.throughput(Throughput::Bytes(text.len() as u64));
    let mut salt = 0;
    let mut fresh = || {
        salt += 1;
        format!("{salt}\n{text}")
    };
    for name in TOKENIZERS {
        let tokenizer = tokenizer(name);
        group.bench_function(BenchmarkId::new("first", name), |bencher| {
            let count = |text: String| {
                std::thread::spawn(move || tokenizer.count_unscaled(&text)).join().unwrap()
            };
            bencher.iter_batched(
                &mut fresh,
                |text| black_box(count(text)),
                BatchSize::PerIteration,
            );
        });
        group.bench_function(BenchmarkId::new("again", name), |bencher| {
            let count = |text: String| tokenizer.count_unscaled(&text);
            bencher.iter_batched(
                &mut fresh,
                |text| black_box(count(text)),
                BatchSize::PerIteration,
            );
        });
        if reference(name, "x").is_some() {
            group.bench_function(BenchmarkId::new("reference", name), |bencher| {
                bencher.iter(|| black_box(reference(name, &text)));
            });
        }
    }
    group.finish();
}

/// A megabyte and two of text that could break a counter; where tiktoken-rs survives it, beside it.
fn hostile(criterion: &mut Criterion) {
    let million = 1_000_000;
    let texts = [
        ("letter", "a".to_owned(), true),
        ("space", " ".to_owned(), false),
        ("tab", "\t".to_owned(), false),
        ("nbsp", "\u{a0}".to_owned(), false),
        ("equals", "=".to_owned(), true),
        ("emoji", "\u{1f600}".to_owned(), true),
        ("marks", "a\u{301}\u{323}".to_owned(), true),
        ("base64", base64(), true),
        ("json", "{\"key\":[1,2.5,\"v\u{e9}\"],\"n\":null},".to_owned(), true),
    ];
    let mut group = crate::group(criterion, "hostile");
    for (kind, unit, survives) in texts {
        let mut salt = 0;
        for name in ["o200k_base", "claude-v3"] {
            let tokenizer = tokenizer(name);
            for megabytes in [1, 2] {
                let id = format!("{kind}/{megabytes}");
                let text = unit.repeat(megabytes * million / unit.len());
                let mut fresh = || {
                    salt += 1;
                    format!("{salt}\n{text}")
                };
                group.bench_function(BenchmarkId::new(name, id), |bencher| {
                    let count = |text: String| tokenizer.count_unscaled(&text);
                    let size = BatchSize::PerIteration;
                    bencher.iter_batched(&mut fresh, |text| black_box(count(text)), size);
                });
            }
        }
        if survives {
            let text = unit.repeat(million / unit.len());
            group.bench_function(BenchmarkId::new("reference", kind), |bencher| {
                bencher.iter(|| black_box(reference("o200k_base", &text)));
            });
        }
    }
    group.finish();
}

/// Text without a repetition, as long as a page.
fn base64() -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 1_u64;
    let mut letter = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 58) as usize])
    };
    (0..100_000).map(&mut letter).collect()
}

/// A whole process that counts a file, beside loading the vocabulary of tiktoken-rs in a process
/// that runs already and counting the same.
fn start(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let text = mixed();
    let mut group = crate::group(criterion, "start");
    for kilobytes in [2, 200] {
        let part = &text[..text.floor_char_boundary(kilobytes * 1_000)];
        let path = folder.path().join(format!("{kilobytes}.txt"));
        fs::write(&path, part).unwrap();
        for name in ["o200k_base", "claude-v3", "claude-v4.8"] {
            group.bench_function(BenchmarkId::new(name, kilobytes), |bencher| {
                bencher.iter(|| {
                    let mut command = Command::new(env!("CARGO_BIN_EXE_forkcost"));
                    command
                        .args(["count", "--json", "--as", "text", "--tokenizer", name])
                        .arg(&path);
                    assert!(command.output().unwrap().status.success());
                });
            });
        }
        group.bench_function(BenchmarkId::new("reference", kilobytes), |bencher| {
            bencher.iter(|| {
                let encoder = tiktoken_rs::o200k_base().unwrap();
                black_box(encoder.encode_ordinary(part).len())
            });
        });
    }
    group.finish();
}
