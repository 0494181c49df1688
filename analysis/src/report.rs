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
mod reuse;
mod section;
mod sections;
mod steps;

pub use inputs::{ReportRun, ReportSweep};

use crate::charts::Chart;
use crate::database::Database;
use crate::error::AnalysisError;
use crate::source::Damage;
use context::Context;
use section::{BuiltSection, Section};
use sections::{COMPARED, SECTIONS};

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The HTML page.
    pub html: String,
    /// Every chart on the page.
    pub charts: Vec<Chart>,
    /// What is missing or damaged, and left out.
    pub faults: Vec<Damage>,
}

/// Builds the report of some runs and sweeps.
pub fn report(
    database: &Database,
    runs: &[ReportRun],
    sweeps: &[ReportSweep],
) -> Result<Report, AnalysisError> {
    built(&Context::new(database, runs, sweeps)?, SECTIONS)
}

/// Builds a page with some runs in the same charts: what can be compared without reading all positions.
pub fn comparison(database: &Database, runs: &[ReportRun]) -> Result<Report, AnalysisError> {
    built(&Context::without_games(database, runs)?, COMPARED)
}

fn built(context: &Context<'_>, sections: &[Section]) -> Result<Report, AnalysisError> {
    let sections = sections.iter().map(|section| section.build(context)).collect::<Result<Vec<_>, _>>()?;
    let runs = context.runs.iter().map(|run| run.name.as_str());
    let names: Vec<&str> = runs.chain(context.sweeps.iter().map(|sweep| sweep.name.as_str())).collect();
    let charts = sections.iter().flat_map(BuiltSection::charts).cloned().collect();
    let faults = context.database.faults();
    Ok(Report { html: page::page(&names.join(", "), &sections, &faults), charts, faults })
}
