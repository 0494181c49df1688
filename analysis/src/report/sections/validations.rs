//! Nets measured on stored games, by `run.validate`.

use crate::charts::{percent, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::section::{Part, Section, Table};
use crate::report::steps::Step;

pub(super) const SECTION: Section = Section {
    id: "validations",
    title: "Validation",
    about: "What nets predict of stored games, which may be those that they learned from unless held_out is at most the \
        validation_fraction of their trainings. Policy losses are in nats, value losses in nats or, of scalar heads, squared errors, \
        both against the targets of a training; then how often the target's best move is the likeliest or one of three. Of the positions \
        with a result, by tablebases or by a game that the ply cap did not end: the squared error of win, draw and loss (Brier 1950), and \
        how far expected scores are from those that followed.",
    reads: &["steps"],
    no_data: |_| "no net was measured on stored games; run.validate does that",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let steps = context.steps.iter().filter(|step| step.kind == "validate");
    let rows: Vec<(bool, Vec<String>)> = steps.map(|step| (false, cells(context, step))).collect();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let head = [
        "validation",
        "net",
        "games",
        "positions",
        "policy loss",
        "entropy of targets",
        "likeliest right",
        "of three",
        "value loss",
        "with a result",
        "Brier",
        "calibration error",
    ];
    let title = "Nets on stored games".to_owned();
    Ok(vec![Part::Table(Table { title, head: head.map(str::to_owned).to_vec(), rows, text_columns: 2 })])
}

/// A figure that nothing was measured for is a dash.
fn cells(context: &Context<'_>, step: &Step) -> Vec<String> {
    let run = if context.runs.len() > 1 { format!("{} ", step.run) } else { String::new() };
    let number = step.number.map_or_else(String::new, |number| format!("{number:04}"));
    let shown = |name, format: fn(f64) -> String| step.figure(name).map_or_else(|| "–".to_owned(), format);
    let share: fn(f64) -> String = |share| percent(share, 1);
    let loss: fn(f64) -> String = |loss| format!("{loss:.3}");
    vec![
        format!("{run}{number}"),
        step.network.clone(),
        shown("games", short),
        shown("positions", short),
        shown("policy_loss", loss),
        shown("policy_entropy", loss),
        shown("policy_accuracy", share),
        shown("policy_top_three", share),
        shown("value_loss", loss),
        shown("scored_positions", short),
        shown("brier", loss),
        shown("calibration_error", loss),
    ]
}
