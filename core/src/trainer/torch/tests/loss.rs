//! Compares the losses with plain arithmetic.

use tch::{Device, Kind, Tensor};

use super::{all_trained, batch_of, encoding, random_games, rows, samples, training_rows, uci};
use crate::board::{GameResult, Reason};
use crate::encoding::POLICY_SIZE;
use crate::network::graph::AuxiliaryHeads;
use crate::network::torch::{Heads, NetInput};
use crate::params::Schedule;
use crate::trainer::calibration::Calibration;
use crate::trainer::samples::Samples;
use crate::trainer::torch::batch::TrainingBatch;
use crate::trainer::torch::loss::{LossSums, SUMS, Sums, Totals, counts, expected_scores};
use crate::trainer::torch::report::Meter;
use crate::trainer::{CappedGames, TrainParams, TrainedPositions};

fn batch(samples: &Samples) -> TrainingBatch {
    batch_of(&training_rows(samples, |_| false), None, None)
}

/// Heads with uneven logits that require gradients.
fn heads(rows: usize) -> Heads {
    let size = (rows * POLICY_SIZE) as i64;
    let logits = (Tensor::arange(size, (Kind::Float, Device::Cpu)) * 0.37).sin() * 3.0;
    let wdl = (Tensor::arange(3 * rows as i64, (Kind::Float, Device::Cpu)) * 0.71).sin();
    Heads {
        policy: logits.reshape([rows as i64, POLICY_SIZE as i64]).set_requires_grad(true),
        value: wdl.reshape([rows as i64, 3]).set_requires_grad(true),
        moves_left: None,
        auxiliary: AuxiliaryHeads::NONE,
    }
}

fn sums(heads: &Heads, batch: &TrainingBatch) -> LossSums {
    LossSums::new(heads, batch, &TrainParams::default()).expect("adds up")
}

fn totals_of(heads: &Heads, batch: &TrainingBatch) -> Totals {
    let sums = sums(heads, batch).stacked(None).expect("adds up");
    let sums = Vec::<f64>::try_from(sums.to_kind(Kind::Double)).expect("numbers");
    let sums: [f64; SUMS] = sums.try_into().expect("all sums");
    Totals::new(Sums::from_array(sums), counts(heads, batch), batch.policy_entropy)
}

/// −Σ target · ln softmax(logits), one number at a time.
fn cross_entropy(logits: &[f64], targets: &[f32]) -> f64 {
    let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
    logits.iter().zip(targets).map(|(logit, target)| -f64::from(*target) * (logit - sum.ln())).sum()
}

#[test]
fn the_losses_are_the_cross_entropies_over_legal_moves_and_over_results() {
    let (games, mut positions) = random_games(3, 12);
    positions.iter_mut().step_by(3).for_each(|row| row.full = false);
    let samples = samples(&games, &positions, &all_trained());
    let (batch, heads) = (batch(&samples), heads(samples.training_count()));
    let found = sums(&heads, &batch);
    let (mut policy, mut value) = (0.0, 0.0);
    for row in 0..samples.training_count() {
        let sample = samples.training_row(row);
        let logit = |index: i64| heads.policy.double_value(&[row as i64, index]);
        let logits: Vec<f64> = sample.legal.iter().map(|index| logit(index.get().into())).collect();
        policy += cross_entropy(&logits, sample.shares);
        let logits: Vec<f64> = (0..3).map(|part| heads.value.double_value(&[row as i64, part])).collect();
        value += cross_entropy(&logits, &[sample.wdl.win, sample.wdl.draw, sample.wdl.loss]);
    }
    assert!((found.policy.double_value(&[]) - policy).abs() < 1e-3, "{policy}");
    assert!((found.value.double_value(&[]) - value).abs() < 1e-4, "{value}");
}

