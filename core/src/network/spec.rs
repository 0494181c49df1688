//! The architecture of a net: everything that determines the shapes of its weights.

use super::king_buckets::{KingBuckets, problem};
use crate::encoding::{Encoding, EncodingError, EncodingName, Orientation};
use crate::params::{Advice, advice};
use crate::{param_enum, params};

param_enum! {
    /// The body of the net.
    pub enum Tower {
        /// Residual blocks with squeeze-and-excitation (Hu et al. 2018), scale and shift as in Leela's nets.
        SeResnet = "se_resnet",
        /// Plain residual blocks (He et al. 2016).
        Resnet = "resnet",
        /// Squares as tokens: attention with a learned bias for each pair of squares, then a feed-forward part, both with
        /// pre-normalisation (Vaswani et al. 2017; Xiong et al. 2020; Monroe & Chalmers 2024 for chess).
        Transformer = "transformer",
        /// An efficiently updated net (NNUE; Nasu 2018): one wide layer over the pieces on their squares, seen from both sides with the
        /// same weights, and then the heads' dense layers. It reads the twelve planes of pieces alone, and plays by integers on the CPU.
        Nnue = "nnue",
    }
}

param_enum! {
    /// What an `nnue` reads.
    pub enum NnueInputs {
        /// The pieces on their squares: 768 inputs.
        Pieces = "pieces",
        /// The same, divided by whether a piece is attacked and whether it is defended: 3072 inputs.
        Threats = "threats",
    }
}

param_enum! {
    /// What an `nnue` makes of its first layer's outputs, all clipped to [0, 1].
    pub enum Accumulator {
        /// The products of the first half with the second half, on each side, as Stockfish does since version 15: half as many outputs.
        Pairwise = "pairwise",
        /// As they are.
        Clipped = "clipped",
        /// Their squares.
        Squared = "squared",
    }
}

param_enum! {
    /// The non-linearity between layers.
    pub enum Activation {
        /// max(0, x).
        Relu = "relu",
        /// x · tanh(ln(1 + eˣ)) (Misra 2019), as in Leela's later nets.
        Mish = "mish",
        /// x · σ(x) (Ramachandran et al. 2017).
        Swish = "swish",
    }
}

param_enum! {
    /// How a transformer normalises each square's channels.
    pub enum NormKind {
        /// Layer norm: by their mean and variance (Ba et al. 2016).
        Layer = "layer",
        /// RMS norm: by their root mean square (Zhang & Sennrich 2019).
        Rms = "rms",
    }
}

param_enum! {
    /// How the policy's 4672 logits are computed.
    pub enum PolicyHead {
        /// Convolution, batch norm, activation, convolution to 73 planes.
        Conv = "conv",
        /// 1×1 convolution, batch norm, activation, dense to 4672, as in `AlphaGo` Zero and `alpha-zero-chess`.
        Dense = "dense",
    }
}

param_enum! {
    /// How the value is computed.
    pub enum ValueHead {
        /// 1×1 convolution, batch norm, activation, dense, activation, dense to win, draw, loss.
        Wdl = "wdl",
        /// As `wdl`, but dense to one number through tanh, P(win) − P(loss), trained on its squared error, as in AlphaZero.
        Scalar = "scalar",
    }
}

