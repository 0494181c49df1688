//! How much games differ: distinct positions, first moves and named openings.

use dc0_core::board::Game;

use crate::charts::{Axis, Chart, Ink, Marks, Point, Series, SeriesStyle, percent};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::diversity::{Diversity, OPENING_PLIES};
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, Table, drawn};

/// The number of openings in the table. Chosen.
const SHOWN: usize = 12;

pub(super) const SECTION: Section = Section {
    id: "diversity",
    title: "Diversity",
    about: "How much games differ from each other: a net learns little from repeated games.",
    reads: &["games", "positions", "steps"],
    no_data: |_| "no games are stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let chart = |name: &str, title: &str, caption: String, share: fn(&Diversity) -> f64| {
        let series = |(index, run): (usize, &ReportRun)| {
            let diversities = context.diversities.iter().filter(|diversity| diversity.run == run.name);
            let points =
                diversities.map(|diversity| Point::new(f64::from(diversity.iteration), share(diversity)));
            let points = points.filter(|point| point.y.is_finite()).collect();
            Series { name: run.name.clone(), ink: Ink::Series(index), style: SeriesStyle::MarkedLine, points }
        };
        Chart {
            name: name.to_owned(),
            title: title.to_owned(),
            caption,
            x: Axis::integer("iteration"),
            y: Axis::share("distinct share"),
            marks: Marks::Series(context.runs.iter().enumerate().map(series).collect()),
            references: Vec::new(),
        }
    };
    let positions = chart(
        "unique-positions",
        "Distinct positions",
        "Distinct placements of pieces with the side to move, as a share of all positions of the iteration."
            .to_owned(),
        |diversity| diversity.positions,
    );
    let openings = chart(
        "unique-openings",
        "Distinct openings",
        format!(
            "Distinct starts with their first {OPENING_PLIES} plies, random opening plies included, as a share of the iteration's games."
        ),
        |diversity| diversity.openings,
    );
    let mut parts: Vec<Part> = [positions, openings].into_iter().filter_map(drawn).collect();
    if !parts.is_empty() {
        for run in context.runs {
            parts.extend(named(context, run)?.map(Part::Table));
        }
    }
    Ok(parts)
}

/// The most frequent openings of the last iteration.
fn named(context: &Context<'_>, run: &ReportRun) -> Result<Option<Table>, AnalysisError> {
    let Some(last) = context.last_iteration(run) else { return Ok(None) };
    let statement = format!(
        "select case when start_fen = {} then opening(moves) else '' end as name, count(*) as games, \
         avg(cast(result as double)) as white from games \
         where run = {} and iteration = {last} group by name order by games desc, name",
        crate::quoting::text(&Game::initial().start().fen()),
        crate::quoting::text(&run.name)
    );
    let answer = context.database.fetch(&statement)?;
    let (names, games, white) = (answer.texts("name")?, answer.numbers("games")?, answer.numbers("white")?);
    let all: f64 = games.iter().sum();
    let row = |index: usize| {
        let name = &names[index];
        let name = if name.is_empty() { "no named opening".to_owned() } else { name.clone() };
        let share = percent(games[index] / all, 1);
        let score = percent(0.5 * (white[index] + 1.0), 1);
        (false, vec![name, format!("{:.0}", games[index]), share, score])
    };
    let of_run = if context.runs.len() > 1 { format!(" of {}", run.name) } else { String::new() };
    let head = ["opening", "games", "share", "White's score"].map(str::to_owned).to_vec();
    let rows: Vec<_> = (0..answer.len().min(SHOWN)).map(row).collect();
    Ok((!rows.is_empty()).then(|| Table {
        title: format!("Openings{of_run} in iteration {last}"),
        head,
        rows,
        text_columns: 1,
    }))
}
