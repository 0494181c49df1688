//! The files of a run's games.

use std::error::Error;

use dc0_core::store::{FileEntry, ShardFiles};
use dc0_runs::net::run_folder;
use dc0_runs::view::RunView;
use dc0_runs::{Folder, Slot};

/// The folder of a run, and the files that steps of some kinds stored; of all iterations if none are given.
pub(crate) fn files(
    run: &str,
    kinds: &[&str],
    iterations: &[u32],
) -> Result<(Folder, Vec<FileEntry>), Box<dyn Error>> {
    let folder = run_folder(run).ok_or_else(|| format!("{run}: expected the folder of a run"))?;
    let steps = RunView::new(folder.clone()).steps()?;
    let is_wanted = |slot: &Option<Slot>| {
        slot.is_some_and(|slot| iterations.is_empty() || iterations.contains(&slot.number))
    };
    let files: Vec<FileEntry> = steps
        .into_iter()
        .filter(|step| kinds.contains(&step.manifest.kind.as_str()) && is_wanted(&step.manifest.slot()))
        .flat_map(|step| step.manifest.files)
        .collect();
    if ShardFiles::of_iteration(&files).all(|shard| shard.positions.rows == 0) {
        return Err(format!("{run} has no games of {kinds:?} in the iterations {iterations:?}").into());
    }
    Ok((folder, files))
}
