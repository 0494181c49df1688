//! The texts of the scripts in use, so that an error can show its line.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Script texts by the name an error gives them.
#[derive(Debug, Default)]
pub struct Sources(Mutex<BTreeMap<String, String>>);

impl Sources {
    /// Keeps a text under the name of its file.
    pub fn keep(&self, name: &str, text: &str) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.insert(name.to_owned(), text.to_owned());
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All texts by name.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One line of a text, counted from 1.
    pub fn line(&self, name: &str, line: usize) -> Option<String> {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = texts.get(name)?;
        lines.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }
}
