//! Exported nets on ONNX Runtime, called from Python and from dc0, compared with libtorch; and wrong libraries.
//! `cargo xtask test` installs ONNX Runtime; without it these tests fail and say so.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::net_fixtures::{
    evaluate, in_floats, largest_difference, matrix, onnx_library, positions, trained_weights,
};
use crate::program::{PROGRAM, dc0_run, root, succeed};
use crate::{interop_python, interop_script, stdout_of};
use dc0_core::encoding::PlaneKind;
use dc0_core::network::onnx::{InputForm, OnnxEvaluator, OnnxLibrary, OnnxModel, OnnxOptions};
use dc0_core::network::{
    Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, TowerSpec, ValueHead, Weights,
};
use dc0_core::params::Param;
use serde_json::json;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn onnx(spec: &NetworkSpec, weights: &Weights, form: InputForm, threads: u32) -> OnnxEvaluator {
    let model = OnnxModel::export(spec, weights, None, form).expect("exports");
    OnnxEvaluator::new(&onnx_library(), &model, OnnxOptions { threads }).expect("loads")
}

fn small_net() -> (NetworkSpec, Weights) {
    let tower = TowerSpec { blocks: 2, filters: 32, ..TowerSpec::default() };
    let spec = NetworkSpec { tower, ..NetworkSpec::default() };
    let weights = trained_weights(&spec);
    (spec, weights)
}

/// Positions and libtorch's answers, for `run_onnx.py`.
fn case(spec: &NetworkSpec, batch: &Batch, out: &Evaluations) -> serde_json::Value {
    let encoding = spec.input();
    let rows = || 0..batch.len();
    let (bits, scalars) = (encoding.binary_count(), encoding.scalar_count());
    json!({
        "spec": spec.to_value(),
        "value": match spec.value_head.kind { ValueHead::Wdl => "wdl", ValueHead::Scalar => "value" },
        "is_binary": encoding.planes().iter().map(|plane| plane.kind() == PlaneKind::Binary).collect::<Vec<_>>(),
        "binary": rows().map(|row| &batch.binary[row * bits..(row + 1) * bits]).collect::<Vec<_>>(),
        "scalars": rows().map(|row| &batch.scalars[row * scalars..(row + 1) * scalars]).collect::<Vec<_>>(),
        "legal": rows().map(|row| batch.legal[batch.legal_range(row)].iter().map(|index| index.get()).collect()).collect::<Vec<Vec<u16>>>(),
        "policy": rows().map(|row| &out.policy[batch.legal_range(row)]).collect::<Vec<_>>(),
        "wdl": out.wdl.iter().map(|wdl| [wdl.win, wdl.draw, wdl.loss]).collect::<Vec<_>>(),
        "moves_left": out.moves_left,
    })
}

#[test]
fn onnx_runtime_in_python_agrees_with_libtorch() {
    let folder = tempfile::tempdir().expect("a folder");
    let nets = matrix();
    for (number, spec) in nets.iter().enumerate() {
        let weights = trained_weights(spec);
        let batch = positions(&spec.input(), 0..6);
        let out = in_floats(spec, &weights, 0..6);
        let path = |end: &str| folder.path().join(format!("{number:03}.{end}"));
        std::fs::write(path("json"), case(spec, &batch, &out).to_string()).expect("writes");
        for form in [InputForm::Planes, InputForm::Packed] {
            let model = OnnxModel::export(spec, &weights, None, form).expect("exports");
            model.save(&path(&format!("{}.onnx", form.name()))).expect("writes");
        }
    }
    let out = interop_script("run_onnx.py", folder.path());
    assert!(out.starts_with(&format!("{} files agree", 2 * nets.len())), "{out}");
}

#[test]
fn onnx_runtime_in_dc0_agrees_with_libtorch() {
    for spec in matrix() {
        let weights = trained_weights(&spec);
        let batch = positions(&spec.input(), 0..9);
        let expected = in_floats(&spec, &weights, 0..9);
        for form in [InputForm::Planes, InputForm::Packed] {
            let found = evaluate(&mut onnx(&spec, &weights, form, 1), &batch);
            let difference = largest_difference(&found, &expected);
            assert!(difference <= 1e-4, "{form:?} {}: {difference}", spec.to_value().canonical());
        }
    }
}

