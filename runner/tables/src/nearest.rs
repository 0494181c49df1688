//! Suggests existing runs for an unknown name.

use std::fs;
use std::path::Path;

use dc0_runs::Folder;
use strsim::damerau_levenshtein;

/// The most names suggested.
const SUGGESTED: usize = 3;

/// A clause that names the runs in a folder with the most similar names; empty if there are none.
pub(super) fn hint(parent: &Path, name: &str) -> String {
    let mut names = runs_in(parent);
    names.sort_by_key(|known| (damerau_levenshtein(known, name), known.clone()));
    names.truncate(SUGGESTED);
    if names.is_empty() { String::new() } else { format!("; there are {}", names.join(", ")) }
}

fn runs_in(parent: &Path) -> Vec<String> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| Folder::at(&entry.path()).kind().is_some());
    folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn the_nearest_runs_are_suggested() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["first", "second", "firsts", "other"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
            std::fs::write(folder.path().join(name).join("run.json"), "{}").expect("a file");
        }
        std::fs::create_dir(folder.path().join("fist")).expect("a folder that is not a run");
        assert_eq!(hint(folder.path(), "fist"), "; there are first, firsts, other");
        assert_eq!(hint(&folder.path().join("none"), "x"), "");
    }
}
