//! The subset of ONNX's file format that dc0 writes and reads: messages and field numbers of `onnx.proto` (Apache-2.0).
//!
//! The reader skips fields that are not declared here.

use prost::Message;

/// The format's version; 8 belongs to operator set 17, and every ONNX Runtime since 1.14 reads it.
pub(super) const IR_VERSION: i64 = 8;

/// The operator set: the first with `LayerNormalization`, and from before `ReduceMean`'s axes became an input, so that as many
/// programs as possible read the file.
pub(super) const OPSET: i64 = 17;

/// `TensorProto.DataType`: 32-bit floats.
pub(super) const FLOAT: i32 = 1;
/// `TensorProto.DataType`: 64-bit signed integers.
pub(super) const INT64: i32 = 7;
/// `TensorProto.DataType`: 64-bit unsigned integers.
pub(super) const UINT64: i32 = 13;

/// `AttributeProto.AttributeType`: one float.
pub(super) const ATTRIBUTE_FLOAT: i32 = 1;
/// `AttributeProto.AttributeType`: one integer.
pub(super) const ATTRIBUTE_INT: i32 = 2;
/// `AttributeProto.AttributeType`: text.
pub(super) const ATTRIBUTE_STRING: i32 = 3;
/// `AttributeProto.AttributeType`: integers.
pub(super) const ATTRIBUTE_INTS: i32 = 7;

/// A whole file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelProto {
    #[prost(int64, optional, tag = "1")]
    pub(super) ir_version: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) producer_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) producer_version: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) doc_string: Option<String>,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
    #[prost(message, repeated, tag = "14")]
    pub(super) metadata_props: Vec<StringStringEntryProto>,
}

/// A file without its nodes and weights, which is what a reader checks first.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelHeading {
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphHeading>,
    #[prost(message, repeated, tag = "14")]
    pub(super) metadata_props: Vec<StringStringEntryProto>,
}

/// The operator set that a file uses.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, optional, tag = "1")]
    pub(super) domain: Option<String>,
    #[prost(int64, optional, tag = "2")]
    pub(super) version: Option<i64>,
}

/// A metadata entry.
#[derive(Clone, PartialEq, Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, optional, tag = "1")]
    pub(super) key: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) value: Option<String>,
}

/// Nodes in execution order, with their weights.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeProto>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfoProto>,
}

/// The inputs and outputs of a graph.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphHeading {
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfoProto>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) op_type: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
}

/// An attribute of an operation; `kind` says which field is used.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AttributeProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(super) s: Option<Vec<u8>>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(int32, optional, tag = "20")]
    pub(super) kind: Option<i32>,
}

/// A constant tensor; its values are little-endian bytes in row-major order.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) data_type: Option<i32>,
    #[prost(string, optional, tag = "8")]
    pub(super) name: Option<String>,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
}

/// Name, type and shape of an input or output.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) r#type: Option<TypeProto>,
    #[prost(string, optional, tag = "3")]
    pub(super) doc_string: Option<String>,
}

/// A type; dc0 uses only tensors.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor_type: Option<TensorType>,
}

/// A tensor's type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, optional, tag = "1")]
    pub(super) elem_type: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

/// A tensor's shape.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dimension>,
}

/// One axis: a length, or a name if the length is free.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub(super) dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) dim_param: Option<String>,
}
