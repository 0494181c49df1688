//! Batches for nnues against those for other nets.

use tch::{Device, Kind, Tensor};

use super::{SEED, all_trained, batch_of, numbers, random_games, rows_from, samples, training_rows, uci};
use crate::board::{Game, Position};
use crate::encoding::{POSSIBLE_MOVES, possible_moves};
use crate::network::graph::move_sources;
use crate::network::samples::king_buckets;
use crate::network::torch::{BatchNorm, Heads, Net, NetInput};
use crate::network::{
    Accumulator, AuxiliaryHeadsSpec, NetworkSpec, NnueInputs, PolicyHeadSpec, Tower, TowerSpec,
    initial_weights,
};
use crate::trainer::samples::Samples;
use crate::trainer::torch::batch::{NnueSetup, TrainingBatch};

fn spec(accumulator: Accumulator) -> NetworkSpec {
    NetworkSpec {
        tower: TowerSpec { kind: Tower::Nnue, blocks: 0, filters: 64, accumulator, ..TowerSpec::default() },
        auxiliary_heads: Some(AuxiliaryHeadsSpec { soft_policy: true, reply: true, material: true }),
        ..NetworkSpec::default()
    }
}

/// A mirrored net, whose policy has other king buckets than its value.
fn mirrored() -> NetworkSpec {
    let plain = spec(Accumulator::Squared);
    NetworkSpec {
        tower: TowerSpec { mirrored: true, king_buckets: king_buckets(32), ..plain.tower },
        policy_head: PolicyHeadSpec {
            inputs: Some(NnueInputs::Threats),
            king_buckets: (0..32).collect(),
            ..PolicyHeadSpec::default()
        },
        ..plain
    }
}

/// Every second sample is mirrored where it can be.
fn batch(samples: &Samples, nnue: Option<&NnueSetup>) -> TrainingBatch {
    batch_of(&training_rows(samples, |index| index % 2 == 1), nnue, None)
}

fn random_samples() -> Samples {
    let (games, positions) = random_games(6, 60);
    samples(&games, &positions, &all_trained())
}

/// All outputs of a net, and the gradients of the sum of their squares for each tensor.
fn outputs(net: &Net, input: &NetInput) -> Vec<Tensor> {
    let net = net.with_tensors(|_, tensor| Ok(tensor.detach().set_requires_grad(true))).expect("a net");
    let Heads { policy, value, auxiliary, .. } = net.forward(input, BatchNorm::Eval).expect("runs");
    let heads = [Some(policy), Some(value), auxiliary.soft_policy, auxiliary.reply, auxiliary.material];
    let heads: Vec<Tensor> = heads.into_iter().flatten().collect();
    let sum = heads.iter().map(|head| head.square().sum(Kind::Float)).reduce(|one, other| one + other);
    let tensors: Vec<&Tensor> = net.tensors.values().collect();
    let gradients = Tensor::run_backward(&[sum.expect("heads")], &tensors, false, false);
    heads.into_iter().chain(gradients).collect()
}

#[test]
fn pieces_give_the_outputs_and_gradients_of_planes() {
    let samples = random_samples();
    let mut specs = [Accumulator::Pairwise, Accumulator::Clipped, Accumulator::Squared].map(spec).to_vec();
    specs.push(mirrored());
    specs.push(NetworkSpec { policy_head: PolicyHeadSpec::default(), ..mirrored() });
    for spec in specs {
        let net = Net::from_weights(&spec, &initial_weights(&spec, SEED), Device::Cpu).expect("builds");
        let (planes, pieces) = (batch(&samples, None), batch(&samples, NnueSetup::new(&spec).as_ref()));
        assert!(matches!(pieces.input, NetInput::Pieces(_)));
        let (expected, found) = (outputs(&net, &planes.input), outputs(&net, &pieces.input));
        assert_eq!(found.len(), 5 + net.tensors.len());
        for (found, expected) in found.iter().zip(&expected) {
            let difference = (found - expected).abs().max().double_value(&[]);
            let scale = expected.abs().max().double_value(&[]);
            assert!(scale > 0.0 && difference < 1e-5 * scale.max(1.0), "{difference} of {scale}");
        }
    }
}

