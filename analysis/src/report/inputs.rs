//! What the runner says of runs and sweeps besides what their tables hold, as plain data.

use dc0_core::params::Value;

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

impl ReportRun {
    /// Whether candidates have to pass something before they are played with: a net has been promoted, or the script asks for it.
    pub(super) fn is_gated(&self) -> bool {
        self.generations.len() > 1 || self.script.contains("promote(")
    }
}
