//! Stored training states: exact, and rejected if damaged or of another training.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::network::{WeightTensor, Weights};
use crate::trainer::torch::report::{Meter, Report, TrainingRow, ValidationRow};
use crate::trainer::torch::state::{AverageState, OptimizerState, State, updates_done};
use crate::trainer::{AverageKind, OptimizerKind, TrainError};

fn weights(name: &str, data: &[f32]) -> Weights {
    [(name.to_owned(), WeightTensor { shape: vec![1, data.len()], data: data.to_vec() })].into()
}

/// The numbers of a row about an update. Thirds and the like have no exact decimal form, so a round trip through text would show.
fn numbers<const COLUMNS: usize>(update: f64) -> [f64; COLUMNS] {
    std::array::from_fn(|column| if column == 0 { update } else { 1.0 / column as f64 })
}

fn state() -> State {
    let row = TrainingRow::from_numbers(numbers(10.0));
    let row = TrainingRow { policy_entropy: f64::MIN_POSITIVE, gradient_norm: 1e300, ..row };
    let validation = ValidationRow { batch_norm_gap: -0.29, ..ValidationRow::from_numbers(numbers(0.0)) };
    let meter = Meter { gradient_norms: 0.123, updates: 3.0, ..Meter::default() };
    let report = Report { curve: vec![row; 3], validation: vec![validation], meter };
    let tensors = weights("first.stem.conv.weight", &[1e-40, -0.0, 3.5]);
    let optimizer = OptimizerState { kind: OptimizerKind::AdamW, updates: 1 << 40, tensors };
    let average = Some(AverageState {
        kind: AverageKind::Ema,
        steps: 9,
        weights: weights("stem.conv.weight", &[0.3, 0.0, 1.0]),
    });
    State { done: 13, net: weights("stem.conv.weight", &[0.1, -2.0, 1e30]), optimizer, average, report }
}

/// A folder and the file of [`state`] in it.
fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("a.state");
    state().save(&path, "me").expect("saves");
    (folder, path)
}

fn load(path: &Path, identity: &str) -> Result<Option<State>, TrainError> {
    State::load(path, identity)
}

#[test]
fn a_state_round_trips_exactly_and_equal_states_are_equal_bytes() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (path, other) = (folder.path().join("a.state"), folder.path().join("b.state"));
    state().save(&path, "me").expect("saves");
    state().save(&other, "me").expect("saves");
    assert_eq!(load(&path, "me").expect("loads"), Some(state()));
    assert_eq!(fs::read(&path).expect("reads"), fs::read(&other).expect("reads"));
}

#[test]
fn without_a_file_there_is_no_state() {
    let folder = tempfile::tempdir().expect("temporary folder");
    assert_eq!(load(&folder.path().join("none"), "me").expect("no error"), None);
}

#[test]
fn the_updates_of_a_state_are_read_from_its_header() {
    let (folder, path) = saved();
    assert_eq!(updates_done(&path), Some(13));
    let whole = std::fs::read(&path).expect("reads");
    std::fs::write(&path, &whole[..whole.len() - 4]).expect("writes");
    assert_eq!(updates_done(&path), Some(13));
    std::fs::write(&path, b"no state at all").expect("writes");
    assert_eq!((updates_done(&path), updates_done(&folder.path().join("none"))), (None, None));
}

#[test]
fn the_state_of_another_training_is_rejected() {
    let (_folder, path) = saved();
    let error = load(&path, "you").expect_err("rejected");
    assert!(matches!(error, TrainError::OtherState { .. }), "{error}");
}

#[test]
fn a_truncated_state_is_rejected() {
    let (_folder, path) = saved();
    let bytes = fs::read(&path).expect("reads");
    for length in [0, 7, 20, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).expect("writes");
        let error = load(&path, "me").expect_err("rejected");
        assert!(matches!(error, TrainError::StateDamaged { .. }), "{length} bytes: {error}");
    }
}

/// Every byte counts, also those of names, shapes and the heading; some bytes, such as spaces after the header, mean nothing.
#[test]
fn a_changed_byte_anywhere_is_noticed_or_changes_nothing() {
    let (_folder, path) = saved();
    let bytes = fs::read(&path).expect("reads");
    let mut noticed = 0;
    for position in 0..bytes.len() {
        let bit = position % 8;
        let mut changed = bytes.clone();
        changed[position] ^= 1 << bit;
        fs::write(&path, &changed).expect("writes");
        match load(&path, "me") {
            Ok(found) => assert_eq!(found, Some(state()), "bit {bit} of byte {position}"),
            Err(error) => {
                noticed += 1;
                let text = error.to_string();
                assert!(text.contains("to have") && text.contains("start over"), "{text}");
            }
        }
    }
    assert!(noticed * 10 > bytes.len() * 9, "{noticed} of {} bytes", bytes.len());
}

#[test]
fn a_state_of_an_earlier_version_says_so() {
    let (_folder, path) = saved();
    let mut bytes = fs::read(&path).expect("reads");
    let field = br#"\"version\":"#;
    let start = bytes.windows(field.len()).position(|window| window == field).expect("a version");
    bytes[start + field.len()] = b'1';
    fs::write(&path, bytes).expect("writes");
    let error = load(&path, "me").expect_err("another version");
    assert!(matches!(error, TrainError::StateVersion { found: 1, expected: 7, .. }), "{error}");
}