#[test]
fn the_comparison_detects_changed_weights() {
    let (spec, mut weights) = small_net();
    let batch = positions(&spec.input(), 0..9);
    let expected = in_floats(&spec, &weights, 0..9);
    weights.get_mut("stem.bn.bias").expect("in the layout").data[3] += 0.1;
    let found = evaluate(&mut onnx(&spec, &weights, InputForm::Planes, 1), &batch);
    assert!(largest_difference(&found, &expected) > 1e-4);
}

#[test]
fn answers_do_not_depend_on_batch_position_or_threads() {
    let (spec, weights) = small_net();
    let [mut one, mut two] = [1, 2].map(|threads| onnx(&spec, &weights, InputForm::Planes, threads));
    let first = evaluate(&mut one, &positions(&spec.input(), 0..17));
    let other = evaluate(&mut one, &positions(&spec.input(), (50..66).chain(0..1)));
    let moves = positions(&spec.input(), 0..1).legal.len();
    assert_eq!(first.policy[..moves], other.policy[other.policy.len() - moves..]);
    assert_eq!(first.wdl[0], other.wdl[16]);
    let again = evaluate(&mut two, &positions(&spec.input(), 0..17));
    assert_eq!((first.policy, first.wdl), (again.policy, again.wdl));
}

#[test]
fn both_input_forms_agree_for_every_batch_size() {
    let (spec, weights) = small_net();
    let mut planes = onnx(&spec, &weights, InputForm::Planes, 1);
    let mut packed = onnx(&spec, &weights, InputForm::Packed, 1);
    for rows in [3, 64, 1, 0, 200, 2] {
        let batch = positions(&spec.input(), 0..rows);
        let (a, b) = (evaluate(&mut planes, &batch), evaluate(&mut packed, &batch));
        assert_eq!((a.policy.len(), a.wdl.len()), (batch.legal.len(), batch.len()));
        assert_eq!((a.policy, a.wdl), (b.policy, b.wdl), "{rows} rows");
    }
}

#[test]
fn non_finite_answers_are_rejected() {
    let (spec, mut weights) = small_net();
    for name in ["value.dense1.weight", "value.dense2.weight"] {
        weights.get_mut(name).expect("in the layout").data.fill(1e30);
    }
    let found = onnx(&spec, &weights, InputForm::Planes, 1)
        .evaluate(&positions(&spec.input(), 0..2), &mut Evaluations::default());
    assert!(matches!(found, Err(EvaluatorError::NotFinite { row: 0 })), "{found:?}");
}

#[test]
fn a_second_library_is_refused() {
    let library = onnx_library();
    let again = OnnxLibrary::load(library.path()).expect("the same one");
    assert_eq!(again.version(), library.version());
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("libonnxruntime.so");
    std::fs::copy(library.path(), &other).expect("copies");
    let error = OnnxLibrary::load(&other).expect_err("a second one").to_string();
    assert!(error.contains("cannot be loaded beside"), "{error}");
}

/// A shared library that claims to be ONNX Runtime of some version.
fn fake_library(folder: &Path, version: &str) -> PathBuf {
    let (source, library) = (folder.join("fake.c"), folder.join("libonnxruntime.so"));
    let code = format!(
        "static const char *version(void) {{ return \"{version}\"; }}\n\
         static const void *api(unsigned wanted) {{ return 0; }}\n\
         static const void *const base[] = {{ (void *)api, (void *)version }};\n\
         const void *OrtGetApiBase(void) {{ return base; }}\n"
    );
    std::fs::write(&source, code).expect("writes");
    let mut compiler = Command::new("cc");
    succeed(compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source));
    library
}

fn doctor(onnxruntime: &Path, out: &Path) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("doctor").arg("--out").arg(out).arg("--onnxruntime").arg(onnxruntime);
    command.output().expect("starts")
}

#[test]
fn doctor_reports_a_working_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = onnx_library();
    let output = doctor(library.path(), folder.path());
    let printed = text(&output.stdout);
    let expected = format!("{} from {}; a game on it works", library.version(), library.path().display());
    // The other lines are about this machine, which may have little free space.
    let is_fine = |line: &str| line.starts_with("ok     ONNX Runtime") && line.contains(&expected);
    assert!(printed.lines().any(is_fine), "{printed}");
}

