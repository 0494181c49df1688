//! Answers that are the same for all who ask within a moment, and what was read from files that are the same still: many readers
//! of many runs cost no more than one, and runs that rest cost nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use dc0_process::clock::Stopwatch;

/// How long an answer is good for.
const GOOD: Duration = Duration::from_millis(400);

/// Answers that are kept.
const MOST: usize = 256;

/// Files of which something is kept.
const MOST_FILES: usize = 10_000;

/// Answers by what was asked for.
#[derive(Debug, Default)]
pub(super) struct Memo(Mutex<BTreeMap<String, Entry>>);

type Entry = Arc<Mutex<Option<(Stopwatch, Value)>>>;

impl Memo {
    /// The answer of a moment ago, or a new one. Whoever asks for the same meanwhile waits for it.
    pub(super) fn get(&self, key: &str, make: impl FnOnce() -> Value) -> Value {
        let entry = {
            let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if entries.len() >= MOST && !entries.contains_key(key) {
                entries.clear();
            }
            Arc::clone(entries.entry(key.to_owned()).or_default())
        };
        let mut entry = entry.lock().unwrap_or_else(PoisonError::into_inner);
        match &*entry {
            Some((made, value)) if made.elapsed() < GOOD => value.clone(),
            _ => {
                let value = make();
                *entry = Some((Stopwatch::start(), value.clone()));
                value
            }
        }
    }
}

/// What was made of files, until they change.
#[derive(Debug)]
pub(super) struct Stamped<T>(Mutex<BTreeMap<PathBuf, (Stamp, Arc<T>)>>);

/// Size and time of a file.
pub(super) type Stamp = (u64, Option<SystemTime>);

/// What changes when a file does; `None` where it is not there.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|found| (found.len(), found.modified().ok()))
}

impl<T> Default for Stamped<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Stamped<T> {
    /// What a file holds; `None` where it cannot be read just now.
    pub(super) fn get(&self, path: &Path, make: impl FnOnce(&[u8]) -> T) -> Option<Arc<T>> {
        let stamp = stamp(path)?;
        let known = |files: &BTreeMap<PathBuf, (Stamp, Arc<T>)>| {
            files.get(path).filter(|(known, _)| *known == stamp).map(|(_, made)| Arc::clone(made))
        };
        if let Some(made) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Some(made);
        }
        let made = Arc::new(make(&fs::read(path).ok()?));
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MOST_FILES {
            files.clear();
        }
        files.insert(path.to_owned(), (stamp, Arc::clone(&made)));
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MOST, Memo, Stamped};

    #[test]
    fn the_same_question_is_answered_once_in_a_moment_and_few_answers_are_kept() {
        let memo = Memo::default();
        assert_eq!(memo.get("a", || json!(1)), json!(1));
        assert_eq!(memo.get("b", || json!(3)), json!(3));
        for number in 0..2 * MOST {
            memo.get(&number.to_string(), || json!(number));
        }
        assert!(memo.0.lock().expect("whole").len() <= MOST);
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
