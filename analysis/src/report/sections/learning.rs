//! What training did: losses, accuracy, entropy, gradients and the learning rate.

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Series};
use crate::database::Database;
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::curve::thinned;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, drawn};

/// The rows of all trainings of a run behind each other.
struct Curves {
    updates: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

/// The columns that both tables have.
const BOTH: [&str; 5] = ["loss", "policy_loss", "value_loss", "policy_accuracy", "policy_entropy"];
const TRAINING_ONLY: [&str; 2] = ["gradient_norm", "learning_rate"];

/// One chart: its name, heading, sentence, axis and the column it draws.
type Plan = (&'static str, &'static str, &'static str, &'static str, usize);

const PLANS: [Plan; 6] = [
    ("loss", "Loss", "The weighted sum of all losses, in training and on games held out.", "loss", 0),
    (
        "policy-loss",
        "Policy loss",
        "Cross-entropy of the net's policy with the search's, in nats. Trainings without policy targets are left out.",
        "nats",
        1,
    ),
    (
        "value-loss",
        "Value loss",
        "Of the value head. A gap between training and held-out games is games learned by heart.",
        "value loss",
        2,
    ),
    (
        "policy-accuracy",
        "Policy accuracy",
        "How often the net's likeliest move is the search's most visited one.",
        "share of positions",
        3,
    ),
    ("gradient-norm", "Gradient norm", "L2 norm of the gradient before clipping.", "norm", 5),
    ("learning-rate", "Learning rate", "Of the last update of each stretch.", "learning rate", 6),
];

pub(super) const SECTION: Section = Section {
    id: "learning",
    title: "Learning",
    about: "Whether the nets learn, and whether what they learn holds on games they have not seen.",
    without: |_| "no training is stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let (mut training, mut validation) = (Vec::new(), Vec::new());
    for run in context.runs {
        training.push(curves(context.database, "training", run, &[&BOTH[..], &TRAINING_ONLY[..]].concat())?);
        validation.push(curves(context.database, "validation", run, &BOTH)?);
    }
    let has_any = training.iter().any(|curves| !curves.updates.is_empty());
    let mut parts: Vec<Part> = Vec::new();
    if has_any {
        parts.extend(PLANS.iter().filter_map(|plan| drawn(chart(context, plan, &training, &validation))));
        parts.splice(2.min(parts.len())..2.min(parts.len()), drawn(entropy(context, &training)));
    }
    Ok(parts)
}

fn curves(
    database: &Database,
    table: &str,
    run: &ReportRun,
    columns: &[&str],
) -> Result<Curves, AnalysisError> {
    let name = crate::answer::quoted(&run.name);
    let statement = format!(
        "select net, \"update\", {} from {table} where run = {name} order by net, \"update\"",
        columns.join(", ")
    );
    let answer = database.ask(&statement)?;
    let (nets, updates) = (answer.numbers("net")?, answer.numbers("update")?);
    let columns = columns.iter().map(|column| answer.numbers(column)).collect::<Result<_, _>>()?;
    Ok(Curves { updates: behind_each_other(&nets, &updates), columns })
}

/// Updates since the run began: those of trainings before count, too.
fn behind_each_other(nets: &[f64], updates: &[f64]) -> Vec<f64> {
    let mut before = 0.0;
    let place = |at: usize| {
        if at > 0 && nets[at] != nets[at - 1] {
            before += updates[at - 1];
        }
        before + updates[at]
    };
    (0..nets.len()).map(place).collect()
}

impl Curves {
    /// A column's points; of columns that are about the policy, where it was trained.
    fn points(&self, column: usize) -> Vec<(f64, f64)> {
        let is_trained = |at: &usize| !matches!(column, 1 | 3 | 4) || self.columns[1][*at] != 0.0;
        (0..self.updates.len())
            .filter(is_trained)
            .map(|at| (self.updates[at], self.columns[column][at]))
            .collect()
    }
}

fn chart(context: &Context<'_>, plan: &Plan, training: &[Curves], validation: &[Curves]) -> Chart {
    let (name, title, about, label, column) = *plan;
    let mut series = Vec::new();
    for (at, run) in context.runs.iter().enumerate() {
        let of = |curves: &Curves, what: &str, joined: Joined, ink: usize| Series {
            name: if context.runs.len() > 1 { format!("{}, {what}", run.name) } else { what.to_owned() },
            ink: Ink::Series(ink),
            joined,
            points: thinned(&curves.points(column)),
        };
        let other = if context.runs.len() > 1 { at } else { 1 };
        series.push(of(&training[at], "training", Joined::Line, at));
        if column < BOTH.len() {
            series.push(of(&validation[at], "held out", Joined::No, other));
        }
    }
    series.retain(|series| !series.points.is_empty());
    let y =
        if column == 3 { Axis { to: None, ..Axis::share(label) } } else { Axis::plain(label).from_zero() };
    updates_chart(name, title, about, y, series)
}

fn updates_chart(name: &str, title: &str, about: &str, y: Axis, series: Vec<Series>) -> Chart {
    Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        about: about.to_owned(),
        x: Axis::whole("updates"),
        y,
        marks: Marks::Series(series),
        references: Vec::new(),
    }
}

/// The entropy of the targets beside how far the net is from them.
fn entropy(context: &Context<'_>, training: &[Curves]) -> Chart {
    let mut series = Vec::new();
    for (at, (run, curves)) in context.runs.iter().zip(training).enumerate() {
        let many = context.runs.len() > 1;
        let named = |what: &str| if many { format!("{}, {what}", run.name) } else { what.to_owned() };
        let (losses, entropies) = (curves.points(1), curves.points(4));
        let apart: Vec<(f64, f64)> =
            losses.iter().zip(&entropies).map(|((x, loss), (_, entropy))| (*x, loss - entropy)).collect();
        let of = |what: &str, ink: usize, joined: Joined, points: &[(f64, f64)]| Series {
            name: named(what),
            ink: Ink::Series(ink),
            joined,
            points: thinned(points),
        };
        series.push(of("entropy of the targets", at, Joined::Line, &entropies));
        series.push(of("divergence from them", if many { at } else { 1 }, Joined::Marked, &apart));
    }
    series.retain(|series| !series.points.is_empty());
    series.iter_mut().filter(|series| series.joined == Joined::Marked).for_each(|series| {
        let every = series.points.len().div_ceil(24).max(1);
        series.points = series.points.iter().step_by(every).copied().collect();
    });
    let about =
        "How undecided the search is, and how far the net's policy is from it: the policy loss is their sum.";
    updates_chart("policy-entropy", "Policy entropy", about, Axis::plain("nats").from_zero(), series)
}
