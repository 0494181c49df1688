//! The tensors of a net as a few long ones. An update touches every tensor some ten times, and a device takes as long for a short
//! tensor as for one of a million numbers.

use std::collections::{BTreeMap, BTreeSet};

use tch::{Device, Kind, TchError, Tensor};

#[cfg(test)]
use crate::network::Init;
use crate::network::graph::{Graph, Op};
use crate::network::torch::{Net, TorchError, download, upload};
use crate::network::{NetworkSpec, TensorRole, TensorSpec, WeightTensor, Weights, hidden_weights, layout};

/// Every tensor starts at a multiple of so many numbers, 256 bytes, as libtorch's own allocations do.
const ALIGNMENT: usize = 64;

/// Tensors of a kind, one after the other, with zeros between them.
#[derive(Debug)]
pub(super) struct FlatTensor {
    pub(super) parts: Vec<Part>,
    /// `[N]`: all numbers; those of trained tensors record gradients.
    pub(super) numbers: Tensor,
    kind: PartKind,
}

/// A tensor in a [`FlatTensor`].
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    shape: Vec<usize>,
    start: usize,
    length: usize,
}

/// What the tensors in a [`FlatTensor`] have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PartKind {
    is_trained: bool,
    /// Whether they are weights of convolutions and dense layers, or embeddings.
    is_weight: bool,
    /// If they are weights of hidden layers, the matrices of each.
    matrices: Option<usize>,
    /// Whether mixed precision casts them to 16 bits.
    is_cast: bool,
}

impl Part {
    /// The number after the zeros that follow it.
    fn end(&self) -> usize {
        (self.start + self.length).next_multiple_of(ALIGNMENT)
    }

    /// Its numbers among all of those of a [`FlatTensor`], in its shape.
    pub(super) fn view(&self, numbers: &Tensor) -> Result<Tensor, TchError> {
        self.shaped(&numbers.f_narrow(0, self.start as i64, self.length as i64)?)
    }

    /// As [`view`](Self::view), as so many matrices `[out, in]` of equal size; that of a convolution is `[out, in · height · width]`.
    pub(super) fn matrices(&self, numbers: &Tensor, count: usize) -> Result<Vec<Tensor>, TchError> {
        let rows = self.shape[0] / count;
        self.view(numbers)?.f_view([count as i64, rows as i64, -1])?.f_unbind(0)
    }

    fn shaped(&self, numbers: &Tensor) -> Result<Tensor, TchError> {
        numbers.f_view(self.shape.iter().map(|axis| *axis as i64).collect::<Vec<_>>().as_slice())
    }
}

impl FlatTensor {
    fn new(
        specs: &[TensorSpec],
        kind: PartKind,
        weights: &Weights,
        device: Device,
    ) -> Result<Self, TchError> {
        let (mut parts, mut start) = (Vec::with_capacity(specs.len()), 0);
        for spec in specs {
            let part = Part { name: spec.name.clone(), shape: spec.shape.clone(), start, length: spec.len() };
            start = part.end();
            parts.push(part);
        }
        let flat = Self { parts, numbers: Tensor::new(), kind };
        let mut numbers = flat.upload(|name| weights.get(name), device)?;
        Ok(Self { numbers: numbers.f_requires_grad_(kind.is_trained)?, ..flat })
    }

    /// One tensor alone, for tests; with two axes or more it is the weight of a hidden layer.
    #[cfg(test)]
    pub(super) fn of_one(tensor: &Tensor) -> Self {
        let WeightTensor { shape, data } = download(tensor).expect("it is on the CPU");
        let is_weight = shape.len() >= 2;
        let kind = PartKind { is_trained: true, is_weight, matrices: is_weight.then_some(1), is_cast: true };
        let (name, role) = ("w".to_owned(), TensorRole::Weight);
        let spec = TensorSpec { name: name.clone(), role, shape: shape.clone(), init: Init::Constant(0.0) };
        let weights = Weights::from([(name, WeightTensor { shape, data })]);
        Self::new(&[spec], kind, &weights, Device::Cpu).expect("it is on the CPU")
    }

    /// Whether its tensors are weights or embeddings, and no biases.
    pub(super) fn are_weights(&self) -> bool {
        self.kind.is_weight
    }

    /// If its tensors are weights of hidden layers, the [matrices](Graph::hidden_matrices) of each.
    pub(super) fn matrices(&self) -> Option<usize> {
        self.kind.matrices
    }

