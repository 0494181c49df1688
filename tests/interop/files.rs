//! dc0's files, read by other programs: python-chess replays the games, DuckDB and polars read the tables, the safetensors
//! library opens the nets. `cargo xtask test` installs them; without them these tests fail and say so.

use std::path::{Path, PathBuf};

use crate::program::{dc0_run, succeed};
use crate::{interop_command, interop_script};
use dc0_core::board::{Game, GameResult, Move, Outcome, Position, Reason, Rules, Side};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::event::Silent;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::fake::Hashed;
use dc0_core::network::{NetworkSpec, initial_weights};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::search::{ANALYSIS_RULES, Search, SearchParams, analyse};
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, Shard, play_shard};
use dc0_core::store::{
    GameRow, LineRow, MatchGameRow, PositionRow, Provenance, Scores, TableRow, TrainingRow, TreeRow,
    ValidationRow, write_table,
};

fn write<R: TableRow>(folder: &Path, path: &str, rows: &[R]) {
    let provenance = Provenance::from([("run".to_owned(), "interop".to_owned())]);
    write_table(folder, path, rows, &provenance).expect("sound rows");
}

/// Stores games as a run does.
fn store(folder: &Path, games: &[GameRow], positions: &[PositionRow]) {
    write(folder, "games/iteration=0001/part.parquet", games);
    write(folder, "positions/iteration=0001/part.parquet", positions);
}

/// Games of an untrained evaluator: the moves are nearly random, so promotions and many kinds of endings occur.
fn self_play() -> (Vec<GameRow>, Vec<PositionRow>) {
    let search = SearchParams { simulations: 6, ..SearchParams::default() };
    let params = SelfPlayParams {
        search: search.into(),
        opening_plies: 3,
        max_plies: 300,
        ..SelfPlayParams::default()
    };
    let unused = || unreachable!("the shard is given its evaluator");
    let seed = Seed { run: 11, step: 1 };
    let job = SelfPlayJob::new(&params, seed, "0123456789abcdef", &unused);
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let shard = Shard { index: 0, first_game: 0, games: 40 };
    let result = play_shard(&job, shard, &mut [Box::new(Hashed::new(encoding, 1))], &Silent);
    let result = result.expect("fakes do not fail");
    (result.games, result.positions)
}

/// Games with cases that are rare in random play: start, moves, ply cap, reason.
const CORNERS: [(&str, &str, u32, &str); 12] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "f2f3 e7e5 g2g4 d8h4", 512, "checkmate"),
    ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "f1f7", 512, "stalemate"),
    ("k7/8/8/8/8/8/1r6/K7 w - - 0 1", "a1b2", 512, "insufficient_material"),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1",
        512,
        "threefold",
    ),
    ("k7/8/8/8/8/8/8/K6R w - - 98 100", "h1h2 a8b8", 512, "fifty_moves"),
    ("k7/8/1K6/8/8/8/8/7R w - - 99 100", "h1h8", 512, "checkmate"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1 e8c8", 2, "ply_cap"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1 e8g8", 2, "ply_cap"),
    ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4 d4e3", 2, "ply_cap"),
    ("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5 e5d6", 2, "ply_cap"),
    // Capturing on e3 would leave the king in check, so the position after e2e4 has no en-passant square.
    ("8/8/8/8/k2p3Q/8/4P3/4K3 w - - 0 1", "e2e4 a4b5", 2, "ply_cap"),
    ("8/P6P/8/2k5/8/4K3/p6p/8 w - - 0 1", "a7a8n a2a1b h7h8r h2h1q", 4, "ply_cap"),
];

fn corners() -> (Vec<GameRow>, Vec<PositionRow>) {
    let (mut games, mut positions) = (Vec::new(), Vec::new());
    for (number, (fen, moves, max_plies, reason)) in (0..).zip(CORNERS) {
        let (game, rows) = recorded(number, fen, moves, max_plies);
        assert_eq!(game.reason.name(), reason, "{moves} from {fen}");
        games.push(game);
        positions.extend(rows);
    }
    (games, positions)
}

