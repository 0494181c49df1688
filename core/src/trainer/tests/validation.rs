//! Measuring a net on stored games.

use super::{SEED, encoding, random_games, samples};
use crate::board::{Move, Position, Reason};
use crate::event::Silent;
use crate::network::ValueHead;
use crate::network::fake::{Hashed, Uniform};
use crate::params::Value;
use crate::store::{GameRow, PositionRow, PredictionRow};
use crate::trainer::{
    PredictionSums, TrainParams, TrainedPositions, ValidateParams, Validated, ValidationGames, ValidationJob,
};

fn measured(
    params: &ValidateParams,
    games: &[GameRow],
    positions: &[PositionRow],
    evaluator: &mut dyn crate::network::Evaluator,
) -> Validated {
    let job = ValidationJob { params, seed: SEED, value_head: ValueHead::Wdl, tables: None };
    let shard = ValidationGames { source: 2, iteration: 5, name: "part-00000", games, positions };
    job.shard(shard, evaluator, &Silent).expect("sound rows")
}

fn keys(rows: &[PredictionRow]) -> Vec<(u32, u16)> {
    rows.iter().map(|row| (row.game, row.ply)).collect()
}

#[test]
fn a_net_that_knows_nothing_has_the_losses_of_even_chances() {
    let (mut games, mut positions) = random_games(3, 9);
    games[1].reason = Reason::PlyCap.into();
    positions[4].full = false;
    let params = ValidateParams {
        positions: TrainedPositions::All,
        search_value_weight: 0.0,
        ..ValidateParams::default()
    };
    let found = measured(&params, &games, &positions, &mut Uniform::new(encoding()));
    assert_eq!((found.games, found.rows.len()), (3, positions.len()));
    for (row, position) in found.rows.iter().zip(&positions) {
        assert_eq!((row.source, row.iteration), (2, 5));
        assert_eq!((row.game, row.ply, &row.fen), (position.game, position.ply, &position.fen));
        let legal = f32::from(position.legal);
        assert!((row.prior - 1.0 / legal).abs() < 1e-6);
        if position.full {
            assert!((row.policy_loss - legal.ln()).abs() < 1e-5);
            assert!(row.target_entropy > 0.0 && row.target_entropy < row.policy_loss);
            // Of equally likely moves the first comes first.
            let moves = Position::from_fen(&row.fen).expect("a FEN").legal_moves();
            let right = moves.iter().position(|mv| Some(&mv.packed()) == position.moves.last());
            assert_eq!(Some(usize::from(row.rank)), right.map(|index| index + 1));
            assert_eq!(row.likeliest, moves[0].packed());
        } else {
            assert!(row.policy_loss.is_nan() && row.target_entropy.is_nan());
            assert_eq!(row.rank, 0);
        }
        let is_cut_off = row.game == 1;
        assert_eq!(row.score.is_nan(), is_cut_off);
        assert_eq!(row.brier.is_nan(), is_cut_off);
        assert!(row.moves_left.is_nan());
        if !is_cut_off {
            assert_eq!(row.score, f32::midpoint(1.0, position.result.into()));
            assert_eq!(row.plies_left, 9.0 - f32::from(row.ply));
            assert_eq!(row.target_q, f32::from(position.result));
        }
    }
}

#[test]
fn rows_do_not_depend_on_which_others_are_measured() {
    let (games, positions) = random_games(20, 12);
    let all = ValidateParams { batch: 7, ..ValidateParams::default() };
    let whole = measured(&all, &games, &positions, &mut Hashed::new(encoding(), 3)).rows;
    let share = ValidateParams { share: 0.3, ..all.clone() };
    let part = measured(&share, &games, &positions, &mut Hashed::new(encoding(), 3)).rows;
    assert!((40..110).contains(&part.len()), "{} of {}", part.len(), whole.len());
    assert!(part.iter().all(|row| whole.iter().any(|other| format!("{other:?}") == format!("{row:?}"))));
    let quiet = ValidateParams { positions: TrainedPositions::Quiet, ..all };
    let quiet = measured(&quiet, &games, &positions, &mut Hashed::new(encoding(), 3)).rows;
    let is_quiet = |row: &&PredictionRow| {
        let position = Position::from_fen(&row.fen).expect("a FEN");
        let of = |position: &&PositionRow| (position.game, position.ply) == (row.game, row.ply);
        let played = positions.iter().find(of).and_then(|row| Move::from_packed(row.played)).expect("a move");
        !position.is_check() && position.piece_at(played.to()).is_none()
    };
    // Random games of twelve plies have neither promotions nor captures en passant that this would miss.
    assert_eq!(keys(&quiet), keys(&whole.iter().filter(is_quiet).cloned().collect::<Vec<_>>()));
}

#[test]
fn the_games_of_a_training_that_it_holds_out_are_measured() {
    let (games, positions) = random_games(40, 6);
    let params = ValidateParams { held_out: Some(0.25), ..ValidateParams::default() };
    let found = measured(&params, &games, &positions, &mut Uniform::new(encoding()));
    let training = TrainParams { validation_fraction: 0.25, ..TrainParams::default() };
    let samples = samples(&games, &positions, &training);
    assert_eq!(found.games, u64::from(samples.games().validation));
    assert_eq!(found.rows.len(), samples.validation_count());
    assert!(found.games > 2 && found.games < 25);
}

#[test]
fn means_are_merged_and_unknown_where_nothing_was_measured() {
    let (games, positions) = random_games(6, 10);
    let mut net = Hashed::new(encoding(), 1).with_moves_left();
    let mut rows = measured(&ValidateParams::default(), &games, &positions, &mut net).rows;
    // As in a game that the ply cap ended.
    (rows[0].score, rows[0].brier) = (f32::NAN, f32::NAN);
    let sums = |rows: &[PredictionRow]| {
        let mut sums = PredictionSums::default();
        for row in rows {
            sums.add(row);
        }
        sums
    };
    let mut merged = sums(&rows[..17]);
    merged.merge(&sums(&rows[17..]));
    let (whole, merged) = (sums(&rows).to_value(), merged.to_value());
    for name in
        ["policy_loss", "policy_accuracy", "value_loss", "moves_left_loss", "brier", "calibration_error"]
    {
        let [whole, merged] = [&whole, &merged].map(|value| value.figure(name));
        assert!((whole.expect("a figure") - merged.expect("a figure")).abs() < 1e-9, "{name}");
    }
    assert_eq!(merged.member("scored_positions"), Some(&Value::Int(rows.len() as i64 - 1)));
    let accuracy = rows.iter().filter(|row| row.rank == 1).count() as f64 / rows.len() as f64;
    assert_eq!(whole.figure("policy_accuracy"), Some(accuracy));
    let none = PredictionSums::default().to_value();
    assert_eq!(none.member("positions"), Some(&Value::Int(0)));
    assert_eq!(none.member("policy_loss"), Some(&Value::None));
    assert_eq!(none.member("calibration_error"), Some(&Value::None));
}

#[test]
fn targets_are_those_of_a_training_by_default() {
    let training = TrainParams { validation_fraction: 0.0, ..TrainParams::default() };
    assert_eq!(ValidateParams::default().training(), training);
}
