//! Files as streams: their kinds of compression found out by their first bytes, and what can be wrong with a file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::regular;
use thiserror::Error;

/// A file that cannot be imported.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SourceError {
    #[error("cannot read {}: {cause}", file.display())]
    Read { file: PathBuf, cause: io::Error },
    #[error("{} is a folder; give the files in it, such as {}", file.display(), file.join(such_as).display())]
    Folder { file: PathBuf, such_as: &'static str },
    #[error("{} is empty; expected {expected}", file.display())]
    Empty { file: PathBuf, expected: &'static str },
    /// It is of a format that is not read.
    #[error("{} is {format}; {advice}", file.display())]
    Format { file: PathBuf, format: &'static str, advice: &'static str },
    #[error("{} has no games at its beginning; expected PGN, such as \"1. e4 e5 2. Nf3 1-0\", plain or compressed as .zst or .gz", file.display())]
    NotPgn { file: PathBuf },
    #[error(
        "{} {found}; expected training data of lc0: records of version 6 or 7, as they are, as .gz or .zst, or as a .tar of such files",
        file.display()
    )]
    NotLc0 { file: PathBuf, found: String },
    #[error(
        "{} is cut or damaged: {cause} (after {offset} decompressed bytes); get the file again, and import it under another name",
        file.display()
    )]
    Damaged {
        file: PathBuf,
        offset: u64,
        /// What is wrong, such as the decompressor's message.
        cause: io::Error,
    },
    #[error("{} and {} have the same content; give one of them", first.display(), second.display())]
    Twice { first: PathBuf, second: PathBuf },
}

/// The kinds of compression, by the first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Zstd,
    Gzip,
    /// One that is not read: its name, and what to do.
    Other(&'static str, &'static str),
}

impl Packing {
    fn of(head: &[u8]) -> Self {
        const UNPACK: &str = "unpack it first";
        const RECODE: &str = "convert it to UTF-8 first";
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', ..] => Self::Other("compressed with bzip2", UNPACK),
            [0xfd, b'7', b'z', b'X', ..] => Self::Other("compressed with xz", UNPACK),
            [b'P', b'K', 3, 4, ..] => Self::Other("a zip archive", UNPACK),
            [b'7', b'z', 0xbc, 0xaf, ..] => Self::Other("a 7z archive", UNPACK),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Other("UTF-16", RECODE),
            _ => Self::Plain,
        }
    }
}

/// A decoder that reads what `zstd --long` has written, too.
fn with_any_window<R: io::BufRead>(mut decoder: zstd::Decoder<'_, R>) -> io::Result<zstd::Decoder<'_, R>> {
    const LONGEST: u32 = 31;
    decoder.window_log_max(LONGEST)?;
    Ok(decoder)
}

/// Bytes without their compression, found out by their first bytes. What is of a kind that is not read is an error.
pub(super) fn unpacked(bytes: &[u8]) -> io::Result<Box<dyn Read + '_>> {
    Ok(match Packing::of(bytes) {
        Packing::Plain => Box::new(bytes),
        Packing::Zstd => Box::new(with_any_window(zstd::Decoder::with_buffer(bytes)?)?),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
        Packing::Other(format, advice) => return Err(io::Error::other(format!("it is {format}; {advice}"))),
    })
}

/// Counts the bytes that are read.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The decompressed content of a file.
pub struct Content {
    reader: Box<dyn Read + Send>,
    /// Bytes of the file that were read.
    read: Arc<AtomicU64>,
    file: PathBuf,
    /// Decompressed bytes that were read.
    offset: u64,
}

impl Content {
    pub(super) fn open(path: &Path) -> Result<Self, SourceError> {
        let unreadable = |cause| SourceError::Read { file: path.to_owned(), cause };
        let mut head = Vec::new();
        regular::open(path).map_err(unreadable)?.take(4).read_to_end(&mut head).map_err(unreadable)?;
        let read = Arc::new(AtomicU64::new(0));
        let file = Counted { file: regular::open(path).map_err(unreadable)?, read: Arc::clone(&read) };
        let reader: Box<dyn Read + Send> = match Packing::of(&head) {
            Packing::Plain => Box::new(file),
            Packing::Zstd => {
                let decoder = zstd::Decoder::new(file).and_then(with_any_window);
                Box::new(decoder.map_err(unreadable)?)
            }
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))),
            Packing::Other(format, advice) => {
                return Err(SourceError::Format { file: path.to_owned(), format, advice });
            }
        };
        Ok(Self { reader, read, file: path.to_owned(), offset: 0 })
    }

    /// Reads up to `count` more bytes to the end of a buffer; fewer only at the end of the content.
    pub(super) fn read_to(&mut self, buffer: &mut Vec<u8>, count: u64) -> Result<u64, SourceError> {
        let before = buffer.len();
        let result = self.reader.by_ref().take(count).read_to_end(buffer);
        // Also what was read before a fault.
        let read = (buffer.len() - before) as u64;
        self.offset += read;
        result.map_err(|cause| self.damaged(cause))?;
        Ok(read)
    }

    /// Skips bytes, as many as there are.
    pub(super) fn skip(&mut self, count: u64) -> Result<(), SourceError> {
        let skipped = io::copy(&mut self.reader.by_ref().take(count), &mut io::sink());
        self.offset += skipped.map_err(|cause| self.damaged(cause))?;
        Ok(())
    }

    /// Bytes of the file that were read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The error for content that is not as it should be.
    pub(super) fn damaged(&self, cause: io::Error) -> SourceError {
        SourceError::Damaged { file: self.file.clone(), offset: self.offset, cause }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{Content, unpacked};

    /// Content as `zstd --long=30` packs it: a frame with a window of 1 GB (RFC 8878, section 3.1.1), and a last block that is not compressed.
    fn with_long_window(content: &[u8]) -> Vec<u8> {
        let block = (content.len() << 3 | 1).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3], &block[..3], content].concat()
    }

    #[test]
    fn long_windows_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, packed) = (folder.path().join("a.zst"), with_long_window(b"1. e4 1-0"));
        std::fs::write(&path, &packed).expect("writes");
        let mut found = Vec::new();
        Content::open(&path).and_then(|mut content| content.read_to(&mut found, 100)).expect("reads");
        assert_eq!(found, b"1. e4 1-0");
        found.clear();
        unpacked(&packed).and_then(|mut reader| reader.read_to_end(&mut found)).expect("reads");
        assert_eq!(found, b"1. e4 1-0");
    }
}
