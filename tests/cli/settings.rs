//! Settings: a flag, else a variable, else `forkcost.toml`, else the default.

use crate::lab::Lab;

const RUN: [&str; 2] = ["run", "good.toml"];

/// The folders in which a report stands after a run.
fn report_folders(lab: &Lab) -> Vec<String> {
    let files = lab.entries().into_iter();
    files.filter_map(|name| Some(name.strip_suffix("/summary.json")?.to_owned())).collect()
}

fn has_png(lab: &Lab, folder: &str) -> bool {
    lab.path(&format!("{folder}/charts/timeline.png")).is_file()
}

#[test]
fn the_default_folder_is_reports() {
    let lab = Lab::with_good();
    lab.run(&RUN).succeeded();
    assert_eq!(report_folders(&lab), ["reports/good"]);
    assert!(!has_png(&lab, "reports/good"));
}

#[test]
fn the_file_beats_the_default() {
    let lab = Lab::with_good();
    lab.write("forkcost.toml", "output = \"of-file\"\npng = true\n");
    lab.run(&RUN).succeeded();
    assert_eq!(report_folders(&lab), ["of-file/good"]);
    assert!(has_png(&lab, "of-file/good"));
}

#[test]
fn a_variable_beats_the_file() {
    let lab = Lab::with_good();
    lab.write("forkcost.toml", "output = \"of-file\"\npng = true\n");
    let variables = [("FORKCOST_OUTPUT", "of-variable"), ("FORKCOST_PNG", "false")];
    lab.run_with(&RUN, &variables).succeeded();
    assert_eq!(report_folders(&lab), ["of-variable/good"]);
    assert!(!has_png(&lab, "of-variable/good"));
}

#[test]
fn a_flag_beats_the_variable() {
    let lab = Lab::with_good();
    let variables = [("FORKCOST_OUTPUT", "of-variable"), ("FORKCOST_PNG", "0")];
    lab.run_with(&["run", "good.toml", "-o", "of-flag", "--png"], &variables).succeeded();
    assert_eq!(report_folders(&lab), ["of-flag"]);
    assert!(has_png(&lab, "of-flag"));
    lab.run_with(&["run", "good.toml", "--no-report"], &variables).succeeded();
    assert_eq!(report_folders(&lab), ["of-flag"]);
}

#[test]
fn colours_follow_the_same_order() {
    let lab = Lab::with_good();
    let args = ["run", "good.toml", "--no-report"];
    let coloured = |variables: &[(&str, &str)], extra: &[&str]| {
        let args: Vec<&str> = args.iter().chain(extra).copied().collect();
        lab.run_with(&args, variables).succeeded().stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]));
    lab.write("forkcost.toml", "color = \"always\"\n");
    assert!(coloured(&[], &[]));
    assert!(!coloured(&[("FORKCOST_COLOR", "never")], &[]));
    assert!(coloured(&[("FORKCOST_COLOR", "never")], &["--color", "always"]));
}

#[test]
fn quiet_drops_messages_and_keeps_errors() {
    let lab = Lab::new();
    let text = "version = 1\n[parent]\nrequest = \"${FORKCOST_DATA}/x.json\"\n[fork]\n\
                children = 1\ndirective = { tokens = 9 }\n";
    lab.write("all/skipped.toml", text);
    let args = ["run", "all", "--no-report"];
    assert!(lab.run(&args).succeeded().stderr.contains("skipped"));
    assert_eq!(lab.run_with(&args, &[("FORKCOST_QUIET", "1")]).succeeded().stderr, "");
    assert_eq!(lab.run(&["run", "all", "--no-report", "-q"]).succeeded().stderr, "");
    lab.write("forkcost.toml", "quiet = true\n");
    assert_eq!(lab.run(&args).succeeded().stderr, "");
    assert!(lab.run_with(&args, &[("FORKCOST_QUIET", "no")]).succeeded().stderr.contains("skip"));
    lab.write("all/skipped.toml", "version = 1\n");
    assert!(lab.run(&args).stderr.contains("F0104"));
}

#[test]
fn switches_of_variables_have_the_usual_words() {
    let lab = Lab::with_good();
    let args = ["run", "good.toml", "-o", "out"];
    for word in ["1", "true", "TRUE", "yes", "on"] {
        lab.run_with(&args, &[("FORKCOST_PNG", word)]).succeeded();
        assert!(has_png(&lab, "out"), "{word}");
    }
    for word in ["0", "false", "no", "off", ""] {
        lab.run_with(&args, &[("FORKCOST_PNG", word)]).succeeded();
        assert!(!has_png(&lab, "out"), "{word}");
    }
}

#[test]
fn bad_variables_are_named() {
    let lab = Lab::with_good();
    let bad = |name, value| lab.run_with(&RUN, &[(name, value)]);
    bad("FORKCOST_PNG", "maybe").failed(2, &["FORKCOST_PNG is `maybe`", "true"]);
    bad("FORKCOST_QUIET", "2").failed(2, &["FORKCOST_QUIET is `2`"]);
    bad("FORKCOST_COLOR", "pink").failed(2, &["FORKCOST_COLOR is `pink`", "never"]);
    assert_eq!(report_folders(&lab), Vec::<String>::new());
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let lab = Lab::with_good();
    let names = ["FORKCOST_OUTPUT", "FORKCOST_PNG", "FORKCOST_QUIET", "FORKCOST_COLOR"];
    lab.run_with(&RUN, &names.map(|name| (name, ""))).succeeded();
    assert_eq!(report_folders(&lab), ["reports/good"]);
}

#[test]
fn a_bad_settings_file_is_explained() {
    let lab = Lab::with_good();
    let cases: [(&[u8], &[&str]); 6] = [
        (b"outptu = \"x\"\n", &["forkcost.toml", "outptu", "output, png, quiet, color", "line 1"]),
        (b"output = 3\n", &["forkcost.toml", "line 1"]),
        (b"png = \"yes\"\n", &["forkcost.toml", "line 1"]),
        (b"color = \"pink\"\n", &["forkcost.toml", "color is `pink`", "never"]),
        (b"output = \n", &["forkcost.toml", "line 1"]),
        (b"\xff\xfe\n", &["forkcost.toml", "not UTF-8"]),
    ];
    for (bytes, words) in cases {
        lab.write("forkcost.toml", bytes);
        lab.refuses(&RUN, 2, words);
    }
}

#[test]
fn a_folder_in_the_place_of_the_settings_file_is_named() {
    let lab = Lab::with_good();
    lab.write("forkcost.toml/x", "");
    lab.refuses(&RUN, 3, &["forkcost.toml"]);
}
