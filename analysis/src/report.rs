//! What happened in some runs, as one page that needs nothing else: figures by SQL, sections of them, HTML.
//!
//! The same data give the same bytes: no clock is read, and ties are broken by name and number.

mod calibration;
mod curve;
mod dimension;
mod diversity;
mod games;
mod gates;
mod health;
mod learning;
mod matches;
mod overview;
mod page;
mod results;
mod reuse;
mod section;
mod settings;
mod speed;
mod steps;
mod strength;
mod sweeps;
mod trust;

use dc0_core::params::Value;

use crate::charts::Chart;
use crate::database::{Database, Iteration};
use crate::error::AnalysisError;

/// What a report says of a run besides what its tables hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRun {
    /// The run's name, as the column `run` has it.
    pub name: String,
    /// What the script declared, with its values.
    pub params: Value,
    /// Seed, device, versions and times, each with its name.
    pub environment: Vec<(String, String)>,
    /// The text of the script.
    pub script: String,
    /// The generations with the digests of their nets' weights.
    pub generations: Vec<(u32, String)>,
    /// Steps that were begun and are not finished, each in a few words.
    pub unfinished: Vec<String>,
}

/// What a report says of a sweep besides its table of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSweep {
    /// The sweep's name, as the column `run` of `trials` has it.
    pub name: String,
    /// What the values are.
    pub objective: String,
    /// Whether larger values are better.
    pub maximize: bool,
    /// How much each parameter matters, as shares, the largest first.
    pub importances: Vec<(String, f64)>,
    /// The parameters whose values are spaced by their logarithm.
    pub logarithmic: Vec<String>,
}

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The page.
    pub html: String,
    /// Every chart in it.
    pub charts: Vec<Chart>,
}

/// Everything that sections look at.
struct Context<'a> {
    database: &'a Database,
    runs: &'a [ReportRun],
    sweeps: &'a [ReportSweep],
    steps: Vec<steps::Step>,
    ends: Vec<results::Ended>,
    pairs: Vec<matches::MatchPair>,
    standings: Vec<matches::Standing>,
    trusts: Vec<trust::Trust>,
    varieties: Vec<diversity::Variety>,
    iterations: Vec<Iteration>,
}

impl ReportRun {
    /// Whether candidates have to pass something before they are played with: a net has been promoted, or the script asks for it.
    fn is_gated(&self) -> bool {
        self.generations.len() > 1 || self.script.contains("promote(")
    }
}

impl<'a> Context<'a> {
    fn new(
        database: &'a Database,
        runs: &'a [ReportRun],
        sweeps: &'a [ReportSweep],
    ) -> Result<Self, AnalysisError> {
        let mut context = Self {
            database,
            runs,
            sweeps,
            steps: steps::steps(database)?,
            ends: Vec::new(),
            pairs: Vec::new(),
            standings: Vec::new(),
            trusts: Vec::new(),
            varieties: Vec::new(),
            iterations: database.iterations()?,
        };
        context.ends = results::ends(&context)?;
        context.pairs = matches::pairs(&context)?;
        let standing = |run| matches::standing(run, &context.steps, &context.pairs);
        context.standings = runs.iter().filter_map(standing).collect();
        context.trusts = trust::all(runs, &context.iterations)?;
        context.varieties = diversity::varieties(&context.iterations)?;
        Ok(context)
    }

    /// The last iteration whose self-play is finished; where none is, the last one that has games.
    fn last_iteration(&self, run: &ReportRun) -> Option<u32> {
        let finished = self.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
        let begun = self.ends.iter().filter(|ended| ended.run == run.name).map(|ended| ended.iteration);
        finished.filter_map(|step| step.number).max().or_else(|| begun.max())
    }

    /// The tables of one iteration.
    fn iteration(&self, run: &str, number: u32) -> Option<&Database> {
        let mut own = self.iterations.iter().filter(|one| one.run == run && one.number == number);
        own.next().map(|iteration| &iteration.database)
    }

    /// A run's place among the runs, which gives its colour.
    fn number(&self, run: &str) -> usize {
        self.runs.iter().position(|known| known.name == run).unwrap_or(0)
    }
}

/// The report of some runs and sweeps.
pub fn report(
    database: &Database,
    runs: &[ReportRun],
    sweeps: &[ReportSweep],
) -> Result<Report, AnalysisError> {
    let context = Context::new(database, runs, sweeps)?;
    let sections = [
        overview::section(&context),
        strength::section(&context),
        health::section(&context),
        gates::section(&context),
        games::section(&context)?,
        learning::section(&context)?,
        trust::section(&context),
        results::section(&context)?,
        diversity::section(&context)?,
        speed::section(&context),
        reuse::section(&context),
        sweeps::section(&context)?,
        settings::section(&context),
    ];
    let names: Vec<&str> = runs
        .iter()
        .map(|run| run.name.as_str())
        .chain(sweeps.iter().map(|sweep| sweep.name.as_str()))
        .collect();
    let charts = sections.iter().flat_map(section::Section::charts).cloned().collect();
    Ok(Report { html: page::page(&names.join(", "), &sections), charts })
}
