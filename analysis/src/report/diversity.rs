//! How different the games are: positions that occur once, first moves, named openings.

use super::section::{Part, Section, Table, drawn};
use super::{Context, ReportRun};
use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Series};
use crate::database::Iteration;
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

/// A position's letters up to the side to move: without castling rights, en passant and clocks.
const PLACEMENT: &str = "substr(fen, 1, strpos(fen, ' ') + 1)";

pub(super) fn varieties(iterations: &[Iteration]) -> Result<Vec<Variety>, AnalysisError> {
    let letters = 5 * BEGINNING - 1;
    let beginning = format!("substr(uci(moves), 1, {letters})");
    let variety = |of: &Iteration| {
        Ok(Variety {
            run: of.run.clone(),
            iteration: of.number,
            positions: different(of, "positions", PLACEMENT)?,
            beginnings: different(of, "games", &beginning)?,
        })
    };
    iterations.iter().map(variety).collect()
}

/// The share of a table's rows in which an expression is different; no number where there are none.
fn different(of: &Iteration, table: &str, expression: &str) -> Result<f64, AnalysisError> {
    let statement =
        format!("select count(*) as all_of_them, count(distinct {expression}) as different from {table}");
    let answer = of.database.ask(&statement)?;
    let number =
        |column| Ok::<_, AnalysisError>(answer.numbers(column)?.first().copied().unwrap_or(f64::NAN));
    Ok(number("different")? / number("all_of_them")?)
}

pub(super) fn section(context: &Context<'_>) -> Result<Section, AnalysisError> {
    let chart = |name: &str, title: &str, about: String, of: fn(&Variety) -> f64| {
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
    let positions = chart(
        "unique-positions",
        "Different positions",
        "Different placements of men with the side to move, as a share of all positions of the iteration."
            .to_owned(),
        |variety| variety.positions,
    );
    let beginnings = chart(
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
    let Some(last) = context.last_iteration(run) else { return Ok(None) };
    let statement = format!(
        "select opening(moves) as name, count(*) as games, avg(cast(result as double)) as white from games \
         where run = {} and iteration = {last} group by name order by games desc, name",
        crate::answer::quoted(&run.name)
    );
    let answer = context.database.ask(&statement)?;
    let (names, games, white) = (answer.texts("name")?, answer.numbers("games")?, answer.numbers("white")?);
    let all: f64 = games.iter().sum();
    let row = |at: usize| {
        let name = if names[at].is_empty() { "no named opening".to_owned() } else { names[at].clone() };
        let score = format!("{:.1} %", 50.0 * (white[at] + 1.0));
        (false, vec![name, format!("{:.0}", games[at]), format!("{:.1} %", 100.0 * games[at] / all), score])
    };
    let of = if context.runs.len() > 1 { format!(" of {}", run.name) } else { String::new() };
    let head = ["opening", "games", "share", "White's score"].map(str::to_owned).to_vec();
    let rows: Vec<_> = (0..answer.len().min(NAMED)).map(row).collect();
    Ok((!rows.is_empty()).then(|| Table {
        title: format!("Openings{of} in iteration {last}"),
        head,
        rows,
        words: 1,
    }))
}
