//! Mirror images as samples, compared with the samples of mirrored games.

use std::collections::BTreeMap;

use rand::RngExt;
use tch::{Device, Tensor};

use super::training::{run, tiny_net};
use super::{
    SEED, all_trained, batch_of, encoding, numbers, random_games, rows_from, samples, training_rows,
};
use crate::board::image::{image_of_fen, image_of_move};
use crate::board::{Game, Move, Position};
use crate::network::torch::{Expansion, NetInput, TorchEvaluator, TorchOptions};
use crate::network::{Batch, Evaluations, Evaluator};
use crate::params::Schedule;
use crate::rng::Purpose;
use crate::store::{GameRow, PositionRow};
use crate::trainer::samples::Samples;
use crate::trainer::torch::batch::TrainingBatch;
use crate::trainer::{Mirroring, OptimizerParams, TrainParams};

/// Without castling rights.
const START: &str = "r2qr1k1/pp3ppp/2n2n2/3p1b2/3P1B2/2N2N2/PP3PPP/R2QR1K1 w - - 3 14";

fn image_of_packed(packed: u16) -> u16 {
    image_of_move(Move::from_packed(packed).expect("a move")).packed()
}

/// Games of random moves from [`START`], with results that only memory can know.
fn games(count: u32, plies: usize) -> (Vec<GameRow>, Vec<PositionRow>) {
    let (mut games, mut positions) = (Vec::new(), Vec::new());
    for number in 0..count {
        let mut stream = SEED.stream(number.into(), Purpose::RandomPlayer);
        let start = Game::from_position(Position::from_fen(START).expect("test FEN"));
        let mut game = start.clone();
        while game.ply() < plies {
            let moves = game.position().legal_moves();
            game.play_unchecked(moves[stream.random_range(0..moves.len())]);
        }
        let (row, rows) = rows_from(start, number, game.moves(), [1, -1][number as usize % 2]);
        games.push(row);
        positions.extend(rows);
    }
    (games, positions)
}

/// The rows of the mirrored games.
fn images(games: &[GameRow], positions: &[PositionRow]) -> (Vec<GameRow>, Vec<PositionRow>) {
    let game = |row: &GameRow| GameRow {
        start_fen: image_of_fen(&row.start_fen),
        moves: row.moves.iter().copied().map(image_of_packed).collect(),
        ..row.clone()
    };
    let position = |row: &PositionRow| {
        let moves = row.moves.iter().copied().map(image_of_packed);
        let mut moves: Vec<(u16, (u32, u16))> =
            moves.zip(row.visits.iter().copied().zip(row.target.iter().copied())).collect();
        moves.sort_unstable();
        PositionRow {
            fen: image_of_fen(&row.fen),
            played: image_of_packed(row.played),
            visits: moves.iter().map(|(_, (visits, _))| *visits).collect(),
            target: moves.iter().map(|(_, (_, target))| *target).collect(),
            moves: moves.iter().map(|(mv, _)| *mv).collect(),
            ..row.clone()
        }
    };
    (games.iter().map(game).collect(), positions.iter().map(position).collect())
}

fn batch(samples: &Samples, is_mirrored: bool) -> TrainingBatch {
    batch_of(&training_rows(samples, |_| is_mirrored), None, None)
}

fn planes(batch: &TrainingBatch) -> &Tensor {
    let NetInput::Planes(planes) = &batch.input else { panic!("planes") };
    planes
}

/// The share of each legal index of a row, as bits.
fn shares(batch: &TrainingBatch, row: i64) -> BTreeMap<i64, u64> {
    let (legal, shares) = (numbers(&batch.legal.get(row)), numbers(&batch.shares.get(row)));
    let padding = numbers(&batch.padding.get(row));
    let moves = legal.iter().zip(&shares).zip(&padding).filter(|(_, padding)| **padding == 0.0);
    moves.map(|((index, share), _)| (*index as i64, share.to_bits())).collect()
}

/// The share of each index of the opponent's next move, as bits.
fn replies(batch: &TrainingBatch, row: i64) -> BTreeMap<i64, u64> {
    let (indices, shares) = (numbers(&batch.replies.get(row)), numbers(&batch.reply_shares.get(row)));
    let moves = indices.iter().zip(&shares).filter(|(_, share)| **share > 0.0);
    moves.map(|(index, share)| (*index as i64, share.to_bits())).collect()
}

