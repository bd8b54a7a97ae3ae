//! Counts of twenty megabytes and more, held to those of the reference encoder: recorded files and
//! generated text of many scripts.
//!
//! The files lie in the folder named by `FORKCOST_DATA`; without them the comparison is reported as
//! ignored.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use forkcost::tokens::{Tokenizer, TokenizerSpec, Vocabulary};
use libtest_mimic::{Arguments, Failed, Trial};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// Bytes that are compared at least.
const BYTES_MIN: usize = 20_000_000;

/// Bytes of generated text.
const GENERATED_BYTES: usize = 4_000_000;

/// Seed of the generated text, and of the lengths of the parts.
const SEED: u64 = 7;

/// First and last code point of scripts that words are drawn from, and of what stands around them.
const SCRIPTS: &[(u32, u32)] = &[
    (0x61, 0x7a),
    (0xe0, 0xff),
    (0x100, 0x17f),
    (0x3b1, 0x3c9),
    (0x410, 0x44f),
    (0x5d0, 0x5ea),
    (0x627, 0x64a),
    (0x904, 0x94d),
    (0xe01, 0xe4e),
    (0x10d0, 0x10f0),
    (0x3041, 0x30fe),
    (0x4e00, 0x5fff),
    (0xac00, 0xd7a3),
    (0x1f300, 0x1f64f),
    (0x300, 0x36f),
    (0x1, 0x1f),
    (0x2000, 0x206f),
];

fn main() {
    let folder = std::env::var_os("FORKCOST_DATA").map(PathBuf::from);
    let present = folder.as_ref().is_some_and(|folder| folder.is_dir());
    let check = move || compare(&folder.unwrap_or_default());
    let trial = Trial::test("recorded_and_generated_text_has_the_reference_counts", check);
    libtest_mimic::run(&Arguments::from_args(), vec![trial.with_ignored_flag(!present)]).exit();
}

fn compare(folder: &Path) -> Result<(), Failed> {
    let mut texts = Vec::new();
    for below in ["transcripts", "traces", "captures", "pairs", "tools", "agent-loops", "prices"] {
        collect(&folder.join(below), &mut texts);
    }
    let recorded: usize = texts.iter().map(String::len).sum();
    texts.push(generated(GENERATED_BYTES.max(BYTES_MIN.saturating_sub(recorded))));
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let parts: Vec<&str> = texts.iter().flat_map(|text| parts(text, &mut random)).collect();
    let total: usize = parts.iter().map(|part| part.len()).sum();
    assert!(total >= BYTES_MIN, "{total} bytes");
    let wrong = parts.par_iter().find_map_first(|part| {
        let specs = [Vocabulary::O200k, Vocabulary::Cl100k];
        specs.into_iter().find_map(|vocabulary| {
            let tokens = Tokenizer::new(TokenizerSpec::exact(vocabulary)).count_unscaled(part);
            let expected = reference(vocabulary, part);
            let start: String = part.chars().take(60).collect();
            (tokens != expected).then(|| {
                format!("seed {SEED}: {vocabulary:?} {tokens}, not {expected}: {start:?}...")
            })
        })
    });
    wrong.map_or(Ok(()), |message| Err(message.into()))
}

fn reference(vocabulary: Vocabulary, text: &str) -> u64 {
    let encoder = match vocabulary {
        Vocabulary::O200k => tiktoken_rs::o200k_base_singleton(),
        _ => tiktoken_rs::cl100k_base_singleton(),
    };
    encoder.encode_ordinary(text).len() as u64
}

/// Every text file below a folder, in the order of the paths.
fn collect(folder: &Path, texts: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            texts.push(text);
        }
    }
}

/// The text in parts of 64 KiB to 1 MiB, cut anywhere between characters.
fn parts<'a>(text: &'a str, random: &mut Pcg64Mcg) -> Vec<&'a str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let length = (65_536 << (random.next_u32() % 4)) + random.next_u32() as usize % 524_288;
        let (part, behind) = rest.split_at(rest.floor_char_boundary(length));
        parts.push(part);
        rest = behind;
    }
    parts
}

/// Words of many scripts with what stands around words, some of it often, most of it once.
fn generated(bytes: usize) -> String {
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let mut text = String::with_capacity(bytes + 100);
    while text.len() < bytes {
        let (first, last) = SCRIPTS[random.next_u32() as usize % SCRIPTS.len()];
        for _ in 0..1 + random.next_u32() % 40 {
            // A square makes the first letters of a script frequent.
            let drawn = f64::from(random.next_u32()) / f64::from(u32::MAX);
            let code = first + (drawn * drawn * f64::from(last - first)) as u32;
            text.extend(char::from_u32(code));
            if random.next_u32().is_multiple_of(6) {
                let between = [" ", ", ", ".\n", "\n\n  ", "'s ", "\t", "1234", "\\n", "\"", "  "];
                text.push_str(between[random.next_u32() as usize % between.len()]);
            }
        }
    }
    text
}
