//! Reuse: how many samples trainings saw for each position that was new to their run.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;
use dc0_core::store::FileEntry;

use crate::database::Database;
use crate::error::AnalysisError;
use crate::source::{RunSource, StepRow};
use crate::staleness::step_of;

/// A training with positions that no earlier training of its run had read, if their number is known.
pub(super) struct Reuse {
    pub(super) run: String,
    /// The number of the net that was trained.
    pub(super) network: u32,
    /// Samples seen per new position.
    pub(super) samples: f64,
}

/// The stored positions of an iteration.
struct PositionCount {
    all: f64,
    /// Those with a policy target.
    full: f64,
}

/// The counts by run and iteration.
type PositionCounts = BTreeMap<(String, u32), PositionCount>;

/// The reuse in each training with new positions, run by run, in order. Trials of sweeps are left out.
pub(super) fn reuses(database: &Database) -> Result<Vec<Reuse>, AnalysisError> {
    let counts = position_counts(database)?;
    let runs = database.catalog().runs.iter().filter(|run| run.trial.is_none());
    Ok(runs.flat_map(|run| of_run(run, &counts)).collect())
}

fn position_counts(database: &Database) -> Result<PositionCounts, AnalysisError> {
    let statement = "select run, iteration, count(*) as positions, count_if(\"full\") as searched from positions \
        group by run, iteration";
    let answer = database.fetch(statement)?;
    let (runs, iterations) = (answer.texts("run")?, answer.numbers("iteration")?);
    let (all, full) = (answer.numbers("positions")?, answer.numbers("searched")?);
    let row = |index: usize| {
        let count = PositionCount { all: all[index], full: full[index] };
        ((runs[index].clone(), iterations[index] as u32), count)
    };
    Ok((0..answer.len()).map(row).collect())
}

fn of_run(run: &RunSource, counts: &PositionCounts) -> Vec<Reuse> {
    let origins = origins(run);
    let (mut read, mut reuses) = (BTreeSet::new(), Vec::new());
    for training in run.steps.iter().filter(|step| step.kind == "train") {
        let trainable = |step: &StepRow, targets: Targets| {
            let count = step.number.and_then(|number| counts.get(&(run.name.clone(), number)));
            let Some(count) = count else { return Some(0.0) };
            match targets {
                _ if !needs_targets(training) => Some(count.all),
                Targets::Stored => Some(count.full),
                Targets::All => Some(count.all),
                Targets::Drawn => (count.full == count.all).then_some(count.all),
            }
        };
        let window = window(training);
        let mut new = Some(0.0);
        for step in run.steps.iter().filter(|step| window.contains(step.identity.as_str())) {
            let own = &origins[step.identity.as_str()];
            if own.keys().any(|origin| !read.contains(origin)) {
                // A reanalysis has copies of games that were read already, too.
                let copies = |(origin, targets): (&&str, &Targets)| {
                    let origin = run.steps.iter().find(|step| step.identity == **origin);
                    trainable(origin?, *targets)
                };
                let old: Option<f64> =
                    own.iter().filter(|(origin, _)| read.contains(*origin)).map(copies).sum();
                let all = trainable(step, Targets::Stored);
                new = new.zip(all).zip(old).map(|((new, all), old)| new + all - old);
            }
            read.extend(own.keys().copied());
        }
        let new = new.filter(|new| *new > 0.0);
        let samples = training.summary.figure("samples_seen");
        if let (Some(network), Some(samples), Some(new)) = (training.number, samples, new) {
            reuses.push(Reuse { run: run.name.clone(), network, samples: samples / new });
        }
    }
    reuses
}

/// Whether a training leaves out positions without a policy target.
fn needs_targets(training: &StepRow) -> bool {
    let positions = training.params.member("positions");
    positions.is_none_or(|positions| *positions == Value::Text("full".to_owned()))
}

/// The steps that stored the games of a training; what has a weight of 0 is not trained on.
fn window(training: &StepRow) -> BTreeSet<&str> {
    let names = training.inputs.iter().map(|(name, _)| name);
    names.filter(|name| !name.ends_with(" × 0")).filter_map(|name| step_of(name)).collect()
}

/// Which positions of copied games have a policy target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Targets {
    /// Those that have one in the games that were copied.
    Stored,
    /// A share of the others, too, drawn at random.
    Drawn,
    /// All.
    All,
}

impl Targets {
    /// Those of the copies by a reanalysis, if it copies games as they were stored.
    fn of_reanalysis(step: &StepRow) -> Self {
        let takes_all = step.params.member("positions") == Some(&Value::Text("all".to_owned()));
        let share = step.params.figure("share").unwrap_or(1.0);
        match (takes_all, share < 1.0) {
            (true, false) => Self::All,
            (true, true) => Self::Drawn,
            (false, _) => Self::Stored,
        }
    }
}

/// For each step, the steps whose games it has: itself, or of a reanalysis those that it has copies of. Shards of datasets and other
/// runs stand for themselves, by their digests.
fn origins<'a>(run: &'a RunSource) -> BTreeMap<&'a str, BTreeMap<&'a str, Targets>> {
    let made = |(path, file): (&'a String, &'a FileEntry)| {
        let (_, shard) = path.strip_prefix("games/")?.split_once("/part-")?;
        Some((file.blake3.as_str(), shard.get(..8)?))
    };
    let makers: BTreeMap<&str, &str> = run.digests.iter().filter_map(made).collect();
    let mut origins: BTreeMap<&str, BTreeMap<&str, Targets>> = BTreeMap::new();
    for step in &run.steps {
        let mut own = BTreeMap::new();
        if step.kind == "reanalyze" {
            let new = Targets::of_reanalysis(step);
            for (_, digest) in step.inputs.iter().filter(|(name, _)| name.starts_with("games ")) {
                match makers.get(digest.as_str()).and_then(|maker| origins.get(maker)) {
                    Some(copied) => {
                        own.extend(copied.iter().map(|(origin, targets)| (*origin, new.max(*targets))));
                    }
                    None => _ = own.insert(digest.as_str(), new),
                }
            }
        } else {
            own.insert(step.identity.as_str(), Targets::Stored);
        }
        origins.insert(step.identity.as_str(), own);
    }
    origins
}
