//! Weights as plain numbers by tensor name, and checks against a net's layout.

use std::collections::BTreeMap;

use thiserror::Error;

use super::tensor::TensorSpec;

/// One tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightTensor {
    /// The shape; its product is the length of `data`.
    pub shape: Vec<usize>,
    /// The values in row-major order: the last axis varies fastest.
    pub data: Vec<f32>,
}

/// Tensors by name.
pub type Weights = BTreeMap<String, WeightTensor>;

/// One problem with one tensor.
#[derive(Debug, Clone, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TensorProblem {
    #[error("{name}: missing; expected shape {expected:?}")]
    Missing { name: String, expected: Vec<usize> },
    #[error("{name}: the net has no such tensor; found shape {found:?}")]
    Surplus { name: String, found: Vec<usize> },
    /// A tensor's shape differs from the net's, or its number of values from its shape.
    #[error("{name}: expected shape {expected:?}, found {found:?} with {values} values")]
    Shape { name: String, expected: Vec<usize>, found: Vec<usize>, values: usize },
    #[error("{name}: expected floats of 32 or 16 bits (F32 or F16), found {found}; convert the tensor")]
    Dtype { name: String, found: String },
    #[error(
        "{name}: expected finite values, found {value} at index {index}; go back to an earlier checkpoint"
    )]
    NotFinite {
        name: String,
        /// The index of the first such value in row-major order.
        index: usize,
        value: f32,
    },
}

impl TensorProblem {
    /// The tensor that the problem is about.
    pub fn name(&self) -> &str {
        match self {
            Self::Missing { name, .. }
            | Self::Surplus { name, .. }
            | Self::Shape { name, .. }
            | Self::Dtype { name, .. }
            | Self::NotFinite { name, .. } => name,
        }
    }
}

/// All problems with a set of tensors.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{} with the tensors; the weights belong to another net or are damaged{}", count(.0.len()), list(.0))]
pub struct TensorProblems(pub Vec<TensorProblem>);

fn count(problems: usize) -> String {
    if problems == 1 { "1 problem".to_owned() } else { format!("{problems} problems") }
}

fn list(problems: &[TensorProblem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

/// Reports every difference between tensors and a layout, and every value that is not finite.
pub fn check_against(tensors: &Weights, layout: &[TensorSpec]) -> Result<(), TensorProblems> {
    let expected: BTreeMap<&str, &TensorSpec> =
        layout.iter().map(|spec| (spec.name.as_str(), spec)).collect();
    let mut problems: Vec<TensorProblem> =
        layout.iter().filter_map(|spec| check_one(spec, tensors.get(&spec.name))).collect();
    let surplus = tensors.iter().filter(|(name, _)| !expected.contains_key(name.as_str()));
    problems.extend(
        surplus
            .map(|(name, tensor)| TensorProblem::Surplus { name: name.clone(), found: tensor.shape.clone() }),
    );
    if problems.is_empty() { Ok(()) } else { Err(TensorProblems(problems)) }
}

fn check_one(spec: &TensorSpec, given: Option<&WeightTensor>) -> Option<TensorProblem> {
    let name = spec.name.clone();
    let Some(given) = given else {
        return Some(TensorProblem::Missing { name, expected: spec.shape.clone() });
    };
    if given.shape != spec.shape || given.data.len() != spec.len() {
        let (expected, found) = (spec.shape.clone(), given.shape.clone());
        return Some(TensorProblem::Shape { name, expected, found, values: given.data.len() });
    }
    not_finite(&spec.name, &given.data)
}

/// A problem for the first value that is NaN or infinite.
pub(super) fn not_finite(name: &str, data: &[f32]) -> Option<TensorProblem> {
    let index = data.iter().position(|value| !value.is_finite())?;
    Some(TensorProblem::NotFinite { name: name.to_owned(), index, value: data[index] })
}
