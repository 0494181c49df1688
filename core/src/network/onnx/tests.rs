//! The structure of exported files, and errors of invalid ones. `tests/interop/onnx.rs` runs the files.

use std::collections::BTreeSet;
use std::path::Path;

use prost::Message;

use super::proto::{ModelProto, StringStringEntryProto};
use super::{InputForm, OnnxError, OnnxLibrary, OnnxLibraryError, OnnxModel};
use crate::network::samples::{all_kinds, spec_of, trained_weights};
use crate::network::{NetworkSpec, Tower, ValueHead};

fn model(spec: &NetworkSpec, form: InputForm) -> OnnxModel {
    OnnxModel::export(spec, &trained_weights(spec), Some("0123"), form).expect("valid weights")
}

fn decoded(model: &OnnxModel) -> ModelProto {
    ModelProto::decode(model.bytes()).expect("our own bytes")
}

#[test]
fn every_node_reads_earlier_values_and_names_are_unique() {
    for spec in all_kinds() {
        for form in [InputForm::Planes, InputForm::Packed] {
            let graph = decoded(&model(&spec, form)).graph.expect("a graph");
            let mut known: BTreeSet<String> =
                graph.input.iter().map(|input| input.name.clone().expect("a name")).collect();
            for constant in graph.initializer {
                let name = constant.name.expect("a name");
                assert!(known.insert(name.clone()), "{name} twice");
                let values: i64 = constant.dims.iter().product();
                let bytes = if constant.data_type == Some(super::proto::FLOAT) { 4 } else { 8 };
                assert_eq!(constant.raw_data.expect("values").len() as i64, bytes * values, "{name}");
            }
            for node in graph.node {
                let missing = node.input.iter().find(|input| !known.contains(*input));
                assert_eq!(missing, None, "{:?}", node.name);
                assert!(known.insert(node.output[0].clone()), "{:?} twice", node.output);
            }
            for output in graph.output {
                assert!(known.contains(&output.name.expect("a name")));
            }
        }
    }
}

#[test]
fn equal_nets_give_equal_bytes_and_others_do_not() {
    let spec = spec_of(1, 8);
    assert_eq!(model(&spec, InputForm::Planes).bytes(), model(&spec, InputForm::Planes).bytes());
    let mut weights = trained_weights(&spec);
    weights.get_mut("value.dense2.bias").expect("in the layout").data[0] += 1.0;
    let other = OnnxModel::export(&spec, &weights, Some("0123"), InputForm::Planes).expect("valid weights");
    assert_ne!(model(&spec, InputForm::Planes).bytes(), other.bytes());
}

#[test]
fn a_stored_file_describes_its_net() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.onnx");
    for mut spec in all_kinds() {
        if spec.tower.kind != Tower::Nnue {
            spec.tower.blocks = 1;
        }
        for form in [InputForm::Planes, InputForm::Packed] {
            model(&spec, form).save(&path).expect("writes");
            let read = OnnxModel::load(&path).expect("reads");
            assert_eq!((read.spec(), read.form(), read.weights_digest()), (&spec, form, Some("0123")));
            let lines =
                |tensors: Vec<super::Tensor>| tensors.iter().map(ToString::to_string).collect::<Vec<_>>();
            let inputs: &[&str] = match form {
                InputForm::Planes => &["input float32 [batch, 20, 8, 8]"],
                InputForm::Packed => &["input uint64 [batch, 19]", "scalars float32 [batch, 1]"],
            };
            assert_eq!(lines(read.inputs()), inputs);
            let mut outputs = vec!["policy float32 [batch, 4672]"];
            outputs.push(match spec.value_head.kind {
                ValueHead::Wdl => "wdl float32 [batch, 3]",
                ValueHead::Scalar => "value float32 [batch, 1]",
            });
            outputs.extend(spec.moves_left_head.is_some().then_some("moves_left float32 [batch, 1]"));
            assert_eq!(lines(read.outputs()), outputs);
        }
    }
}

/// The error of reading a changed file.
fn load_error(change: impl FnOnce(&mut ModelProto)) -> OnnxError {
    let mut file = decoded(&model(&spec_of(0, 8), InputForm::Planes));
    change(&mut file);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.onnx");
    std::fs::write(&path, file.encode_to_vec()).expect("writes");
    OnnxModel::load(&path).expect_err("the file is invalid")
}

