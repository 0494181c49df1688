//! Two caches: answers for a short time, and file contents until the file changes. Many readers of many runs cost no more than one,
//! and idle runs cost nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use dc0_core::poison::IgnorePoison as _;
use dc0_core::regular;
use dc0_process::clock::Stopwatch;

/// How long an answer is valid.
const LIFETIME: Duration = Duration::from_millis(400);

/// Answers that are kept.
const MAX_ANSWERS: usize = 256;

/// Files whose values are kept.
const MAX_FILES: usize = 10_000;

/// Recent answers by key.
#[derive(Debug, Default)]
pub(super) struct Memo(Mutex<BTreeMap<String, Entry>>);

type Entry = Arc<Mutex<Option<(Stopwatch, Value)>>>;

impl Memo {
    /// The recent answer, or a new one. Concurrent callers with the same key wait for it.
    pub(super) fn get(&self, key: &str, make: impl FnOnce() -> Value) -> Value {
        let entry = {
            let mut entries = self.0.lock().ignore_poison();
            if entries.len() >= MAX_ANSWERS && !entries.contains_key(key) {
                entries.clear();
            }
            Arc::clone(entries.entry(key.to_owned()).or_default())
        };
        let mut entry = entry.lock().ignore_poison();
        match &*entry {
            Some((made, value)) if made.elapsed() < LIFETIME => value.clone(),
            _ => {
                let value = make();
                *entry = Some((Stopwatch::start(), value.clone()));
                value
            }
        }
    }
}

/// Values computed from files, kept until the files change.
#[derive(Debug)]
pub(super) struct Stamped<T>(Mutex<BTreeMap<PathBuf, (Stamp, Arc<T>)>>);

/// Size and modification time of a file.
pub(super) type Stamp = (u64, Option<SystemTime>);

/// A file's stamp, which changes when the file does; `None` where there is no such file.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|found| (found.len(), found.modified().ok()))
}

impl<T> Default for Stamped<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Stamped<T> {
    /// The value of a file; `None` where the file cannot be read now.
    pub(super) fn get(&self, path: &Path, make: impl FnOnce(&[u8]) -> T) -> Option<Arc<T>> {
        let stamp = stamp(path)?;
        let known = |files: &BTreeMap<PathBuf, (Stamp, Arc<T>)>| {
            files.get(path).filter(|(known, _)| *known == stamp).map(|(_, made)| Arc::clone(made))
        };
        if let Some(made) = known(&self.0.lock().ignore_poison()) {
            return Some(made);
        }
        let made = Arc::new(make(&regular::read(path).ok()?));
        let mut files = self.0.lock().ignore_poison();
        if files.len() >= MAX_FILES {
            files.clear();
        }
        files.insert(path.to_owned(), (stamp, Arc::clone(&made)));
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_ANSWERS, Memo, Stamped};

    #[test]
    fn the_number_of_kept_answers_is_limited() {
        let memo = Memo::default();
        assert_eq!(memo.get("a", || json!(1)), json!(1));
        assert_eq!(memo.get("b", || json!(3)), json!(3));
        for number in 0..2 * MAX_ANSWERS {
            memo.get(&number.to_string(), || json!(number));
        }
        assert!(memo.0.lock().expect("not poisoned").len() <= MAX_ANSWERS);
    }

    #[cfg(unix)]
    #[test]
    fn a_fifo_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        assert!(Stamped::default().get(&path, <[u8]>::len).is_none());
        assert!(crate::serve::tail::read(&path, None).is_err());
    }

    #[test]
    fn a_file_is_read_again_only_when_it_has_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let files = Stamped::default();
        assert!(files.get(&path, <[u8]>::len).is_none());
        std::fs::write(&path, "one").expect("writes");
        assert_eq!(files.get(&path, <[u8]>::len).as_deref(), Some(&3));
        assert_eq!(files.get(&path, |_| panic!("read again")).as_deref(), Some(&3));
        std::fs::write(&path, "four").expect("writes");
        assert_eq!(files.get(&path, <[u8]>::len).as_deref(), Some(&4));
    }
}
