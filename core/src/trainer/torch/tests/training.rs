//! Whole trainings of tiny nets.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use tch::Device;

use super::{SEED, added, all_trained, material, problems, random_games, samples};
use crate::board::{Game, GameResult, Position, Reason, Side};
use crate::durable::digest;
use crate::event::{Event, Observer, Silent};
use crate::network::checkpoint::Checkpoint;
use crate::network::samples::{king_buckets, trained_weights};
use crate::network::torch::{Precision, TorchEvaluator, TorchOptions};
use crate::network::{
    AuxiliaryHeadsSpec, Batch, Evaluations, Evaluator, MovesLeftHeadSpec, NetworkSpec, TensorSpec, Tower,
    TowerSpec, ValueHead, ValueHeadSpec, Weights, initial_weights, layout,
};
use crate::params::{Schedule, Value};
use crate::store::PositionRow;
use crate::trainer::samples::Samples;
use crate::trainer::torch::state::State;
use crate::trainer::{
    AverageKind, BatchNormMode, CappedGames, CarriedState, Drawn, Mirroring, OptimizerKind, OptimizerParams,
    OptimizerStart, PolicyTarget, PredictionSums, Sampler, TrainError, TrainJob, TrainParams, TrainPrecision,
    Trained, TrainedPositions, ValidateParams, ValidationGames, ValidationJob, WeightAverage, train,
};

pub(super) fn tiny_net() -> Checkpoint {
    let tower = TowerSpec { blocks: 1, filters: 8, ..TowerSpec::default() };
    let value_head = ValueHeadSpec { filters: 4, hidden: 16, ..ValueHeadSpec::default() };
    let spec = NetworkSpec {
        tower,
        value_head,
        moves_left_head: Some(MovesLeftHeadSpec { filters: 4, hidden: 16 }),
        auxiliary_heads: Some(AuxiliaryHeadsSpec { soft_policy: true, reply: true, material: true }),
        ..NetworkSpec::default()
    };
    Checkpoint { weights: initial_weights(&spec, SEED), spec, provenance: Value::group() }
}

fn run_with(
    params: &TrainParams,
    samples: &Samples,
    state_path: &Path,
    observer: &dyn Observer,
) -> Result<Trained, TrainError> {
    run_net(&tiny_net(), params, samples, state_path, observer)
}

fn run_net(
    start: &Checkpoint,
    params: &TrainParams,
    samples: &Samples,
    state_path: &Path,
    observer: &dyn Observer,
) -> Result<Trained, TrainError> {
    let job = TrainJob {
        params,
        start,
        samples,
        seed: SEED,
        threads: 1,
        device: Device::Cpu,
        carried: None,
        state_path,
    };
    train(job, observer)
}

/// Goes on from the net and the state of a finished training.
fn run_on(params: &TrainParams, samples: &Samples, before: &Trained, state: &Path, stops: &[u64]) -> Trained {
    let folder = tempfile::tempdir().expect("temporary folder");
    let start = Checkpoint { weights: before.weights.clone(), ..tiny_net() };
    let job = TrainJob {
        params,
        start: &start,
        samples,
        seed: SEED,
        threads: 1,
        device: Device::Cpu,
        carried: Some(CarriedState { path: state, blake3: "the state's" }),
        state_path: &folder.path().join("state"),
    };
    for stop in stops {
        train(job, &StopAfter::new(*stop)).expect_err("stops");
    }
    train(job, &Silent).expect("trains")
}

pub(super) fn run(params: &TrainParams, samples: &Samples) -> Trained {
    let folder = tempfile::tempdir().expect("temporary folder");
    run_with(params, samples, &folder.path().join("state"), &Silent).expect("trains")
}

/// Requests a stop once some updates are done.
struct StopAfter {
    updates: u64,
    done: AtomicU64,
}

impl StopAfter {
    fn new(updates: u64) -> Self {
        Self { updates, done: AtomicU64::new(0) }
    }
}

