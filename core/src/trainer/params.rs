//! The parameters of training.

use crate::board::{Tablebase, TablebaseError};
use crate::params::{Advice, Schedule, advice};
use crate::{param_enum, params};

param_enum! {
    /// How gradients become updates.
    pub enum OptimizerKind {
        /// Stochastic gradient descent with momentum (Sutskever et al. 2013), as AlphaZero trained.
        Sgd = "sgd",
        /// Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019).
        AdamW = "adamw",
        /// Momentum whose steps are made orthogonal (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"),
        /// for the weights of hidden layers: convolutions as matrices of their outputs; queries, keys and values as three. `adamw` for
        /// all others: first layers, embeddings, the last layer of each head, biases and norms. Steps are scaled to the size of
        /// `adamw`'s (Liu et al. 2025, "Muon is scalable for LLM training", equation 4), so learning rates and weight decay are the
        /// same.
        Muon = "muon",
    }
}

param_enum! {
    /// The precision of convolutions and dense layers while training; weights and their updates are always 32-bit floats.
    pub enum TrainPrecision {
        /// bf16 in a run whose nets are evaluated in bf16, otherwise f32.
        Auto = "auto",
        /// 32-bit floats.
        Float32 = "f32",
        /// 16-bit brain floats in the layers, 32 bits in batch norm's parameters and the losses (mixed precision,
        /// Micikevicius et al. 2018; without loss scaling, Kalamkar et al. 2019). About 1.7 times as fast on devices that
        /// support it natively; on other CPUs up to 18 times slower, which a step says.
        BFloat16 = "bf16",
    }
}

param_enum! {
    /// Whether mirror images of positions, files a to h reversed, are trained on. Positions in which a side may castle have none.
    pub enum Mirroring {
        /// Positions as they were played.
        None = "none",
        /// Each drawn sample is mirrored with probability one half, as in KataGo's training.
        Random = "random",
        /// Each epoch has every sample twice, once as it was played and once mirrored; samples without a mirror image twice as they
        /// were played, so that no kind of position gets more weight.
        Both = "both",
    }
}

impl Mirroring {
    /// How often an epoch has each sample.
    pub fn images(self) -> u64 {
        match self {
            Self::None | Self::Random => 1,
            Self::Both => 2,
        }
    }
}

param_enum! {
    /// Which statistics batch norm uses while training.
    pub enum BatchNormMode {
        /// The batch's; the running statistics are updated.
        Batch = "batch",
        /// The running ones, unchanged; for fine-tuning a trained net on data of another distribution.
        Frozen = "frozen",
    }
}

param_enum! {
    /// Which positions are trained on.
    pub enum TrainedPositions {
        /// Those of full searches, where playout cap randomisation made some fast, each with a policy target; as in KataGo, which records no others (Wu 2020, section 3.1). So every
        /// row of a batch has a policy target, and a game's value target counts less often.
        Full = "full",
        /// All; those without a policy target train the other heads.
        All = "all",
        /// All but those in check and those whose move captures or promotes: a net that a quiescence search asks is asked for the values of
        /// quiet positions. As Stockfish's trainer leaves them out (`nnue-pytorch`, smart FEN skipping: checks and captures).
        Quiet = "quiet",
    }
}

impl TrainedPositions {
    /// Whether a position is one of these.
    pub(super) fn include(self, is_full: bool, is_quiet: bool) -> bool {
        match self {
            Self::Full => is_full,
            Self::All => true,
            Self::Quiet => is_quiet,
        }
    }
}

param_enum! {
    /// What a full search teaches the policy.
    pub enum PolicyTarget {
        /// What the search's root rule made of it: the improved policy of a Gumbel root (Danihelka et al. 2022, equation 11); visits
        /// without forced playouts, with proven moves settled, of a PUCT root.
        Search = "search",
        /// The shares of visits as they were counted (AlphaZero 2018), or the search's own target if nothing was visited.
        Visits = "visits",
    }
}