params! {
    /// The body of the net.
    pub struct TowerSpec {
        /// The kind of block.
        kind: Tower = Tower::SeResnet;
        /// Blocks; the cost is proportional to their number. An `nnue` has none.
        blocks: u32 = 6, in 0..=256;
        /// Channels of every convolution; the cost grows with the square. In an `nnue`, the outputs of its first layer on each side, a
        /// multiple of 64.
        filters: u32 = 128, in 1..=4096;
        /// Squeeze-and-excitation squeezes to `filters / se_ratio` channels, at least 1.
        se_ratio: u32 = 4, in 1..=64;
        /// The non-linearity, in the heads too.
        activation: Activation = Activation::Relu;
        /// Attention heads of a `transformer`; must divide the filters.
        heads: u32 = 4, in 1..=64;
        /// Width of a `transformer`'s feed-forward part, as a multiple of the filters.
        feed_forward: u32 = 2, in 1..=16;
        /// The normalisation of a `transformer`.
        norm: NormKind = NormKind::Rms;
        /// What an `nnue` makes of its first layer's outputs.
        accumulator: Accumulator = Accumulator::Pairwise;
        /// What an `nnue` reads. With `threats` it knows which pieces hang, which a tree search gains much from and alpha-beta nothing.
        inputs: NnueInputs = NnueInputs::Pieces;
        /// Whether an `nnue` reverses files a to h where the own king stands on e to h: each side by its own king, and the policy by that
        /// of the side to move. A position and its mirror image then have the same value and mirrored policies.
        mirrored: bool = false;
        /// King buckets of an `nnue`: the bucket of each square that the own king may stand on, from 0 on; each has weights of its own in
        /// the first layer. 64 numbers, rank by rank from a1 as the side sees the board; in a `mirrored` net 32, for files a to d of each
        /// rank; `[]` for one bucket.
        king_buckets: Vec<u32> = Vec::new(), in 0..=63;
    }
    check check_tower;
    unused unused_in_tower;
}

params! {
    /// The policy head. That of an `nnue` is one dense layer to the 1858 moves that exist, without `kind` and `kernel`.
    pub struct PolicyHeadSpec {
        /// The kind of head.
        kind: PolicyHead = PolicyHead::Conv;
        /// Channels of its first convolution; `()` for the tower's filters in a `conv` head and 2 in a `dense` one
        /// (Silver et al. 2017). In an `nnue` with `inputs`, the outputs of its first layer on each side, a multiple of 64; `()` for the
        /// tower's filters.
        filters: Option<u32> = None, in 1..=4096;
        /// Kernel size of a `conv` head's convolutions: 1, or 3 as in Leela's nets and `dlchess`.
        kernel: u32 = 1, in 1..=3;
        /// What a first layer of the policy's own reads, in an `nnue`; `()` to share the tower's. Threats help to choose moves and hardly to
        /// value positions, and alpha-beta and quiescence then have values without their cost.
        inputs: Option<NnueInputs> = None;
        /// King buckets of that layer, in the form of `tower.king_buckets`, which are for the tower's layer alone. `tower.mirrored` holds for
        /// both.
        king_buckets: Vec<u32> = Vec::new(), in 0..=63;
    }
    check check_policy_head;
    unused unused_in_policy_head;
}

params! {
    /// The value head.
    pub struct ValueHeadSpec {
        /// The kind of head.
        kind: ValueHead = ValueHead::Wdl;
        /// Channels of its 1×1 convolution; an `nnue` has none.
        filters: u32 = 32, in 1..=1024;
        /// Width of its hidden dense layer.
        hidden: u32 = 256, in 1..=8192;
    }
}

params! {
    /// The head that predicts the plies left in the game: 1×1 convolution, batch norm, activation, dense, activation, dense to
    /// one number, as in Leela's nets.
    pub struct MovesLeftHeadSpec {
        /// Channels of its 1×1 convolution; an `nnue` has none.
        filters: u32 = 8, in 1..=1024;
        /// Width of its hidden dense layer.
        hidden: u32 = 128, in 1..=8192;
    }
}

params! {
    /// Heads that only a training runs: what they predict shapes the layers that they share with the heads that play. They are part of
    /// the net's tensors, but of no evaluation. Each is one further output layer after the last hidden layer of the policy head or of the
    /// value head, as in KataGo's policy head (Wu 2020, section 3.4 and appendix A.4).
    pub struct AuxiliaryHeadsSpec {
        /// The policy once more, trained on a softened target (`soft_policy_temperature`), so that the net learns to distinguish moves
        /// that the search hardly visited (`KataGoMethods.md`, "Auxiliary Soft Policy Target").
        soft_policy: bool = false;
        /// The policy of the opponent's next move, in the input's view of the board (Wu 2020, section 3.4).
        reply: bool = false;
        /// The balance of material some plies later (`material_plies`) for the side to move.
        material: bool = false;
    }
    check check_auxiliary_heads;
}