impl Observer for StopAfter {
    fn event(&self, event: Event<'_>) {
        if let Event::Progress { unit: "updates", done, .. } = event {
            self.done.store(done, Ordering::Relaxed);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.updates
    }
}

/// The largest difference between two nets' weights.
fn largest_difference(one: &Trained, other: &Trained) -> f32 {
    let pairs = one.weights.values().zip(other.weights.values());
    let numbers = pairs.flat_map(|(a, b)| a.data.iter().zip(&b.data));
    numbers.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn bits(trained: &Trained) -> Vec<u32> {
    trained.weights.values().flat_map(|tensor| tensor.data.iter().map(|value| value.to_bits())).collect()
}

fn short(optimizer: OptimizerParams) -> TrainParams {
    TrainParams {
        updates: 12,
        batch: 16,
        optimizer,
        learning_rate: Schedule::from_samples(&[0.02, 0.01, 0.03, 0.005]).expect("samples"),
        clip_norm: Some(1.0),
        validation_fraction: 0.5,
        checkpoint_every: 5,
        log_every: 4,
        search_value_weight: 0.0,
        mirror: Mirroring::None,
        ..TrainParams::default()
    }
}

#[test]
fn stopping_anywhere_and_resuming_changes_no_bit() {
    let sgd = OptimizerParams { kind: OptimizerKind::Sgd, nesterov: true, ..OptimizerParams::default() };
    let (games, positions) = random_games(8, 20);
    let short_half = TrainParams { precision: TrainPrecision::BFloat16, ..short(OptimizerParams::default()) };
    let muon = OptimizerParams { kind: OptimizerKind::Muon, ..OptimizerParams::default() };
    let swa = WeightAverage { kind: AverageKind::Swa, every: 2, start: 4, ..WeightAverage::default() };
    let averaged = |optimizer, average| TrainParams { average: Some(average), ..short(optimizer) };
    let mirrored = |mirror| TrainParams { mirror, ..short(OptimizerParams::default()) };
    let rising = Schedule::from_samples(&[0.0, 1.0, 3.0]).expect("samples");
    let weighted = TrainParams { soft_policy_weight: rising, ..short(OptimizerParams::default()) };
    let all = [
        short(sgd.clone()),
        short(OptimizerParams::default()),
        short_half,
        short(muon.clone()),
        averaged(muon, WeightAverage::default()),
        averaged(sgd, swa),
        mirrored(Mirroring::Random),
        mirrored(Mirroring::Both),
        weighted,
    ];
    for params in all {
        let samples = samples(&games, &positions, &params);
        let whole = run(&params, &samples);
        assert_eq!(whole.curve.iter().map(|row| row.update).collect::<Vec<_>>(), [4, 8, 12]);
        assert_eq!(whole.validation.iter().map(|row| row.update).collect::<Vec<_>>(), [0, 5, 10, 12]);
        for stops in [&[0][..], &[3], &[5], &[7], &[1, 2, 10]] {
            let folder = tempfile::tempdir().expect("temporary folder");
            let path = folder.path().join("state");
            for &stop in stops {
                let stopped = run_with(&params, &samples, &path, &StopAfter::new(stop));
                assert!(matches!(stopped, Err(TrainError::Cancelled(_))), "{stopped:?}");
            }
            let resumed = run_with(&params, &samples, &path, &Silent).expect("resumes");
            assert_eq!(bits(&resumed), bits(&whole), "stopped after {stops:?}");
            assert_eq!(resumed, whole, "stopped after {stops:?}");
        }
    }
}

#[test]
fn an_nnue_with_king_buckets_resumes_with_the_same_bits() {
    let (games, positions) = random_games(8, 20);
    let tower = TowerSpec {
        kind: Tower::Nnue,
        filters: 64,
        mirrored: true,
        king_buckets: king_buckets(32),
        ..TowerSpec::default()
    };
    let spec = NetworkSpec { tower, ..tiny_net().spec };
    let start = Checkpoint { weights: initial_weights(&spec, SEED), spec, provenance: Value::group() };
    let params = TrainParams { mirror: Mirroring::Random, ..short(OptimizerParams::default()) };
    let samples = samples(&games, &positions, &params);
    let folder = tempfile::tempdir().expect("temporary folder");
    let run = |name: &str, observer: &dyn Observer| {
        run_net(&start, &params, &samples, &folder.path().join(name), observer)
    };
    let whole = run("whole", &Silent).expect("trains");
    assert!(matches!(run("parts", &StopAfter::new(7)), Err(TrainError::Cancelled(_))));
    let resumed = run("parts", &Silent).expect("resumes");
    assert_eq!(bits(&resumed), bits(&whole));
    let first = |weights: &Weights| weights["stem.weight"].data.clone();
    assert_ne!(first(&whole.weights), first(&start.weights));
}

/// Batches are drawn and built exactly on every processor. libtorch adds in an order that depends on the processor's vector
/// width, which after twelve updates changes the losses by some 10⁻⁶, so those are compared to four digits.
#[test]
fn a_training_is_unchanged() {
    let (games, positions) = random_games(8, 20);
    let params = short(OptimizerParams::default());
    let samples = samples(&games, &positions, &params);
    let mut sampler = Sampler::new(SEED, samples.training_count(), params.batch, params.mirror);
    let indices = |drawn: Vec<Drawn>| drawn.into_iter().map(|drawn| drawn.index).collect();
    let drawn: Vec<Vec<usize>> = (0..params.updates).map(|update| indices(sampler.batch(update))).collect();
    assert_eq!(&digest(format!("{} {drawn:?}", samples.digest()).as_bytes())[..16], "a4460e418606b173");
    let trained = run(&params, &samples);
    let curve = trained.curve.iter().flat_map(|row| [row.policy_loss, row.value_loss, row.gradient_norm]);
    check_close(
        curve,
        &[3.242_340, 1.337_029, 2.763_348, 3.259_757, 1.093_669, 0.618_752, 3.262_570, 1.080_546, 0.756_687],
    );
    let held_out = trained.validation.iter().flat_map(|row| [row.policy_loss, row.value_loss]);
    check_close(
        held_out,
        &[3.292_080, 1.099_037, 3.291_186, 1.097_088, 3.289_154, 1.113_109, 3.288_499, 1.114_952],
    );
    let last = trained.validation[3];
    let others =
        [last.soft_policy_loss, last.reply_loss, last.material_loss, last.brier, last.calibration_error];
    check_close(others.into_iter(), &[3.287_822, 8.019_119, 0.029_690, 0.677_676, 0.151_916]);
}

#[track_caller]
fn check_close(found: impl Iterator<Item = f64>, expected: &[f64]) {
    let found: Vec<f64> = found.collect();
    let is_close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-4 * other.abs();
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_close), "found {found:?}");
}

