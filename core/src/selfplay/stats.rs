//! Statistics of an iteration of self-play.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::records::{GameRow, PositionRow};
use crate::board::GameResult;
use crate::math::ln;
use crate::params::Value;

/// Sums over games. Shards are merged, and rates computed at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfPlayStats {
    /// Finished games.
    pub games: u64,
    /// Games that White won.
    pub white_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that Black won.
    pub black_wins: u64,
    /// Games by the reason that ended them.
    pub reasons: BTreeMap<String, u64>,
    /// Plies of all games, openings included.
    pub plies: u64,
    /// Searched positions.
    pub positions: u64,
    /// Evaluations that searches requested.
    pub evaluations: u64,
    /// Evaluations that came from the cache instead of the net.
    pub cache_hits: u64,
    /// Batches with at least one position that reached the net; of the reference engine, which makes none, the rounds with any.
    pub batches: u64,
    /// Simulations of all searches, visits that `reuse_tree` kept included.
    pub simulations: u64,
    /// Sum over positions of the entropy of the policy target, in nats.
    pub entropy_sum: f64,
    /// Games played to their end in which a side would have resigned; those that the ply cap cut off have none.
    #[serde(default)]
    pub resignations_tested: u64,
    /// Of these, games that the side did not lose.
    #[serde(default)]
    pub false_resignations: u64,
}

impl SelfPlayStats {
    /// Adds what the rows of a game and of its searched positions say. Evaluations, cache hits and batches are in no row.
    pub fn add_game(&mut self, game: &GameRow, positions: &[PositionRow]) {
        self.games += 1;
        match game.result {
            GameResult::WhiteWins => self.white_wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::BlackWins => self.black_wins += 1,
        }
        *self.reasons.entry(game.reason.name().to_owned()).or_default() += 1;
        self.plies += game.moves.len() as u64;
        self.positions += positions.len() as u64;
        self.simulations += positions.iter().map(|row| u64::from(row.simulations)).sum::<u64>();
        self.entropy_sum += positions.iter().map(|row| entropy(&row.target)).sum::<f64>();
    }

    /// Adds a round of evaluations. `cache_hits` are all since the shard began.
    pub(super) fn add_round(&mut self, evaluated: u64, cache_hits: u64) {
        let new_hits = cache_hits - self.cache_hits;
        self.evaluations += evaluated;
        self.cache_hits = cache_hits;
        self.batches += u64::from(evaluated > new_hits);
    }

    /// Adds the sums of another shard.
    pub fn merge(&mut self, other: &Self) {
        self.games += other.games;
        self.white_wins += other.white_wins;
        self.draws += other.draws;
        self.black_wins += other.black_wins;
        for (reason, games) in &other.reasons {
            *self.reasons.entry(reason.clone()).or_default() += games;
        }
        self.plies += other.plies;
        self.positions += other.positions;
        self.evaluations += other.evaluations;
        self.cache_hits += other.cache_hits;
        self.batches += other.batches;
        self.simulations += other.simulations;
        self.entropy_sum += other.entropy_sum;
        self.resignations_tested += other.resignations_tested;
        self.false_resignations += other.false_resignations;
    }

    /// Sums and rates by name, for scripts and manifests.
    pub fn to_value(&self) -> Value {
        let count = |count: u64| Value::Int(count as i64);
        let mean = |sum: f64, count: u64| Value::Float(if count == 0 { 0.0 } else { sum / count as f64 });
        let reasons = self.reasons.iter().map(|(reason, games)| (reason.clone(), count(*games))).collect();
        let fields = [
            ("games", count(self.games)),
            ("white_wins", count(self.white_wins)),
            ("draws", count(self.draws)),
            ("black_wins", count(self.black_wins)),
            ("reasons", Value::Group(reasons)),
            ("positions", count(self.positions)),
            ("evaluations", count(self.evaluations)),
            ("cache_hits", count(self.cache_hits)),
            ("simulations", count(self.simulations)),
            ("resignations_tested", count(self.resignations_tested)),
            ("false_resignations", count(self.false_resignations)),
            ("draw_rate", mean(self.draws as f64, self.games)),
            ("mean_plies", mean(self.plies as f64, self.games)),
            ("mean_entropy", mean(self.entropy_sum, self.positions)),
            ("mean_batch", mean((self.evaluations - self.cache_hits) as f64, self.batches)),
        ];
        Value::of(fields)
    }
}

