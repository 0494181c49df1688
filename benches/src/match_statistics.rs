//! Whether match statistics keep what they say: intervals and sequential tests of synthetic matches between players of known strength.
//!
//! `cargo run --release -p dc0-benches -- match-statistics`

use clap::Args;
use dc0_core::arena::{EloModel, SprtParams, Verdict, elo_of, interval};
use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

/// Synthetic matches. The two games of a pair share an opening that favours one colour, by a different amount in each pair; White has
/// an advantage; draws follow the Davidson model.
#[derive(Args)]
pub(crate) struct Options {
    /// Matches for each line.
    #[arg(long, default_value_t = 1000)]
    matches: u32,
    /// White's advantage, in Elo.
    #[arg(long, default_value_t = 35.0)]
    white: f64,
    /// The standard deviation of an opening's effect, in Elo.
    #[arg(long, default_value_t = 80.0)]
    openings: f64,
    /// How often equal players draw.
    #[arg(long, default_value_t = 0.4)]
    draws: f64,
}

/// Pairs from which a figure is estimated.
const SAMPLES: u32 = 200_000;

/// A test that is not decided after so many pairs is counted neither as passed nor as failed.
const MOST_PAIRS: u32 = 100_000;

pub(crate) fn run(options: &Options) {
    println!("intervals of 95 %: share that contains the true score, mean width");
    for (line, elo) in (0..).zip([0.0, 50.0, 200.0]) {
        for pairs in [10, 50, 200] {
            let mut stream = Seed { run: 1, step: line }.stream(pairs.into(), Purpose::RandomPlayer);
            options.intervals(elo, pairs, &mut stream);
        }
    }
    println!("tests with alpha = beta = 0.05: passed, failed, mean and most games");
    // A player that is stronger by 30 in the model of draws has another difference by its score.
    let elo1 = elo_of(options.expected_score(30.0)).expect("a score below 1");
    let logistic = SprtParams { elo0: 0.0, elo1, ..SprtParams::default() };
    let elo1 = options.normalized(30.0);
    let normalized = SprtParams { model: EloModel::Normalized, elo1, ..logistic.clone() };
    for params in [logistic, normalized] {
        for (line, elo) in (0..).zip([-30.0, 0.0, 15.0, 30.0, 60.0]) {
            let mut stream = Seed { run: 2, step: line }.stream(0, Purpose::RandomPlayer);
            options.tests(&params, elo, &mut stream);
        }
    }
}

impl Options {
    /// How often the interval of a match contains the true score.
    fn intervals(&self, elo: f64, pairs: u32, stream: &mut Stream) {
        let expected = self.expected_score(elo);
        let (mut covered, mut width) = (0, 0.0);
        for _ in 0..self.matches {
            let mut pentanomial = [0; 5];
            (0..pairs).for_each(|_| pentanomial[(self.pair(elo, stream) * 2.0) as usize] += 1);
            let (low, high) = interval(&pentanomial);
            covered += u32::from((low..=high).contains(&expected));
            width += high - low;
        }
        let (share, width) = (self.share(covered), width / f64::from(self.matches));
        println!("{elo:6} Elo {:5} games   {share:5.1} %   {width:.3}", 2 * pairs);
    }

    /// What sequential tests decide, and when.
    fn tests(&self, params: &SprtParams, elo: f64, stream: &mut Stream) {
        let (mut passed, mut failed, mut games, mut most) = (0, 0, 0, 0);
        for _ in 0..self.matches {
            let points = (0..MOST_PAIRS).map(|_| self.pair(elo, stream));
            let Some((pairs, test)) = params.decided(points) else { continue };
            passed += u32::from(test.verdict() == Verdict::Passed);
            failed += u32::from(test.verdict() == Verdict::Failed);
            games += 2 * u64::from(pairs);
            most = most.max(2 * pairs);
        }
        let (passed, failed) = (self.share(passed), self.share(failed));
        let mean = games as f64 / f64::from(self.matches);
        let (name, elo1) = (params.model.name(), params.elo1);
        println!(
            "{name:10} [0, {elo1:.1}] at {elo:4} Elo   {passed:5.1} %   {failed:5.1} %   {mean:6.0}   {most:6}"
        );
    }

    fn share(&self, count: u32) -> f64 {
        100.0 * f64::from(count) / f64::from(self.matches)
    }

    /// Probabilities of a win and a draw of a player that is stronger by `elo` in this game (Davidson 1970).
    fn chances(&self, elo: f64) -> (f64, f64) {
        let strength = 10f64.powf(elo / 400.0);
        // Equal players draw with probability v / (2 + v).
        let tie = 2.0 * self.draws / (1.0 - self.draws) * strength.sqrt();
        let all = strength + 1.0 + tie;
        (strength / all, tie / all)
    }

    /// White's advantage in one opening.
    fn advantage(&self, stream: &mut Stream) -> f64 {
        // The sum of twelve uniform numbers is nearly normal.
        let normal = (0..12).map(|_| stream.random::<f64>()).sum::<f64>() - 6.0;
        self.white + self.openings * normal
    }

    /// The first player's points in a pair.
    fn pair(&self, elo: f64, stream: &mut Stream) -> f64 {
        let advantage = self.advantage(stream);
        let score = |elo: f64| {
            let (win, draw) = self.chances(elo);
            let drawn: f64 = stream.random();
            if drawn < win { 1.0 } else { f64::from(u8::from(drawn < win + draw)) / 2.0 }
        };
        [elo + advantage, elo - advantage].map(score).iter().sum()
    }

    /// The normalised Elo of a player that is stronger by `elo`; by sampling.
    fn normalized(&self, elo: f64) -> f64 {
        let mut stream = Seed { run: 4, step: 0 }.stream(0, Purpose::RandomPlayer);
        let scores: Vec<f64> = (0..SAMPLES).map(|_| self.pair(elo, &mut stream) / 2.0).collect();
        let mean = scores.iter().sum::<f64>() / f64::from(SAMPLES);
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / f64::from(SAMPLES);
        (mean - 0.5) / (2.0 * variance).sqrt() * 800.0 / std::f64::consts::LN_10
    }

    /// The expected score of a game, over openings and colours; by sampling.
    fn expected_score(&self, elo: f64) -> f64 {
        let mut stream = Seed { run: 3, step: 0 }.stream(0, Purpose::RandomPlayer);
        let score = |elo: f64| {
            let (win, draw) = self.chances(elo);
            win + draw / 2.0
        };
        let sum: f64 = (0..SAMPLES)
            .map(|_| {
                let advantage = self.advantage(&mut stream);
                f64::midpoint(score(elo + advantage), score(elo - advantage))
            })
            .sum();
        sum / f64::from(SAMPLES)
    }
}
