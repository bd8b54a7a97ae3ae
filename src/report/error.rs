//! Why a report could not be made.

use std::io;
use std::path::PathBuf;

/// Why a report could not be made, drawn or written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Rows could not be turned into CSV or back.
    #[error("handle {file}: {reason}")]
    Csv {
        /// Name of the file the rows belong to.
        file: &'static str,
        /// What the CSV library says; for rows read it names the line and the field.
        reason: String,
    },
    /// A chart has no rows to draw.
    #[error("draw {chart}: {missing}")]
    NothingToDraw {
        /// Name of the chart.
        chart: &'static str,
        /// Which rows are missing.
        missing: &'static str,
    },
    /// The drawing library refused.
    #[error("draw a chart: {reason}")]
    Drawing {
        /// What it says.
        reason: String,
    },
    /// The manifest could not be turned into TOML.
    #[error("write manifest.toml: {0}")]
    Manifest(#[from] toml::ser::Error),
    /// The folder to write to is a file.
    #[error("write a report to {path}: it is a file; name a folder with -o, or move the file away")]
    NotAFolder {
        /// The path asked for.
        path: PathBuf,
    },
    /// A file of the report would lie outside the folder.
    #[error("write {name}: a report holds relative paths below its folder only")]
    OutsideFolder {
        /// The path asked for.
        name: String,
    },
    /// The file system refused.
    #[error("{operation} {path}: {source}; {}", remedy(.source))]
    Storage {
        /// What was tried, e.g. `write`.
        operation: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// What the user can do about a refusal of the file system.
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "choose another folder with -o, or change its rights",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space, or choose another disk with -o; nothing half-written was left"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a folder on a writable disk with -o",
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            "a file and a folder have the same name: move one away, or choose another with -o"
        }
        io::ErrorKind::Interrupted => "run it again; nothing half-written was left",
        // `ErrorKind` is open, so there is no closed match.
        _ => "choose another folder with -o; nothing half-written was left",
    }
}
