//! The runner's input for reports: facts about runs and sweeps that are not in their tables, as plain data.

use dc0_core::params::Value;

/// Facts about a run that are not in its tables.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRun {
    /// The run's name, as in the column `run`.
    pub name: String,
    /// The parameters that the script declares, with their values.
    pub params: Value,
    /// Seed, device, versions and times, as names and values.
    pub environment: Vec<(String, String)>,
    /// The script's text.
    pub script: String,
    /// Whether the script contains a promotion.
    pub promotes: bool,
    /// The generations, with the digests of their nets' weights.
    pub generations: Vec<(u32, String)>,
    /// Unfinished steps, each in a few words.
    pub unfinished: Vec<String>,
}

/// Facts about a sweep that are not in its table of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSweep {
    /// The sweep's name, as in the column `run` of `trials`.
    pub name: String,
    /// The name of the objective.
    pub objective: String,
    /// Whether larger values are better.
    pub maximize: bool,
    /// The importance of each parameter, as shares, the largest first.
    pub importances: Vec<(String, f64)>,
    /// The parameters with a logarithmic scale.
    pub logarithmic: Vec<String>,
    /// Why trials failed, by their numbers.
    pub failures: Vec<(u32, String)>,
}

impl ReportRun {
    /// Whether candidates have to pass a gate: a net was promoted, or the script contains a promotion.
    pub(super) fn is_gated(&self) -> bool {
        self.generations.len() > 1 || self.promotes
    }
}
