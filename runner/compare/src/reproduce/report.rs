//! Reports a reproduction.

use serde_json::{Value as Json, json};

use dc0_core::store::{StoreError, verify_files};
use dc0_core::text_table::{Align, aligned};
use dc0_process::format::counted;
use dc0_runs::ForkRecord;

use super::rerun::steps_of_fork;
use super::stage::Stage;
use crate::diff::{CompareError, Comparison, Loaded, Pair, Side, Sides, describe, divergence, json_of_steps};

/// Notes shown before the start: what may make bytes differ, and what is wrong with the original.
pub(super) fn notes(original: &Loaded, stage: &Stage) -> Result<Vec<String>, CompareError> {
    let root = original.folder.root().display();
    let mut notes = vec![format!(
        "reproducing {} of {root} in {}: {}",
        counted(original.steps.len(), "step"),
        stage.folder.root().display(),
        stage.environment.rounding()
    )];
    if let Some(fork) = &original.record.fork {
        let steps = counted(steps_of_fork(original), "step");
        notes.push(format!(
            "note: the run is a fork of {} and begins with {steps} of it; these are taken over, not repeated",
            ForkRecord::named(&fork.from, fork.iteration)
        ));
    }
    if original.snapshot.versions > 1 {
        notes.push(format!(
            "note: the run was opened with {} different scripts or parameters; the last of them is reproduced",
            original.snapshot.versions
        ));
    }
    let made = (&original.snapshot.dc0, &original.snapshot.libraries);
    let here = (&stage.environment.dc0, &stage.environment.libraries);
    if made != here {
        notes.push(format!(
            "note: the run was made by dc0 {} with {}, this is dc0 {} with {}; bytes may differ because of that",
            made.0, made.1, here.0, here.1
        ));
    }
    if stage.environment.device != "cpu" {
        let device = &stage.environment.device;
        notes.push(format!("note: {device} adds sums in no fixed order; bytes may differ because of that"));
    }
    notes.extend(damage(original)?);
    Ok(notes)
}

/// A note about files of the original that have changed. Files are compared by the digests in manifests, so this is no error.
fn damage(original: &Loaded) -> Result<Option<String>, CompareError> {
    let entries: Vec<_> = original.steps.iter().flat_map(|step| step.manifest.files.clone()).collect();
    match verify_files(original.folder.root(), &entries) {
        Ok(()) => Ok(None),
        Err(error @ StoreError::Changed { .. }) => {
            Ok(Some(format!("note: in the original, {error}; the comparison uses its manifests")))
        }
        Err(error) => Err(error.into()),
    }
}

/// A table of the steps with their comparison, and a conclusion.
pub(super) fn text(sides: &Sides<'_>, pairs: &[Pair<'_>], is_kept: bool) -> Result<String, CompareError> {
    let files = |pair: &Pair<'_>| match pair.any().manifest.files.len() {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    let row = |pair: &Pair<'_>| {
        let step = pair.any();
        let comparison = match &pair.comparison {
            Comparison::OnlyIn(Side::First) => "the script did not reach it again".to_owned(),
            Comparison::OnlyIn(Side::Second) => "not in the original".to_owned(),
            comparison => describe(comparison),
        };
        [step.name(), step.manifest.kind.clone(), files(pair), comparison]
    };
    let rows: Vec<_> = pairs.iter().map(row).collect();
    let mut lines = aligned(&rows, |_| Align::Left);
    lines.push(String::new());
    let is_in_both = |pair: &Pair<'_>| pair.first.is_some() && pair.second.is_some();
    if pairs.iter().find(|pair| !pair.is_same()).is_some_and(is_in_both) {
        lines.extend(divergence(sides, pairs)?);
    }
    let same = pairs.iter().filter(|pair| pair.is_same()).count();
    let files: usize = pairs.iter().map(|pair| pair.any().manifest.files.len()).sum();
    let folder = sides.second.folder.root().display();
    lines.push(if same == pairs.len() {
        let files = counted(files, "file");
        let what = if same == 1 { "the step".to_owned() } else { format!("all {same} steps") };
        format!("Reproduced: {what} produced the same {files}.")
    } else {
        let steps = counted(pairs.len(), "step");
        format!("Not reproduced: {same} of {steps} produced the same files.")
    });
    match steps_of_fork(sides.first) {
        0 => {}
        1 => lines.push("One of them, with which the fork begins, was taken over, not repeated.".to_owned()),
        taken_over => lines.push(format!(
            "{taken_over} of them, with which the fork begins, were taken over, not repeated."
        )),
    }
    if is_kept {
        lines.push(format!("The reproduction is in {folder}."));
    }
    Ok(lines.join("\n"))
}

/// The same as JSON.
pub(super) fn json(sides: &Sides<'_>, pairs: &[Pair<'_>], is_kept: bool) -> Result<Json, CompareError> {
    let folder = sides.second.folder.root().display().to_string();
    Ok(json!({
        "run": sides.first.folder.root().display().to_string(),
        "reproduction": is_kept.then_some(folder),
        "same": pairs.iter().all(Pair::is_same),
        "taken_over": steps_of_fork(sides.first),
        "steps": json_of_steps(sides, pairs)?,
    }))
}
