//! How fast the work went, where the time went, and how busy the device was.

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Part as Stack, Point, Series, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, Table, drawn};
use crate::report::steps::Step;

/// Kinds of steps, as the tables name them and as people do.
const KINDS: [(&str, &str); 6] = [
    ("self_play", "self-play"),
    ("train", "training"),
    ("arena", "matches"),
    ("search", "analysis"),
    ("network", "making nets"),
    ("grow", "growing nets"),
];
/// What happens before the first self-play, or where there is none.
const BEFORE: &str = "before";

/// One chart over iterations: its name, heading, sentence, axis, and the figure of a step of self-play.
struct Plan {
    name: &'static str,
    title: &'static str,
    about: &'static str,
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
        title: "Evaluations a second",
        about: "Positions that searches asked of the net, remembered answers included, for each second of self-play.",
        axis: || Axis::plain("evaluations/s").from_zero(),
        figure: |step| Some(evaluations(step)? / above_zero(step.seconds?)?),
    },
    Plan {
        name: "positions-per-second",
        title: "Positions a second",
        about: "Positions searched and stored for each second of self-play.",
        axis: || Axis::plain("positions/s").from_zero(),
        figure: |step| Some(step.figure("positions")? / above_zero(step.seconds?)?),
    },
    Plan {
        name: "mean-batch",
        title: "Mean batch",
        about: "Rows that reached the net at a time.",
        axis: || Axis::plain("rows").from_zero(),
        figure: |step| step.costs.mean_batch,
    },
    Plan {
        name: "batch-fill",
        title: "Batch fill",
        about: "The mean batch as a share of the largest.",
        axis: || Axis::share("share"),
        figure: |step| step.costs.batch_fill,
    },
    Plan {
        name: "cache-hits",
        title: "Cache hits",
        about: "Evaluations that were remembered, so that the net was not asked.",
        axis: || Axis::share("share of evaluations"),
        figure: |step| Some(cache_hits(step)? / above_zero(evaluations(step)?)?),
    },
    Plan {
        name: "net-idle",
        title: "Idle share",
        about: "Share of the lanes' time that passed outside nets: searching, storing, waiting.",
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
    about: "How fast self-play and training were, and where the time went.",
    without: |_| "no step has both a result and a time",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, run) in context.runs.iter().enumerate() {
        parts.extend(drawn(time(context, run, at)));
    }
    parts.extend(PLANS.iter().filter_map(|plan| drawn(chart(context, plan))));
    parts.extend(totals(context).map(Part::Table));
    Ok(parts)
}

fn chart(context: &Context<'_>, plan: &Plan) -> Chart {
    let series = |(at, run): (usize, &ReportRun)| {
        let played = context.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
        let point = |step: &Step| Some(Point::new(f64::from(step.number?), (plan.figure)(step)?));
        let points = played.filter_map(point).filter(|point| point.y.is_finite()).collect();
        Series { name: run.name.clone(), ink: Ink::Series(at), joined: Joined::Marked, points }
    };
    Chart {
        name: plan.name.to_owned(),
        title: plan.title.to_owned(),
        about: plan.about.to_owned(),
        x: Axis::whole("iteration"),
        y: (plan.axis)(),
        marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
        references: Vec::new(),
    }
}

/// Seconds by kind, from one step of self-play to the next.
fn time(context: &Context<'_>, run: &ReportRun, at: usize) -> Chart {
    let mut rounds: Vec<(String, [f64; KINDS.len()])> = Vec::new();
    for step in context.steps.iter().filter(|step| step.run == run.name) {
        if let ("self_play", Some(number)) = (step.kind.as_str(), step.number) {
            rounds.push((number.to_string(), [0.0; KINDS.len()]));
        }
        let kind = KINDS.iter().position(|(kind, _)| *kind == step.kind);
        let Some((kind, seconds)) = kind.zip(step.seconds) else { continue };
        if rounds.is_empty() {
            rounds.push((BEFORE.to_owned(), [0.0; KINDS.len()]));
        }
        if let Some((_, round)) = rounds.last_mut() {
            round[kind] += seconds;
        }
    }
    let part = |(kind, (_, name)): (usize, &(&str, &str))| {
        let values: Vec<f64> = rounds.iter().map(|(_, round)| round[kind]).collect();
        Stack { name: (*name).to_owned(), ink: Ink::Series(kind), values }
    };
    let parts: Vec<Stack> = KINDS.iter().enumerate().map(part).collect();
    let parts: Vec<Stack> =
        parts.into_iter().filter(|part| part.values.iter().any(|value| *value > 0.0)).collect();
    let categories =
        if parts.is_empty() { Vec::new() } else { rounds.into_iter().map(|(name, _)| name).collect() };
    let of = if context.runs.len() > 1 { format!(" of {}", run.name) } else { String::new() };
    Chart {
        name: format!("time-{at}"),
        title: format!("Where the time{of} went"),
        about: "Seconds of each kind of step, before the first self-play and from one iteration to the next."
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
        let own: Vec<&Step> = context.steps.iter().filter(|step| step.run == run.name).collect();
        let all: f64 = own.iter().filter_map(|step| step.seconds).sum();
        let mut kinds: Vec<&str> = own.iter().map(|step| step.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let steps = own.iter().filter(|step| step.kind == kind);
            let seconds: f64 = steps.clone().filter_map(|step| step.seconds).sum();
            let processors: Option<f64> = steps.clone().map(|step| step.costs.cpu_seconds).sum();
            rows.push((
                false,
                vec![
                    run.name.clone(),
                    kind.replace('_', "-"),
                    steps.count().to_string(),
                    duration(seconds),
                    if all > 0.0 { format!("{:.1} %", 100.0 * seconds / all) } else { "–".to_owned() },
                    processors.map_or_else(|| "–".to_owned(), duration),
                ],
            ));
        }
    }
    let head =
        ["run", "kind of step", "steps", "time", "share", "time of processors"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| Table { title: "Time by kind of step".to_owned(), head, rows, words: 2 })
}

/// Seconds as people say them.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        long if long >= 172_800.0 => format!("{} days", short(long / 86_400.0)),
        long if long >= 5_400.0 => format!("{} h", short(long / 3600.0)),
        long if long >= 90.0 => format!("{} min", short(long / 60.0)),
        other => format!("{} s", short(other)),
    }
}
