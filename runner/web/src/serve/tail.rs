//! Follows a growing log. Whole lines are returned, each once; a log that has become shorter starts over.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use dc0_core::regular;

/// Bytes that are returned at once.
const MAX_BYTES: u64 = 32 * 1024;

/// New text of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LogText {
    /// Whether this replaces everything before.
    pub(super) is_reset: bool,
    pub(super) text: String,
    /// The offset to read from the next time.
    pub(super) next: u64,
}

/// Reads on from the offset where the last read ended; without one, the last lines.
pub(super) fn read(path: &Path, from: Option<u64>) -> io::Result<Option<LogText>> {
    let mut file = regular::open(path)?;
    let length = file.metadata()?.len();
    let known = from.filter(|from| *from <= length && length - from <= MAX_BYTES);
    let start = known.unwrap_or(length.saturating_sub(MAX_BYTES));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    // The last line may be half written, and a start within the log is in the middle of a line.
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
    let is_inside = known.is_none() && start > 0;
    let begin = if is_inside {
        bytes.iter().position(|byte| *byte == b'\n').map_or(end, |index| index + 1)
    } else {
        0
    };
    let text = String::from_utf8_lossy(&bytes[begin.min(end)..end]).into_owned();
    let is_reset = known.is_none();
    Ok((is_reset || !text.is_empty()).then_some(LogText { is_reset, text, next: start + end as u64 }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{MAX_BYTES, read};

    #[test]
    fn whole_lines_are_returned_once_and_a_shorter_log_starts_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.log");
        let read_from =
            |from| read(&path, from).expect("reads").map(|new| (new.is_reset, new.text, new.next));
        assert!(read(&path, None).is_err());
        fs::write(&path, "one\ntw").expect("writes");
        assert_eq!(read_from(None), Some((true, "one\n".to_owned(), 4)));
        assert_eq!(read_from(Some(4)), None);
        fs::write(&path, "one\ntwo\n").expect("writes");
        assert_eq!(read_from(Some(4)), Some((false, "two\n".to_owned(), 8)));
        fs::write(&path, "x\n").expect("writes");
        assert_eq!(read_from(Some(8)), Some((true, "x\n".to_owned(), 2)));
    }

    #[test]
    fn the_last_whole_lines_of_a_long_log_are_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.log");
        let line = format!("{}\n", "ü".repeat(50));
        fs::write(&path, line.repeat(1000)).expect("writes");
        let new = read(&path, Some(3)).expect("reads").expect("text");
        assert!(
            new.is_reset
                && new.text.len() as u64 <= MAX_BYTES
                && new.text.lines().all(|line| line.len() == 100)
        );
        assert_eq!(new.next, 101_000);
    }
}
