//! What the documents say against what the program does: commands, tables, links, names, numbers.
//!
//! `cargo test --test docs -- --ignored` puts output, tables and the committed report in place.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clap::CommandFactory;
use forkcost::cli::{Cli, exit_code};
use forkcost::provider::anthropic_facts;
use forkcost::report::REASONS;
use forkcost::scenario;
use tempfile::TempDir;

const README: &str = "README.md";
const MODEL: &str = "docs/model.md";
const FORMAT: &str = "docs/summary-format.md";
const SHOWN: &str = "five-children-warm";

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text_of(path: &str) -> String {
    fs::read_to_string(package().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Markdown file for readers: those of the root, and all below `docs` and `reports`.
fn documents() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/decisions", "reports"] {
        for entry in fs::read_dir(package().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                found.push(Path::new(folder).join(name).to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "{found:?}");
    found
}

/// A folder of its own with the scenarios, in which commands of the documents run.
struct Sandbox(TempDir);

impl Sandbox {
    fn new() -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        copy(&package().join("scenarios"), &folder.path().join("scenarios"));
        Sandbox(folder)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// Runs a line such as `forkcost run x.toml  # why`.
    fn run(&self, line: &str) -> Output {
        let line = line.split("  #").next().unwrap();
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some("forkcost"), "{line}");
        let settings = std::env::vars().map(|(name, _)| name);
        let settings = settings.filter(|name| name.starts_with("FORKCOST_") || name == "COLUMNS");
        let mut command = Command::new(env!("CARGO_BIN_EXE_forkcost"));
        for name in settings {
            command.env_remove(name);
        }
        let output = command.args(words).current_dir(self.0.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{errors}");
        output
    }

    /// The block as it is when its commands run: each `$` line with what it prints.
    fn replayed(&self, block: &str) -> String {
        let mut out = String::new();
        let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
        for (index, line) in commands.enumerate() {
            let space = if index > 0 { "\n" } else { "" };
            let printed = String::from_utf8(self.run(line).stdout).unwrap();
            out.push_str(&format!("{space}$ {line}\n{printed}"));
        }
        assert!(!out.is_empty(), "a console block without a command:\n{block}");
        out
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Language and text of every fenced block.
fn fenced(text: &str) -> Vec<(&str, &str)> {
    let mut parts = text.split("```");
    let mut blocks = Vec::new();
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        blocks.push(block.split_once('\n').unwrap_or((block, "")));
    }
    blocks
}

/// The text outside fenced blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// What stands in `backticks` in the prose.
fn coded(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The README with the real output in its console blocks, and its table that of the report.
fn spliced_readme(sandbox: &Sandbox) -> String {
    let mut readme = text_of(README);
    let before = readme.clone();
    for (language, block) in fenced(&before) {
        match language {
            "sh" => block.lines().filter(|line| line.starts_with("forkcost ")).for_each(|line| {
                sandbox.run(line);
            }),
            "console" => readme = readme.replace(block, &sandbox.replayed(block)),
            _ => {}
        }
    }
    let report = fs::read_to_string(sandbox.path(&format!("reports/{SHOWN}/report.md"))).unwrap();
    splice(&readme, SHOWN, &first_table(&report))
}

fn first_table(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with('|'));
    lines.take_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect()
}

/// `text` with `table` between the markers of that name.
fn splice(text: &str, name: &str, table: &str) -> String {
    let start = format!("<!-- table:{name} -->\n");
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("no table {name}"));
    let (_, after) = rest.split_once("<!-- /table -->").unwrap();
    format!("{before}{start}{table}<!-- /table -->{after}")
}

/// The table of undocumented points, from the facts.
fn switches() -> String {
    let mut table = "| key | default | why | read in |\n|---|---|---|---|\n".to_owned();
    for switch in &anthropic_facts().switches {
        let source = match switch.source.as_str() {
            link if link.starts_with("https://") => format!("<{link}>"),
            words => words.to_owned(),
        };
        let (key, default, reason) = (&switch.key, &switch.default, &switch.reason);
        table.push_str(&format!("| `{key}` | `{default}` | {reason} | {source} |\n"));
    }
    table
}

/// Paths and bytes of all files below a folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{next:?}: {error}")) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(folder).unwrap().to_owned();
                found.push((below, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_readme_shows_what_its_commands_print_and_the_report_is_a_fresh_one() {
    let sandbox = Sandbox::new();
    let (expected, found) = (spliced_readme(&sandbox), text_of(README));
    let differs = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
    assert!(expected == found, "make it again (see docs/recipes.md): {differs:#?}");
    let folder = format!("reports/{SHOWN}");
    let (fresh, committed) = (files(&sandbox.path(&folder)), files(&package().join(&folder)));
    let names = |files: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        files.iter().map(|(path, _)| path.clone()).collect()
    };
    assert_eq!(names(&fresh), names(&committed));
    for ((path, fresh), (_, committed)) in fresh.iter().zip(&committed) {
        assert!(fresh == committed, "{path:?} is not what a fresh run writes");
    }
}

#[test]
fn the_claim_of_the_readme_is_what_the_run_below_it_prints() {
    let readme = text_of(README);
    let claim = readme.split("\n\n").nth(1).unwrap();
    let printed = fenced(&readme).into_iter().find(|(language, _)| *language == "console").unwrap();
    let words = claim.split_whitespace().map(|word| word.trim_end_matches([',', '.', ':']));
    let numbers: Vec<&str> = words.filter(|word| word.starts_with(char::is_numeric)).collect();
    assert_eq!(numbers.len(), 4, "{numbers:?}");
    for number in numbers {
        assert!(printed.1.contains(number), "{number}");
    }
}

#[test]
#[ignore = "writes README.md, docs/model.md and reports; run it to put them in place"]
fn put_output_tables_and_report_in_place() {
    let sandbox = Sandbox::new();
    fs::write(package().join(README), spliced_readme(&sandbox)).unwrap();
    let model = splice(&text_of(MODEL), "switches", &switches());
    fs::write(package().join(MODEL), model).unwrap();
    let folder = format!("reports/{SHOWN}");
    drop(fs::remove_dir_all(package().join(&folder)));
    copy(&sandbox.path(&folder), &package().join(&folder));
}

#[test]
fn the_model_lists_the_switches_and_the_tokenizers_of_the_facts() {
    let model = text_of(MODEL);
    assert!(model == splice(&model, "switches", &switches()), "make it again, see recipes.md");
    let facts = anthropic_facts();
    for family in &facts.families {
        let (name, tokenizer, spread) = (&family.name, family.tokenizer, &family.spread);
        let row = format!("| `{name}` | `{tokenizer}` | {spread} |\n");
        assert!(model.contains(&row), "{row}");
    }
    let explained = model.split("What each switch does").nth(1).unwrap();
    for switch in &facts.switches {
        assert!(explained.contains(&format!("| `{}` |", switch.key)), "{}", switch.key);
    }
    let (lookback, from) = (facts.rules.lookback, facts.runs_collapse_from);
    assert!(model.contains(&format!("| `lookback` | {lookback} |")));
    assert!(model.contains(&format!("`collapse_tool_runs` from {from}")));
    for reason in REASONS {
        assert!(model.contains(&format!("`{}`", reason.name)), "{}", reason.name);
    }
}

#[test]
fn closed_forms_of_the_model_are_expected_by_a_scenario() {
    let model = text_of(MODEL);
    let section = model.split("## 9. ").nth(1).unwrap().split("## 10. ").next().unwrap();
    let expected: String = files(&package().join("scenarios/chapter9"))
        .into_iter()
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    let rows = section.lines().filter(|line| line.ends_with(".00 |"));
    let totals: Vec<&str> = rows.filter_map(|row| row.rsplit('|').nth(1)).map(str::trim).collect();
    assert_eq!(totals.len(), 13);
    for total in totals {
        assert!(expected.contains(&format!("\"{}\"", total.replace(',', ""))), "{total}");
    }
}

#[test]
fn every_relative_link_leads_to_a_file() {
    let mut checked = 0;
    for document in documents() {
        let text = prose(&text_of(&document));
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, _) = target.split_once('#').unwrap_or((target, ""));
            let path = package().join(&document).parent().unwrap().join(file);
            assert!(path.exists(), "{document}: {target}");
            checked += 1;
        }
    }
    assert!(checked > 25, "{checked}");
}

#[test]
fn every_path_in_the_prose_exists() {
    let roots = ["src/", "tests/", "docs/", "scenarios/", "reports/", "cli/", "benches/"];
    for document in documents() {
        for path in coded(&text_of(&document)) {
            let is_path = roots.iter().any(|root| path.starts_with(root));
            if is_path && !path.contains(['<', '*', ' ']) && !path.starts_with("reports/") {
                let below_source = package().join("src").join(&path);
                let exists = package().join(&path).exists() || below_source.exists();
                assert!(exists, "{document}: {path}");
            }
        }
    }
}

#[test]
fn every_verb_and_flag_exists() {
    let cli = Cli::command();
    let verbs: BTreeSet<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    let mut named = BTreeSet::new();
    for document in documents() {
        let text = text_of(&document);
        let blocks: String = fenced(&text).into_iter().map(|(_, block)| block).collect();
        let lines = coded(&text).into_iter().chain(blocks.lines().map(str::to_owned));
        for line in lines {
            let Some(rest) = line.trim_start_matches("$ ").strip_prefix("forkcost ") else {
                continue;
            };
            let mut words = rest.split_whitespace();
            let verb = words.next().unwrap();
            if !verb.chars().all(|letter| letter.is_ascii_lowercase()) || verb == "help" {
                continue;
            }
            assert!(verbs.contains(verb), "{document}: forkcost {verb}");
            named.insert(verb.to_owned());
            let command = cli.find_subcommand(verb).unwrap();
            for flag in words.filter_map(|word| word.strip_prefix("--")) {
                let known = command.get_arguments().chain(cli.get_arguments());
                let known = known.filter_map(clap::Arg::get_long).any(|long| long == flag);
                assert!(known, "{document}: forkcost {verb} --{flag}");
            }
        }
    }
    let unnamed: Vec<&&str> = verbs.iter().filter(|verb| !named.contains(**verb)).collect();
    assert!(unnamed.is_empty(), "verbs that no document names: {unnamed:?}");
}

/// Whether a scenario may have a value at the dotted path.
fn is_key(path: &str) -> bool {
    let schema = scenario::schema();
    let mut at = &schema;
    for part in path.split('.') {
        at = &at["properties"][part];
        let inner = at["allOf"].get(0).unwrap_or(at);
        if let Some(reference) = inner["$ref"].as_str() {
            at = &schema["definitions"][reference.rsplit('/').next().unwrap()];
        }
    }
    !at.is_null()
}

fn keys_of(table: &toml::Table, path: &str, out: &mut Vec<String>) {
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            toml::Value::Table(inner) if path != "expect" => keys_of(inner, &path, out),
            _ => out.push(path),
        }
    }
}

