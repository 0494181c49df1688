//! Training curves: losses, accuracy, entropy, gradients and the learning rate.

use std::collections::BTreeMap;

use crate::charts::{Axis, Chart, Ink, Marks, Series, SeriesStyle};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::curve::thinned;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, drawn};
use crate::report::steps::Step;

/// The rows of all training steps of a run, one after the other.
struct Curves {
    /// Updates since the run began.
    updates: Vec<f64>,
    /// Hours of work since the run began; NaN where the journal has no time for the step.
    hours: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

/// The columns of both `training` and `validation`.
const BOTH: [&str; 6] = ["loss", "policy_loss", "value_loss", "policy_accuracy", "policy_entropy", "brier"];
const TRAINING_ONLY: [&str; 3] = ["gradient_norm", "learning_rate", "weight_norm"];

/// The charts that can be drawn by time, too: the first ones.
const BY_TIME: usize = 3;

/// What a curve is drawn against.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    Updates,
    Time,
}

/// A chart: its name, title, caption, axis label and column.
type Plan = (&'static str, &'static str, &'static str, &'static str, usize);

const PLANS: [Plan; 8] = [
    ("loss", "Loss", "Weighted sum of all losses, in training and on held-out games.", "loss", 0),
    (
        "policy-loss",
        "Policy loss",
        "Cross-entropy of the net's policy with the policy targets, in nats. Training without policy targets is left out.",
        "nats",
        1,
    ),
    (
        "value-loss",
        "Value loss",
        "Loss of the value head. A gap between training and held-out games indicates overfitting.",
        "value loss",
        2,
    ),
    (
        "policy-accuracy",
        "Policy accuracy",
        "How often the net's most likely move is the one with the largest policy target.",
        "share of positions",
        3,
    ),
    (
        "brier",
        "Brier score",
        "Squared error of win, draw and loss against the results of games that have one. Always expecting the same, at its best, gives \
         1 − the sum of the squared shares of wins, draws and losses.",
        "squared error",
        5,
    ),
    ("gradient-norm", "Gradient norm", "L2 norm of the gradient before clipping.", "norm", 6),
    ("weight-norm", "Weight norm", "L2 norm of all trained weights.", "norm", 8),
    ("learning-rate", "Learning rate", "At the last update of each logged interval.", "learning rate", 7),
];

pub(super) const SECTION: Section = Section {
    id: "learning",
    title: "Learning",
    about: "Whether the nets learn, and whether they generalise to games they have not seen.",
    reads: &["steps", "training", "validation"],
    no_data: |_| "no training is stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let (mut training, mut validation) = (Vec::new(), Vec::new());
    for run in context.runs {
        let done = updates_done(context, run)?;
        training.push(curves(context, "training", run, &done, &[&BOTH[..], &TRAINING_ONLY[..]].concat())?);
        validation.push(curves(context, "validation", run, &done, &BOTH)?);
    }
    let has_any = training.iter().any(|curves| !curves.updates.is_empty());
    let mut parts: Vec<Part> = Vec::new();
    if has_any {
        let chart = |plan, against| drawn_chart(context, plan, against, &training, &validation);
        for plan in &PLANS[..BY_TIME] {
            let (by_updates, by_time) = (chart(plan, Against::Updates), chart(plan, Against::Time));
            if by_time.is_empty() {
                parts.extend(drawn(by_updates));
            } else {
                let choices = vec![("updates".to_owned(), by_updates), ("time".to_owned(), by_time)];
                parts.push(Part::Choice(format!("{} by", plan.1), choices));
            }
        }
        parts.extend(PLANS[BY_TIME..].iter().filter_map(|plan| drawn(chart(plan, Against::Updates))));
        parts.splice(2.min(parts.len())..2.min(parts.len()), drawn(entropy(context, &training)));
    }
    Ok(parts)
}

/// The updates since the run began, by the number of the net whose training ended with them.
type UpdatesDone = BTreeMap<u32, f64>;

/// Counted from the training curves, since a training without held-out games has no others.
fn updates_done(context: &Context<'_>, run: &ReportRun) -> Result<UpdatesDone, AnalysisError> {
    let name = crate::quoting::text(&run.name);
    let statement = format!(
        "select net, max(\"update\") as updates from training where run = {name} group by net order by net"
    );
    let answer = context.database.fetch(&statement)?;
    let mut done = 0.0;
    let add = |(net, updates): (f64, f64)| {
        done += updates;
        (net as u32, done)
    };
    Ok(answer.numbers("net")?.into_iter().zip(answer.numbers("updates")?).map(add).collect())
}

fn curves(
    context: &Context<'_>,
    table: &str,
    run: &ReportRun,
    done: &UpdatesDone,
    columns: &[&str],
) -> Result<Curves, AnalysisError> {
    let name = crate::quoting::text(&run.name);
    let statement = format!(
        "select net, \"update\", {} from {table} where run = {name} order by net, \"update\"",
        columns.join(", ")
    );
    let answer = context.database.fetch(&statement)?;
    let (nets, updates) = (answer.numbers("net")?, answer.numbers("update")?);
    let columns = columns.iter().map(|column| answer.numbers(column)).collect::<Result<_, _>>()?;
    let hours = nets.iter().zip(&updates).map(|(net, update)| hours(context, run, *net, *update)).collect();
    let before = |net: f64| done.range(..net as u32).next_back().map_or(0.0, |(_, done)| *done);
    let updates = nets.iter().zip(&updates).map(|(net, update)| before(*net) + update).collect();
    Ok(Curves { updates, hours, columns })
}

