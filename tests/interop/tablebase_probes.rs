//! dc0's tablebase probes, compared with those of python-chess, which reads the same files with code of its own.
//! `cargo xtask test` installs both; without them these tests fail and say so.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::program::{root, succeed};
use crate::{interop_command, interop_script, random_endings, stdout_of, syzygy};
use dc0_core::arena::{OnlyMove, only_moves_of_game};
use dc0_core::board::{Adjudication, Ending, Game, Operands, Position, Tablebase, TablebaseResult};
use dc0_core::book::Book;
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::event::Silent;
use dc0_core::network::fake::Hashed;
use dc0_core::network::nnue::NnueNet;
use dc0_core::network::{Evaluator, initial_weights, preset};
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{
    self, AlphaBetaSearch, Openings, SelfPlayJob, SelfPlayParams, ShardResult, StartParams, shards_of,
};
use rand::RngExt;
use serde_json::{Value, json};

/// All material balances with three and four pieces; either side is the stronger one.
const BALANCES: [&str; 35] = [
    "Q", "r", "b", "N", "P", "QQ", "qr", "QB", "qn", "QP", "RR", "rb", "RN", "rp", "BB", "bn", "BP", "nn",
    "NP", "pp", "Qq", "Qr", "bQ", "Qn", "Qp", "Rr", "Rb", "nR", "Rp", "Bb", "Bn", "Bp", "Nn", "pN", "Pp",
];

const EACH: u64 = 60;

fn number(result: TablebaseResult) -> i64 {
    result as i64 - TablebaseResult::Draw as i64
}

fn positions() -> Vec<Position> {
    let mut stream = Seed { run: 9, step: 1 }.stream(0, Purpose::RandomPlayer);
    let mut positions: Vec<Position> =
        (0..150).map(|_| random_endings::with_en_passant(&mut stream)).collect();
    for balance in BALANCES {
        for number in 0..EACH {
            // Half of the clocks are 0, a quarter anything, a quarter near 100.
            let clock =
                [0, 0, stream.random_range(1..100), stream.random_range(80..100)][number as usize % 4];
            positions.push(random_endings::random(balance, clock, &mut stream));
        }
    }
    positions
}

/// dc0's answers for a position, as a line for the script.
fn answers(tables: &Tablebase, position: &Position) -> Value {
    let game = Game::from_position(position.clone());
    let wdl = tables.probe_wdl(position).expect("sound tables").expect("covered");
    let outcome = tables.probe_with_clock(position).expect("sound tables").map(TablebaseResult::outcome);
    let ranked = tables.rank_root(&game).expect("sound tables").expect("covered");
    let moves: Vec<Value> = ranked
        .iter()
        .map(|ranked| json!([ranked.mv.to_string(), ranked.dtz, number(ranked.result), ranked.rank]))
        .collect();
    json!({ "fen": position.fen(), "wdl": number(wdl), "outcome": outcome, "moves": moves })
}

fn compare(lines: &[Value], folder: &Path) -> Command {
    let path = folder.join("positions.jsonl");
    let heading = json!({ "tables": syzygy().display().to_string() });
    let text: String = [&heading].into_iter().chain(lines).map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).expect("a file");
    let mut command = interop_command("probe_tables.py");
    command.arg(path);
    command
}

#[test]
fn python_chess_proves_the_puzzles_of_endings() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let mut text = format!("# {}\n", syzygy().display());
    for position in positions() {
        for (kind, mut epd) in
            only_moves_of_game(&Game::from_position(position), &tables).expect("sound tables")
        {
            let id = if kind == OnlyMove::Wins { "only winning move" } else { "only drawing move" };
            epd.operations.insert("id".to_owned(), Operands::Text(id.to_owned()));
            writeln!(text, "{epd}").expect("text takes everything");
        }
    }
    let path = folder.path().join("puzzles.epd");
    fs::write(&path, &text).expect("a file");
    let printed = interop_script("prove_endings.py", &path);
    let proved: Vec<usize> =
        printed.split_whitespace().map(|count| count.parse().expect("a count")).collect();
    assert!(proved.iter().all(|count| *count > 50), "{printed}");
    // A wrong move is found.
    let (heading, lines) = text.split_once('\n').expect("lines");
    let wrong = lines.lines().map(|line| line.replace("winning", "drawing")).collect::<Vec<_>>().join("\n");
    fs::write(&path, format!("{heading}\n{wrong}\n")).expect("a file");
    let proved = interop_command("prove_endings.py").arg(&path).output().expect("Python starts");
    assert!(!proved.status.success());
}

#[test]
fn python_chess_proves_the_shipped_endings() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = fs::read_to_string(root().join("datasets/puzzles/endings.epd")).expect("is checked in");
    let path = folder.path().join("endings.epd");
    fs::write(&path, format!("# {}\n{suite}", syzygy().display())).expect("a file");
    interop_script("prove_endings.py", &path);
}

#[test]
fn python_chess_agrees_with_every_tablebase_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let lines: Vec<Value> = positions().iter().map(|position| answers(&tables, position)).collect();
    let printed = stdout_of(&mut compare(&lines, folder.path()));
    assert!(printed.starts_with("compared 2250 positions, "), "{printed}");
}

