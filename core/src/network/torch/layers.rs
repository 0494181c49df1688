//! Layers of the inference copy and of the training net, with their tensors on a device. Boards of the inference copy are `[B, 64, C]`.

use tch::{Device, Kind, TchError, Tensor};

use super::fused;
use super::transfer::upload;
use crate::network::fold::{Linear, NORM_EPSILON};
use crate::network::graph::{IMPOSSIBLE_LOGIT, Squeeze, mirrored_move_sources, move_sources};
use crate::network::king_buckets::KingBuckets;
use crate::network::threats::kernels;
use crate::network::{Accumulator, Activation, NormKind};

/// Applies an activation in place.
pub(super) fn activate(mut tensor: Tensor, activation: Option<Activation>) -> Result<Tensor, TchError> {
    match activation {
        None => Ok(tensor),
        Some(Activation::Relu) => tensor.f_relu_(),
        Some(Activation::Mish) => tensor.f_mish_(),
        Some(Activation::Swish) => tensor.f_silu_(),
    }
}

/// The weight of an nnue's first layer `[W, I]` with its inputs in the order in which the other side sees them.
pub(super) fn seen_from_the_other_side(weight: &Tensor) -> Result<Tensor, TchError> {
    // Sides, kinds of pieces, ranks, files.
    weight.f_reshape([-1, 2, 6, 8, 8])?.f_flip([1, 3])?.f_reshape(weight.size())
}

/// Finds out which pieces are attacked and defended, by convolutions.
#[derive(Debug)]
pub(super) struct Threats {
    leapers: Tensor,
    sliders: Tensor,
    steps: Tensor,
    sides: Tensor,
    attackers: Tensor,
    defenders: Tensor,
}

impl Threats {
    pub(super) fn new(device: Device) -> Result<Self, TchError> {
        let kernel = |values: Vec<f32>, shape: [i64; 4]| {
            Tensor::f_from_slice(&values)?.f_reshape(shape)?.f_to_device(device)
        };
        let rays = kernels::RAYS as i64;
        Ok(Self {
            leapers: kernel(kernels::leapers(), [2, 12, 5, 5])?,
            sliders: kernel(kernels::sliders(), [rays, 12, 1, 1])?,
            steps: kernel(kernels::steps(), [rays, 1, 3, 3])?,
            sides: kernel(kernels::sides(), [2, rays, 1, 1])?,
            attackers: Tensor::f_from_slice(&kernels::ATTACKERS)?.f_to_device(device)?,
            defenders: Tensor::f_from_slice(&kernels::DEFENDERS)?.f_to_device(device)?,
        })
    }

    /// The pieces `[B, 12, 8, 8]` as 32-bit floats to `[B, 48, 8, 8]`.
    pub(super) fn run(&self, pieces: &Tensor) -> Result<Tensor, TchError> {
        let none = None::<&Tensor>;
        let empty =
            pieces.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Float)?.f_neg()?.f_add_scalar(1.0)?;
        let mut moving = pieces.f_conv2d(&self.sliders, none, 1, 0, 1, 1)?;
        let mut reached = moving.f_zeros_like()?;
        for _ in 0..7 {
            let next = moving.f_conv2d(&self.steps, none, 1, 1, 1, kernels::RAYS as i64)?;
            reached = reached.f_add(&next)?;
            moving = next.f_mul(&empty)?;
        }
        let slid = reached.f_conv2d(&self.sides, none, 1, 0, 1, 1)?;
        let attacked = pieces.f_conv2d(&self.leapers, none, 1, 2, 1, 1)?.f_add(&slid)?.f_clamp_max(1.0)?;
        let threatened = pieces.f_mul(&attacked.f_index_select(1, &self.attackers)?)?;
        let defended = attacked.f_index_select(1, &self.defenders)?;
        let unthreatened = pieces.f_sub(&threatened)?;
        let (both, supported) = (threatened.f_mul(&defended)?, unthreatened.f_mul(&defended)?);
        Tensor::f_cat(&[&unthreatened.f_sub(&supported)?, &threatened.f_sub(&both)?, &supported, &both], 1)
    }
}