#[test]
fn a_scalar_head_has_the_squared_error_of_the_expected_result() {
    let (games, positions) = random_games(3, 12);
    let params = TrainParams { ply_cap_value_weight: 0.25, search_value_weight: 0.5, ..all_trained() };
    let samples = samples(&games, &positions, &params);
    let batch = batch(&samples);
    let rows = samples.training_count();
    let numbers = (Tensor::arange(rows as i64, (Kind::Float, Device::Cpu)) * 0.71).sin().reshape([-1, 1]);
    let heads = Heads { value: numbers.shallow_clone(), ..heads(rows) };
    let expected: f64 = (0..rows)
        .map(|row| {
            let [win, draw, loss] = {
                let wdl = samples.training_row(row).wdl;
                [wdl.win, wdl.draw, wdl.loss].map(f64::from)
            };
            let weight = win + draw + loss;
            weight * (numbers.double_value(&[row as i64, 0]).tanh() - (win - loss) / weight).powi(2)
        })
        .sum();
    let found = sums(&heads, &batch).value.double_value(&[]);
    assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
}

/// Had every row the weight 1/4 in the value's loss, it would be the same: weights decide between positions, not against the policy.
#[test]
fn the_value_loss_is_a_mean_by_the_rows_weights() {
    let (mut games, mut positions) = random_games(2, 8);
    for game in &mut games {
        (game.result, game.reason) = (GameResult::Draw, Reason::PlyCap.into());
    }
    for row in &mut positions {
        row.result = 0;
    }
    let losses = |capped: &[bool], weight: f64| {
        let mut games = games.clone();
        for (game, is_capped) in games.iter_mut().zip(capped) {
            game.reason = if *is_capped { Reason::PlyCap } else { Reason::Stalemate }.into();
        }
        let params = TrainParams {
            ply_cap_value_weight: weight,
            capped_games: CappedGames::Draw,
            search_value_weight: 0.0,
            ..all_trained()
        };
        let samples = samples(&games, &positions, &params);
        let (batch, heads) = (batch(&samples), heads(samples.training_count()));
        let only_value = TrainParams { policy_weight: Schedule::constant(0.0), ..params };
        let total = sums(&heads, &batch).total(&counts(&heads, &batch), &only_value, 0);
        let total = total.expect("adds up").double_value(&[]);
        let mean = totals_of(&heads, &batch).means().losses.value;
        let minimised = if mean.is_nan() { 0.0 } else { mean };
        assert!((minimised - total).abs() < 1e-6, "{mean} is shown, {total} minimised");
        let rows = samples.training_count();
        let each = (0..rows).map(|row| {
            let logits: Vec<f64> = (0..3).map(|part| at(&heads.value, row, part)).collect();
            cross_entropy(&logits, &[0.0, 1.0, 0.0])
        });
        (mean, each.collect::<Vec<f64>>())
    };
    let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-6, "{one} is not {other}");
    let (plain, each) = losses(&[true, true], 1.0);
    let half = each.len() / 2;
    close(plain, each.iter().sum::<f64>() / each.len() as f64);
    close(losses(&[true, true], 0.25).0, plain);
    let weighted = each[..half].iter().map(|loss| 0.25 * loss).chain(each[half..].iter().copied());
    close(losses(&[true, false], 0.25).0, weighted.sum::<f64>() / (1.25 * half as f64));
    close(losses(&[true, false], 0.0).0, each[half..].iter().sum::<f64>() / half as f64);
    assert!(losses(&[true, true], 0.0).0.is_nan());
}

#[test]
fn value_targets_of_weight_zero_give_a_scalar_head_no_loss() {
    let (mut games, mut positions) = random_games(1, 6);
    for row in &mut positions {
        row.result = 0;
    }
    (games[0].result, games[0].reason) = (GameResult::Draw, Reason::PlyCap.into());
    let params = TrainParams { ply_cap_value_weight: 0.0, ..all_trained() };
    let samples = samples(&games, &positions, &params);
    let batch = batch(&samples);
    let value = Tensor::ones([samples.training_count() as i64, 1], (Kind::Float, Device::Cpu));
    let heads = Heads { value, ..heads(samples.training_count()) };
    assert_eq!(sums(&heads, &batch).value.double_value(&[]), 0.0);
    assert_eq!(batch.ended_rows, 0, "a game that the ply cap ended has no moves-left target");
}