#[test]
fn planes_expanded_on_a_device_are_those_written_here() {
    let (games, positions) = games(6, 40);
    let samples = samples(&games, &positions, &all_trained());
    let expansion = Expansion::new(&encoding(), Device::Cpu).expect("makes constants");
    for is_mirrored in [false, true] {
        let found = batch_of(&training_rows(&samples, |_| is_mirrored), None, Some(&expansion));
        let expected = batch(&samples, is_mirrored);
        assert_eq!(planes(&found).size(), planes(&expected).size());
        assert_eq!(planes(&found).stride(), planes(&expected).stride());
        assert_eq!(numbers(planes(&found)), numbers(planes(&expected)));
    }
}

#[test]
fn mirrored_samples_are_the_samples_of_mirrored_games() {
    let (played_games, played_positions) = games(6, 40);
    let (image_games, image_positions) = images(&played_games, &played_positions);
    let found = batch(&samples(&played_games, &played_positions, &all_trained()), true);
    let expected = batch(&samples(&image_games, &image_positions, &all_trained()), false);
    assert_eq!(found.rows, 240);
    assert_eq!(numbers(planes(&found)), numbers(planes(&expected)));
    let same = [
        (&found.wdl, &expected.wdl),
        (&found.plies_left, &expected.plies_left),
        (&found.result, &expected.result),
        (&found.material, &expected.material),
    ];
    for (one, other) in same {
        assert_eq!(numbers(one), numbers(other));
    }
    assert_eq!(found.reply_rows, 234, "all but the last positions");
    for row in 0..240 {
        assert_eq!(shares(&found, row), shares(&expected, row), "row {row}");
        assert_eq!(replies(&found, row), replies(&expected, row), "row {row}");
    }
}

#[test]
fn samples_with_castling_rights_are_never_mirrored() {
    let (games, positions) = random_games(8, 80);
    let samples = samples(&games, &positions, &all_trained());
    let (played, mirrored) = (batch(&samples, false), batch(&samples, true));
    let (mut with_rights, mut without) = (0, 0);
    for (row, position) in (0..).zip(&positions) {
        let same = numbers(&planes(&played).get(row)) == numbers(&planes(&mirrored).get(row));
        let same_moves = shares(&played, row) == shares(&mirrored, row);
        let may_castle = position.fen.split(' ').nth(2) != Some("-");
        assert_eq!((same, same_moves), (may_castle, may_castle), "{}", position.fen);
        *(if may_castle { &mut with_rights } else { &mut without }) += 1;
    }
    assert!(with_rights > 100 && without > 100, "{with_rights} with rights, {without} without");
}

/// Root mean square of the difference between a position's value and its image's.
fn disagreement(mirror: Mirroring) -> f64 {
    let (games, positions) = games(4, 24);
    let params = TrainParams {
        updates: 250,
        batch: 96,
        mirror,
        learning_rate: Schedule::constant(0.01),
        optimizer: OptimizerParams { weight_decay: 0.0, ..OptimizerParams::default() },
        ..all_trained()
    };
    let trained = run(&params, &samples(&games, &positions, &params));
    let mut net = TorchEvaluator::new(&tiny_net().spec, &trained.weights, TorchOptions::default())
        .expect("a CPU evaluator");
    let (mut batch, mut evaluations) = (Batch::default(), Evaluations::default());
    for row in &positions {
        batch.push(&encoding(), &Game::from_position(Position::from_fen(&row.fen).expect("stored")));
        assert!(batch.push_mirror(&encoding()));
    }
    net.evaluate(&batch, &mut evaluations).expect("finite");
    let pairs = evaluations.wdl.as_chunks::<2>().0;
    let squares: f64 = pairs.iter().map(|[own, image]| f64::from(own.value() - image.value()).powi(2)).sum();
    (squares / pairs.len() as f64).sqrt()
}

#[test]
fn a_net_trained_on_images_values_them_like_the_originals() {
    let [none, random, both] = [Mirroring::None, Mirroring::Random, Mirroring::Both].map(disagreement);
    assert!(none > 0.3 && random < 0.5 * none && both < 0.5 * none, "{none} {random} {both}");
}
