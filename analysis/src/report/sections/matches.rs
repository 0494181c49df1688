//! Every match with its interval, and whether the candidate was promoted.

use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Series, SeriesStyle, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, Table, drawn};
use crate::report::steps::Step;
use crate::standings::MatchPair;

pub(super) const SECTION: Section = Section {
    id: "matches",
    title: "Matches",
    about: "The result of each match, with 95 % intervals from its game pairs, the likelihood that the first player is superior (LOS), and \
        whether the candidate was promoted.",
    reads: &["generations", "matches", "record", "steps"],
    no_data: |_| "no match is finished",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts: Vec<Part> = drawn(scores(context)).into_iter().collect();
    parts.extend(context.runs.iter().filter_map(|run| table(context, run)).map(Part::Table));
    Ok(parts)
}

fn matches<'a>(context: &'a Context<'_>, run: &'a ReportRun) -> impl Iterator<Item = &'a Step> {
    context.steps.iter().filter(|step| step.run == run.name && step.kind == "arena")
}

fn scores(context: &Context<'_>) -> Chart {
    let series = |(index, run): (usize, &ReportRun)| {
        let point = |step: &Step| {
            let interval = step.figure("score_low").zip(step.figure("score_high"));
            Some(Point { x: f64::from(step.number?), y: step.figure("score")?, interval })
        };
        let points = matches(context, run).filter_map(point).collect();
        Series { name: run.name.clone(), ink: Ink::Series(index), style: SeriesStyle::Markers, points }
    };
    Chart {
        name: "match-scores".to_owned(),
        title: "Scores".to_owned(),
        caption: "The first player's score in each match; 50 % means equal strength.".to_owned(),
        x: Axis::integer("match"),
        y: Axis::share("score"),
        marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
        references: vec![Reference::Level(0.5, "equal".to_owned())],
    }
}

fn table(context: &Context<'_>, run: &ReportRun) -> Option<Table> {
    let rows: Vec<(bool, Vec<String>)> =
        matches(context, run).filter_map(|step| row(context, run, step)).collect();
    let head = [
        "match",
        "first",
        "second",
        "wins, draws, losses",
        "score",
        "95 % interval",
        "Elo",
        "95 % interval",
        "LOS",
        "normalised Elo",
        "95 % interval",
        "outcome",
    ];
    let title =
        if context.runs.len() > 1 { format!("Matches of {}", run.name) } else { "All matches".to_owned() };
    (!rows.is_empty()).then(|| Table { title, head: head.map(str::to_owned).to_vec(), rows, text_columns: 3 })
}

fn row(context: &Context<'_>, run: &ReportRun, step: &Step) -> Option<(bool, Vec<String>)> {
    let number = step.number?;
    let pair = context.pairs.iter().find(|pair| pair.run == run.name && pair.number == number)?;
    let standing = context.standings.iter().find(|standing| standing.run == run.name);
    let player =
        |id: &str| standing.and_then(|standing| standing.players.iter().find(|player| player.id == id));
    let name = |id: &str| player(id).map_or_else(|| id.to_owned(), |player| player.name.clone());
    let count = |name: &str| step.figure(name).map_or_else(String::new, short);
    let share = |name: &str| step.figure(name).map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
    let elo = |name: &str| step.figure(name).map(|elo| format!("{elo:+.0}").replace('-', "−"));
    let interval = |low: Option<String>, high: Option<String>| {
        format!("{} to {}", low.unwrap_or_else(|| "−∞".to_owned()), high.unwrap_or_else(|| "∞".to_owned()))
    };
    let candidate = player(&pair.result.first).filter(|_| is_candidate(context, pair));
    let candidate = candidate.filter(|_| run.is_gated());
    let outcome = match candidate.map(|player| (player.net, player.generation)) {
        Some((Some(_), Some(generation))) => format!("promoted to generation {generation}"),
        Some((Some(_), None)) => "not promoted".to_owned(),
        _ => "measured".to_owned(),
    };
    let is_rejected = outcome == "not promoted";
    let cells = vec![
        format!("{number:04}"),
        name(&pair.result.first),
        name(&pair.result.second),
        format!("+{} ={} −{}", count("wins"), count("draws"), count("losses")),
        share("score"),
        format!("{} to {}", share("score_low"), share("score_high")),
        elo("elo").unwrap_or_else(|| "unbounded".to_owned()),
        interval(elo("elo_low"), elo("elo_high")),
        step.figure("los").map_or_else(|| "–".to_owned(), |los| format!("{:.1} %", 100.0 * los)),
        elo("normalized_elo").unwrap_or_else(|| "–".to_owned()),
        interval(elo("normalized_elo_low"), elo("normalized_elo_high")),
        outcome,
    ];
    Some((is_rejected, cells))
}

/// Whether the first player of a match had played no match before, as a candidate has not.
fn is_candidate(context: &Context<'_>, pair: &MatchPair) -> bool {
    let mut before = context.pairs.iter().filter(|other| other.run == pair.run && other.number < pair.number);
    before.all(|other| other.result.first != pair.result.first && other.result.second != pair.result.first)
}
