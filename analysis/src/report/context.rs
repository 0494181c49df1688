//! The data that several sections share, read once.

use super::calibration::{self, Calibration};
use super::diversity::{Diversity, diversities};
use super::inputs::{ReportRun, ReportSweep};
use super::matches::{self, Standing};
use super::outcomes::{OutcomeCount, outcome_counts};
use super::reuse::{Reuse, reuses};
use super::steps::{self, Step};
use crate::database::{Database, Iteration};
use crate::error::AnalysisError;
use crate::standings::{self, MatchPair};

/// The data that several sections share.
pub(super) struct Context<'a> {
    pub(super) database: &'a Database,
    pub(super) runs: &'a [ReportRun],
    pub(super) sweeps: &'a [ReportSweep],
    pub(super) steps: Vec<Step>,
    pub(super) outcomes: Vec<OutcomeCount>,
    pub(super) pairs: Vec<MatchPair>,
    pub(super) standings: Vec<Standing>,
    pub(super) calibrations: Vec<Calibration>,
    pub(super) diversities: Vec<Diversity>,
    pub(super) reuses: Vec<Reuse>,
    pub(super) iterations: Vec<Iteration>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        database: &'a Database,
        runs: &'a [ReportRun],
        sweeps: &'a [ReportSweep],
    ) -> Result<Self, AnalysisError> {
        let iterations = database.iterations()?;
        Ok(Self {
            sweeps,
            outcomes: outcome_counts(database)?,
            calibrations: calibration::all(runs, &iterations)?,
            diversities: diversities(&iterations)?,
            reuses: reuses(database)?,
            iterations,
            ..Self::without_games(database, runs)?
        })
    }

    /// The data of steps and matches alone, which are read quickly.
    pub(super) fn without_games(
        database: &'a Database,
        runs: &'a [ReportRun],
    ) -> Result<Self, AnalysisError> {
        let (steps, pairs) = (steps::steps(database)?, standings::pairs(&database.fetch(standings::PAIRS)?)?);
        let standing = |run| matches::standing(run, &steps, &pairs);
        Ok(Self {
            database,
            runs,
            sweeps: &[],
            outcomes: Vec::new(),
            standings: runs.iter().filter_map(standing).collect(),
            calibrations: Vec::new(),
            diversities: Vec::new(),
            reuses: Vec::new(),
            steps,
            pairs,
            iterations: Vec::new(),
        })
    }

    /// The last iteration whose self-play is finished; if there is none, the last one with games.
    pub(super) fn last_iteration(&self, run: &ReportRun) -> Option<u32> {
        let finished = self.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
        let started = self.outcomes.iter().filter(|outcome| outcome.run == run.name);
        let started = started.map(|outcome| outcome.iteration);
        finished.filter_map(|step| step.number).max().or_else(|| started.max())
    }

    /// The tables of one iteration.
    pub(super) fn iteration(&self, run: &str, number: u32) -> Option<&Database> {
        let mut found =
            self.iterations.iter().filter(|iteration| iteration.run == run && iteration.number == number);
        found.next().map(|iteration| &iteration.database)
    }

    /// A run's index among the runs, which gives its colour.
    pub(super) fn run_index(&self, run: &str) -> usize {
        self.runs.iter().position(|known| known.name == run).unwrap_or(0)
    }
}