#[test]
fn two_trainings_with_the_state_carried_are_one_training() {
    // Batches of the second training are drawn again, so both have the same single batch.
    let (games, positions) = random_games(1, 16);
    let kinds = [OptimizerKind::Sgd, OptimizerKind::AdamW, OptimizerKind::Muon];
    for (kind, average) in kinds
        .map(|kind| (kind, None))
        .into_iter()
        .chain(kinds.map(|kind| (kind, Some(WeightAverage { decay: 0.8, ..WeightAverage::default() }))))
        .chain([(OptimizerKind::AdamW, Some(WeightAverage { every: 3, ..WeightAverage::default() }))])
    {
        let params = |updates| TrainParams {
            updates,
            batch: 16,
            optimizer: OptimizerParams { kind, ..OptimizerParams::default() },
            average: average.clone(),
            ..all_trained()
        };
        let samples = samples(&games, &positions, &params(1));
        let whole = run(&params(10), &samples);
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("state");
        let first = run_with(&params(4), &samples, &path, &Silent).expect("trains");
        let second = run_on(&params(6), &samples, &first, &path, &[0, 2]);
        let far = |other: &Trained| largest_difference(&whole, other);
        // The order of the rows within the batch differs, so sums differ in their last bits.
        assert!(far(&second) < 2e-4, "{kind:?} {average:?}: {}", far(&second));
        assert_eq!(second.summary.optimizer_updates, 10);
        let fresh = OptimizerParams { state: OptimizerStart::Fresh, ..params(6).optimizer };
        let reset = run_on(&TrainParams { optimizer: fresh, ..params(6) }, &samples, &first, &path, &[]);
        assert_eq!(reset.summary.optimizer_updates, 6);
        assert!(far(&reset) > 10.0 * far(&second), "{kind:?}: {} against {}", far(&reset), far(&second));
    }
}

/// The net of a training with an average is not the one that its optimiser's state belongs to.
#[test]
fn without_an_average_the_weights_themselves_are_trained_on() {
    let (games, positions) = random_games(1, 16);
    let params = |updates, average| TrainParams { updates, batch: 16, average, ..all_trained() };
    let samples = samples(&games, &positions, &params(1, None));
    let whole = run(&params(10, None), &samples);
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("state");
    let swa = WeightAverage { kind: AverageKind::Swa, ..WeightAverage::default() };
    let first = run_with(&params(4, Some(swa)), &samples, &path, &Silent).expect("trains");
    let second = run_on(&params(6, None), &samples, &first, &path, &[]);
    let difference = largest_difference(&second, &whole);
    assert!(difference < 2e-4, "{difference}");
    // A mean is no moving average, which begins with the net that it is given: one step keeps a tenth of it.
    let ema = run_on(&params(1, Some(WeightAverage::default())), &samples, &first, &path, &[]);
    let five = run(&params(5, None), &samples);
    let name = "stem.conv.weight";
    for (found, (mean, five)) in
        ema.weights[name].data.iter().zip(first.weights[name].data.iter().zip(&five.weights[name].data))
    {
        assert!((found - (0.1 * mean + 0.9 * five)).abs() < 1e-5, "{found}, from {mean} and {five}");
    }
}

#[test]
fn a_state_of_another_optimizer_is_not_carried() {
    let (games, positions) = random_games(4, 10);
    let average = Some(WeightAverage::default());
    let params = TrainParams { average, ..short(OptimizerParams::default()) };
    let samples = samples(&games, &positions, &params);
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("state");
    let first = run_with(&params, &samples, &path, &Silent).expect("trains");
    let sgd = |state| {
        let optimizer = OptimizerParams { kind: OptimizerKind::Sgd, state, ..OptimizerParams::default() };
        run_on(&TrainParams { optimizer, ..params.clone() }, &samples, &first, &path, &[])
    };
    let second = sgd(OptimizerStart::Carried);
    assert_eq!(second.summary.optimizer_updates, 12);
    // It starts from the net that was stored, the average.
    assert_eq!(bits(&second), bits(&sgd(OptimizerStart::Fresh)));
}

/// Version 6 had momentum of all weights, and no means of `AdamW` for those of first and last layers.
#[test]
fn a_muon_that_had_all_weights_is_not_carried() {
    let (games, positions) = random_games(4, 10);
    let params = |kind| short(OptimizerParams { kind, ..OptimizerParams::default() });
    let muon = params(OptimizerKind::Muon);
    let samples = samples(&games, &positions, &muon);
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, older) = (folder.path().join("state"), folder.path().join("older"));
    run_with(&muon, &samples, &path, &Silent).expect("trains");
    let state = |kind| State::load_finished(&path, kind).expect("loads");
    let means = state(OptimizerKind::Muon).optimizer.tensors;
    let has = |mean: &str, name: &str| means.contains_key(&format!("{mean}.{name}.weight"));
    assert!(has("momentum", "tower.0.conv1") && !has("first", "tower.0.conv1"));
    assert!(!has("momentum", "stem.conv") && has("first", "stem.conv") && has("second", "stem.conv"));
    state(OptimizerKind::Muon).save_as(&older, "me", 6).expect("saves");
    let error = State::load_finished(&older, OptimizerKind::Muon).expect_err("refused");
    assert!(matches!(error, TrainError::MuonState { found: 6, expected: 7, .. }), "{error}");
    assert!(error.to_string().contains("set optimizer.state to \"fresh\""), "{error}");
    // Another optimiser begins with its own empty state anyway.
    State::load_finished(&older, OptimizerKind::AdamW).expect("loads");
    assert!(matches!(State::load(&older, "me"), Err(TrainError::StateVersion { found: 6, .. })));
}

