//! The net as libtorch runs it for training, and as the reference for the inference copy.

use std::collections::BTreeMap;

use tch::{Device, Kind, Tensor};

use super::TorchError;
use crate::encoding::POLICY_SIZE;
use crate::network::fold::BATCH_NORM_EPSILON;
use crate::network::{NetworkSpec, Tower, WeightTensor, Weights, check_against, layout};

/// What batch norm normalises by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BatchNorm {
    /// The batch's statistics; the running ones move towards them by the share `momentum` in [0, 1].
    Train {
        /// The share of the new statistics.
        momentum: f64,
    },
    /// The running statistics.
    Eval,
}

/// What a net says of `B` positions.
#[derive(Debug)]
pub struct Heads {
    /// `[B, 4672]`: logits, index `plane · 64 + from`, legal or not.
    pub policy: Tensor,
    /// `[B, 3]`: logits of win, draw and loss for the side to move.
    pub wdl: Tensor,
}

/// A net with 32-bit weights on a device.
#[derive(Debug)]
pub struct Net {
    /// What the net looks like.
    pub spec: NetworkSpec,
    /// The tensors of [`layout`] by name.
    pub tensors: BTreeMap<String, Tensor>,
}

impl Net {
    /// Puts weights on a device; they must be exactly those of the spec.
    pub fn from_weights(spec: &NetworkSpec, weights: &Weights, device: Device) -> Result<Self, TorchError> {
        check_against(weights, &layout(spec))?;
        let tensors = weights
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), upload(tensor, device)?)))
            .collect::<Result<_, tch::TchError>>()
            .map_err(|source| TorchError::Library { doing: "putting weights on the device", source })?;
        Ok(Self { spec: spec.clone(), tensors })
    }

    /// The weights as plain numbers, in the order of names.
    pub fn to_weights(&self) -> Result<Weights, TorchError> {
        self.tensors
            .iter()
            .map(|(name, tensor)| Ok((name.clone(), download(tensor)?)))
            .collect::<Result<_, tch::TchError>>()
            .map_err(|source| TorchError::Library { doing: "reading weights from the device", source })
    }

    /// Runs the net on `[B, P, 8, 8]` planes of 32-bit floats on its device.
    ///
    /// # Panics
    ///
    /// If the input has another shape or lies on another device.
    pub fn forward(&self, input: &Tensor, mode: BatchNorm) -> Heads {
        let stem = self.conv(input, "stem.conv");
        let mut body = self.batch_norm(&stem, "stem.bn", mode).relu();
        for block in 0..self.spec.tower.blocks {
            body = self.residual_block(&body, &format!("tower.{block}"), mode);
        }
        Heads { policy: self.policy_head(&body, mode), wdl: self.value_head(&body, mode) }
    }

    /// He et al. 2016; `[B, F, 8, 8]` in and out.
    fn residual_block(&self, input: &Tensor, at: &str, mode: BatchNorm) -> Tensor {
        let first = self.conv(input, &format!("{at}.conv1"));
        let first = self.batch_norm(&first, &format!("{at}.bn1"), mode).relu();
        let second = self.conv(&first, &format!("{at}.conv2"));
        let second = self.batch_norm(&second, &format!("{at}.bn2"), mode);
        let branch = match self.spec.tower.kind {
            Tower::SeResnet => self.squeeze_excite(&second, &format!("{at}.se")),
            Tower::Resnet => second,
        };
        (branch + input).relu()
    }

    /// Hu et al. 2018, section 3, with a shift beside the scale as in Leela's nets; `[B, F, 8, 8]` in and out.
    fn squeeze_excite(&self, input: &Tensor, at: &str) -> Tensor {
        let pooled = input.mean_dim([2i64, 3].as_slice(), false, None::<Kind>);
        let squeezed = self.dense(&pooled, &format!("{at}.squeeze")).relu();
        let excited = self.dense(&squeezed, &format!("{at}.excite")).unsqueeze(-1).unsqueeze(-1);
        let halves = excited.chunk(2, 1);
        input * halves[0].sigmoid() + &halves[1]
    }

    /// `[B, F, 8, 8]` to `[B, 4672]`: a plane's squares lie together.
    fn policy_head(&self, body: &Tensor, mode: BatchNorm) -> Tensor {
        let hidden = self.conv(body, "policy.conv1");
        let hidden = self.batch_norm(&hidden, "policy.bn1", mode).relu();
        let (weight, bias) = (self.tensor("policy.conv2.weight"), self.tensor("policy.conv2.bias"));
        let planes = hidden.conv2d(weight, Some(bias), 1, 0, 1, 1);
        planes.reshape([-1, POLICY_SIZE as i64])
    }

    /// `[B, F, 8, 8]` to `[B, 3]`.
    fn value_head(&self, body: &Tensor, mode: BatchNorm) -> Tensor {
        let hidden = self.conv(body, "value.conv1");
        let hidden = self.batch_norm(&hidden, "value.bn1", mode).relu().flatten(1, -1);
        self.dense(&self.dense(&hidden, "value.dense1").relu(), "value.dense2")
    }

    fn tensor(&self, name: &str) -> &Tensor {
        self.tensors.get(name).expect("the names were checked against the layout")
    }

    /// A convolution that keeps the board's size; without bias, since batch norm follows.
    fn conv(&self, input: &Tensor, at: &str) -> Tensor {
        let weight = self.tensor(&format!("{at}.weight"));
        let padding = weight.size()[3] / 2;
        input.conv2d(weight, None::<&Tensor>, 1, padding, 1, 1)
    }

    fn dense(&self, input: &Tensor, at: &str) -> Tensor {
        input.linear(self.tensor(&format!("{at}.weight")), Some(self.tensor(&format!("{at}.bias"))))
    }

    fn batch_norm(&self, input: &Tensor, at: &str, mode: BatchNorm) -> Tensor {
        let [weight, bias, mean, variance] = ["weight", "bias", "running_mean", "running_var"]
            .map(|name| Some(self.tensor(&format!("{at}.{name}"))));
        let (train, momentum) = match mode {
            BatchNorm::Train { momentum } => (true, momentum),
            BatchNorm::Eval => (false, 0.0),
        };
        input.batch_norm(weight, bias, mean, variance, train, momentum, BATCH_NORM_EPSILON, true)
    }
}

/// Copies plain numbers to a device, keeping their shape.
pub fn upload(tensor: &WeightTensor, device: Device) -> Result<Tensor, tch::TchError> {
    let shape: Vec<i64> = tensor.shape.iter().map(|axis| *axis as i64).collect();
    Tensor::f_from_slice(&tensor.data)?.f_reshape(shape)?.f_to_device(device)
}

/// Copies a tensor of 32-bit floats from its device in row-major order.
pub fn download(tensor: &Tensor) -> Result<WeightTensor, tch::TchError> {
    let flat = tensor.f_detach()?.f_to_device(Device::Cpu)?.f_contiguous()?;
    let mut data = vec![0.0f32; flat.numel()];
    let values = data.len();
    flat.f_copy_data(&mut data, values)?;
    Ok(WeightTensor { shape: tensor.size().iter().map(|axis| *axis as usize).collect(), data })
}
