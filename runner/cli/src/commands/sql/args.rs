//! The arguments of `sql`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// A query over runs.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// Runs or sweeps, by name or folder, then one SELECT statement; with `--tables` or `--examples`, runs alone.
    #[arg(value_name = "RUN… \"SELECT …\"")]
    pub words: Vec<String>,
    /// List the tables with their columns, rows and meaning, and the functions that dc0 adds to SQL.
    #[arg(long, conflicts_with_all = ["examples", "format", "out"])]
    pub tables: bool,
    /// Print twenty common questions, and for a run also their answers.
    #[arg(long, conflicts_with_all = ["format", "out"])]
    pub examples: bool,
    /// Print SQL or Python that defines the runs' tables in another program; with runs alone.
    #[arg(long, value_name = "PROGRAM", value_enum, conflicts_with_all = ["tables", "examples", "format", "out"])]
    pub views: Option<ViewsFor>,
    /// How the answer is written [default: table, or by the name of `--out`].
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<SqlFormat>,
    /// The file to write instead of stdout; it must not exist yet.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "out")]
    pub replace: bool,
    /// Answer from what can be read: data that are missing or damaged are left out and listed on stderr, instead of being an error.
    #[arg(long)]
    pub incomplete: bool,
    /// The most rows of a printed table; other formats have all rows.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub rows: usize,
    /// The most characters of a cell of a printed table.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub width: u32,
    /// The folder that holds runs.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub runs: PathBuf,
}

/// The program that views are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewsFor {
    /// DuckDB 1.3 or newer, as SQL.
    Duckdb,
    /// polars for Python, as a module.
    Polars,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SqlFormat {
    /// Aligned columns.
    Table,
    /// Comma-separated values with a heading.
    Csv,
    /// One JSON object in each line.
    Json,
    /// A Parquet file; needs `--out`.
    Parquet,
}
