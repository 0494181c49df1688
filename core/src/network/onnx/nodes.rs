//! Builds the nodes and constants of an ONNX graph.

use super::proto::{
    ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_INTS, ATTRIBUTE_STRING, AttributeProto, Dimension, FLOAT,
    INT64, NodeProto, TensorProto, TensorShapeProto, TensorType, TypeProto, UINT64, ValueInfoProto,
};
use crate::network::WeightTensor;

/// The name of the batch axis of every input and output.
const BATCH: &str = "batch";

/// A graph's nodes and constants. Every node has one output with the node's name.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) nodes: Vec<NodeProto>,
    pub(super) constants: Vec<TensorProto>,
}

impl Nodes {
    /// Adds an operation and returns the name of its output, which is `name`.
    pub(super) fn add(
        &mut self,
        op: &str,
        name: impl Into<String>,
        inputs: &[&str],
        attributes: impl Into<Vec<AttributeProto>>,
    ) -> String {
        let name = name.into();
        self.nodes.push(NodeProto {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: vec![name.clone()],
            name: Some(name.clone()),
            op_type: Some(op.to_owned()),
            attribute: attributes.into(),
        });
        name
    }

    /// Adds weights under a name, which is returned.
    pub(super) fn weights(&mut self, name: impl Into<String>, tensor: &WeightTensor) -> String {
        self.floats(name, &tensor.shape, &tensor.data)
    }

    /// Adds a tensor of 32-bit floats.
    pub(super) fn floats(&mut self, name: impl Into<String>, shape: &[usize], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name.into(), FLOAT, shape, bytes)
    }

    /// Adds integers, such as a shape: `[N]`.
    pub(super) fn integers(&mut self, name: impl Into<String>, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name.into(), INT64, &[values.len()], bytes)
    }

    /// Adds a 32-bit float scalar.
    pub(super) fn number(&mut self, name: impl Into<String>, value: f32) -> String {
        self.floats(name, &[], &[value])
    }

    /// Adds an integer scalar; as the index of `Gather` it removes the axis.
    pub(super) fn index(&mut self, name: impl Into<String>, value: i64) -> String {
        self.constant(name.into(), INT64, &[], value.to_le_bytes().to_vec())
    }

    /// Adds unsigned integers: `[N]`.
    pub(super) fn unsigned(&mut self, name: impl Into<String>, values: &[u64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name.into(), UINT64, &[values.len()], bytes)
    }

    fn constant(&mut self, name: String, data_type: i32, shape: &[usize], bytes: Vec<u8>) -> String {
        self.constants.push(TensorProto {
            dims: shape.iter().map(|axis| *axis as i64).collect(),
            data_type: Some(data_type),
            name: Some(name.clone()),
            raw_data: Some(bytes),
        });
        name
    }
}

/// An integer attribute.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), ..attribute(name, ATTRIBUTE_INT) }
}

/// An attribute that is a list of integers.
pub(super) fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { ints: values.to_vec(), ..attribute(name, ATTRIBUTE_INTS) }
}

/// A float attribute.
pub(super) fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto { f: Some(value), ..attribute(name, ATTRIBUTE_FLOAT) }
}

/// A text attribute.
pub(super) fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: Some(value.as_bytes().to_vec()), ..attribute(name, ATTRIBUTE_STRING) }
}

fn attribute(name: &str, kind: i32) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), kind: Some(kind), ..AttributeProto::default() }
}

/// An input or output `[batch, axes…]`.
pub(super) fn batched(name: &str, about: &str, data_type: i32, axes: &[usize]) -> ValueInfoProto {
    let batch = Dimension { dim_param: Some(BATCH.to_owned()), dim_value: None };
    let fixed = axes.iter().map(|axis| Dimension { dim_value: Some(*axis as i64), dim_param: None });
    let shape = TensorShapeProto { dim: std::iter::once(batch).chain(fixed).collect() };
    let tensor = TensorType { elem_type: Some(data_type), shape: Some(shape) };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto { tensor_type: Some(tensor) }),
        doc_string: Some(about.to_owned()),
    }
}
