//! The arguments of `play`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dc0_process::style::Colours;

use crate::uci::UciArgs;

/// A game in the terminal.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// The engine.
    #[command(flatten)]
    pub engine: UciArgs,
    /// The side that you take.
    #[arg(long, value_name = "SIDE", value_enum, default_value_t = SideChoice::White)]
    pub side: SideChoice,
    /// Simulations for each move of the engine; more make it stronger and slower [default: 800].
    #[arg(long, visible_alias = "simulations", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub sims: Option<u32>,
    /// The position to begin with; `moves e2e4 …` may follow it, or `startpos`.
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// Temperature of the engine's moves: above 0 they are random, more so the higher it is [default: 0].
    #[arg(long, value_name = "T", value_parser = temperature)]
    pub temperature: Option<f64>,
    /// Seed of everything random; equal seeds, options and input give equal games [default: another one each time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// Show the board with letters [default: where the terminal has no Unicode].
    #[arg(long)]
    pub ascii: bool,
    /// Use colours.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colours::Auto)]
    pub color: Colours,
    /// Show the evaluation and the engine's lines only when asked for.
    #[arg(long)]
    pub hide_eval: bool,
    /// Append the game to this file.
    #[arg(long, value_name = "FILE.pgn")]
    pub pgn: Option<PathBuf>,
}

fn temperature(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number in 0..=100".to_owned())
}

/// Which side the player takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideChoice {
    /// The first move.
    White,
    /// The second.
    Black,
    /// Either, at random.
    Random,
}
