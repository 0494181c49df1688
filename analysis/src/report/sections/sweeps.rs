//! Sweeps: the trials side by side, each parameter alone, all at once, and what matters.

use dc0_core::params::Value;

use crate::answer::quoted;
use crate::charts::{Axis, Chart, Ink, Joined, Marks, ParallelLine, Point, Series, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportSweep;
use crate::report::parameter_axis::{axis, place, worded};
use crate::report::section::{Part, Section, Table, drawn};

/// Trials that a leaderboard shows.
const SHOWN: usize = 30;
/// The share of the trials that stands out as best.
const BEST: f64 = 0.25;
const PREFIX: &str = "param_";

/// One sweep's trials, the best first.
struct Trials {
    parameters: Vec<String>,
    rows: Vec<Trial>,
}

struct Trial {
    number: u32,
    state: String,
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    games: Option<f64>,
    evaluations: Option<f64>,
    point: Vec<Value>,
}

pub(super) const SECTION: Section = Section {
    id: "sweep",
    title: "Sweep",
    about: "The trials of a sweep side by side, with 95 % intervals over replicates, and how much each parameter matters.",
    without: |context| if context.sweeps.is_empty() { "no sweep was named" } else { "no trial has ended" },
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    for (at, sweep) in context.sweeps.iter().enumerate() {
        let trials = trials(context, sweep)?;
        if trials.rows.is_empty() {
            continue;
        }
        parts.push(Part::Heading(sweep.name.clone()));
        parts.push(Part::Text(verdict(sweep, &trials)));
        parts.push(Part::Table(board(sweep, &trials)));
        parts.extend(drawn(importance(sweep, at)));
        parts.extend(drawn(parallel(sweep, at, &trials)));
        let slices = (0..trials.parameters.len()).map(|parameter| slice(sweep, at, &trials, parameter));
        parts.extend(slices.filter_map(drawn));
    }
    Ok(parts)
}

fn trials(context: &Context<'_>, sweep: &ReportSweep) -> Result<Trials, AnalysisError> {
    let answer =
        context.database.ask(&format!("select * from trials where run = {}", quoted(&sweep.name)))?;
    let parameters = answer.columns_from(PREFIX);
    let columns = parameters.iter().map(|name| answer.values(name)).collect::<Result<Vec<_>, _>>()?;
    let (numbers, states, values) =
        (answer.numbers("trial")?, answer.texts("state")?, answer.options("value")?);
    let (lows, highs) = (answer.options("low")?, answer.options("high")?);
    let (games, evaluations) = (answer.options("games")?, answer.options("evaluations")?);
    let row = |at: usize| Trial {
        number: numbers[at] as u32,
        state: states[at].clone(),
        value: values[at],
        interval: lows[at].zip(highs[at]).filter(|(low, high)| low < high),
        games: games[at],
        evaluations: evaluations[at],
        point: columns.iter().map(|column| number_or_word(&column[at])).collect(),
    };
    let mut rows: Vec<Trial> = (0..answer.len()).map(row).collect();
    let gain = |trial: &Trial| {
        trial.value.map_or(f64::NEG_INFINITY, |value| if sweep.maximize { value } else { -value })
    };
    let rank = |trial: &Trial| trial.state != "complete";
    rows.sort_by(|a, b| {
        rank(a).cmp(&rank(b)).then_with(|| gain(b).total_cmp(&gain(a))).then(a.number.cmp(&b.number))
    });
    let parameters = parameters.iter().map(|name| name[PREFIX.len()..].to_owned()).collect();
    Ok(Trials { parameters, rows })
}

/// A column that holds words as well as numbers is stored as text.
fn number_or_word(cell: &Value) -> Value {
    match cell {
        Value::Text(text) => {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.map_or_else(|| cell.clone(), Value::Float)
        }
        other => other.clone(),
    }
}

impl Trials {
    fn complete(&self) -> impl Iterator<Item = &Trial> {
        self.rows.iter().filter(|trial| trial.state == "complete" && trial.value.is_some())
    }

    fn axis(&self, sweep: &ReportSweep, parameter: usize) -> Axis {
        let name = &self.parameters[parameter];
        let values = self.complete().map(|trial| &trial.point[parameter]);
        axis(name, &values.collect::<Vec<_>>(), sweep.logarithmic.contains(name))
    }
}

fn valued(trial: &Trial) -> String {
    let value = trial.value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    trial.interval.map_or(value.clone(), |(low, high)| format!("{value} [{low:.4}, {high:.4}]"))
}

fn verdict(sweep: &ReportSweep, trials: &Trials) -> String {
    let complete = trials.complete().count();
    let aim = if sweep.maximize { "large" } else { "small" };
    let all = format!(
        "{} trials, {complete} complete; {} is to be as {aim} as can be.",
        trials.rows.len(),
        sweep.objective
    );
    let Some(best) = trials.complete().next() else { return all };
    let point: Vec<String> = trials
        .parameters
        .iter()
        .zip(&best.point)
        .map(|(name, value)| format!("{name} = {}", worded(value)))
        .collect();
    let within = trials.complete().skip(1).filter(|trial| overlaps(trial, best)).count();
    let doubt = match within {
        0 => String::new(),
        1 => {
            " The interval of one other trial reaches into its own, so the two are not told apart.".to_owned()
        }
        more => {
            format!(" The intervals of {more} other trials reach into its own, so they are not told apart.")
        }
    };
    format!("{all} Best is trial {:04} with {}: {}.{doubt}", best.number, valued(best), point.join(", "))
}

fn overlaps(a: &Trial, b: &Trial) -> bool {
    a.interval.zip(b.interval).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
}

fn board(sweep: &ReportSweep, trials: &Trials) -> Table {
    let head = ["trial", "state", &sweep.objective].map(str::to_owned).into_iter();
    let head =
        head.chain(trials.parameters.iter().cloned()).chain(["games", "evaluations"].map(str::to_owned));
    let row = |trial: &Trial| {
        let own = [format!("{:04}", trial.number), trial.state.clone(), valued(trial)].into_iter();
        let cost = [trial.games, trial.evaluations].map(|cost| cost.map_or_else(|| "–".to_owned(), short));
        (false, own.chain(trial.point.iter().map(worded)).chain(cost).collect())
    };
    let rows = trials.rows.iter().take(SHOWN).map(row).collect();
    let more = trials.rows.len().saturating_sub(SHOWN);
    let title = if more > 0 {
        format!("Leaderboard; {more} more trials are not shown")
    } else {
        "Leaderboard".to_owned()
    };
    Table { title, head: head.collect(), rows, words: 2 }
}

fn importance(sweep: &ReportSweep, at: usize) -> Chart {
    Chart {
        name: format!("importance-{at}"),
        title: "What matters".to_owned(),
        about: "How differently the best quarter of the trials lies along each parameter from all trials, as shares (PED-ANOVA, \
            Watanabe et al. 2023)."
            .to_owned(),
        x: Axis::plain("parameter"),
        y: Axis { to: None, ..Axis::share("importance") },
        marks: Marks::Bars(sweep.importances.clone()),
        references: Vec::new(),
    }
}

fn slice(sweep: &ReportSweep, at: usize, trials: &Trials, parameter: usize) -> Chart {
    let axis = trials.axis(sweep, parameter);
    let point = |trial: &Trial| {
        let x = place(&axis, &trial.point[parameter])?;
        Some(Point { x, y: trial.value?, interval: trial.interval })
    };
    let name = &trials.parameters[parameter];
    Chart {
        name: format!("slice-{at}-{parameter}"),
        title: format!("{} over {name}", sweep.objective),
        about: "Every complete trial, whatever its other parameters.".to_owned(),
        y: Axis::plain(&sweep.objective),
        marks: Marks::Series(vec![Series {
            name: "trial".to_owned(),
            ink: Ink::Series(0),
            joined: Joined::No,
            points: trials.complete().filter_map(point).collect(),
        }]),
        x: axis,
        references: Vec::new(),
    }
}

fn parallel(sweep: &ReportSweep, at: usize, trials: &Trials) -> Chart {
    let best = (trials.complete().count() as f64 * BEST).ceil() as usize;
    let axes: Vec<Axis> =
        (0..trials.parameters.len()).map(|parameter| trials.axis(sweep, parameter)).collect();
    let line = |(rank, trial): (usize, &Trial)| {
        let own: Option<Vec<f64>> =
            axes.iter().zip(&trial.point).map(|(axis, value)| place(axis, value)).collect();
        let values = own?.into_iter().chain(trial.value).collect();
        let words = trial.point.iter().map(worded).chain([valued(trial)]).collect();
        Some(ParallelLine { name: format!("{:04}", trial.number), values, words, best: rank < best })
    };
    let lines: Vec<ParallelLine> = trials.complete().enumerate().filter_map(line).collect();
    Chart {
        name: format!("parallel-{at}"),
        title: "All parameters at once".to_owned(),
        about: "One line a complete trial; the best quarter stands out.".to_owned(),
        x: Axis::plain("trial"),
        y: Axis::plain(&sweep.objective),
        marks: Marks::Parallel {
            axes: axes.into_iter().chain([Axis::plain(&sweep.objective)]).collect(),
            lines: if trials.parameters.len() > 1 { lines } else { Vec::new() },
        },
        references: Vec::new(),
    }
}
