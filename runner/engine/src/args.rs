//! The arguments of `play` and `uci`.

use std::path::PathBuf;

use clap::Args;

use crate::play::Seat;
use dc0_backend::Backend;
use dc0_process::look::Colours;

/// A game in the terminal.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// The engine.
    #[command(flatten)]
    pub engine: UciArgs,
    /// The side that you take.
    #[arg(long, value_name = "SIDE", value_enum, default_value_t = Seat::White)]
    pub side: Seat,
    /// Simulations for each move of the engine; more make it stronger and slower [default: 800].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub sims: Option<u32>,
    /// The position to begin with; `moves e2e4 …` may follow it, or `startpos`.
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// Above 0, the engine draws its moves by chance, the more so the higher this is [default: 0].
    #[arg(long, value_name = "T", value_parser = temperature)]
    pub temperature: Option<f64>,
    /// Seed of all chance; equal seeds, options and input give equal games [default: another one each time].
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
    /// Add the game to this file at its end.
    #[arg(long, value_name = "FILE.pgn")]
    pub pgn: Option<PathBuf>,
}

fn temperature(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number in 0..=100".to_owned())
}

/// What the engine starts with; a chess program may change it.
#[derive(Debug, Args)]
pub struct UciArgs {
    /// The net: a weights file, or the folder of a run and one of its generations [default: the one in the program].
    #[arg(long, value_name = "NET.safetensors|RUN[:GENERATION]")]
    pub net: Option<String>,
    /// What runs the net: torch, onnx, or auto for the faster one here [default: torch].
    #[arg(long, value_name = "NAME", value_parser = dc0_backend::parse_backend)]
    pub backend: Option<Backend>,
    /// Where the net runs: auto, cpu, cuda:0 [default: auto].
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Set an option, such as `--option Threads=4`; `uci` lists them.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub options: Vec<(String, String)>,
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