#[test]
fn the_moves_left_loss_is_the_huber_loss_in_units_of_twenty_plies() {
    let (game, positions) = rows(0, &uci("f2f3 e7e5 g2g4 d8h4"), -1);
    let samples = samples(&[game], &positions, &all_trained());
    let batch = batch(&samples);
    let numbers = Tensor::from_slice(&[-3.0f32, 0.0, 1.0, 4.0]).reshape([4, 1]);
    let heads = Heads { moves_left: Some(numbers.shallow_clone()), ..heads(4) };
    let expected: f64 = (0..4)
        .map(|row| {
            let predicted = numbers.double_value(&[row, 0]).exp().ln_1p();
            let difference = (predicted - (4 - row) as f64 / 20.0).abs();
            // Delta is 10 plies: half a unit.
            if difference <= 0.5 { 0.5 * difference * difference } else { 0.5 * (difference - 0.25) }
        })
        .sum();
    let found = sums(&heads, &batch).moves_left.double_value(&[]);
    assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
    assert_eq!(batch.ended_rows, 4);
}

#[test]
fn the_policy_gradient_is_policy_less_target_on_legal_moves_with_a_target() {
    let (game, mut positions) = rows(0, &uci("f2f3 e7e5 g2g4 d8h4"), -1);
    positions[2].full = false;
    let all = TrainParams { positions: TrainedPositions::All, ..all_trained() };
    let samples = samples(&[game], &positions, &all);
    let (batch, heads) = (batch(&samples), heads(4));
    let policy_weight = Schedule::from_samples(&[0.5, 2.0]).expect("samples");
    let params = TrainParams { policy_weight, ..TrainParams::default() };
    let total = sums(&heads, &batch).total(&counts(&heads, &batch), &params, 1).expect("adds up");
    let gradient = Tensor::run_backward(&[total], &[&heads.policy], false, false).remove(0);
    for row in 0..4 {
        let sample = samples.training_row(row);
        let exp_logit = |index: i64| heads.policy.double_value(&[row as i64, index]).exp();
        let sum: f64 = sample.legal.iter().map(|index| exp_logit(index.get().into())).sum();
        for index in 0..POLICY_SIZE as i64 {
            let slot = sample.legal.iter().position(|legal| i64::from(legal.get()) == index);
            let expected = slot
                .map_or(0.0, |slot| 2.0 / 3.0 * (exp_logit(index) / sum - f64::from(sample.shares[slot])));
            let found = gradient.double_value(&[row as i64, index]);
            assert!((found - expected).abs() < 1e-6, "row {row}, index {index}: {found} is not {expected}");
        }
    }
}

#[test]
fn accuracy_counts_rows_whose_likeliest_move_is_the_most_visited() {
    let (game, positions) = rows(0, &uci("f2f3 e7e5"), 0);
    let samples = samples(&[game], &positions, &all_trained());
    let batch = batch(&samples);
    let policy = Tensor::zeros([2, POLICY_SIZE as i64], (Kind::Float, Device::Cpu));
    // Row 0 prefers its most visited move; row 1 an illegal one, which does not count, and then its least visited.
    for (row, visits, logit) in [(0, 20.0, 5.0), (1, 1.0, 5.0)] {
        let sample = samples.training_row(row);
        let total: f32 = (1..=sample.legal.len()).map(|visits| visits as f32).sum();
        let nearest = |share: &f32| (share * total - visits).abs() < 0.5;
        let slot = sample.shares.iter().position(nearest).expect("a move with that many visits");
        let _ = policy.get(row as i64).get(sample.legal[slot].get().into()).fill_(logit);
    }
    let _ = policy.get(1).get(4671).fill_(9.0);
    let value = Tensor::zeros([2, 3], (Kind::Float, Device::Cpu));
    let heads = Heads { policy, value, moves_left: None, auxiliary: AuxiliaryHeads::NONE };
    assert_eq!(sums(&heads, &batch).top_moves.double_value(&[]), 1.0);
    // The most visited move of row 1 becomes its third, then its fourth.
    let slot = |rank: usize| {
        let sample = samples.training_row(1);
        let mut slots: Vec<usize> = (0..sample.legal.len()).collect();
        slots.sort_by(|one, other| sample.shares[*other].total_cmp(&sample.shares[*one]));
        i64::from(sample.legal[slots[rank]].get())
    };
    for (likelier, expected) in [(1, 2.0), (2, 1.0)] {
        let _ = heads.policy.get(1).get(slot(0)).fill_(1.0);
        (1..=likelier).for_each(|rank| {
            let _ = heads.policy.get(1).get(slot(rank)).fill_(3.0);
        });
        assert_eq!(sums(&heads, &batch).top_three.double_value(&[]), expected, "{likelier} are likelier");
    }
}

