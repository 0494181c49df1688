//! The search without a net: simulations per second on one core with many games in lockstep.
//!
//! `cargo run --release -p dc0-benches -- search`

use clap::{Args, value_parser};
use dc0_core::board::Game;
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::fake::{Hashed, Uniform};
use dc0_core::network::{Evaluator, EvaluatorError};
use dc0_core::search::{Search, SearchParams, search_in_lockstep};

use crate::positions::{RULES, games};
use crate::timing::Rates;

/// Simulations per second on one core, with evaluators that cost almost nothing.
#[derive(Args)]
pub(crate) struct Options {
    /// Games in lockstep.
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u64).range(1..))]
    games: u64,
    /// Repetitions; the table shows median, slowest and fastest.
    #[arg(long, default_value_t = 5, value_parser = value_parser!(u32).range(1..))]
    repeats: u32,
}

fn encoding() -> Encoding {
    Encoding::new(EncodingName::Dc0, Orientation::SideToMove)
}

/// Searches games in lockstep with an evaluator that cannot fail; the number of simulations.
pub(crate) fn search_all(games: &[Game], params: &SearchParams, evaluator: &mut dyn Evaluator) -> u64 {
    let new = |game: &Game| Search::with_tablebases(game.clone(), RULES, params.clone(), None);
    let mut searches: Vec<Search> = games.iter().map(new).collect();
    search_in_lockstep(&mut searches, evaluator, &mut |_| Ok::<_, EvaluatorError>(()))
        .expect("fakes do not fail");
    searches.iter().map(|search| u64::from(search.visits())).sum()
}

pub(crate) fn run(options: &Options) {
    let games = games(options.games, 80);
    println!("{} games in lockstep, one core; simulations/s, median (slowest – fastest)", games.len());
    for simulations in [32, 100, 800] {
        let params = SearchParams { simulations, ..SearchParams::default() };
        let uniform =
            Rates::measure(options.repeats, || search_all(&games, &params, &mut Uniform::new(encoding())));
        println!("uniform  {simulations:>5} simulations {uniform}");
        let hashed =
            Rates::measure(options.repeats, || search_all(&games, &params, &mut Hashed::new(encoding(), 1)));
        println!("hashed   {simulations:>5} simulations {hashed}");
    }
}
