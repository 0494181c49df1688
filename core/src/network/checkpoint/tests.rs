//! Round trips and errors of checkpoints.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Checkpoint, CheckpointError, LoadedCheckpoint, load_tensors, save_tensors};
use crate::network::samples::spec_of;
use crate::network::{TensorProblem, WeightTensor, Weights, initial_weights, layout, parameter_count};
use crate::params::Value;
use crate::rng::Seed;

fn checkpoint() -> Checkpoint {
    let spec = spec_of(1, 8);
    let weights = initial_weights(&spec, Seed { run: 1, step: 2 });
    let origin = [("generation".to_owned(), Value::Int(3)), ("loss".to_owned(), Value::Float(0.5))];
    Checkpoint { spec, weights, provenance: Value::Group(origin.into()) }
}

/// A folder and the weights file in it.
fn saved(checkpoint: &Checkpoint) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("net.safetensors");
    checkpoint.save(&path).expect("saves");
    (folder, path)
}

fn load_error(path: &Path) -> CheckpointError {
    Checkpoint::load(path).expect_err("must not load")
}

fn edit_manifest(path: &Path, from: &str, to: &str) {
    let manifest = path.with_extension("json");
    let text = fs::read_to_string(&manifest).expect("manifest");
    assert!(text.contains(from), "{text}");
    fs::write(manifest, text.replace(from, to)).expect("writes");
}

/// Replaces a checkpoint's tensors and its digest.
fn replace_weights(path: &Path, weights: &Weights) {
    let old = crate::durable::digest(&fs::read(path).expect("weights"));
    let new = save_tensors(path, weights).expect("saves");
    edit_manifest(path, &old, &new);
}

fn problems(error: CheckpointError) -> Vec<TensorProblem> {
    match error {
        CheckpointError::Tensors { source, .. } => source.0,
        other => panic!("expected problems with tensors, got {other}"),
    }
}

#[test]
fn rounded_checkpoints_are_half_as_large_and_near_the_exact_ones() {
    let (folder, path) = saved(&checkpoint());
    let half = folder.path().join("half.safetensors");
    let digest = checkpoint().save_rounded(&half).expect("saves");
    let loaded = Checkpoint::load(&half).expect("loads");
    assert_eq!((&loaded.checkpoint.spec, &loaded.digest), (&checkpoint().spec, &digest));
    let size = |path: &Path| fs::metadata(path).expect("exists").len();
    assert!(2 * size(&half) < size(&path) + 20_000, "{} and {}", size(&half), size(&path));
    for (name, tensor) in &checkpoint().weights {
        for (exact, rounded) in tensor.data.iter().zip(&loaded.checkpoint.weights[name].data) {
            // Eleven binary digits, or the distance of the smallest numbers.
            let bound = (exact.abs() * 2f32.powi(-11)).max(2f32.powi(-25));
            assert!((exact - rounded).abs() <= bound, "{name}: {exact} became {rounded}");
        }
    }
    let again = folder.path().join("again.safetensors");
    assert_eq!(loaded.checkpoint.save_rounded(&again).expect("saves"), digest);
    let mut large = checkpoint();
    large.weights.get_mut("stem.conv.weight").expect("in the layout").data[3] = 70_000.0;
    let found = large.save_rounded(&again).expect_err("too large").to_string();
    assert!(found.contains("reach 65,504, found 7e4 at index 3 of stem.conv.weight;"), "{found}");
}

#[test]
fn checkpoints_round_trip_and_saving_again_gives_the_same_bytes() {
    let (folder, path) = saved(&checkpoint());
    let LoadedCheckpoint { checkpoint: loaded, digest } = Checkpoint::load(&path).expect("loads");
    assert_eq!(loaded, checkpoint());
    let again = folder.path().join("again.safetensors");
    assert_eq!(loaded.save(&again).expect("saves"), digest);
    for extension in ["safetensors", "json"] {
        let bytes = [&path, &again].map(|path| fs::read(path.with_extension(extension)).expect("reads"));
        assert_eq!(bytes[0], bytes[1], "{extension}");
    }
    assert_eq!(digest, crate::durable::digest(&fs::read(&path).expect("reads")));
}

#[test]
fn the_manifest_describes_the_net() {
    let (_folder, path) = saved(&checkpoint());
    let text = fs::read_to_string(path.with_extension("json")).expect("manifest");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["spec"]["tower"]["filters"], 8);
    assert_eq!(json["provenance"]["generation"], 3);
    let trained: usize = checkpoint()
        .weights
        .iter()
        .filter(|(name, _)| !name.contains("running"))
        .map(|(_, tensor)| tensor.data.len())
        .sum();
    assert_eq!(json["parameters"], trained);
}

#[test]
fn a_manifest_has_the_parameter_count_of_its_spec() {
    let (_folder, path) = saved(&checkpoint());
    let count = parameter_count(&checkpoint().spec);
    edit_manifest(&path, &format!("\"parameters\": {count}"), "\"parameters\": 5");
    let error = load_error(&path);
    let is_count =
        matches!(error, CheckpointError::Parameters { expected, found: 5, .. } if expected == count);
    assert!(is_count, "{error}");
}

#[test]
fn the_parameter_count_of_a_small_net_matches_a_count_by_hand() {
    // stem 8·20·9 + 16; block 2·(8·8·9 + 16); SE 8·2 + 2 and 2·16 + 16; policy 8·8 + 16 and 73·8 + 73;
    // value 32·8 + 64, 2048·256 + 256 and 256·3 + 3.
    let expected = 1_440 + 16 + 2 * 592 + 18 + 48 + 80 + 657 + 320 + 524_544 + 771;
    assert_eq!(parameter_count(&spec_of(1, 8)), expected);
}

