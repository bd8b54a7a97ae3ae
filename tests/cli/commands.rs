//! The verbs beside `run`, and what `--json` prints.

use crate::lab::{GOOD, Lab, contents, good_but};

#[test]
fn json_on_stdout_is_the_summary_file() {
    let lab = Lab::with_good();
    let ran = lab.run(&["run", "good.toml", "--json"]).succeeded();
    assert_eq!(ran.stdout, lab.read("reports/good/summary.json"));
    assert_eq!(ran.json()["schema_version"], 1);
    assert_eq!(ran.stderr, "");
    let files: Vec<String> =
        contents(&lab.path("reports/good")).into_iter().map(|file| file.0).collect();
    for name in ["manifest.toml", "records.csv", "report.md", "segments.csv", "summary.json"] {
        assert!(files.iter().any(|file| file == name), "{name} is not in {files:?}");
    }
}

#[test]
fn nothing_of_the_machine_stands_in_a_report() {
    let lab = Lab::with_good();
    lab.run(&["run", "good.toml"]).succeeded();
    let place = lab.path("").display().to_string();
    for (name, bytes) in contents(&lab.path("reports")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(place.trim_end_matches('/')), "{name} names the working folder");
    }
}

#[test]
fn several_scenarios_give_a_list_and_an_overview() {
    let lab = Lab::with_good();
    lab.write("other.toml", good_but("children      = 3", "children = 4"));
    let ran = lab.run(&["run", "good.toml", "other.toml", "--json"]).succeeded();
    let list = ran.json();
    let children: Vec<u64> =
        list.as_array().unwrap().iter().filter_map(|item| item["children"].as_u64()).collect();
    assert_eq!(children, [3, 4]);
    let ran = lab.run(&["run", "good.toml", "other.toml", "-o", "out"]).succeeded();
    assert!(ran.stdout.contains("out/overview.md"), "{}", ran.stdout);
    for name in ["out/overview.csv", "out/good/report.md", "out/other/report.md"] {
        assert!(lab.path(name).is_file(), "{name} is absent");
    }
}

#[test]
fn build_writes_the_bodies_that_it_prints() {
    let lab = Lab::with_good();
    let printed = lab.run(&["build", "good.toml"]).succeeded();
    lab.run(&["build", "good.toml", "-o", "bodies"]).succeeded();
    let mut names = Vec::new();
    for line in printed.stdout.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = row["request"].as_str().unwrap().to_owned();
        let body = line.strip_prefix(&format!("{{\"request\":\"{name}\",\"body\":")).unwrap();
        assert_eq!(body.strip_suffix('}').unwrap(), lab.read(&format!("bodies/{name}.json")));
        assert!(row["body"]["messages"].is_array(), "{name} has no messages");
        names.push(name);
    }
    assert_eq!(names, ["parent", "child-001", "child-002", "child-003"]);
    assert_eq!(contents(&lab.path("bodies")).len(), 4);
}

#[test]
fn build_lists_what_it_wrote() {
    let lab = Lab::with_good();
    let ran = lab.run(&["build", "good.toml", "-o", "bodies", "--json"]).succeeded();
    let list = ran.json();
    let files = list["files"].as_array().unwrap();
    let mut total = 0;
    for file in files {
        let bytes = lab.read(&format!("bodies/{}", file["file"].as_str().unwrap())).len() as u64;
        assert_eq!(file["bytes"].as_u64(), Some(bytes));
        total += bytes;
    }
    assert_eq!(list["bytes"].as_u64(), Some(total));
    lab.refuses(&["build", "good.toml", "--json"], 2, &["--output"]);
}

#[test]
fn build_includes_the_prewarming_request() {
    let lab = Lab::with_good();
    let ran = lab.run(&["build", "good.toml", "--set", "schedule.order=prewarm"]).succeeded();
    let line =
        ran.stdout.lines().find(|line| line.starts_with("{\"request\":\"prewarm\"")).unwrap();
    let row: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(row["body"]["max_tokens"], 0);
}

#[test]
fn build_asks_before_it_writes_a_big_lot() {
    let lab = Lab::new();
    let text = good_but("tokens = 3000, turns = 3", "tokens = 300000")
        .replace("children      = 3", "children = 400");
    lab.write("big.toml", text);
    let words = ["more than 256 MiB", "--yes", "401 bodies"];
    lab.refuses(&["build", "big.toml", "-o", "bodies"], 2, &words);
    lab.refuses(&["build", "big.toml"], 2, &words);
}

