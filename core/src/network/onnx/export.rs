//! Exports a net as ONNX: layers with batch norm folded, input as planes or packed bits, heads by name.

use prost::Message;

use super::layers::{Writer, as_plain};
use super::metadata::{self, InputForm};
use super::nodes::{Nodes, int, text};
use super::proto::{FLOAT, GraphProto, IR_VERSION, ModelProto, OPSET, OperatorSetIdProto};
use super::{INPUT, MOVES_LEFT, OnnxError, POLICY, SCALARS, VALUE, WDL};
use crate::encoding::Encoding;
use crate::network::graph::Graph;
use crate::network::{MOVES_LEFT_SCALE, NetworkSpec, ValueHead, Weights, check_against, layout};

/// The largest protobuf message.
const MAX_BYTES: usize = i32::MAX as usize;

/// The bytes of an ONNX file: the same net gives the same bytes.
///
/// `digest` is the blake3 digest of the stored weights, for people and tools; `None` if the net was never stored.
pub(super) fn export(
    spec: &NetworkSpec,
    weights: &Weights,
    digest: Option<&str>,
    form: InputForm,
) -> Result<Vec<u8>, OnnxError> {
    check_against(weights, &layout(spec))?;
    let model = ModelProto {
        ir_version: Some(IR_VERSION),
        producer_name: Some("dc0".to_owned()),
        producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        doc_string: Some(ABOUT.to_owned()),
        graph: Some(graph(spec, weights, form)),
        opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: Some(OPSET) }],
        metadata_props: metadata::properties(spec, digest, form),
    };
    let bytes = model.encoded_len();
    if bytes > MAX_BYTES {
        return Err(OnnxError::TooLarge { bytes, limit: MAX_BYTES });
    }
    Ok(model.encode_to_vec())
}

const ABOUT: &str =
    "A chess net of dc0. Its metadata says which planes it reads; policy index = plane * 64 + from-square.";

fn graph(spec: &NetworkSpec, weights: &Weights, form: InputForm) -> GraphProto {
    let (encoding, graph) = (spec.input(), Graph::new(spec));
    let mut nodes = Nodes::default();
    let input = match form {
        InputForm::Planes => INPUT.to_owned(),
        InputForm::Packed => unpack(&mut nodes, &encoding),
    };
    let mut writer = Writer { nodes, graph: &graph, weights, values: vec![as_plain(input)] };
    graph.layers.iter().for_each(|layer| writer.layer(layer));
    heads(&mut writer, spec.value_head.kind);
    GraphProto {
        name: Some("dc0".to_owned()),
        input: metadata::inputs(&encoding, form),
        output: metadata::outputs(spec),
        node: writer.nodes.nodes,
        initializer: writer.nodes.constants,
    }
}

/// Adds the heads' final activations under the names of the outputs.
fn heads(writer: &mut Writer<'_>, value_head: ValueHead) {
    let graph = writer.graph;
    // A flattened board of 73 planes is in policy order; a flat policy is unchanged.
    let policy = writer.plain(graph.policy);
    writer.nodes.add("Flatten", POLICY, &[&policy], [int("axis", 1)]);
    let value = writer.plain(graph.value);
    match value_head {
        ValueHead::Wdl => writer.nodes.add("Softmax", WDL, &[&value], [int("axis", 1)]),
        ValueHead::Scalar => writer.nodes.add("Tanh", VALUE, &[&value], []),
    };
    if let Some(moves_left) = graph.moves_left {
        let input = writer.plain(moves_left);
        let scale = writer.nodes.number("moves_left.scale", MOVES_LEFT_SCALE as f32);
        let units = writer.nodes.add("Softplus", "moves_left.units", &[&input], []);
        writer.nodes.add("Mul", MOVES_LEFT, &[&units, &scale], []);
    }
}

/// Expands packed bits and scalars to `[B, P, 8, 8]`.
fn unpack(nodes: &mut Nodes, encoding: &Encoding) -> String {
    let last = nodes.integers("input.last", &[2]);
    let column = nodes.add("Unsqueeze", "input.column", &[INPUT, &last], []);
    // Shift each square's bit to the top, then down to bit 0: these operators are older than a bitwise `and`.
    let up: Vec<u64> = (0..64).map(|square| 63 - square).collect();
    let (up, down) = (nodes.unsigned("input.up", &up), nodes.unsigned("input.down", &[63]));
    let top = nodes.add("BitShift", "input.top", &[&column, &up], [text("direction", "LEFT")]);
    let bits = nodes.add("BitShift", "input.bits", &[&top, &down], [text("direction", "RIGHT")]);
    let mut planes = nodes.add("Cast", "input.binary", &[&bits], [int("to", i64::from(FLOAT))]);
    if encoding.scalar_count() > 0 {
        let column = nodes.add("Unsqueeze", "scalars.column", &[SCALARS, &last], []);
        let ones = nodes.floats("scalars.squares", &[64], &[1.0; 64]);
        let spread = nodes.add("Mul", "scalars.spread", &[&column, &ones], []);
        let stored = nodes.add("Concat", "input.stored", &[&planes, &spread], [int("axis", 1)]);
        let order = nodes.integers("input.order", &encoding.stored_order());
        planes = nodes.add("Gather", "input.ordered", &[&stored, &order], [int("axis", 1)]);
    }
    let board = nodes.integers("input.board", &[0, encoding.planes().len() as i64, 8, 8]);
    nodes.add("Reshape", "input.planes", &[&planes, &board], [])
}
