//! Throughput, where the time went, and how busy the nets were.

use crate::charts::{Axis, Chart, Ink, Marks, Point, Series, SeriesStyle, StackSeries, percent, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, Table, drawn};
use crate::report::steps::{Step, kinds};

/// The category of steps before the first self-play, and of runs without any.
const BEFORE: &str = "before";

/// A chart by iteration, with the figure of a self-play step that it shows.
struct Plan {
    name: &'static str,
    title: &'static str,
    caption: &'static str,
    axis: fn() -> Axis,
    figure: fn(&Step) -> Option<f64>,
}

fn evaluations(step: &Step) -> Option<f64> {
    step.costs.evaluations.or_else(|| step.figure("evaluations"))
}

fn cache_hits(step: &Step) -> Option<f64> {
    step.costs.cache_hits.or_else(|| step.figure("cache_hits"))
}

const PLANS: [Plan; 6] = [
    Plan {
        name: "evaluations-per-second",
        title: "Evaluations per second",
        caption: "Evaluations that searches requested, cache hits included, per second of self-play.",
        axis: || Axis::plain("evaluations/s").from_zero(),
        figure: |step| Some(evaluations(step)? / above_zero(step.seconds?)?),
    },
    Plan {
        name: "positions-per-second",
        title: "Positions per second",
        caption: "Positions searched and stored per second of self-play.",
        axis: || Axis::plain("positions/s").from_zero(),
        figure: |step| Some(step.figure("positions")? / above_zero(step.seconds?)?),
    },
    Plan {
        name: "mean-batch",
        title: "Mean batch size",
        caption: "Mean number of positions that the net evaluates at once.",
        axis: || Axis::plain("positions").from_zero(),
        figure: |step| step.costs.mean_batch,
    },
    Plan {
        name: "batch-fill",
        title: "Batch fill",
        caption: "Mean batch size as a share of the largest.",
        axis: || Axis::share("share"),
        figure: |step| step.costs.batch_fill,
    },
    Plan {
        name: "cache-hits",
        title: "Cache hits",
        caption: "Evaluations answered from the cache, without the net.",
        axis: || Axis::share("share of evaluations"),
        figure: |step| Some(cache_hits(step)? / above_zero(evaluations(step)?)?),
    },
    Plan {
        name: "net-idle",
        title: "Idle share",
        caption: "Share of the lanes' time spent outside nets: searching, storing, waiting.",
        axis: || Axis::share("share of time"),
        figure: |step| step.costs.net_idle,
    },
];

fn above_zero(number: f64) -> Option<f64> {
    (number > 0.0).then_some(number)
}

pub(super) const SECTION: Section = Section {
    id: "speed",
    title: "Speed and time",
    about: "How fast self-play was, and where the time went.",
    reads: &["costs", "journal", "steps"],
    no_data: |_| "no step is finished",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts: Vec<Part> = Vec::new();
    // A kind has the same colour in the charts of all runs.
    let kinds = kinds(&context.steps);
    for (index, run) in context.runs.iter().enumerate() {
        parts.extend(drawn(time(context, &kinds, run, index)));
    }
    parts.extend(PLANS.iter().filter_map(|plan| drawn(chart(context, plan))));
    parts.extend(totals(context).map(Part::Table));
    Ok(parts)
}

fn chart(context: &Context<'_>, plan: &Plan) -> Chart {
    let series = |(index, run): (usize, &ReportRun)| {
        let self_play = context.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
        let point = |step: &Step| Some(Point::new(f64::from(step.number?), (plan.figure)(step)?));
        let points = self_play.filter_map(point).filter(|point| point.y.is_finite()).collect();
        Series { name: run.name.clone(), ink: Ink::Series(index), style: SeriesStyle::MarkedLine, points }
    };
    Chart {
        name: plan.name.to_owned(),
        title: plan.title.to_owned(),
        caption: plan.caption.to_owned(),
        x: Axis::integer("iteration"),
        y: (plan.axis)(),
        marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
        references: Vec::new(),
    }
}

