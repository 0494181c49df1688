//! What an import has taken and left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::board::{Ending, GameResult};
use crate::params::Value;
use crate::store::{GameRow, HeaderRow, Reject};

/// The least size in centipawns of an evaluation that says who is ahead.
const PAWN: f32 = 100.0;

/// Sums over games. Shards are merged, and rates computed at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportStats {
    /// Games that were read: taken, broken or left out.
    pub read: u64,
    /// Games that were taken.
    pub games: u64,
    /// Games that White won.
    pub white_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that Black won.
    pub black_wins: u64,
    /// Games by what ended them.
    pub reasons: BTreeMap<String, u64>,
    /// Plies of all games.
    pub plies: u64,
    /// Their positions, without the plies that are skipped.
    pub positions: u64,
    /// Evaluations after moves.
    pub evals: u64,
    /// Pairs of evaluations after consecutive moves that both say who is ahead, in games that dc0 did not write.
    pub eval_pairs: u64,
    /// Of these, pairs that contradict each other.
    pub opposed_pairs: u64,
    /// Clocks after moves.
    pub clocks: u64,
    /// Broken games, by the kind of fault.
    pub rejected: BTreeMap<String, u64>,
    /// Games that were left out, by the option.
    pub left_out: BTreeMap<String, u64>,
}

/// A count by name.
fn count(counts: &mut BTreeMap<String, u64>, name: &str) {
    *counts.entry(name.to_owned()).or_default() += 1;
}

impl ImportStats {
    /// Adds what the row of a game that was taken says.
    pub fn add_game(&mut self, game: &GameRow, positions: usize) {
        self.read += 1;
        self.games += 1;
        match game.result {
            GameResult::WhiteWins => self.white_wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::BlackWins => self.black_wins += 1,
        }
        count(&mut self.reasons, game.reason.name());
        self.plies += game.moves.len() as u64;
        self.positions += positions as u64;
    }

    /// Adds what the row of its headers says: numbers that are not NaN.
    pub fn add_notes(&mut self, header: &HeaderRow) {
        let known = |figures: &[f32]| figures.iter().filter(|figure| !figure.is_nan()).count() as u64;
        let (clocks, evals) = (&header.clocks.0, &header.evals.0);
        self.clocks += known(clocks);
        self.evals += known(evals);
        // Whose the scores are that dc0 writes is known, and a player of its matches may be wrong about who is ahead all the time.
        if Ending::from_name(&header.termination).is_none() {
            let pairs = evals.windows(2).filter(|pair| pair.iter().all(|eval| eval.abs() >= PAWN));
            self.opposed_pairs += pairs.clone().filter(|pair| pair[0] * pair[1] < 0.0).count() as u64;
            self.eval_pairs += pairs.count() as u64;
        }
    }

    /// Adds a broken game.
    pub fn add_reject(&mut self, reason: Reject) {
        self.read += 1;
        count(&mut self.rejected, reason.name());
    }

    /// Adds a game that an option leaves out.
    pub(super) fn leave_out(&mut self, option: &str) {
        self.read += 1;
        count(&mut self.left_out, option);
    }

    /// Adds the sums of another shard.
    pub fn merge(&mut self, other: &Self) {
        let sums = [
            (&mut self.read, other.read),
            (&mut self.games, other.games),
            (&mut self.white_wins, other.white_wins),
            (&mut self.draws, other.draws),
            (&mut self.black_wins, other.black_wins),
            (&mut self.plies, other.plies),
            (&mut self.positions, other.positions),
            (&mut self.evals, other.evals),
            (&mut self.eval_pairs, other.eval_pairs),
            (&mut self.opposed_pairs, other.opposed_pairs),
            (&mut self.clocks, other.clocks),
        ];
        for (sum, more) in sums {
            *sum += more;
        }
        let counts = [
            (&mut self.reasons, &other.reasons),
            (&mut self.rejected, &other.rejected),
            (&mut self.left_out, &other.left_out),
        ];
        for (sum, more) in counts {
            for (name, games) in more {
                *sum.entry(name.clone()).or_default() += games;
            }
        }
    }

    /// Sums and rates by name, for scripts and manifests.
    pub fn to_value(&self) -> Value {
        let count = |count: u64| Value::Int(count as i64);
        let mean =
            |sum: u64| Value::Float(if self.games == 0 { 0.0 } else { sum as f64 / self.games as f64 });
        let group = |counts: &BTreeMap<String, u64>| {
            Value::Group(counts.iter().map(|(name, games)| (name.clone(), count(*games))).collect())
        };
        Value::of([
            ("read", count(self.read)),
            ("games", count(self.games)),
            ("white_wins", count(self.white_wins)),
            ("draws", count(self.draws)),
            ("black_wins", count(self.black_wins)),
            ("reasons", group(&self.reasons)),
            ("positions", count(self.positions)),
            ("evals", count(self.evals)),
            ("eval_pairs", count(self.eval_pairs)),
            ("opposed_pairs", count(self.opposed_pairs)),
            ("clocks", count(self.clocks)),
            ("rejected", group(&self.rejected)),
            ("left_out", group(&self.left_out)),
            ("draw_rate", mean(self.draws)),
            ("mean_plies", mean(self.plies)),
        ])
    }
}
