//! Puzzles: the share solved against simulations, by the policy alone, and by players without a tree search, against time.

use std::collections::BTreeMap;

use dc0_core::params::Value;

use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Scale, Series, SeriesStyle, percent, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::section::{Part, Section, Table, drawn};
use crate::report::steps::Step;

/// The most suites that the chart draws, the last ones.
const MAX_DRAWN: usize = 6;

pub(super) const SECTION: Section = Section {
    id: "puzzles",
    title: "Puzzles",
    about: "The share of puzzles whose move is right, with 95 % intervals (Wilson 1927): by simulations, by the policy alone, and by players without a tree search over a net.",
    reads: &["steps"],
    no_data: |_| "no puzzles were solved; run.puzzles does that",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts: Vec<Part> = drawn(chart(context)).into_iter().collect();
    parts.extend(table(context).map(Part::Table));
    parts.extend(drawn(chart_of_times(context)));
    parts.extend(table_of_answers(context).map(Part::Table));
    Ok(parts)
}

/// Suites that nets searched.
fn solved_suites<'a>(context: &'a Context<'_>) -> impl DoubleEndedIterator<Item = &'a Step> {
    context.steps.iter().filter(|step| step.kind == "puzzles" && player(step).is_none())
}

/// Suites that players without a tree search answered.
fn answered_suites<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Step> {
    context.steps.iter().filter(|step| step.kind == "puzzles" && player(step).is_some())
}

/// The player without a tree search.
fn player(step: &Step) -> Option<&str> {
    match step.summary.member("player") {
        Some(Value::Text(player)) => Some(player),
        _ => None,
    }
}

/// The share that a player solved, with its interval.
fn answered(step: &Step) -> Point {
    let (solved, count) = (list(step, "solved"), step.figure("puzzles").unwrap_or(0.0));
    let y = solved.first().copied().unwrap_or(f64::NAN);
    Point { x: step.figure("milliseconds").unwrap_or(f64::NAN), y, interval: Some(wilson(y, count)) }
}

/// A suite's name, after that of its run if there are several.
fn suite(context: &Context<'_>, step: &Step) -> String {
    let suite = match step.summary.member("suite") {
        Some(Value::Text(suite)) => suite.trim_end_matches(".epd"),
        _ => "puzzles",
    };
    let run = if context.runs.len() > 1 { format!("{}, ", step.run) } else { String::new() };
    format!("{run}{suite}")
}

/// A step's name: its suite and number.
fn name(context: &Context<'_>, step: &Step) -> String {
    let number = step.number.map_or_else(String::new, |number| format!(" {number:04}"));
    format!("{}{number}", suite(context, step))
}

fn list(step: &Step, name: &str) -> Vec<f64> {
    match step.summary.member(name) {
        Some(Value::List(list)) => list.iter().filter_map(Value::as_f64).collect(),
        _ => Vec::new(),
    }
}

fn chart(context: &Context<'_>) -> Chart {
    let mut steps: Vec<&Step> = solved_suites(context).rev().take(MAX_DRAWN).collect();
    steps.reverse();
    let single = if steps.len() == 1 { steps[0].figure("policy_solved") } else { None };
    let series = |(index, step): (usize, &&Step)| {
        let count = step.figure("puzzles").unwrap_or(0.0);
        let point = |(budget, solved): (f64, f64)| Point {
            x: budget,
            y: solved,
            interval: Some(wilson(solved, count)),
        };
        let points = list(step, "budgets").into_iter().zip(list(step, "solved")).map(point).collect();
        Series { name: name(context, step), ink: Ink::Series(index), style: SeriesStyle::MarkedLine, points }
    };
    Chart {
        name: "puzzles-solved".to_owned(),
        title: "Puzzles solved".to_owned(),
        caption: "The share of puzzles whose move is right, by the simulations of the search.".to_owned(),
        x: Axis { scale: Scale::Logarithm, ..Axis::plain("simulations") },
        y: Axis::share("solved"),
        marks: Marks::Series(steps.iter().enumerate().map(series).collect()),
        references: single
            .map(|share| Reference::Level(share, "policy alone".to_owned()))
            .into_iter()
            .collect(),
    }
}