/// A game as self-play would record it, with every legal move visited.
fn recorded(number: u32, fen: &str, moves: &str, max_plies: u32) -> (GameRow, Vec<PositionRow>) {
    let mut game = Game::from_position(Position::from_fen(fen).expect("a legal position"));
    let moves: Vec<Move> = moves.split(' ').map(|text| Move::from_uci(text).expect("a move")).collect();
    let mut positions = Vec::new();
    for &mv in &moves {
        positions.push(position(number, &game, mv));
        game.play_unchecked(mv);
    }
    let outcome = game.outcome(&Rules { max_plies }).expect("the game is over");
    for row in &mut positions {
        let side =
            game.position_before(moves.len() - row.ply as usize).expect("a ply of the game").side_to_move();
        row.result = outcome.score_for(side);
    }
    (game_row(number, &game, outcome), positions)
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

fn position(number: u32, game: &Game, played: Move) -> PositionRow {
    let mut moves: Vec<u16> = game.position().legal_moves().iter().map(|legal| legal.packed()).collect();
    moves.sort_unstable();
    PositionRow {
        game: number,
        ply: game.ply() as u16,
        fen: game.position().fen(),
        played: played.packed(),
        legal: moves.len() as u16,
        visits: (1..).take(moves.len()).collect(),
        target: (1..).take(moves.len()).collect(),
        moves,
        root_q: 0.25,
        root_d: 0.5,
        net_q: -0.25,
        net_d: 0.125,
        simulations: 32,
        full: true,
        policy_surprise: 0.5,
        result: 0,
    }
}

/// The first player has White in games with even numbers.
fn first_side(game: &GameRow) -> Side {
    if game.game.is_multiple_of(2) { Side::White } else { Side::Black }
}

fn match_rows(games: &[GameRow]) -> Vec<MatchGameRow> {
    let row = |game: &GameRow| MatchGameRow {
        game: game.game,
        pair: game.game / 2,
        first: "network 1".to_owned(),
        second: "greedy".to_owned(),
        first_is_white: game.game.is_multiple_of(2),
        start_fen: game.start_fen.clone(),
        moves: game.moves.clone(),
        opening_plies: game.opening_plies,
        plies: game.moves.len() as u16,
        scores: Scores(vec![f32::NAN; game.moves.len()]),
        depths: vec![0; game.moves.len()],
        seconds: Vec::new(),
        score: f64::from(1 + game.result.score_for(first_side(game))) / 2.0,
        result: game.result,
        reason: game.reason,
        detail: String::new(),
    };
    games.iter().map(row).collect()
}

#[test]
fn python_chess_replays_every_self_play_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let (games, positions) = self_play();
    store(folder.path(), &games, &positions);
    let printed = interop_script("replay_games.py", folder.path());
    let expected = format!("replayed {} games, {} positions (", games.len(), positions.len());
    assert!(printed.starts_with(&expected), "{printed}");
    assert!(!printed.contains(" 0 promotions"), "{printed}");
}

#[test]
fn python_chess_agrees_on_corner_cases_of_the_rules() {
    let folder = tempfile::tempdir().expect("a folder");
    let (games, positions) = corners();
    store(folder.path(), &games, &positions);
    write(folder.path(), "matches/0001.parquet", &match_rows(&games));
    let printed = interop_script("replay_games.py", folder.path());
    assert_eq!(printed, "replayed 24 games, 32 positions (8 castlings, 4 en passant, 8 promotions)\n");
}

/// Damages the corner-case games, and checks that the replay reports it.
fn check_detected(damage: &dyn Fn(&mut Vec<GameRow>, &mut Vec<PositionRow>), expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut games, mut positions) = corners();
    damage(&mut games, &mut positions);
    store(folder.path(), &games, &positions);
    let output = interop_command("replay_games.py").arg(folder.path()).output().expect("Python starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains(expected), "expected {expected}, got {err}");
}

#[test]
fn the_replay_detects_every_kind_of_error() {
    check_detected(&|games, _| games[0].moves[1] = 0, "game 0: ply 1: 0000 is not legal");
    check_detected(&|games, _| games[1].reason = Reason::PlyCap.into(), "game 1: reason: stored 'ply_cap'");
    check_detected(&|games, _| games[0].result = GameResult::WhiteWins, "game 0: ply 0: result");
    check_detected(&|games, _| games[4].moves.truncate(1), "game 4: positions of plies that were not played");
    check_detected(&|_, rows| rows[0].fen = rows[1].fen.clone(), "game 0: ply 0: fen");
    check_detected(&|_, rows| rows[0].played = rows[1].played, "game 0: ply 0: played");
    check_detected(&|_, rows| rows[0].legal += 1, "game 0: ply 0: legal");
    check_detected(&|_, rows| rows[0].moves[0] = 0, "game 0: ply 0: illegal moves that were visited");
    check_detected(&|_, rows| drop(rows.remove(1)), "game 0: ply 1 has no position");
}