/// What an nnue makes of the sums of both sides, `[B, 2W]`.
pub(super) fn accumulated(sums: &Tensor, activation: Accumulator) -> Result<Tensor, TchError> {
    let clipped = sums.f_clamp(0.0, 1.0)?;
    match activation {
        Accumulator::Clipped => Ok(clipped),
        Accumulator::Squared => clipped.f_square(),
        Accumulator::Pairwise => {
            let rows = clipped.size()[0];
            let halves = clipped.f_reshape([rows, 2, 2, -1])?;
            let products = halves.f_select(2, 0)?.f_mul(&halves.f_select(2, 1)?)?;
            products.f_reshape([rows, -1])
        }
    }
}

/// Whether each king `[B, 8, 8]`, 1 on its square, stands on files e to h; `[B]`, 1 or 0.
fn is_on_the_right(king: &Tensor) -> Result<Tensor, TchError> {
    king.f_narrow(2, 4, 4)?.f_sum_dim_intlist([1i64, 2].as_slice(), false, king.kind())
}

/// What the sides see of a board where their own kings' squares decide it.
#[derive(Debug)]
pub(super) struct KingView {
    /// `[64, K]`: 1 for the bucket of each square.
    buckets: Tensor,
    is_mirrored: bool,
}

impl KingView {
    /// `None` if the kings' squares decide nothing.
    pub(super) fn new(kings: &KingBuckets, device: Device) -> Result<Option<Self>, TchError> {
        if kings.is_plain() {
            return Ok(None);
        }
        let count = kings.count();
        let mut buckets = vec![0.0f32; 64 * count];
        for (square, bucket) in kings.buckets().iter().enumerate() {
            buckets[square * count + usize::from(*bucket)] = 1.0;
        }
        let buckets = Tensor::f_from_slice(&buckets)?.f_reshape([64, count as i64])?.f_to_device(device)?;
        Ok(Some(Self { buckets, is_mirrored: kings.is_mirrored() }))
    }

    /// The pieces `[B, 12·S, 8, 8]` in `S` states to the inputs of a first layer `[B, K·I]` for the side to move, and for its opponent.
    pub(super) fn run(&self, pieces: &Tensor) -> Result<[Tensor; 2], TchError> {
        let rows = pieces.size()[0];
        // States, sides, kinds of pieces, ranks, files.
        let own = pieces.f_reshape([rows, -1, 2, 6, 8, 8])?;
        let other = own.f_flip([2, 4])?;
        Ok([self.seen(&own)?, self.seen(&other)?])
    }

    fn seen(&self, boards: &Tensor) -> Result<Tensor, TchError> {
        let rows = boards.size()[0];
        let kings = boards.f_select(2, 0)?.f_select(2, 5)?;
        let king = kings.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Float)?;
        let mut boards = boards.shallow_clone();
        if self.is_mirrored {
            let is_right = is_on_the_right(&king)?.f_reshape([rows, 1, 1, 1, 1, 1])?;
            let change = boards.f_flip([5])?.f_sub(&boards)?;
            boards = boards.f_add(&change.f_mul(&is_right)?)?;
        }
        let bucket = king.f_reshape([rows, 64])?.f_matmul(&self.buckets)?;
        let inputs = bucket.f_unsqueeze(2)?.f_mul(&boards.f_reshape([rows, 1, -1])?)?;
        inputs.f_reshape([rows, -1])
    }
}

/// Puts the logits of the possible moves at their policy indices.
#[derive(Debug)]
pub(super) struct ExpandPolicy {
    /// As [`move_sources`].
    sources: Tensor,
    /// As [`mirrored_move_sources`], if the logits may be those of the mirrored board.
    mirrored: Option<Tensor>,
}