fn table(context: &Context<'_>) -> Option<Table> {
    let row = |step: &Step| {
        let budgets = list(step, "budgets").into_iter().zip(list(step, "solved"));
        let solved: Vec<String> =
            budgets.map(|(budget, solved)| format!("{}: {}", short(budget), percent(solved, 1))).collect();
        let cells = vec![
            name(context, step),
            step.network.clone(),
            solved.join(", "),
            step.figure("policy_solved").map_or_else(|| "–".to_owned(), |share| percent(share, 1)),
            step.figure("puzzles").map_or_else(|| "–".to_owned(), short),
        ];
        (false, cells)
    };
    let rows: Vec<(bool, Vec<String>)> = solved_suites(context).map(row).collect();
    let head = ["suite", "net", "solved by simulations", "policy alone", "puzzles"];
    (!rows.is_empty()).then(|| Table {
        title: "Solved puzzles".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
        text_columns: 3,
    })
}

/// The end of the names of programs that play by time for each move.
const BY_TIME: &str = " s/move";

/// A line for each suite and player, whose points are its times.
fn chart_of_times(context: &Context<'_>) -> Chart {
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    for step in answered_suites(context).filter(|step| step.figure("milliseconds").is_some()) {
        let player = player(step).unwrap_or_default();
        let untimed = player.rsplit_once(", ").filter(|_| player.ends_with(BY_TIME));
        let name = format!("{}, {}", suite(context, step), untimed.map_or(player, |(player, _)| player));
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(answered(step)),
            None => lines.push((name, vec![answered(step)])),
        }
    }
    let drawn = lines.len().saturating_sub(MAX_DRAWN);
    let series = |(index, (name, mut points)): (usize, (String, Vec<Point>))| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name, ink: Ink::Series(index), style: SeriesStyle::MarkedLine, points }
    };
    Chart {
        name: "puzzles-by-time".to_owned(),
        title: "Puzzles solved by time".to_owned(),
        caption: "The share of puzzles whose move is right, by the mean time of an answer, for players that play by time.".to_owned(),
        x: Axis { scale: Scale::Logarithm, ..Axis::plain("milliseconds") },
        y: Axis::share("solved"),
        marks: Marks::Series(lines.into_iter().skip(drawn).enumerate().map(series).collect()),
        references: Vec::new(),
    }
}

fn table_of_answers(context: &Context<'_>) -> Option<Table> {
    let row = |step: &Step| {
        let Point { x: milliseconds, y: solved, interval } = answered(step);
        let (low, high) = interval.unwrap_or((0.0, 1.0));
        let count = step.figure("puzzles").unwrap_or(0.0);
        let no_faults = BTreeMap::new();
        let faults = match step.summary.member("faults") {
            Some(Value::Group(faults)) => faults,
            _ => &no_faults,
        };
        let without_move: f64 = faults.values().filter_map(Value::as_f64).sum();
        let nodes = step.figure("nodes").map_or(f64::NAN, |nodes| nodes / (count - without_move).max(1.0));
        let faults: Vec<String> = faults.iter().map(|(reason, count)| format!("{reason}: {count}")).collect();
        let cells = vec![
            suite(context, step),
            player(step).unwrap_or_default().to_owned(),
            faults.join(", "),
            percent(solved, 1),
            format!("{} to {}", percent(low, 1), percent(high, 1)),
            short(nodes),
            short(milliseconds),
            short(count),
        ];
        (false, cells)
    };
    let rows: Vec<(bool, Vec<String>)> = answered_suites(context).map(row).collect();
    let head =
        ["suite", "player", "without a move", "solved", "95 % interval", "nodes each", "ms each", "puzzles"];
    (!rows.is_empty()).then(|| Table {
        title: "Puzzles answered by other players".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
        text_columns: 3,
    })
}

/// The 95 % interval of a share of `count` (Wilson 1927).
fn wilson(share: f64, count: f64) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    if count <= 0.0 {
        return (0.0, 1.0);
    }
    let spread = Z * Z / count;
    let centre = (share + spread / 2.0) / (1.0 + spread);
    let half = Z * (share * (1.0 - share) / count + spread / (4.0 * count)).sqrt() / (1.0 + spread);
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::wilson;

    #[test]
    fn intervals_are_those_of_wilson() {
        let close = |(low, high): (f64, f64), expected: (f64, f64)| {
            assert!((low - expected.0).abs() < 1e-6 && (high - expected.1).abs() < 1e-6, "{low} {high}");
        };
        close(wilson(0.5, 10.0), (0.236_593, 0.763_407));
        close(wilson(0.0, 10.0), (0.0, 0.277_533));
        close(wilson(1.0, 10.0), (0.722_467, 1.0));
    }
}
