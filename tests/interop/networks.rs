//! Every encoding and every head on the same stored games: trained, stored, loaded, exported and evaluated again.

use std::path::Path;
use std::sync::Mutex;

use crate::net_fixtures::{evaluate, in_floats, largest_difference, matrix, onnx_library, positions};
use dc0_core::board::Reason;
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::event::Silent;
use dc0_core::network::checkpoint::{Checkpoint, LoadedCheckpoint};
use dc0_core::network::fake::Hashed;
use dc0_core::network::onnx::{InputForm, OnnxEvaluator, OnnxModel, OnnxOptions};
use dc0_core::network::torch::Device;
use dc0_core::network::{Evaluator, EvaluatorError, NetworkSpec, initial_weights};
use dc0_core::params::{Param, Value};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, ShardResult, play, shards_of};
use dc0_core::store::{GameRow, PositionRow, Provenance, read_entry, write_table};
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{TrainJob, TrainParams, train};

const SEED: Seed = Seed { run: 3, step: 1 };

/// Games played by an evaluator without a net, written to a file and read back.
fn stored_games(folder: &Path) -> (Vec<GameRow>, Vec<PositionRow>) {
    let search = SearchParams { simulations: 4, ..SearchParams::default() };
    let params =
        SelfPlayParams { games: 4, max_plies: 400, search: search.into(), ..SelfPlayParams::default() };
    let make_evaluator = || -> Result<Box<dyn Evaluator>, EvaluatorError> {
        Ok(Box::new(Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), 1)))
    };
    let job = SelfPlayJob::new(&params, SEED, "hashed", &make_evaluator);
    let played = Mutex::new((Vec::new(), Vec::new()));
    let keep = |_, result: ShardResult| {
        let mut played = played.lock().expect("no lane panics");
        played.0.extend(result.games);
        played.1.extend(result.positions);
        Ok(())
    };
    play(&job, &shards_of(4, 4), 1, &keep, &Silent).expect("plays");
    let (games, positions) = played.into_inner().expect("no lane panics");
    let games = write_table(folder, "games.parquet", &games, &Provenance::new()).expect("writes");
    let positions = write_table(folder, "positions.parquet", &positions, &Provenance::new()).expect("writes");
    (read_entry(folder, &games).expect("reads"), read_entry(folder, &positions).expect("reads"))
}

fn trained(
    spec: &NetworkSpec,
    games: &[GameRow],
    positions: &[PositionRow],
    state_path: &Path,
) -> Checkpoint {
    let params = TrainParams { updates: 2, batch: 16, validation_fraction: 0.0, ..TrainParams::default() };
    let mut samples = Samples::new(spec.input(), &params).expect("room for samples");
    samples.add(Part { name: "games", source: 0, weight: 1.0, games, positions }).expect("sound games");
    let start =
        Checkpoint { weights: initial_weights(spec, SEED), spec: spec.clone(), provenance: Value::group() };
    let job = TrainJob {
        params: &params,
        start: &start,
        samples: &samples,
        seed: SEED,
        threads: 1,
        device: Device::Cpu,
        carried: None,
        state_path,
    };
    let trained = train(job, &Silent).expect("trains");
    let last = trained.summary.last;
    assert!(last.loss.is_finite() && last.value_loss > 0.0, "{last:?}");
    assert_eq!(last.moves_left_loss > 0.0, spec.moves_left_head.is_some(), "{last:?}");
    assert_ne!(trained.weights, start.weights);
    Checkpoint { weights: trained.weights, ..start }
}

#[test]
fn every_net_trains_and_gives_equal_answers_after_storing_and_exporting() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (games, rows) = stored_games(folder.path());
    assert!(
        games.iter().any(|game| game.reason != Reason::PlyCap.into()),
        "some games must end by themselves"
    );
    let (path, state) = (folder.path().join("net.safetensors"), folder.path().join("state"));
    let onnx_path = folder.path().join("net.onnx");
    for spec in matrix() {
        let net = trained(&spec, &games, &rows, &state);
        std::fs::remove_file(&state).expect("the trainer leaves its state");
        net.save(&path).expect("saves");
        let LoadedCheckpoint { checkpoint: loaded, digest } = Checkpoint::load(&path).expect("loads");
        assert_eq!(loaded, net);
        let model =
            OnnxModel::export(&net.spec, &net.weights, Some(&digest), InputForm::Packed).expect("exports");
        model.save(&onnx_path).expect("saves");
        let model = OnnxModel::load(&onnx_path).expect("loads");
        assert_eq!(model.encoding(), spec.input());
        let mut onnx = OnnxEvaluator::new(&onnx_library(), &model, OnnxOptions::default()).expect("loads");
        let batch = positions(&spec.input(), 0..8);
        let expected = in_floats(&net.spec, &net.weights, 0..8);
        let difference = largest_difference(&evaluate(&mut onnx, &batch), &expected);
        assert!(difference <= 1e-4, "{}: {difference}", spec.to_value().canonical());
        assert_eq!(expected.moves_left.len(), if spec.moves_left_head.is_some() { 8 } else { 0 });
    }
}
