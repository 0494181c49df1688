//! How different the games are: positions that occur once, first moves, named openings.

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Series};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section, Table, drawn};
use crate::report::variety::{BEGINNING, Variety};

const NAMED: usize = 12;

pub(super) const SECTION: Section = Section {
    id: "diversity",
    title: "Diversity",
    about: "Whether the games differ from each other: a net learns little from the same game played often.",
    without: |_| "no games are stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
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
    Ok(parts)
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
