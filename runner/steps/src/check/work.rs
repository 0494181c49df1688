//! How much a step is: what it counts, and what of it one thing has to follow another.

use dc0_core::arena::ArenaParams;
use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::params::Value;
use dc0_core::search::{AnalysisParams, SearchParams};
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::TrainParams;

use crate::handles::{Network, Opponent, Window};
use crate::speeds::Pace;

/// The size of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    pub(super) games: u64,
    pub(super) positions: u64,
    pub(super) evaluations: u64,
    pub(super) updates: u64,
    /// Samples that the updates learn from.
    pub(super) samples: u64,
    /// Floating-point operations of nets, those of training three times over.
    pub(super) flops: f64,
    /// Bytes of files.
    pub(super) bytes: f64,
}

impl Work {
    pub(super) fn add(&mut self, other: Self) {
        self.games += other.games;
        self.positions += other.positions;
        self.evaluations += other.evaluations;
        self.updates += other.updates;
        self.samples += other.samples;
        self.flops += other.flops;
        self.bytes += other.bytes;
    }
}

/// How a step's games or positions are dealt out.
#[derive(Debug, Clone, Copy)]
struct Dealt {
    /// Games or positions of the step.
    count: u32,
    /// Those of a shard.
    shard: u32,
    /// Those of a shard that are played side by side.
    seats: u32,
    /// Threads that take one shard after the other.
    lanes: u32,
}

impl Dealt {
    /// How a step goes whose every game takes so many evaluations one after the other; `batches` are those that each takes part
    /// in, of which a net has its own.
    fn pace(self, in_order: f64, batches: f64, evaluations: f64, flops: f64) -> Pace {
        let shards = self.count.div_ceil(self.shard);
        let turns = shards.div_ceil(self.lanes.max(1));
        let share = f64::from(turns) / f64::from(shards.max(1));
        let waves = self.shard.min(self.count).div_ceil(self.seats.max(1));
        Pace {
            shards: turns,
            batches: f64::from(turns) * f64::from(waves) * in_order * batches,
            items: share * evaluations,
            flops: share * flops,
            read: 0.0,
        }
    }
}

pub(super) fn number(summary: &Value, name: &str) -> u64 {
    summary.member(name).and_then(Value::as_f64).map_or(0, |number| number as u64)
}

/// Floating-point operations of one evaluation.
fn flops(network: &Network) -> f64 {
    number(&network.0.summary, "flops") as f64
}

/// Bytes of a table besides its rows. This and the other sizes were measured on games of small nets.
const TABLE_BYTES: f64 = 2500.0;
/// Bytes of one game's row.
const GAME_BYTES: f64 = 135.0;

/// A net's weights and its description.
pub(super) fn of_network(spec: &NetworkSpec) -> (Work, Pace) {
    (Work { bytes: weight_bytes(spec), ..Work::default() }, Pace::default())
}

fn weight_bytes(spec: &NetworkSpec) -> f64 {
    4.0 * parameter_count(spec) as f64 + 1000.0
}

/// Games with this summary. A position's row has its moves' visits: the more simulations, the more moves.
pub(super) fn of_games(
    summary: &Value,
    network: &Network,
    params: &SelfPlayParams,
    lanes: u32,
) -> (Work, Pace) {
    let [games, positions, evaluations] =
        ["games", "positions", "evaluations"].map(|name| number(summary, name));
    let row = 20.0 + 5.0 * f64::from(params.search.simulations).sqrt();
    let shards = f64::from(params.games.div_ceil(params.shard_games));
    let bytes = games as f64 * GAME_BYTES + positions as f64 * row + shards * 2.0 * TABLE_BYTES;
    let flops = evaluations as f64 * flops(network);
    let dealt = Dealt { count: params.games, shard: params.shard_games, seats: params.seats, lanes };
    let in_order = evaluations as f64 / games.max(1) as f64 / f64::from(params.search.leaves);
    let pace = dealt.pace(in_order, 1.0, evaluations as f64, flops);
    (Work { games, positions, evaluations, flops, bytes, ..Work::default() }, pace)
}

