//! Whether values keep their word: reliability diagrams, and the calibration error over iterations.

use std::collections::BTreeMap;

use super::answer::Answer;
use super::calibration::{BINS, Bin, Share, bins, error};
use super::section::{Part, Section};
use super::steps::member;
use super::{Context, ReportRun};
use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Reference, Series, short};
use crate::error::AnalysisError;

/// A value of positions: the column, and what people call it.
const VALUES: [(&str, &str); 2] = [("root_q", "search"), ("net_q", "net")];

/// The calibration of one run's values.
pub(super) struct Trust {
    pub(super) run: String,
    /// For each of [`VALUES`] the bins of each iteration.
    values: Vec<BTreeMap<u32, Vec<Bin>>>,
}

impl Trust {
    /// The net's calibration error in the last iteration.
    pub(super) fn last_error_of_net(&self) -> Option<(u32, f64)> {
        let (iteration, bins) = self.values[1].last_key_value()?;
        Some((*iteration, error(bins)?))
    }
}

/// Asks for all runs at once.
pub(super) fn all(context: &Context<'_>) -> Result<Vec<Trust>, AnalysisError> {
    let mut by_value = Vec::new();
    for (column, _) in VALUES {
        by_value.push(shares(context, column)?);
    }
    let of_run = |run: &ReportRun| {
        let bins_of = |shares: &Vec<(String, u32, Share)>| {
            let mut iterations: BTreeMap<u32, Vec<Share>> = BTreeMap::new();
            for (_, iteration, share) in shares.iter().filter(|(name, ..)| *name == run.name) {
                iterations.entry(*iteration).or_default().push(*share);
            }
            iterations.into_iter().map(|(iteration, shares)| (iteration, bins(&shares))).collect()
        };
        Trust { run: run.name.clone(), values: by_value.iter().map(bins_of).collect() }
    };
    let trusts = context.runs.iter().map(of_run);
    Ok(trusts.filter(|trust| !trust.values[1].is_empty()).collect())
}

/// What each game puts into each bin. Games that the ply cap ended have no result worth the name.
fn shares(context: &Context<'_>, column: &str) -> Result<Vec<(String, u32, Share)>, AnalysisError> {
    let statement = format!(
        "select p.run as run, p.iteration as iteration, p.game as game, \
         cast(floor(({column} + 1.0) * {half}) as int) as bin, \
         count(*) as positions, sum({column}) as value, sum(cast(p.result as int)) as results \
         from positions as p join games as g on p.run = g.run and p.iteration = g.iteration and p.game = g.game \
         where g.reason <> 'ply_cap' \
         group by p.run, p.iteration, p.game, bin order by run, iteration, game, bin",
        half = BINS / 2,
    );
    let answer = Answer::of(context.database, &statement)?;
    let (runs, iterations, bins) =
        (answer.texts("run")?, answer.numbers("iteration")?, answer.numbers("bin")?);
    let (positions, values) = (answer.numbers("positions")?, answer.numbers("value")?);
    let results = answer.numbers("results")?;
    let row = |at: usize| {
        // A value of exactly 1 belongs to the last bin.
        let bin = (bins[at] as i64).clamp(0, BINS - 1);
        let share = Share { bin, positions: positions[at], values: values[at], results: results[at] };
        (runs[at].clone(), iterations[at] as u32, share)
    };
    Ok((0..answer.len()).map(row).collect())
}

pub(super) fn section(context: &Context<'_>) -> Section {
    let mut parts: Vec<Part> =
        context.trusts.iter().map(|trust| Part::Chart(diagram(context, trust))).collect();
    if !parts.is_empty() {
        parts.push(Part::Chart(errors(context)));
        parts.extend(discounts(context).map(Part::Text));
    }
    let about = "Of positions given the same value, what did their games give? Games that the ply cap ended are left out: they \
        have no result worth the name.";
    Section::new(
        "calibration",
        "Value calibration",
        about,
        parts,
        "no position of a game that ended by the rules is stored",
    )
}

fn diagram(context: &Context<'_>, trust: &Trust) -> Chart {
    let at = context.number(&trust.run);
    let last = trust.values[1].keys().next_back().copied().unwrap_or_default();
    let series = |(number, (_, name)): (usize, &(&str, &str))| {
        let bins = trust.values[number].get(&last).map(Vec::as_slice).unwrap_or_default();
        let point = |bin: &Bin| Point { x: bin.value, y: bin.result, interval: bin.interval };
        let error = error(bins).map_or_else(String::new, |error| format!(" (error {})", short(error)));
        let joined = Joined::Marked;
        Series {
            name: format!("{name}{error}"),
            ink: Ink::Series(number),
            joined,
            points: bins.iter().map(point).collect(),
        }
    };
    let axis = |label: &str| Axis { from: Some(-1.0), to: Some(1.0), ..Axis::plain(label) };
    let of = if context.runs.len() > 1 { format!(" of {}", trust.run) } else { String::new() };
    Chart {
        name: format!("calibration-{at}"),
        title: format!("Reliability{of}, iteration {last}"),
        about: "The mean result of positions against the value they were given; intervals treat a game as one observation."
            .to_owned(),
        x: axis("value given"),
        y: axis("mean result"),
        marks: Marks::Series(VALUES.iter().enumerate().map(series).collect()),
        references: vec![Reference::Diagonal("as promised".to_owned())],
    }
}

fn errors(context: &Context<'_>) -> Chart {
    let many = context.trusts.len() > 1;
    let mut series = Vec::new();
    for trust in &context.trusts {
        let at = context.number(&trust.run);
        for (number, (_, name)) in VALUES.iter().enumerate() {
            let point =
                |(iteration, bins): (&u32, &Vec<Bin>)| Some(Point::new(f64::from(*iteration), error(bins)?));
            series.push(Series {
                name: if many { format!("{}, {name}", trust.run) } else { (*name).to_owned() },
                ink: Ink::Series(if many { at } else { number }),
                joined: if number == 0 { Joined::Marked } else { Joined::Line },
                points: trust.values[number].iter().filter_map(point).collect(),
            });
        }
    }
    Chart {
        name: "calibration-error".to_owned(),
        title: "Calibration error".to_owned(),
        about: format!(
            "Mean distance of value and result in {BINS} bins, weighted by positions (Guo et al. 2017); values lie in [−1, 1]."
        ),
        x: Axis::whole("iteration"),
        y: Axis::plain("expected calibration error").from_zero(),
        marks: Marks::Series(series),
        references: Vec::new(),
    }
}

/// A word on nets that are taught less than results.
fn discounts(context: &Context<'_>) -> Option<String> {
    let is_discounted = |run: &&ReportRun| {
        context.steps.iter().any(|step| {
            let discount = member(&step.params, "discount").and_then(dc0_core::params::Value::as_f64);
            step.run == run.name && step.kind == "train" && discount.is_some_and(|discount| discount < 1.0)
        })
    };
    let names: Vec<&str> = context.runs.iter().filter(is_discounted).map(|run| run.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Nets of {} are taught discounted results (discount below 1), so values nearer to 0 than results are what they were \
             asked for.",
            names.join(", ")
        )
    })
}