/// Shannon entropy of shares, divided by their sum, in nats.
fn entropy(shares: &[u16]) -> f64 {
    let total: f64 = shares.iter().map(|share| f64::from(*share)).sum();
    let term = |share: &u16| {
        let share = f64::from(*share) / total;
        -share * ln(share)
    };
    shares.iter().filter(|share| **share > 0).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::{SelfPlayStats, entropy};
    use crate::board::{GameResult, Reason};
    use crate::params::Value;
    use crate::selfplay::{GameRow, PositionRow};

    fn game(result: GameResult) -> GameRow {
        GameRow {
            game: 0,
            network: String::new(),
            start_fen: String::new(),
            moves: Vec::new(),
            opening_plies: 0,
            result,
            reason: Reason::PlyCap.into(),
        }
    }

    #[test]
    fn games_add_up() {
        let mut stats = SelfPlayStats::default();
        for moves in [3, 2, 4] {
            let row = PositionRow { simulations: 10, target: vec![7, 7], ..PositionRow::default() };
            stats.add_game(&GameRow { moves: vec![0; moves], ..game(GameResult::Draw) }, &[row.clone(), row]);
        }
        assert_eq!((stats.games, stats.draws, stats.plies), (3, 3, 9));
        assert_eq!((stats.positions, stats.simulations, stats.reasons["ply_cap"]), (6, 60, 3));
        assert!((stats.entropy_sum - 6.0 * 2f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn entropy_of_equal_shares_is_the_log_of_their_number() {
        assert!((entropy(&[5, 5, 5, 5]) - 4f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(&[7]), 0.0);
    }

    #[test]
    fn mean_batch_excludes_cache_hits() {
        let stats = SelfPlayStats { evaluations: 80, cache_hits: 20, batches: 4, ..SelfPlayStats::default() };
        let Value::Group(fields) = stats.to_value() else { panic!("a group of figures") };
        assert_eq!(fields["mean_batch"], Value::Float(15.0));
    }

    /// Stats whose sums are `factor` times different numbers.
    fn stats(factor: u64, reasons: &[(&str, u64)]) -> SelfPlayStats {
        SelfPlayStats {
            games: 2 * factor,
            white_wins: 3 * factor,
            draws: 5 * factor,
            black_wins: 7 * factor,
            reasons: reasons.iter().map(|(reason, games)| ((*reason).to_owned(), *games)).collect(),
            plies: 11 * factor,
            positions: 13 * factor,
            evaluations: 17 * factor,
            cache_hits: 19 * factor,
            batches: 23 * factor,
            simulations: 29 * factor,
            entropy_sum: 31.0 * factor as f64,
            resignations_tested: 37 * factor,
            false_resignations: 41 * factor,
        }
    }

    #[test]
    fn games_are_counted_by_their_results() {
        use GameResult::{BlackWins, Draw, WhiteWins};
        let mut stats = SelfPlayStats::default();
        for result in [WhiteWins, Draw, WhiteWins, BlackWins, Draw, WhiteWins] {
            stats.add_game(&game(result), &[]);
        }
        assert_eq!((stats.games, stats.white_wins, stats.draws, stats.black_wins), (6, 3, 2, 1));
    }

    #[test]
    fn sums_of_shards_are_added() {
        let mut sum = stats(1, &[("checkmate", 2), ("stalemate", 1)]);
        sum.merge(&stats(3, &[("checkmate", 5), ("ply_cap", 4)]));
        assert_eq!(sum, stats(4, &[("checkmate", 7), ("ply_cap", 4), ("stalemate", 1)]));
    }
}
