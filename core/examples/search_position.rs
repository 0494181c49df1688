//! The best lines of a position: `startpos` or a FEN, followed by `moves …` if moves were played.
//!
//! `cargo run --release -p dc0-core --example search_position -- startpos moves e2e4`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::env;
use std::error::Error;

use dc0_core::board::{Game, numbered_moves};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::fake::Material;
use dc0_core::search::{ANALYSIS_RULES, Search, SearchParams};

/// Black's back rank is weak: 1. Rd8#.
const BACK_RANK: &str = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = env::args().skip(1).collect();
    let text = if given.is_empty() { BACK_RANK.to_owned() } else { given.join(" ") };
    let game = Game::from_text(&text)?;
    if let Some(outcome) = game.outcome(&ANALYSIS_RULES) {
        return Err(format!("the game is over: {}", outcome.reason.name()).into());
    }
    let params = SearchParams { simulations: 5_000, ..SearchParams::default() };
    let mut search = Search::new(game, ANALYSIS_RULES, params)?;
    let mut evaluator = Material::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove));
    search.run(&mut evaluator)?;

    println!("{}\n{} visits", search.game().to_text(), search.visits());
    for line in search.lines(3) {
        let value = line.first.value.map_or("not visited".to_owned(), |value| format!("{value:+.3}"));
        let proof = line.first.proof.map_or(String::new(), |proof| format!(" (proven {proof:?})"));
        let moves = numbered_moves(search.game().position(), &line.moves).join(" ");
        println!("{:>6} visits  {value}{proof}  {moves}", line.first.visits);
    }
    Ok(())
}
