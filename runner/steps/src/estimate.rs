//! How much a step is: what it counts, and what of it one thing has to follow another. Each kind of step estimates itself with
//! what stands here.

use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::params::Value;
use dc0_core::search::SearchParams;

use crate::handles::Network;
use crate::speeds::Pace;

/// The size of a step.
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
    /// Samples that the updates learn from.
    pub samples: u64,
    /// Floating-point operations of nets, those of training three times over.
    pub flops: f64,
    /// Bytes of files.
    pub bytes: f64,
}

impl Work {
    /// Adds another step.
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

/// The size of a step and its pace.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    /// What it counts.
    pub work: Work,
    /// What of it has to follow.
    pub pace: Pace,
}

/// How a step's games or positions are dealt out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShardPlan {
    /// Games or positions of the step.
    pub(crate) count: u32,
    /// Those of a shard.
    pub(crate) shard: u32,
    /// Those of a shard that are played side by side.
    pub(crate) seats: u32,
    /// Threads that take one shard after the other.
    pub(crate) lanes: u32,
}

impl ShardPlan {
    /// How a step goes whose every game takes so many evaluations one after the other; `batches` are those that each takes part
    /// in, of which a net has its own.
    pub(crate) fn pace(self, in_order: f64, batches: f64, evaluations: f64, flops: f64) -> Pace {
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

pub(crate) fn number(summary: &Value, name: &str) -> u64 {
    summary.member(name).and_then(Value::as_f64).map_or(0, |number| number as u64)
}

/// Floating-point operations of one evaluation.
pub(crate) fn flops(network: &Network) -> f64 {
    number(&network.0.summary, "flops") as f64
}

/// Bytes of a table besides its rows. This and the other sizes were measured on games of small nets.
pub(crate) const TABLE_BYTES: f64 = 2500.0;
/// Bytes of one game's row.
pub(crate) const GAME_BYTES: f64 = 135.0;

/// Bytes of a net's weights and its description.
pub(crate) fn weight_bytes(spec: &NetworkSpec) -> f64 {
    4.0 * parameter_count(spec) as f64 + 1000.0
}

/// Evaluations one after the other of so many moves.
pub(crate) fn in_order(moves: f64, search: &SearchParams) -> f64 {
    moves * f64::from(search.simulations) / f64::from(search.leaves)
}

/// Plies of a game that is not played yet, where `max_plies` allows; about what untrained nets play.
const PLIES: u32 = 150;

/// What plans assume, for people.
pub(crate) const ASSUMPTIONS: &str = "assumed: games of 150 plies (or max_plies), 30% of them drawn, every simulation evaluates, matches end even, a table has one row of zeros";

/// Plies that nets choose in a game that is not played yet.
pub(crate) fn assumed_plies(max_plies: u32, opening_plies: u32) -> u64 {
    u64::from(max_plies.min(PLIES).max(opening_plies) - opening_plies)
}

#[cfg(test)]
mod tests {
    use super::ShardPlan;

    #[test]
    fn shards_follow_one_another_where_lanes_are_few() {
        let plan = ShardPlan { count: 40, shard: 8, seats: 64, lanes: 2 };
        // Five shards on two lanes take three turns; the busier lane has three fifths of everything.
        let pace = plan.pace(100.0, 1.0, 4000.0, 1e9);
        assert_eq!((pace.shards, pace.batches), (3, 300.0));
        assert!((pace.items - 2400.0).abs() < 1e-9 && (pace.flops - 6e8).abs() < 1.0);
        // One shard keeps one lane busy, however many there are.
        let one = ShardPlan { count: 8, lanes: 16, ..plan }.pace(100.0, 1.0, 800.0, 1.0);
        assert_eq!((one.shards, one.items), (1, 800.0));
        // Fewer seats than games: two waves.
        let waves = ShardPlan { count: 8, seats: 5, ..plan }.pace(100.0, 2.0, 800.0, 1.0);
        assert_eq!(waves.batches, 400.0);
    }
}
