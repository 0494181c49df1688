//! The metadata, inputs and outputs of dc0's ONNX files.

use std::collections::BTreeMap;
use std::fmt;

use prost::Message;

use super::nodes::batched;
use super::proto::{FLOAT, ModelHeading, StringStringEntryProto, UINT64, ValueInfoProto};
use super::{INPUT, MOVES_LEFT, OnnxError, POLICY, SCALARS, VALUE, WDL};
use crate::encoding::{Encoding, POLICY_SIZE, PlaneKind};
use crate::network::{NetworkSpec, ValueHead};
use crate::param_enum;
use crate::params::{self, Param, Value};

/// The metadata `format`, with the version of everything that dc0 adds to ONNX.
const FORMAT: &str = "dc0-onnx 1";

param_enum! {
    /// The format of a file's input.
    pub enum InputForm {
        /// 32-bit floats `[B, P, 8, 8]`.
        Planes = "planes",
        /// A 64-bit number per binary plane `[B, binary planes]` (a1 is the lowest bit), and a 32-bit float per scalar plane.
        Packed = "packed",
    }
}

/// An input or output of a file, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub kind: &'static str,
    /// Its axes after the batch axis.
    pub axes: Vec<i64>,
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: String = self.axes.iter().map(|axis| format!(", {axis}")).collect();
        write!(f, "{} {} [batch{axes}]", self.name, self.kind)
    }
}

/// The metadata of a file.
pub(super) fn properties(
    spec: &NetworkSpec,
    digest: Option<&str>,
    form: InputForm,
) -> Vec<StringStringEntryProto> {
    let encoding = spec.input();
    let planes = encoding.planes().iter().map(|plane| Value::Text(plane.describe(spec.orientation)));
    let is_scalar = encoding.planes().iter().map(|plane| Value::Bool(plane.kind() == PlaneKind::Scalar));
    let mut texts = BTreeMap::from([
        ("format", FORMAT.to_owned()),
        ("encoding", spec.encoding.name().to_owned()),
        ("encoding_version", spec.encoding.version().to_string()),
        ("history", encoding.history().to_string()),
        ("orientation", spec.orientation.name().to_owned()),
        ("planes", Value::List(planes.collect()).canonical()),
        ("planes_scalar", Value::List(is_scalar.collect()).canonical()),
        ("input", form.name().to_owned()),
        ("spec", spec.to_value().canonical()),
    ]);
    if let Some(digest) = digest {
        texts.insert("weights_blake3", digest.to_owned());
    }
    let entry = |(key, value): (&str, String)| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value),
    };
    texts.into_iter().map(entry).collect()
}

/// The inputs of a net.
pub(super) fn inputs(encoding: &Encoding, form: InputForm) -> Vec<ValueInfoProto> {
    if form == InputForm::Planes {
        let about = "planes of the encoding, square a1 first, rank by rank";
        return vec![batched(INPUT, about, FLOAT, &[encoding.planes().len(), 8, 8])];
    }
    let about = "one number for each binary plane, square a1 is the lowest bit";
    let mut inputs = vec![batched(INPUT, about, UINT64, &[encoding.binary_count()])];
    if encoding.scalar_count() > 0 {
        inputs.push(batched(SCALARS, "the value of each scalar plane", FLOAT, &[encoding.scalar_count()]));
    }
    inputs
}

/// The outputs of a net.
pub(super) fn outputs(spec: &NetworkSpec) -> Vec<ValueInfoProto> {
    let policy = "logits, legal or not; index = plane * 64 + from-square";
    let mut outputs = vec![batched(POLICY, policy, FLOAT, &[POLICY_SIZE])];
    outputs.push(match spec.value_head.kind {
        ValueHead::Wdl => {
            batched(WDL, "probabilities of win, draw and loss for the side to move", FLOAT, &[3])
        }
        ValueHead::Scalar => batched(VALUE, "P(win) - P(loss) for the side to move", FLOAT, &[1]),
    });
    if spec.moves_left_head.is_some() {
        outputs.push(batched(MOVES_LEFT, "expected plies to the end of the game", FLOAT, &[1]));
    }
    outputs
}

