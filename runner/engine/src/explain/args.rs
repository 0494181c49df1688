//! The arguments of `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dc0_process::style::Colours;

use crate::net_args::{NetArgs, pair};

/// The position to explain, and how.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// `startpos` or a FEN, followed by `moves e2e4 …` if the game continued; or a stored game as RUN:ITERATION:GAME@PLY,
    /// which the net that played it explains, if no other one is named.
    #[arg(value_name = "POSITION", required = true)]
    pub position: Vec<String>,
    /// The net.
    #[command(flatten)]
    pub net: NetArgs,
    /// Simulations of the search [default: 800].
    #[arg(long, visible_alias = "simulations", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub sims: Option<u32>,
    /// Set a parameter of the search, such as `--search c_puct=2` or `--search root.rule=gumbel`; docs/reference/parameters.md lists them.
    #[arg(long = "search", value_name = "NAME=VALUE", value_parser = pair)]
    pub search: Vec<(String, String)>,
    /// Plies of the tree that are shown [default: 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=40))]
    pub depth: Option<u32>,
    /// Moves shown in each list, and for each position in the tree [default: 8].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=218))]
    pub top: Option<u32>,
    /// How the explanation is shown.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// The file to write instead of stdout; an existing one is replaced.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Show text without Unicode [default: where the terminal has none].
    #[arg(long)]
    pub ascii: bool,
    /// Use colours in text.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colours::Auto)]
    pub color: Colours,
}

/// How an explanation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For terminals.
    Text,
    /// One self-contained page, for browsers.
    Html,
    /// The tree as a picture.
    Svg,
    /// Everything, for programs; docs/guides/explain.md lists the names.
    Json,
}