/// Seconds by kind of step, for each iteration: from one self-play step to the next.
fn time(context: &Context<'_>, kinds: &[&str], run: &ReportRun, index: usize) -> Chart {
    let mut iterations: Vec<(String, Vec<f64>)> = Vec::new();
    for step in context.steps.iter().filter(|step| step.run == run.name) {
        if let ("self_play", Some(number)) = (step.kind.as_str(), step.number) {
            iterations.push((number.to_string(), vec![0.0; kinds.len()]));
        }
        let kind = kinds.iter().position(|kind| *kind == step.kind);
        let Some((kind, seconds)) = kind.zip(step.waited()) else { continue };
        if iterations.is_empty() {
            iterations.push((BEFORE.to_owned(), vec![0.0; kinds.len()]));
        }
        if let Some((_, times)) = iterations.last_mut() {
            times[kind] += seconds;
        }
    }
    let part = |(kind, name): (usize, &&str)| StackSeries {
        name: (*name).to_owned(),
        ink: Ink::Series(kind),
        values: iterations.iter().map(|(_, times)| times[kind]).collect(),
    };
    let is_taken = |part: &StackSeries| part.values.iter().any(|value| *value > 0.0);
    let mut parts: Vec<StackSeries> = kinds.iter().enumerate().map(part).filter(is_taken).collect();
    // With more kinds than colours, no two of one chart have the same one.
    if kinds.len() > Ink::SERIES {
        parts.iter_mut().enumerate().for_each(|(index, part)| part.ink = Ink::Series(index));
    }
    let categories =
        if parts.is_empty() { Vec::new() } else { iterations.into_iter().map(|(name, _)| name).collect() };
    let in_run = if context.runs.len() > 1 { format!(" in {}", run.name) } else { String::new() };
    Chart {
        name: format!("time-{index}"),
        title: format!("Where the time went{in_run}"),
        caption: "Seconds by kind of step, before the first self-play and for each iteration; of games beside other steps, those in which \
            the script waited for them."
            .to_owned(),
        x: Axis::plain("iteration"),
        y: Axis::plain("seconds").from_zero(),
        marks: Marks::Stacks { categories, parts },
        references: Vec::new(),
    }
}

fn totals(context: &Context<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for run in context.runs {
        let run_steps: Vec<&Step> = context.steps.iter().filter(|step| step.run == run.name).collect();
        let all: f64 = run_steps.iter().filter_map(|step| step.waited()).sum();
        // The processor's time is that of all steps at the moment.
        let is_shared = run_steps.iter().any(|step| step.is_beside());
        let mut kinds: Vec<&str> = run_steps.iter().map(|step| step.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let steps = run_steps.iter().filter(|step| step.kind == kind);
            let seconds: f64 = steps.clone().filter_map(|step| step.waited()).sum();
            let cpu: Option<f64> = steps.clone().map(|step| step.costs.cpu_seconds).sum();
            let cpu = cpu.filter(|_| !is_shared);
            rows.push((
                false,
                vec![
                    run.name.clone(),
                    kind.to_owned(),
                    steps.count().to_string(),
                    duration(seconds),
                    if all > 0.0 { percent(seconds / all, 1) } else { "–".to_owned() },
                    cpu.map_or_else(|| "–".to_owned(), duration),
                ],
            ));
        }
    }
    let head = ["run", "kind of step", "steps", "time", "share", "CPU time"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| Table {
        title: "Time by kind of step".to_owned(),
        head,
        rows,
        text_columns: 2,
    })
}

/// Seconds in a readable unit.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        long if long >= 172_800.0 => format!("{} days", short(long / 86_400.0)),
        long if long >= 5_400.0 => format!("{} h", short(long / 3600.0)),
        long if long >= 90.0 => format!("{} min", short(long / 60.0)),
        other => format!("{} s", short(other)),
    }
}