impl ExpandPolicy {
    pub(super) fn new(is_mirrored: bool, device: Device) -> Result<Self, TchError> {
        let tensor = |sources: Vec<i64>| Tensor::f_from_slice(&sources)?.f_to_device(device);
        let mirrored = is_mirrored.then(|| tensor(mirrored_move_sources())).transpose()?;
        Ok(Self { sources: tensor(move_sources())?, mirrored })
    }

    /// `[B, 1858]` to `[B, 4672]`; `king` gives the squares of the kings of the sides to move, `[B, 8, 8]`.
    pub(super) fn run(
        &self,
        possible: &Tensor,
        king: impl FnOnce() -> Result<Tensor, TchError>,
    ) -> Result<Tensor, TchError> {
        let padded = possible.f_pad([0i64, 1].as_slice(), "constant", f64::from(IMPOSSIBLE_LOGIT))?;
        let own = padded.f_index_select(1, &self.sources)?;
        let Some(mirrored) = &self.mirrored else { return Ok(own) };
        let is_right = is_on_the_right(&king()?)?.f_gt(0.5)?.f_unsqueeze(1)?;
        padded.f_index_select(1, mirrored)?.f_where_self(&is_right, &own)
    }
}

/// A 3×3 convolution that keeps the board's size.
#[derive(Debug)]
pub(super) struct Conv {
    weight: Tensor,
    bias: Tensor,
}

impl Conv {
    pub(super) fn new(linear: &Linear, kind: Kind, device: Device) -> Result<Self, TchError> {
        let weight = upload(&linear.weight, device)?.f_to_kind(kind)?;
        let weight = weight.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?;
        Ok(Self { weight, bias: upload(&linear.bias, device)?.f_to_kind(kind)? })
    }

    /// `[B, 64, in]` to `[B, 64, out]`.
    pub(super) fn run(&self, input: &Tensor) -> Result<Tensor, TchError> {
        let rows = input.size()[0];
        let board = input.f_reshape([rows, 8, 8, -1])?.f_permute([0, 3, 1, 2])?;
        let output = board.f_conv2d(&self.weight, Some(&self.bias), 1, 1, 1, 1)?;
        output.f_permute([0, 2, 3, 1])?.f_reshape([rows, 64, -1])
    }
}

/// A dense layer, or a 1×1 convolution as a dense layer over the squares.
#[derive(Debug)]
pub(super) struct Dense {
    /// `[in, out]`.
    weight: Tensor,
    bias: Tensor,
}

impl Dense {
    pub(super) fn new(linear: &Linear, kind: Kind, device: Device) -> Result<Self, TchError> {
        let outputs = linear.bias.data.len() as i64;
        let weight = upload(&linear.weight, device)?.f_reshape([outputs, -1])?;
        let bias = upload(&linear.bias, device)?.f_to_kind(kind)?;
        Ok(Self { weight: weight.f_to_kind(kind)?.f_t_copy()?, bias })
    }

    /// `[…, in]` to `[…, out]`, in this layer's dtype.
    pub(super) fn run(&self, input: &Tensor) -> Result<Tensor, TchError> {
        let mut shape = input.size();
        let inputs = shape.pop().expect("the input has an axis");
        let rows = input.f_reshape([-1, inputs])?.f_to_kind(self.bias.kind())?;
        let output = self.bias.f_addmm(&rows, &self.weight)?;
        shape.push(output.size()[1]);
        output.f_reshape(shape)
    }
}

/// Squeeze-and-excitation.
#[derive(Debug)]
pub(super) struct SqueezeExcite {
    squeeze: Dense,
    excite: Dense,
    activation: Activation,
}

impl SqueezeExcite {
    pub(super) fn new(
        part: Squeeze,
        squeeze: &Linear,
        excite: &Linear,
        kind: Kind,
        device: Device,
    ) -> Result<Self, TchError> {
        let dense = |linear| Dense::new(linear, kind, device);
        Ok(Self { squeeze: dense(squeeze)?, excite: dense(excite)?, activation: part.activation })
    }