#[test]
fn duckdb_and_polars_read_the_same_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let (games, positions) = self_play();
    store(folder.path(), &games, &positions);
    write(folder.path(), "matches/0001.parquet", &match_rows(&games));
    write(folder.path(), "training/0001.parquet", &[training(10), training(20)]);
    write(folder.path(), "validation/0001.parquet", &[validation(0)]);
    let (lines, tree) = a_search();
    write(folder.path(), "searches/analysis=0000/part-0.parquet", &lines);
    write(folder.path(), "trees/analysis=0000/part-0.parquet", &tree);
    let printed = interop_script("read_tables.py", folder.path());
    for (table, rows, columns) in [
        (GameRow::TABLE, games.len(), GameRow::columns().len()),
        (PositionRow::TABLE, positions.len(), PositionRow::columns().len()),
        (MatchGameRow::TABLE, games.len(), MatchGameRow::columns().len()),
        (TrainingRow::TABLE, 2, TrainingRow::columns().len()),
        (ValidationRow::TABLE, 1, ValidationRow::columns().len()),
        (LineRow::TABLE, lines.len(), LineRow::columns().len()),
        (TreeRow::TABLE, tree.len(), TreeRow::columns().len()),
    ] {
        assert!(printed.contains(&format!("{table}: {rows} rows, {columns} columns\n")), "{printed}");
    }
    let visits: u64 = positions.iter().flat_map(|row| &row.visits).map(|&visits| u64::from(visits)).sum();
    assert!(printed.contains(&format!("sum of visits: {visits}\n")), "expected {visits} visits: {printed}");
}

/// The lines and the tree of a search of the initial position.
fn a_search() -> (Vec<LineRow>, Vec<TreeRow>) {
    let params = SearchParams { simulations: 200, ..SearchParams::default() };
    let mut search = [Search::with_tablebases(Game::initial(), ANALYSIS_RULES, params, None)];
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut evaluator = Hashed::new(encoding, 1);
    analyse(&mut search, &mut evaluator, &Silent).expect("fakes do not fail");
    (LineRow::best_lines(&search[0], 0, 5), search[0].rows(0, true))
}

fn training(update: u32) -> TrainingRow {
    TrainingRow {
        update,
        learning_rate: 0.001,
        loss: 3.0,
        policy_loss: 2.0,
        value_loss: 1.0,
        moves_left_loss: 0.5,
        policy_accuracy: 0.25,
        policy_entropy: 1.5,
        gradient_norm: 0.7,
        ..TrainingRow::default()
    }
}

fn validation(update: u32) -> ValidationRow {
    ValidationRow {
        update,
        loss: 3.0,
        policy_loss: 2.0,
        value_loss: 1.0,
        moves_left_loss: 0.5,
        policy_accuracy: 0.25,
        policy_entropy: 1.5,
        ..ValidationRow::default()
    }
}

#[test]
fn the_safetensors_library_opens_a_net() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.safetensors");
    let spec = NetworkSpec::default();
    let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
    let tensors = weights.len();
    let net = Checkpoint { spec, weights, provenance: Value::group() };
    net.save(&path).expect("sound weights");
    let printed = interop_script("read_network.py", &path);
    assert!(printed.contains(&format!("{tensors} tensors, ")), "{printed}");
    for (name, tensor) in &net.weights {
        assert!(printed.contains(&format!("{name} {:?} float32\n", tensor.shape)), "{name}: {printed}");
    }
}

#[test]
fn external_programs_read_every_file_of_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    succeed(&mut dc0_run("tests/data/tiny.rhai", folder.path()));
    let run = folder.path().join("tiny");
    interop_script("replay_games.py", &run);
    let printed = interop_script("read_tables.py", &run);
    for table in [
        GameRow::TABLE,
        PositionRow::TABLE,
        MatchGameRow::TABLE,
        TrainingRow::TABLE,
        LineRow::TABLE,
        TreeRow::TABLE,
        "costs",
    ] {
        assert!(printed.contains(&format!("{table}: ")), "{printed}");
    }
    let networks = std::fs::read_dir(run.join("networks")).expect("the run made nets");
    let weights: Vec<PathBuf> = networks
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"))
        .collect();
    assert!(!weights.is_empty());
    for net in weights {
        interop_script("read_network.py", &net);
    }
}
