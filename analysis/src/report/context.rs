//! Everything that sections look at, read once.

use super::calibration::{self, Trust};
use super::game_ends::{Ended, ends};
use super::inputs::{ReportRun, ReportSweep};
use super::matches::{self, MatchPair, Standing};
use super::steps::{self, Step};
use super::variety::{Variety, varieties};
use crate::database::{Database, Iteration};
use crate::error::AnalysisError;

/// Everything that sections look at.
pub(super) struct Context<'a> {
    pub(super) database: &'a Database,
    pub(super) runs: &'a [ReportRun],
    pub(super) sweeps: &'a [ReportSweep],
    pub(super) steps: Vec<Step>,
    pub(super) ends: Vec<Ended>,
    pub(super) pairs: Vec<MatchPair>,
    pub(super) standings: Vec<Standing>,
    pub(super) trusts: Vec<Trust>,
    pub(super) varieties: Vec<Variety>,
    pub(super) iterations: Vec<Iteration>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        database: &'a Database,
        runs: &'a [ReportRun],
        sweeps: &'a [ReportSweep],
    ) -> Result<Self, AnalysisError> {
        let (steps, pairs) = (steps::steps(database)?, matches::pairs(database)?);
        let iterations = database.iterations()?;
        let standing = |run| matches::standing(run, &steps, &pairs);
        Ok(Self {
            database,
            runs,
            sweeps,
            ends: ends(database)?,
            standings: runs.iter().filter_map(standing).collect(),
            trusts: calibration::all(runs, &iterations)?,
            varieties: varieties(&iterations)?,
            steps,
            pairs,
            iterations,
        })
    }

    /// The last iteration whose self-play is finished; where none is, the last one that has games.
    pub(super) fn last_iteration(&self, run: &ReportRun) -> Option<u32> {
        let finished = self.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
        let begun = self.ends.iter().filter(|ended| ended.run == run.name).map(|ended| ended.iteration);
        finished.filter_map(|step| step.number).max().or_else(|| begun.max())
    }

    /// The tables of one iteration.
    pub(super) fn iteration(&self, run: &str, number: u32) -> Option<&Database> {
        let mut own = self.iterations.iter().filter(|one| one.run == run && one.number == number);
        own.next().map(|iteration| &iteration.database)
    }

    /// A run's place among the runs, which gives its colour.
    pub(super) fn number(&self, run: &str) -> usize {
        self.runs.iter().position(|known| known.name == run).unwrap_or(0)
    }
}
