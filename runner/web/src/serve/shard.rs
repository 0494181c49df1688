//! The files of stored games: which are the latest, and when the tables of a run have changed.

use std::path::PathBuf;

use dc0_core::store::FileEntry;

use super::cache::stamp;
use super::library::{Found, Kind, Library};
use dc0_runs::view::{GameFiles, manifest_files};
use dc0_runs::{Manifest, ShardNote, StepKind, shard_notes};

/// The files of a shard, relative to the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shard {
    /// The games.
    pub(super) games: String,
    /// The searched positions, in self-play.
    pub(super) positions: Option<String>,
    /// What is said of the games, if they were imported.
    pub(super) headers: Option<String>,
    /// The number of games.
    pub(super) count: u64,
}

impl Shard {
    /// The shards among a step's files.
    pub(super) fn all(files: &[FileEntry]) -> Vec<Self> {
        let path = |file: &FileEntry| file.path.clone();
        let shard = |shard: GameFiles<'_>| Self {
            games: path(shard.games),
            positions: shard.positions.map(path),
            headers: shard.headers.map(path),
            count: shard.games.rows,
        };
        GameFiles::among(files).map(shard).collect()
    }

    /// All its files.
    pub(super) fn files(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.games).chain(&self.positions).chain(&self.headers)
    }
}

/// The latest stored shard: of the unfinished step, or else of the last finished one.
pub(super) fn latest(library: &Library, run: &Found) -> Option<Shard> {
    let is_there = |shard: &Shard| shard.files().all(|file| library.file(run, file).is_some());
    let finished = std::iter::once_with(|| finished(library, run)).flatten();
    unfinished(library, run).chain(finished).find(is_there)
}

/// A version that changes when the tables of finished steps do: a digest of their manifests' names, or of a sweep's journal length.
pub(super) fn version(library: &Library, run: &Found) -> String {
    let names: Vec<String> = match run.kind {
        Kind::Run => manifests(library, run).iter().map(|path| path.display().to_string()).collect(),
        Kind::Sweep => {
            let journal = library.own(run.folder.sweep_journal()).and_then(|path| stamp(&path));
            journal.map(|(length, _)| length.to_string()).into_iter().collect()
        }
    };
    blake3::hash(names.join("\n").as_bytes()).to_hex()[..16].to_owned()
}

/// The manifests of finished steps in their order; none if they cannot be listed now.
pub(super) fn manifests(library: &Library, run: &Found) -> Vec<PathBuf> {
    let is_own = library.own(run.folder.steps()).is_some();
    if is_own { manifest_files(&run.folder).unwrap_or_default() } else { Vec::new() }
}

/// Shards of unfinished steps, the latest first. Notes are read lazily: there may be thousands.
fn unfinished(library: &Library, run: &Found) -> impl Iterator<Item = Shard> {
    let notes = shard_notes(&run.folder).into_iter().filter_map(|note| library.own(note));
    let dated = |note: PathBuf| {
        let written = stamp(&note).and_then(|(_, written)| written);
        (written, note.file_name().map(ToOwned::to_owned), note)
    };
    let mut found: Vec<_> = notes.map(dated).collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().flat_map(|(.., note)| Shard::all(&ShardNote::files(&note)))
}

/// The last shards of the last finished steps, the latest first.
fn finished(library: &Library, run: &Found) -> impl Iterator<Item = Shard> {
    let has_games = |path: &PathBuf| {
        let kind = Manifest::kind_of(path).and_then(StepKind::named);
        kind.is_some_and(|kind| kind.content.is_new_games())
    };
    let last = manifests(library, run).into_iter().rev().filter(has_games).take(3);
    let manifests = last.filter_map(|path| Manifest::read(&library.own(path)?).ok());
    manifests.filter_map(|manifest| Shard::all(&manifest.files).pop())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dc0_core::store::FileEntry;
    use serde_json::json;

    use super::{Manifest, Shard, ShardNote, latest, version};
    use crate::serve::library::Found;
    use crate::serve::library::Library;

    fn run(folder: &std::path::Path) -> (Library, Found) {
        for file in [
            "run.json",
            "games/a",
            "positions/a",
            "games/b",
            "positions/b",
            "games/part-aa-00001.parquet",
            "positions/part-aa-00001.parquet",
            "steps/work/aa/shard-00000.parquet",
        ] {
            let path = folder.join("x").join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "{}").expect("a file");
        }
        let library = Library::open(folder).expect("a folder");
        let found = library.find(&["x".to_owned()]).expect("a run");
        (library, found)
    }

    #[test]
    fn the_latest_shard_is_of_the_unfinished_or_the_last_finished_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let (library, run) = run(folder.path());
        let entries = |files: &[&str]| -> Vec<FileEntry> {
            let entry = |path: &&str| FileEntry {
                path: (*path).to_owned(),
                rows: 0,
                bytes: 2,
                blake3: "ab".repeat(32),
            };
            files.iter().map(entry).collect()
        };
        let note = |name: &str, files: &[&str]| {
            let note = ShardNote { files: entries(files), part: json!({ "games": 1 }) };
            note.write(&run.folder.all_work().join("aa").join(name)).expect("a note");
        };
        assert_eq!(latest(&library, &run), None);
        let empty = version(&library, &run);
        let manifest = Manifest {
            version: 1,
            step: "bb".repeat(32),
            kind: "self_play".to_owned(),
            kind_version: 1,
            params: dc0_core::params::Value::group(),
            inputs: Vec::new(),
            seed: 1,
            files: entries(&["games/a", "positions/a", "games/b", "positions/b"]),
            summary: dc0_core::params::Value::group(),
        };
        manifest.write(&run.folder.steps().join(manifest.file_name(1))).expect("a manifest");
        let of_games = |name: &str| Shard {
            games: format!("games/{name}"),
            positions: Some(format!("positions/{name}")),
            headers: None,
            count: 0,
        };
        assert_eq!(latest(&library, &run), Some(of_games("b")));
        assert_ne!(version(&library, &run), empty);
        note("shard-00001.json", &["games/part-aa-00001.parquet", "positions/part-aa-00001.parquet"]);
        assert_eq!(latest(&library, &run), Some(of_games("part-aa-00001.parquet")));
        // Missing files and truncated notes are skipped.
        fs::remove_file(folder.path().join("x/games/part-aa-00001.parquet")).expect("removes");
        note("shard-00000.json", &["steps/work/aa/shard-00000.parquet"]);
        fs::write(folder.path().join("x/steps/work/aa/shard-00002.json"), "{\"files\":[{").expect("writes");
        let of_match = Shard {
            games: "steps/work/aa/shard-00000.parquet".to_owned(),
            positions: None,
            headers: None,
            count: 0,
        };
        assert_eq!(latest(&library, &run), Some(of_match));
    }
}
