//! Growing a trained net into a larger one with the same outputs.
//!
//! `Net2Net` (Chen et al. 2016). Wider: new channels are copies of old ones, and the layers that read a copied channel divide its
//! weights among the copies (section 2.2). Deeper: new blocks start as the identity (section 2.3).

use std::ops::Range;

use rand_distr::{Distribution, Normal};
use thiserror::Error;

use super::graph::{Graph, Layer, Op, POLICY_STEM, STEM};
use super::king_buckets::{KingBuckets, problem};
use super::layout::{stream_number, tensors};
use super::spec::check_own_policy_layer;
use super::{
    Accumulator, AuxiliaryHeadsSpec, MovesLeftHeadSpec, NetworkSpec, NnueInputs, TensorRole, Tower,
    WeightTensor, Weights, initial_weights,
};
use crate::params;
use crate::params::{Param as _, Problem};
use crate::rng::{Purpose, Seed};

params! {
    /// How a net grows. Sizes that are left out stay unchanged.
    pub struct GrowParams {
        /// Blocks of the tower.
        blocks: Option<u32> = None, in 0..=256;
        /// Channels of the tower, and of a convolutional policy head without `filters` of its own.
        filters: Option<u32> = None, in 1..=4096;
        /// Channels of the value head's convolution.
        value_filters: Option<u32> = None, in 1..=1024;
        /// Width of the value head's hidden layer.
        value_hidden: Option<u32> = None, in 1..=8192;
        /// What an `nnue` reads: `"threats"` starts as the same net, whatever attacks and defends a piece.
        inputs: Option<NnueInputs> = None;
        /// King buckets of an `nnue`, in the form of `tower.king_buckets`, that divide those that it has: each starts with the weights of the
        /// bucket that it was part of, so the net stays the same.
        king_buckets: Option<Vec<u32>> = None, in 0..=63;
        /// What the first layer of an `nnue`'s policy reads, which becomes one of its own and starts as the layer that it shared.
        policy_inputs: Option<NnueInputs> = None;
        /// Outputs of that layer on each side; `()` for those that the policy had.
        policy_filters: Option<u32> = None, in 1..=4096;
        /// King buckets of that layer, which divide those that the policy had.
        policy_king_buckets: Option<Vec<u32>> = None, in 0..=63;
        /// Auxiliary heads that the net has not and gets, with random weights; `()` for none.
        auxiliary_heads: Option<AuxiliaryHeadsSpec> = None;
        /// The head that predicts the plies left, for a net without one, with random weights; `()` for none.
        moves_left_head: Option<MovesLeftHeadSpec> = None;
        /// Standard deviation of the random change of copied channels, relative to their weights, so that they can learn different
        /// features; 0 keeps the net's outputs exactly, but its copies identical for ever.
        noise: f64 = 0.01, in 0.0..=1.0;
    }
}

impl GrowParams {
    /// The grown net's spec, if the net can grow like this. Heads that it has already are accepted, as a finished step may name them.
    pub fn target(&self, from: &NetworkSpec) -> Result<NetworkSpec, GrowError> {
        let mut spec = from.clone();
        spec.tower.blocks = self.blocks.unwrap_or(spec.tower.blocks);
        spec.tower.filters = self.filters.unwrap_or(spec.tower.filters);
        spec.value_head.filters = self.value_filters.unwrap_or(spec.value_head.filters);
        spec.value_head.hidden = self.value_hidden.unwrap_or(spec.value_head.hidden);
        spec.tower.inputs = self.inputs.unwrap_or(spec.tower.inputs);
        spec.tower.king_buckets = self.king_buckets.clone().unwrap_or(spec.tower.king_buckets);
        spec.policy_head.inputs = self.policy_inputs.or(spec.policy_head.inputs);
        if spec.policy_head.inputs.is_some() && from.policy_head.inputs.is_none() {
            spec.policy_head.king_buckets.clone_from(&from.tower.king_buckets);
        }
        if let Some(buckets) = &self.policy_king_buckets {
            spec.policy_head.king_buckets.clone_from(buckets);
        }
        let filters = self.policy_filters.or(spec.policy_head.filters);
        // An nnue's own policy layer without a width of its own stays as wide as the tower was.
        let is_left_behind = spec.policy_head.inputs.is_some() && spec.tower.filters != from.tower.filters;
        spec.policy_head.filters = filters.or(is_left_behind.then_some(from.tower.filters));
        if let Some(added) = &self.auxiliary_heads {
            let has = spec.auxiliary_heads.get_or_insert_with(|| added.clone());
            has.soft_policy |= added.soft_policy;
            has.reply |= added.reply;
            has.material |= added.material;
        }
        if self.moves_left_head.is_some() {
            spec.moves_left_head.clone_from(&self.moves_left_head);
        }
        check(from, &spec).map(|()| spec)
    }

