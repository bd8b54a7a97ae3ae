//! A report as files in memory, and how they come to stand in a folder: all or none, never half of
//! one.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crate::analysis::Summary;
use crate::report::charts::{self, ChartInput};
use crate::report::csv::{records_csv, segments_csv};
use crate::report::manifest::listed_files;
use crate::report::markdown::{ChartLink, report_markdown};
use crate::report::{Manifest, ReportError};

const MANIFEST: &str = "manifest.toml";

/// In which forms charts are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// SVG alone.
    Svg,
    /// SVG, and PNG of twice the size beside it.
    SvgAndPng,
}

/// The files of a report: paths relative to its folder with `/` between parts, and their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order in which they are put in place; `manifest.toml` is last.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Report {
    /// Everything a run writes. `summary_json` is the text of `summary.json`, as the caller also
    /// prints it.
    ///
    /// # Errors
    /// [`ReportError`] where rows cannot be written as CSV, a chart has no rows, or the manifest no
    /// TOML form.
    pub fn assemble(
        summary: &Summary,
        summary_json: String,
        input: &ChartInput<'_>,
        manifest: &Manifest,
        images: Images,
    ) -> Result<Report, ReportError> {
        let mut report = Report::default();
        report.push("summary.json", summary_json);
        report.push("records.csv", records_csv(input.records)?);
        report.push("segments.csv", segments_csv(input.segments)?);
        let mut links = Vec::new();
        for chart in charts::ALL {
            let path = format!("charts/{}.svg", chart.name);
            report.push(&path, charts::svg(chart, input)?);
            if images == Images::SvgAndPng {
                report.push(&format!("charts/{}.png", chart.name), charts::png(chart, input)?);
            }
            links.push(ChartLink { title: chart.title.to_owned(), path });
        }
        report.push("report.md", report_markdown(summary, input.segments, &links));
        report.finish(manifest)?;
        Ok(report)
    }

    /// Adds a file before the manifest is made.
    pub fn push(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.push((path.to_owned(), bytes.into()));
    }

    /// Adds or replaces `manifest.toml`, which lists all other files.
    ///
    /// # Errors
    /// [`ReportError::Manifest`] where a value has no TOML form.
    pub fn finish(&mut self, manifest: &Manifest) -> Result<(), ReportError> {
        self.files.retain(|(path, _)| path != MANIFEST);
        let text = manifest.to_toml(self.files.iter().map(|(path, _)| path.as_str()))?;
        self.push(MANIFEST, text);
        Ok(())
    }
}

/// What [`write()`] needs of a file system. A storage that refuses with `Interrupted` stops a run
/// that is being cancelled: what was begun is taken back.
pub trait Storage {
    /// Whether something stands there, and what.
    fn kind(&self, path: &Path) -> Option<EntryKind>;
    /// The text of a file.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn read_text(&mut self, path: &Path) -> io::Result<String>;
    /// Creates a folder whose parent exists.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn create_folder(&mut self, path: &Path) -> io::Result<()>;
    /// Creates a file that must not exist and writes all bytes; on an error a part of it may stand
    /// there.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn create_file(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Puts a file in the place of another, at once.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn remove_file(&mut self, path: &Path) -> io::Result<()>;
    /// Removes a folder that must be empty.
    ///
    /// # Errors
    /// Whatever the file system says.
    fn remove_folder(&mut self, path: &Path) -> io::Result<()>;
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder, or a link to one.
    Folder,
    /// Anything else.
    File,
}