/// A training; a sample's backward pass takes twice its forward pass. The whole window is read, and held-out positions are
/// looked at before the first update, at every checkpoint and after the last.
pub(super) fn of_training(start: &Network, window: &Window, params: &TrainParams) -> (Work, Pace) {
    let updates = u64::from(params.updates);
    let samples = updates * u64::from(params.batch);
    let each = flops(start);
    let flops = 3.0 * samples as f64 * each;
    let bytes = weight_bytes(&start.0.spec) + 2.0 * TABLE_BYTES;
    let positions = window.sum("positions") as f64;
    let held_out = (positions * params.validation_fraction).min(f64::from(params.validation_samples));
    let looks = 1.0 + f64::from(params.updates.div_ceil(params.checkpoint_every));
    let pace = Pace {
        shards: 0,
        batches: updates as f64,
        items: samples as f64 + held_out * looks / 3.0,
        flops: flops + held_out * looks * each,
        read: positions,
    };
    (Work { updates, samples, flops, bytes, ..Work::default() }, pace)
}

/// Searches of so many positions.
pub(super) fn of_searches(
    positions: u64,
    network: &Network,
    params: &AnalysisParams,
    lanes: u32,
) -> (Work, Pace) {
    let evaluations = positions * u64::from(params.search.simulations);
    let flops = evaluations as f64 * flops(network);
    let count = u32::try_from(positions).unwrap_or(u32::MAX);
    let dealt = Dealt { count, shard: params.shard_positions, seats: params.shard_positions, lanes };
    let pace = dealt.pace(in_order(1.0, &params.search), 1.0, evaluations as f64, flops);
    let bytes = 2.0 * TABLE_BYTES;
    (Work { positions, evaluations, flops, bytes, ..Work::default() }, pace)
}

/// Evaluations one after the other of so many moves.
fn in_order(moves: f64, search: &SearchParams) -> f64 {
    moves * f64::from(search.simulations) / f64::from(search.leaves)
}

/// A match of so many positions; an opponent without a net needs no evaluations. Two nets have a batch each, in which their half
/// of the games are.
pub(super) fn of_match(
    positions: u64,
    params: &ArenaParams,
    (first, second): (&Network, &Opponent),
    lanes: u32,
) -> (Work, Pace) {
    let games = u64::from(params.games);
    let moves = positions as f64 / games.max(1) as f64 / 2.0;
    let mut evaluations = 0;
    let (mut flops_of_both, mut one_after_the_other) = (0.0, 0.0);
    let theirs = params.opponent_search.as_ref().unwrap_or(&params.search);
    let second = match second {
        Opponent::Network(network) => Some((network, theirs)),
        Opponent::Random | Opponent::Greedy => None,
    };
    let batches = if second.is_some() { 2.0 } else { 1.0 };
    for (network, search) in [Some((first, &params.search)), second].into_iter().flatten() {
        let own = positions.div_ceil(2) * u64::from(search.simulations);
        evaluations += own;
        flops_of_both += own as f64 * flops(network);
        one_after_the_other += in_order(moves, search);
    }
    let dealt = Dealt { count: params.games, shard: params.shard_games, seats: params.shard_games, lanes };
    let pace = dealt.pace(one_after_the_other, batches, evaluations as f64, flops_of_both);
    let bytes = TABLE_BYTES + games as f64 * GAME_BYTES;
    (Work { games, positions, evaluations, flops: flops_of_both, bytes, ..Work::default() }, pace)
}

#[cfg(test)]
mod tests {
    use super::Dealt;

    #[test]
    fn shards_follow_one_another_where_lanes_are_few() {
        let dealt = Dealt { count: 40, shard: 8, seats: 64, lanes: 2 };
        // Five shards on two lanes take three turns; the busier lane has three fifths of everything.
        let pace = dealt.pace(100.0, 1.0, 4000.0, 1e9);
        assert_eq!((pace.shards, pace.batches), (3, 300.0));
        assert!((pace.items - 2400.0).abs() < 1e-9 && (pace.flops - 6e8).abs() < 1.0);
        // One shard keeps one lane busy, however many there are.
        let one = Dealt { count: 8, lanes: 16, ..dealt }.pace(100.0, 1.0, 800.0, 1.0);
        assert_eq!((one.shards, one.items), (1, 800.0));
        // Fewer seats than games: two waves.
        let waves = Dealt { count: 8, seats: 5, ..dealt }.pace(100.0, 2.0, 800.0, 1.0);
        assert_eq!(waves.batches, 400.0);
    }
}
