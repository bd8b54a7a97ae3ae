//! The house rules that a machine can judge: layers, forbidden words, sizes, documentation of
//! dependencies.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const LINE_COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// One source file: its path below the package and its text.
struct Source {
    path: String,
    text: String,
}

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources_in(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    if package().join(folder).is_dir() {
        collect(&package().join(folder), folder, &mut sources);
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(folder != "src" || !sources.is_empty(), "no source below {folder}");
    sources
}

fn collect(folder: &Path, below: &str, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &path, sources);
        } else if path.ends_with(".rs") {
            sources.push(Source { path, text: fs::read_to_string(entry.path()).unwrap() });
        }
    }
}

/// The sources that are compiled into the tool: without files that only tests declare.
fn shipped_sources() -> Vec<Source> {
    let sources = sources_in("src");
    let only_for_tests: Vec<String> = sources
        .iter()
        .flat_map(|source| {
            let folder = source.path.trim_end_matches("/mod.rs").trim_end_matches(".rs").to_owned();
            let declared = test_modules(&source.text);
            declared.into_iter().map(move |module| format!("{folder}/{module}"))
        })
        .collect();
    let is_test = |path: &str| {
        let stem = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        only_for_tests.iter().any(|test| stem == test || stem.starts_with(&format!("{test}/")))
    };
    sources.into_iter().filter(|source| !is_test(&source.path)).collect()
}

/// Modules declared behind `#[cfg(test)]` without a body.
fn test_modules(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]");
    let names = pairs.filter_map(|pair| pair[1].split("mod ").nth(1)?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// The module a file of `src` belongs to: its folder, or its own name.
fn module_of(path: &str) -> &str {
    let below = path.strip_prefix("src/").unwrap();
    below.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The layer of every module, from the table in `src/lib.rs`.
fn layers() -> BTreeMap<String, usize> {
    let lib = fs::read_to_string(package().join("src/lib.rs")).unwrap();
    let table = lib.split("//! ```text\n").nth(1).unwrap().split("//! ```").next().unwrap();
    let mut layers = BTreeMap::new();
    for line in table.lines() {
        let mut words = line.trim_start_matches("//!").split_whitespace();
        let layer: usize = words.next().unwrap().parse().unwrap();
        for module in words {
            assert!(layers.insert(module.to_owned(), layer).is_none(), "{module} stands twice");
        }
    }
    layers
}

/// The text without test modules (which stand last in a file), comments and string contents, line
/// by line; lines of tests are empty.
fn code_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let opens_tests = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].ends_with(" {");
    let end = lines.windows(2).position(opens_tests).unwrap_or(lines.len());
    lines
        .iter()
        .enumerate()
        .map(|(n, line)| if n < end { strip(line) } else { String::new() })
        .collect()
}

/// A line without comment and without what stands in strings and character literals.
fn strip(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars().peekable();
    let mut in_string = false;
    while let Some(char) = chars.next() {
        match char {
            '\\' if in_string => drop(chars.next()),
            '"' => {
                in_string = !in_string;
                out.push('"');
            }
            '\'' if !in_string => {
                let rest: Vec<char> = chars.clone().take(3).collect();
                let literal = match rest[..] {
                    ['\\', _, '\''] => 3,
                    [_, '\'', ..] => 2,
                    _ => 0,
                };
                for _ in 0..literal {
                    chars.next();
                }
                out.push('\'');
            }
            '/' if !in_string && chars.peek() == Some(&'/') => break,
            other if !in_string => out.push(other),
            _ => {}
        }
    }
    out
}

/// Every `crate::module` and `forkcost::module` in a file's code.
fn imports(lines: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let all = lines.join("\n");
    for (at, _) in all.match_indices("crate::") {
        let rest = &all[at + "crate::".len()..];
        if rest.starts_with('{') {
            panic!(
                "write one `use crate::module` a module, so that every edge is seen: {rest:.60}"
            );
        }
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        found.insert(name);
    }
    found
}

