//! The script of a run as last opened: its text, the files it imports, and the values from the command line. Together with
//! the run's record this determines all steps of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value as Json;

use dc0_core::params::Value;
use dc0_core::{durable, regular};

use super::differences::differences;
use super::error::RunError;
use super::files::{is_unfinished, names_if_there};
use super::folder::Folder;
use super::history::{History, JournalEntry, JournalEvent};
use super::record::{Record, ScriptRecord};

/// A script with its imports and parameters, as it opened a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptSnapshot {
    /// The script.
    pub script: ScriptRecord,
    /// The texts of the imported files, by path relative to the script's folder.
    pub modules: BTreeMap<String, String>,
    /// The declared parameters with their values.
    pub params: Value,
    /// The command line's values for them, as typed; `None` if the program that opened the run did not store them.
    pub given: Option<BTreeMap<String, String>>,
    /// The program's version.
    pub dc0: String,
    /// Versions of libraries and features of the processor.
    pub libraries: String,
    /// How many versions of script and parameters the run was opened with; 1 if they never changed.
    pub versions: usize,
}

/// A journal entry that opens the run, with the imports that follow it.
#[derive(Debug)]
struct Opening<'a> {
    entry: &'a JournalEntry,
    /// Digests of the modules by path.
    modules: BTreeMap<String, String>,
}

impl ScriptSnapshot {
    /// The last snapshot of a run; that of its creation if the journal is lost.
    pub fn last(folder: &Folder, record: &Record, history: &History) -> Result<Self, RunError> {
        let openings = openings(history);
        let lines = openings.iter().map(|opening| opening.entry.json());
        let mut versions: Vec<(&Json, &Json)> =
            lines.map(|line| (&line["script"], &line["params"])).collect();
        versions.sort_by_key(|(script, params)| (script.to_string(), params.to_string()));
        versions.dedup();
        let Some(Opening { entry, modules }) = openings.last() else {
            return Ok(Self::created(record));
        };
        let text = |name: &str| entry.text(name).unwrap_or_default().to_owned();
        let module = |(path, digest): (&String, &String)| Ok((path.clone(), stored_text(folder, digest)?));
        Ok(Self {
            script: script(folder, record, &text("script"))?,
            modules: modules.iter().map(module).collect::<Result<_, RunError>>()?,
            params: entry.member("params").unwrap_or_else(Value::group),
            given: entry.member("given"),
            dc0: text("dc0"),
            libraries: text("libraries"),
            versions: versions.len().max(1),
        })
    }

    fn created(record: &Record) -> Self {
        Self {
            script: record.script.clone(),
            modules: record.modules.clone(),
            params: record.params.clone(),
            given: record.given.clone(),
            dc0: record.environment.dc0.clone(),
            libraries: record.environment.libraries.clone(),
            versions: 1,
        }
    }
}

/// All openings of the run, in order.
fn openings(history: &History) -> Vec<Opening<'_>> {
    let mut openings: Vec<Opening<'_>> = Vec::new();
    for entry in history.entries() {
        match entry.event() {
            Some(JournalEvent::Created | JournalEvent::Opened) => {
                let modules = entry.member("modules").unwrap_or_default();
                openings.push(Opening { entry, modules });
            }
            Some(JournalEvent::Imported) => {
                let pair = entry.text("module").zip(entry.text("blake3"));
                if let (Some(opening), Some((path, digest))) = (openings.last_mut(), pair) {
                    opening.modules.insert(path.to_owned(), digest.to_owned());
                }
            }
            _ => {}
        }
    }
    openings
}

/// The digests of all scripts and modules with which the run was opened.
fn stored_digests(history: &History) -> BTreeSet<String> {
    let openings = openings(history);
    let scripts = openings.iter().filter_map(|opening| opening.entry.text("script").map(ToOwned::to_owned));
    scripts.chain(openings.iter().flat_map(|opening| opening.modules.values().cloned())).collect()
}

/// What differs between a script and the one that last opened the run, for people: the script, files that it imports, and parameters with
/// both values. Nothing if the journal is lost.
pub(super) fn changes(history: &History, now: &Record) -> Vec<String> {
    let Some(Opening { entry, modules }) = openings(history).pop() else { return Vec::new() };
    let mut changes = Vec::new();
    if entry.text("script") != Some(now.script.blake3.as_str()) {
        changes.push("the script".to_owned());
    }
    let is_changed = |(path, text): &(&String, &String)| {
        modules.get(*path).is_some_and(|before| *before != durable::digest(text.as_bytes()))
    };
    changes.extend(now.modules.iter().filter(is_changed).map(|(path, _)| path.clone()));
    let before = entry.member("params").unwrap_or_else(Value::group);
    changes.extend(differences(&before, &now.params).iter().map(ToString::to_string));
    changes
}

/// What is wrong with the stored scripts and modules, which are named by their digests, each with its file. The journal has the
/// digests in full.
pub(super) fn stored_faults(
    folder: &Folder,
    record: Option<&Record>,
    history: &History,
) -> Vec<(PathBuf, RunError)> {
    let mut faults = Vec::new();
    let names = match names_if_there(&folder.scripts()) {
        Ok(names) => names,
        Err(error) => return vec![(folder.scripts(), error)],
    };
    for path in names.iter().filter(|name| !is_unfinished(name)).map(|name| folder.scripts().join(name)) {
        match regular::read(&path).map(|text| durable::digest(&text)) {
            Ok(found) if path.file_stem().is_some_and(|stem| *stem == found[..8]) => {}
            Ok(found) => {
                let error = RunError::damaged(&path, format!("its digest is {found}, unlike its name"));
                faults.push((path, error));
            }
            Err(cause) => faults.push((path.clone(), RunError::io("read", &path)(cause))),
        }
    }
    // The record has the script of the first start, which is in no file; without it, that one would look like a missing one.
    let Some(record) = record else { return faults };
    for digest in stored_digests(history).into_iter().filter(|digest| *digest != record.script.blake3) {
        let path = if digest.len() == 64 { folder.script(&digest) } else { continue };
        if !path.exists() {
            let error = RunError::damaged(&path, "it is missing, though journal.jsonl names it");
            faults.push((path, error));
        }
    }
    faults
}

fn script(folder: &Folder, record: &Record, digest: &str) -> Result<ScriptRecord, RunError> {
    if digest == record.script.blake3 {
        return Ok(record.script.clone());
    }
    let text = stored_text(folder, digest)?;
    Ok(ScriptRecord { file: record.script.file.clone(), blake3: digest.to_owned(), text })
}

/// Reads a text that the run stores in `scripts/`, and checks its digest.
fn stored_text(folder: &Folder, digest: &str) -> Result<String, RunError> {
    let damaged = |path, cause: &str| RunError::damaged(path, format!("{cause}, as journal.jsonl says"));
    if digest.len() != 64 || !digest.is_ascii() {
        return Err(damaged(&folder.journal(), "a script's digest has other than 64 digits"));
    }
    let path = folder.script(digest);
    let content = regular::read(&path).map_err(RunError::io("read", &path))?;
    if durable::digest(&content) == digest {
        String::from_utf8(content).map_err(|_| damaged(&path, "it is not UTF-8"))
    } else {
        Err(damaged(&path, &format!("its digest is not {digest}")))
    }
}
