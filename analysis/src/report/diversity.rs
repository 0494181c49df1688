//! How different the games are: positions that occur once, first moves, named openings.

use std::collections::BTreeMap;

use super::answer::Answer;
use super::section::{Part, Section, Table, drawn};
use super::{Context, ReportRun};
use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Series};
use crate::error::AnalysisError;

/// How different the games of an iteration are.
pub(super) struct Variety {
    pub(super) run: String,
    pub(super) iteration: u32,
    /// Different positions as a share of all.
    pub(super) positions: f64,
    /// Different beginnings as a share of all games.
    pub(super) beginnings: f64,
}

/// Plies of a beginning. No pawn promotes in so few, so UCI text of them is 39 letters at most. Chosen.
const BEGINNING: usize = 8;
const NAMED: usize = 12;

pub(super) fn varieties(context: &Context<'_>) -> Result<Vec<Variety>, AnalysisError> {
    let positions = "select run, iteration, count(*) as all_of_them, \
        count(distinct concat(split_part(fen, ' ', 1), split_part(fen, ' ', 2))) as different \
        from positions group by run, iteration order by run, iteration";
    let letters = 5 * BEGINNING - 1;
    let beginnings = format!(
        "select run, iteration, count(*) as all_of_them, count(distinct substr(uci(moves), 1, {letters})) as different \
         from games group by run, iteration order by run, iteration"
    );
    let mut found: BTreeMap<(String, u32), [f64; 2]> = BTreeMap::new();
    for (at, statement) in [positions, &beginnings].into_iter().enumerate() {
        let answer = Answer::of(context.database, statement)?;
        let (runs, iterations) = (answer.texts("run")?, answer.numbers("iteration")?);
        let (all, different) = (answer.numbers("all_of_them")?, answer.numbers("different")?);
        for row in 0..answer.len() {
            let key = (runs[row].clone(), iterations[row] as u32);
            found.entry(key).or_insert([f64::NAN; 2])[at] = different[row] / all[row];
        }
    }
    let variety = |((run, iteration), [positions, beginnings]): ((String, u32), [f64; 2])| Variety {
        run,
        iteration,
        positions,
        beginnings,
    };
    Ok(found.into_iter().map(variety).collect())
}

pub(super) fn section(context: &Context<'_>) -> Result<Section, AnalysisError> {
    let different = |name: &str, title: &str, about: String, of: fn(&Variety) -> f64| {
        let series = |(at, run): (usize, &ReportRun)| {
            let own = context.varieties.iter().filter(|variety| variety.run == run.name);
            let points = own.map(|variety| Point::new(f64::from(variety.iteration), of(variety)));
            let points = points.filter(|point| point.y.is_finite()).collect();
            Series { name: run.name.clone(), ink: Ink::Series(at), joined: Joined::Marked, points }
        };
        Chart {
            name: name.to_owned(),
            title: title.to_owned(),
            about,
            x: Axis::whole("iteration"),
            y: Axis::share("share that is different"),
            marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
            references: Vec::new(),
        }
    };
    let positions = different(
        "unique-positions",
        "Different positions",
        "Different placements of men with the side to move, as a share of all positions of the iteration."
            .to_owned(),
        |variety| variety.positions,
    );
    let beginnings = different(
        "unique-openings",
        "Different beginnings",
        format!(
            "Different first {BEGINNING} plies, random opening plies included, as a share of the iteration's games."
        ),
        |variety| variety.beginnings,
    );
    let mut parts: Vec<Part> = [positions, beginnings].into_iter().filter_map(drawn).collect();
    if !parts.is_empty() {
        for run in context.runs {
            parts.extend(named(context, run)?.map(Part::Table));
        }
    }
    let about =
        "Whether the games differ from each other: a net learns little from the same game played often.";
    Ok(Section::new("diversity", "Diversity", about, parts, "no games are stored"))
}

/// The openings played most often in the last iteration.
fn named(context: &Context<'_>, run: &ReportRun) -> Result<Option<Table>, AnalysisError> {
    let last = context.ends.iter().filter(|ended| ended.run == run.name).map(|ended| ended.iteration).max();
    let Some(last) = last else { return Ok(None) };
    let statement = format!(
        "select opening(moves) as name, count(*) as games, avg(cast(result as double)) as white from games \
         where run = {} and iteration = {last} group by name order by games desc, name",
        super::answer::quoted(&run.name)
    );
    let answer = Answer::of(context.database, &statement)?;
    let (names, games, white) = (answer.texts("name")?, answer.numbers("games")?, answer.numbers("white")?);
    let all: f64 = games.iter().sum();
    let row = |at: usize| {
        let name = if names[at].is_empty() { "no named opening".to_owned() } else { names[at].clone() };
        let score = format!("{:.1} %", 50.0 * (white[at] + 1.0));
        (false, vec![name, format!("{:.0}", games[at]), format!("{:.1} %", 100.0 * games[at] / all), score])
    };
    let of = if context.runs.len() > 1 { format!(" of {}", run.name) } else { String::new() };
    let head = ["opening", "games", "share", "White's score"].map(str::to_owned).to_vec();
    let rows = (0..answer.len().min(NAMED)).map(row).collect();
    Ok(Some(Table { title: format!("Openings{of} in iteration {last}"), head, rows, words: 1 }))
}
