//! How self-play games ended, and how long they were.

use std::collections::BTreeMap;

use crate::charts::{Axis, Chart, Ink, Marks, Point, Series, SeriesStyle, StackSeries};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::curve::quantile;
use crate::report::inputs::ReportRun;
use crate::report::outcomes::OutcomeCount;
use crate::report::section::{Part, Section, drawn};

/// Every reason for a game's end: its name in the tables, and in the report.
const REASONS: [(&str, &str); 6] = [
    ("checkmate", "checkmate"),
    ("ply_cap", "ply cap"),
    ("threefold", "threefold repetition"),
    ("fifty_moves", "fifty-move rule"),
    ("insufficient_material", "insufficient material"),
    ("stalemate", "stalemate"),
];

pub(super) const SECTION: Section = Section {
    id: "games",
    title: "Self-play games",
    about: "How self-play games end: their results, terminations and lengths.",
    reads: &["games"],
    no_data: |_| "no games are stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    for (index, run) in context.runs.iter().enumerate() {
        let outcomes: Vec<&OutcomeCount> =
            context.outcomes.iter().filter(|outcome| outcome.run == run.name).collect();
        if outcomes.is_empty() {
            continue;
        }
        if context.runs.len() > 1 {
            parts.push(Part::Heading(run.name.clone()));
        }
        parts.extend(drawn(results(index, &outcomes)));
        parts.extend(drawn(terminations(index, &outcomes)));
    }
    if !parts.is_empty() {
        let end = parts.len();
        parts.extend(drawn(lengths(context)?));
        if context.runs.len() > 1 {
            parts.insert(end, Part::Heading("All runs".to_owned()));
        }
    }
    Ok(parts)
}

/// A kind of outcomes: its name, its colour, and which outcomes it includes.
type Kind<'a> = (&'a str, Ink, &'a dyn Fn(&OutcomeCount) -> bool);

/// A stacked bar for each iteration, with the shares of the kinds.
fn stacks(outcomes: &[&OutcomeCount], kinds: &[Kind<'_>]) -> Marks {
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    for outcome in outcomes {
        *totals.entry(outcome.iteration).or_default() += outcome.games;
    }
    let part = |(name, ink, is): &Kind<'_>| {
        let share = |(iteration, total): (&u32, &f64)| {
            let counted = outcomes.iter().filter(|outcome| outcome.iteration == *iteration && is(outcome));
            counted.map(|outcome| outcome.games).sum::<f64>() / total
        };
        StackSeries { name: (*name).to_owned(), ink: *ink, values: totals.iter().map(share).collect() }
    };
    let parts: Vec<StackSeries> = kinds.iter().map(part).collect();
    let parts = parts.into_iter().filter(|part| part.values.iter().any(|value| *value > 0.0)).collect();
    Marks::Stacks { categories: totals.keys().map(ToString::to_string).collect(), parts }
}

fn shares(name: String, title: &str, caption: &str, marks: Marks) -> Chart {
    let (x, y) = (Axis::plain("iteration"), Axis::share("share of games"));
    Chart { name, title: title.to_owned(), caption: caption.to_owned(), x, y, marks, references: Vec::new() }
}

fn results(run: usize, outcomes: &[&OutcomeCount]) -> Chart {
    let marks = stacks(
        outcomes,
        &[
            ("White wins", Ink::White, &|outcome| outcome.result == 1),
            ("draw", Ink::Draw, &|outcome| outcome.result == 0),
            ("Black wins", Ink::Black, &|outcome| outcome.result == -1),
        ],
    );
    let caption = "Results of each iteration's games. Games ended by the ply cap count as draws.";
    shares(format!("outcomes-{run}"), "Results", caption, marks)
}

fn terminations(run: usize, outcomes: &[&OutcomeCount]) -> Chart {
    let is = |(reason, _): &(&'static str, &str)| {
        let reason = *reason;
        move |outcome: &OutcomeCount| outcome.reason == reason
    };
    let is: Vec<_> = REASONS.iter().map(is).collect();
    let kinds: Vec<Kind<'_>> = REASONS
        .iter()
        .zip(&is)
        .enumerate()
        .map(|(number, ((_, name), is))| (*name, Ink::Series(number), is as &dyn Fn(&OutcomeCount) -> bool))
        .collect();
    let caption = "How each iteration's games ended.";
    shares(format!("terminations-{run}"), "Terminations", caption, stacks(outcomes, &kinds))
}

fn lengths(context: &Context<'_>) -> Result<Chart, AnalysisError> {
    let statement = "select run, iteration, len(moves) as plies, count(*) as games from games \
        group by run, iteration, plies order by run, iteration, plies";
    let answer = context.database.fetch(statement)?;
    let (runs, iterations) = (answer.texts("run")?, answer.numbers("iteration")?);
    let (plies, games) = (answer.numbers("plies")?, answer.numbers("games")?);
    let mut lengths: BTreeMap<(&str, u32), Vec<f64>> = BTreeMap::new();
    for row in 0..answer.len() {
        let sorted = lengths.entry((&runs[row], iterations[row] as u32)).or_default();
        sorted.extend(std::iter::repeat_n(plies[row], games[row] as usize));
    }
    let series = |(index, run): (usize, &ReportRun)| {
        let iterations = lengths.iter().filter(|((name, _), _)| *name == run.name);
        let point = |((_, iteration), sorted): (&(&str, u32), &Vec<f64>)| Point {
            x: f64::from(*iteration),
            y: quantile(sorted, 0.5),
            interval: Some((quantile(sorted, 0.1), quantile(sorted, 0.9))),
        };
        Series {
            name: run.name.clone(),
            ink: Ink::Series(index),
            style: SeriesStyle::Line,
            points: iterations.map(point).collect(),
        }
    };
    Ok(Chart {
        name: "game-length".to_owned(),
        title: "Game length".to_owned(),
        caption: "Median, with a band from the 10th to the 90th percentile. Opening plies are included."
            .to_owned(),
        x: Axis::integer("iteration"),
        y: Axis::plain("plies").from_zero(),
        marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
        references: Vec::new(),
    })
}