#[test]
fn planes_expand_to_the_bits_and_numbers_of_the_encoding() {
    let (games, positions) = random_games(2, 40);
    let samples = samples(&games, &positions, &all_trained());
    let NetInput::Planes(planes) = batch(&samples).input else { panic!("planes") };
    assert_eq!(planes.size(), [samples.training_count() as i64, 20, 8, 8]);
    for row in [0, 41, samples.training_count() - 1] {
        let sample = samples.training_row(row);
        let (mut binary, mut scalars) = (sample.binary.iter(), sample.scalars.iter());
        for (plane, spec) in encoding().planes().iter().enumerate() {
            let expected: Vec<f32> = match spec.kind() {
                crate::encoding::PlaneKind::Binary => {
                    let bits = binary.next().expect("bits");
                    (0..64).map(|square| (bits >> square & 1) as f32).collect()
                }
                crate::encoding::PlaneKind::Scalar => vec![*scalars.next().expect("a number"); 64],
            };
            let found = Vec::<f32>::try_from(planes.get(row as i64).get(plane as i64).reshape([64]));
            assert_eq!(found.expect("numbers"), expected, "row {row}, plane {spec:?}");
        }
    }
}

#[test]
fn means_over_batches_weigh_every_sample_equally() {
    let (games, mut positions) = random_games(4, 11);
    positions.iter_mut().step_by(4).for_each(|row| row.full = false);
    let samples = samples(&games, &positions, &all_trained());
    let rows = training_rows(&samples, |_| false);
    let heads = heads(rows.len());
    let totals = |from: usize, to: usize| {
        let batch = batch_of(&rows[from..to], None, None);
        let (from, size) = (from as i64, (to - from) as i64);
        let [policy, value] = [&heads.policy, &heads.value].map(|head| head.narrow(0, from, size));
        let heads = Heads { policy, value, moves_left: None, auxiliary: AuxiliaryHeads::NONE };
        totals_of(&heads, &batch)
    };
    let whole = totals(0, rows.len()).means();
    let mut parts = totals(0, 7);
    parts.add(&totals(7, rows.len()));
    let parts = parts.means();
    let pairs = whole.losses.into_array().into_iter().zip(parts.losses.into_array());
    for (whole, part) in pairs {
        assert!((whole - part).abs() < 1e-5 || whole.is_nan() && part.is_nan(), "{whole} is not {part}");
    }
    let absent =
        [whole.losses.moves_left, whole.losses.soft_policy, whole.losses.reply, whole.losses.material];
    assert!(absent.iter().all(|loss| loss.is_nan()), "these heads are not there: {absent:?}");
    assert!(whole.losses.brier > 0.1 && whole.losses.top_three > whole.losses.top_moves);
    assert!((whole.policy_entropy - parts.policy_entropy).abs() < 1e-9);
}

/// Totals with some sums of the policy and the value, each with the rows behind it, and 4 rows with a material loss of 0.5.
fn totals_with(policy: (f64, f64), value: (f64, f64)) -> Totals {
    let sums = Sums { policy: policy.0, value: value.0, material: 2.0, ..Sums::default() };
    let counts = Sums { policy: policy.1, value: value.1, material: 4.0, ..Sums::default() };
    Totals::new(sums, counts, 0.0)
}

