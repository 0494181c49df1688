//! Stored positions as tensors, for training in other programs.

use dc0_process::format::counted;
use std::collections::BTreeMap;
use std::path::Path;

use dc0_core::durable;
use dc0_core::encoding::Encoding;
use dc0_core::store::{GameRow, PositionRow, ShardFiles, read_entry};
use dc0_core::trainer::{TensorCounts, TensorError, TensorFile, TensorForm};

use super::args::ExportTensorsArgs;
use super::{ExportError, Stop};
use dc0_runs::view::{FinishedStep, RunView};
use dc0_runs::{Folder, FolderKind, Series, Slot};

/// Writes the positions of all steps that are asked for, in the order of the script, and returns lines that report what was written.
pub(super) fn write(args: &ExportTensorsArgs) -> Result<Vec<String>, ExportError> {
    if args.out.extension().is_none_or(|extension| extension != "safetensors") {
        return Err(ExportError::Name { path: args.out.clone(), ending: ".safetensors" });
    }
    let encoding = encoding(args)?;
    let (root, _) = super::found(&args.run, &[FolderKind::Run], "run")?;
    let folder = Folder::canonical(&root)?;
    let steps = RunView::new(folder.clone()).steps()?;
    let wanted: Vec<(&FinishedStep, Slot)> = steps
        .iter()
        .filter_map(|step| Some((step, step.manifest.slot()?)))
        .filter(|(step, slot)| {
            // Copies with new targets have the positions of other steps once more.
            let is_chosen = match args.number {
                Some(number) => number == slot.number,
                None => !step.manifest.has_copies(),
            };
            slot.series == Series::Iterations && is_chosen
        })
        .collect();
    if wanted.is_empty() {
        let number = args.number.map_or_else(String::new, |number| format!(" with the number {number}"));
        let wanted = format!("games of self-play or imports{number}");
        return Err(ExportError::NoGames { run: root, wanted });
    }
    let counts = counts(folder.root(), &wanted)?;
    let form = TensorForm { is_packed: args.packed, is_ragged: args.ragged };
    let about = about(&encoding, &wanted);
    durable::write_with(&args.out, |file| {
        let mut tensors = TensorFile::new(file, &encoding, form, counts, &about)?;
        for (step, slot) in &wanted {
            add(folder.root(), step, *slot, &mut tensors)?;
        }
        Ok(tensors.finish()?)
    })
    .map_err(Stop::writing(&args.out))?;
    let (positions, steps) = (counted(counts.positions as usize, "position"), counted(wanted.len(), "step"));
    Ok(vec![format!("wrote    {}: {positions} of {steps}, in {encoding}", args.out.display())])
}

fn encoding(args: &ExportTensorsArgs) -> Result<Encoding, ExportError> {
    Ok(Encoding::try_new(args.encoding, args.orientation, args.history)?)
}

/// The sizes of the tensors, which their header begins with.
fn counts(root: &Path, wanted: &[(&FinishedStep, Slot)]) -> Result<TensorCounts, ExportError> {
    let mut counts = TensorCounts::default();
    for (step, _) in wanted {
        for shard in ShardFiles::of_iteration(&step.manifest.files) {
            counts.add(&read_entry::<PositionRow>(root, shard.positions)?);
        }
    }
    Ok(counts)
}

fn add(root: &Path, step: &FinishedStep, slot: Slot, tensors: &mut TensorFile<'_>) -> Result<(), Stop> {
    for shard in ShardFiles::of_iteration(&step.manifest.files) {
        let games: Vec<GameRow> = read_entry(root, shard.games)?;
        let positions: Vec<PositionRow> = read_entry(root, shard.positions)?;
        tensors.add(slot.number, &games, &positions).map_err(|error| match error {
            TensorError::Write(cause) => Stop::Write(cause),
            error @ TensorError::Rows { .. } => {
                let (file, cause) = (root.join(&shard.positions.path), error.to_string());
                ExportError::Rows { file, cause }.into()
            }
        })?;
    }
    Ok(())
}

/// What the positions are, and where they come from.
fn about(encoding: &Encoding, wanted: &[(&FinishedStep, Slot)]) -> BTreeMap<String, String> {
    let planes: Vec<String> =
        encoding.planes().iter().map(|plane| plane.describe(encoding.orientation())).collect();
    let steps: Vec<&str> = wanted.iter().map(|(step, _)| step.manifest.step.as_str()).collect();
    let members = [
        ("encoding", encoding.name().name().to_owned()),
        ("encoding_version", encoding.name().version().to_string()),
        ("orientation", encoding.orientation().name().to_owned()),
        ("history", encoding.history().to_string()),
        ("planes", serde_json::json!(planes).to_string()),
        ("steps", serde_json::json!(steps).to_string()),
    ];
    members.map(|(name, value)| (name.to_owned(), value)).into()
}
