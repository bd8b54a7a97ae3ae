//! Results that are collected before any of them is shown: nothing half-written is left behind.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use super::error::CliError;
use super::interrupt;

/// A temporary file that nobody else sees.
pub(super) struct Spool {
    file: BufWriter<std::fs::File>,
}

impl Spool {
    /// An empty one.
    pub(super) fn new() -> io::Result<Spool> {
        Ok(Spool { file: BufWriter::with_capacity(1 << 18, tempfile::tempfile()?) })
    }

    /// Writes all of it to `out`.
    pub(super) fn copy_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        io::copy(file, out).map(drop)
    }

    /// Makes it the content of `path`: all or nothing for a file, which may be behind a link; into
    /// pipes and devices it is written as it comes.
    pub(super) fn persist(&mut self, path: &Path) -> Result<(), CliError> {
        let failed = |source| CliError::Io { action: "write", path: path.to_owned(), source };
        let kind = std::fs::metadata(path).map(|metadata| metadata.file_type());
        if kind.as_ref().is_ok_and(|kind| !kind.is_file()) {
            let opened = std::fs::OpenOptions::new().write(true).open(path);
            return opened.and_then(|mut file| self.copy_to(&mut file)).map_err(failed);
        }
        let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        // An interruption in between would leave the temporary file behind.
        interrupt::uninterrupted(|| {
            let without_its_path = |error: io::Error| io::Error::from(error.kind());
            let mut file = temporary().tempfile_in(folder).map_err(without_its_path)?;
            self.copy_to(&mut file)?;
            file.persist(&place).map_err(|error| error.error).map(drop)
        })
        .map_err(failed)
    }
}

/// Whether two paths lead to one file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// Temporary files that may become results: readable as any other file that is written.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