#[test]
fn a_missing_file_is_named() {
    for extension in ["safetensors", "json"] {
        let (_folder, path) = saved(&checkpoint());
        fs::remove_file(path.with_extension(extension)).expect("removes");
        match load_error(&path) {
            CheckpointError::Missing { file } => assert_eq!(file, path.with_extension(extension)),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_flipped_bit_in_the_weights_is_detected() {
    let (_folder, path) = saved(&checkpoint());
    let mut bytes = fs::read(&path).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("writes");
    let error = load_error(&path);
    assert!(matches!(error, CheckpointError::Digest { .. }), "{error}");
}

#[test]
fn a_truncated_manifest_is_rejected() {
    let (_folder, path) = saved(&checkpoint());
    let manifest = path.with_extension("json");
    let text = fs::read_to_string(&manifest).expect("reads");
    fs::write(&manifest, &text[..text.len() / 2]).expect("writes");
    assert!(matches!(load_error(&path), CheckpointError::Manifest { .. }));
}

#[test]
fn a_newer_version_is_reported_as_such() {
    let (_folder, path) = saved(&checkpoint());
    edit_manifest(&path, "\"version\": 1", "\"version\": 2, \"news\": true");
    let error = load_error(&path);
    assert!(matches!(error, CheckpointError::Version { .. }), "{error}");
    assert!(error.to_string().contains("expected format dc0-network version 1"), "{error}");
}

#[test]
fn a_net_trained_on_another_version_of_its_encoding_is_rejected() {
    let (_folder, path) = saved(&checkpoint());
    edit_manifest(&path, "\"encoding_version\": 1", "\"encoding_version\": 2");
    let error = load_error(&path).to_string();
    let expected = "expected version 1 of the encoding dc0-20, found version 2 of the encoding dc0-20";
    assert!(error.contains(expected), "{error}");
    // A file without a version has version 1.
    edit_manifest(&path, "  \"encoding_version\": 2,\n", "");
    assert!(Checkpoint::load(&path).is_ok());
}

#[test]
fn an_invalid_spec_is_rejected() {
    let (_folder, path) = saved(&checkpoint());
    edit_manifest(&path, "\"filters\": 8", "\"filter\": 8");
    let error = load_error(&path);
    assert!(matches!(error, CheckpointError::Spec { .. }), "{error}");
}

#[test]
fn missing_surplus_and_misshapen_tensors_are_reported_together() {
    let (_folder, path) = saved(&checkpoint());
    let mut weights = checkpoint().weights;
    let bias = weights.remove("value.dense2.bias").expect("exists");
    weights.insert("value.dense3.bias".to_owned(), bias);
    weights.get_mut("stem.conv.weight").expect("exists").shape = vec![8, 20, 9];
    replace_weights(&path, &weights);
    let found = problems(load_error(&path));
    let [shape, missing, surplus] = &found[..] else { panic!("expected three problems, got {found:?}") };
    assert_eq!(shape.name(), "stem.conv.weight");
    assert_eq!(*missing, TensorProblem::Missing { name: "value.dense2.bias".to_owned(), expected: vec![3] });
    assert_eq!(*surplus, TensorProblem::Surplus { name: "value.dense3.bias".to_owned(), found: vec![3] });
}

#[test]
fn non_finite_values_are_neither_written_nor_read() {
    let (_folder, path) = saved(&checkpoint());
    let mut broken = checkpoint();
    broken.weights.get_mut("policy.bn1.bias").expect("exists").data[5] = f32::INFINITY;
    let before = fs::read(&path).expect("reads");
    let found = problems(broken.save(&path).expect_err("must not save"));
    assert!(matches!(&found[..], [TensorProblem::NotFinite { index: 5, .. }]), "{found:?}");
    assert_eq!(before, fs::read(&path).expect("reads"), "nothing was written");

    let mut bytes = before;
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, &bytes).expect("writes");
    let error = load_tensors(&path).expect_err("must not load");
    assert!(matches!(&problems(error)[..], [TensorProblem::NotFinite { .. }]));
}

#[test]
fn other_dtypes_are_rejected() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("half.safetensors");
    let view =
        safetensors::tensor::TensorView::new(safetensors::Dtype::BF16, vec![2], &[0; 4]).expect("fits");
    fs::write(&path, safetensors::serialize([("x", view)], None).expect("serialises")).expect("writes");
    let found = problems(load_tensors(&path).expect_err("must not load"));
    assert_eq!(found, [TensorProblem::Dtype { name: "x".to_owned(), found: "BF16".to_owned() }]);
}

#[test]
fn a_file_that_is_not_safetensors_is_an_error() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("text.safetensors");
    fs::write(&path, "hello").expect("writes");
    assert!(matches!(load_tensors(&path), Err(CheckpointError::Format { .. })));
}

#[test]
fn another_extension_is_rejected() {
    assert!(matches!(load_error(Path::new("net.json")), CheckpointError::Extension { .. }));
}

#[test]
fn loose_tensors_round_trip_with_any_names_and_shapes() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("state.safetensors");
    let tensor = |shape: &[usize], data: &[f32]| WeightTensor { shape: shape.to_vec(), data: data.to_vec() };
    let tensors: Weights =
        [("momentum/a".to_owned(), tensor(&[2, 1], &[1.0, -0.0])), ("step".to_owned(), tensor(&[], &[7.0]))]
            .into();
    let digest = save_tensors(&path, &tensors).expect("saves");
    assert_eq!(load_tensors(&path).expect("loads"), (tensors, digest));
}

#[test]
fn tensor_names_are_unique() {
    let tensors = layout(&spec_of(1, 8));
    let names: std::collections::BTreeSet<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names.len(), tensors.len());
}
