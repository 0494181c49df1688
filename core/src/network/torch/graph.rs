//! The inference copy of a net on libtorch: batch norm folded, numbers of the device's best kind, channels last.
//!
//! libtorch's wrapper has no word for channels last, so tensors are kept as `[B, 64, F]` or `[B, 8, 8, F]` in memory,
//! and convolutions see them with their axes permuted; libtorch recognises that layout by the strides.

use tch::{Device, Kind, TchError, Tensor};

use super::model::upload;
use crate::encoding::POLICY_PLANES;
use crate::network::fold::{Block, FoldedNet, Layer, SqueezeExcite};

/// What the graph says of `B` positions, still on its device.
#[derive(Debug)]
pub(super) struct Answers {
    /// `[B · 64, 73]`: logits of square `from` of a position in one row.
    pub(super) policy: Tensor,
    /// `[B, 3]`: logits of win, draw and loss.
    pub(super) wdl: Tensor,
}

/// The layers on a device.
#[derive(Debug)]
pub(super) struct Graph {
    stem: Conv,
    blocks: Vec<GraphBlock>,
    policy1: Dense,
    policy2: Dense,
    value1: Dense,
    dense1: Dense,
    dense2: Dense,
}

#[derive(Debug)]
struct GraphBlock {
    conv1: Conv,
    conv2: Conv,
    squeeze_excite: Option<GraphSqueezeExcite>,
}

#[derive(Debug)]
struct GraphSqueezeExcite {
    squeeze: Dense,
    excite: Dense,
}

impl Graph {
    pub(super) fn new(net: &FoldedNet, kind: Kind, device: Device) -> Result<Self, TchError> {
        let dense = |layer| Dense::new(layer, kind, device);
        let block = |block: &Block| {
            let squeeze_excite = block.squeeze_excite.as_ref();
            Ok(GraphBlock {
                conv1: Conv::new(&block.conv1, kind, device)?,
                conv2: Conv::new(&block.conv2, kind, device)?,
                squeeze_excite: squeeze_excite
                    .map(|part| GraphSqueezeExcite::new(part, kind, device))
                    .transpose()?,
            })
        };
        Ok(Self {
            stem: Conv::new(&net.stem, kind, device)?,
            blocks: net.blocks.iter().map(block).collect::<Result<_, TchError>>()?,
            policy1: dense(&net.policy1)?,
            policy2: dense(&net.policy2)?,
            value1: dense(&net.value1)?,
            dense1: Dense::after_board(&net.dense1, kind, device)?,
            dense2: Dense::new(&net.dense2, Kind::Float, device)?,
        })
    }

    /// Runs the net on `[B, 64, P]`.
    pub(super) fn forward(&self, input: &Tensor) -> Result<Answers, TchError> {
        let body = self.tower(input)?;
        let squares = body.f_reshape([-1, body.size()[2]])?;
        let policy = self.policy2.run(&self.policy1.run(&squares)?.f_relu_()?)?;
        let value = self.value1.run(&squares)?.f_relu_()?.f_reshape([input.size()[0], -1])?;
        let hidden = self.dense1.run(&value)?.f_relu_()?.f_to_kind(Kind::Float)?;
        Ok(Answers { policy, wdl: self.dense2.run(&hidden)? })
    }

    /// The stem and the blocks; `[B, 64, P]` to `[B, 64, F]`.
    pub(super) fn tower(&self, input: &Tensor) -> Result<Tensor, TchError> {
        let mut body = self.stem.run(input)?.f_relu_()?;
        for block in &self.blocks {
            let hidden = block.conv1.run(&body)?.f_relu_()?;
            let mut branch = block.conv2.run(&hidden)?;
            body = match &block.squeeze_excite {
                Some(part) => part.run(&branch, &body)?.f_relu_()?,
                None => branch.f_add_(&body)?.f_relu_()?,
            };
        }
        Ok(body)
    }
}

impl GraphSqueezeExcite {
    fn new(part: &SqueezeExcite, kind: Kind, device: Device) -> Result<Self, TchError> {
        let dense = |layer| Dense::new(layer, kind, device);
        Ok(Self { squeeze: dense(&part.squeeze)?, excite: dense(&part.excite)? })
    }

    /// Scales and shifts `branch` and adds `skip`; all `[B, 64, F]`.
    fn run(&self, branch: &Tensor, skip: &Tensor) -> Result<Tensor, TchError> {
        let pooled = branch.f_mean_dim([1i64].as_slice(), false, None::<Kind>)?;
        let excited = self.excite.run(&self.squeeze.run(&pooled)?.f_relu_()?)?.f_unsqueeze(1)?;
        let halves = excited.f_chunk(2, 2)?;
        skip.f_add(&halves[1])?.f_addcmul_(branch, &halves[0].f_sigmoid()?)
    }
}

/// A 3×3 convolution that keeps the board's size.
#[derive(Debug)]
struct Conv {
    weight: Tensor,
    bias: Tensor,
}

impl Conv {
    fn new(layer: &Layer, kind: Kind, device: Device) -> Result<Self, TchError> {
        let weight = upload(&layer.weight, device)?.f_to_kind(kind)?;
        let weight = weight.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?;
        Ok(Self { weight, bias: upload(&layer.bias, device)?.f_to_kind(kind)? })
    }

    /// `[B, 64, in]` to `[B, 64, out]`.
    fn run(&self, input: &Tensor) -> Result<Tensor, TchError> {
        let rows = input.size()[0];
        let board = input.f_reshape([rows, 8, 8, -1])?.f_permute([0, 3, 1, 2])?;
        let output = board.f_conv2d(&self.weight, Some(&self.bias), 1, 1, 1, 1)?;
        output.f_permute([0, 2, 3, 1])?.f_reshape([rows, 64, -1])
    }
}

/// A dense layer, or a 1×1 convolution seen as one over the squares.
#[derive(Debug)]
struct Dense {
    /// `[in, out]`.
    weight: Tensor,
    bias: Tensor,
}

impl Dense {
    fn new(layer: &Layer, kind: Kind, device: Device) -> Result<Self, TchError> {
        let outputs = layer.bias.data.len() as i64;
        let weight = upload(&layer.weight, device)?.f_reshape([outputs, -1])?;
        Self::on_device(&weight, layer, kind)
    }

    /// A dense layer over a whole board, whose inputs come square by square instead of channel by channel.
    fn after_board(layer: &Layer, kind: Kind, device: Device) -> Result<Self, TchError> {
        let outputs = layer.bias.data.len() as i64;
        let weight = upload(&layer.weight, device)?.f_reshape([outputs, -1, 64])?;
        Self::on_device(&weight.f_transpose(1, 2)?.f_reshape([outputs, -1])?, layer, kind)
    }

    fn on_device(weight: &Tensor, layer: &Layer, kind: Kind) -> Result<Self, TchError> {
        let bias = upload(&layer.bias, weight.device())?.f_to_kind(kind)?;
        Ok(Self { weight: weight.f_to_kind(kind)?.f_t_copy()?, bias })
    }

    /// `[rows, in]` to `[rows, out]`.
    fn run(&self, input: &Tensor) -> Result<Tensor, TchError> {
        self.bias.f_addmm(input, &self.weight)
    }
}

/// Where a policy index lies in [`Answers::policy`], flattened.
pub(super) fn policy_place(row: usize, index: crate::encoding::PolicyIndex) -> i64 {
    ((row * 64 + index.square()) * POLICY_PLANES + index.plane()) as i64
}