param_enum! {
    /// The result of a game that the ply cap cut off: it has none (Pardo et al. 2018, "Time limits in reinforcement learning").
    pub enum CappedGames {
        /// The value that the game's last search found, carried back: partial-episode bootstrapping (Pardo et al. 2018, section 3).
        Bootstrap = "bootstrap",
        /// A draw.
        Draw = "draw",
    }
}

param_enum! {
    /// Where the optimiser's state comes from.
    pub enum OptimizerStart {
        /// From the training that made the net, if it used the same kind of optimiser and kept its state; else it starts empty, as
        /// `fresh` does. An empty state makes the first updates of `adamw` as large as the learning rate, whatever the gradient.
        Carried = "carried",
        /// It starts empty.
        Fresh = "fresh",
    }
}

param_enum! {
    /// How weights are averaged.
    pub enum AverageKind {
        /// An exponential moving average (Polyak & Juditsky 1992), which goes on from one training with it to the next, with the optimiser's state.
        Ema = "ema",
        /// The plain mean over one training (stochastic weight averaging, Izmailov et al. 2018).
        Swa = "swa",
    }
}

params! {
    /// Averages of the weights over the updates, as Leela Chess Zero and KataGo play with. The average is the trained net, which
    /// plays and is validated; a training that carries the optimiser's state on starts from the weights themselves, even if it has no
    /// average of its own, and one with a fresh state from the average. Batch norm's running statistics are averaged like weights.
    pub struct WeightAverage {
        /// How weights are averaged.
        kind: AverageKind = AverageKind::Ema;
        /// What `ema` keeps of the average in each of its steps, at most; the `n`-th step, counted from 0, keeps (1 + n) / (10 + n) if that is
        /// less, so that the start is soon forgotten.
        decay: f64 = 0.99, in 0.0..=0.999_999;
        /// Updates between two steps of the average. `ema` also counts those before the training, if the optimiser's state is carried.
        every: u32 = 1, in 1..=1_000_000;
        /// Updates of the training before the first step of `swa`.
        start: u32 = 0, in 0..=100_000_000;
    }
    unused |average| {
        let message = "belongs to `ema`; leave it out, or set kind to \"ema\"".to_owned();
        (average.kind == AverageKind::Swa).then_some(("decay", message)).into_iter().collect()
    };
}

params! {
    /// The optimiser.
    pub struct OptimizerParams {
        /// How gradients become updates.
        kind: OptimizerKind = OptimizerKind::AdamW;
        /// Where its state comes from.
        state: OptimizerStart = OptimizerStart::Carried;
        /// Momentum of `sgd` and `muon`: the share of the last step that it repeats (0.9 in AlphaZero 2018; 0.95 in Jordan et al. 2024).
        momentum: f64 = 0.9, in 0.0..=0.999;
        /// Whether `sgd` uses Nesterov momentum (as in Sutskever et al. 2013).
        nesterov: bool = false;
        /// Decay of `adamw`'s mean of gradients (Kingma & Ba 2015).
        beta1: f64 = 0.9, in 0.0..=0.9999;
        /// Decay of `adamw`'s mean of squared gradients (Kingma & Ba 2015).
        beta2: f64 = 0.999, in 0.0..=0.999_999;
        /// Keeps `adamw`'s divisor away from 0 (Kingma & Ba 2015).
        epsilon: f64 = 1e-8, in 1e-16..=1.0;
        /// Weight decay of convolutions, dense layers and embeddings; never of biases and norms. `adamw` and `muon` shrink
        /// weights by `learning_rate · weight_decay` (0.01 as in PyTorch); `sgd` adds `weight_decay · weight` to the
        /// gradient, which is L2 regularisation (AlphaZero 2018 used 1e-4).
        weight_decay: f64 = 0.01, in 0.0..=1.0;
    }
    check check_optimizer;
}

