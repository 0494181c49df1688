//! The end of a log that grows. Whole lines are given, each once; a log that has become shorter begins anew.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes that are given at once.
const MOST: u64 = 32 * 1024;

/// What came since the last look.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    /// Whether this takes the place of everything before.
    pub(super) is_anew: bool,
    pub(super) text: String,
    /// Where to look the next time.
    pub(super) next: u64,
}

/// Reads on from where the last look ended; without one, the last lines.
pub(super) fn read(path: &Path, from: Option<u64>) -> io::Result<Option<News>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let known = from.filter(|from| *from <= length && length - from <= MOST);
    let start = known.unwrap_or(length.saturating_sub(MOST));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    // The last line may be half written, and a start within the log is in the middle of a line.
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let is_inside = known.is_none() && start > 0;
    let begin =
        if is_inside { bytes.iter().position(|byte| *byte == b'\n').map_or(end, |at| at + 1) } else { 0 };
    let text = String::from_utf8_lossy(&bytes[begin.min(end)..end]).into_owned();
    let is_anew = known.is_none();
    Ok((is_anew || !text.is_empty()).then_some(News { is_anew, text, next: start + end as u64 }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{MOST, read};

    #[test]
    fn whole_lines_are_given_once_and_a_shorter_log_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.log");
        let look = |from| read(&path, from).expect("reads").map(|news| (news.is_anew, news.text, news.next));
        assert!(read(&path, None).is_err());
        fs::write(&path, "one\ntw").expect("writes");
        assert_eq!(look(None), Some((true, "one\n".to_owned(), 4)));
        assert_eq!(look(Some(4)), None);
        fs::write(&path, "one\ntwo\n").expect("writes");
        assert_eq!(look(Some(4)), Some((false, "two\n".to_owned(), 8)));
        fs::write(&path, "x\n").expect("writes");
        assert_eq!(look(Some(8)), Some((true, "x\n".to_owned(), 2)));
    }

    #[test]
    fn of_a_long_log_the_last_whole_lines_are_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.log");
        let line = format!("{}\n", "ü".repeat(50));
        fs::write(&path, line.repeat(1000)).expect("writes");
        let news = read(&path, Some(3)).expect("reads").expect("news");
        assert!(
            news.is_anew && news.text.len() as u64 <= MOST && news.text.lines().all(|of| of.len() == 100)
        );
        assert_eq!(news.next, 101_000);
    }
}