/// The time of an update of the training of a net: updates of one training are taken to be equally fast.
fn hours(context: &Context<'_>, run: &ReportRun, net: f64, update: f64) -> f64 {
    let is_it = |step: &&Step| {
        step.run == run.name && step.kind == "train" && step.number.map(f64::from) == Some(net)
    };
    let step = context.steps.iter().find(is_it);
    let time = step.and_then(|step| {
        let (seconds, updates) = (step.waited()?, step.figure("updates").filter(|updates| *updates > 0.0)?);
        Some(step.spent.seconds - seconds + seconds * update / updates)
    });
    time.map_or(f64::NAN, |time| time / 3600.0)
}

impl Curves {
    /// A column's points; for columns of the policy, only those where it was trained.
    fn points(&self, against: Against, column: usize) -> Vec<(f64, f64)> {
        let is_trained = |row: usize| !matches!(column, 1 | 3 | 4) || self.columns[1][row] != 0.0;
        self.points_of(against, |row| if is_trained(row) { self.columns[column][row] } else { f64::NAN })
    }

    /// The divergence of the net's policy from the policy targets: its loss without their entropy.
    fn divergences(&self) -> Vec<(f64, f64)> {
        let [losses, entropies] = [1, 4].map(|column| &self.columns[column]);
        let divergence =
            |row: usize| if losses[row] == 0.0 { f64::NAN } else { losses[row] - entropies[row] };
        self.points_of(Against::Updates, divergence)
    }

    /// A point for each row that has a value.
    fn points_of(&self, against: Against, value: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
        let x = if against == Against::Updates { &self.updates } else { &self.hours };
        let points = x.iter().enumerate().map(|(row, x)| (*x, value(row)));
        // Files of earlier versions lack some columns.
        points.filter(|(_, y)| y.is_finite()).collect()
    }
}

fn drawn_chart(
    context: &Context<'_>,
    plan: &Plan,
    against: Against,
    training: &[Curves],
    validation: &[Curves],
) -> Chart {
    let (name, title, caption, label, column) = *plan;
    let mut series = Vec::new();
    for (index, run) in context.runs.iter().enumerate() {
        let curve = |curves: &Curves, what: &str, style: SeriesStyle, ink: usize| Series {
            name: if context.runs.len() > 1 { format!("{}, {what}", run.name) } else { what.to_owned() },
            ink: Ink::Series(ink),
            style,
            points: thinned(&curves.points(against, column)),
        };
        let other = if context.runs.len() > 1 { index } else { 1 };
        series.push(curve(&training[index], "training", SeriesStyle::Line, index));
        if column < BOTH.len() {
            series.push(curve(&validation[index], "held out", SeriesStyle::Markers, other));
        }
    }
    series.retain(|series| !series.points.is_empty());
    let y =
        if column == 3 { Axis { to: None, ..Axis::share(label) } } else { Axis::plain(label).from_zero() };
    let by_updates = updates_chart(name, title, caption, y, series);
    if against == Against::Updates {
        return by_updates;
    }
    let caption =
        format!("{caption} By hours of the run's work; updates of one training count as equally fast.");
    Chart {
        name: format!("{name}-time"),
        title: format!("{title} by time"),
        caption,
        x: Axis::plain("hours"),
        ..by_updates
    }
}

fn updates_chart(name: &str, title: &str, caption: &str, y: Axis, series: Vec<Series>) -> Chart {
    Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x: Axis::integer("updates"),
        y,
        marks: Marks::Series(series),
        references: Vec::new(),
    }
}

/// The entropy of the policy targets, and the net's divergence from them.
fn entropy(context: &Context<'_>, training: &[Curves]) -> Chart {
    let mut series = Vec::new();
    for (index, (run, curves)) in context.runs.iter().zip(training).enumerate() {
        let many = context.runs.len() > 1;
        let named = |what: &str| if many { format!("{}, {what}", run.name) } else { what.to_owned() };
        let (entropies, divergences) = (curves.points(Against::Updates, 4), curves.divergences());
        let curve = |what: &str, ink: usize, style: SeriesStyle, points: &[(f64, f64)]| Series {
            name: named(what),
            ink: Ink::Series(ink),
            style,
            points: thinned(points),
        };
        series.push(curve("entropy of the targets", index, SeriesStyle::Line, &entropies));
        let ink = if many { index } else { 1 };
        series.push(curve("KL divergence from the targets", ink, SeriesStyle::MarkedLine, &divergences));
    }
    series.retain(|series| !series.points.is_empty());
    series.iter_mut().filter(|series| series.style == SeriesStyle::MarkedLine).for_each(|series| {
        let every = series.points.len().div_ceil(24).max(1);
        series.points = series.points.iter().step_by(every).copied().collect();
    });
    let caption =
        "Entropy of the policy targets, and the net's divergence from them. The policy loss is their sum.";
    updates_chart("policy-entropy", "Policy entropy", caption, Axis::plain("nats").from_zero(), series)
}
