//! The building blocks of a report: sections of charts, tables and text.

use serde_json::Value as Json;

use super::context::Context;
use crate::charts::Chart;
use crate::error::AnalysisError;

/// A section of the report. Each is declared once, in its own file, and listed in [`SECTIONS`](super::sections::SECTIONS).
pub(super) struct Section {
    /// Its anchor in the page.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it shows, in a sentence.
    pub(super) about: &'static str,
    /// The tables that it shows, and facts besides, as [`Damage::affects`](crate::Damage) names them.
    pub(super) reads: &'static [&'static str],
    /// The reason that is given if it has no parts.
    pub(super) no_data: fn(&Context<'_>) -> &'static str,
    /// Builds its parts from the context and its own queries.
    pub(super) parts: fn(&Context<'_>) -> Result<Vec<Part>, AnalysisError>,
}

/// A section with its parts.
pub(super) struct BuiltSection<'a> {
    pub(super) section: &'a Section,
    /// Its parts, or why it has none.
    pub(super) parts: Result<Vec<Part>, &'static str>,
}

/// A part of a section.
pub(super) enum Part {
    /// A heading within the section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Key figures, as names and values.
    Tiles(Vec<(String, String)>),
    /// A chart.
    Chart(Box<Chart>),
    /// A label, and charts with their names, of which the reader selects one.
    Choice(String, Vec<(String, Chart)>),
    /// A table.
    Table(Table),
    /// The results of health checks.
    Findings(Vec<Finding>),
    /// Games to step through.
    Games(Vec<SampleGame>),
    /// A title, and a long text that is shown on demand.
    Folded(String, String),
}

/// A table.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) head: Vec<String>,
    /// Each with its cells; `true` if it is highlighted.
    pub(super) rows: Vec<(bool, Vec<String>)>,
    /// The number of columns on the left that hold text, not numbers.
    pub(super) text_columns: usize,
}

/// A game as the page's viewer reads it.
pub(super) struct SampleGame {
    /// Its name in the list of games.
    pub(super) title: String,
    /// Its moves and searches.
    pub(super) data: Json,
}

/// The result of a health check.
pub(super) struct Finding {
    pub(super) run: String,
    pub(super) status: Status,
    /// The check's name.
    pub(super) check: &'static str,
    /// What was found, with the threshold.
    pub(super) found: String,
    /// Why it matters, with the source.
    pub(super) why: &'static str,
}

/// Whether a check passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Passed,
    Warning,
    /// There is no data for the check.
    NoData,
}

/// Why a report on sweeps alone has no sections on runs.
const ONLY_SWEEPS: &str = "only sweeps were given; the run of each trial has a report of its own";

impl Section {
    pub(super) fn build(&self, context: &Context<'_>) -> Result<BuiltSection<'_>, AnalysisError> {
        let parts = (self.parts)(context)?;
        let reason = || {
            let is_of_runs = context.runs.is_empty() && !context.sweeps.is_empty() && self.id != "sweep";
            if is_of_runs { ONLY_SWEEPS } else { (self.no_data)(context) }
        };
        let parts = if parts.is_empty() { Err(reason()) } else { Ok(parts) };
        Ok(BuiltSection { section: self, parts })
    }
}

impl BuiltSection<'_> {
    /// Its charts.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.parts.iter().flatten().flat_map(Part::charts)
    }
}

impl Part {
    fn charts(&self) -> Vec<&Chart> {
        match self {
            Self::Chart(chart) => vec![chart],
            Self::Choice(_, charts) => charts.iter().map(|(_, chart)| chart).collect(),
            _ => Vec::new(),
        }
    }
}

/// A chart as a part; `None` if it is empty.
pub(super) fn drawn(chart: Chart) -> Option<Part> {
    (!chart.is_empty()).then_some(Part::Chart(Box::new(chart)))
}
