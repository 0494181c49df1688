//! Small handmade runs, and helpers to query them.

use std::path::Path;

use dc0_analysis::{AnalysisError, Database, Frame, Limits, RunSource, Work};
use dc0_core::board::{Game, GameResult, Move, Reason};
use dc0_core::store::{GameRow, PositionRow, Provenance, TrainingRow, write_table};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

pub(crate) fn packed(moves: &str) -> Vec<u16> {
    moves.split(' ').map(|text| Move::from_uci(text).expect("a move").packed()).collect()
}

pub(crate) fn game(game: u32, moves: &str, result: i8) -> GameRow {
    GameRow {
        game,
        network: "0123456789abcdef".to_owned(),
        start_fen: START.to_owned(),
        moves: packed(moves),
        opening_plies: 0,
        result: GameResult::from_white_score(result).expect("1, 0 or -1"),
        reason: if result == 0 { Reason::Threefold } else { Reason::Checkmate }.into(),
    }
}

pub(crate) fn positions(games: &[GameRow]) -> Vec<PositionRow> {
    let mut rows = Vec::new();
    for row in games {
        let mut game = Game::initial();
        for (ply, packed) in (0..).zip(&row.moves) {
            let mut moves: Vec<u16> =
                game.position().legal_moves().iter().map(|legal| legal.packed()).collect();
            moves.sort_unstable();
            rows.push(PositionRow {
                game: row.game,
                ply,
                fen: game.position().fen(),
                played: *packed,
                legal: moves.len() as u16,
                visits: (1..).take(moves.len()).collect(),
                target: (1..).take(moves.len()).collect(),
                moves,
                root_q: 0.1,
                root_d: 0.5,
                net_q: -0.1,
                net_d: 0.25,
                simulations: 32,
                full: ply % 2 == 0,
                policy_surprise: 0.5,
                result: 0,
            });
            game.play_unchecked(Move::from_packed(*packed).expect("a move"));
        }
    }
    rows
}

pub(crate) fn training(update: u32) -> TrainingRow {
    TrainingRow {
        update,
        learning_rate: 0.001,
        loss: 3.0 / f64::from(update),
        policy_loss: 2.0,
        value_loss: 1.0,
        moves_left_loss: 0.5,
        policy_accuracy: 0.25,
        policy_entropy: 1.5,
        gradient_norm: 0.7,
        ..TrainingRow::default()
    }
}

/// Stores a run of two iterations and one training step.
pub(crate) fn store(folder: &Path) {
    let provenance = Provenance::new();
    let first = [game(0, "e2e4 c7c5", 1), game(1, "f2f3 e7e5 g2g4 d8h4", -1)];
    let second = [game(0, "d2d4 d7d5 c2c4", 0), game(1, "e2e4 e7e5", 0), game(2, "g1f3 g8f6", 1)];
    for (iteration, games) in [(3, &first[..]), (10_000, &second[..])] {
        let path = |table: &str| format!("{table}/iteration={iteration:04}/part-0a-00000.parquet");
        write_table(folder, &path("games"), games, &provenance).expect("valid rows");
        write_table(folder, &path("positions"), &positions(games), &provenance).expect("valid rows");
    }
    write_table(folder, "training/0007.parquet", &[training(10), training(20)], &provenance)
        .expect("valid rows");
}

pub(crate) fn run() -> tempfile::TempDir {
    // A folder's name that looks like a partition must not become a column.
    let folder = tempfile::Builder::new().prefix("x=3").tempdir().expect("a folder");
    store(folder.path());
    folder
}

pub(crate) fn database(folder: &Path) -> Database {
    Database::new(vec![RunSource::from_folder("first", folder)], Vec::new(), Work::Exact)
}

pub(crate) fn table(frame: &Frame) -> String {
    frame.rows().expect("an answer").shown(Limits::default()).table
}

pub(crate) fn check(statement: &str, expected: &str) {
    let folder = run();
    for work in [Work::Exact, Work::Fast] {
        let database = Database::new(vec![RunSource::from_folder("first", folder.path())], Vec::new(), work);
        let frame = database.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert_eq!(table(&frame), expected, "{statement}");
    }
}

pub(crate) fn rejected(statement: &str) -> AnalysisError {
    let folder = run();
    match database(folder.path()).query(statement).and_then(|frame| frame.rows()) {
        Ok(rows) => panic!("{statement} returns\n{rows}"),
        Err(error) => error,
    }
}
