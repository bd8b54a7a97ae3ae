//! `manifest.toml`: what a report was made from, so that the same report can be made again.
//!
//! Deliberately absent: paths, the clock and the machine, which would make equal runs differ.

use serde::{Deserialize, Serialize};

use crate::report::ReportError;

/// What a report was made from: the shape of `manifest.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of forkcost.
    pub forkcost: String,
    /// File stem of the scenario.
    pub scenario: String,
    /// Fingerprint of the scenario's text.
    pub scenario_hash: String,
    /// Model as billed.
    pub model: String,
    /// Day for which prices and rules were looked up.
    pub date: String,
    /// First day of the prices used.
    pub prices_from: String,
    /// Day on which the prices were last compared with their source.
    pub facts_checked: String,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// `exact` or `estimated`.
    pub exactness: String,
    /// Seed of all synthetic text; a TOML integer, so at most 2^63 - 1.
    pub seed: u64,
    /// Overrides of the cache rules as `key = value`.
    pub rule_overrides: Vec<String>,
    /// The other files of the report, sorted, relative to its folder.
    pub files: Vec<String>,
}

impl Default for Manifest {
    /// Nothing but the version of forkcost.
    fn default() -> Manifest {
        let empty = String::new;
        Manifest {
            forkcost: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: empty(),
            scenario_hash: empty(),
            model: empty(),
            date: empty(),
            prices_from: empty(),
            facts_checked: empty(),
            tokenizer: empty(),
            exactness: empty(),
            seed: 0,
            rule_overrides: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl Manifest {
    /// The text of `manifest.toml` for a report with these files; they are sorted here.
    ///
    /// # Errors
    /// [`ReportError::Manifest`] where a value has no TOML form, e.g. a seed above 2^63 - 1.
    pub fn to_toml<'a>(
        &self,
        files: impl IntoIterator<Item = &'a str>,
    ) -> Result<String, ReportError> {
        let mut manifest = self.clone();
        manifest.files = files.into_iter().map(str::to_owned).collect();
        manifest.files.sort();
        Ok(toml::to_string(&manifest)?)
    }
}

/// The `files` of a manifest's text, whichever version wrote it; none where it is no manifest.
pub(crate) fn listed_files(text: &str) -> Vec<String> {
    let Ok(table) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    let files = table.get("files").and_then(toml::Value::as_array);
    files.into_iter().flatten().filter_map(|file| file.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_text_reads_back_with_sorted_files() {
        let mut manifest = fixtures::manifest();
        manifest.rule_overrides = vec!["lookback = 30".to_owned()];
        let text = manifest.to_toml(["summary.json", "records.csv"]).unwrap();
        manifest.files = vec!["records.csv".to_owned(), "summary.json".to_owned()];
        assert_eq!(toml::from_str::<Manifest>(&text).unwrap(), manifest);
        assert_eq!(listed_files(&text), manifest.files);
        assert!(text.starts_with(&format!("forkcost = \"{}\"\n", env!("CARGO_PKG_VERSION"))));
    }

    #[test]
    fn other_text_lists_no_files() {
        assert!(listed_files("files = 3").is_empty());
        assert!(listed_files("not toml").is_empty());
    }
}
