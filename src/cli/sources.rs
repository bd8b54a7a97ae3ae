//! Which scenarios a command line names, and what to call them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::config;
use super::error::CliError;
use crate::scenario::{self, Scenario};

/// One scenario to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Path as given, or `-`.
    pub(super) path: PathBuf,
    /// Folder of its report below the output folder: the file stem, or the path below the folder
    /// that was named.
    pub(super) report: PathBuf,
    /// True where it was found in a folder, not named itself.
    pub(super) found: bool,
}

/// Files in TOML that are no scenarios: the settings of a folder, and what a run writes into each
/// report.
const OTHER_FILES: [&str; 2] = [config::FILE, "manifest.toml"];

/// The scenarios behind the paths of a command line, in order; folders give all `.toml` files in
/// and below them but [`OTHER_FILES`].
///
/// # Errors
/// Where a folder cannot be read or holds no scenario, or two scenarios would share a report
/// folder.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<Source>, CliError> {
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = sources.len();
            in_folder(path, Path::new(""), &mut sources)?;
            if sources.len() == before {
                return Err(CliError::Usage {
                    message: format!(
                        "{} holds no scenario (no file ends in .toml)",
                        path.display()
                    ),
                    help: "name a scenario file, or write one with `forkcost init`".to_owned(),
                });
            }
        } else {
            let stem = if path.as_os_str() == "-" { "stdin".into() } else { stem(path) };
            sources.push(Source { path: path.clone(), report: stem, found: false });
        }
    }
    one_folder_each(&sources)?;
    Ok(sources)
}

fn stem(path: &Path) -> PathBuf {
    path.file_stem().map_or_else(|| PathBuf::from("scenario"), PathBuf::from)
}

fn in_folder(root: &Path, below: &Path, sources: &mut Vec<Source>) -> Result<(), CliError> {
    let folder = root.join(below);
    let failed = |source| CliError::Io { action: "read", path: folder.clone(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A link to a folder is not followed: it may lead back to where it stands.
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        let is_linked_folder = !is_folder && entry.path().is_dir();
        if !is_linked_folder && !OTHER_FILES.iter().any(|other| entry.file_name() == *other) {
            names.push((entry.file_name(), is_folder));
        }
    }
    names.sort();
    for (name, is_folder) in names {
        let below = below.join(&name);
        if is_folder {
            in_folder(root, &below, sources)?;
        } else if below.extension().is_some_and(|extension| extension == "toml") {
            let report = below.with_extension("");
            sources.push(Source { path: root.join(&below), report, found: true });
        }
    }
    Ok(())
}

fn one_folder_each(sources: &[Source]) -> Result<(), CliError> {
    let mut taken: BTreeMap<&Path, &Path> = BTreeMap::new();
    for source in sources {
        if let Some(other) = taken.insert(&source.report, &source.path) {
            return Err(CliError::Usage {
                message: format!(
                    "{} and {} would both write to the report folder {}",
                    other.display(),
                    source.path.display(),
                    source.report.display()
                ),
                help: "run them one by one with different -o, or rename one".to_owned(),
            });
        }
    }
    Ok(())
}

/// Reads `KEY=VALUE`.
pub(super) fn parse_override(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        Some(_) | None => Err("KEY=VALUE expected, e.g. fork.children=8".to_owned()),
    }
}

/// Loads one scenario with changes from the command line.
pub(super) fn load(source: &Source, overrides: &[(String, String)]) -> Result<Scenario, CliError> {
    if source.path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|source| CliError::Io { action: "read", path: "-".into(), source })?;
        return Ok(scenario::parse(&bytes, "stdin", Path::new("."), overrides)?);
    }
    Ok(scenario::load(&source.path, overrides)?)
}
