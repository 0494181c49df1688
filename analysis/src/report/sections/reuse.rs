//! How often what was played is trained on.

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Reference, Series};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, drawn};
use crate::report::steps::Step;

/// Samples for each position beyond which KataGo stops training until new games come.
pub(super) const KATAGO: f64 = 4.0;

fn trainings<'a>(context: &'a Context<'_>, run: &'a ReportRun) -> impl Iterator<Item = &'a Step> {
    context.steps.iter().filter(|step| step.run == run.name && step.kind == "train")
}

/// Samples seen since the run began for each position played, after each training: the net's number and the ratio.
pub(super) fn ratios(context: &Context<'_>, run: &ReportRun) -> Vec<(f64, f64)> {
    let mut seen = 0.0;
    let ratio = |step: &Step| {
        seen += step.figure("samples_seen")?;
        (step.spent.positions > 0.0)
            .then(|| (f64::from(step.number.unwrap_or_default()), seen / step.spent.positions))
    };
    trainings(context, run).filter_map(ratio).collect()
}

pub(super) const SECTION: Section = Section {
    id: "reuse",
    title: "Replay reuse",
    about: "How often positions are trained on: too often, and nets learn them by heart; too seldom, and games are wasted.",
    without: |_| "no training is finished",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let series = |points: &dyn Fn(&ReportRun) -> Vec<(f64, f64)>| {
        let of_run = |(at, run): (usize, &ReportRun)| Series {
            name: run.name.clone(),
            ink: Ink::Series(at),
            joined: Joined::Marked,
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
    let chart = |name: &str, title: &str, about: &str, marks: Marks, references: Vec<Reference>| Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        about: about.to_owned(),
        x: Axis::whole("net"),
        y: Axis::plain("samples a position").from_zero(),
        marks,
        references,
    };
    let all = chart(
        "reuse-total",
        "Reuse since the beginning",
        "Samples trained on so far for each position played so far. KataGo stops training at 4 until new games come.",
        series(&|run| ratios(context, run)),
        vec![Reference::Level(KATAGO, "KataGo's limit".to_owned())],
    );
    let own = chart(
        "reuse-window",
        "Reuse in each training",
        "Samples of one training for each position of its window.",
        series(&window),
        Vec::new(),
    );
    let parts: Vec<Part> = [all, own].into_iter().filter_map(drawn).collect();
    Ok(parts)
}
