//! The specification of a tensor: name, role, shape and initial values.

/// How a tensor is initialised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// Normal with mean 0 and this standard deviation.
    Normal(f32),
    /// The same value everywhere.
    Constant(f32),
}

/// The role of a tensor in its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// The weight of a convolution or dense layer, or an embedding.
    Weight,
    /// The bias of a convolution or dense layer.
    Bias,
    /// The weight of squeeze-and-excitation's squeezing dense layer.
    SqueezeWeight,
    /// The bias of that layer.
    SqueezeBias,
    /// The weight of its exciting dense layer; the first half of the outputs are scales, the second half shifts.
    ExciteWeight,
    /// The bias of that layer, in the same halves.
    ExciteBias,
    /// The bias that attention adds for each pair of squares.
    PositionBias,
    /// The scale of a norm over the channels of a square.
    NormScale,
    /// Its shift.
    NormShift,
    /// Batch norm's scale γ.
    BatchNormScale,
    /// Batch norm's shift β.
    BatchNormShift,
    /// Batch norm's running mean of its input.
    RunningMean,
    /// Batch norm's running variance of its input.
    RunningVariance,
}

impl TensorRole {
    /// Whether gradients change it; running statistics of batch norm follow the batches instead.
    pub fn is_trained(self) -> bool {
        !matches!(self, Self::RunningMean | Self::RunningVariance)
    }

    /// Whether it multiplies inputs, or is an embedding; such tensors have two axes or more.
    pub fn is_weight(self) -> bool {
        matches!(self, Self::Weight | Self::SqueezeWeight | Self::ExciteWeight)
    }

    /// Whether it belongs to batch norm.
    pub fn is_batch_norm(self) -> bool {
        matches!(
            self,
            Self::BatchNormScale | Self::BatchNormShift | Self::RunningMean | Self::RunningVariance
        )
    }
}

/// One tensor of a net.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorSpec {
    /// Dotted name, such as `tower.0.conv1.weight`.
    pub name: String,
    /// Its role in its layer.
    pub role: TensorRole,
    /// Its shape; convolutions are `[out, in, height, width]`, dense layers `[out, in]`.
    pub shape: Vec<usize>,
    /// How it is initialised.
    pub init: Init,
}

impl TensorSpec {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the tensor has no values; never the case in a net.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether gradients change it.
    pub fn is_trained(&self) -> bool {
        self.role.is_trained()
    }
}
