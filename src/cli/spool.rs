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
    pub(super) fn persist(&mut self, path: &Path) -> Result<(), CliError> {
        let failed = |source| CliError::Io { action: "write", path: path.to_owned(), source };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        // An interruption in between would leave the temporary file behind.
        interrupt::uninterrupted(|| {
            let mut file = temporary().tempfile_in(folder)?;
            self.copy_to(&mut file)?;
            file.persist(path).map_err(|error| error.error).map(drop)
        })
        .map_err(failed)
    }
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