#[test]
fn modules_import_only_from_lower_layers() {
    let layers = layers();
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for source in shipped_sources() {
        let module = module_of(&source.path).to_owned();
        if module == "lib" || module == "main" {
            continue;
        }
        let Some(own) = layers.get(&module) else {
            faults.push(format!("{}: module `{module}` has no layer in src/lib.rs", source.path));
            continue;
        };
        seen.insert(module.clone());
        let lines = code_lines(&source.text);
        // In a module's root file `super` is the crate.
        let is_root = source.path.matches('/').count() == 1
            || source.path.ends_with(&format!("src/{module}/mod.rs"));
        if is_root && lines.iter().any(|line| line.contains("super::")) {
            faults.push(format!("{}: write `crate::` instead of `super::`", source.path));
        }
        for import in imports(&lines) {
            match layers.get(&import) {
                _ if import == module => {}
                Some(layer) if layer < own => {}
                Some(layer) => faults.push(format!(
                    "{}: `{module}` (layer {own}) imports `{import}` (layer {layer})",
                    source.path
                )),
                None => faults.push(format!("{}: imports unknown `{import}`", source.path)),
            }
        }
    }
    for module in layers.keys().filter(|module| !seen.contains(*module)) {
        faults.push(format!("src/lib.rs: layer of `{module}`, which is no module"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A word that may stand in the named modules (or files) only.
struct Reserved {
    words: &'static [&'static str],
    allowed: &'static [&'static str],
}

const RESERVED: &[Reserved] = &[
    Reserved { words: &["plotters::", "dejavu::"], allowed: &["src/report/charts"] },
    Reserved { words: &["clap::", "clap_complete::", "indicatif::"], allowed: &["src/cli/"] },
    Reserved { words: &["tiktoken_rs::", "tokenizers::"], allowed: &["src/tokens/"] },
    Reserved {
        words: &["std::fs", "fs::read", "fs::write", "File::open", "File::create", "std::env"],
        allowed: &[
            "src/scenario/",
            "src/trace/source.rs",
            "src/report/write.rs",
            "src/cli/",
            "src/main.rs",
        ],
    },
    Reserved {
        words: &["println!", "eprintln!", "print!(", "eprint!(", "io::stdout", "io::stderr"],
        allowed: &["src/cli/", "src/main.rs"],
    },
    Reserved {
        words: &["process::exit", "process::abort"],
        allowed: &["src/cli/interrupt.rs", "src/main.rs"],
    },
    Reserved {
        words: &[
            "Instant",
            "SystemTime",
            "thread::sleep",
            "thread::spawn",
            "thread::scope",
            "std::net",
        ],
        allowed: &[],
    },
    Reserved {
        words: &["rayon::", "par_iter", "par_bridge"],
        allowed: &["src/whatif/", "src/measure/", "src/tokens/", "src/counting/"],
    },
    Reserved {
        words: &["unwrap()", ".expect(", "panic!", "todo!", "unimplemented!", "dbg!"],
        allowed: &[],
    },
    Reserved { words: &["super::super", "flatten)]", "untagged"], allowed: &[] },
    Reserved { words: &["BuildToken(()"], allowed: &["src/request/build.rs"] },
    Reserved { words: &["anthropic", "Anthropic"], allowed: &["src/provider/"] },
];

#[test]
fn reserved_words_stay_in_their_rooms() {
    let mut faults = Vec::new();
    for source in shipped_sources() {
        for (number, line) in code_lines(&source.text).iter().enumerate() {
            for reserved in RESERVED {
                let allowed = reserved.allowed.iter().any(|room| source.path.starts_with(room));
                let word = reserved.words.iter().find(|word| line.contains(**word));
                if let (false, Some(word)) = (allowed, word) {
                    faults.push(format!("{}:{}: `{word}`", source.path, number + 1));
                }
            }
            if line.contains("use ") && line.contains("::*;") && !line.contains("prelude::*") {
                faults.push(format!("{}:{}: glob import", source.path, number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn lines_functions_and_files_are_short() {
    let mut faults = Vec::new();
    for folder in ["src", "tests", "benches"] {
        for source in sources_in(folder) {
            let lines: Vec<&str> = source.text.lines().collect();
            if lines.len() > FILE_LINES_MAX {
                faults.push(format!("{}: {} lines", source.path, lines.len()));
            }
            for (number, line) in lines.iter().enumerate() {
                if line.chars().count() > LINE_COLUMNS_MAX {
                    faults.push(format!("{}:{}: line too long", source.path, number + 1));
                }
            }
            for (name, start, length) in functions(&source.text) {
                if length > FUNCTION_LINES_MAX {
                    faults.push(format!("{}:{start}: `{name}` has {length} lines", source.path));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Name, first line and number of lines of every function.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<String> = text.lines().map(strip).collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let is_function =
            ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn ", "const fn ", "pub const fn "]
                .iter()
                .any(|start| trimmed.starts_with(start));
        if !is_function {
            continue;
        }
        let name = trimmed.split("fn ").nth(1).unwrap_or("").split(['(', '<']).next().unwrap_or("");
        let mut depth = 0_i64;
        let mut opened = false;
        for (more, line) in lines[number..].iter().enumerate() {
            depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
            opened |= line.contains('{');
            if (opened && depth <= 0) || (!opened && line.trim_end().ends_with(';')) {
                found.push((name.to_owned(), number + 1, more + 1));
                break;
            }
        }
    }
    found
}

#[test]
fn every_dependency_has_a_reason() {
    let manifest = fs::read_to_string(package().join("Cargo.toml")).unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap();
    let section = section.split("\n[[test]]").next().unwrap().split("\n[lints").next().unwrap();
    let mut reason = false;
    let mut faults = Vec::new();
    for line in section.lines() {
        if line.starts_with('#') {
            reason = true;
        } else if line.trim().is_empty() || line.starts_with('[') {
            reason = false;
        } else if line.starts_with(|c: char| c.is_ascii_lowercase())
            && line.contains(" = ")
            && !reason
        {
            faults.push(line.to_owned());
        }
    }
    assert!(faults.is_empty(), "dependencies without a reason: {faults:?}");
}

#[test]
fn every_file_of_src_is_a_module_of_its_parent() {
    let mut faults = Vec::new();
    let sources = sources_in("src");
    for source in &sources {
        let (folder, file) = source.path.rsplit_once('/').unwrap();
        let name = file.trim_end_matches(".rs");
        if ["lib", "main"].contains(&name) {
            continue;
        }
        let (parents, module): (Vec<String>, &str) = if name == "mod" {
            let (above, own) = folder.rsplit_once('/').unwrap();
            (vec![format!("{above}/mod.rs"), format!("{above}/lib.rs"), format!("{above}.rs")], own)
        } else {
            (
                vec![
                    format!("{folder}/mod.rs"),
                    format!("{folder}/lib.rs"),
                    format!("{folder}.rs"),
                ],
                name,
            )
        };
        let declared = sources
            .iter()
            .filter(|parent| parents.contains(&parent.path))
            .any(|parent| parent.text.contains(&format!("mod {module};")));
        if !declared {
            faults.push(format!("{}: no parent declares it", source.path));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn functions_are_measured_from_signature_to_brace() {
    let text = [
        "fn a() {",
        "    \"}\";",
        "}",
        "",
        "pub fn b(",
        "    x: u8,",
        ") -> u8 {",
        "    if x { 1 } else { 2 }",
        "}",
        "",
    ]
    .join("\n");
    let found = functions(&text);
    assert_eq!(found, [("a".to_owned(), 1, 3), ("b".to_owned(), 5, 5)]);
}
