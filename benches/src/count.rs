//! Runs a fixed number of simulations without a net, for tools that count instructions; prints that number.
//!
//! `valgrind --tool=callgrind target/release/dc0-benches count --evaluator uniform --rounds 1`

use clap::{Args, ValueEnum, value_parser};
use dc0_core::board::Game;
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::fake::{Hashed, Uniform};
use dc0_core::network::{Evaluator, EvaluatorError};
use dc0_core::search::{Search, SearchParams, search_in_lockstep};

use crate::positions::{RULES, games};

/// Searches many games in lockstep. The difference between two rounds and one is the cost of the search alone.
#[derive(Args)]
pub(crate) struct Options {
    /// The evaluator.
    #[arg(long, value_enum)]
    evaluator: Kind,
    /// Games in lockstep.
    #[arg(long, default_value_t = 256, value_parser = value_parser!(u64).range(1..))]
    games: u64,
    /// Simulations per game.
    #[arg(long, default_value_t = 200, value_parser = value_parser!(u32).range(1..))]
    simulations: u32,
    /// Times that all games are searched.
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Uniform,
    Hashed,
}

fn evaluator(kind: Kind) -> Box<dyn Evaluator> {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    match kind {
        Kind::Uniform => Box::new(Uniform::new(encoding)),
        Kind::Hashed => Box::new(Hashed::new(encoding, 1)),
    }
}

/// Searches games in lockstep with an evaluator that cannot fail; the number of simulations.
fn search_all(games: &[Game], params: &SearchParams, evaluator: &mut dyn Evaluator) -> u64 {
    let new = |game: &Game| Search::with_tablebases(game.clone(), RULES, params.clone(), None);
    let mut searches: Vec<Search> = games.iter().map(new).collect();
    search_in_lockstep(&mut searches, evaluator, &mut |_| Ok::<_, EvaluatorError>(()))
        .expect("fakes do not fail");
    searches.iter().map(|search| u64::from(search.visits())).sum()
}

pub(crate) fn run(options: &Options) {
    let games = games(options.games, 80);
    let params = SearchParams { simulations: options.simulations, ..SearchParams::default() };
    let mut simulations = 0;
    for _ in 0..options.rounds {
        simulations += search_all(&games, &params, &mut *evaluator(options.evaluator));
    }
    println!("{simulations}");
}
