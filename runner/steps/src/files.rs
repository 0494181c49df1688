//! Reading and writing the files of steps.

use std::fs;

use dc0_core::board::Tablebase;
use dc0_core::durable;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::Value;
use dc0_core::search::SearchParams;
use dc0_core::store::{FileEntry, Provenance};

use super::StepError;
use crate::handles::Network;
use dc0_runs::{Folder, Input, RunError, Workplace};

/// Loads a net and makes sure that it is the one the run knows.
pub(crate) fn load(folder: &Folder, network: &Network) -> Result<Checkpoint, StepError> {
    let loaded = Checkpoint::load(&folder.path(&network.0.file))?;
    if loaded.digest == network.0.digest {
        return Ok(loaded.checkpoint);
    }
    let (file, expected) = (network.0.file.clone(), network.0.digest.clone());
    Err(StepError::OtherNetwork { file, expected, found: loaded.digest })
}

/// Stores a net and describes its two files, the weights first.
pub(crate) fn save(place: &Workplace, net: &Checkpoint) -> Result<Vec<FileEntry>, StepError> {
    let paths = [".safetensors", ".json"].map(|ending| place.slot.path("networks", ending));
    net.save(&place.folder.path(&paths[0]))?;
    paths.into_iter().map(|path| describe(&place.folder, path)).collect()
}

fn describe(folder: &Folder, path: String) -> Result<FileEntry, StepError> {
    let full = folder.path(&path);
    let content = fs::read(&full).map_err(RunError::io("read", &full))?;
    Ok(FileEntry { path, rows: 0, bytes: content.len() as u64, blake3: durable::digest(&content) })
}

/// The tables that a search asks, as an input: another set of files in the same folder makes another step.
pub(crate) fn tablebases(search: &SearchParams) -> Result<Option<Input>, StepError> {
    let input = |tables: Tablebase| Input { name: "tablebases".to_owned(), digest: tables.digest() };
    Ok(search.open_tablebases()?.map(input))
}

/// Where a table comes from, as its metadata says. Nothing in it depends on time, place or numbering.
pub(crate) fn provenance<const N: usize>(place: &Workplace, more: [(&str, &str); N]) -> Provenance {
    let seed = place.seed.run.to_string();
    let own = [("step", place.identity.digits()), ("seed", seed.as_str())];
    own.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Where a net comes from, as its JSON file says.
pub(crate) fn net_provenance<const N: usize>(place: &Workplace, more: [(&str, &str); N]) -> Value {
    let members = provenance(place, more).into_iter().map(|(name, value)| (name, Value::Text(value)));
    Value::Group(members.collect())
}

/// The digits of a digest that rows use as a player's name.
pub(crate) fn short_digest(digest: &str) -> &str {
    &digest[..16]
}

/// Of so many games, positions or updates those that are left to do.
pub(crate) fn left(all: u32, done: u64) -> u32 {
    all.saturating_sub(u32::try_from(done).unwrap_or(u32::MAX))
}
