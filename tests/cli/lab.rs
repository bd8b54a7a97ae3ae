//! A folder of its own for each test, and the command run in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The golden scenario: five children of a warm parent.
pub(crate) const GOOD: &str = r#"version   = 1
title     = "Five children of a warm parent"
model     = "claude-opus-5"
tokenizer = "o200k_base"
seed      = 7

[parent]
tools    = { count = 4, tokens = 1200 }
system   = { tokens = 400 }
history  = { tokens = 3000, turns = 3 }
dispatch = { tokens_per_call = 100 }
cache    = { state = "warm", age_s = 40, ttl = "5m" }

[fork]
children      = 3
directive     = { tokens = 60 }
boilerplate   = "none"
placeholder   = { tokens = 20 }
marker_policy = "cc_tail"

[schedule]
order = "simultaneous"
"#;

/// A temporary folder in which the command runs.
pub(crate) struct Lab {
    folder: TempDir,
}

/// What a command did.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        Lab { folder: TempDir::new().unwrap() }
    }

    /// A lab that holds the good scenario as `good.toml`.
    pub(crate) fn with_good() -> Lab {
        let lab = Lab::new();
        lab.write("good.toml", GOOD);
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command in this folder, with nothing of the caller's settings.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forkcost"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("FORKCOST_") {
                command.env_remove(name);
            }
        }
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs with variables set.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        Ran::of(self.command(args).envs(variables.iter().copied()).output().unwrap())
    }

    /// Runs with a text on the standard input.
    pub(crate) fn run_on(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Ran::of(child.wait_with_output().unwrap())
    }

    /// Every file and folder, sorted, as paths below the lab.
    pub(crate) fn entries(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.folder.path(), self.folder.path(), &mut found);
        found.sort();
        found
    }

    /// Runs what must fail: the exit code, the words on stderr in any order, nothing on stdout,
    /// nothing on disk.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str], code: i32, words: &[&str]) -> Ran {
        let before = self.entries();
        let ran = self.run(args);
        ran.failed(code, words);
        assert_eq!(self.entries(), before, "{args:?} left something on disk");
        ran
    }

    /// Writes `text` as `bad.toml` and runs it.
    #[track_caller]
    pub(crate) fn refuses_scenario(&self, text: impl AsRef<[u8]>, words: &[&str]) -> Ran {
        self.write("bad.toml", text);
        self.refuses(&["run", "bad.toml"], 2, words)
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn failed(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in: {}", self.stderr);
        }
        assert_eq!(self.stdout, "", "a failing command printed a result");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Ran {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.strip_prefix(root).unwrap().display().to_string());
        if path.is_dir() && !path.is_symlink() {
            list(root, &path, found);
        }
    }
}

/// Every file of a folder with its bytes.
pub(crate) fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = Vec::new();
    list(folder, folder, &mut names);
    names.sort();
    let files = names.into_iter().filter(|name| folder.join(name).is_file());
    files.map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap())).collect()
}

/// `GOOD` with one text replaced, which must stand in it.
#[track_caller]
pub(crate) fn good_but(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the good scenario");
    GOOD.replace(from, to)
}

/// True where the test may write anywhere, so that read-only folders prove nothing.
pub(crate) fn writes_anywhere(folder: &Path) -> bool {
    fs::write(folder.join("probe"), "").is_ok() && fs::remove_file(folder.join("probe")).is_ok()
}