    /// Numbers in the places of its own, on a device; 0 where `find` has none.
    pub(super) fn upload<'a>(
        &self,
        find: impl Fn(&str) -> Option<&'a WeightTensor>,
        device: Device,
    ) -> Result<Tensor, TchError> {
        let mut numbers = vec![0.0; self.parts.last().map_or(0, Part::end)];
        for part in &self.parts {
            if let Some(tensor) = find(&part.name) {
                numbers[part.start..part.start + part.length].copy_from_slice(&tensor.data);
            }
        }
        let shape = vec![numbers.len()];
        upload(&WeightTensor { shape, data: numbers }, device)
    }

    /// Numbers in the places of its own as plain ones, by the names of the tensors.
    pub(super) fn download(&self, numbers: &Tensor) -> Result<Weights, TchError> {
        let numbers = download(numbers)?.data;
        let tensor = |part: &Part| WeightTensor {
            shape: part.shape.clone(),
            data: numbers[part.start..part.start + part.length].to_vec(),
        };
        Ok(self.parts.iter().map(|part| (part.name.clone(), tensor(part))).collect())
    }

    /// Its tensors by name, of `numbers` in the places of its own. Their gradients come to those numbers in one step.
    fn split(&self, numbers: &Tensor) -> Result<BTreeMap<&str, Tensor>, TchError> {
        let sizes: Vec<i64> = self
            .parts
            .iter()
            .flat_map(|part| [part.length, part.end() - part.start - part.length])
            .map(|size| size as i64)
            .collect();
        let pieces = numbers.f_split_with_sizes(sizes.as_slice(), 0)?;
        let tensors = self.parts.iter().zip(pieces.iter().step_by(2));
        tensors.map(|(part, piece)| Ok((part.name.as_str(), part.shaped(piece)?))).collect()
    }
}

/// A net in training.
#[derive(Debug)]
pub(super) struct FlatNet {
    /// Its tensors are views of the flat ones, without gradients.
    net: Net,
    tensors: Vec<FlatTensor>,
}

impl FlatNet {
    /// Puts weights on a device; they must match the spec exactly.
    pub(super) fn new(spec: &NetworkSpec, weights: &Weights, device: Device) -> Result<Self, TorchError> {
        let net = Net::from_weights(spec, weights, device)?;
        let library = |source| TorchError::Library { doing: "putting weights on the device", source };
        Self::of(&net, weights, device).map_err(library)
    }

    fn of(net: &Net, weights: &Weights, device: Device) -> Result<Self, TchError> {
        let (in_full, hidden) = (summing_layers(&net.spec), hidden_weights(&net.spec));
        let mut kinds: BTreeMap<PartKind, Vec<TensorSpec>> = BTreeMap::new();
        for spec in layout(&net.spec) {
            let kind = PartKind {
                is_trained: spec.is_trained(),
                is_weight: spec.role.is_weight(),
                matrices: hidden.get(&spec.name).copied(),
                is_cast: !spec.role.is_batch_norm() && !in_full.contains(&spec.name),
            };
            kinds.entry(kind).or_default().push(spec);
        }
        let tensors = kinds
            .into_iter()
            .map(|(kind, specs)| FlatTensor::new(&specs, kind, weights, device))
            .collect::<Result<Vec<_>, TchError>>()?;
        let mut views = BTreeMap::new();
        for tensor in &tensors {
            let numbers = tensor.numbers.f_detach()?;
            for part in &tensor.parts {
                views.insert(part.name.as_str(), part.view(&numbers)?);
            }
        }
        let net = net.with_tensors(|name, _| Ok(views[name].shallow_clone()))?;
        Ok(Self { net, tensors })
    }

    /// All tensors.
    pub(super) fn tensors(&self) -> &[FlatTensor] {
        &self.tensors
    }

    /// The tensors that gradients change.
    pub(super) fn trained(&self) -> impl Iterator<Item = &FlatTensor> {
        self.tensors.iter().filter(|tensor| tensor.kind.is_trained)
    }

    /// As [`FlatNet::trained`].
    pub(super) fn trained_mut(&mut self) -> impl Iterator<Item = &mut FlatTensor> {
        self.tensors.iter_mut().filter(|tensor| tensor.kind.is_trained)
    }

    /// The net to run, whose gradients come to [`FlatNet::trained`] and whose running statistics are those of this one; in mixed
    /// precision with its convolutions and dense layers in `kind`, but for an nnue's first layers, which add up thirty numbers.
    pub(super) fn unfolded(&self, kind: Kind) -> Result<Net, TchError> {
        let mut tensors = BTreeMap::new();
        for flat in self.trained() {
            if flat.kind.is_cast {
                tensors.append(&mut flat.split(&flat.numbers.f_to_kind(kind)?)?);
            } else {
                tensors.append(&mut flat.split(&flat.numbers)?);
            }
        }
        let found = |name: &str, view: &Tensor| tensors.get(name).unwrap_or(view).shallow_clone();
        self.net.with_tensors(|name, view| Ok(found(name, view)))
    }

    /// The weights as plain numbers, by name.
    pub(super) fn to_weights(&self) -> Result<Weights, TchError> {
        let mut weights = Weights::new();
        for tensor in &self.tensors {
            weights.append(&mut tensor.download(&tensor.numbers)?);
        }
        Ok(weights)
    }
}

/// The names of the tensors of an nnue's first layers.
fn summing_layers(spec: &NetworkSpec) -> BTreeSet<String> {
    let layers = Graph::of_training(spec).layers;
    let summing = layers.iter().filter(|layer| matches!(layer.op, Op::Accumulate { .. }));
    summing
        .flat_map(|layer| [TensorRole::Weight, TensorRole::Bias].map(|role| layer.tensor_name(role)))
        .collect()
}
