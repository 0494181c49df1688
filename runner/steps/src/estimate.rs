//! Estimates of a step: how much work it is, and the sequential part that determines its time. Each kind of step estimates itself
//! with these functions.

use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::params::Value;
use dc0_core::search::SearchParams;

use crate::handles::Network;
use crate::speeds::ShardCost;

/// The amount of work of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Games.
    pub games: u64,
    /// Positions.
    pub positions: u64,
    /// Evaluations.
    pub evaluations: u64,
    /// Updates.
    pub updates: u64,
    /// Samples in the updates' batches.
    pub samples: u64,
    /// Floating-point operations of nets; a training sample counts three times an evaluation.
    pub flops: f64,
    /// Bytes of files.
    pub bytes: f64,
}

impl Work {
    /// Adds the work of another step.
    pub fn add(&mut self, other: Self) {
        self.games += other.games;
        self.positions += other.positions;
        self.evaluations += other.evaluations;
        self.updates += other.updates;
        self.samples += other.samples;
        self.flops += other.flops;
        self.bytes += other.bytes;
    }
}

/// The work of a step and its pace.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    /// The work.
    pub work: Work,
    /// The part of the work on the critical path.
    pub pace: ShardCost,
}

/// How a step's games or positions are split into shards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShardPlan {
    /// Games or positions of the step.
    pub(crate) count: u32,
    /// Games or positions of a shard.
    pub(crate) shard: u32,
    /// Games or positions of a shard that advance in lockstep.
    pub(crate) game_slots: u32,
    /// Threads that take one shard after the other.
    pub(crate) lanes: u32,
}

impl ShardPlan {
    /// The pace of a step whose games take `sequential` evaluations each, one after another. `batches` is the number of nets, since
    /// each net has batches of its own.
    pub(crate) fn pace(self, sequential: f64, batches: f64, evaluations: f64, flops: f64) -> ShardCost {
        let shards = self.count.div_ceil(self.shard);
        let rounds = shards.div_ceil(self.lanes.max(1));
        let share = f64::from(rounds) / f64::from(shards.max(1));
        let waves = self.shard.min(self.count).div_ceil(self.game_slots.max(1));
        ShardCost {
            shards: rounds,
            batches: f64::from(rounds) * f64::from(waves) * sequential * batches,
            items: share * evaluations,
            flops: share * flops,
            read: 0.0,
        }
    }
}

pub(crate) fn number(summary: &Value, name: &str) -> u64 {
    summary.figure(name).map_or(0, |number| number as u64)
}

/// Floating-point operations of one evaluation.
pub(crate) fn flops(network: &Network) -> f64 {
    number(&network.0.summary, "flops") as f64
}

/// Floating-point operations of the evaluations in a summary that no cache answered.
pub(crate) fn evaluated_flops(summary: &Value, network: &Network) -> f64 {
    let figure = |name| summary.figure(name).unwrap_or(0.0);
    (figure("evaluations") - figure("cache_hits")) * flops(network)
}

/// Bytes of a table without its rows. This and the other sizes were measured on games of small nets.
pub(crate) const TABLE_BYTES: f64 = 2500.0;
/// Bytes of one game's row.
pub(crate) const GAME_BYTES: f64 = 135.0;

/// Bytes of a net's weights and JSON file.
pub(crate) fn weight_bytes(spec: &NetworkSpec) -> f64 {
    4.0 * parameter_count(spec) as f64 + 1000.0
}

/// Evaluations of this many simulations, at most: those with a mirror image take two.
pub(crate) fn most_evaluations(simulations: u64, search: &SearchParams) -> u64 {
    if search.average_mirror { 2 * simulations } else { simulations }
}

/// Evaluations of this many moves that must follow one another.
pub(crate) fn sequential_evaluations(moves: f64, search: &SearchParams) -> f64 {
    moves * f64::from(search.simulations) / f64::from(search.leaf_batch)
}

/// Assumed plies of a future game, if `max_plies` allows; about the length of untrained nets' games.
const PLIES: u32 = 150;

/// Assumed plies after the opening of a future game.
pub(crate) fn assumed_plies(max_plies: u32, opening_plies: u32) -> u64 {
    u64::from(max_plies.min(PLIES).max(opening_plies) - opening_plies)
}

#[cfg(test)]
mod tests {
    use super::ShardPlan;

    #[test]
    fn lanes_share_shards_evenly() {
        let plan = ShardPlan { count: 40, shard: 8, game_slots: 64, lanes: 2 };
        // Five shards on two lanes take three rounds; the busier lane has three fifths of everything.
        let pace = plan.pace(100.0, 1.0, 4000.0, 1e9);
        assert_eq!((pace.shards, pace.batches), (3, 300.0));
        assert!((pace.items - 2400.0).abs() < 1e-9 && (pace.flops - 6e8).abs() < 1.0);
        // One shard keeps one lane busy, however many there are.
        let one = ShardPlan { count: 8, lanes: 16, ..plan }.pace(100.0, 1.0, 800.0, 1.0);
        assert_eq!((one.shards, one.items), (1, 800.0));
        // Fewer game slots than games: two waves.
        let waves = ShardPlan { count: 8, game_slots: 5, ..plan }.pace(100.0, 2.0, 800.0, 1.0);
        assert_eq!(waves.batches, 400.0);
    }
}
