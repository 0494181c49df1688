//! How stored games ended, and how long they were.

use std::collections::BTreeMap;

use dc0_core::board::{Adjudication, Fault, Reason};

use crate::charts::{Axis, Chart, Ink, Marks, Point, Series, SeriesStyle, StackSeries};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::curve::quantile;
use crate::report::inputs::ReportRun;
use crate::report::outcomes::OutcomeCount;
use crate::report::section::{Part, Section, drawn};

pub(super) const SECTION: Section = Section {
    id: "games",
    title: "Games",
    about: "How the games that were played or imported end: their results, terminations and lengths.",
    reads: &["games"],
    no_data: |_| "no games are stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let (mut parts, reasons) = (Vec::new(), reasons(&context.outcomes));
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
        parts.extend(drawn(terminations(index, &outcomes, &reasons)));
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

/// The reasons for which games of any run ended: those of the rules first, and each in the same place, so in the same colour, for every
/// run.
fn reasons(outcomes: &[OutcomeCount]) -> Vec<&str> {
    let mut occurring: Vec<&str> = outcomes.iter().map(|outcome| outcome.reason.as_str()).collect();
    let known = [Reason::NAMES, Adjudication::NAMES, Fault::NAMES].concat();
    let rank = |reason: &str| known.iter().position(|name| *name == reason);
    occurring.sort_by_key(|reason| (rank(reason).unwrap_or(usize::MAX), *reason));
    occurring.dedup();
    occurring
}

/// The name of a reason for people.
fn label(reason: &str) -> String {
    match reason {
        "threefold" => "threefold repetition".to_owned(),
        "fifty_moves" => "fifty-move rule".to_owned(),
        other => other.replace('_', " "),
    }
}

fn terminations(run: usize, outcomes: &[&OutcomeCount], reasons: &[&str]) -> Chart {
    let is = |reason: &&'_ str| {
        let reason = (*reason).to_owned();
        move |outcome: &OutcomeCount| outcome.reason == reason
    };
    let is: Vec<_> = reasons.iter().map(is).collect();
    let labels: Vec<String> = reasons.iter().map(|reason| label(reason)).collect();
    let kinds: Vec<Kind<'_>> = labels
        .iter()
        .zip(&is)
        .enumerate()
        .map(|(number, (name, is))| {
            (name.as_str(), Ink::Series(number), is as &dyn Fn(&OutcomeCount) -> bool)
        })
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

#[cfg(test)]
mod tests {
    use super::{OutcomeCount, reasons, terminations};
    use crate::charts::Marks;

    #[test]
    fn the_shares_of_all_terminations_sum_to_one() {
        let outcome = |iteration, reason: &str, games| {
            let (run, reason) = ("run".to_owned(), reason.to_owned());
            OutcomeCount { run, iteration, result: 0, reason, games }
        };
        let outcomes = [
            outcome(0, "resignation", 5.0),
            outcome(0, "checkmate", 3.0),
            outcome(0, "of another version", 1.0),
            outcome(1, "time", 2.0),
            outcome(1, "resignation", 1.0),
            outcome(1, "tablebase", 4.0),
            outcome(1, "fifty_moves", 4.0),
        ];
        let found = reasons(&outcomes);
        let expected = ["checkmate", "fifty_moves", "resignation", "tablebase", "time", "of another version"];
        assert_eq!(found, expected);
        let Marks::Stacks { categories, parts } =
            terminations(0, &outcomes.iter().collect::<Vec<_>>(), &found).marks
        else {
            panic!("bars")
        };
        assert_eq!((categories.len(), parts.len()), (2, 6));
        assert_eq!(parts[1].name, "fifty-move rule");
        for iteration in 0..2 {
            let sum: f64 = parts.iter().map(|part| part.values[iteration]).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
    }
}