/// The machine's file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    fn kind(&self, path: &Path) -> Option<EntryKind> {
        if path.is_dir() {
            return Some(EntryKind::Folder);
        }
        path.symlink_metadata().is_ok().then_some(EntryKind::File)
    }

    fn read_text(&mut self, path: &Path) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn create_file(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// Writes a report into `dir`, which is created where it is absent. All files are written under
/// temporary names first and then put in place, the manifest last; files that the folder's former
/// manifest lists and this report does not have are removed at the end. Files of other origin stay.
///
/// # Errors
/// [`ReportError::NotAFolder`], [`ReportError::OutsideFolder`], or [`ReportError::Storage`] with
/// the path and the operation; temporary files and folders created on the way are removed before it
/// returns.
pub fn write(dir: &Path, report: &Report, storage: &mut dyn Storage) -> Result<(), ReportError> {
    if storage.kind(dir) == Some(EntryKind::File) {
        return Err(ReportError::NotAFolder { path: dir.to_owned() });
    }
    if let Some((name, _)) = report.files.iter().find(|(name, _)| !stays_inside(name)) {
        return Err(ReportError::OutsideFolder { name: name.clone() });
    }
    let former = storage.read_text(&dir.join(MANIFEST)).unwrap_or_default();
    let mut begun = Begun::default();
    if let Err(error) = place(dir, report, storage, &mut begun) {
        begun.take_back(storage);
        return Err(error);
    }
    let present: BTreeSet<&str> = report.files.iter().map(|(name, _)| name.as_str()).collect();
    for name in listed_files(&former) {
        let path = dir.join(&name);
        let stale = stays_inside(&name) && !present.contains(name.as_str());
        if stale && storage.kind(&path) == Some(EntryKind::File) {
            storage.remove_file(&path).map_err(refused("remove", &path))?;
        }
    }
    Ok(())
}

/// What stands on the disk only because a report is being written.
#[derive(Default)]
struct Begun {
    folders: Vec<PathBuf>,
    temporaries: Vec<PathBuf>,
}

impl Begun {
    /// Removes it all. What cannot be removed is left: the error that led here says more.
    fn take_back(&self, storage: &mut dyn Storage) {
        for path in &self.temporaries {
            let _ = storage.remove_file(path);
        }
        for path in self.folders.iter().rev() {
            let _ = storage.remove_folder(path);
        }
    }
}

fn place(
    dir: &Path,
    report: &Report,
    storage: &mut dyn Storage,
    begun: &mut Begun,
) -> Result<(), ReportError> {
    create_folders(dir, storage, begun)?;
    let mut moves = Vec::new();
    for (name, bytes) in &report.files {
        let path = dir.join(name);
        if storage.kind(&path) == Some(EntryKind::Folder) {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(refused("write", &path)(source));
        }
        if let Some(parent) = path.parent() {
            create_folders(parent, storage, begun)?;
        }
        let temporary = temporary_name(&path);
        if storage.kind(&temporary).is_some() {
            // Left by a killed run whose process number has come round again.
            storage.remove_file(&temporary).map_err(refused("remove", &temporary))?;
        }
        begun.temporaries.push(temporary.clone());
        storage.create_file(&temporary, bytes).map_err(refused("write", &path))?;
        moves.push((temporary, path));
    }
    for (temporary, path) in moves {
        storage.rename(&temporary, &path).map_err(refused("put in place", &path))?;
    }
    Ok(())
}

fn create_folders(
    dir: &Path,
    storage: &mut dyn Storage,
    begun: &mut Begun,
) -> Result<(), ReportError> {
    if dir.as_os_str().is_empty() || storage.kind(dir) == Some(EntryKind::Folder) {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        create_folders(parent, storage, begun)?;
    }
    match storage.create_folder(dir) {
        Ok(()) => begun.folders.push(dir.to_owned()),
        // Another process made it between the look and the call: it is not this run's to take back.
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists
                && storage.kind(dir) == Some(EntryKind::Folder) => {}
        Err(error) => return Err(refused("create folder", dir)(error)),
    }
    Ok(())
}

/// `.NAME.tmp-<process number>` in the same folder, so that the rename stays on one disk.
fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp-{}", std::process::id()))
}

fn stays_inside(name: &str) -> bool {
    let path = Path::new(name);
    !name.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

fn refused(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ReportError {
    let path = path.to_owned();
    move |source| ReportError::Storage { operation, path, source }
}

#[cfg(test)]
mod tests;
