//! Tests of the whole way from text to scenario, against the models that come with the tool.

mod bad_input;
mod documents;
mod files;
mod good_input;

use std::path::Path;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::files::Context;
use super::load::{LoadError, Text, scenario};
use super::{Scenario, ToolsSpec};

/// Loads a text as the file `folder/s.toml`; the data folder is `data`, where one is given.
fn load_in(
    text: &[u8],
    overrides: &[(&str, &str)],
    base_dir: &Path,
    data: Option<&Path>,
) -> Result<Scenario, LoadError> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let overrides: Vec<(String, String)> = overrides.iter().map(owned).collect();
    let data_folder = data.map(Path::to_owned);
    let ctx = Context { base_dir, data_folder };
    scenario(&Text { bytes: text, name: "s", label: "s.toml" }, &overrides, &ctx)
}

fn load(text: &str) -> Result<Scenario, LoadError> {
    load_in(text.as_bytes(), &[], Path::new("no-such-folder"), None)
}

fn good(text: &str) -> Scenario {
    load(text).unwrap_or_else(|error| panic!("{error}"))
}

fn mistakes_of(result: Result<Scenario, LoadError>) -> Vec<Diagnostic> {
    match result {
        Ok(_) => panic!("the scenario was accepted"),
        Err(
            LoadError::Diagnostics(Diagnostics(found))
            | LoadError::DataFolderUnset(Diagnostics(found)),
        ) => found,
        Err(error @ LoadError::Io { .. }) => panic!("{error}"),
    }
}

/// A scenario with nothing but what is required, and `more` behind it.
fn minimal(more: &str) -> String {
    format!(
        "version = 1\nmodel = \"claude-opus-5\"\nparent.history = {{ tokens = 30000 }}\n\
         fork.children = 5\nfork.directive = {{ tokens = 200 }}\n{more}"
    )
}

fn tool_count(scenario: &Scenario) -> u64 {
    match &scenario.parent.prompt {
        super::ParentPrompt::Parts { tools: ToolsSpec::Sized { count, .. }, .. } => *count,
        super::ParentPrompt::Parts { tools: ToolsSpec::Given(tools), .. } => tools.len() as u64,
        super::ParentPrompt::Request(_) => 0,
    }
}
