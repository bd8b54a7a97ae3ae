//! Where a trace is read from: a file, the standard input, or bytes; gzip and zstd are told by
//! their first bytes.
//!
//! A trace may be read twice (to learn sizes, or to sort), so what cannot be read again, a pipe or
//! a compressed file, is written to a temporary file first.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// Longest line that is read, in bytes: twice the largest request that an API accepts.
pub const LINE_BYTES_MAX: usize = 64 * 1_048_576;

/// Most bytes that a compressed trace may unpack to.
pub const UNPACKED_BYTES_MAX: u64 = 1 << 40;

/// A trace that can be read from its beginning as often as needed.
#[derive(Debug)]
pub struct Source {
    name: String,
    stored: Stored,
}

#[derive(Debug)]
enum Stored {
    File(File),
    Bytes(Arc<[u8]>),
}

impl Source {
    /// Opens a file, or the standard input where `path` is `-`.
    ///
    /// # Errors
    /// Where it cannot be read or unpacked.
    pub fn open(path: &Path) -> io::Result<Source> {
        if path.as_os_str() == "-" {
            return Source::stored("stdin".to_owned(), io::stdin().lock());
        }
        let name = path.display().to_string();
        let mut file = File::open(path)?;
        let mut first = [0; 4];
        let length = read_up_to(&mut file, &mut first)?;
        file.seek(SeekFrom::Start(0))?;
        // A pipe by name cannot be read twice either.
        if packing(&first[..length]).is_some() || !file.metadata()?.is_file() {
            return Source::stored(name, file);
        }
        Ok(Source { name, stored: Stored::File(file) })
    }

    /// A trace in memory, not compressed.
    pub fn of_bytes(name: &str, bytes: impl Into<Arc<[u8]>>) -> Source {
        Source { name: name.to_owned(), stored: Stored::Bytes(bytes.into()) }
    }

    /// Unpacks a stream into a temporary file that nobody else sees.
    fn stored(name: String, stream: impl Read) -> io::Result<Source> {
        let mut stream = BufReader::new(stream);
        let mut file = tempfile::tempfile()?;
        match packing(stream.fill_buf()?) {
            None => copy(&mut stream, &mut file)?,
            Some(Packing::Gzip) => {
                copy(&mut flate2::bufread::MultiGzDecoder::new(stream), &mut file)?
            }
            Some(Packing::Zstd) => unpack_zstd(&mut stream, &mut file)?,
        }
        Ok(Source { name, stored: Stored::File(file) })
    }

    /// What it is called in messages: the path as given, or `stdin`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its lines from the beginning. Only the latest of several is to be read on.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn lines(&self) -> io::Result<Lines> {
        let mut reader: Box<dyn ReadSeek> = match &self.stored {
            Stored::File(file) => Box::new(file.try_clone()?),
            Stored::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        reader.seek(SeekFrom::Start(0))?;
        let reader = BufReader::with_capacity(1 << 18, reader);
        Ok(Lines { reader, buffer: Vec::new(), offset: 0, next: 1 })
    }
}

/// What lines are read from.
trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

fn packing(first: &[u8]) -> Option<Packing> {
    if first.starts_with(&[0x1f, 0x8b]) {
        Some(Packing::Gzip)
    } else if first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some(Packing::Zstd)
    } else {
        None
    }
}

fn read_up_to(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match reader.read(&mut bytes[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let copied = io::copy(&mut from.take(UNPACKED_BYTES_MAX), to)?;
    if copied == UNPACKED_BYTES_MAX {
        let text = format!("unpacks to more than {UNPACKED_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(())
}

/// Frame after frame: tools that append to a compressed file write several.
fn unpack_zstd(stream: &mut impl BufRead, file: &mut File) -> io::Result<()> {
    while !stream.fill_buf()?.is_empty() {
        let mut frame = ruzstd::decoding::StreamingDecoder::new(&mut *stream)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        copy(&mut frame, file)?;
    }
    Ok(())
}

/// The lines of a trace.
pub struct Lines {
    reader: BufReader<Box<dyn ReadSeek>>,
    buffer: Vec<u8>,
    offset: u64,
    next: u64,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Byte offset of its beginning.
    pub offset: u64,
    /// Its bytes without the line end.
    pub bytes: &'a [u8],
    /// Whether a line end follows; only the last line may lack it.
    pub ended: bool,
}

impl Lines {
    /// Goes to byte `offset`, which is the beginning of line `number`.
    ///
    /// # Errors
    /// Where the trace cannot be read there.
    pub fn go_to(&mut self, offset: u64, number: u64) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(offset))?;
        (self.offset, self.next) = (offset, number);
        Ok(())
    }

    /// The next line that is not blank; `None` at the end.
    ///
    /// # Errors
    /// Where reading fails, or a line is longer than [`LINE_BYTES_MAX`].
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            let limit = LINE_BYTES_MAX as u64 + 1;
            let read = (&mut self.reader).take(limit).read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            let (number, offset) = (self.next, self.offset);
            if read as u64 == limit {
                let text = format!(
                    "line {number} is longer than {LINE_BYTES_MAX} bytes: one request a line is \
                     expected"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            self.next += 1;
            self.offset += read as u64;
            if self.buffer.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let ended = self.buffer.last() == Some(&b'\n');
            let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
            let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
            return Ok(Some(Line { number, offset, bytes, ended }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"one\n\n  \r\ntwo\r\nthree";

    fn read(source: &Source) -> Vec<(u64, u64, String, bool)> {
        let mut lines = source.lines().unwrap();
        let mut read = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            let text = String::from_utf8(line.bytes.to_vec()).unwrap();
            read.push((line.number, line.offset, text, line.ended));
        }
        read
    }

    fn expected() -> Vec<(u64, u64, String, bool)> {
        let line = |number, offset, text: &str, ended| (number, offset, text.to_owned(), ended);
        vec![line(1, 0, "one", true), line(4, 9, "two", true), line(5, 14, "three", false)]
    }

    #[test]
    fn blank_lines_are_skipped_and_counted() {
        let source = Source::of_bytes("x", TEXT);
        assert_eq!(read(&source), expected());
        // A second look begins at the beginning.
        assert_eq!(read(&source), expected());
        let mut rest = source.lines().unwrap();
        rest.go_to(9, 4).unwrap();
        assert_eq!(rest.next_line().unwrap().unwrap().bytes, b"two");
    }

    #[test]
    fn compressed_files_are_told_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let mut gzip = Vec::new();
        for part in [&TEXT[..5], &TEXT[5..]] {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(part).unwrap();
            gzip.extend(encoder.finish().unwrap());
        }
        let zstd = |part: &[u8]| {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            ruzstd::encoding::compress_to_vec(part, level)
        };
        let zstd = [zstd(&TEXT[..5]), zstd(&TEXT[5..])].concat();
        for bytes in [TEXT.to_vec(), gzip, zstd] {
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(read(&Source::open(&path).unwrap()), expected());
        }
    }

    #[test]
    fn a_damaged_archive_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.gz");
        for bytes in [&[0x1f, 0x8b, 8, 0, 0][..], &[0x28, 0xb5, 0x2f, 0xfd, 9, 9][..]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(Source::open(&path).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let source = Source::of_bytes("x", vec![b'x'; LINE_BYTES_MAX + 1]);
        let error = source.lines().unwrap().next_line().unwrap_err();
        assert!(error.to_string().contains("line 1 is longer"), "{error}");
    }
}