#[test]
fn init_writes_what_runs() {
    let lab = Lab::new();
    let ran = lab.run(&["init"]).succeeded();
    assert!(ran.stdout.contains("forkcost run scenario.toml"), "{}", ran.stdout);
    lab.run(&["run", "scenario.toml", "--no-report"]).succeeded();
    lab.write("scenario.toml", "mine");
    lab.refuses(&["init"], 2, &["scenario.toml is there already", "--force"]);
    assert_eq!(lab.read("scenario.toml"), "mine");
    lab.run(&["init", "--force"]).succeeded();
    let printed = lab.run(&["init", "-"]).succeeded();
    assert_eq!(lab.read("scenario.toml"), printed.stdout);
    lab.run_on(&["run", "-", "--no-report"], printed.stdout.as_bytes()).succeeded();
    lab.refuses(&["init", "."], 2, &[". is there already"]);
}

#[test]
fn init_starts_from_a_recorded_request() {
    let lab = Lab::new();
    let body =
        r#"{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}"#;
    let odd = "re \"quoted\" \\ ü.json";
    lab.write(odd, body);
    lab.run(&["init", "--from-request", odd, "new.toml"]).succeeded();
    lab.run(&["run", "new.toml", "--no-report"]).succeeded();
    lab.run(&["build", "new.toml", "-o", "bodies"]).succeeded();
    assert_eq!(lab.read("bodies/parent.json"), body);
}

#[test]
fn the_schema_is_the_documented_one() {
    let ran = Lab::new().run(&["schema"]).succeeded();
    let documented = include_str!("../../docs/scenario.schema.json");
    assert_eq!(ran.stdout, documented.replace("\r\n", "\n"));
}

#[test]
fn every_shell_has_a_completion_and_the_command_a_manual() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = lab.run(&["completions", shell]).succeeded();
        for word in ["forkcost", "completions", "no-report"] {
            assert!(ran.stdout.contains(word), "{shell} has no {word}");
        }
    }
    lab.refuses(&["completions", "tcsh"], 2, &["tcsh", "bash"]);
    let manual = lab.run(&["man"]).succeeded().stdout;
    for word in [".TH", "SYNOPSIS", "Exit codes", "FORKCOST_OUTPUT"] {
        assert!(manual.contains(word), "the manual has no {word}");
    }
}

#[test]
fn bad_usage_is_exit_code_two() {
    let lab = Lab::with_good();
    lab.refuses(&[], 2, &["Usage"]);
    lab.refuses(&["bogus"], 2, &["bogus"]);
    lab.refuses(&["run"], 2, &["<SCENARIO>"]);
    lab.refuses(&["run", "good.toml", "--jsn"], 2, &["--jsn", "--json"]);
    lab.refuses(&["run", "good.toml", "--no-report", "--png"], 2, &["cannot be used with"]);
    lab.refuses(&["run", "good.toml", "--no-report", "-o", "x"], 2, &["cannot be used with"]);
    lab.refuses(&["run", "good.toml", "--color", "pink"], 2, &["pink", "never"]);
}

#[test]
fn help_and_version_go_to_stdout() {
    let lab = Lab::new();
    let help = lab.run(&["--help"]).succeeded();
    for word in ["Exit codes:", "130  interrupted", "FORKCOST_OUTPUT", "forkcost.toml"] {
        assert!(help.stdout.contains(word), "no {word} in {}", help.stdout);
    }
    assert_eq!(help.stderr, "");
    let version = lab.run(&["--version"]).succeeded();
    assert_eq!(version.stdout, format!("forkcost {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_verdict_fits_its_width_and_has_no_colour_unasked() {
    let lab = Lab::with_good();
    let args = ["run", "good.toml", "--no-report"];
    let plain = lab.run(&args).succeeded();
    assert!(!plain.stdout.contains('\u{1b}'), "{}", plain.stdout);
    for width in ["80", "100", "120", "20", "wide"] {
        let ran = lab.run_with(&args, &[("COLUMNS", width)]).succeeded();
        let most = width.parse().unwrap_or(100).clamp(80, 120);
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= most, "{width}: {line}");
        }
    }
    let coloured = lab.run(&["run", "good.toml", "--no-report", "--color", "always"]).succeeded();
    assert!(coloured.stdout.contains('\u{1b}'), "{}", coloured.stdout);
}

#[test]
fn a_scenario_in_json_runs_alike() {
    let lab = Lab::with_good();
    let value: toml::Value = toml::from_str(GOOD).unwrap();
    lab.write("good.json", serde_json::to_string(&value).unwrap());
    let [ours, theirs] = ["good.json", "good.toml"]
        .map(|name| lab.run(&["run", name, "--json", "--no-report"]).succeeded().stdout);
    assert_eq!(ours, theirs);
}
