//! Whether values keep their word: reliability diagrams, and the calibration error over iterations.

use std::collections::BTreeMap;

use super::calibration::{BINS, Bin, Share, bins, error};
use super::section::{Part, Section};
use super::steps::member;
use super::{Context, ReportRun};
use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Reference, Series, short};
use crate::database::{Database, Iteration};
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
    /// The net's calibration error in the last iteration up to this one that has any.
    pub(super) fn error_of_net(&self, last: u32) -> Option<(u32, f64)> {
        let (iteration, bins) = self.values[1].range(..=last).next_back()?;
        Some((*iteration, error(bins)?))
    }
}

/// Of all runs that have games with a result.
pub(super) fn all(runs: &[ReportRun], iterations: &[Iteration]) -> Result<Vec<Trust>, AnalysisError> {
    let of_run = |run: &ReportRun| {
        let mut values = vec![BTreeMap::new(); VALUES.len()];
        for iteration in iterations.iter().filter(|iteration| iteration.run == run.name) {
            for (values, shares) in values.iter_mut().zip(shares(&iteration.database)?) {
                if !shares.is_empty() {
                    values.insert(iteration.number, bins(&shares));
                }
            }
        }
        Ok(Trust { run: run.name.clone(), values })
    };
    let trusts = runs.iter().map(of_run).collect::<Result<Vec<_>, AnalysisError>>()?;
    Ok(trusts.into_iter().filter(|trust| !trust.values[1].is_empty()).collect())
}

/// What each game of an iteration puts into each bin, for each of [`VALUES`]. Games that the ply cap ended have no result worth
/// the name.
fn shares(database: &Database) -> Result<Vec<Vec<Share>>, AnalysisError> {
    // A value of exactly 1 belongs to the last bin.
    let bin =
        |column: &str| format!("least(cast(floor((p.{column} + 1.0) * {}) as int), {})", BINS / 2, BINS - 1);
    let (bins, columns) = (VALUES.map(|(column, _)| bin(column)), VALUES.map(|(column, _)| column));
    // Both values are sorted at once, so that positions are read once; the groups are few beside them.
    let statement = format!(
        "select p.game as game, {0} as bin_0, {1} as bin_1, count(*) as positions, \
         sum(p.{2}) as value_0, sum(p.{3}) as value_1, sum(cast(p.result as int)) as results \
         from positions as p join games as g on p.game = g.game where g.reason <> 'ply_cap' \
         group by p.game, bin_0, bin_1 order by game, bin_0, bin_1",
        bins[0], bins[1], columns[0], columns[1],
    );
    let answer = database.ask(&statement)?;
    let (games, positions) = (answer.numbers("game")?, answer.numbers("positions")?);
    let results = answer.numbers("results")?;
    let of_value = |number: usize| {
        let bins = answer.numbers(&format!("bin_{number}"))?;
        let values = answer.numbers(&format!("value_{number}"))?;
        let mut summed: BTreeMap<(u32, i64), Share> = BTreeMap::new();
        for at in 0..answer.len() {
            let bin = bins[at] as i64;
            let share = summed.entry((games[at] as u32, bin)).or_insert(Share {
                bin,
                positions: 0.0,
                values: 0.0,
                results: 0.0,
            });
            share.positions += positions[at];
            share.values += values[at];
            share.results += results[at];
        }
        Ok(summed.into_values().collect())
    };
    (0..VALUES.len()).map(of_value).collect()
}

pub(super) fn section(context: &Context<'_>) -> Section {
    let mut parts: Vec<Part> =
        context.trusts.iter().map(|trust| Part::Chart(Box::new(diagram(context, trust)))).collect();
    if !parts.is_empty() {
        parts.push(Part::Chart(Box::new(errors(context))));
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
    let finished = context.last_iteration(&context.runs[at]).unwrap_or(u32::MAX);
    let all = &trust.values[1];
    let last = all.range(..=finished).next_back().or_else(|| all.iter().next()).map_or(0, |(last, _)| *last);
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