    /// The grown net's spec for a step that begins, which must not name heads that the net has already.
    pub fn new_target(&self, from: &NetworkSpec) -> Result<NetworkSpec, GrowError> {
        let target = self.target(from);
        let present = present_heads(from, self);
        if present.is_empty() {
            return target;
        }
        let mut problems = target.err().map_or_else(Vec::new, |GrowError(problems)| problems);
        let problem = |name: &str| format!("the net has {name} already; leave it out");
        problems.extend(present.into_iter().map(problem));
        Err(GrowError(problems))
    }
}

/// A net cannot grow as requested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the net cannot grow this way: {}", .0.join("; "))]
pub struct GrowError(Vec<String>);

/// The grown net: the spec [`GrowParams::new_target`] and weights with the smaller net's outputs, up to `noise` and rounding.
///
/// New blocks of a residual tower are the identity only after relu; after mish or swish they change the outputs.
pub fn grow(
    from: &NetworkSpec,
    weights: &Weights,
    params: &GrowParams,
    seed: Seed,
) -> Result<(NetworkSpec, Weights), GrowError> {
    let to = params.new_target(from)?;
    let mut grown = initial_weights(&to, seed);
    let (old, new) = (Graph::of_training(from), Graph::of_training(&to));
    for layer in &new.layers {
        let named = |name: &str| old.layers.iter().find(|before| before.name == name);
        // A policy that gets a first layer of its own begins with the one that it shared.
        let shared = || if layer.name == POLICY_STEM { named(STEM) } else { None };
        let Some(before) = named(&layer.name).or_else(shared) else { continue };
        let inner = if new.reads_flat_board(layer) { 64 } else { 1 };
        let parts = parts_of_buckets(layer, before);
        // An nnue's layers read the outputs of both sides.
        let sides = if new.reads_accumulators(layer) { 2 } else { 1 };
        let input_groups = parts.as_ref().map_or(sides, Vec::len);
        for (tensor, before) in tensors(layer).iter().zip(tensors(before)) {
            // The two halves of an excitation's outputs are scales and shifts, those of pairwise products their factors.
            let has_halves = is_excitation(tensor.role) || has_factors(layer);
            let output_groups = if has_halves { 2 } else { 1 };
            let source = weights.get(&before.name).expect("the weights were checked against the layout");
            let source = match &parts {
                Some(parts) if tensor.role == TensorRole::Weight => &divided(source, parts),
                _ => source,
            };
            let mut axes = axes(output_groups, [input_groups, inner], [&source.shape, &tensor.shape]);
            if let (Op::Accumulate { .. }, Some(inputs)) = (layer.op, axes.get_mut(1)) {
                // A piece is in one state at a time.
                inputs.is_divided = false;
            }
            let mut widened = widen(source, &tensor.shape, &axes);
            let mut stream = seed.stream(stream_number(&tensor.name), Purpose::Growth);
            add_noise(&mut widened, &axes, params.noise, &mut stream);
            grown.insert(tensor.name.clone(), widened);
        }
    }
    Ok((to, grown))
}

/// For each king bucket of an nnue's first layer, the inputs in the columns of the one that it was part of.
fn parts_of_buckets(layer: &Layer, before: &Layer) -> Option<Vec<Range<usize>>> {
    match (layer.op, before.op) {
        (Op::Accumulate { kings, .. }, Op::Accumulate { kings: had, inputs, .. }) => {
            let parts = kings.parts_of(&had).expect("the spec was checked");
            Some(parts.into_iter().map(|part| part * inputs..(part + 1) * inputs).collect())
        }
        _ => None,
    }
}

/// `[W, I]` with these columns.
fn divided(weight: &WeightTensor, columns: &[Range<usize>]) -> WeightTensor {
    let rows = weight.data.chunks_exact(weight.shape[1]);
    let data =
        rows.flat_map(|row| columns.iter().flat_map(move |part| &row[part.clone()])).copied().collect();
    WeightTensor { shape: vec![weight.shape[0], columns.iter().map(Range::len).sum()], data }
}

/// What the policy of an nnue reads, by a layer of its own or a shared one.
fn policy_inputs(spec: &NetworkSpec) -> NnueInputs {
    spec.policy_head.inputs.unwrap_or(spec.tower.inputs)
}

/// The king buckets of that layer.
fn policy_king_buckets(spec: &NetworkSpec) -> &Vec<u32> {
    match spec.policy_head.inputs {
        Some(_) => &spec.policy_head.king_buckets,
        None => &spec.tower.king_buckets,
    }
}