params! {
    /// One training step.
    pub struct TrainParams {
        /// Optimiser updates, one batch each.
        updates: u32 = 1000, in 1..=100_000_000;
        /// Samples in a batch.
        batch: u32 = 256, in 1..=65_536;
        /// Mirror images as further samples: without castling rights the rules do not distinguish left from right. Held-out samples
        /// are measured as they were played.
        mirror: Mirroring = Mirroring::Random;
        /// How gradients become updates.
        optimizer: OptimizerParams = OptimizerParams::default();
        /// Learning rate; a function of the update, counted from 0. 0.001 is Adam's (Kingma & Ba 2015).
        learning_rate: Schedule = Schedule::constant(0.001), in 0.0..=10.0;
        /// Largest L2 norm of the whole gradient; larger ones are scaled down to it (Pascanu et al. 2013). `()` for no limit.
        clip_norm: Option<f64> = None, in 1e-6..=1e6;
        /// Weight of the policy's cross-entropy in the loss; a function of the update, like all weights of losses.
        policy_weight: Schedule = Schedule::constant(1.0), in 0.0..=1000.0;
        /// Weight of the value's loss: cross-entropy, or the squared error of a `scalar` head, as a mean over a batch in which each
        /// position counts by its own weight (`ply_cap_value_weight`, `quiet_values`).
        value_weight: Schedule = Schedule::constant(1.0), in 0.0..=1000.0;
        /// Weight of the moves-left head's loss, if the net has that head: the Huber loss of plies / 20, with a delta of 10 plies, over
        /// positions of games that were played to their end (`lczero-training`, `tfprocess.py`). 1 as in Leela's training configurations.
        moves_left_weight: Schedule = Schedule::constant(1.0), in 0.0..=1000.0;
        /// Weight of the `soft_policy` head's cross-entropy, if the net has that head. 8 as in KataGo (`KataGoMethods.md`): a flat
        /// target has small gradients.
        soft_policy_weight: Schedule = Schedule::constant(8.0), in 0.0..=1000.0;
        /// Temperature of the `soft_policy` head's target: `(p + 1e-7)^(1/T)` over the legal moves, normalised. 4 as in KataGo.
        soft_policy_temperature: f64 = 4.0, in 1.0..=100.0;
        /// Weight of the `reply` head's cross-entropy, if the net has that head, over positions whose next one has a policy target.
        /// 0.15 as in KataGo (Wu 2020, section 3.4).
        reply_weight: Schedule = Schedule::constant(0.15), in 0.0..=1000.0;
        /// Weight of the `material` head's loss, if the net has that head: the squared error in pawns / 9, a queen. 0.25 as
        /// KataGo's weight of later positions (`metrics_pytorch.py`).
        material_weight: Schedule = Schedule::constant(0.25), in 0.0..=1000.0;
        /// How many plies later the `material` head predicts the balance of material; the last position's in games that end before.
        material_plies: u32 = 8, in 0..=1000;
        /// What a full search teaches the policy.
        policy_target: PolicyTarget = PolicyTarget::Search;
        /// Temperature of the policy's target: shares become `p^(1/T)`, normalised. Above 1 softer, below 1 sharper.
        policy_temperature: f64 = 1.0, in 0.1..=100.0;
        /// Which positions are trained on.
        positions: TrainedPositions = TrainedPositions::Full;
        /// Policy surprise weighting: the share of a game's training weight that its positions get by how much the search changed the
        /// policy, KL(target ‖ prior); the rest they share equally. KataGo uses 0.5 (`KataGoMethods.md`).
        surprise_weight: f64 = 0.0, in 0.0..=1.0;
        /// How often positions are trained on by the number of pieces on the board: eight numbers, for 1 to 4 pieces, 5 to 8, and so on
        /// to 29 to 32, as Stockfish's nets divide games into phases; `[]` for all alike.
        phase_weights: Vec<f64> = Vec::new(), in 0.0..=100.0;
        /// The most positions of one game that are trained on, drawn afresh in each training; `()` for all. A game's positions are much
        /// alike and share one result: `AlphaGo` took one of each game, lest the value memorise games (Silver et al. 2016, "Mastering
        /// the game of Go with deep neural networks and tree search", Methods).
        positions_per_game: Option<u32> = None, in 1..=10_000;
        /// Whether positions with the same input become one sample, with the means of their policy and value targets; the other
        /// heads learn those of the first, the reply being the next position's policy target, which may be such a mean. Otherwise the first positions of games count as often as they were played.
        deduplicate: bool = false;
        /// Share of the search's win, draw and loss in the value target; the rest is the game's result. 0 is AlphaZero's
        /// choice; Abrams 2018 (Lessons from AlphaZero, part 4) found an even mixture better for Connect Four.
        search_value_weight: f64 = 0.5, in 0.0..=1.0;
        /// Horizon of the search's part of the value target, in plies: the mean distance of the later searches of the game whose
        /// values it averages, less the next weighing (1 − 1/horizon) times as much as the one before. 1 takes the position's own
        /// search alone. KataGo's short-term values have about 6, 16 and 50.
        search_value_horizon: f64 = 1.0, in 1.0..=10_000.0;
        /// Discounted outcome: a win or loss `n` plies later counts as won or lost with probability `discount^n` and as drawn
        /// otherwise, so that a quicker win has a larger value. A departure from AlphaZero, which does not discount (1).
        discount: f64 = 1.0, in 0.9..=1.0;
        /// The result of games that only the ply cap ended.
        capped_games: CappedGames = CappedGames::Bootstrap;
        /// Weight of positions in the value's loss if only the ply cap ended their game, beside 1 for those of other games; less than 1
        /// keeps many such games from pulling all values towards a draw, where they count as drawn.
        ply_cap_value_weight: f64 = 1.0, in 0.0..=1.0;
        /// Whether only quiet positions train the value: those without a check whose move neither captures nor promotes. The others train
        /// the other heads. For nets that a quiescence search asks for values; with `positions: "quiet"` the policy would not learn to
        /// capture.
        quiet_values: bool = false;
        /// Folder of Syzygy tablebases, or several separated by `:`, that correct the games' results as Leela Chess Zero's
        /// rescorer does: a position gets the result of perfect play from the first position at or after it that the
        /// tablebases cover. `()` for the results as played.
        tablebases: Option<String> = None;
        /// Share of games that are held out: never trained on, only used to measure the losses.
        validation_fraction: f64 = 0.05, in 0.0..=0.5;
        /// Most held-out positions measured in one validation, evenly spaced.
        validation_samples: u32 = 4096, in 1..=10_000_000;
        /// Share of a batch in batch norm's running mean and variance (Ioffe & Szegedy 2015; 0.1 as in PyTorch).
        batch_norm_momentum: f64 = 0.1, in 0.0001..=1.0;
        /// Which statistics batch norm uses.
        batch_norm: BatchNormMode = BatchNormMode::Batch;
        /// Precision of convolutions and dense layers.
        precision: TrainPrecision = TrainPrecision::Auto;
        /// Averages of the weights over the updates; () for the weights as they are after the last.
        average: Option<WeightAverage> = None;
        /// Whether the training state is kept with the net, for trainings that start from it: the weights themselves, the
        /// optimiser's averages and the weights' average. With `adamw` three times the size of the net.
        keep_state: bool = true;
        /// Updates between saved training states, each with a validation.
        checkpoint_every: u32 = 100, in 1..=1_000_000;
        /// Updates in one row of the training curve, which holds their means.
        log_every: u32 = 10, in 1..=1_000_000;
    }
    check check_train;
    unused unused_in_training;
}