#[test]
fn the_loss_of_a_row_is_the_weighted_sum_of_its_losses() {
    let params = TrainParams {
        value_weight: Schedule::from_samples(&[0.0, 0.0, 1.0, 2.0]).expect("samples"),
        material_weight: Schedule::constant(0.3),
        ..TrainParams::default()
    };
    let mut meter = Meter::default();
    // One batch has all the targets of the policy, and the other those of the value.
    meter.add(&totals_with((6.0, 3.0), (0.0, 0.0)), 1.0);
    meter.add(&totals_with((0.0, 0.0), (1.0, 2.0)), 1.0);
    // The weight of the value is 1 and then 2.
    let row = meter.take_row(4, &params, 1.0);
    assert_eq!([row.policy_loss, row.value_loss, row.material_loss], [2.0, 0.5, 0.5]);
    assert!((row.loss - (2.0 + 1.5 * 0.5 + 0.3 * 0.5)).abs() < 1e-12, "{row:?}");
    meter.add(&totals_with((6.0, 3.0), (1.0, 2.0)), 1.0);
    // A weight of 0 leaves the value out.
    let row = meter.take_row(1, &params, 1.0);
    assert_eq!(row.loss, 2.0 + 0.3 * 0.5);
}

#[test]
fn what_no_position_teaches_is_not_a_number_and_adds_nothing_to_the_loss() {
    let params = TrainParams::default();
    let mut meter = Meter::default();
    meter.add(&totals_with((0.0, 0.0), (0.0, 0.0)), 1.0);
    let row = meter.take_row(1, &params, 1.0);
    let unmeasured = [
        row.policy_loss,
        row.value_loss,
        row.moves_left_loss,
        row.policy_accuracy,
        row.policy_entropy,
        row.soft_policy_loss,
        row.reply_loss,
        row.policy_top_three,
        row.brier,
    ];
    assert!(unmeasured.iter().all(|value| value.is_nan()), "{row:?}");
    assert_eq!([row.loss, row.material_loss], [0.25 * 0.5, 0.5]);
    meter.add(&Totals::default(), 1.0);
    assert!(meter.take_row(1, &params, 1.0).loss.is_nan());
}

/// The number of a row's head.
fn at(tensor: &Tensor, row: usize, index: impl Into<i64>) -> f64 {
    tensor.double_value(&[row as i64, index.into()])
}

#[test]
fn the_soft_policy_is_the_cross_entropy_against_the_softened_target() {
    let (games, mut positions) = random_games(2, 12);
    positions.iter_mut().step_by(3).for_each(|row| row.full = false);
    let samples =
        samples(&games, &positions, &TrainParams { positions: TrainedPositions::All, ..all_trained() });
    let (batch, plain) = (batch(&samples), heads(samples.training_count()));
    let soft = plain.policy.shallow_clone();
    let heads =
        Heads { auxiliary: AuxiliaryHeads { soft_policy: Some(soft), ..AuxiliaryHeads::NONE }, ..plain };
    for temperature in [1.0, 4.0] {
        let params = TrainParams { soft_policy_temperature: temperature, ..TrainParams::default() };
        let expected: f64 = (0..samples.training_count())
            .map(|row| {
                let sample = samples.training_row(row);
                let powers: Vec<f64> = sample
                    .shares
                    .iter()
                    .map(|share| (f64::from(*share) + 1e-7).powf(1.0 / temperature))
                    .collect();
                let total: f64 = powers.iter().sum();
                let shares: Vec<f32> = powers.iter().map(|power| (power / total) as f32).collect();
                let logits: Vec<f64> =
                    sample.legal.iter().map(|index| at(&heads.policy, row, index.get())).collect();
                cross_entropy(&logits, &shares)
            })
            .sum();
        let found = LossSums::new(&heads, &batch, &params).expect("adds up").soft_policy.double_value(&[]);
        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
    }
}

#[test]
fn the_reply_is_the_next_positions_target_seen_from_this_side() {
    let (game, mut positions) = rows(0, &uci("e2e4 e7e5 g1f3"), 0);
    // Black answers 1. e4 by e5 alone, and the second move was not searched fully.
    for (row, text) in [(1, "e7e5"), (2, "g1f3")] {
        (positions[row].moves, positions[row].target) = (vec![uci(text)[0].packed()], vec![100]);
    }
    positions[2].full = false;
    let samples =
        samples(&[game], &positions, &TrainParams { positions: TrainedPositions::All, ..all_trained() });
    let batch = batch(&samples);
    assert_eq!(batch.reply_rows, 1);
    // North becomes south: two squares down from e7, which is on the seventh rank of White's view.
    let index = (4 * 7 + 1) * 64 + 52;
    let plain = heads(3);
    let reply = plain.policy.shallow_clone();
    let heads = Heads { auxiliary: AuxiliaryHeads { reply: Some(reply), ..AuxiliaryHeads::NONE }, ..plain };
    let logits: Vec<f64> = (0..POLICY_SIZE as i64).map(|index| at(&heads.policy, 0, index)).collect();
    let mut target = vec![0.0; POLICY_SIZE];
    target[index] = 1.0;
    let (found, expected) = (sums(&heads, &batch).reply.double_value(&[]), cross_entropy(&logits, &target));
    assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
}

