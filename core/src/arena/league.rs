//! Opponents drawn from earlier generations, so that a gate is not fooled by one predecessor.

use rand::RngExt;

use crate::math::ln;
use crate::rng::{Purpose, Seed};
use crate::{param_enum, params};

param_enum! {
    /// What decides how likely a generation is drawn.
    pub enum LeagueWeights {
        /// All are equally likely.
        Equal = "equal",
        /// Its age: half as likely for every `half_life` generations.
        Age = "age",
        /// Its rating: a tenth as likely for every `scale` Elo below the best, by a joint fit of the run's matches so far.
        Rating = "rating",
    }
}

params! {
    /// Which earlier generations a league draws as opponents.
    pub struct LeagueParams {
        /// Opponents, none of them twice; fewer while there are fewer generations.
        opponents: u32 = 3, in 1..=1000;
        /// What decides how likely a generation is drawn.
        weights: LeagueWeights = LeagueWeights::Age;
        /// See `weights`, in generations.
        half_life: f64 = 4.0, in 0.1..=1000.0;
        /// See `weights`, in Elo.
        scale: f64 = 400.0, in 1.0..=10_000.0;
    }
}

impl LeagueParams {
    /// Draws opponents, given the ratings of all generations from the oldest on; one without a rating counts as the best. The numbers of
    /// those drawn, in the order of drawing.
    pub fn draw(&self, ratings: &[Option<f64>], seed: Seed) -> Vec<usize> {
        let mut stream = seed.stream(0, Purpose::League);
        // The largest keys u^(1/w), here as logarithms, are a weighted sample without replacement (Efraimidis and Spirakis 2006).
        let mut keys: Vec<(f64, usize)> = self
            .log_weights(ratings)
            .into_iter()
            .enumerate()
            .map(|(index, log_weight)| {
                let uniform: f64 = stream.random::<f64>().max(f64::MIN_POSITIVE);
                // ln(−ln u) − ln w: the smallest is the largest key.
                (ln(-ln(uniform)) - log_weight, index)
            })
            .collect();
        keys.sort_by(|one, other| one.0.total_cmp(&other.0));
        keys.into_iter().take(self.opponents as usize).map(|(_, index)| index).collect()
    }

    /// The logarithms of the weights, up to a constant.
    fn log_weights(&self, ratings: &[Option<f64>]) -> Vec<f64> {
        let best = ratings.iter().flatten().copied().fold(f64::MIN, f64::max);
        let newest = ratings.len().saturating_sub(1);
        let log_weight = |(index, rating): (usize, &Option<f64>)| match self.weights {
            LeagueWeights::Equal => 0.0,
            LeagueWeights::Age => -((newest - index) as f64) / self.half_life * std::f64::consts::LN_2,
            LeagueWeights::Rating => {
                rating.map_or(0.0, |rating| (rating - best) / self.scale * std::f64::consts::LN_10)
            }
        };
        ratings.iter().enumerate().map(log_weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{LeagueParams, LeagueWeights};
    use crate::rng::Seed;

    /// How often each of three generations is the only one drawn, among 4,000 draws.
    fn shares(params: &LeagueParams, ratings: &[Option<f64>]) -> Vec<f64> {
        let params = LeagueParams { opponents: 1, ..params.clone() };
        let mut counts = vec![0; ratings.len()];
        for step in 0..4000 {
            counts[params.draw(ratings, Seed { run: 5, step })[0]] += 1;
        }
        counts.into_iter().map(|count| f64::from(count) / 4000.0).collect()
    }

    #[test]
    fn generations_are_drawn_as_often_as_their_weights_say() {
        let params =
            |weights| LeagueParams { weights, half_life: 1.0, scale: 100.0, ..LeagueParams::default() };
        let ratings = [Some(0.0), Some(100.0), Some(70.0)];
        let expected = [
            (LeagueWeights::Equal, [1.0, 1.0, 1.0]),
            (LeagueWeights::Age, [0.25, 0.5, 1.0]),
            (LeagueWeights::Rating, [0.1, 1.0, 10f64.powf(-0.3)]),
        ];
        for (weights, odds) in expected {
            let sum: f64 = odds.iter().sum();
            for (share, odds) in shares(&params(weights), &ratings).into_iter().zip(odds) {
                // Four standard errors of a share of 4,000.
                assert!((share - odds / sum).abs() < 0.032, "{weights:?}: {share}, expected {}", odds / sum);
            }
        }
    }

    #[test]
    fn nobody_is_drawn_twice_and_the_seed_decides() {
        let params = LeagueParams { opponents: 4, ..LeagueParams::default() };
        let seed = Seed { run: 1, step: 9 };
        let drawn = params.draw(&[None; 10], seed);
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((drawn.len(), sorted.len()), (4, 4));
        assert_eq!(drawn, params.draw(&[None; 10], seed));
        assert_eq!(params.draw(&[None; 2], seed).len(), 2);
        assert!(params.draw(&[], seed).is_empty());
    }
}
