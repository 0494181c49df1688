//! Journals: files of one JSON object per line, to which lines are only added.
//!
//! The last member of each line is a digest of the line and of the digest of the line before, so that a changed, removed, added or
//! moved line is noticed. Only the last line may be incomplete, because a kill cut it short; it is then dropped.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use dc0_core::{durable, regular};

use super::error::{Remedy, RunError};

/// What surrounds the digest at the end of a line.
const LINK: [&str; 2] = [",\"chain\":\"", "\"}"];

/// Digits of a line's digest.
const DIGITS: usize = 16;

/// The digest of a line, given its members as text and the digest of the line before, which is empty for the first.
fn link(before: &str, members: &str) -> String {
    let mut digest = durable::digest(format!("{before}{members}").as_bytes());
    digest.truncate(DIGITS);
    digest
}

/// The lines of a journal.
#[derive(Debug)]
pub(super) struct Lines<T> {
    /// What they hold.
    pub(super) entries: Vec<T>,
    /// Their length in bytes, without an incomplete last line.
    length: usize,
    /// The digest of the last one.
    last: String,
}

impl<T: DeserializeOwned> Lines<T> {
    /// Reads a journal; one that does not exist has no lines.
    pub(super) fn read(path: &Path, remedy: Remedy) -> Result<Self, RunError> {
        match regular::read(path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Self::parse(&[]),
            read => Self::parse(&read.map_err(RunError::io("read", path))?),
        }
        .map_err(|cause| remedy.damaged(path, cause))
    }

    /// Parses the content of a journal.
    pub(super) fn parse(content: &[u8]) -> Result<Self, String> {
        let length = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (complete, rest) = content.split_at(length);
        let (mut entries, mut last) = (Vec::new(), String::new());
        for (number, line) in (1..).zip(complete.split_inclusive(|byte| *byte == b'\n')) {
            let (members, digest) =
                parts(&line[..line.len() - 1]).map_err(|cause| format!("line {number}: {cause}"))?;
            if link(&last, members) != digest {
                return Err(format!(
                    "line {number}: its digest is {}, not {digest} as written at its end: this line was changed, or one before it \
                     is missing",
                    link(&last, members)
                ));
            }
            let entry = serde_json::from_str(&format!("{members}}}"));
            entries.push(entry.map_err(|cause| format!("line {number}: {cause}"))?);
            digest.clone_into(&mut last);
        }
        // A kill leaves the beginning of a line, and never a whole one with something after it.
        let is_overwritten = rest.len() > 1
            && parts(&rest[..rest.len() - 1]).is_ok_and(|(members, digest)| link(&last, members) == digest);
        if is_overwritten {
            return Err(format!("line {}: it does not end with the end of a line", entries.len() + 1));
        }
        Ok(Self { entries, length, last })
    }
}

/// The lines of a damaged journal that are as they were written. A line is checked against the digest that the line before it ends
/// with, so a damaged line costs itself, and the next one only if that digest is damaged, too.
pub(super) fn salvage<T: DeserializeOwned>(content: &[u8]) -> Vec<T> {
    let mut last = String::new();
    let line = |line: &[u8]| {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n")?);
        let (members, digest) = split(&text)?;
        let before = std::mem::replace(&mut last, digest.to_owned());
        let is_whole = link(&before, members) == digest;
        serde_json::from_str(&format!("{members}}}")).ok().filter(|_| is_whole)
    };
    content.split_inclusive(|byte| *byte == b'\n').filter_map(line).collect()
}

/// The members of a line as text, and its digest.
fn parts(line: &[u8]) -> Result<(&str, &str), String> {
    let text = std::str::from_utf8(line).map_err(|cause| cause.to_string())?;
    split(text).ok_or_else(|| "it does not end with a digest".to_owned())
}

fn split(line: &str) -> Option<(&str, &str)> {
    let parts = line.strip_suffix(LINK[1]).and_then(|text| text.rsplit_once(LINK[0]));
    parts.filter(|(_, digest)| digest.len() == DIGITS)
}

/// A journal that this process writes.
#[derive(Debug)]
pub(super) struct Appender {
    path: PathBuf,
    file: File,
    /// The length of all whole lines, in bytes.
    length: u64,
    /// The digest of the last line.
    last: String,
}