params! {
    /// A net: its input, body and heads. The default is dc0's 6 blocks of 128 filters.
    pub struct NetworkSpec {
        /// The input planes.
        encoding: EncodingName = EncodingName::Dc0;
        /// The side from which planes and policy are seen; `dc0-20` needs `side_to_move`.
        orientation: Orientation = Orientation::SideToMove;
        /// Positions in the input, including the current one; `()` for the encoding's default: 8 in `az-119` and `lc0-112`,
        /// and 1 in the others.
        history: Option<u32> = None, in 1..=8;
        /// The body.
        tower: TowerSpec = TowerSpec::default();
        /// The policy head.
        policy_head: PolicyHeadSpec = PolicyHeadSpec::default();
        /// The value head.
        value_head: ValueHeadSpec = ValueHeadSpec::default();
        /// The head that predicts the plies left, such as `#{}` for one with its defaults; `()` for none.
        moves_left_head: Option<MovesLeftHeadSpec> = None;
        /// Heads that only a training runs, such as `#{ soft_policy: true }`; `()` for none.
        auxiliary_heads: Option<AuxiliaryHeadsSpec> = None;
    }
    check check_input;
}

impl TowerSpec {
    /// Its size for people: `6×128` for blocks and filters, or the width of an `nnue`'s first layer.
    pub fn size(&self) -> String {
        match self.kind {
            Tower::Nnue => self.filters.to_string(),
            Tower::SeResnet | Tower::Resnet | Tower::Transformer => {
                format!("{}×{}", self.blocks, self.filters)
            }
        }
    }
}

fn check_input(spec: &NetworkSpec) -> Advice {
    let field = |error: &EncodingError| match error {
        EncodingError::History { .. } => "history",
        EncodingError::Orientation { .. } => "orientation",
    };
    match spec.try_input() {
        Err(error) => vec![(field(&error), error.to_string())],
        Ok(input) if spec.tower.kind == Tower::Nnue && input.orientation() != Orientation::SideToMove => {
            vec![("orientation", "an nnue sees the board from both sides; use `side_to_move`".to_owned())]
        }
        Ok(_) => check_own_policy_layer(spec).into_iter().chain(idle_in_heads(spec)).collect(),
    }
}

/// What is wrong with the first layer of an nnue's policy, if anything.
pub(super) fn check_own_policy_layer(spec: &NetworkSpec) -> Option<(&'static str, String)> {
    let PolicyHeadSpec { filters, inputs, .. } = spec.policy_head;
    if inputs.is_none() && !spec.policy_head.king_buckets.is_empty() {
        return Some(("policy_head.king_buckets", NO_POLICY_LAYER.to_owned()));
    }
    if let Some(message) = problem(&spec.policy_head.king_buckets, spec.tower.mirrored) {
        return Some(("policy_head.king_buckets", message));
    }
    let message = match (spec.tower.kind, inputs, filters) {
        (Tower::Nnue, None, Some(filters)) => format!(
            "the policy of this nnue shares the tower's first layer, so it has no filters of its own, got {filters}; leave them out, or give \
             `inputs` for a layer of its own"
        ),
        (Tower::Nnue, Some(_), Some(filters)) if !filters.is_multiple_of(64) => {
            format!("the first layer of an nnue's policy takes a multiple of 64 as filters, got {filters}")
        }
        (Tower::Nnue, ..) | (_, None, _) => return None,
        (kind, Some(_), _) => {
            format!("only an nnue's policy has inputs, not a {}'s; leave them out", kind.name())
        }
    };
    Some(("policy_head", message))
}

impl NetworkSpec {
    /// What the own king's square decides in the first layer of an `nnue`.
    pub fn king_buckets(&self) -> KingBuckets {
        KingBuckets::new(&self.tower.king_buckets, self.tower.mirrored)
    }

    /// The same for the first layer of the policy's own, if it has one.
    pub fn policy_king_buckets(&self) -> KingBuckets {
        KingBuckets::new(&self.policy_head.king_buckets, self.tower.mirrored)
    }

    /// The encoding of the net's input.
    ///
    /// # Panics
    /// If the encoding does not support the orientation or the history; specs that were read have been checked.
    pub fn input(&self) -> Encoding {
        self.try_input().expect("the encoding supports the spec's orientation and history")
    }

    fn try_input(&self) -> Result<Encoding, EncodingError> {
        Encoding::try_new(self.encoding, self.orientation, self.history)
    }
}