/// What a file's metadata says about its net.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) spec: NetworkSpec,
    pub(super) form: InputForm,
    /// The blake3 digest of the stored weights, if the net was stored.
    pub(super) digest: Option<String>,
}

impl Heading {
    /// Reads the heading of a file and compares inputs and outputs with those of its spec; `net` is the file's name for errors.
    pub(super) fn read(net: &str, bytes: &[u8]) -> Result<Self, OnnxError> {
        let damaged = |cause: String| OnnxError::Format { net: net.to_owned(), cause };
        let file = ModelHeading::decode(bytes).map_err(|cause| damaged(cause.to_string()))?;
        let graph = file.graph.ok_or_else(|| damaged("it has no graph".to_owned()))?;
        let texts = file.metadata_props.into_iter().filter_map(|entry| Some((entry.key?, entry.value?)));
        let heading = Self::from_metadata(net, &texts.collect())?;
        let expected = inputs(&heading.spec.input(), heading.form);
        compare(net, &expected, &graph.input)?;
        compare(net, &outputs(&heading.spec), &graph.output)?;
        Ok(heading)
    }

    fn from_metadata(net: &str, texts: &BTreeMap<String, String>) -> Result<Self, OnnxError> {
        let text = |key: &'static str| {
            let foreign = || OnnxError::Foreign { net: net.to_owned(), missing: key };
            texts.get(key).ok_or_else(foreign)
        };
        let other = |expected: &str, found: &str| {
            let (expected, found) = (expected.to_owned(), found.to_owned());
            OnnxError::Version { net: net.to_owned(), expected, found }
        };
        let format = text("format")?;
        if format != FORMAT {
            return Err(other(&format!("format {FORMAT}"), &format!("format {format}")));
        }
        let form = text("input")?;
        let forms = format!("an input of {}", InputForm::NAMES.join(" or "));
        let form = InputForm::from_name(form).ok_or_else(|| other(&forms, form))?;
        let spec = spec(net, text("spec")?, &format!("{}, {}", text("encoding")?, text("orientation")?))?;
        let (known, found) = (spec.encoding.version().to_string(), text("encoding_version")?);
        if *found != known {
            let version = |number: &str| format!("version {number} of the encoding {}", spec.encoding.name());
            return Err(other(&version(&known), &version(found)));
        }
        Ok(Self { spec, form, digest: texts.get("weights_blake3").cloned() })
    }
}

/// Parses a spec; `encoding` describes the file's encoding in the error for a net that this program does not know.
fn spec(net: &str, text: &str, encoding: &str) -> Result<NetworkSpec, OnnxError> {
    let damaged =
        |cause: serde_json::Error| OnnxError::Format { net: net.to_owned(), cause: cause.to_string() };
    let value: Value = serde_json::from_str(text).map_err(damaged)?;
    let unknown = |source| OnnxError::Spec { net: net.to_owned(), encoding: encoding.to_owned(), source };
    params::read("network", &value).map_err(unknown)
}

fn compare(net: &str, expected: &[ValueInfoProto], found: &[ValueInfoProto]) -> Result<(), OnnxError> {
    let shown = |tensors: &[ValueInfoProto]| {
        tensors.iter().map(|tensor| described(tensor).to_string()).collect::<Vec<_>>().join(", ")
    };
    let (expected, found) = (shown(expected), shown(found));
    if expected == found { Ok(()) } else { Err(OnnxError::Tensors { net: net.to_owned(), expected, found }) }
}

/// An input or output for display; an axis that the file leaves out is −1.
pub(super) fn described(tensor: &ValueInfoProto) -> Tensor {
    let tensor_type = tensor.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let kind = match tensor_type.and_then(|tensor| tensor.elem_type) {
        Some(FLOAT) => "float32",
        Some(UINT64) => "uint64",
        _ => "of another type",
    };
    let dims = tensor_type.and_then(|tensor| tensor.shape.as_ref()).map_or(&[][..], |shape| &shape.dim);
    let axes = dims.iter().skip(1).map(|axis| axis.dim_value.unwrap_or(-1)).collect();
    Tensor { name: tensor.name.clone().unwrap_or_default(), kind, axes }
}
