//! Standard streams and signals: full disks, closed pipes, interruptions.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::lab::{GOOD, Lab, Ran, good_but};

const PRINTING: [&[&str]; 7] = [
    &["run", "good.toml", "--no-report"],
    &["run", "good.toml", "--no-report", "--json"],
    &["build", "good.toml"],
    &["schema"],
    &["man"],
    &["completions", "zsh"],
    &["--help"],
];

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let lab = Lab::with_good();
    for args in PRINTING {
        let mut command = lab.command(args);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(command.stdout(full).output().unwrap());
        assert_eq!(ran.code, Some(3), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("standard output"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let lab = Lab::with_good();
    for args in PRINTING {
        let mut command = lab.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stderr, "", "{args:?}");
    }
}

#[test]
fn a_scenario_comes_from_standard_input() {
    let lab = Lab::with_good();
    let ran = lab.run_on(&["run", "-", "--json"], GOOD.as_bytes()).succeeded();
    assert_eq!(ran.json()["scenario"], "stdin");
    assert_eq!(ran.stdout, lab.read("reports/stdin/summary.json"));
    let from_file = lab.run(&["run", "good.toml", "--json", "--no-report"]).succeeded();
    assert_eq!(ran.json()["totals"], from_file.json()["totals"]);
    lab.run_on(&["build", "-"], GOOD.as_bytes()).succeeded();
    lab.run_on(&["run", "-"], b"").failed(2, &["F0004"]);
    lab.run_on(&["run", "-"], b"\xff\xfe").failed(2, &["F0001"]);
}

#[test]
fn an_interruption_leaves_nothing_half_written() {
    let lab = Lab::new();
    // Long enough to be met in the middle: many children of a long history, under every change.
    let text = good_but("tokens = 3000, turns = 3", "tokens = 400000, turns = 100")
        .replace("children      = 3", "children = 1500");
    lab.write("long.toml", text);
    for wait_ms in [0, 100, 400] {
        let before = lab.entries();
        let mut command = lab.command(&["run", "long.toml", "-o", "out"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        interruptible(child.id());
        sleep(Duration::from_millis(wait_ms));
        interrupt(child.id());
        let ran = Ran::of(child.wait_with_output().unwrap());
        ran.failed(130, &[]);
        assert_eq!(lab.entries(), before);
    }
}

/// Waits until the process has its handler; before that the system's own ends it.
fn interruptible(id: u32) {
    const INTERRUPT_BIT: u64 = 1 << 1;
    for _ in 0..2_000 {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if mask.is_some_and(|mask| mask & INTERRUPT_BIT != 0) {
            return;
        }
        sleep(Duration::from_millis(5));
    }
}

fn interrupt(id: u32) {
    assert!(Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap().success());
}

#[test]
fn an_interruption_is_not_held_up_by_a_reader_that_stands_still() {
    let lab = Lab::with_good();
    let mut command = lab.command(&["build", "good.toml", "--set", "fork.children=300"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"request\":\"parent\""), "{line:.60}");
    // The pipe is full now, and the command waits for its reader.
    interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    reader.read_to_string(&mut line).unwrap();
}