    /// Scales and shifts `branch`, adds `skip` and applies the activation; all `[B, 64, C]`.
    pub(super) fn run(
        &self,
        branch: &Tensor,
        skip: &Tensor,
        activation: Option<Activation>,
    ) -> Result<Tensor, TchError> {
        let is_fused = fused::applies(branch);
        let pooled = if is_fused {
            fused::pooled(branch)?
        } else {
            branch.f_mean_dim([1i64].as_slice(), false, None::<Kind>)?
        };
        let squeezed = activate(self.squeeze.run(&pooled)?, Some(self.activation))?;
        let halves = self.excite.run(&squeezed)?.f_chunk(2, 1)?;
        let (scale, shift) = (halves[0].f_sigmoid()?, &halves[1]);
        if is_fused {
            let is_relu = activation == Some(Activation::Relu);
            let joined = fused::joined(branch, [&scale, shift], skip, is_relu)?;
            return if is_relu { Ok(joined) } else { activate(joined, activation) };
        }
        let joined = skip.f_add(&shift.f_unsqueeze(1)?)?.f_addcmul_(branch, &scale.f_unsqueeze(1)?)?;
        activate(joined, activation)
    }
}

/// A normalisation of each square's channels.
#[derive(Debug)]
pub(super) enum Norm {
    Layer { weight: Tensor, bias: Tensor },
    Rms { weight: Tensor },
}

impl Norm {
    /// `tensor` returns the layer's tensors by name.
    pub(super) fn new(
        kind: NormKind,
        tensor: impl Fn(&str) -> Result<Tensor, TchError>,
    ) -> Result<Self, TchError> {
        let weight = tensor("weight")?;
        Ok(match kind {
            NormKind::Layer => Self::Layer { weight, bias: tensor("bias")? },
            NormKind::Rms => Self::Rms { weight },
        })
    }

    /// `[…, C]` in and out.
    pub(super) fn run(&self, input: &Tensor) -> Result<Tensor, TchError> {
        match self {
            Self::Layer { weight, bias } => {
                input.f_layer_norm(weight.size(), Some(weight), Some(bias), NORM_EPSILON, true)
            }
            Self::Rms { weight } => {
                // The squares of 16-bit values in f32: in f16 those above 255 would be infinite.
                let squares = input.f_to_kind(Kind::Float)?.f_square()?;
                let mean = squares.f_mean_dim([-1i64].as_slice(), true, Kind::Float)?;
                let scale = mean.f_add_scalar(NORM_EPSILON)?.f_rsqrt()?.f_to_kind(input.kind())?;
                input.f_mul(&scale)?.f_mul_(weight)
            }
        }
    }
}

/// Attention with a learned bias for each pair of squares.
#[derive(Debug)]
pub(super) struct Attention {
    pub(super) heads: i64,
    /// `[1, H, 64, 64]`.
    pub(super) bias: Tensor,
}

impl Attention {
    /// `[B, 64, 3C]` to `[B, 64, C]`.
    pub(super) fn run(&self, input: &Tensor) -> Result<Tensor, TchError> {
        let rows = input.size()[0];
        // [B, 64, 3, H, d] to three [B, H, 64, d].
        let split = input.f_reshape([rows, 64, 3, self.heads, -1])?.f_permute([2, 0, 3, 1, 4])?;
        let [query, key, value] = [0, 1, 2].map(|part| split.get(part));
        let scale = (query.size()[3] as f64).sqrt().recip();
        let scores = query.f_matmul(&key.f_transpose(2, 3)?)?;
        let weights = self.bias.f_add(&(scores * scale))?.f_softmax(-1, None::<Kind>)?;
        weights.f_matmul(&value)?.f_transpose(1, 2)?.f_reshape([rows, 64, -1])
    }
}