#[test]
fn an_update_has_its_own_learning_rate() {
    let (games, positions) = random_games(2, 16);
    let frozen = TrainParams { batch: 16, log_every: 1, batch_norm: BatchNormMode::Frozen, ..all_trained() };
    let samples = samples(&games, &positions, &frozen);

    let learning_rate = Schedule::from_samples(&[0.0, 0.1, 0.0, 0.1]).expect("samples");
    let after = |updates| {
        let params = TrainParams { updates, learning_rate: learning_rate.clone(), ..frozen.clone() };
        run(&params, &samples).weights
    };
    let [one, two, three, four] = [1, 2, 3, 4].map(after);
    assert_eq!(
        [one == tiny_net().weights, two == one, three == two, four == three],
        [true, false, true, false]
    );
}

#[test]
fn an_update_has_its_own_weight_of_each_loss() {
    let (mut games, positions) = random_games(2, 16);
    for game in &mut games {
        game.reason = Reason::Checkmate.into();
    }
    // The weights stay exactly as they are: biases begin at 0, where the least step turns units on that were off.
    let frozen = TrainParams {
        updates: 3,
        batch: 16,
        log_every: 1,
        learning_rate: Schedule::constant(0.0),
        batch_norm: BatchNormMode::Frozen,
        ..all_trained()
    };
    let samples = samples(&games, &positions, &frozen);

    let weights: [fn(&mut TrainParams) -> &mut Schedule; 6] = [
        |params| &mut params.policy_weight,
        |params| &mut params.value_weight,
        |params| &mut params.moves_left_weight,
        |params| &mut params.soft_policy_weight,
        |params| &mut params.reply_weight,
        |params| &mut params.material_weight,
    ];
    for (number, weight) in weights.iter().enumerate() {
        let gradients = |schedule| {
            let mut params = frozen.clone();
            for other in &weights {
                *other(&mut params) = Schedule::constant(0.0);
            }
            *weight(&mut params) = schedule;
            run(&params, &samples).curve.iter().map(|row| row.gradient_norm).collect::<Vec<f64>>()
        };
        let plain = gradients(Schedule::constant(1.0));
        let factors = [2.0, 0.0, 0.5];
        let weighted = gradients(Schedule::from_samples(&factors).expect("samples"));
        assert_eq!((plain.len(), weighted.len()), (3, 3));
        for ((plain, weighted), factor) in plain.iter().zip(&weighted).zip(factors) {
            let difference = (weighted - factor * plain).abs();
            assert!(
                *plain > 0.0 && difference < 1e-5 * plain,
                "weight {number}: {weighted} is not {factor} of {plain}"
            );
        }
    }
}

#[test]
fn weight_decay_shrinks_weights_and_no_biases() {
    let (games, positions) = random_games(1, 16);
    let tower =
        TowerSpec { kind: Tower::Transformer, blocks: 1, filters: 16, heads: 2, ..TowerSpec::default() };
    let spec = NetworkSpec { tower, ..tiny_net().spec };
    let start = Checkpoint { weights: trained_weights(&spec), spec, provenance: Value::group() };
    let after = |kind, weight_decay| {
        let params = TrainParams {
            updates: 1,
            batch: 16,
            learning_rate: Schedule::from_samples(&[0.1]).expect("samples"),
            optimizer: OptimizerParams { kind, weight_decay, ..OptimizerParams::default() },
            ..all_trained()
        };
        let folder = tempfile::tempdir().expect("temporary folder");
        let samples = samples(&games, &positions, &params);
        run_net(&start, &params, &samples, &folder.path().join("state"), &Silent).expect("trains").weights
    };
    for kind in [OptimizerKind::Sgd, OptimizerKind::AdamW, OptimizerKind::Muon] {
        let (with, without) = (after(kind, 0.5), after(kind, 0.0));
        for TensorSpec { name, .. } in layout(&start.spec) {
            let is_decayed = with[&name] != without[&name];
            let is_weight = name.ends_with(".weight") && !name.contains("norm") && !name.contains("bn");
            assert_eq!(is_decayed, is_weight, "{kind:?} {name}");
        }
    }
}