fn check_policy_head(head: &PolicyHeadSpec) -> Advice {
    match (head.kind, head.kernel) {
        (PolicyHead::Conv, 1 | 3) | (PolicyHead::Dense, 1) => Vec::new(),
        (PolicyHead::Conv, kernel) => vec![("kernel", format!("must be 1 or 3, got {kernel}"))],
        (PolicyHead::Dense, _) => vec![("kernel", "a dense head has none; leave it out".to_owned())],
    }
}

fn check_auxiliary_heads(heads: &AuxiliaryHeadsSpec) -> Advice {
    let AuxiliaryHeadsSpec { soft_policy, reply, material } = *heads;
    if soft_policy || reply || material {
        return Vec::new();
    }
    vec![(
        "soft_policy",
        "no head is set to true; set one of soft_policy, reply, material, or leave auxiliary_heads out"
            .to_owned(),
    )]
}

fn unused_in_tower(tower: &TowerSpec) -> Advice {
    if tower.kind == Tower::Nnue {
        return Vec::new();
    }
    let reason = |what: &str| format!("only an nnue {what}, not a {}; leave it out", tower.kind.name());
    vec![("mirrored", reason("has mirrored inputs")), ("king_buckets", reason("has king buckets"))]
}

fn unused_in_policy_head(head: &PolicyHeadSpec) -> Advice {
    if head.inputs.is_some() {
        return Vec::new();
    }
    vec![("king_buckets", NO_POLICY_LAYER.to_owned())]
}

/// Why a policy has no king buckets.
const NO_POLICY_LAYER: &str = "the policy has no first layer of its own, so no king buckets; leave them out, or give `inputs` for one in an nnue";

/// Parameters of the tower that nets of its kind do not have, where they differ from the default.
fn idle_in_tower(tower: &TowerSpec) -> Advice {
    let TowerSpec { kind, blocks, se_ratio, heads, feed_forward, norm, accumulator, inputs, .. } = *tower;
    let default = TowerSpec::default();
    let of_blocks = &[Tower::SeResnet, Tower::Resnet, Tower::Transformer][..];
    let idle: [(_, _, &[Tower]); 7] = [
        ("blocks", blocks != default.blocks, of_blocks),
        ("se_ratio", se_ratio != default.se_ratio, &[Tower::SeResnet]),
        ("heads", heads != default.heads, &[Tower::Transformer]),
        ("feed_forward", feed_forward != default.feed_forward, &[Tower::Transformer]),
        ("norm", norm != default.norm, &[Tower::Transformer]),
        ("accumulator", accumulator != default.accumulator, &[Tower::Nnue]),
        ("inputs", inputs != default.inputs, &[Tower::Nnue]),
    ];
    let idle = idle.into_iter().filter(|(_, is_set, kinds)| *is_set && !kinds.contains(&kind));
    idle.map(|(field, _, kinds)| {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        (
            field,
            format!(
                "has no effect in the kind {}, only in {}; leave it out",
                kind.name(),
                kinds.join(" or ")
            ),
        )
    })
    .collect()
}

/// Parameters of the heads that an `nnue` does not have, where they differ from the default.
fn idle_in_heads(spec: &NetworkSpec) -> Advice {
    if spec.tower.kind != Tower::Nnue {
        return Vec::new();
    }
    let policy = PolicyHeadSpec::default();
    let moves_left = MovesLeftHeadSpec::default().filters;
    let has_other_filters = spec.moves_left_head.as_ref().is_some_and(|head| head.filters != moves_left);
    let message = "has no effect in the kind nnue, whose heads are dense; leave it out";
    advice([
        ("policy_head.kind", spec.policy_head.kind != policy.kind, message),
        ("policy_head.kernel", spec.policy_head.kernel != policy.kernel, message),
        ("value_head.filters", spec.value_head.filters != ValueHeadSpec::default().filters, message),
        ("moves_left_head.filters", has_other_filters, message),
    ])
}

