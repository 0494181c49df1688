//! Training curves as TensorBoard event files: one folder for each run.

use dc0_process::format::counted;
use std::path::{Path, PathBuf};

use dc0_core::durable;
use dc0_core::store::{FileEntry, TrainingRow, ValidationRow, read_entry};

use super::ExportError;
use super::args::ExportTensorboardArgs;
use dc0_runs::sweep::tensorboard::{FILE_NAME, Scalar, event_file};
use dc0_runs::view::{RunView, TrialRun, trials};
use dc0_runs::{Folder, FolderKind, Slot};

/// Writes the curves of a run, or of every run of a sweep, and returns lines that report what was written.
pub(super) fn write(args: &ExportTensorboardArgs) -> Result<Vec<String>, ExportError> {
    let (root, kind) = super::found(&args.run, &[FolderKind::Sweep, FolderKind::Run], "run and no sweep")?;
    let runs = match kind {
        FolderKind::Run => vec![(root, args.out.clone())],
        FolderKind::Sweep => {
            let named = |trial: TrialRun| {
                let run = trial.folder.root().to_owned();
                let out = args.out.join(run.file_name().unwrap_or_default());
                (run, out)
            };
            trials(&Folder::at(&root))?.into_iter().map(named).collect()
        }
    };
    if runs.is_empty() {
        return Err(ExportError::Nothing { path: args.run.clone(), what: "run of a trial" });
    }
    let line = |(run, out): (PathBuf, PathBuf)| {
        let scalars = curves(existing(&run)?)?;
        let file = out.join(FILE_NAME);
        durable::write(&file, &event_file(&scalars)).map_err(ExportError::writing(&file))?;
        Ok(format!("wrote    {}: {}", file.display(), counted(scalars.len(), "point")))
    };
    runs.into_iter().map(line).collect()
}

fn existing(run: &Path) -> Result<Folder, ExportError> {
    let parent = run.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = run.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Folder::of_existing(parent, &name)
        .map_err(|_| ExportError::Nothing { path: run.to_owned(), what: "run and no sweep" })
}

/// The curves of all trainings of a run, in the order of its script. A point's step includes the updates of the trainings before it.
/// Its wall time is its step, because a run's tables hold no times.
fn curves(run: Folder) -> Result<Vec<Scalar>, ExportError> {
    let root = run.root().to_owned();
    let mut scalars = Vec::new();
    let mut before = 0;
    for step in RunView::new(run).steps()? {
        let table = |folder: &str| step.manifest.files.iter().find(|file| is_in(file, folder));
        let Some(training) = table("training") else { continue };
        let training: Vec<TrainingRow> = read_entry(&root, training)?;
        let validation: Option<Vec<ValidationRow>> =
            table("validation").map(|table| read_entry(&root, table)).transpose()?;
        let at = |update: u32| before + i64::from(update);
        scalars.extend(training.iter().flat_map(|row| points("training", at(row.update), row.figures())));
        let validation = validation.iter().flatten();
        scalars.extend(validation.flat_map(|row| points("validation", at(row.update), row.figures())));
        before += training.last().map_or(0, |row| i64::from(row.update));
    }
    Ok(scalars)
}

fn is_in(file: &FileEntry, folder: &str) -> bool {
    Slot::parse(&file.path).is_some_and(|(_, found, _)| found == folder)
}

/// The figures of a row, without those that are not numbers: nothing was measured, or an older file lacks them.
fn points<const N: usize>(table: &str, step: i64, figures: [(&str, f64); N]) -> Vec<Scalar> {
    let known = figures.into_iter().filter(|(_, value)| !value.is_nan());
    let point =
        |(name, value)| Scalar { tag: format!("{table}/{name}"), step, wall_time: step as f64, value };
    known.map(point).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ExportTensorboardArgs, ValidationRow, points, write};

    #[test]
    fn every_figure_that_was_measured_is_a_point() {
        let row = ValidationRow { brier: f64::NAN, batch_norm_gap: 0.25, ..ValidationRow::default() };
        let found = points("validation", 107, row.figures());
        let tags: Vec<&str> = found.iter().map(|point| point.tag.as_str()).collect();
        let expected = [
            "validation/loss",
            "validation/policy_loss",
            "validation/value_loss",
            "validation/moves_left_loss",
            "validation/policy_accuracy",
            "validation/policy_entropy",
            "validation/soft_policy_loss",
            "validation/reply_loss",
            "validation/material_loss",
            "validation/policy_top_three",
            "validation/calibration_error",
            "validation/batch_norm_gap",
        ];
        assert_eq!(tags, expected);
        let last = found.last().expect("points");
        assert_eq!((last.step, last.wall_time, last.value), (107, 107.0, 0.25));
    }

    #[test]
    fn folders_without_a_run_are_left_out_of_a_sweeps_curves() {
        let folder = tempfile::tempdir().expect("a folder");
        let (run, out) = (folder.path().join("sweep"), folder.path().join("curves"));
        // A kill may leave the first folder of a run before anything is in it.
        for name in ["0000-0", "0001-0", "notes"] {
            fs::create_dir_all(run.join("trials").join(name)).expect("makes");
        }
        fs::write(run.join("sweep.json"), "{}").expect("writes");
        let args = ExportTensorboardArgs { run: run.clone(), out: out.clone() };
        let message = write(&args).expect_err("no run yet").to_string();
        assert!(message.contains("holds no run of a trial"), "{message}");
        fs::write(run.join("trials/0000-0/journal.jsonl"), "").expect("writes");
        assert_eq!(write(&args).expect("writes the curves of one run").len(), 1);
        assert!(out.join("0000-0").is_dir() && !out.join("0001-0").exists() && !out.join("notes").exists());
    }
}
