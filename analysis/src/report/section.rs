//! What a report is made of: sections of charts, tables and words.

use super::games::SampleGame;
use crate::charts::Chart;

/// A part of a report under a heading of its own.
pub(super) struct Section {
    /// Its name in the page's address.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it shows, in a sentence.
    pub(super) about: &'static str,
    /// What it holds, or why it is left out.
    pub(super) body: Result<Vec<Part>, String>,
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
    /// A section of parts, left out for a reason if there are none.
    pub(super) fn new(
        id: &'static str,
        title: &'static str,
        about: &'static str,
        parts: Vec<Part>,
        reason: &str,
    ) -> Self {
        let body = if parts.is_empty() { Err(reason.to_owned()) } else { Ok(parts) };
        Self { id, title, about, body }
    }

    /// Every chart in it.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.body.iter().flatten().flat_map(Part::charts)
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