#[test]
fn averages_are_those_of_the_weights_so_far() {
    let (games, positions) = random_games(1, 16);
    let params = |updates, average| TrainParams { updates, batch: 16, average, ..all_trained() };
    let samples = samples(&games, &positions, &params(1, None));
    let along: Vec<Trained> = (1..=4).map(|updates| run(&params(updates, None), &samples)).collect();
    let name = "stem.conv.weight";
    let number = |trained: &Trained| f64::from(trained.weights[name].data[5]);
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    let swa = WeightAverage { kind: AverageKind::Swa, start: 2, ..WeightAverage::default() };
    close(number(&run(&params(4, Some(swa)), &samples)), f64::midpoint(number(&along[2]), number(&along[3])));
    // The n-th step, counted from 0, keeps (1 + n) / (10 + n), as long as that is below the decay.
    let ema = WeightAverage { decay: 0.15, ..WeightAverage::default() };
    let start = f64::from(tiny_net().weights[name].data[5]);
    let kept = [0.1, 0.15, 0.15, 0.15];
    let expected =
        along.iter().zip(kept).fold(start, |mean, (net, kept)| kept * mean + (1.0 - kept) * number(net));
    close(number(&run(&params(4, Some(ema)), &samples)), expected);
}

#[test]
fn an_average_without_a_step_is_an_error() {
    let (games, positions) = random_games(1, 16);
    let params = |every: Option<u32>| {
        let average = every.map(|every| WeightAverage { every, ..WeightAverage::default() });
        TrainParams { updates: 4, batch: 16, average, ..all_trained() }
    };
    let samples = samples(&games, &positions, &params(None));
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("state");
    let error = run_with(&params(Some(6)), &samples, &path, &Silent).expect_err("the first step is at 6");
    assert!(matches!(error, TrainError::NothingAveraged { every: 6, before: 0, updates: 4 }), "{error}");
    let first = run_with(&params(None), &samples, &path, &Silent).expect("trains");
    // The sixth update of the optimiser is the second of this training.
    let second = run_on(&params(Some(6)), &samples, &first, &path, &[]);
    assert_ne!(bits(&second), bits(&first));
}

#[test]
fn the_loss_does_not_depend_on_how_targets_are_spread_over_batches() {
    let (mut games, mut positions) = random_games(8, 20);
    for game in &mut games[2..] {
        game.reason = Reason::PlyCap.into();
    }
    for (index, row) in positions.iter_mut().enumerate() {
        row.full = index % 8 == 0;
    }
    let row = |positions: &[PositionRow], batch| {
        let params = TrainParams {
            batch,
            positions: TrainedPositions::All,
            ply_cap_value_weight: 0.0,
            learning_rate: Schedule::constant(1e-12),
            // Whose statistics would be those of the batch.
            batch_norm: BatchNormMode::Frozen,
            log_every: 1000,
            ..all_trained()
        };
        let samples = samples(&games, positions, &params);
        let updates = samples.training_count() as u32 / batch;
        assert_eq!(updates * batch, samples.training_count() as u32);
        run(&TrainParams { updates, ..params }, &samples).summary.last
    };
    let (one, other) = (row(&positions, 160), row(&positions, 2));
    assert!((one.loss - other.loss).abs() < 1e-3 * one.loss, "{one:?} {other:?}");
    for row in &mut positions {
        row.full = false;
    }
    let last = row(&positions, 2);
    assert!(
        last.policy_loss.is_nan() && last.reply_loss.is_nan() && last.policy_entropy.is_nan(),
        "{last:?}"
    );
    let losses = last.value_loss + last.moves_left_loss + 0.25 * last.material_loss;
    assert!((last.loss - losses).abs() < 1e-9, "{last:?}");
}

#[test]
fn a_finished_state_gives_the_same_result_at_once() {
    let (games, positions) = random_games(4, 10);
    let params = short(OptimizerParams::default());
    let samples = samples(&games, &positions, &params);
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("state");
    let first = run_with(&params, &samples, &path, &Silent).expect("trains");
    let observer = StopAfter::new(0);
    let second = run_with(&params, &samples, &path, &observer).expect("has nothing left to do");
    assert_eq!(second, first);
}

#[test]
fn a_state_is_not_used_for_other_parameters() {
    let (games, positions) = random_games(4, 10);
    let params = short(OptimizerParams::default());
    let samples = samples(&games, &positions, &params);
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("state");
    run_with(&params, &samples, &path, &StopAfter::new(3)).expect_err("stops");
    let other = TrainParams { value_weight: Schedule::constant(0.5), ..params };
    let error = run_with(&other, &samples, &path, &Silent).expect_err("rejects");
    assert!(matches!(error, TrainError::OtherState { .. }), "{error}");
}

#[test]
fn one_batch_can_be_overfitted_by_every_head() {
    // One game, since two would share their start position and could differ in their result.
    let (mut games, mut positions) = random_games(1, 16);
    games[0].reason = Reason::Checkmate.into();
    // One move has most of the shares, so that every entropy is small.
    for row in &mut positions {
        (row.moves, row.target) = (row.moves[..2].to_vec(), vec![1000, 1]);
    }
    let params = TrainParams {
        updates: 400,
        batch: 16,
        learning_rate: Schedule::constant(0.01),
        optimizer: OptimizerParams { weight_decay: 0.0, ..OptimizerParams::default() },
        soft_policy_temperature: 1.0,
        ..all_trained()
    };
    let samples = samples(&games, &positions, &params);
    assert_eq!(samples.training_count(), 16);
    let last = run(&params, &samples).summary.last;
    assert!((0.0..0.05).contains(&(last.policy_loss - last.policy_entropy)), "{last:?}");
    assert!(last.policy_accuracy == 1.0 && last.policy_top_three == 1.0, "{last:?}");
    for loss in
        [last.value_loss, last.moves_left_loss, last.soft_policy_loss, last.reply_loss, last.material_loss]
    {
        assert!(loss < 0.05, "{last:?}");
    }
    assert!(last.brier < 0.01 && last.weight_norm > 1.0, "{last:?}");
}