fn check_tower(tower: &TowerSpec) -> Advice {
    let TowerSpec { kind, filters, heads, activation, .. } = *tower;
    let idle = idle_in_tower(tower);
    if !idle.is_empty() {
        return idle;
    }
    if let Some(message) = problem(&tower.king_buckets, tower.mirrored) {
        return vec![("king_buckets", message)];
    }
    if kind == Tower::Nnue && activation != Activation::Relu {
        return vec![("activation", format!("the heads of an nnue use relu, got {}", activation.name()))];
    }
    if kind == Tower::Nnue && !filters.is_multiple_of(64) {
        return vec![("filters", format!("an nnue takes a multiple of 64, got {filters}"))];
    }
    if kind == Tower::Transformer && !filters.is_multiple_of(heads) {
        let message = format!("{heads} heads cannot share {filters} filters equally");
        return vec![("heads", message)];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::NetworkSpec;
    use crate::params;

    fn read(text: &str) -> Result<NetworkSpec, String> {
        let value = serde_json::from_str(text).expect("JSON");
        params::read("network", &value).map_err(|errors| errors.to_string())
    }

    #[test]
    fn the_history_must_be_one_that_the_encoding_supports() {
        let planes = |text| read(text).expect("a valid spec").input().planes().len();
        assert_eq!(planes("{}"), 20);
        assert_eq!(planes(r#"{"encoding": "dc0-22", "history": 1}"#), 22);
        assert_eq!(planes(r#"{"encoding": "az-119"}"#), 119);
        assert_eq!(planes(r#"{"encoding": "az-119", "history": 4}"#), 63);
        let error = read(r#"{"encoding": "dlchess-22", "history": 2}"#).expect_err("one position only");
        assert!(
            error.contains("history: the encoding `dlchess-22` takes a history of 1 position, got 2"),
            "{error}"
        );
    }
    #[test]
    fn an_encoding_without_the_side_to_move_is_refused_where_nothing_else_shows_it() {
        for text in [r#"{"orientation": "absolute"}"#, r#"{"encoding": "dc0-20", "orientation": "absolute"}"#]
        {
            let error = read(text).expect_err("ambiguous");
            assert!(
                error.contains("orientation: the encoding `dc0-20` does not show who is to move")
                    && error.contains("an encoding that shows it: dc0-22, dlchess-22, az-119, lc0-112"),
                "{error}"
            );
        }
        read(r#"{"encoding": "dc0-22", "orientation": "absolute"}"#).expect("it has a plane for the side");
    }

    #[test]
    fn parameters_that_change_nothing_in_the_net_are_refused() {
        let cases = [
            (r#"{"tower": {"kind": "nnue", "blocks": 2, "heads": 8}}"#, &["tower.blocks", "tower.heads"][..]),
            (r#"{"tower": {"kind": "nnue", "se_ratio": 8}}"#, &["tower.se_ratio"]),
            (r#"{"tower": {"feed_forward": 4, "norm": "layer"}}"#, &["tower.feed_forward", "tower.norm"]),
            (
                r#"{"tower": {"accumulator": "clipped", "inputs": "threats"}}"#,
                &["tower.accumulator", "tower.inputs"],
            ),
            (r#"{"tower": {"kind": "resnet", "se_ratio": 8}}"#, &["tower.se_ratio"]),
            (r#"{"tower": {"kind": "transformer", "se_ratio": 8}}"#, &["tower.se_ratio"]),
            (
                r#"{"tower": {"kind": "nnue"}, "policy_head": {"kernel": 3}, "value_head": {"filters": 8},
                   "moves_left_head": {"filters": 4}}"#,
                &["policy_head.kernel", "value_head.filters", "moves_left_head.filters"],
            ),
            (r#"{"tower": {"kind": "nnue"}, "policy_head": {"kind": "dense"}}"#, &["policy_head.kind"]),
        ];
        for (text, fields) in cases {
            let error = read(text).expect_err(text);
            let named =
                fields.iter().filter(|field| error.contains(&format!("{field}: has no effect in the kind")));
            assert_eq!(named.count(), fields.len(), "{error}");
            assert_eq!(error.matches("has no effect").count(), fields.len(), "{error}");
        }
        // Files have every parameter, so those with the default's value are read.
        read(r#"{"tower": {"kind": "nnue", "blocks": 6, "heads": 4}}"#).expect("as in files");
    }
}
