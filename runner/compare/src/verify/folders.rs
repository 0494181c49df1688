//! Reads the folders of runs and sweeps.

use dc0_core::store::{Provenance, verify_wide};
use dc0_core::trainer::check_state;
use dc0_runs::integrity::Integrity;
use dc0_runs::sweep::folder::{SweepFolder, lost_runs};
use dc0_runs::sweep::table::of_sweep;
use dc0_runs::view::trials;
use dc0_runs::{Folder, FolderKind, Lock, Remedy, RunError};

use super::step;
use super::{Findings, VerifyError, chain};

/// Reads every file of a run or sweep, one after the other. Fails if a process is writing it.
pub fn verify(folder: &Folder, kind: FolderKind) -> Result<Findings, VerifyError> {
    let mut findings = Findings::default();
    match kind {
        FolderKind::Run => run(folder, &mut findings)?,
        FolderKind::Sweep => sweep(folder, &mut findings)?,
    }
    Ok(findings)
}

fn run(folder: &Folder, findings: &mut Findings) -> Result<(), RunError> {
    let _lock = Lock::hold(folder)?;
    let Integrity { problems, record, steps, unfinished, work, .. } = Integrity::of_run(folder);
    findings.problems.extend(problems);
    findings.unfinished += unfinished as u64;
    for path in work
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| name == dc0_steps::kinds::TRAINING_STATE))
    {
        if let Err(error) = check_state(path) {
            findings.problems.push(chain(&error));
        }
    }
    for (root, finished) in &steps {
        step::verify(root, finished, findings);
    }
    let provenance = record.map(|record| record.of_costs()).unwrap_or_default();
    wide(folder, Folder::COSTS, "costs", &provenance, findings);
    // A kill can keep the first one from being written.
    if steps.len() > 1 && !folder.path(Folder::COSTS).exists() {
        let cause = "it is missing, though steps are finished";
        findings.problems.push(chain(&Remedy::Missing.damaged(&folder.path(Folder::COSTS), cause)));
    }
    Ok(())
}

/// The table of a sweep's trials.
const TRIALS: &str = "trials.parquet";

fn sweep(folder: &Folder, findings: &mut Findings) -> Result<(), RunError> {
    let _lock = Lock::hold(folder)?;
    let record = SweepFolder::record_in(folder);
    if let Err(error) = &record {
        findings.problems.push(chain(error));
    }
    let runs = trials(folder)?;
    match SweepFolder::read(folder.root()) {
        Err(error) => findings.problems.push(chain(&error)),
        Ok((_, trials)) => {
            let table = folder.path(TRIALS);
            if trials.iter().any(|(_, trial)| trial.value().is_some()) && !table.exists() {
                let cause = "it is missing, though trials have values";
                findings.problems.push(chain(&Remedy::Missing.damaged(&table, cause)));
            }
            for path in lost_runs(folder, &trials) {
                let cause = "it has no run.json, though trials.jsonl says that the trial is complete";
                findings.problems.push(chain(&RunError::damaged(&path, cause)));
            }
        }
    }
    let provenance = record.ok().flatten().map(|record| of_sweep(&record.name)).unwrap_or_default();
    wide(folder, TRIALS, "trials", &provenance, findings);
    for trial in runs {
        run(&trial.folder, findings)?;
    }
    Ok(())
}

/// A table that is rewritten whenever it changes, if it is there.
fn wide(folder: &Folder, name: &str, table: &'static str, provenance: &Provenance, findings: &mut Findings) {
    let path = folder.path(name);
    if path.exists()
        && let Err(error) = verify_wide(&path, table, provenance)
    {
        findings.problems.push(chain(&Remedy::Rewrite.damaged(&path, chain(&error))));
    }
}
