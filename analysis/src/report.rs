//! What happened in some runs, as one page that needs nothing else: figures by SQL, sections of them, HTML.
//!
//! The same data give the same bytes: no clock is read, and ties are broken by name and number.

mod calibration;
mod context;
mod curve;
mod game_ends;
mod inputs;
mod matches;
mod page;
mod parameter_axis;
mod section;
mod sections;
mod steps;
mod variety;

pub use inputs::{ReportRun, ReportSweep};

use crate::charts::Chart;
use crate::database::Database;
use crate::error::AnalysisError;
use context::Context;
use section::Filled;
use sections::SECTIONS;

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The page.
    pub html: String,
    /// Every chart in it.
    pub charts: Vec<Chart>,
}

/// The report of some runs and sweeps.
pub fn report(
    database: &Database,
    runs: &[ReportRun],
    sweeps: &[ReportSweep],
) -> Result<Report, AnalysisError> {
    let context = Context::new(database, runs, sweeps)?;
    let filled = SECTIONS.iter().map(|section| section.filled(&context)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = runs
        .iter()
        .map(|run| run.name.as_str())
        .chain(sweeps.iter().map(|sweep| sweep.name.as_str()))
        .collect();
    let charts = filled.iter().flat_map(Filled::charts).cloned().collect();
    Ok(Report { html: page::page(&names.join(", "), &filled), charts })
}