#[test]
fn doctor_reports_a_broken_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |path: &Path, expected: &str| {
        let output = doctor(path, folder.path());
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains("WRONG  ONNX Runtime") && printed.contains(expected), "{printed}");
    };
    let least = OnnxLibrary::MIN_MINOR_VERSION;
    let old = fake_library(folder.path(), "1.16.3");
    check(&old, &format!("expected ONNX Runtime 1.{least} or newer, found 1.16.3"));
    check(&folder.path().join("nothing.so"), "no such library of ONNX Runtime");
    std::fs::write(folder.path().join("text.so"), "text").expect("writes");
    check(&folder.path().join("text.so"), "cannot be loaded as the library of ONNX Runtime");
}

#[test]
fn a_library_that_fakes_its_version_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = doctor(&fake_library(folder.path(), "1.99.0"), folder.path());
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("ONNX Runtime 1.99.0 does not start"), "{printed}");
}

/// The backend that the analysis server chooses for the shipped residual net with this cache folder, and a value by it.
fn chosen(cache: &Path) -> (String, f64) {
    let mut command = Command::new(PROGRAM);
    command.args(["analysis", "--net", "shipped:az_small", "--device", "cpu", "--backend", "auto"]);
    command.arg("--onnxruntime").arg(onnx_library().path()).env("XDG_CACHE_HOME", cache);
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let queries = concat!(
        r#"{"id":"version","action":"query_version"}"#,
        "\n",
        r#"{"id":"value","moves":["e2e4","e7e5","d1h5"],"search":{"simulations":1}}"#,
        "\n"
    );
    server.stdin.take().expect("a pipe").write_all(queries.as_bytes()).expect("writes");
    let output = server.wait_with_output().expect("ends");
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    let answers: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let answer = |id: &str| answers.iter().find(|answer| answer["id"] == id).expect("an answer");
    let backend = answer("version")["backend"].as_str().expect("text").to_owned();
    (backend, answer("value")["root"]["net_value"].as_f64().expect("a number"))
}

#[test]
fn the_automatic_backend_is_the_faster_one_as_measured_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("dc0/calibration.json");
    let (measured, _) = chosen(folder.path());
    let read = || -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_slice(&std::fs::read(&file).expect("was written")).expect("JSON")
    };
    let known = read();
    let [(key, speeds)] = known.iter().collect::<Vec<_>>()[..] else {
        panic!("one net, one entry: {known:?}")
    };
    let [torch, onnx] = ["torch", "onnx"].map(|name| speeds[name].as_f64().expect("a speed"));
    let expected = if onnx > 1.1 * torch { "ONNX Runtime" } else { "libtorch" };
    assert!(torch > 0.0 && onnx > 0.0 && measured.starts_with(expected), "{measured}, {speeds}");
    // What was measured is not measured again.
    let with = |torch: f64, onnx: f64| {
        std::fs::write(&file, json!({ key.as_str(): { "torch": torch, "onnx": onnx } }).to_string())
            .expect("writes");
        let found = chosen(folder.path());
        assert_eq!(read()[key.as_str()]["torch"], torch);
        found
    };
    let (first, value) = with(1.0, 1000.0);
    let (second, other) = with(1000.0, 1.0);
    assert!(first.starts_with("ONNX Runtime") && second.starts_with("libtorch"), "{first}, {second}");
    // libtorch works in bf16, which moves values of the shipped net by up to some hundredths.
    assert!((value - other).abs() < 0.05, "{value} {other}");
}

fn export(net: &str, out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["export", "onnx", net, "--out"]).arg(out).args(more);
    command
}

