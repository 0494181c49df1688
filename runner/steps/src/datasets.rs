//! Games that another folder holds: a dataset, or another run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use dc0_runs::view::{FinishedStep, RunView};
use dc0_runs::{Folder, FolderKind, RunError, Series};

use crate::handles::{Games, GamesFields, Made, Window};
use crate::host::HostError;

/// The games of all finished imports and iterations of a dataset or run, in their order: those of a folder, or of a name in `parent`.
///
/// Only manifests are read; files are compared with their digests when they are used.
pub(crate) fn games(parent: &Path, name: &str) -> Result<Window, HostError> {
    let absent = || HostError::NoDataset { name: name.to_owned(), parent: parent.to_owned() };
    let (root, _) = Folder::named(parent, Path::new(name), &[FolderKind::Run])
        .filter(|_| !name.is_empty())
        .ok_or_else(absent)?;
    let folder = Folder::at(&root);
    let run: Arc<str> = root.display().to_string().into();
    let mut all = Vec::new();
    let mut networks = HashMap::new();
    for FinishedStep { manifest, .. } in RunView::new(folder.clone()).steps()? {
        if let (Some(weights), Some(slot)) = (manifest.weights(), manifest.slot()) {
            networks.insert(weights.blake3.clone(), slot.number);
        }
        let Some(slot) = manifest.slot().filter(|slot| slot.series == Series::Iterations) else { continue };
        if let Some(path) = manifest.missing_file(&folder)? {
            return Err(RunError::Lost { path: folder.path(&path) }.into());
        }
        let network = manifest.input("network").map(|digest| networks.get(digest).copied());
        let made = match network {
            None => Made::Imported,
            Some(network) if manifest.has_copies() => Made::Copied(network),
            Some(network) => Made::Played(network),
        };
        let step = manifest.identity().short().to_owned();
        let (files, summary) = (manifest.files, manifest.summary.into());
        let (run, iteration) = (Arc::clone(&run), slot.number);
        let fields = GamesFields { run, is_loaded: true, iteration, made, step, files, summary };
        all.push(Games(Arc::new(fields)));
    }
    if all.is_empty() { Err(HostError::NoGames { folder: root }) } else { Ok(all.into_iter().collect()) }
}