impl WeightAverage {
    /// The first update, counted from 1, after which weights are averaged.
    fn first_step(&self) -> u64 {
        let every = u64::from(self.every);
        (u64::from(self.start) / every + 1) * every
    }
}

/// The phases of a game, by the number of pieces on the board.
pub(super) const PHASES: usize = 8;

impl TrainParams {
    /// Opens the tablebases that correct results, if any are set.
    pub fn open_tablebases(&self) -> Result<Option<Tablebase>, TablebaseError> {
        Tablebase::open_if(self.tablebases.as_deref())
    }
}

fn check_optimizer(params: &OptimizerParams) -> Advice {
    let mut problems = Vec::new();
    let declared = OptimizerParams::default();
    if params.kind == OptimizerKind::AdamW && params.momentum != declared.momentum {
        let message = "has no effect with `adamw`, which has beta1 instead; leave it out, or set kind to \"sgd\" or \"muon\"";
        problems.push(("momentum", message.to_owned()));
    }
    if params.kind == OptimizerKind::Sgd {
        let message = "has no effect with `sgd`; leave it out, or set kind to \"adamw\" or \"muon\"";
        problems.extend(advice([
            ("beta1", params.beta1 != declared.beta1, message),
            ("beta2", params.beta2 != declared.beta2, message),
            ("epsilon", params.epsilon != declared.epsilon, message),
        ]));
    }
    if params.nesterov && params.kind != OptimizerKind::Sgd {
        problems.push((
            "nesterov",
            "only `sgd` has Nesterov momentum; set kind to \"sgd\" or leave nesterov out".to_owned(),
        ));
    }
    if params.nesterov && params.momentum == 0.0 {
        problems.push(("nesterov", "needs momentum above 0".to_owned()));
    }
    problems
}

