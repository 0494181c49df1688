//! What a net looks like. Everything that fixes the shapes of its weights is here.

use crate::encoding::{EncodingName, Orientation};
use crate::{param_enum, params};

param_enum! {
    /// The body of the net.
    pub enum Tower {
        /// Residual blocks with squeeze-and-excitation (Hu et al. 2018), scale and shift as in Leela's nets.
        SeResnet = "se_resnet",
        /// Plain residual blocks (He et al. 2016).
        Resnet = "resnet",
    }
}

param_enum! {
    /// The non-linearity between layers.
    pub enum Activation {
        /// max(0, x).
        Relu = "relu",
    }
}

param_enum! {
    /// How the policy's 4672 logits are made.
    pub enum PolicyHead {
        /// 1×1 convolution, batch norm, activation, 1×1 convolution to 73 planes.
        Conv = "conv",
    }
}

param_enum! {
    /// How the value is made.
    pub enum ValueHead {
        /// 1×1 convolution, batch norm, activation, dense, activation, dense to win, draw, loss.
        Wdl = "wdl",
    }
}

params! {
    /// The body of the net.
    pub struct TowerSpec {
        /// The kind of block.
        kind: Tower = Tower::SeResnet;
        /// Residual blocks; more see further and cost in proportion.
        blocks: u32 = 6, in 0..=256;
        /// Channels of every convolution; the cost grows with the square.
        filters: u32 = 128, in 1..=4096;
        /// The squeeze of the SE part has `filters / se_ratio` channels, at least 1.
        se_ratio: u32 = 4, in 1..=64;
        /// The non-linearity.
        activation: Activation = Activation::Relu;
    }
}

params! {
    /// The policy head.
    pub struct PolicyHeadSpec {
        /// The kind of head.
        kind: PolicyHead = PolicyHead::Conv;
    }
}

params! {
    /// The value head.
    pub struct ValueHeadSpec {
        /// The kind of head.
        kind: ValueHead = ValueHead::Wdl;
        /// Channels of its 1×1 convolution.
        filters: u32 = 32, in 1..=1024;
        /// Width of its hidden dense layer.
        hidden: u32 = 256, in 1..=8192;
    }
}

params! {
    /// A net: its input, body and heads. The default is dc0's 6 blocks of 128 filters.
    pub struct NetworkSpec {
        /// The input planes.
        encoding: EncodingName = EncodingName::Dc0;
        /// Whose side of the board the planes and the policy are seen from.
        orientation: Orientation = Orientation::SideToMove;
        /// The body.
        tower: TowerSpec = TowerSpec::default();
        /// The policy head.
        policy_head: PolicyHeadSpec = PolicyHeadSpec::default();
        /// The value head.
        value_head: ValueHeadSpec = ValueHeadSpec::default();
    }
}
