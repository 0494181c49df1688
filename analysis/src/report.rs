//! Reports: what happened in some runs, as one self-contained HTML page with figures from SQL queries.
//!
//! Equal data give equal bytes: no clock is read, and ties are broken by name and number.

mod calibration;
mod context;
mod curve;
mod diversity;
mod inputs;
mod matches;
mod outcomes;
mod page;
mod parameter_axis;
mod section;
mod sections;
mod steps;

pub use inputs::{ReportRun, ReportSweep};

use crate::charts::Chart;
use crate::database::Database;
use crate::error::AnalysisError;
use context::Context;
use section::BuiltSection;
use sections::SECTIONS;

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The HTML page.
    pub html: String,
    /// Every chart on the page.
    pub charts: Vec<Chart>,
}

/// Builds the report of some runs and sweeps.
pub fn report(
    database: &Database,
    runs: &[ReportRun],
    sweeps: &[ReportSweep],
) -> Result<Report, AnalysisError> {
    let context = Context::new(database, runs, sweeps)?;
    let sections = SECTIONS.iter().map(|section| section.build(&context)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = runs
        .iter()
        .map(|run| run.name.as_str())
        .chain(sweeps.iter().map(|sweep| sweep.name.as_str()))
        .collect();
    let charts = sections.iter().flat_map(BuiltSection::charts).cloned().collect();
    Ok(Report { html: page::page(&names.join(", "), &sections), charts })
}