fn is_excitation(role: TensorRole) -> bool {
    matches!(role, TensorRole::ExciteWeight | TensorRole::ExciteBias)
}

fn has_factors(layer: &Layer) -> bool {
    matches!(layer.op, Op::Accumulate { activation: Accumulator::Pairwise, .. })
}

/// The heads among those to be added that the net has.
fn present_heads(from: &NetworkSpec, added: &GrowParams) -> Vec<&'static str> {
    let is_auxiliary = |fits: fn(&AuxiliaryHeadsSpec) -> bool| {
        [&from.auxiliary_heads, &added.auxiliary_heads]
            .into_iter()
            .all(|heads| heads.as_ref().is_some_and(fits))
    };
    let heads = [
        ("a moves_left_head", from.moves_left_head.is_some() && added.moves_left_head.is_some()),
        ("auxiliary_heads.soft_policy", is_auxiliary(|heads| heads.soft_policy)),
        ("auxiliary_heads.reply", is_auxiliary(|heads| heads.reply)),
        ("auxiliary_heads.material", is_auxiliary(|heads| heads.material)),
    ];
    heads.into_iter().filter(|(_, is_present)| *is_present).map(|(name, _)| name).collect()
}

fn check(from: &NetworkSpec, to: &NetworkSpec) -> Result<(), GrowError> {
    let sizes = [
        ("blocks", from.tower.blocks, to.tower.blocks),
        ("filters", from.tower.filters, to.tower.filters),
        ("value_filters", from.value_head.filters, to.value_head.filters),
        ("value_hidden", from.value_head.hidden, to.value_head.hidden),
    ];
    let smaller = sizes.iter().filter(|(_, from, to)| to < from);
    let mut problems: Vec<String> =
        smaller.map(|(name, from, to)| format!("{name} would shrink from {from} to {to}")).collect();
    let is_same_tower = sizes.iter().all(|(_, from, to)| to == from)
        && from.tower.inputs == to.tower.inputs
        && from.tower.king_buckets == to.tower.king_buckets;
    let has_same_heads = from.policy_head == to.policy_head
        && from.auxiliary_heads == to.auxiliary_heads
        && from.moves_left_head == to.moves_left_head;
    if is_same_tower && has_same_heads {
        let message = "nothing would grow; give blocks, filters, value_filters, value_hidden, inputs, king_buckets, policy_inputs, \
                       policy_filters, policy_king_buckets, auxiliary_heads or moves_left_head";
        problems.push(message.to_owned());
    }
    let inputs = [
        ("inputs", from.tower.inputs, to.tower.inputs),
        ("policy_inputs", policy_inputs(from), policy_inputs(to)),
    ];
    for (name, from, to) in inputs {
        if (from, to) == (NnueInputs::Threats, NnueInputs::Pieces) {
            problems.push(format!("{name} would shrink from threats to pieces"));
        }
    }
    let bucket_problems = check_buckets(from, to);
    let has_inputs = to.tower.inputs == NnueInputs::Threats || to.policy_head.inputs.is_some();
    if from.tower.kind != Tower::Nnue && has_inputs {
        problems.push(format!("only an nnue has inputs, not a {}", from.tower.kind.name()));
    }
    if from.tower.kind != Tower::Nnue && from.policy_head.filters != to.policy_head.filters {
        problems.push(format!("only an nnue can grow by policy_filters, not a {}", from.tower.kind.name()));
    }
    if from.tower.kind == Tower::Nnue {
        let widths = [from, to].map(|spec| spec.policy_head.filters.unwrap_or(spec.tower.filters));
        if widths[1] < widths[0] {
            problems.push(format!("policy_filters would shrink from {} to {}", widths[0], widths[1]));
        }
        problems.extend(
            check_own_policy_layer(to).map(|(_, problem)| problem).filter(|_| bucket_problems.is_empty()),
        );
        if from.tower.blocks != to.tower.blocks || from.value_head.filters != to.value_head.filters {
            problems.push("an nnue has neither blocks nor value_filters".to_owned());
        }
        if !to.tower.filters.is_multiple_of(64) {
            problems.push(format!("an nnue takes a multiple of 64 as filters, got {}", to.tower.filters));
        }
    }
    if from.tower.kind == Tower::Transformer && from.tower.filters != to.tower.filters {
        problems.push(
            "a transformer cannot grow by filters, since copied channels change its attention".to_owned(),
        );
    }
    problems.extend(bucket_problems);
    // What holds for every net, once it is clear that it can be grown.
    if problems.is_empty()
        && let Err(errors) = params::read::<NetworkSpec>("grow", &to.to_value())
    {
        let problem = |problem: &Problem| format!("{}: {}", problem.path, problem.message);
        problems.extend(errors.problems.iter().map(problem));
    }
    if problems.is_empty() { Ok(()) } else { Err(GrowError(problems)) }
}