impl Appender {
    /// Opens or creates a journal, and reads its lines. A last line that a kill cut short is removed.
    pub(super) fn open<T: DeserializeOwned>(path: &Path, remedy: Remedy) -> Result<(Self, Vec<T>), RunError> {
        let Lines { entries, length, last } = Lines::read(path, remedy)?;
        let opened = regular::append(path);
        let file = opened.map_err(RunError::io("open", path))?;
        let length = length as u64;
        file.set_len(length).map_err(RunError::io("write", path))?;
        Ok((Self { path: path.to_owned(), file, length, last }, entries))
    }

    /// Adds a line. If it must not be lost in a power cut, it is on disk when this returns.
    pub(super) fn append<T: Serialize>(&mut self, entry: &T, must_last: bool) -> Result<(), RunError> {
        let text = serde_json::to_string(entry).expect("entries have text keys only");
        let members = text.strip_suffix('}').expect("an entry is an object with members");
        let digest = link(&self.last, members);
        let line = format!("{members}{}{digest}{}\n", LINK[0], LINK[1]);
        let written = self.file.write_all(line.as_bytes());
        if let Err(cause) = written.and_then(|()| if must_last { self.file.sync_data() } else { Ok(()) }) {
            // On a full disk a part of the line may have been written. If removing it fails, too, the first error is reported.
            let _ = self.file.set_len(self.length);
            return Err(RunError::io("write", &self.path)(cause));
        }
        self.length += line.len() as u64;
        self.last = digest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::{Appender, Lines, Remedy};

    /// A journal of four lines.
    fn journal() -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        let (mut journal, none) = Appender::open::<Value>(&path, Remedy::Journal).expect("opens");
        assert!(none.is_empty());
        for number in 0..4 {
            journal.append(&json!({ "event": "x", "number": number }), number == 3).expect("writes");
        }
        fs::read(&path).expect("reads")
    }

    fn numbers(content: &[u8]) -> Result<Vec<Value>, String> {
        Lines::<Value>::parse(content)
            .map(|lines| lines.entries.into_iter().map(|entry| entry["number"].clone()).collect())
    }

    #[test]
    fn every_changed_bit_of_a_journal_is_noticed() {
        let whole = journal();
        assert_eq!(numbers(&whole), Ok(vec![json!(0), json!(1), json!(2), json!(3)]));
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(numbers(&bytes).is_err(), "bit {bit}: {:?}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn removed_repeated_and_swapped_lines_are_noticed() {
        let whole = journal();
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        for order in [&[1, 2, 3][..], &[0, 2, 3], &[0, 1, 3], &[0, 0, 1, 2, 3], &[0, 2, 1, 3], &[3, 1, 2, 0]]
        {
            let content: Vec<u8> = order.iter().flat_map(|line| lines[*line]).copied().collect();
            let error = numbers(&content).expect_err("is noticed");
            assert!(error.contains("was changed, or one before it is missing"), "{error}");
        }
    }

    #[test]
    fn the_whole_lines_of_a_damaged_journal_are_salvaged() {
        let whole = journal();
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        let salvaged = |content: &[u8]| -> Vec<u64> {
            let entries: Vec<Value> = super::salvage(content);
            entries.iter().map(|entry| entry["number"].as_u64().expect("a number")).collect()
        };
        assert_eq!(salvaged(&whole), [0, 1, 2, 3]);
        let repeated = [lines[0], lines[1], lines[1], lines[2], lines[3]].concat();
        assert_eq!(salvaged(&repeated), [0, 1, 2, 3]);
        let missing = [lines[0], lines[2], lines[3]].concat();
        assert_eq!(salvaged(&missing), [0, 3]);
        for bit in 0..lines[1].len() * 8 {
            let mut bytes = whole.clone();
            bytes[lines[0].len() + bit / 8] ^= 1 << (bit % 8);
            let left = salvaged(&bytes);
            assert!(left == [0, 2, 3] || left == [0, 3], "bit {bit}: {left:?}");
        }
    }

    #[test]
    fn a_journal_that_is_cut_at_any_byte_goes_on_after_its_last_whole_line() {
        let whole = journal();
        let folder = tempfile::tempdir().expect("a folder");
        for length in 0..whole.len() {
            let path = folder.path().join(length.to_string());
            let cut = &whole[..length];
            fs::write(&path, cut).expect("writes");
            let lines = String::from_utf8_lossy(cut).matches('\n').count();
            let (mut journal, entries) = Appender::open::<Value>(&path, Remedy::Journal).expect("opens");
            assert_eq!(entries.len(), lines, "{length}");
            for number in lines..4 {
                journal.append(&json!({ "event": "x", "number": number }), false).expect("writes");
            }
            assert_eq!(fs::read(&path).expect("reads"), whole, "{length}");
        }
    }
}