#[test]
fn targets_are_those_of_other_nets_in_the_order_of_the_possible_moves() {
    let samples = random_samples();
    let spec = spec(Accumulator::Pairwise);
    let (all, possible) = (batch(&samples, None), batch(&samples, NnueSetup::new(&spec).as_ref()));
    let moves = possible_moves().map(|index| f64::from(index.get()));
    let (indices, columns) = (numbers(&all.legal), numbers(&possible.legal));
    let padding = numbers(&all.padding);
    for ((index, column), _) in
        indices.iter().zip(columns).zip(padding).filter(|(_, padding)| *padding == 0.0)
    {
        assert_eq!(*index, moves[column as usize]);
    }
    assert_eq!(numbers(&all.shares), numbers(&possible.shares));
    assert_eq!(numbers(&all.reply_shares), numbers(&possible.reply_shares));
}

#[test]
fn targets_of_a_mirrored_net_are_mirrored_where_the_king_is_on_the_right() {
    let samples = random_samples();
    let [plain, image] = [spec(Accumulator::Pairwise), mirrored()].map(|spec| NnueSetup::new(&spec));
    let (played, seen) = (batch(&samples, plain.as_ref()), batch(&samples, image.as_ref()));
    let planes = batch(&samples, None);
    let NetInput::Planes(planes) = planes.input else { panic!("planes") };
    let (moves, sources) = (possible_moves(), move_sources());
    for (plane, played, seen) in [(5, &played.legal, &seen.legal), (11, &played.replies, &seen.replies)] {
        let king = planes.select(1, plane).narrow(2, 4, 4).sum_dim_intlist(
            [1i64, 2].as_slice(),
            false,
            Kind::Double,
        );
        let mut changed = 0;
        for (row, is_right) in numbers(&king).into_iter().enumerate() {
            let columns = |columns: &Tensor| numbers(&columns.get(row as i64));
            for (column, found) in columns(played).into_iter().zip(columns(seen)) {
                let index = moves[column as usize];
                let index = if is_right == 1.0 { index.mirrored() } else { index };
                // Padding is column 0 in both.
                let expected = sources[usize::from(index.get())] as f64;
                assert!(found == expected || (column, found) == (0.0, 0.0), "{row}: {column}, {found}");
                changed += u32::from(found != column);
            }
        }
        assert!(changed > 1000, "{changed}");
    }
}

#[test]
fn mirrored_samples_are_the_same_to_a_mirrored_net() {
    let samples = random_samples();
    let same = |spec: &NetworkSpec| {
        let setup = NnueSetup::new(spec);
        let [played, image] = [false, true]
            .map(|is_mirrored| batch_of(&training_rows(&samples, |_| is_mirrored), setup.as_ref(), None));
        let [own, other] = [&played.input, &image.input].map(|input| match input {
            NetInput::Pieces(pieces) => numbers(&pieces.squares),
            NetInput::Planes(_) => panic!("planes"),
        });
        own == other
            && numbers(&played.legal) == numbers(&image.legal)
            && numbers(&played.replies) == numbers(&image.replies)
    };
    assert!(same(&mirrored()) && !same(&spec(Accumulator::Pairwise)));
}

#[test]
fn every_reply_is_a_move_that_the_net_knows() {
    // Black may promote to a knight, on the first rank of White's view.
    let position = Position::from_fen("8/8/8/k7/8/8/2p5/K7 w - - 0 1").expect("a position");
    let start = Game::from_position(position);
    let (game, positions) = rows_from(start, 0, &uci("a1a2 c2c1n"), 0);
    let samples = samples(&[game], &positions, &all_trained());
    let replies = batch(&samples, NnueSetup::new(&spec(Accumulator::Pairwise)).as_ref());
    let shares = numbers(&replies.reply_shares);
    let known = numbers(&replies.replies)
        .into_iter()
        .zip(&shares)
        .filter(|(column, _)| *column < POSSIBLE_MOVES as f64);
    assert!((known.map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
}
