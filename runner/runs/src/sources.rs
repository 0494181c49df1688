//! The source texts of the scripts in use, so that errors can show the line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use dc0_core::durable;
use dc0_core::poison::IgnorePoison as _;

/// Script texts by the names that errors use.
#[derive(Debug, Default)]
pub struct Sources {
    texts: Mutex<BTreeMap<String, String>>,
    /// Unsaved texts that override their files, by canonical path.
    unsaved: BTreeMap<PathBuf, String>,
}

impl Sources {
    /// Starts with unsaved texts of an editor, which override their files. Files that do not exist are left out.
    pub fn with_unsaved(texts: &BTreeMap<PathBuf, String>) -> Self {
        let canonical = |(file, text): (&PathBuf, &String)| Some((file.canonicalize().ok()?, text.clone()));
        Self { unsaved: texts.iter().filter_map(canonical).collect(), ..Self::default() }
    }

    /// The unsaved text of a file, by its canonical path.
    pub fn unsaved(&self, file: &Path) -> Option<String> {
        self.unsaved.get(file).cloned()
    }

    /// Stores a text under its file's name.
    pub fn keep(&self, name: &str, text: &str) {
        let mut texts = self.texts.lock().ignore_poison();
        texts.insert(name.to_owned(), text.to_owned());
    }

    /// A text by its file's name.
    pub fn text(&self, name: &str) -> Option<String> {
        self.texts.lock().ignore_poison().get(name).cloned()
    }

    /// All texts by name.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.texts.lock().ignore_poison().clone()
    }

    /// A digest of all texts, independent of the files' names and locations.
    pub fn digest(&self) -> String {
        let texts = self.texts();
        let digests: BTreeSet<String> = texts.values().map(|text| durable::digest(text.as_bytes())).collect();
        durable::digest(digests.into_iter().collect::<String>().as_bytes())
    }

    /// The texts of all files but the script `name`, by path relative to its folder, with `/` on every system.
    pub fn imported_by(&self, name: &Path) -> BTreeMap<String, String> {
        let folder = normalised(name.parent().unwrap_or(Path::new("")));
        let own = name.display().to_string();
        let others = self.texts().into_iter().filter(|(other, _)| *other != own);
        let below = |(path, text): (String, String)| {
            let path = Path::new(&path).strip_prefix(&folder).ok()?;
            let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            Some((parts.join("/"), text))
        };
        others.filter_map(below).collect()
    }

    /// One line of a text, counted from 1.
    pub fn line(&self, name: &str, line: usize) -> Option<String> {
        let texts = self.texts.lock().ignore_poison();
        let lines = texts.get(name)?;
        lines.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    }
}

/// Removes `.` and resolves `..` without looking at the file system; a leading `..` stays.
pub fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Sources;

    fn digest(files: &[(&str, &str)]) -> String {
        let sources = Sources::default();
        for (name, text) in files {
            sources.keep(name, text);
        }
        sources.digest()
    }

    #[test]
    fn the_digest_depends_on_texts_but_not_on_names() {
        let both = digest(&[("x.rhai", "let x = 1;"), ("lib/a.rhai", "fn a() {}")]);
        assert_eq!(both, digest(&[("/far/lib/a.rhai", "fn a() {}"), ("/far/x.rhai", "let x = 1;")]));
        assert_ne!(both, digest(&[("x.rhai", "let x = 1;"), ("lib/a.rhai", "fn a() { }")]));
        assert_ne!(both, digest(&[("x.rhai", "let x = 2;"), ("lib/a.rhai", "fn a() {}")]));
        assert_ne!(both, digest(&[("x.rhai", "let x = 1;")]));
    }
}
