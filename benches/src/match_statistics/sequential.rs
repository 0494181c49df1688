//! Error rates and lengths of sequential tests, beside Wald's prediction.

use dc0_core::arena::{EloModel, SprtPairs, SprtParams, Verdict, elo_of};
use dc0_core::rng::{Purpose, Seed, Stream};

use super::games::Synthetic;
use super::{intervals, percent};

/// A test that is not decided after so many pairs is counted neither as passed nor as failed.
const MOST_PAIRS: u32 = 100_000;

pub(super) fn run(games: &Synthetic, matches: u32) {
    println!(
        "tests with alpha = beta = 0.05: passed, failed, mean and most games of those decided; Wald's prediction of passed and mean"
    );
    // A player that is stronger by 30 differs by less in the mean over openings.
    let (score, normalized) = intervals::truth(games, 30.0);
    let elo1 = elo_of(score).expect("a score below 1");
    let logistic = SprtParams { elo0: 0.0, elo1, ..SprtParams::default() };
    let normalized = SprtParams { model: EloModel::Normalized, elo1: normalized, ..logistic.clone() };
    for params in [logistic, normalized] {
        for (line, elo) in (0..).zip([-30.0, 0.0, 15.0, 30.0, 60.0]) {
            let mut stream = Seed { run: 2, step: line }.stream(0, Purpose::RandomPlayer);
            tests(games, &params, elo, matches, &mut stream);
        }
    }
}

/// What tests have decided, and after how many games.
#[derive(Default)]
struct Decided {
    passed: u32,
    failed: u32,
    /// Games of them all.
    played: u64,
    /// Games of the longest.
    most: u32,
}

impl Decided {
    /// The mean games of a test that was decided; NaN if none was.
    fn mean(&self) -> f64 {
        self.played as f64 / f64::from(self.passed + self.failed)
    }
}

/// Shows what tests decide, and when.
fn tests(games: &Synthetic, params: &SprtParams, elo: f64, matches: u32, stream: &mut Stream) {
    let mut all = Decided::default();
    for _ in 0..matches {
        let mut so_far = SprtPairs::default();
        let decided = (0..MOST_PAIRS).find_map(|_| params.add(&mut so_far, games.pair(elo, stream)));
        let Some(test) = decided else { continue };
        let pairs = so_far.number();
        all.passed += u32::from(test.verdict() == Verdict::Passed);
        all.failed += u32::from(test.verdict() == Verdict::Failed);
        all.played += 2 * u64::from(pairs);
        all.most = all.most.max(2 * pairs);
    }
    let (mean, most) = (all.mean(), all.most);
    let (predicted, length) = wald(games, params, elo);
    println!(
        "{:10} [0, {:.1}] at {elo:4} Elo   {:5.1} %   {:5.1} %   {mean:6.0}   {most:6}   {predicted:5.1} %   {length:6.0}",
        params.model.name(),
        params.elo1,
        percent(all.passed, matches),
        percent(all.failed, matches)
    );
}

/// Wald's (1947) approximations of the share that passes, in percent, and of the mean number of games: the ratio is taken for a
/// Brownian motion that ends exactly on a bound.
fn wald(games: &Synthetic, params: &SprtParams, elo: f64) -> (f64, f64) {
    let (score, normalized) = intervals::truth(games, elo);
    // The expected score in standard deviations of a pair, under both hypotheses and in truth.
    let of_normalized = |elo: f64| elo * std::f64::consts::LN_10 / 800.0 * std::f64::consts::SQRT_2;
    let truth = of_normalized(normalized);
    let hypotheses = match params.model {
        EloModel::Normalized => [params.elo0, params.elo1].map(of_normalized),
        EloModel::Logistic => {
            let deviation = if truth.abs() > 0.01 { (score - 0.5) / truth } else { deviation(games) };
            [params.elo0, params.elo1].map(|elo| (1.0 / (1.0 + 10f64.powf(-elo / 400.0)) - 0.5) / deviation)
        }
    };
    let step = hypotheses[1] - hypotheses[0];
    let drift = step * (truth - f64::midpoint(hypotheses[0], hypotheses[1]));
    let test = params.test(&[0; 5]);
    let tilt = -2.0 * drift / (step * step);
    if tilt.abs() < 1e-3 {
        let share = -test.lower / (test.upper - test.lower);
        return (100.0 * share, 2.0 * -test.lower * test.upper / (step * step));
    }
    let [lower, upper] = [test.lower, test.upper].map(|bound| (tilt * bound).exp());
    let share = (1.0 - lower) / (upper - lower);
    (100.0 * share, 2.0 * (share * test.upper + (1.0 - share) * test.lower) / drift)
}

/// The standard deviation of a pair's mean score, between nearly equal players.
fn deviation(games: &Synthetic) -> f64 {
    let (score, normalized) = intervals::truth(games, 20.0);
    (score - 0.5) / (normalized * std::f64::consts::LN_10 / 800.0 * std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::Decided;

    #[test]
    fn tests_without_a_decision_do_not_shorten_the_mean() {
        let decided = Decided { passed: 1, failed: 3, played: 800, most: 400 };
        assert_eq!(decided.mean(), 200.0);
        assert!(Decided::default().mean().is_nan());
    }
}
