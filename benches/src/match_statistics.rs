//! Whether match statistics are calibrated: intervals, sequential tests and joint ratings of synthetic games between players of known
//! strength.
//!
//! `cargo run --release -p dc0-benches -- match-statistics`

mod games;
mod intervals;
mod ratings;
mod sequential;

use clap::{Args, value_parser};
use games::Synthetic;

/// Synthetic matches. The two games of a pair share an opening that favours one colour, by a different amount in each pair; White has
/// an advantage; draws follow from the expected score, as in the joint ratings.
#[derive(Args)]
pub(crate) struct Options {
    /// Matches for each line.
    #[arg(long, default_value_t = 1000, value_parser = value_parser!(u32).range(1..))]
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

pub(crate) fn run(options: &Options) {
    let games = Synthetic { white: options.white, openings: options.openings, draws: options.draws };
    intervals::run(&games, options.matches);
    // Error rates are compared with bounds of a few percent.
    sequential::run(&games, 4 * options.matches);
    for openings in [0.0, options.openings] {
        ratings::recovery(&Synthetic { openings, ..games }, options.matches);
    }
    ratings::design(&Synthetic { openings: 0.0, ..games }, options.matches.div_ceil(20));
}

/// A count of matches in percent.
fn percent(count: u32, of: u32) -> f64 {
    100.0 * f64::from(count) / f64::from(of)
}
