//! Tests at the stage's border, with the small games they share.

mod params;
mod samples;
mod sampling;
mod tensors;
mod validation;

use rand::RngExt;

use super::samples::{Part, Samples};
use super::{Mirroring, TrainParams};
use crate::board::{Game, GameResult, Move, Position, Reason, Side};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::params::{Problem, read};
use crate::rng::{Purpose, Seed};
use crate::store::{GameRow, PositionRow};

pub(super) const SEED: Seed = Seed { run: 7, step: 3 };

pub(super) fn encoding() -> Encoding {
    Encoding::new(EncodingName::Dc0, Orientation::SideToMove)
}

/// A game's rows as self-play would store them; every move is visited, the `n`-th one `n + 1` times.
pub(super) fn rows(number: u32, moves: &[Move], result: i8) -> (GameRow, Vec<PositionRow>) {
    rows_from(Game::initial(), number, moves, result)
}

pub(super) fn rows_from(
    mut game: Game,
    number: u32,
    moves: &[Move],
    result: i8,
) -> (GameRow, Vec<PositionRow>) {
    let start_fen = game.position().fen();
    let mut positions = Vec::new();
    for &played in moves {
        positions.push(position_row(number, &game, played, result));
        game.play_unchecked(played);
    }
    let moves = moves.iter().map(|mv| mv.packed()).collect();
    let (network, reason) = ("0123456789abcdef".to_owned(), Reason::Checkmate.into());
    let result = GameResult::from_white_score(result).expect("1, 0 or -1");
    (GameRow { game: number, network, start_fen, moves, opening_plies: 0, result, reason }, positions)
}

fn position_row(number: u32, game: &Game, played: Move, result: i8) -> PositionRow {
    let mut moves: Vec<u16> = game.position().legal_moves().iter().map(|mv| mv.packed()).collect();
    moves.sort_unstable();
    let side = game.position().side_to_move();
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
        net_q: 0.0,
        net_d: 0.5,
        simulations: 32,
        full: true,
        policy_surprise: 0.5,
        result: if side == Side::White { result } else { -result },
    }
}

pub(super) fn uci(text: &str) -> Vec<Move> {
    text.split_whitespace().map(|mv| Move::from_uci(mv).expect("UCI")).collect()
}

/// Games of random moves, won by the side with more material after `plies` plies.
pub(super) fn random_games(count: u32, plies: usize) -> (Vec<GameRow>, Vec<PositionRow>) {
    let (mut games, mut positions) = (Vec::new(), Vec::new());
    for number in 0..count {
        let mut stream = SEED.stream(number.into(), Purpose::RandomPlayer);
        let mut game = Game::initial();
        while game.ply() < plies {
            let moves = game.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            game.play_unchecked(moves[stream.random_range(0..moves.len())]);
        }
        let (row, rows) = rows(number, game.moves(), material(game.position()).signum() as i8);
        games.push(row);
        positions.extend(rows);
    }
    (games, positions)
}

/// White's material less Black's, in pawns.
pub(super) fn material(position: &Position) -> i32 {
    position.material_balance(Side::White)
}

fn new_samples(params: &TrainParams) -> Samples {
    Samples::new(encoding(), params).expect("no tablebases")
}

/// The samples with those of further games of this weight.
pub(super) fn added(
    mut samples: Samples,
    weight: f64,
    games: &[GameRow],
    positions: &[PositionRow],
) -> Samples {
    let part = Part { name: "iteration=0000/part-00000", source: 0, weight, games, positions };
    samples.add(part).expect("sound rows");
    samples
}

pub(super) fn samples(games: &[GameRow], positions: &[PositionRow], params: &TrainParams) -> Samples {
    added(new_samples(params), 1.0, games, positions)
}

/// What is wrong with the parameters of a training.
pub(super) fn problems(json: &str) -> Vec<Problem> {
    let given = serde_json::from_str(json).expect("JSON");
    read::<TrainParams>("train", &given).map_or_else(|errors| errors.problems, |_| Vec::new())
}

/// Parameters that hold out no games and teach results of positions as they were played.
pub(super) fn all_trained() -> TrainParams {
    let mirror = Mirroring::None;
    TrainParams { validation_fraction: 0.0, search_value_weight: 0.0, mirror, ..TrainParams::default() }
}
