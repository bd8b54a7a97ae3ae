//! From a file, or the text of one, to a [`Scenario`].

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::diagnostic::{Diagnostics, Mistake, Mistakes, code};
use super::files::{self, Context};
use super::source::{Sources, Span};
use super::{Places, Scenario, overrides, resolve, tree};

/// A commented scenario to start from.
pub const STARTER: &str = include_str!("starter.toml");

/// A commented scenario whose parent is the recorded request at `path`.
pub fn starter_from_request(path: &str) -> String {
    let quoted = serde_json::Value::from(path);
    include_str!("starter_from_request.toml").replace("\"@request@\"", &quoted.to_string())
}

/// Largest scenario file in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Why there is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The scenario has mistakes.
    #[error("{0}")]
    Diagnostics(Diagnostics),
    /// The scenario file cannot be read.
    #[error("cannot read the scenario {}: {}", path.display(), describe(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The scenario has no mistake but that it reads from `${FORKCOST_DATA}`, which is not set;
    /// the places are inside.
    #[error("{0}")]
    DataFolderUnset(Diagnostics),
}

fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => {
            "it is a folder; name a .toml file inside it, or the folder to a verb that takes one"
                .to_owned()
        }
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads and checks a scenario file, TOML or JSON, with `overrides` (`--set KEY=VALUE`) in place
/// of its values. Relative paths in it start at its folder.
///
/// # Errors
/// See [`LoadError`]; up to 100 mistakes of one file are reported together.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Scenario, LoadError> {
    let bytes = read(path).map_err(|source| LoadError::Io { path: path.to_owned(), source })?;
    let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    let label = path.display().to_string();
    let base_dir = path.parent().unwrap_or(Path::new(""));
    let text = Text { bytes: &bytes, name: &stem, label: &label };
    scenario(&text, overrides, &Context { base_dir, data_folder: data_folder() })
}

/// Checks the text of a scenario, TOML or JSON, e.g. from standard input (`name` is `stdin`).
/// Relative paths in it start at `base_dir`.
///
/// # Errors
/// See [`LoadError`]; never [`LoadError::Io`].
pub fn parse(
    bytes: &[u8],
    name: &str,
    base_dir: &Path,
    overrides: &[(String, String)],
) -> Result<Scenario, LoadError> {
    let text = Text { bytes, name, label: name };
    scenario(&text, overrides, &Context { base_dir, data_folder: data_folder() })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    // One byte past the limit is enough to see that it is passed, also on an endless device.
    std::fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn data_folder() -> Option<PathBuf> {
    std::env::var_os(files::DATA_FOLDER).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A scenario as it comes in.
pub(super) struct Text<'t> {
    pub(super) bytes: &'t [u8],
    /// File stem.
    pub(super) name: &'t str,
    /// What mistakes name as the file.
    pub(super) label: &'t str,
}

/// Checks a text; all that comes from outside is in `ctx`.
pub(super) fn scenario(
    text: &Text<'_>,
    overrides: &[(String, String)],
    ctx: &Context<'_>,
) -> Result<Scenario, LoadError> {
    let lossy = String::from_utf8_lossy(text.bytes);
    let mut mistakes = Mistakes::new(Sources::new(text.label, &lossy));
    check_text(text, &mut mistakes);
    let table = if mistakes.is_empty() {
        let is_json = text.label.ends_with(".json") || lossy.trim_start().starts_with('{');
        let read = if is_json { tree::from_json } else { tree::from_toml };
        read(&lossy, &mut mistakes)
    } else {
        None
    };
    let scenario = table.and_then(|mut table| {
        overrides::apply(&mut table, overrides, &mut mistakes);
        let scenario = resolve::resolve(&table, text.name, ctx, &mut mistakes)?;
        Some(Scenario { places: Places::of(&table, &mistakes.sources), ..scenario })
    });
    match scenario.filter(|_| mistakes.is_empty()) {
        Some(scenario) => {
            let source_hash = fingerprint(&lossy, overrides);
            Ok(Scenario { source_hash, ..scenario })
        }
        None => Err(refusal(mistakes.into_diagnostics())),
    }
}

fn refusal(diagnostics: Diagnostics) -> LoadError {
    debug_assert!(!diagnostics.0.is_empty(), "no scenario and no mistake");
    if diagnostics.0.iter().all(|diagnostic| diagnostic.code == code::DATA_FOLDER_UNSET) {
        return LoadError::DataFolderUnset(diagnostics);
    }
    LoadError::Diagnostics(diagnostics)
}

/// Identity of the text and its overrides; line endings do not matter.
fn fingerprint(text: &str, overrides: &[(String, String)]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.replace("\r\n", "\n").as_bytes());
    for (key, value) in overrides {
        hasher.update(format!("\n--set {key}={value}").as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn check_text(text: &Text<'_>, mistakes: &mut Mistakes) {
    let bytes = text.bytes;
    let mut refuse = |code, span: Span, message: &str, help: &str| {
        mistakes.add(Mistake {
            code,
            span: &span,
            key: None,
            value: None,
            message: message.to_owned(),
            help: help.to_owned(),
        });
    };
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let help = "name large contents with { file = \"...\" } instead of writing them out";
        refuse(code::TOO_LARGE, 0..0, "a scenario has at most 16 MiB", help);
    } else if bytes.starts_with(b"\xef\xbb\xbf") {
        let help = "save the file as UTF-8 without a byte order mark";
        refuse(code::BYTE_ORDER_MARK, 0..0, "the file starts with a byte order mark", help);
    } else if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        let message = format!("byte {at} is not UTF-8 text");
        let help = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "this is UTF-16; save the file as UTF-8",
            _ => "save the file as UTF-8",
        };
        refuse(code::NOT_UTF8, at..at, &message, help);
    } else if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let help = "delete it; a file full of them is UTF-16 or no text at all";
        refuse(code::NUL, at..at + 1, "the file holds a NUL character", help);
    } else if bytes.trim_ascii().is_empty() {
        let help = "`forkcost init` writes a scenario to start from";
        refuse(code::EMPTY, 0..0, "the file holds no scenario", help);
    }
}