/// Games of self-play with random evaluations, which the tables may end.
fn self_play(params: &SelfPlayParams, tables: &Tablebase) -> Vec<ShardResult> {
    let encoding = || Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let make_evaluator = || Ok(Box::new(Hashed::new(encoding(), 1)) as Box<dyn Evaluator>);
    let job = SelfPlayJob::new(params, Seed { run: 3, step: 2 }, "fake", &make_evaluator);
    let job = SelfPlayJob { tables: Some(tables), ..job };
    let kept = Mutex::new(Vec::new());
    let keep = |_, result| {
        kept.lock().expect("no lane panics").push(result);
        Ok(())
    };
    selfplay::play(&job, &shards_of(params.games, params.shard_games), 2, &keep, &Silent).expect("plays");
    kept.into_inner().expect("no lane panics")
}

/// The last positions of games that the tables ended, with dc0's answers; the results fit, and other games ended by the rules.
fn ended_by_tables(shards: &[ShardResult], params: &SelfPlayParams, tables: &Tablebase) -> Vec<Value> {
    let ended = Ending::Adjudicated(Adjudication::Tablebase);
    let mut lines = Vec::new();
    for row in shards.iter().flat_map(|shard| &shard.games) {
        let game = Game::from_packed(&row.start_fen, &row.moves).expect("a game");
        let is_covered = game.position().halfmove_clock() == 0
            && tables.probe_wdl(game.position()).expect("sound tables").is_some();
        if row.reason == ended {
            assert!(is_covered, "game {} goes on", row.game);
            let line = answers(tables, game.position());
            let wdl = line["wdl"].as_i64().expect("a number");
            // ±1 are the results that the fifty-move rule turns into draws.
            let result = if wdl.abs() < 2 { 0 } else { wdl.signum() };
            assert_eq!(i64::from(row.result.score_for(game.position().side_to_move())), result);
            lines.push(line);
        } else {
            assert!(game.outcome(&params.rules()).is_some(), "game {} ended by the rules", row.game);
        }
    }
    lines
}

#[test]
fn games_that_tables_ended_have_the_result_that_python_chess_finds() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let search = SearchParams { simulations: 4, ..SearchParams::default() };
    let params = SelfPlayParams {
        games: 60,
        shard_games: 10,
        max_plies: 500,
        search: search.into(),
        ..SelfPlayParams::default()
    };
    let lines = ended_by_tables(&self_play(&params, &tables), &params, &tables);
    assert!(lines.len() > 10, "{} of 60 games", lines.len());
    succeed(&mut compare(&lines, folder.path()));
    let plain = SelfPlayParams { tablebase_adjudication: false, games: 10, ..params };
    let (games, ended) = (self_play(&plain, &tables), Ending::Adjudicated(Adjudication::Tablebase));
    assert!(games.iter().flat_map(|shard| &shard.games).all(|row| row.reason != ended));
}

#[test]
fn games_of_alphabeta_that_tables_ended_have_the_result_that_python_chess_finds() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let endings =
        "8/8/2k5/p7/8/2K5/1P6/3R4 w - -\n8/5k2/4p3/8/3P4/2K5/8/3B4 w - -\n8/2k5/8/1p1r4/8/4K3/4P3/8 b - -\n";
    let book = Book::read("endings.epd", endings.as_bytes(), None).expect("a book");
    let openings = Openings { book: Some(book), ..Openings::default() };
    let search = AlphaBetaSearch { nodes: 300, hash_mb: 1, ..AlphaBetaSearch::default() };
    let params = SelfPlayParams {
        games: 30,
        shard_games: 10,
        opening_plies: 2,
        max_plies: 300,
        openings: Some(StartParams { file: "endings.epd".to_owned(), ..StartParams::default() }),
        search: search.into(),
        ..SelfPlayParams::default()
    };
    let spec = preset("nnue-128").expect("exists").spec;
    let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
    let net = Arc::new(NnueNet::new(&spec, &weights).expect("in range"));
    let make_evaluator = || unreachable!("alpha-beta has its net");
    let job = SelfPlayJob {
        params: &params,
        seed: Seed { run: 3, step: 2 },
        network: "nnue",
        make_evaluator: &make_evaluator,
        tables: Some(&tables),
        openings: Some(&openings),
    };
    let kept = Mutex::new(Vec::new());
    let keep = |_, result| {
        kept.lock().expect("no lane panics").push(result);
        Ok(())
    };
    let shards = shards_of(params.games, params.shard_games);
    selfplay::play_alphabeta(&job, &net, &shards, 2, &keep, &Silent).expect("plays");
    let games: Vec<ShardResult> = kept.into_inner().expect("no lane panics");
    let lines = ended_by_tables(&games, &params, &tables);
    assert!(lines.len() > 10, "{} of 30 games", lines.len());
    succeed(&mut compare(&lines, folder.path()));
}

#[test]
fn the_comparison_detects_every_kind_of_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = Tablebase::open(&syzygy()).expect("tables");
    let queen = Position::from_fen("4k3/8/8/8/8/8/8/3QK3 w - - 10 60").expect("a position");
    let right = answers(&tables, &queen);
    succeed(&mut compare(std::slice::from_ref(&right), folder.path()));
    for (what, wrong) in
        [("wdl", json!(1)), ("outcome", json!(0)), ("outcome", json!(null)), ("moves", json!([]))]
    {
        let mut line = right.clone();
        line[what] = wrong;
        let output = compare(&[line], folder.path()).output().expect("Python starts");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("{what}: dc0 says")));
    }
}