#[test]
fn every_scenario_key_exists() {
    assert!(is_key("fork.directive.tokens") && !is_key("fork.zebra"));
    let tables = ["parent.", "fork.", "schedule.", "rules.", "baselines."];
    for document in documents() {
        let text = text_of(&document);
        let mut keys: Vec<String> = coded(&text)
            .into_iter()
            .map(|code| code.split([' ', '=']).next().unwrap().to_owned())
            .filter(|key| tables.iter().any(|table| key.starts_with(table)))
            .collect();
        let blocks = fenced(&text).into_iter().filter(|(language, _)| *language == "toml");
        for (_, block) in blocks {
            let table = block.parse().unwrap_or_else(|error| panic!("{document}: {error}"));
            keys_of(&table, "", &mut keys);
        }
        // Columns of a summary's baselines are no keys of a scenario.
        for key in keys.iter().filter(|key| !key.ends_with(".te")) {
            assert!(is_key(key), "{document}: {key}");
        }
    }
}

/// Names of all members of an object, those of inner objects and lists included.
fn members(value: &serde_json::Value, out: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                out.insert(key.clone());
                if key != "reasons" {
                    members(value, out);
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| members(item, out)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_real_report_is_described() {
    let sandbox = Sandbox::new();
    let format = text_of(FORMAT);
    let section = |title: &str| {
        let rest = format.split(&format!("\n## `{title}`\n")).nth(1).unwrap_or_default();
        rest.split("\n## ").next().unwrap_or_default().to_owned()
    };
    let described = |title: &str, names: &BTreeSet<String>| {
        let text = section(title);
        let missing: Vec<&String> =
            names.iter().filter(|name| !text.contains(&format!("`{name}`"))).collect();
        assert!(!names.is_empty() && missing.is_empty(), "{title}: {missing:?}");
    };
    let header = |csv: &str| -> BTreeSet<String> {
        csv.lines().next().unwrap().split(',').map(str::to_owned).collect()
    };
    let read = |file: &str| fs::read_to_string(sandbox.path(&format!("out/{file}"))).unwrap();

    sandbox.run(&format!("forkcost run scenarios/chapter9/{SHOWN}.toml -o out"));
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    let mut names = BTreeSet::new();
    members(&summary, &mut names);
    let lists = ["changes", "findings"].map(|list| summary[list].as_array().unwrap());
    names.extend(lists.into_iter().flatten().map(|item| item["id"].as_str().unwrap().to_owned()));
    described("summary.json", &names);
    described("records.csv", &header(&read("records.csv")));
    described("segments.csv", &header(&read("segments.csv")));
    let manifest: toml::Table = read("manifest.toml").parse().unwrap();
    described("manifest.toml", &manifest.keys().cloned().collect());
    for file in manifest["files"].as_array().unwrap() {
        assert!(format.contains(&format!("`{}`", file.as_str().unwrap())), "{file}");
    }
    sandbox.run("forkcost run scenarios/what-if -o out");
    described("overview.csv", &header(&read("overview.csv")));
}

#[test]
fn exit_codes_and_the_age_of_the_facts_stand_in_the_readme() {
    let readme = text_of(README);
    let codes: Vec<(&str, &str)> =
        exit_code::HELP.lines().skip(1).filter_map(|line| line.trim().split_once(' ')).collect();
    assert_eq!(codes.len(), 6);
    for (code, meaning) in codes {
        let row = format!("| {code} | {} |\n", meaning.trim());
        assert!(readme.contains(&row), "{row}");
    }
    let checked = format!("compared with their sources on {}.", anthropic_facts().checked);
    assert!(readme.contains(&checked), "{checked}");
    let rust = format!("Rust {} or later", env!("CARGO_PKG_RUST_VERSION"));
    assert!(readme.contains(&rust), "{rust}");
    let version = format!("## {} ", env!("CARGO_PKG_VERSION"));
    assert!(text_of("CHANGELOG.md").contains(&version), "{version}");
}

#[test]
fn decisions_are_numbered_short_and_complete() {
    let mut decisions = documents();
    decisions.retain(|path| path.starts_with("docs/decisions/"));
    for (index, path) in decisions.iter().enumerate() {
        let text = text_of(path);
        let number = format!("{:04}", index + 1);
        assert!(path.starts_with(&format!("docs/decisions/{number}-")), "{path}");
        assert!(text.starts_with(&format!("# {number}: ")), "{path}");
        assert!(text.lines().count() < 40, "{path}");
        for part in ["**Context.**", "**Decision.**", "**Refused.**", "**Consequences.**"] {
            assert!(text.contains(part), "{path}: {part}");
        }
    }
}

#[test]
fn every_invariant_has_its_test() {
    let laws = text_of("tests/laws.rs");
    let invariants = text_of("docs/invariants.md");
    let names: Vec<String> = coded(&invariants)
        .into_iter()
        .filter(|name| name.starts_with("inv_"))
        .map(|name| name.trim_end_matches('…').to_owned())
        .collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        assert!(laws.contains(&format!("fn {name}")), "{name}");
    }
}
