//! The arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dc0_core::network::torch::Precision;

/// What `bench` measures.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArgs {
    /// Which detailed measurement to make instead of the table.
    #[command(subcommand)]
    pub part: Option<BenchPart>,
    /// Games in a lane, which share a batch.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub games: u32,
    /// Simulations for each move.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub simulations: u32,
    /// Lanes of the second measurement [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// Seconds that each line is measured for.
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
}

/// The detailed measurements of `bench`.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchPart {
    /// Compare the search engines without a net, and show how the fast one scales.
    Search(BenchSearchArgs),
    /// Measure for half a minute how fast this machine plays and trains, for the time estimates of `--check`.
    Calibrate,
    /// Measure the alpha-beta search, and print its signature.
    Alphabeta(BenchAlphaBetaArgs),
    /// Check a device's answers and trainings, then measure evaluations, self-play and trainings on it.
    Device(BenchDeviceArgs),
}

/// What `bench alphabeta` measures.
#[derive(Debug, Args)]
pub(crate) struct BenchAlphaBetaArgs {
    /// The depth of each search; another one gives another signature.
    #[arg(long, value_name = "N", default_value_t = dc0_core::alphabeta::bench::DEPTH,
        value_parser = clap::value_parser!(u32).range(1..=60))]
    pub depth: u32,
    /// An nnue that evaluates, as a weights file, RUN or RUN:GENERATION [default: material and piece squares].
    #[arg(long, value_name = "NET")]
    pub net: Option<String>,
}

/// What `bench device` measures.
#[derive(Debug, Args)]
pub(crate) struct BenchDeviceArgs {
    /// Where nets run: auto, cpu, cuda:0, …
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: String,
    /// Nets by the names of presets; of an nnue, which plays in integers on the CPU, only the training is measured.
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "dc0-6x128,dc0-10x128,alpha-zero-chess"
    )]
    pub nets: Vec<String>,
    /// The precisions that nets are evaluated in.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "auto", value_parser = precision)]
    pub precision: Vec<Precision>,
    /// Batch sizes, in rows.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "64,256,1024,4096",
        value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub batch: Vec<u32>,
    /// Threads that evaluate or play [default: the number of cores; at most 8 on a device].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub lanes: Option<u32>,
    /// Pad batches to a multiple of this.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub pad_to: u32,
    /// Seconds that each figure is measured for.
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub seconds: u64,
    /// Plies of the self-play games that are measured at the fastest batch; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(0..=512))]
    pub plies: u32,
    /// Simulations for each move of those games.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub simulations: u32,
    /// Batch sizes of trainings, in samples; 0 for no trainings.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "256,1024,4096",
        value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pub training_batch: Vec<u32>,
}

fn precision(name: &str) -> Result<Precision, String> {
    Precision::from_name(name).ok_or_else(|| format!("expected one of {}", Precision::NAMES.join(", ")))
}

/// What `bench search` measures.
#[derive(Debug, Args)]
pub(crate) struct BenchSearchArgs {
    /// Games in a lane, which share a batch, unless a measurement varies them.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub games: u32,
    /// Simulations for each move, unless a measurement sets its own.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub simulations: u32,
    /// Number of searches to time, one after the other.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub searches: u32,
    /// Simulations of each of them.
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub long_simulations: u32,
    /// The most lanes to try [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// Batch sizes to try, both as games that share a batch and as parallel leaves of one game.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,16,64,256",
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub rows: Vec<u32>,
    /// Seconds that each figure is measured for.
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub seconds: u64,
    /// Also plot the figures to this file.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}
