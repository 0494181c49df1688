//! Games of players of known strength.

use dc0_core::arena::rating::{PairResult, Tally, chances};
use dc0_core::rng::Stream;
use rand::RngExt;

/// Where games are drawn from.
#[derive(Clone, Copy)]
pub(super) struct Synthetic {
    /// White's advantage, in Elo.
    pub(super) white: f64,
    /// The standard deviation of an opening's effect, in Elo.
    pub(super) openings: f64,
    /// How often equal players draw.
    pub(super) draws: f64,
}

impl Synthetic {
    /// White's advantage in one opening.
    fn advantage(&self, stream: &mut Stream) -> f64 {
        // The sum of twelve uniform numbers is nearly normal.
        let normal = (0..12).map(|_| stream.random::<f64>()).sum::<f64>() - 6.0;
        self.white + self.openings * normal
    }

    /// The first player's points in a game in which it is stronger by `elo`.
    fn game(&self, elo: f64, stream: &mut Stream) -> f64 {
        let chances = chances(elo, self.draws);
        let drawn: f64 = stream.random();
        if drawn < chances.win { 1.0 } else { f64::from(u8::from(drawn < chances.win + chances.draw)) / 2.0 }
    }

    /// The first player's points in both games of a pair, first with White.
    fn both(&self, elo: f64, stream: &mut Stream) -> [f64; 2] {
        let advantage = self.advantage(stream);
        [elo + advantage, elo - advantage].map(|elo| self.game(elo, stream))
    }

    /// The first player's points in a pair.
    pub(super) fn pair(&self, elo: f64, stream: &mut Stream) -> f64 {
        self.both(elo, stream).iter().sum()
    }

    /// The probabilities of a pair's points, by halves, in a random opening.
    pub(super) fn outcomes(&self, elo: f64, stream: &mut Stream) -> [f64; 5] {
        let advantage = self.advantage(stream);
        let [white, black] = [elo + advantage, elo - advantage].map(|elo| {
            let chances = chances(elo, self.draws);
            [chances.loss, chances.draw, chances.win]
        });
        let mut outcomes = [0.0; 5];
        for (a, first) in white.iter().enumerate() {
            black.iter().enumerate().for_each(|(b, second)| outcomes[a + b] += first * second);
        }
        outcomes
    }

    /// A pair of two of many players.
    pub(super) fn result(&self, players: [usize; 2], elo: f64, stream: &mut Stream) -> PairResult {
        let [white, black] = self.both(elo, stream).map(|points| {
            let mut tally = Tally::default();
            tally.count(points);
            tally
        });
        PairResult { first: players[0], second: players[1], white, black }
    }

    /// Counts of pairs by points.
    pub(super) fn pentanomial(&self, elo: f64, pairs: u32, stream: &mut Stream) -> [u32; 5] {
        let mut pentanomial = [0; 5];
        (0..pairs).for_each(|_| pentanomial[(self.pair(elo, stream) * 2.0) as usize] += 1);
        pentanomial
    }
}