fn unused_in_training(params: &TrainParams) -> Advice {
    let momentum = "has no effect with batch_norm \"frozen\", which leaves the running statistics as they are; leave it out, or set \
                    batch_norm to \"batch\"";
    let is_frozen = params.batch_norm == BatchNormMode::Frozen;
    let momentum = is_frozen.then(|| ("batch_norm_momentum", momentum.to_owned()));
    unused_horizon(params.search_value_weight).into_iter().chain(momentum).collect()
}

/// The horizon of the search's value, where that has no weight.
pub(super) fn unused_horizon(search_value_weight: f64) -> Option<(&'static str, String)> {
    let message = "has no effect with search_value_weight 0, which takes no value of a search; leave it out, or set a weight";
    (search_value_weight == 0.0).then(|| ("search_value_horizon", message.to_owned()))
}

fn check_train(params: &TrainParams) -> Advice {
    let mut problems = Vec::new();
    let updates = params.updates;
    if [&params.policy_weight, &params.value_weight].iter().all(|weight| weight.max_below(updates) == 0.0) {
        let message = format!(
            "neither policy nor value would be trained: policy_weight is 0 too in each of the {updates} updates"
        );
        problems.push(("value_weight", message));
    }
    if let Some(average) = &params.average {
        let first = average.first_step();
        // `ema` counts the updates of a carried state, too, which is not known here.
        let (is_fresh, after) = match average.kind {
            AverageKind::Ema => (params.optimizer.state == OptimizerStart::Fresh, ""),
            AverageKind::Swa => (true, " after `start`"),
        };
        if is_fresh && first > u64::from(updates) {
            let message = format!(
                "nothing would be averaged: its first step is at update {first}, the first multiple of `every`{after}, and updates = \
                {updates}"
            );
            problems.push(("average", message));
        }
        if average.kind == AverageKind::Ema && average.start > 0 {
            problems
                .push(("average.start", "belongs to `swa`; leave it out, or set kind to \"swa\"".to_owned()));
        }
    }
    if params.quiet_values && params.positions == TrainedPositions::Quiet {
        let message = "has no effect with positions \"quiet\", which trains every head on quiet positions only; leave it out, or choose \
            other positions";
        problems.push(("quiet_values", message.to_owned()));
    }
    let phases = &params.phase_weights;
    if !phases.is_empty() && phases.len() != PHASES {
        let message =
            format!("expected none or {PHASES} numbers, for each four pieces one, got {}", phases.len());
        problems.push(("phase_weights", message));
    } else if !phases.is_empty() && phases.iter().all(|weight| *weight == 0.0) {
        problems.push(("phase_weights", "nothing would be trained: all are 0".to_owned()));
    }
    if params.learning_rate.max_below(updates) == 0.0 {
        let message = format!("nothing would be trained: it is 0 in each of the {updates} updates");
        problems.push(("learning_rate", message));
    }
    problems
}
