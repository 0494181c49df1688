//! Tests of whole searches.

mod draws;
mod leaves;
mod limits;
mod minimax;
mod suites;

use super::{AlphaBeta, AlphaBetaParams, Found, Limits, PieceSquares, SelectivityParams, Unwatched};
use crate::board::{Game, Move, Position, Rules, random_opening};
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

fn game(fen: &str) -> Game {
    Game::from_position(Position::from_fen(fen).expect("a position"))
}

/// The last positions of random games, which are not over.
fn random_games(run: u64, count: u64, plies: u32) -> Vec<Game> {
    (0..count)
        .map(|number| {
            let mut stream = Seed { run, step: 0 }.stream(number, Purpose::Opening);
            random_opening(plies + number as u32 % 40, &RULES, &mut stream)
        })
        .collect()
}

fn searcher(params: &AlphaBetaParams) -> AlphaBeta {
    AlphaBeta::new(params, None, &|| Box::<PieceSquares>::default())
}

fn with(selectivity: SelectivityParams) -> AlphaBetaParams {
    AlphaBetaParams { selectivity, ..small() }
}

/// With a table that takes no time to make.
fn small() -> AlphaBetaParams {
    AlphaBetaParams { hash_mb: 1, ..AlphaBetaParams::default() }
}

fn to_depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn search(searcher: &mut AlphaBeta, game: &Game, limits: &Limits) -> Found {
    searcher.search(game, limits, &mut Unwatched).expect("no tablebases")
}

/// A search by a new searcher.
fn found(params: &AlphaBetaParams, game: &Game, limits: &Limits) -> Found {
    search(&mut searcher(params), game, limits)
}

fn uci(mv: Move) -> String {
    mv.to_string()
}

/// Every set with one switch off.
fn one_off() -> Vec<(&'static str, SelectivityParams)> {
    let all = SelectivityParams::default;
    vec![
        ("aspiration", SelectivityParams { aspiration: false, ..all() }),
        ("mate_distance", SelectivityParams { mate_distance: false, ..all() }),
        ("null_move", SelectivityParams { null_move: false, ..all() }),
        ("late_move_reductions", SelectivityParams { late_move_reductions: false, ..all() }),
        ("late_move_pruning", SelectivityParams { late_move_pruning: false, ..all() }),
        ("futility", SelectivityParams { futility: false, ..all() }),
        ("razoring", SelectivityParams { razoring: false, ..all() }),
        ("exchange", SelectivityParams { exchange: false, ..all() }),
        ("internal_reductions", SelectivityParams { internal_reductions: false, ..all() }),
        ("check_extensions", SelectivityParams { check_extensions: false, ..all() }),
        ("singular_extensions", SelectivityParams { singular_extensions: false, ..all() }),
    ]
}
