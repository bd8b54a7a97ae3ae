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

    /// Puts it in place of `path`: all or nothing, as every file that is written.
    pub(super) fn to_file(&mut self, path: &Path) -> Result<(), CliError> {
        let failed = |source| CliError::Io { action: "write", path: path.to_owned(), source };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        self.copy_to(&mut file).map_err(failed)?;
        interrupt::uninterrupted(|| file.persist(path)).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