/// What is wrong with the king buckets, if anything.
fn check_buckets(from: &NetworkSpec, to: &NetworkSpec) -> Vec<String> {
    let given =
        [("king_buckets", &to.tower.king_buckets), ("policy_king_buckets", &to.policy_head.king_buckets)];
    if to.tower.kind != Tower::Nnue {
        let given = given.into_iter().filter(|(_, buckets)| !buckets.is_empty());
        let kind = to.tower.kind.name();
        return given.map(|(name, _)| format!("only an nnue has {name}, not a {kind}")).collect();
    }
    let had = [&from.tower.king_buckets, policy_king_buckets(from)];
    let is_layer = [true, to.policy_head.inputs.is_some()];
    let layers = given.into_iter().zip(had).zip(is_layer).filter(|(_, is_layer)| *is_layer);
    let of = |buckets: &[u32]| KingBuckets::new(buckets, to.tower.mirrored);
    let problem = |((name, buckets), had): ((&str, &Vec<u32>), &Vec<u32>)| {
        if let Some(problem) = problem(buckets, to.tower.mirrored) {
            return Some(format!("{name}: {problem}"));
        }
        let [one, other] = of(buckets).parts_of(&of(had)).err()?;
        Some(format!("{name} would join the buckets of {one} and {other}, and a bucket can only be divided"))
    };
    layers.filter_map(|(layer, _)| problem(layer)).collect()
}

/// How one axis of a tensor grows: `groups` runs of `old` channels become runs of `new` channels of `inner` numbers each.
#[derive(Debug, Clone, Copy)]
struct Axis {
    groups: usize,
    old: usize,
    new: usize,
    inner: usize,
    /// Whether copies of a channel divide its weight among them, as those of inputs do that are all added up.
    is_divided: bool,
}

impl Axis {
    /// The index of the old axis that an index of the new axis is copied from.
    fn source(self, index: usize) -> usize {
        let (group, channel, inner) = self.parts(index);
        (group * self.old + channel % self.old) * self.inner + inner
    }

    /// The group, the channel within the group and the inner index.
    fn parts(self, index: usize) -> (usize, usize, usize) {
        let channel = index / self.inner;
        (channel / self.new, channel % self.new, index % self.inner)
    }

    /// The number of copies of the channel at an index, including itself.
    fn copies(self, index: usize) -> usize {
        let (_, channel, _) = self.parts(index);
        (self.new - channel % self.old).div_ceil(self.old)
    }

    fn is_copy(self, index: usize) -> bool {
        self.parts(index).1 >= self.old
    }
}

/// How each axis of a tensor grows, given the number of output groups, of input groups and of numbers per input channel.
fn axes(outputs: usize, [inputs, inner]: [usize; 2], [old, new]: [&[usize]; 2]) -> Vec<Axis> {
    let axis = |dim: usize| {
        let is_input = dim == 1;
        let [groups, inner] = if is_input { [inputs, inner] } else { [outputs, 1] };
        let (old, new) = (old[dim] / groups / inner, new[dim] / groups / inner);
        Axis { groups, old, new, inner, is_divided: is_input }
    };
    (0..old.len()).map(axis).collect()
}

fn widen(source: &WeightTensor, shape: &[usize], axes: &[Axis]) -> WeightTensor {
    let count = shape.iter().product();
    let data = (0..count).map(|flat_index| {
        let (mut rest, mut from, mut stride, mut copies) = (flat_index, 0, 1, 1);
        for (axis, size) in axes.iter().zip(shape).rev() {
            let index = rest % size;
            rest /= size;
            from += axis.source(index) * stride;
            stride *= axis.groups * axis.old * axis.inner;
            copies *= if axis.is_divided { axis.copies(index) } else { 1 };
        }
        source.data[from] / copies as f32
    });
    WeightTensor { shape: shape.to_vec(), data: data.collect() }
}

/// Perturbs the rows of copied outputs, so that copies do not stay identical.
fn add_noise(tensor: &mut WeightTensor, axes: &[Axis], noise: f64, stream: &mut impl rand::Rng) {
    if axes.len() < 2 || noise == 0.0 {
        return;
    }
    let row = tensor.data.len() / tensor.shape[0];
    let normal = Normal::new(1.0, noise).expect("the noise is finite and not negative");
    for (output, weights) in tensor.data.chunks_exact_mut(row).enumerate() {
        if axes[0].is_copy(output) {
            for weight in weights {
                *weight *= normal.sample(stream) as f32;
            }
        }
    }
}
