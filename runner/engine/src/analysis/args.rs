//! The arguments of `analysis`.

use clap::Args;

use crate::net_args::{NetArgs, pair};

/// What the server runs on, and the defaults of its searches.
#[derive(Debug, Args)]
pub struct AnalysisArgs {
    /// The net.
    #[command(flatten)]
    pub net: NetArgs,
    /// Rows of each evaluation: positions in a full batch. A batch that is not full costs as much time, so that answers do not depend on what is searched at the same time.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub batch_size: u32,
    /// Threads that search, each with a copy of the net and its own batches [default: one for each core, and at most eight for each GPU].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub lanes: Option<u32>,
    /// Size of the cache of evaluations in MiB; 0 for none.
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=65_536))]
    pub hash: u32,
    /// Set a search parameter for all queries that do not set it, such as `--search c_puct=2`; docs/reference/parameters.md lists them.
    #[arg(long = "search", value_name = "NAME=VALUE", value_parser = pair)]
    pub search: Vec<(String, String)>,
    /// Set how values become scores, such as `--score scale=90`; docs/guides/uci.md explains it.
    #[arg(long = "score", value_name = "NAME=VALUE", value_parser = pair)]
    pub score: Vec<(String, String)>,
}
