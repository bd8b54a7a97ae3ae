//! Scenario files that are none, and results that cannot be written.

use std::fs;

use crate::lab::{GOOD, Lab, contents, good_but, writes_anywhere};

#[test]
fn a_missing_scenario_is_named() {
    let words = ["cannot read the scenario nope.toml: there is no such file"];
    let ran = Lab::new().refuses(&["run", "nope.toml"], 3, &words);
    assert_eq!(ran.stderr.matches("no such file").count(), 1, "said twice: {}", ran.stderr);
    assert!(!ran.stderr.contains("os error"), "{}", ran.stderr);
}

#[test]
fn an_empty_scenario_is_named() {
    Lab::new().refuses_scenario("", &["F0004", "holds no scenario"]);
    Lab::new().refuses_scenario(" \n\t\n", &["F0004", "holds no scenario"]);
}

#[test]
fn a_binary_scenario_is_named() {
    let binary = fs::read(env!("CARGO_BIN_EXE_forkcost")).unwrap();
    Lab::new().refuses_scenario(&binary[..4_000], &["F0001", "not UTF-8"]);
    Lab::new().refuses_scenario(&binary, &["F0006", "16 MiB"]);
}

#[test]
fn a_truncated_scenario_is_never_run_as_if_whole() {
    let lab = Lab::new();
    let required = GOOD.find("directive").unwrap();
    for end in (0..required).step_by(7) {
        lab.write("bad.toml", &GOOD[..end]);
        lab.refuses(&["run", "bad.toml"], 2, &["error[F0"]);
    }
}

#[test]
fn a_folder_without_scenarios_is_named() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    lab.refuses(&["run", "empty"], 2, &["empty holds no scenario", "forkcost init"]);
    lab.write("empty/notes.txt", "x");
    lab.refuses(&["run", "empty"], 2, &["empty holds no scenario"]);
}

#[test]
fn a_folder_of_scenarios_is_run_again_beside_its_own_reports() {
    let lab = Lab::with_good();
    lab.write("more/other.toml", GOOD);
    lab.write("forkcost.toml", "quiet = true\n");
    lab.run(&["run", "."]).succeeded();
    let first = contents(&lab.path("reports"));
    // The reports hold manifests in TOML, which are no scenarios.
    lab.run(&["run", "."]).succeeded();
    assert_eq!(contents(&lab.path("reports")), first);
    assert!(lab.path("reports/good/summary.json").is_file());
    assert!(lab.path("reports/more/other/summary.json").is_file());
    assert!(lab.path("reports/overview.csv").is_file());
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_not_followed() {
    let lab = Lab::with_good();
    for name in ["back", "again"] {
        std::os::unix::fs::symlink(".", lab.path(name)).unwrap();
    }
    let ran = lab.run(&["run", ".", "--json", "--no-report"]).succeeded();
    assert_eq!(ran.json().as_array().unwrap().len(), 1);
}

#[test]
fn one_bad_scenario_does_not_stop_the_others() {
    let lab = Lab::new();
    lab.write("all/a-bad.toml", good_but("children      = 3", "children = 0"));
    lab.write("all/b-good.toml", GOOD);
    let ran = lab.run(&["run", "all"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("a-bad.toml:15:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 of 2 scenarios failed"), "{}", ran.stderr);
    assert!(lab.path("reports/b-good/summary.json").is_file());
    assert!(!lab.path("reports/a-bad").exists());
}

#[test]
fn two_scenarios_for_one_folder_are_refused() {
    let lab = Lab::new();
    lab.write("one/good.toml", GOOD);
    lab.write("two/good.toml", GOOD);
    let words = ["one/good.toml and two/good.toml", "both write"];
    lab.refuses(&["run", "one/good.toml", "two/good.toml"], 2, &words);
    lab.refuses(&["run", "one", "two"], 2, &["both write"]);
    lab.refuses(&["run", "-", "-"], 2, &["both write"]);
}

#[test]
fn a_file_in_the_place_of_the_output_folder_is_named() {
    let lab = Lab::with_good();
    lab.write("out", "precious");
    lab.refuses(&["run", "good.toml", "-o", "out"], 3, &["out"]);
    lab.refuses(&["run", "good.toml", "-o", "out/below"], 3, &["out"]);
    lab.refuses(&["build", "good.toml", "-o", "out"], 3, &["out"]);
    assert_eq!(lab.read("out"), "precious");
}

#[test]
fn a_folder_in_the_place_of_a_result_leaves_the_rest_alone() {
    let lab = Lab::with_good();
    fs::create_dir_all(lab.path("out/records.csv")).unwrap();
    lab.refuses(&["run", "good.toml", "-o", "out"], 3, &["records.csv"]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::with_good();
    fs::create_dir(lab.path("locked")).unwrap();
    fs::set_permissions(lab.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if !writes_anywhere(&lab.path("locked")) {
        lab.refuses(&["run", "good.toml", "-o", "locked/x"], 3, &["locked", "ermission"]);
        lab.refuses(&["init", "locked/x.toml"], 3, &["locked", "ermission"]);
    }
    // Nobody can write there.
    lab.refuses(&["run", "good.toml", "-o", "/proc/none/x"], 3, &["/proc/none"]);
    lab.refuses(&["init", "/proc/none/x.toml"], 3, &["/proc/none"]);
}

#[test]
fn a_report_replaces_the_former_and_spares_other_files() {
    let lab = Lab::with_good();
    lab.run(&["run", "good.toml", "-o", "out", "--png"]).succeeded();
    assert!(lab.path("out/charts/timeline.png").is_file(), "{:?}", lab.entries());
    lab.write("out/notes.txt", "mine");
    lab.run(&["run", "good.toml", "-o", "out"]).succeeded();
    assert!(!lab.path("out/charts/timeline.png").exists(), "a stale chart stayed");
    assert_eq!(lab.read("out/notes.txt"), "mine");
    assert!(lab.entries().iter().all(|name| !name.contains(".tmp-")), "{:?}", lab.entries());
}

/// INV-2 from end to end.
#[test]
fn threads_and_places_change_no_byte() {
    let run = |threads: &str| {
        let lab = Lab::with_good();
        let args = ["run", "good.toml", "--png", "--json"];
        let ran = lab.run_with(&args, &[("RAYON_NUM_THREADS", threads)]).succeeded();
        (ran.stdout, contents(&lab.path("reports")))
    };
    let (one, many) = (run("1"), run("4"));
    assert_eq!(one.0, many.0);
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect();
    let (first, second): (Vec<String>, Vec<String>) = (names(&one.1), names(&many.1));
    assert_eq!(first, second);
    assert!(first.len() >= 9, "{first:?}");
    for ((name, bytes), (_, others)) in one.1.iter().zip(&many.1) {
        assert!(bytes == others, "{name} differs");
    }
}