#[test]
fn a_net_of_a_run_is_exported_and_loaded_again() {
    let folder = tempfile::tempdir().expect("a folder");
    succeed(dc0_run("tests/data/tiny.rhai", folder.path()).args(["--device", "cpu"]));
    let run = folder.path().join("tiny");
    let run = run.to_str().expect("a path in UTF-8");
    let path = folder.path().join("net.onnx");
    let printed = stdout_of(&mut export(run, &path, &[]));
    for line in [
        "ONNX operator set 17",
        "se_resnet 1×8",
        "input    input float32 [batch, 20, 8, 8]",
        "output   wdl float32 [batch, 3]",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
    let first = std::fs::read(&path).expect("a file");
    succeed(&mut export(run, &path, &["--packed"]));
    assert_ne!(std::fs::read(&path).expect("a file"), first, "the packed form replaces the file");
    succeed(&mut export(&format!("{run}:0"), &path, &[]));
    let model = OnnxModel::load(&path).expect("reads");
    let mut evaluator = OnnxEvaluator::new(&onnx_library(), &model, OnnxOptions::default()).expect("loads");
    assert_eq!(evaluate(&mut evaluator, &positions(&model.encoding(), 0..2)).wdl.len(), 2);

    let refused = |net: &str, out: &str, code: i32, expected: &str| {
        let output = export(net, &folder.path().join(out), &[]).output().expect("starts");
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{err}");
        assert!(err.contains(expected), "{err}");
    };
    refused(&format!("{run}:99"), "x.onnx", 2, "has no generation 99; its generations are 0 to");
    refused("no-such-run", "x.onnx", 2, "is neither a file ending in .safetensors nor a run");
    refused(run, "x.txt", 2, "expected a name that ends in .onnx");
    refused(&format!("{run}/nothing.safetensors"), "x.onnx", 3, "nothing");
    std::fs::create_dir(folder.path().join("y.onnx")).expect("a folder in the way");
    refused(run, "y.onnx", 2, "cannot be written");
}

#[test]
fn inspect_reads_an_onnx_file_and_rejects_damaged_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.onnx");
    let (spec, weights) = small_net();
    let model = OnnxModel::export(&spec, &weights, Some("0123456789"), InputForm::Packed).expect("exports");
    model.save(&path).expect("writes");
    let inspect = |more: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.arg("inspect").arg(&path).arg("--onnxruntime").arg(onnx_library().path()).args(more);
        command
    };
    let printed = stdout_of(&mut inspect(&[]));
    for line in [
        "weights  01234567",
        "input    scalars float32 [batch, 1]",
        "runs     on ONNX Runtime",
        "se_resnet 2×32",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
    let json: serde_json::Value = serde_json::from_str(&stdout_of(&mut inspect(&["--json"]))).expect("JSON");
    assert_eq!(json["spec"]["tower"]["filters"], 32);
    assert_eq!(json["inputs"][0], "input uint64 [batch, 19]");
    let refused = |bytes: &[u8], expected: &str| {
        std::fs::write(&path, bytes).expect("writes");
        let output = inspect(&[]).output().expect("starts");
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{printed}");
        assert!(printed.contains(expected), "{printed}");
    };
    refused(&model.bytes()[..model.bytes().len() - 100], "expected an ONNX file");
    refused(b"not a message", "expected an ONNX file");
    // A sound message with a graph (field 7) and nothing else, as another program might write it.
    refused(&[0x3a, 0x02, 0x12, 0x00], "found none of its metadata (`format`)");
    // The operator of the last node (`Softmax`) becomes an unknown one.
    let damaged = text_replaced(model.bytes(), b"Softmax", b"Saftmax");
    refused(&damaged, "cannot load the net");
}

/// The same bytes with every `from` replaced by a `to` of the same length.
fn text_replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let offsets: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!offsets.is_empty());
    for at in offsets {
        bytes[at..at + from.len()].copy_from_slice(to);
    }
    bytes
}

#[test]
fn code_blocks_of_the_python_guide_run_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("tests/data")).expect("a folder");
    let script = "tests/data/tiny.rhai";
    std::fs::copy(root().join(script), folder.path().join(script)).expect("copies");
    std::os::unix::fs::symlink(PROGRAM, folder.path().join("dc0-run")).expect("links");
    let found = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths([folder.path().to_owned()].into_iter().chain(std::env::split_paths(&found)));
    let mut python = Command::new(interop_python());
    python.arg(root().join("tests/interop/run_guide.py")).arg(root().join("docs/guides/python.md"));
    let printed =
        stdout_of(python.current_dir(folder.path()).env("PATH", path.expect("folders without colons")));
    assert!(printed.contains("ran 7 shell blocks and 12 of Python"), "{printed}");
}
