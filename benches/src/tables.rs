//! Queries of millions of stored positions: time and memory.
//!
//! ```sh
//! target/release/dc0-benches tables write many            # 5 million positions of random games, written by the store
//! target/release/dc0-benches tables ask many
//! target/release/dc0-benches tables report many           # with one thread
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, value_parser};
use dc0_analysis::report::{Report, ReportRun, report};
use dc0_analysis::{Database, RunSource, Work};
use dc0_core::board::{Game, Outcome, Rules, Side};
use dc0_core::params::Value;
use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_core::store::{GameRow, PositionRow, Provenance, write_table};
use rand::RngExt;

use crate::timing::{now, seconds};

/// Measures queries of stored tables.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// Write a run's tables.
    Write(Size),
    /// Run queries.
    Ask(AskArgs),
    /// Make a report.
    Report {
        /// The run's folder.
        folder: PathBuf,
    },
}

#[derive(Args)]
struct Size {
    /// The run's folder.
    folder: PathBuf,
    /// Positions in all.
    #[arg(long, default_value_t = 5_000_000)]
    positions: usize,
    /// Number of iterations.
    #[arg(long, default_value_t = 100, value_parser = value_parser!(u32).range(1..))]
    iterations: u32,
}

#[derive(Args)]
struct AskArgs {
    /// The run's folder.
    folder: PathBuf,
    /// One query instead of all.
    statement: Option<String>,
}

const RULES: Rules = Rules { max_plies: 200 };

/// The queries, from one narrow column to the full text of every position.
const QUERIES: [&str; 6] = [
    "select count(*) as positions from positions",
    "select result, ply, count(*) as positions, avg(root_q) as q, avg(abs(root_q - net_q)) as correction from positions group by result, ply",
    "select iteration, result, avg(legal) as legal from positions where ply < 40 group by iteration, result",
    "select ply, avg(list_max(visits) * 1.0 / list_sum(visits)) as top from positions group by ply",
    "select floor(phase(fen) * 4) as quarter, avg(material(fen) * result) as value from positions group by quarter",
    "select count(distinct fen) as different from positions",
];

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    match &options.part {
        Part::Write(size) => write(size),
        Part::Ask(args) => ask(args),
        Part::Report { folder } => make_report(folder),
    }
}

fn write(size: &Size) -> Result<(), Box<dyn Error>> {
    let each = size.positions.div_ceil(size.iterations as usize);
    for iteration in 0..size.iterations {
        let mut stream = Seed { run: 1, step: u64::from(iteration) }.stream(0, Purpose::RandomPlayer);
        let (mut games, mut positions) = (Vec::new(), Vec::new());
        while positions.len() < each {
            let (game, rows) = play(games.len() as u32, &mut stream);
            games.push(game);
            positions.extend(rows);
        }
        positions.truncate(each);
        let path = |table: &str| format!("{table}/iteration={iteration:04}/part-00000000-00000.parquet");
        write_table(&size.folder, &path("games"), &games, &Provenance::new())?;
        write_table(&size.folder, &path("positions"), &positions, &Provenance::new())?;
    }
    println!("{} positions in {}", each * size.iterations as usize, size.folder.display());
    Ok(())
}

/// A game of random moves, with rows like those of searches.
fn play(number: u32, stream: &mut Stream) -> (GameRow, Vec<PositionRow>) {
    let mut game = Game::initial();
    let mut rows = Vec::new();
    let outcome = loop {
        if let Some(outcome) = game.outcome(&RULES) {
            break outcome;
        }
        let row = position(number, &game, stream);
        let legal = game.position().legal_moves();
        let played = legal.iter().find(|mv| mv.packed() == row.played).expect("a legal move");
        game.play_unchecked(*played);
        rows.push(row);
    };
    for row in &mut rows {
        let side = if row.ply % 2 == 0 { Side::White } else { Side::Black };
        row.result = outcome.score_for(side);
    }
    (game_row(number, &game, outcome), rows)
}

fn position(number: u32, game: &Game, stream: &mut Stream) -> PositionRow {
    let mut moves: Vec<u16> = game.position().legal_moves().iter().map(|mv| mv.packed()).collect();
    moves.sort_unstable();
    let visits: Vec<u32> = moves.iter().map(|_| stream.random_range(1..40)).collect();
    let root_q = stream.random_range(-1.0_f32..1.0);
    PositionRow {
        game: number,
        ply: game.ply() as u16,
        fen: game.position().fen(),
        played: moves[stream.random_range(0..moves.len())],
        legal: moves.len() as u16,
        target: visits.iter().map(|visits| *visits as u16).collect(),
        simulations: visits.iter().sum(),
        visits,
        moves,
        root_q,
        root_d: 0.25,
        net_q: root_q / 2.0,
        net_d: 0.5,
        full: game.ply().is_multiple_of(4),
        policy_surprise: 0.0,
        result: 0,
    }
}

fn game_row(number: u32, game: &Game, outcome: Outcome) -> GameRow {
    GameRow {
        game: number,
        network: "0123456789abcdef".to_owned(),
        start_fen: game.start().fen(),
        moves: game.moves().iter().map(|mv| mv.packed()).collect(),
        opening_plies: 0,
        result: outcome.result(),
        reason: outcome.reason.into(),
    }
}

fn ask(args: &AskArgs) -> Result<(), Box<dyn Error>> {
    let database = Database::new(vec![RunSource::from_folder("many", &args.folder)], Vec::new(), Work::Fast);
    let statements = match &args.statement {
        Some(statement) => vec![statement.as_str()],
        None => QUERIES.to_vec(),
    };
    for statement in statements {
        let start = now();
        let rows = database.query(statement)?.rows()?;
        let took = seconds(start.elapsed());
        println!("{took}  {} rows, peak so far {}  {statement}", rows.len(), peak());
    }
    Ok(())
}

fn make_report(folder: &Path) -> Result<(), Box<dyn Error>> {
    let database = Database::new(vec![RunSource::from_folder("many", folder)], Vec::new(), Work::Exact);
    let run = ReportRun {
        name: "many".to_owned(),
        params: Value::group(),
        environment: Vec::new(),
        script: String::new(),
        promotes: false,
        generations: Vec::new(),
        unfinished: Vec::new(),
    };
    let start = now();
    let Report { html, charts, .. } = report(&database, &[run], &[])?;
    let took = seconds(start.elapsed());
    println!("{took}  {} charts in {} KiB, peak {}", charts.len(), html.len() / 1024, peak());
    Ok(())
}

/// Peak memory of this process, as Linux reports it.
fn peak() -> String {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok());
    kilobytes.map_or_else(|| "unknown".to_owned(), |kilobytes| format!("{:.0} MiB", kilobytes / 1024.0))
}
