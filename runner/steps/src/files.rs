//! Reads and writes the files of steps.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use dc0_core::board::Tablebase;
use dc0_core::book::Book;
use dc0_core::event::{Event, Observer};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison;
use dc0_core::search::SearchParams;
use dc0_core::store::{FileEntry, Provenance};
use dc0_core::{durable, regular};

use super::StepError;
use crate::handles::Network;
use dc0_process::format::counted;
use dc0_runs::{Folder, Input, RunError, StepWorkspace};

/// The most lines of a book that a warning names. Chosen.
const LINES: usize = 8;

/// The folder of the states that finished trainings leave.
pub(crate) const TRAINING_STATES: &str = "training_states";

/// Loads a net and checks that it is the one that the run made.
pub(crate) fn load(folder: &Folder, network: &Network) -> Result<Checkpoint, StepError> {
    let loaded = Checkpoint::load(&folder.path(&network.0.file))?;
    if loaded.digest == network.0.digest {
        return Ok(loaded.checkpoint);
    }
    let (file, expected) = (network.0.file.clone(), network.0.digest.clone());
    Err(StepError::OtherNetwork { file, expected, found: loaded.digest })
}

/// Stores a net and returns the entries of its two files, the weights first.
pub(crate) fn save(workspace: &StepWorkspace, net: &Checkpoint) -> Result<Vec<FileEntry>, StepError> {
    let paths = [".safetensors", ".json"].map(|ending| workspace.slot.path("networks", ending));
    net.save(&workspace.folder.path(&paths[0]))?;
    paths.into_iter().map(|path| describe(&workspace.folder, path)).collect()
}

/// Keeps a training's last state with the net that it made.
pub(crate) fn keep_training_state(workspace: &StepWorkspace, state: &Path) -> Result<FileEntry, StepError> {
    let path = workspace.slot.path(TRAINING_STATES, ".safetensors");
    let (content, kept) = (fs::read(state), workspace.folder.path(&path));
    let content = content.map_err(RunError::io("read", state))?;
    durable::write(&kept, &content).map_err(RunError::io("write", &kept))?;
    describe(&workspace.folder, path)
}

fn describe(folder: &Folder, path: String) -> Result<FileEntry, StepError> {
    let full = folder.path(&path);
    let content = fs::read(&full).map_err(RunError::io("read", &full))?;
    Ok(FileEntry { path, rows: 0, bytes: content.len() as u64, blake3: durable::digest(&content) })
}

/// The book of openings that a name stands for, or that a file holds; `plies` of each of its games, or all.
pub(crate) fn book(file: &str, plies: Option<u32>) -> Result<Book, StepError> {
    if let Some(book) = Book::named(file) {
        return Ok(book);
    }
    let content = regular::read(Path::new(file))
        .map_err(|cause| StepError::Openings { file: file.to_owned(), cause })?;
    Ok(Book::read(file, &content, plies.map(|plies| plies as usize))?)
}

/// Warns once of the games that a book leaves out because they are over within the `plies` that are taken.
pub(crate) fn warn_of_finished(book: &Book, file: &str, plies: Option<u32>, observer: &dyn Observer) {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let (finished, Some(plies)) = (book.finished(), plies) else { return };
    let (is, lines) = match finished.len() {
        0 => return,
        1 => ("is", "line"),
        _ => ("are", "lines"),
    };
    let mut numbers: Vec<String> = finished.iter().take(LINES).map(ToString::to_string).collect();
    if finished.len() > LINES {
        numbers.push("…".to_owned());
    }
    let text = format!(
        "{file}: {} {is} over within {} and {is} left out, {lines} {}",
        counted(finished.len(), "game"),
        counted(plies as usize, "ply"),
        numbers.join(", ")
    );
    if WARNED.lock().ignore_poison().insert(text.clone()) {
        observer.event(Event::Warning(&text));
    }
}

/// The tablebases of a search as an input: another set of files in the same folder makes a different step.
pub(crate) fn tablebases(search: &SearchParams) -> Result<Option<Input>, StepError> {
    Ok(search.open_tablebases()?.map(|tables| tablebases_input(&tables)))
}

/// Tablebases of searches as an input.
pub(crate) fn tablebases_input(tables: &Tablebase) -> Input {
    Input { name: "tablebases".to_owned(), digest: tables.digest() }
}

/// The provenance in a table's metadata. Nothing in it depends on time, location or numbering.
pub(crate) fn provenance<const N: usize>(workspace: &StepWorkspace, more: [(&str, &str); N]) -> Provenance {
    let seed = workspace.seed.run.to_string();
    let own = [("step", workspace.identity.digits()), ("seed", seed.as_str())];
    own.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The provenance in a net's JSON file.
pub(crate) fn net_provenance<const N: usize>(workspace: &StepWorkspace, more: [(&str, &str); N]) -> Value {
    let members = provenance(workspace, more).into_iter().map(|(name, value)| (name, Value::Text(value)));
    Value::Group(members.collect())
}

/// The games, positions or updates that are left to do.
pub(crate) fn left(all: u32, done: u64) -> u32 {
    all.saturating_sub(u32::try_from(done).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::{Book, Event, Mutex, Observer, warn_of_finished};

    #[derive(Default)]
    struct Warnings(Mutex<Vec<String>>);

    impl Observer for Warnings {
        fn event(&self, event: Event<'_>) {
            if let Event::Warning(text) = event {
                self.0.lock().expect("no panic").push(text.to_owned());
            }
        }
    }

    #[test]
    fn games_that_a_book_leaves_out_are_warned_of() {
        let mate = "1. f3 e5 2. g4 Qh4# 0-1\n\n";
        let warnings = |mates: usize| {
            let text = format!("{}1. e4 e5 2. d4 d5 3. a3 *\n", mate.repeat(mates));
            let book = Book::read("b.pgn", text.as_bytes(), Some(4)).expect("a book");
            let found = Warnings::default();
            warn_of_finished(&book, "b.pgn", Some(4), &found);
            found.0.into_inner().expect("no panic")
        };
        assert_eq!(warnings(0), [""; 0]);
        assert_eq!(warnings(1), ["b.pgn: 1 game is over within 4 plies and is left out, line 1"]);
        assert_eq!(warnings(2), ["b.pgn: 2 games are over within 4 plies and are left out, lines 1, 3"]);
        assert!(warnings(9)[0].ends_with("and are left out, lines 1, 3, 5, 7, 9, 11, 13, 15, …"));
    }
}
