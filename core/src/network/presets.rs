//! Nets by name: dc0's usual sizes, and those of systems that it is compared with.

use super::{
    Activation, NetworkSpec, NormKind, PolicyHead, PolicyHeadSpec, Tower, TowerSpec, ValueHead, ValueHeadSpec,
};
use crate::encoding::EncodingName;

/// A named net.
#[derive(Debug, Clone)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The net.
    pub spec: NetworkSpec,
}

/// Every named net.
pub fn presets() -> Vec<Preset> {
    vec![
        residual("dc0-2x32", "for trials on a CPU: about ten thousand positions a second", [2, 32]),
        residual("dc0-4x64", "for overnight runs on a CPU", [4, 64]),
        residual("dc0-6x128", "the default, for one GPU", [6, 128]),
        residual("dc0-10x128", "Leela Chess Zero's classic small size", [10, 128]),
        residual("dc0-15x256", "for one large GPU", [15, 256]),
        alpha_zero_chess(),
        dlchess(),
        transformer("transformer-4x128", "squares as tokens, about the cost of dc0-4x96", [4, 128, 4]),
        transformer("transformer-8x256", "squares as tokens, for one large GPU", [8, 256, 8]),
        nnue("nnue-128", "the smallest and fastest net for CPUs", 128),
        nnue("nnue-256", "for CPUs: about a million positions a second on one core", 256),
    ]
}

/// The net with a name.
pub fn preset(name: &str) -> Option<Preset> {
    presets().into_iter().find(|preset| preset.name == name)
}

fn residual(name: &'static str, about: &'static str, [blocks, filters]: [u32; 2]) -> Preset {
    let tower = TowerSpec { blocks, filters, ..TowerSpec::default() };
    Preset { name, about, spec: NetworkSpec { tower, ..NetworkSpec::default() } }
}

fn alpha_zero_chess() -> Preset {
    let tower = TowerSpec { kind: Tower::Resnet, blocks: 15, filters: 192, ..TowerSpec::default() };
    let policy_head = PolicyHeadSpec { kind: PolicyHead::Dense, ..PolicyHeadSpec::default() };
    let value_head = ValueHeadSpec { kind: ValueHead::Scalar, filters: 1, hidden: 256 };
    let spec = NetworkSpec { tower, policy_head, value_head, ..NetworkSpec::default() };
    Preset {
        name: "alpha-zero-chess",
        about: "15×192 with a dense policy, as in lirockyzhang/alpha-zero-chess",
        spec,
    }
}

fn dlchess() -> Preset {
    let tower = TowerSpec { blocks: 5, filters: 64, se_ratio: 16, ..TowerSpec::default() };
    let policy_head = PolicyHeadSpec { kernel: 3, ..PolicyHeadSpec::default() };
    let value_head = ValueHeadSpec { kind: ValueHead::Scalar, filters: 1, hidden: 256 };
    let encoding = EncodingName::Dlchess;
    let spec = NetworkSpec { encoding, tower, policy_head, value_head, ..NetworkSpec::default() };
    Preset {
        name: "dlchess",
        about: "5×64 with a scalar value, as in mcfarljm/dlchess, whose squeeze-and-excitation has no shift",
        spec,
    }
}

fn nnue(name: &'static str, about: &'static str, filters: u32) -> Preset {
    let tower = TowerSpec { kind: Tower::Nnue, filters, ..TowerSpec::default() };
    let value_head = ValueHeadSpec { hidden: 32, ..ValueHeadSpec::default() };
    Preset { name, about, spec: NetworkSpec { tower, value_head, ..NetworkSpec::default() } }
}

fn transformer(name: &'static str, about: &'static str, [blocks, filters, heads]: [u32; 3]) -> Preset {
    let tower = TowerSpec {
        kind: Tower::Transformer,
        blocks,
        filters,
        heads,
        activation: Activation::Mish,
        norm: NormKind::Rms,
        ..TowerSpec::default()
    };
    Preset { name, about, spec: NetworkSpec { tower, ..NetworkSpec::default() } }
}
