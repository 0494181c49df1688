//! The arguments of `import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dc0_core::board::ScoreView;
use dc0_core::import::{EvalFormula, Lc0Params, Lc0Value, PgnParams};
use dc0_core::params::{Params, Value};
use dc0_process::console::OutputFormat;
use dc0_script::args::LogLevel;

/// What `import` reads.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The format.
    #[command(subcommand)]
    pub format: ImportFormat,
}

/// The formats that `import` knows.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportFormat {
    /// Games in PGN, with clocks and evaluations; docs/guides/import.md shows how to use it.
    Pgn(ImportPgnArgs),
    /// Training data of Leela Chess Zero, with its policies and values; docs/guides/import.md shows how to use it.
    Lc0(ImportLc0Args),
}

/// Which games of which PGN files become a dataset.
#[derive(Debug, Args)]
pub(crate) struct ImportPgnArgs {
    /// PGN files, plain or compressed (.zst, .gz); - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The least rating of both players; leaves out games without ratings.
    #[arg(long, value_name = "ELO", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub min_elo: Option<u32>,
    /// The largest rating of both players; leaves out games without ratings.
    #[arg(long, value_name = "ELO", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub max_elo: Option<u32>,
    /// The least time for 40 moves, in seconds: Lichess calls less than 180 bullet, less than 480 blitz.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub min_time: Option<u32>,
    /// Leave out games whose Termination says that a player ran out of time, left or broke the rules.
    #[arg(long)]
    pub normal_only: bool,
    /// The least plies of a game [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub min_plies: Option<u32>,
    /// Plies at the start of each game that are not trained on [default: 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub skip_plies: Option<u32>,
    /// The most games, the first ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_000_000_000))]
    pub max_games: Option<u32>,
    /// Train results only: moves are no policy targets.
    #[arg(long)]
    pub results_only: bool,
    /// How evaluations in comments become values: lichess or ignore [default: lichess].
    #[arg(long, value_name = "FORMULA", value_parser = parse_evals)]
    pub evals: Option<EvalFormula>,
    /// Whose the scores are that comments begin with: mover or white [default: mover].
    #[arg(long, value_name = "SIDE", value_parser = parse_scores)]
    pub scores: Option<ScoreView>,
    /// P(draw) of a level evaluation [default: 0.3].
    #[arg(long, value_name = "P", value_parser = parse_draws)]
    pub level_draws: Option<f64>,
    /// Games in a file of the dataset, which is also what a kill can lose [default: 4096].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub shard_games: Option<u32>,
    #[command(flatten)]
    pub dataset: DatasetArgs,
}

/// Which games of which training data become a dataset.
#[derive(Debug, Args)]
pub(crate) struct ImportLc0Args {
    /// Archives of chunks (.tar), or chunks: records of version 6 or 7, plain or compressed (.gz, .zst); - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Which value of a record is the search's: root, best or result [default: root].
    #[arg(long, value_name = "VALUE", value_parser = parse_value)]
    pub value: Option<Lc0Value>,
    /// The least plies of a game [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub min_plies: Option<u32>,
    /// Plies at the start of each game that are not trained on [default: 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub skip_plies: Option<u32>,
    /// The most games, the first ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_000_000_000))]
    pub max_games: Option<u32>,
    /// Games in a file of the dataset, which is also what a kill can lose [default: 1024].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub shard_games: Option<u32>,
    #[command(flatten)]
    pub dataset: DatasetArgs,
}

/// What every format has: the dataset, and how the import runs.
#[derive(Debug, Args)]
pub(crate) struct DatasetArgs {
    /// The folder of the dataset, such as datasets/lichess.
    #[arg(long, value_name = "DATASET")]
    pub out: PathBuf,
    /// The licence of the games for the dataset's page, as hubs name it: cc0-1.0, cc-by-4.0, …
    #[arg(long, value_name = "NAME", default_value = "unknown")]
    pub license: String,
    /// Print the script that would be run.
    #[arg(long)]
    pub script: bool,
    /// Show what would be done, without doing it.
    #[arg(long)]
    pub check: bool,
    /// How errors and plans are shown: as text, or as one JSON object per line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Threads; changes no result [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// Stop after this many hours, as Ctrl-C does; the same command continues.
    #[arg(long, value_name = "H", value_parser = dc0_script::args::above_zero)]
    pub max_hours: Option<f64>,
    /// Stop once the folder that holds the dataset has grown by this many GiB, as Ctrl-C does.
    #[arg(long, value_name = "GIB", value_parser = dc0_script::args::above_zero)]
    pub max_disk: Option<f64>,
    /// Which log messages the terminal shows.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Warn)]
    pub log: LogLevel,
}

fn parse_evals(name: &str) -> Result<EvalFormula, String> {
    let unknown = || format!("expected one of {}", EvalFormula::NAMES.join(", "));
    EvalFormula::from_name(name).ok_or_else(unknown)
}

fn parse_scores(name: &str) -> Result<ScoreView, String> {
    ScoreView::from_name(name).ok_or_else(|| format!("expected one of {}", ScoreView::NAMES.join(", ")))
}

fn parse_draws(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=0.99).contains(number));
    number.ok_or_else(|| "expected a probability from 0 to 0.99".to_owned())
}

fn parse_value(name: &str) -> Result<Lc0Value, String> {
    Lc0Value::from_name(name).ok_or_else(|| format!("expected one of {}", Lc0Value::NAMES.join(", ")))
}

impl ImportPgnArgs {
    /// The parameters.
    pub(super) fn params(&self) -> PgnParams {
        let defaults = PgnParams::default();
        PgnParams {
            min_elo: self.min_elo,
            max_elo: self.max_elo,
            min_time: self.min_time,
            normal_only: self.normal_only,
            min_plies: self.min_plies.unwrap_or(defaults.min_plies),
            skip_plies: self.skip_plies.unwrap_or(defaults.skip_plies),
            max_games: self.max_games,
            policy_targets: !self.results_only,
            evals: self.evals.unwrap_or(defaults.evals),
            scores: self.scores.unwrap_or(defaults.scores),
            level_draws: self.level_draws.unwrap_or(defaults.level_draws),
            shard_games: self.shard_games.unwrap_or(defaults.shard_games),
        }
    }
}

impl ImportLc0Args {
    /// The parameters.
    pub(super) fn params(&self) -> Lc0Params {
        let defaults = Lc0Params::default();
        Lc0Params {
            value: self.value.unwrap_or(defaults.value),
            min_plies: self.min_plies.unwrap_or(defaults.min_plies),
            skip_plies: self.skip_plies.unwrap_or(defaults.skip_plies),
            max_games: self.max_games,
            shard_games: self.shard_games.unwrap_or(defaults.shard_games),
        }
    }
}

/// The parameters that differ from their defaults, as members of a script's map.
pub(super) fn options<P: Params>(params: &P) -> Vec<String> {
    let (Value::Group(given), Value::Group(defaults)) = (params.to_value(), P::default().to_value()) else {
        return Vec::new();
    };
    let changed = given.into_iter().filter(|(name, value)| defaults.get(name) != Some(value));
    changed.map(|(name, value)| format!("{name}: {value}")).collect()
}