/// Changes or removes an entry of the file's metadata.
fn set_metadata(file: &mut ModelProto, key: &str, value: Option<String>) {
    file.metadata_props.retain(|entry| entry.key.as_deref() != Some(key));
    let entry = value.map(|value| StringStringEntryProto { key: Some(key.to_owned()), value: Some(value) });
    file.metadata_props.extend(entry);
}

#[test]
fn files_from_other_programs_versions_and_nets_have_their_own_errors() {
    let foreign = load_error(|file| file.metadata_props.clear());
    assert!(matches!(foreign, OnnxError::Foreign { missing: "format", .. }), "{foreign}");
    let newer = load_error(|file| set_metadata(file, "format", Some("dc0-onnx 7".to_owned())));
    assert!(newer.to_string().contains("expected format dc0-onnx 1, found format dc0-onnx 7"), "{newer}");
    let form = load_error(|file| set_metadata(file, "input", Some("waves".to_owned())));
    assert!(form.to_string().contains("an input of planes or packed, found waves"), "{form}");
    let encoding = load_error(|file| {
        let spec = spec_of(0, 8);
        let unknown = crate::params::Param::to_value(&spec).canonical().replace("dc0-20", "xyz-99");
        set_metadata(file, "spec", Some(unknown));
        set_metadata(file, "encoding", Some("xyz-99".to_owned()));
    });
    assert!(encoding.to_string().contains("its net reads xyz-99, side_to_move"), "{encoding}");
    let version = load_error(|file| set_metadata(file, "encoding_version", Some("7".to_owned())));
    let text = version.to_string();
    assert!(text.contains("expected version 1 of the encoding dc0-20, found version 7 of"), "{text}");
    let spec = load_error(|file| set_metadata(file, "spec", Some("{".to_owned())));
    assert!(matches!(spec, OnnxError::Format { .. }), "{spec}");
}

#[test]
fn a_file_with_changed_inputs_or_outputs_is_rejected() {
    let renamed = load_error(|file| {
        file.graph.as_mut().expect("a graph").output[1].name = Some("value".to_owned());
    });
    let text = renamed.to_string();
    assert!(
        text.contains("expected policy float32 [batch, 4672], wdl float32 [batch, 3] by its spec")
            && text.contains("found policy float32 [batch, 4672], value float32 [batch, 3]"),
        "{text}"
    );
    let dropped = load_error(|file| file.graph.as_mut().expect("a graph").input.clear());
    assert!(matches!(dropped, OnnxError::Tensors { .. }), "{dropped}");
    let empty = load_error(|file| file.graph = None);
    assert!(matches!(empty, OnnxError::Format { .. }), "{empty}");
}

#[test]
fn a_file_that_is_not_onnx_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.onnx");
    assert!(matches!(OnnxModel::load(&path), Err(OnnxError::Read { .. })));
    std::fs::write(&path, "a text that is no protobuf message").expect("writes");
    assert!(matches!(OnnxModel::load(&path), Err(OnnxError::Format { .. })));
    std::fs::write(&path, "").expect("writes");
    assert!(matches!(OnnxModel::load(&path), Err(OnnxError::Format { .. })));
}

#[test]
fn weights_of_another_net_are_rejected() {
    let weights = trained_weights(&spec_of(1, 8));
    let error = OnnxModel::export(&spec_of(2, 8), &weights, None, InputForm::Planes);
    assert!(matches!(error, Err(OnnxError::Weights(_))));
}

#[test]
fn a_missing_or_wrong_library_is_an_error_each_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("libonnxruntime.so");
    std::fs::write(&text, "a text").expect("writes");
    let other = if cfg!(target_os = "macos") { "libSystem.B.dylib" } else { "libm.so.6" };
    for _ in 0..2 {
        let missing = OnnxLibrary::load(&folder.path().join("nothing.so")).expect_err("no file");
        assert!(matches!(missing, OnnxLibraryError::Missing { .. }), "{missing}");
        assert!(missing.to_string().contains("pip install onnxruntime"), "{missing}");
        for wrong in [text.as_path(), folder.path(), Path::new("libno-such-library.so")] {
            let error = OnnxLibrary::load(wrong).expect_err("no library");
            assert!(matches!(error, OnnxLibraryError::NotLoadable { .. }), "{error}");
        }
        let error = OnnxLibrary::load(Path::new(other)).expect_err("not ONNX Runtime");
        assert!(matches!(error, OnnxLibraryError::NotOnnxRuntime { .. }), "{error}");
    }
}
