//! What a report shows of runs and sweeps besides their tables: records, journals and leaderboards.

use std::path::{Path, PathBuf};

use dc0_analysis::report::{ReportRun, ReportSweep};
use dc0_analysis::{Damage, RunSource, SweepSource};
use dc0_core::params::Value;
use dc0_process::fault::chain;

use super::ReportError;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::sweep::observation::{Direction, TrialState};
use dc0_runs::sweep::space::Domain;
use dc0_runs::{Folder, Progress, Record, RunError, Salvage, StartedStep};
use dc0_script::scan::Bracket;
use dc0_script::syntax::Syntax;
use dc0_tables::Sources;

/// The runs and sweeps of a report.
pub(super) struct Inputs {
    pub(super) sources: Sources,
    pub(super) runs: Vec<ReportRun>,
    pub(super) sweeps: Vec<ReportSweep>,
    /// Where the report goes by default.
    pub(super) default_folder: PathBuf,
}

/// Reads the runs and sweeps of a list: folders, or names below `parent`. What is missing or damaged is left out and listed.
pub(super) fn inputs(parent: &Path, names: &[String]) -> Result<Inputs, ReportError> {
    let mut sources = Sources::readable(parent, names)?;
    // The runs of a sweep's trials are too many for a page; the sweep's table has their results.
    sources.runs.retain(|run| run.trial.is_none());
    let folders =
        sources.runs.iter().map(|run| &run.folder).chain(sources.sweeps.iter().map(|sweep| &sweep.folder));
    let default_folder = match folders.collect::<Vec<_>>()[..] {
        [only] => only.clone(),
        _ => PathBuf::new(),
    };
    let runs = sources.runs.iter().map(run).collect();
    let mut sweeps = Vec::new();
    for SweepSource { name, folder, .. } in &sources.sweeps {
        let read = SweepFolder::record_in(&Folder::at(folder)).and_then(|_| sweep_of(name, folder));
        match read {
            Ok(sweep) => sweeps.push(sweep),
            Err(error) => sources.faults.push(Damage {
                run: name.clone(),
                affects: vec!["sweep", "trials"],
                path: Folder::at(folder).sweep_journal(),
                message: chain(&error),
            }),
        }
    }
    Ok(Inputs { sources, runs, sweeps, default_folder })
}

fn run(source: &RunSource) -> ReportRun {
    let Salvage { record, history, generations, .. } = Salvage::of_run(&Folder::at(&source.folder));
    let progress = Progress::from_history(&history);
    let unfinished = |begun: &StartedStep| {
        format!("the step {} ({}) was begun and is not finished", begun.step, begun.kind)
    };
    ReportRun {
        name: source.name.clone(),
        params: record.as_ref().map_or_else(Value::group, |record| record.params.clone()),
        environment: record.as_ref().map(|record| environment(record, &progress)).unwrap_or_default(),
        promotes: record.as_ref().is_some_and(|record| promotes(&record.script.text)),
        script: record.map(|record| record.script.text).unwrap_or_default(),
        generations: generations.into_iter().map(|one| (one.generation, one.blake3)).collect(),
        unfinished: progress.unfinished().map(unfinished).collect(),
    }
}

/// Whether a script calls `promote`, not only in a comment or a text.
fn promotes(script: &str) -> bool {
    let script = Syntax::new(script);
    (0..script.tokens.len()).any(|at| script.word(at) == "promote" && script.opens(at + 1, Bracket::Paren))
}

fn environment(record: &Record, progress: &Progress) -> Vec<(String, String)> {
    let made = &record.environment;
    let own = [
        ("script", record.script.file.clone()),
        ("seed", record.seed.to_string()),
        ("backend", made.backend.clone()),
        ("device", made.device.clone()),
        ("precision", made.precision.clone()),
        ("training threads", made.threads.to_string()),
        ("dc0", made.dc0.clone()),
        ("libraries", made.libraries.clone()),
        ("first entry of the journal", progress.first.clone()),
        ("last entry of the journal", progress.last.clone()),
    ];
    own.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn sweep_of(name: &str, folder: &Path) -> Result<ReportSweep, RunError> {
    let (params, trials) = SweepFolder::read(folder)?;
    let board = Board::new(&params, &trials);
    let is_logarithmic =
        |domain: &Domain| matches!(domain, Domain::Float { log: true, .. } | Domain::Int { log: true, .. });
    let dimensions = params.space.dimensions().filter(|(_, dimension)| is_logarithmic(&dimension.domain));
    let failures = board.by_number().into_iter().filter(|row| row.state == TrialState::Failed);
    let failures = failures.filter_map(|row| Some((row.trial, row.because.clone()?))).collect();
    Ok(ReportSweep {
        failures,
        name: name.to_owned(),
        objective: board.objective,
        maximize: board.direction == Direction::Maximize,
        importances: board.importances,
        logarithmic: dimensions.map(|(name, _)| name.to_owned()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::promotes;

    #[test]
    fn only_code_promotes() {
        assert!(promotes("if score > 0.5 { run.promote(net) }"));
        assert!(promotes("print(\"//\"); run.promote(net)"));
        assert!(promotes("print(`C:\\`); run.promote(net) // ends"));
        assert!(promotes("let quote = '\"'; let slash = '\\''; run.promote(net)"));
        assert!(promotes("/* a /* b */ ä */ run.promote(net)"));
        assert!(!promotes("let net = run.train(net); // no run.promote(net)\nprint(net)"));
        assert!(!promotes("/* a /* b */ run.promote(net) */"));
        assert!(!promotes("/*/ run.promote(net)"));
        assert!(!promotes("print(\"\\\"run.promote(net)\")"));
    }
}
