//! The runs of a sweep's trials.

use crate::error::RunError;
use crate::files::{names, names_if_there};
use crate::folder::Folder;

/// The run of one trial of a sweep.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// The trial's number.
    pub trial: u32,
    /// The replicate's number.
    pub replicate: u32,
    /// The run's folder.
    pub folder: Folder,
}

/// The sorted names in a sweep's folder of trials; an error if the sweep has none yet.
pub fn trial_names(sweep: &Folder) -> Result<Vec<String>, RunError> {
    names(&sweep.trials())
}

/// The runs of a sweep's trials in order: folders such as `0007-1`.
pub fn trials(sweep: &Folder) -> Result<Vec<TrialRun>, RunError> {
    let trials = sweep.trials();
    let run = |name: String| {
        let (trial, replicate) = name.split_once('-')?;
        let (trial, replicate) = (trial.parse().ok()?, replicate.parse().ok()?);
        let folder = Folder::at(&trials.join(&name));
        folder.is_run().then_some(TrialRun { trial, replicate, folder })
    };
    let mut found: Vec<TrialRun> = names_if_there(&trials)?.into_iter().filter_map(run).collect();
    found.sort_by_key(|run| (run.trial, run.replicate));
    Ok(found)
}
