//! What a script would do under other assumptions about its results than those of the plan that is shown.

use std::time::Duration;

use dc0_core::text_table::{Align, aligned};
use dc0_process::format::{counted, duration};
use serde_json::{Value as Json, json};

use crate::assumption::Assumption;
use crate::trace::Reading;

/// How a script ends under an assumption.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannedEnd {
    /// It comes to its end.
    Ends {
        /// Distinct steps.
        steps: usize,
        /// The estimated time of what is left to do, if this machine was measured.
        seconds: Option<f64>,
    },
    /// It asks for more and more steps.
    Endless {
        /// The number after which it was given up.
        steps: usize,
        /// The queries of tables that counted as steps, too, if the steps alone were not too many.
        queries: usize,
    },
    /// It stops with an error of its own: a failed `assert`, or a `throw`.
    Fails(String),
}

/// The plan of a script under one assumption, beside the one that is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The assumption.
    pub assumption: Assumption,
    /// Whether the script reads tables that are assumed.
    pub reads_tables: bool,
    /// How the script ends.
    pub end: PlannedEnd,
    /// Whether it is the plan that is shown.
    pub is_shown: bool,
    /// Whether its steps are others than those of the plan that is shown.
    pub differs: bool,
    /// The reading from which on they differ, if it is known.
    pub parting: Option<Reading>,
}

/// The alternatives as text; nothing if all plans are the same.
pub(super) fn render(alternatives: &[Alternative]) -> String {
    if alternatives.iter().all(|alternative| !alternative.differs) {
        return String::new();
    }
    let rows: Vec<Vec<String>> = alternatives.iter().map(Alternative::row).collect();
    let lines = aligned(&rows, |_| Align::Left).into_iter().map(|line| format!("  {}\n", line.trim_end()));
    "\nThe plan depends on results that are not known yet. If\n".to_owned() + &lines.collect::<String>()
}

/// How long a plan is.
pub(super) fn size(steps: usize, queries: usize) -> String {
    let steps = counted(steps, "step");
    if queries == 0 { steps } else { format!("{steps} and {} of tables", counted(queries, "query")) }
}

impl Alternative {
    fn row(&self) -> Vec<String> {
        let end = match &self.end {
            PlannedEnd::Ends { steps, seconds: Some(seconds) } => {
                format!("{}, {}", counted(*steps, "step"), duration(Duration::from_secs_f64(*seconds)))
            }
            PlannedEnd::Ends { steps, seconds: None } => counted(*steps, "step"),
            PlannedEnd::Endless { steps, queries } => format!("no end after {}", size(*steps, *queries)),
            // A row of the table is one line.
            PlannedEnd::Fails(message) => {
                let lines: Vec<&str> = message.lines().map(str::trim).collect();
                format!("stops at {}", lines.join("; "))
            }
        };
        let parting = match &self.parting {
            _ if self.is_shown => "this plan".to_owned(),
            _ if !self.differs => "the same plan".to_owned(),
            Some(reading) => format!("differs from {reading}"),
            None => "differs".to_owned(),
        };
        let words = if self.reads_tables {
            self.assumption.words_with_tables()
        } else {
            self.assumption.words().to_owned()
        };
        vec![format!("{words}:"), end, parting]
    }

    pub(super) fn to_json(&self) -> Json {
        let (steps, seconds, error) = match &self.end {
            PlannedEnd::Ends { steps, seconds } => (Some(steps), *seconds, None),
            PlannedEnd::Endless { .. } => (None, None, None),
            PlannedEnd::Fails(message) => (None, None, Some(message)),
        };
        let parting = self.parting.as_ref().map(|reading| {
            let (line, column) = reading.point.unzip();
            json!({ "file": reading.source, "line": line, "column": column, "figure": reading.figure })
        });
        json!({ "assumption": self.assumption.name(), "is_shown": self.is_shown, "steps": steps, "seconds": seconds,
            "is_endless": matches!(self.end, PlannedEnd::Endless { .. }), "error": error, "differs": self.differs, "differs_from": parting })
    }
}