#[test]
fn the_material_head_learns_the_balance_some_plies_later() {
    let (game, positions) = rows(0, &uci("e2e4 d7d5 e4d5 d8d5 b1c3 d5e5"), 0);
    for (plies, expected) in [(0, [0, 0, 0, -1, 0, 0]), (2, [0, -1, 0, 0, 0, 0]), (100, [0, 0, 0, 0, 0, 0])] {
        let params = TrainParams { material_plies: plies, ..all_trained() };
        let samples = samples(std::slice::from_ref(&game), &positions, &params);
        let found: Vec<i8> = (0..6).map(|row| samples.training_row(row).material).collect();
        assert_eq!(found, expected, "{plies} plies later");
    }
    let samples = samples(&[game], &positions, &TrainParams { material_plies: 0, ..all_trained() });
    let material = Some(Tensor::from_slice(&[0.0f32, 0.5, 0.0, 0.0, 0.0, 0.0]).reshape([6, 1]));
    let heads = Heads { auxiliary: AuxiliaryHeads { material, ..AuxiliaryHeads::NONE }, ..heads(6) };
    let found = sums(&heads, &batch(&samples)).material.double_value(&[]);
    let expected = 0.5 * 0.5 + (1.0 / 9.0) * (1.0 / 9.0);
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn the_brier_score_is_the_squared_error_against_the_result_of_games_that_have_one() {
    let (mut games, positions) = random_games(2, 6);
    games[1].reason = Reason::PlyCap.into();
    let samples = samples(&games, &positions, &all_trained());
    let (batch, heads) = (batch(&samples), heads(12));
    let scores = expected_scores(&heads.value).expect("scores");
    let (mut brier, mut calibration) = (0.0, Calibration::default());
    for row in 0..6 {
        let exp: Vec<f64> = (0..3).map(|part| at(&heads.value, row, part as i64).exp()).collect();
        let wdl: Vec<f64> = exp.iter().map(|part| part / exp.iter().sum::<f64>()).collect();
        let result = positions[row].result;
        let known = [1, 0, -1].map(|value| f64::from(u8::from(result == value)));
        brier += wdl.iter().zip(known).map(|(p, y)| (p - y).powi(2)).sum::<f64>();
        assert!((f64::from(scores[row]) - wdl[0] - wdl[1] / 2.0).abs() < 1e-6);
        calibration.add(f64::from(scores[row]), f64::midpoint(f64::from(result), 1.0));
    }
    assert_eq!(batch.result_rows, 6);
    let scalar = Tensor::from_slice(&[0.5f32; 12]).reshape([12, 1]);
    let score = f64::from(expected_scores(&scalar).expect("scores")[0]);
    assert!((score - f64::midpoint(0.5f64.tanh(), 1.0)).abs() < 1e-6, "a scalar head expects no draws");
    let found = sums(&heads, &batch).brier.double_value(&[]);
    assert!((found - brier).abs() < 1e-5, "{found} is not {brier}");
    assert!(calibration.error() > 0.05, "these numbers know nothing of chess");
}

#[test]
fn the_calibration_error_is_the_mean_distance_within_ten_ranges() {
    let mut calibration = Calibration::default();
    assert!(calibration.error().is_nan());
    // 0.1 off in the third range, over two positions; 0.25 off in the last one, over one.
    for (expected, score) in [(0.2, 0.0), (0.2, 0.5), (1.0, 0.5)] {
        calibration.add(expected, score);
    }
    assert!((calibration.error() - (2.0 * 0.05 + 0.5) / 3.0).abs() < 1e-12, "{}", calibration.error());
}
