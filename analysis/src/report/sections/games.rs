//! How the games of self-play ended, and how long they were.

use std::collections::BTreeMap;

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Part as Stack, Point, Series};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::curve::quantile;
use crate::report::game_ends::Ended;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, drawn};

/// Every way a game ends, as the tables name it and as people do.
const REASONS: [(&str, &str); 6] = [
    ("checkmate", "checkmate"),
    ("ply_cap", "ply cap"),
    ("threefold", "threefold repetition"),
    ("fifty_moves", "fifty moves"),
    ("insufficient_material", "too little material"),
    ("stalemate", "stalemate"),
];

pub(super) const SECTION: Section = Section {
    id: "games",
    title: "Games of self-play",
    about: "How self-play ends: whether games are decided, by what, and after how many plies.",
    without: |_| "no games are stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    for (at, run) in context.runs.iter().enumerate() {
        let own: Vec<&Ended> = context.ends.iter().filter(|ended| ended.run == run.name).collect();
        if own.is_empty() {
            continue;
        }
        if context.runs.len() > 1 {
            parts.push(Part::Heading(run.name.clone()));
        }
        parts.extend(drawn(outcomes(at, &own)));
        parts.extend(drawn(reasons(at, &own)));
    }
    if !parts.is_empty() {
        let at = parts.len();
        parts.extend(drawn(lengths(context)?));
        if context.runs.len() > 1 {
            parts.insert(at, Part::Heading("All runs".to_owned()));
        }
    }
    Ok(parts)
}

/// A kind of ends: its name, its colour, and which ends are of it.
type Kind<'a> = (&'a str, Ink, &'a dyn Fn(&Ended) -> bool);

/// A stack for each iteration, in shares.
fn stacks(ends: &[&Ended], parts: &[Kind<'_>]) -> Marks {
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    for ended in ends {
        *totals.entry(ended.iteration).or_default() += ended.games;
    }
    let part = |(name, ink, is): &Kind<'_>| {
        let share = |(iteration, total): (&u32, &f64)| {
            let own = ends.iter().filter(|ended| ended.iteration == *iteration && is(ended));
            own.map(|ended| ended.games).sum::<f64>() / total
        };
        Stack { name: (*name).to_owned(), ink: *ink, values: totals.iter().map(share).collect() }
    };
    let parts: Vec<Stack> = parts.iter().map(part).collect();
    let parts = parts.into_iter().filter(|part| part.values.iter().any(|value| *value > 0.0)).collect();
    Marks::Stacks { categories: totals.keys().map(ToString::to_string).collect(), parts }
}

fn shares(name: String, title: &str, about: &str, marks: Marks) -> Chart {
    let (x, y) = (Axis::plain("iteration"), Axis::share("share of games"));
    Chart { name, title: title.to_owned(), about: about.to_owned(), x, y, marks, references: Vec::new() }
}

fn outcomes(at: usize, ends: &[&Ended]) -> Chart {
    let marks = stacks(
        ends,
        &[
            ("White wins", Ink::White, &|ended| ended.result == 1),
            ("draw", Ink::Draw, &|ended| ended.result == 0),
            ("Black wins", Ink::Black, &|ended| ended.result == -1),
        ],
    );
    let about = "Results of each iteration's games. Games that the ply cap ends count as draws.";
    shares(format!("outcomes-{at}"), "Results", about, marks)
}

fn reasons(at: usize, ends: &[&Ended]) -> Chart {
    let is: Vec<_> = REASONS.iter().map(|(reason, _)| move |ended: &Ended| ended.reason == *reason).collect();
    let parts: Vec<Kind<'_>> = REASONS
        .iter()
        .zip(&is)
        .enumerate()
        .map(|(number, ((_, name), is))| (*name, Ink::Series(number), is as &dyn Fn(&Ended) -> bool))
        .collect();
    let about = "What ended each iteration's games.";
    shares(format!("terminations-{at}"), "Terminations", about, stacks(ends, &parts))
}

fn lengths(context: &Context<'_>) -> Result<Chart, AnalysisError> {
    let statement = "select run, iteration, len(moves) as plies, count(*) as games from games \
        group by run, iteration, plies order by run, iteration, plies";
    let answer = context.database.ask(statement)?;
    let (runs, iterations) = (answer.texts("run")?, answer.numbers("iteration")?);
    let (plies, games) = (answer.numbers("plies")?, answer.numbers("games")?);
    let mut lengths: BTreeMap<(&str, u32), Vec<f64>> = BTreeMap::new();
    for at in 0..answer.len() {
        let own = lengths.entry((&runs[at], iterations[at] as u32)).or_default();
        own.extend(std::iter::repeat_n(plies[at], games[at] as usize));
    }
    let series = |(at, run): (usize, &ReportRun)| {
        let own = lengths.iter().filter(|((name, _), _)| *name == run.name);
        let point = |((_, iteration), sorted): (&(&str, u32), &Vec<f64>)| Point {
            x: f64::from(*iteration),
            y: quantile(sorted, 0.5),
            interval: Some((quantile(sorted, 0.1), quantile(sorted, 0.9))),
        };
        Series {
            name: run.name.clone(),
            ink: Ink::Series(at),
            joined: Joined::Line,
            points: own.map(point).collect(),
        }
    };
    Ok(Chart {
        name: "game-length".to_owned(),
        title: "Game length".to_owned(),
        about: "The median, and the band from the shortest tenth to the longest. The opening's plies count."
            .to_owned(),
        x: Axis::whole("iteration"),
        y: Axis::plain("plies").from_zero(),
        marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
        references: Vec::new(),
    })
}
