//! What a report is made of: sections of charts, tables and words.

use serde_json::Value as Json;

use super::context::Context;
use crate::charts::Chart;
use crate::error::AnalysisError;

/// A part of a report under a heading of its own. Each is declared once, in a file of its own, and stands in
/// [`SECTIONS`](super::sections::SECTIONS).
pub(super) struct Section {
    /// Its name in the page's address.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it shows, in a sentence.
    pub(super) about: &'static str,
    /// Why there is none if it has no parts.
    pub(super) without: fn(&Context<'_>) -> &'static str,
    /// What it holds: of what the context has read, and of statements of its own.
    pub(super) parts: fn(&Context<'_>) -> Result<Vec<Part>, AnalysisError>,
}

/// A section of one report.
pub(super) struct Filled<'a> {
    pub(super) section: &'a Section,
    /// What it holds, or why it is left out.
    pub(super) parts: Result<Vec<Part>, &'static str>,
}

/// A piece of a section.
pub(super) enum Part {
    /// A heading within the section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Figures that are to be seen at a glance, each with its name.
    Tiles(Vec<(String, String)>),
    /// A chart.
    Chart(Box<Chart>),
    /// The same over other axes; the reader picks one.
    Choice(String, Vec<(String, Chart)>),
    /// Rows of text.
    Table(Table),
    /// What is sound and what is not.
    Findings(Vec<Finding>),
    /// Games to step through.
    Games(Vec<SampleGame>),
    /// A long text that is shown when it is asked for.
    Folded(String, String),
}

/// Rows of text.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) head: Vec<String>,
    /// Each with the words of its cells; `true` where it stands out.
    pub(super) rows: Vec<(bool, Vec<String>)>,
    /// The number of columns at the left that hold words and no numbers.
    pub(super) words: usize,
}

/// A game as the page's board reads it.
pub(super) struct SampleGame {
    /// What people choose it by.
    pub(super) title: String,
    /// Everything about it.
    pub(super) data: Json,
}

/// What was looked at, and what came of it.
pub(super) struct Finding {
    pub(super) run: String,
    pub(super) state: State,
    /// What was looked at.
    pub(super) what: &'static str,
    /// What was found, with the threshold.
    pub(super) found: String,
    /// Why it matters, and who says so.
    pub(super) why: &'static str,
}

/// Whether something is sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Sound,
    Warning,
    /// There is no data to tell.
    Unknown,
}

impl Section {
    pub(super) fn filled(&self, context: &Context<'_>) -> Result<Filled<'_>, AnalysisError> {
        let parts = (self.parts)(context)?;
        let parts = if parts.is_empty() { Err((self.without)(context)) } else { Ok(parts) };
        Ok(Filled { section: self, parts })
    }
}

impl Filled<'_> {
    /// Every chart in it.
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

/// A chart as a part, unless there is nothing to draw.
pub(super) fn drawn(chart: Chart) -> Option<Part> {
    (!chart.is_empty()).then_some(Part::Chart(Box::new(chart)))
}