#[test]
fn held_out_losses_fall_where_there_is_something_to_learn() {
    // Results of random games are hard to predict, so the value to learn is the material on the board.
    let (games, mut positions) = random_games(100, 80);
    for row in &mut positions {
        let position = crate::board::Position::from_fen(&row.fen).expect("a FEN");
        let white = (material(&position) as f32 / 4.0).tanh();
        row.root_q = if position.side_to_move() == crate::board::Side::White { white } else { -white };
        row.root_d = 1.0 - row.root_q.abs();
        // Targets are the same for both colours, which the net does not know: moves are counted as their player sees them.
        if position.side_to_move() == crate::board::Side::Black {
            let mut order: Vec<usize> = (0..row.moves.len()).collect();
            order.sort_unstable_by_key(|at| row.moves[*at] ^ (56 | 56 << 6));
            order.into_iter().zip(1..).for_each(|(at, visits)| row.target[at] = visits);
        }
    }
    let params = TrainParams {
        updates: 200,
        batch: 128,
        learning_rate: Schedule::constant(0.003),
        validation_fraction: 0.2,
        search_value_weight: 1.0,
        ..TrainParams::default()
    };
    let samples = samples(&games, &positions, &params);
    let trained = run(&params, &samples);
    let (first, last) = (trained.validation[0], trained.summary.validation.expect("games are held out"));
    assert!(last.policy_loss < first.policy_loss - 0.05, "{first:?} {last:?}");
    assert!(last.value_loss < first.value_loss - 0.05, "{first:?} {last:?}");
}

