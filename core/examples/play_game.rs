//! A game between a search with a material evaluator and one with a uniform evaluator, printed as PGN.
//!
//! `cargo run --release -p dc0-core --example play_game`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use dc0_core::board::{PgnRoster, PgnWriter, Rules, Side, random_opening};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::Evaluator;
use dc0_core::network::fake::{Material, Uniform};
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::{Search, SearchParams};

const RULES: Rules = Rules { max_plies: 200 };

fn main() -> Result<(), Box<dyn Error>> {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut white: Box<dyn Evaluator> = Box::new(Material::new(encoding.clone()));
    let mut black: Box<dyn Evaluator> = Box::new(Uniform::new(encoding));
    let params = SearchParams { simulations: 300, mate_in_one: true, ..SearchParams::default() };

    // Randomness is an argument: the same seed gives the same opening.
    let mut stream = Seed { run: 1, step: 0 }.stream(0, Purpose::Opening);
    let mut game = random_opening(4, &RULES, &mut stream);
    let outcome = loop {
        if let Some(outcome) = game.outcome(&RULES) {
            break outcome;
        }
        let mut search = Search::new(game.clone(), RULES, params.clone())?;
        let evaluator = match game.position().side_to_move() {
            Side::White => &mut white,
            Side::Black => &mut black,
        };
        search.run(&mut **evaluator)?;
        game.play_unchecked(search.principal_variation()[0]);
    };

    let roster = PgnRoster {
        event: "play_game".to_owned(),
        date: None,
        round: "-".to_owned(),
        white: "material".to_owned(),
        black: "uniform".to_owned(),
        result: Some(outcome.result()),
    };
    let mut pgn = PgnWriter::new(&roster, game.start());
    for (before, played) in game.positions().zip(game.moves()) {
        pgn.play(before, *played, None);
    }
    pgn.comment(outcome.reason.name());
    println!("{}", pgn.finish());
    Ok(())
}
