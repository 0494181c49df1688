//! Replay reuse: how often each position is trained on.

use std::collections::BTreeSet;

use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Series, SeriesStyle};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, drawn};
use crate::report::steps::Step;
use crate::staleness::step_of;

/// The samples per new position at which KataGo stops training until new games arrive.
pub(super) const KATAGO: f64 = 4.0;

pub(super) fn trainings<'a>(context: &'a Context<'_>, run: &'a ReportRun) -> impl Iterator<Item = &'a Step> {
    context.steps.iter().filter(|step| step.run == run.name && step.kind == "train")
}

/// The net's number and the samples per new position, for each training that had new positions; none if the run trained on games of
/// datasets or other runs, whose positions are not known.
pub(super) fn ratios(context: &Context<'_>, run: &ReportRun) -> Vec<(f64, f64)> {
    if trains_on_others(context, run) {
        return Vec::new();
    }
    let own = context.reuses.iter().filter(|reuse| reuse.run == run.name);
    own.map(|reuse| (f64::from(reuse.network), reuse.samples)).collect()
}

/// Whether a training of a run read games that no step of the run stored.
pub(super) fn trains_on_others(context: &Context<'_>, run: &ReportRun) -> bool {
    let sources = || context.database.catalog().runs.iter().filter(|source| source.name == run.name);
    let own: BTreeSet<&str> =
        sources().flat_map(|source| &source.steps).map(|step| step.identity.as_str()).collect();
    let trainings = sources().flat_map(|source| &source.steps).filter(|step| step.kind == "train");
    let mut games = trainings.flat_map(|step| &step.inputs).filter_map(|(name, _)| step_of(name));
    games.any(|step| !own.contains(step))
}

pub(super) const SECTION: Section = Section {
    id: "reuse",
    title: "Replay reuse",
    about: "How often each position is trained on. Too often leads to overfitting; too seldom wastes games.",
    reads: &["positions", "steps"],
    no_data: |_| "no training is finished",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let series = |points: &dyn Fn(&ReportRun) -> Vec<(f64, f64)>| {
        let of_run = |(index, run): (usize, &ReportRun)| Series {
            name: run.name.clone(),
            ink: Ink::Series(index),
            style: SeriesStyle::MarkedLine,
            points: points(run).into_iter().map(|(x, y)| Point::new(x, y)).collect(),
        };
        Marks::Series(context.runs.iter().enumerate().map(of_run).collect())
    };
    let window = |run: &ReportRun| {
        let ratio = |step: &Step| {
            let samples = step.figure("training_samples").filter(|samples| *samples > 0.0)?;
            Some((f64::from(step.number?), step.figure("samples_seen")? / samples))
        };
        trainings(context, run).filter_map(ratio).collect()
    };
    let chart = |name: &str, title: &str, caption: &str, marks: Marks, references: Vec<Reference>| Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x: Axis::integer("net"),
        y: Axis::plain("samples per position").from_zero(),
        marks,
        references,
    };
    let new = chart(
        "reuse-total",
        "Samples per new position",
        "Samples of one training per position that no earlier training of the run read; where only positions with a policy target are \
         trained on, only they count. Held-out games are included. A game is new once, also if a reanalysis gives its positions their \
         first policy targets later. Trainings without new positions are left out, and those for which their number is not known. \
         KataGo stops training at 4 until new games arrive.",
        series(&|run| ratios(context, run)),
        vec![Reference::Level(KATAGO, "KataGo's limit".to_owned())],
    );
    let per_training = chart(
        "reuse-window",
        "Reuse in each training",
        "Samples of one training per position that it trained on; held-out games are left out.",
        series(&window),
        Vec::new(),
    );
    let parts: Vec<Part> = [new, per_training].into_iter().filter_map(drawn).collect();
    Ok(parts)
}