#[test]
fn a_net_that_is_measured_as_it_plays_has_the_losses_of_its_training() {
    let (mut games, mut positions) = random_games(24, 20);
    games.iter_mut().step_by(3).for_each(|game| game.reason = Reason::PlyCap.into());
    for row in &mut positions {
        row.visits.reverse();
        row.root_q = (f32::from(row.ply) - 10.0) / 40.0;
    }
    let scalar = ValueHeadSpec { kind: ValueHead::Scalar, ..tiny_net().spec.value_head };
    let scalar = NetworkSpec { value_head: scalar, ..tiny_net().spec };
    let plain = ValidateParams { held_out: Some(0.5), ..ValidateParams::default() };
    let other = ValidateParams {
        positions: TrainedPositions::Quiet,
        policy_target: PolicyTarget::Visits,
        policy_temperature: 2.0,
        search_value_weight: 0.3,
        search_value_horizon: 4.0,
        discount: 0.98,
        capped_games: CappedGames::Draw,
        ..plain.clone()
    };
    for (spec, params) in [(tiny_net().spec, plain), (scalar, other)] {
        let start = Checkpoint { weights: initial_weights(&spec, SEED), spec, provenance: Value::group() };
        let training = TrainParams {
            validation_fraction: 0.5,
            updates: 12,
            batch: 16,
            learning_rate: Schedule::constant(0.01),
            ..params.training()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let samples = samples(&games, &positions, &training);
        let trained = run_net(&start, &training, &samples, &folder.path().join("state"), &Silent);
        let trained = trained.expect("trains");
        let expected = trained.summary.validation.expect("games are held out");
        let options = TorchOptions { precision: Precision::F32, ..TorchOptions::default() };
        let mut net = TorchEvaluator::new(&start.spec, &trained.weights, options).expect("builds");
        let value_head = start.spec.value_head.kind;
        let job = ValidationJob { params: &params, seed: SEED, value_head, tables: None };
        let shard =
            ValidationGames { source: 0, iteration: 0, name: "a", games: &games, positions: &positions };
        let mut sums = PredictionSums::default();
        for row in job.shard(shard, &mut net, &Silent).expect("sound rows").rows {
            sums.add(&row);
        }
        let found = sums.to_value();
        let figures = [
            ("policy_loss", expected.policy_loss),
            ("policy_entropy", expected.policy_entropy),
            ("policy_accuracy", expected.policy_accuracy),
            ("policy_top_three", expected.policy_top_three),
            ("value_loss", expected.value_loss),
            ("moves_left_loss", expected.moves_left_loss),
            ("brier", expected.brier),
            ("calibration_error", expected.calibration_error),
        ];
        for (name, expected) in figures {
            let found = found.figure(name).unwrap_or(f64::NAN);
            let is_same = (found - expected).abs() < 1e-4 * expected.abs().max(1.0);
            assert!(is_same || found.is_nan() && expected.is_nan(), "{name}: {found}, not {expected}");
        }
    }
}

#[test]
fn mixed_precision_learns_what_full_precision_learns() {
    let (games, positions) = random_games(6, 20);
    let full = TrainParams { updates: 40, ..short(OptimizerParams::default()) };
    let half = TrainParams { precision: TrainPrecision::BFloat16, ..full.clone() };
    let samples = samples(&games, &positions, &full);
    let [full, half] = [full, half].map(|params| run(&params, &samples).summary.last);
    assert!((full.loss - half.loss).abs() < 0.02 * full.loss, "{full:?} {half:?}");
    assert_ne!(full.loss, half.loss);
}

#[test]
fn held_out_games_do_not_change_the_weights() {
    let (games, positions) = random_games(12, 10);
    let params = short(OptimizerParams::default());
    let with_all = samples(&games, &positions, &params);
    assert!(with_all.games().validation > 0);
    // Change only what is held out: give each such game another result.
    let mut changed = positions.clone();
    let mut changed_games = games.clone();
    for game in &mut changed_games {
        let of_game = |row: &&mut crate::store::PositionRow| row.game == game.game;
        let rows: Vec<PositionRow> = positions.iter().filter(|row| row.game == game.game).cloned().collect();
        let lone = samples(std::slice::from_ref(game), &rows, &params);
        if lone.games().validation == 1 {
            let is_won = game.result == GameResult::WhiteWins;
            game.result = if is_won { GameResult::BlackWins } else { GameResult::WhiteWins };
            for row in changed.iter_mut().filter(of_game) {
                let side = if row.ply % 2 == 0 { Side::White } else { Side::Black };
                row.result = game.result.score_for(side);
            }
        }
    }
    let damaged = samples(&changed_games, &changed, &params);
    assert_ne!(with_all.digest(), damaged.digest());
    let (one, other) = (run(&params, &with_all), run(&params, &damaged));
    assert_eq!(bits(&one), bits(&other));
    assert_ne!(one.validation, other.validation);
}

#[test]
fn a_training_that_diverges_is_an_error_that_names_the_update() {
    let (games, positions) = random_games(4, 10);
    let sgd = OptimizerParams { kind: OptimizerKind::Sgd, weight_decay: 1.0, ..OptimizerParams::default() };
    let params = TrainParams {
        updates: 500,
        checkpoint_every: 500,
        learning_rate: Schedule::constant(10.0),
        clip_norm: None,
        validation_fraction: 0.0,
        ..short(sgd)
    };
    let samples = samples(&games, &positions, &params);
    let folder = tempfile::tempdir().expect("temporary folder");
    let error = run_with(&params, &samples, &folder.path().join("state"), &Silent).expect_err("diverges");
    assert!(matches!(error, TrainError::NotFinite { .. }), "{error}");
    assert!(error.to_string().contains("lower learning_rate"), "{error}");
}

/// The loss of an update is that of the net before it.
#[test]
fn a_net_that_the_last_update_made_useless_is_an_error_with_and_without_held_out_games() {
    let (games, positions) = random_games(8, 10);
    let sgd = OptimizerParams { kind: OptimizerKind::Sgd, ..OptimizerParams::default() };
    for validation_fraction in [0.0, 0.5] {
        let learning_rate = Schedule::constant(1e8);
        let params = TrainParams {
            updates: 1,
            learning_rate,
            clip_norm: None,
            validation_fraction,
            ..short(sgd.clone())
        };
        let samples = samples(&games, &positions, &params);
        assert_eq!(samples.validation_count() > 0, validation_fraction > 0.0);
        let folder = tempfile::tempdir().expect("temporary folder");
        let state = folder.path().join("state");
        let error = run_with(&params, &samples, &state, &Silent).expect_err("diverges");
        assert!(matches!(error, TrainError::OutputsNotFinite { updates: 1 }), "{error}");
        assert!(error.to_string().ends_with("lower learning_rate or set clip_norm"), "{error}");
        assert!(!state.exists(), "a useless state must not be stored");
    }
}

#[test]
fn a_start_net_that_overflows_is_not_blamed_on_the_learning_rate() {
    let (games, positions) = random_games(8, 10);
    let mut start = tiny_net();
    start.weights.get_mut("value.dense2.weight").expect("in the layout").data.fill(1e38);
    for validation_fraction in [0.0, 0.5] {
        let params = TrainParams { validation_fraction, ..short(OptimizerParams::default()) };
        let samples = samples(&games, &positions, &params);
        let folder = tempfile::tempdir().expect("temporary folder");
        let error = run_net(&start, &params, &samples, &folder.path().join("state"), &Silent);
        let error = error.expect_err("overflows").to_string();
        assert!(error.contains("the start net's own outputs are too large"), "{error}");
    }
}

/// Batch norm normalises by the batch, so an overflow of its running variance shows in no loss.
#[test]
fn an_overflow_that_no_loss_shows_is_an_error_too() {
    let (games, positions) = random_games(4, 10);
    let params = TrainParams { validation_fraction: 0.0, ..short(OptimizerParams::default()) };
    let samples = samples(&games, &positions, &params);
    let mut start = tiny_net();
    let weights = start.weights.get_mut("tower.0.conv1.weight").expect("a convolution");
    weights.data.iter_mut().for_each(|value| *value *= 1e25);
    let folder = tempfile::tempdir().expect("temporary folder");
    let state = folder.path().join("state");
    let error = run_net(&start, &params, &samples, &state, &Silent).expect_err("overflows");
    let (update, tensor) = (params.checkpoint_every - 1, "tower.0.bn1.running_var");
    assert!(
        matches!(&error, TrainError::NetNotFinite { update: at, tensor: name, .. } if *at == update && name == tensor),
        "{error}"
    );
    assert!(!state.exists(), "a useless state must not be stored");
    let stopped = run_net(&start, &params, &samples, &state, &StopAfter::new(3));
    assert!(matches!(stopped, Err(TrainError::Cancelled(_))), "{stopped:?}");
    assert!(!state.exists(), "a useless state must not be stored");
}

#[test]
fn training_without_samples_is_an_error() {
    let params = all_trained();
    let folder = tempfile::tempdir().expect("temporary folder");
    let none = samples(&[], &[], &params);
    let error = run_with(&params, &none, &folder.path().join("state"), &Silent).expect_err("nothing to do");
    assert!(matches!(error, TrainError::NoSamples { games: 0, held_out: 0, .. }), "{error}");
}

#[test]
fn samples_of_another_encoding_are_rejected() {
    let absolute = crate::encoding::Encoding::new(
        crate::encoding::EncodingName::DummyChess,
        crate::encoding::Orientation::Absolute,
    );
    let (games, positions) = random_games(2, 5);
    let params = all_trained();
    let others = Samples::new(absolute, &params).expect("no tablebases");
    let others = added(others, 1.0, &games, &positions);
    let folder = tempfile::tempdir().expect("temporary folder");
    let error = run_with(&params, &others, &folder.path().join("state"), &Silent).expect_err("rejects");
    assert_eq!(
        error.to_string(),
        "the net's input is dc0-20 side_to_move, but the samples are encoded as dc0-22 absolute; \
         build the samples for this net"
    );
}

#[test]
fn samples_made_with_other_parameters_are_rejected() {
    let (games, positions) = random_games(2, 5);
    let others = samples(&games, &positions, &TrainParams { discount: 0.99, ..all_trained() });
    let folder = tempfile::tempdir().expect("temporary folder");
    let error =
        run_with(&all_trained(), &others, &folder.path().join("state"), &Silent).expect_err("rejects");
    assert!(matches!(error, TrainError::OtherTargets), "{error}");
}

#[test]
fn rules_between_parameters_are_checked() {
    let paths = |json: &str| -> Vec<String> { problems(json).into_iter().map(|one| one.path).collect() };
    let unweighted = r#"{"policy_weight": 0, "value_weight": 0, "learning_rate": 0}"#;
    assert_eq!(paths(unweighted), ["value_weight", "learning_rate"]);
    assert_eq!(paths(r#"{"optimizer": {"nesterov": true}}"#)[0], "optimizer.nesterov");
    // Only what the updates reach counts.
    for (enough, members, path) in [
        (5, r#""policy_weight": [[0, 0], [4, 1]], "value_weight": 0"#, "value_weight"),
        (5, r#""learning_rate": [[0, 0], [4, 0.01]]"#, "learning_rate"),
        (10, r#""average": {"kind": "swa", "start": 9, "every": 10}"#, "average"),
        (20, r#""average": {"kind": "swa", "start": 10, "every": 10}"#, "average"),
        (10, r#""average": {"every": 10}, "optimizer": {"state": "fresh"}"#, "average"),
    ] {
        let with = |updates: u32| paths(&format!("{{\"updates\": {updates}, {members}}}"));
        assert!(with(enough).is_empty(), "{members}");
        assert_eq!(with(enough - 1), [path], "{members}");
    }
}

/// The mean |value| that a net gives positions.
fn conviction(trained: &Trained, positions: &[PositionRow]) -> f32 {
    let spec = tiny_net().spec;
    let mut evaluator =
        TorchEvaluator::new(&spec, &trained.weights, TorchOptions::default()).expect("builds");
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    for row in positions {
        let game = Game::from_position(Position::from_fen(&row.fen).expect("a FEN"));
        batch.push(evaluator.encoding(), &game);
    }
    evaluator.evaluate(&batch, &mut answers).expect("evaluates");
    answers.wdl.iter().map(|wdl| wdl.value().abs()).sum::<f32>() / answers.wdl.len() as f32
}

#[test]
fn a_low_ply_cap_weight_keeps_values_from_collapsing_to_draws() {
    // The failure: draws dominate the buffer and the value learns their mean, while the losses fall.
    let (mut games, mut positions) = random_games(60, 40);
    for game in games.iter_mut().filter(|game| game.game % 10 != 0) {
        (game.result, game.reason) = (GameResult::Draw, Reason::PlyCap.into());
    }
    positions.iter_mut().filter(|row| row.game % 10 != 0).for_each(|row| row.result = 0);
    let decided: Vec<PositionRow> = positions.iter().filter(|row| row.game % 10 == 0).cloned().collect();
    let conviction_with = |ply_cap_value_weight| {
        let params = TrainParams {
            updates: 150,
            batch: 64,
            learning_rate: Schedule::constant(0.003),
            ply_cap_value_weight,
            capped_games: CappedGames::Draw,
            ..all_trained()
        };
        conviction(&run(&params, &samples(&games, &positions, &params)), &decided)
    };
    let (flooded, kept) = (conviction_with(1.0), conviction_with(0.05));
    assert!(kept > 2.0 * flooded, "{kept} against {flooded}");
}
