//! Settings: flag, then `FORKCOST_*` variable, then `./forkcost.toml`, then default.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::CliError;

/// The settings file of a folder.
pub const FILE: &str = "forkcost.toml";

/// Settings that a folder may fix for all commands run in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folder for reports.
    pub output: Option<PathBuf>,
    /// Charts as PNG too.
    pub png: Option<bool>,
    /// No messages.
    pub quiet: Option<bool>,
    /// `auto`, `always` or `never`.
    pub color: Option<String>,
}

/// The table in the help text.
pub const HELP: &str = "\
Settings, where no flag says otherwise: a variable, else a key of ./forkcost.toml
  FORKCOST_OUTPUT  output  folder in which each scenario's report has a folder of its own
  FORKCOST_PNG     png     charts as PNG too: true or false
  FORKCOST_QUIET   quiet   results and errors only: true or false
  FORKCOST_COLOR   color   auto, always or never
  FORKCOST_DATA            what ${FORKCOST_DATA} stands for in the paths of a scenario";

impl Config {
    /// The settings of the environment, and where it has none those of `forkcost.toml` in `folder`.
    /// `variable` gives the value of a variable; an empty one counts as not set.
    ///
    /// # Errors
    /// Where the file cannot be read, or a value is not understood.
    pub fn load(
        folder: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Config, CliError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name).map(|value| value.to_string_lossy().into_owned());
        let switch = |name: &str| text(name).map(|value| switch(name, &value)).transpose();
        let file = Config::from_file(&folder.join(FILE))?;
        let color =
            text("FORKCOST_COLOR").map(|value| color("FORKCOST_COLOR", value)).transpose()?;
        Ok(Config {
            output: set("FORKCOST_OUTPUT").map(PathBuf::from).or(file.output),
            png: switch("FORKCOST_PNG")?.or(file.png),
            quiet: switch("FORKCOST_QUIET")?.or(file.quiet),
            color: color.or(file.color),
        })
    }

    /// The defaults where there is no such file.
    fn from_file(path: &Path) -> Result<Config, CliError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Config::default());
            }
            Err(source) => {
                return Err(CliError::Io { action: "read", path: path.to_owned(), source });
            }
        };
        let text = String::from_utf8(bytes)
            .map_err(|_| CliError::Config(format!("{FILE} is not UTF-8 text")))?;
        let config: Config =
            toml::from_str(&text).map_err(|error| CliError::Config(explain(&error)))?;
        let color =
            config.color.map(|value| color(&format!("{FILE}: color"), value)).transpose()?;
        Ok(Config { color, ..config })
    }
}

fn switch(name: &str, value: &str) -> Result<bool, CliError> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        other => Err(CliError::Config(format!(
            "{name} is `{other}`; allowed: true, 1, yes, on, false, 0, no, off"
        ))),
    }
}

fn color(name: &str, value: String) -> Result<String, CliError> {
    match value.as_str() {
        "auto" | "always" | "never" => Ok(value),
        other => {
            Err(CliError::Config(format!("{name} is `{other}`; allowed: auto, always, never")))
        }
    }
}

fn explain(error: &toml::de::Error) -> String {
    format!("{FILE} is not understood; allowed keys: output, png, quiet, color\n{error}")
}
