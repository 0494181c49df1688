//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use dc0_core::encoding::{EncodingName, Orientation};
use log::LevelFilter;

use dc0_core::network::torch::Precision;

use crate::backend::Backend;
use crate::compare::DiffArgs;
use crate::explain::ExplainArgs;
use crate::play::{Colours, Seat};
use crate::replay::ReplayArgs;
use crate::reproduce::ReproduceArgs;
use crate::script::overrides::Override;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the work failed or what was compared differs, 2 the script, its parameters or the command line are wrong, \
3 a file cannot be read or written or is damaged, 130 stopped on request.";

/// Runs AlphaZero chess experiments from Rhai scripts.
#[derive(Debug, Parser)]
#[command(name = "dc0-run", version, about, after_help = EXIT_CODES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Cli {
    /// What to do, if not to run a script.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The script and how to run it.
    #[command(flatten)]
    pub script: ScriptArgs,
}

/// What can be done besides running a script.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what this machine offers and whether experiments can run here.
    Doctor(DoctorArgs),
    /// Print a page of the reference as Markdown.
    Docs(DocsArgs),
    /// Show a net's layers: their sizes, their work, and what they put out.
    Inspect(InspectArgs),
    /// Show what a net sees of a position, and the policy indices of its legal moves.
    Encode(EncodeArgs),
    /// Measure the search without a net, and print its signature.
    Bench(BenchArgs),
    /// Write a net, a sweep or training curves in the format of other programs.
    Export(ExportArgs),
    /// Play as an engine in a chess program, which talks to it on stdin and stdout; so does `dc0-run` without arguments in a pipe.
    Uci(UciArgs),
    /// Show what happened in runs as one HTML file that needs nothing else.
    Report(crate::report::ReportArgs),
    /// Play against a net in the terminal.
    Play(PlayArgs),
    /// Help an editor with scripts, over stdin and stdout (the Language Server Protocol); docs/guides/editors.md shows how.
    Lsp(crate::lsp::LspArgs),
    /// Compare two runs: script, parameters, machine, steps, results and costs. Exit code 1 if the results differ.
    Diff(DiffArgs),
    /// Do a run again from what its folder holds, and compare every file. Exit code 1 if one differs.
    Reproduce(ReproduceArgs),
    /// Show a stored game, or play its shard again from the seed and compare. Exit code 1 if it differs.
    Replay(ReplayArgs),
    /// Explain a position: what the net says, what the search makes of it, and the tree.
    Explain(ExplainArgs),
    /// Watch runs in the browser as they go on, and play against their nets.
    Serve(crate::serve::ServeArgs),
    /// Ask the tables of runs with SQL.
    Sql(SqlArgs),
}

/// A question to runs.
#[derive(Debug, Args)]
pub struct SqlArgs {
    /// Runs or sweeps, by name or folder, then one SELECT statement; with `--tables` or `--examples`, runs alone.
    #[arg(value_name = "RUN… \"SELECT …\"")]
    pub words: Vec<String>,
    /// List the tables with their columns, rows and meaning, and the functions that SQL has here beside its own.
    #[arg(long, conflicts_with_all = ["examples", "format", "out"])]
    pub tables: bool,
    /// Print twenty questions that others ask, and for a run also their answers.
    #[arg(long, conflicts_with_all = ["format", "out"])]
    pub examples: bool,
    /// How the answer is written [default: table, or by the name of `--out`].
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<SqlFormat>,
    /// The file to write instead of stdout; it must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long, requires = "out")]
    pub replace: bool,
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

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SqlFormat {
    /// Aligned columns for people.
    Table,
    /// Comma-separated values with a heading.
    Csv,
    /// One JSON object in each line.
    Json,
    /// A Parquet file; needs `--out`.
    Parquet,
}

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
    #[arg(long, value_name = "NAME", value_parser = backend)]
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

/// How a script is run.
#[derive(Debug, Args)]
pub struct ScriptArgs {
    /// The script to run; the same command goes on with what was started.
    #[arg(value_name = "SCRIPT.rhai", required = true)]
    pub script: Option<PathBuf>,
    /// Give a parameter that the script declares another value, such as `--set generations=3`; dots reach into groups.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub overrides: Vec<Override>,
    /// Take values of parameters from a TOML or JSON file; `--set` goes before it, and later files before earlier ones.
    #[arg(long, value_name = "FILE")]
    pub params: Vec<PathBuf>,
    /// Seed of all randomness; fixed when the run is created [default: the script's, or 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=9_007_199_254_740_991))]
    pub seed: Option<u64>,
    /// Where nets run: auto, cpu, cuda:0, several with commas, cuda:all; fixed when the run is created [default: auto].
    #[arg(long)]
    pub device: Option<String>,
    /// What runs nets while they play: auto, torch or onnx; fixed when the run is created [default: the script's, or auto].
    #[arg(long, value_name = "NAME", value_parser = backend)]
    pub backend: Option<Backend>,
    /// ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// The folder that holds runs; each run has a folder of its own in it.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
    /// Check the script and show what it would do, without doing it.
    #[arg(long)]
    pub check: bool,
    /// Show the parameters that the script declares, what they may be and what they are for, and do nothing else.
    #[arg(long, conflicts_with = "check")]
    pub parameters: bool,
    /// Whether the script's own help is asked for; `help` reads it, since clap's own help knows no script.
    #[arg(skip)]
    pub help: bool,
    /// How errors and plans are shown: for people, or as one JSON object in each line for editors and other programs.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Threads that play games; changes no result [default: the number of cores, 2 with CUDA].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// libtorch threads of training; changes rounding, so fixed when the run is created [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Stop after this many hours, as Ctrl-C does; the same command goes on.
    #[arg(long, value_name = "H", value_parser = above_zero)]
    pub max_hours: Option<f64>,
    /// Stop once the folder of runs has grown by this many GiB, as Ctrl-C does.
    #[arg(long, value_name = "GIB", value_parser = above_zero)]
    pub max_disk: Option<f64>,
    /// Which log messages the terminal shows; the run's log file has them from info up.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Warn)]
    pub log: LogLevel,
}

/// How errors and plans are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object in each line; docs/guides/scripts.md describes them.
    Json,
}

/// What `inspect` looks at.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// A weights file, whose description lies beside it; or a run, for its last generation or the one after a colon; or an
    /// ONNX file of dc0, for what it says of itself and whether ONNX Runtime takes it.
    #[arg(value_name = "NET.safetensors|NET.onnx|RUN[:GENERATION]")]
    pub net: String,
    /// ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Positions to show it: the ends of random games, always the same.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub positions: u32,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// What `export` writes.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The format.
    #[command(subcommand)]
    pub format: ExportFormat,
}

/// The formats that `export` knows.
#[derive(Debug, Subcommand)]
pub enum ExportFormat {
    /// An ONNX file; docs/guides/python.md shows how to use it.
    Onnx(ExportOnnxArgs),
    /// A sweep as an Optuna journal: `optuna-dashboard FILE` opens it.
    Optuna(ExportOptunaArgs),
    /// The training curves of a run, or of all runs of a sweep, as TensorBoard event files: `tensorboard --logdir DIR`.
    Tensorboard(ExportTensorboardArgs),
}

/// What `export optuna` writes.
#[derive(Debug, Args)]
pub struct ExportOptunaArgs {
    /// The folder of a sweep, which may be at work.
    #[arg(value_name = "SWEEP")]
    pub sweep: PathBuf,
    /// The file to write; what was there is replaced.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// What `export tensorboard` writes.
#[derive(Debug, Args)]
pub struct ExportTensorboardArgs {
    /// The folder of a run or of a sweep, which may be at work.
    #[arg(value_name = "RUN|SWEEP")]
    pub run: PathBuf,
    /// The folder to write to, with a folder for each run of a sweep.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What `export onnx` writes.
#[derive(Debug, Args)]
pub struct ExportOnnxArgs {
    /// A weights file, or the folder of a run and one of its generations [default: the last].
    #[arg(value_name = "NET.safetensors|RUN[:GENERATION]")]
    pub net: String,
    /// The file to write.
    #[arg(long, value_name = "FILE.onnx")]
    pub out: PathBuf,
    /// Take positions as bits and scalars, as dc0 stores them in memory, and expand them in the net.
    #[arg(long)]
    pub packed: bool,
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1e-9..=1e6).contains(number));
    number.ok_or_else(|| "expected a number above 0, such as 1.5".to_owned())
}

pub(crate) fn backend(word: &str) -> Result<Backend, String> {
    Backend::from_word(word).ok_or_else(|| format!("expected one of {}", Backend::WORDS.join(", ")))
}

/// What `doctor` looks at.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The library of ONNX Runtime, or a folder that holds it [default: that of python3 or of the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// The folder that runs would be written to.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
}

/// What `docs` prints.
#[derive(Debug, Args)]
pub struct DocsArgs {
    /// The page.
    #[arg(value_enum, default_value_t = DocsPage::Parameters)]
    pub page: DocsPage,
}

/// The pages that are written from the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocsPage {
    /// Every parameter of every call of a script.
    Parameters,
    /// Every plane of every input encoding.
    Encodings,
    /// Every function of scripts.
    Script,
    /// The functions of scripts as a Rhai definition file, for editors.
    Definitions,
}

/// What `encode` shows.
#[derive(Debug, Args)]
pub struct EncodeArgs {
    /// `startpos` or a FEN; `moves e2e4 …` may follow.
    #[arg(required_unless_present = "positions", conflicts_with = "positions")]
    pub position: Vec<String>,
    /// Moves played since, such as `--moves e2e4 e7e5`; encodings with a history see the positions between.
    #[arg(long, value_name = "MOVE", num_args = 1.., conflicts_with = "positions")]
    pub moves: Vec<String>,
    /// A file with one position in each line, with its moves; `-` is stdin.
    #[arg(long, value_name = "FILE")]
    pub positions: Option<PathBuf>,
    /// The table of planes.
    #[arg(long, value_name = "NAME", default_value = EncodingName::Dc0.word(), value_parser = encoding_name())]
    pub encoding: EncodingName,
    /// Whose side of the board planes and policy are seen from.
    #[arg(long, value_name = "SIDE", default_value = Orientation::SideToMove.word(), value_parser = orientation())]
    pub orientation: Orientation,
    /// Positions that are seen, the present one among them [default: the encoding's own].
    #[arg(long, value_name = "N")]
    pub history: Option<u32>,
    /// How it is shown.
    #[arg(long, value_enum, default_value_t = EncodeFormat::Text)]
    pub format: EncodeFormat,
    /// The file to write instead of stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How encoded positions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EncodeFormat {
    /// Boards with names.
    Text,
    /// One line of JSON for each position; the bits of a plane are 16 hex digits, a1 the lowest bit.
    Json,
    /// An array for Python's numpy, float32, [planes, 8, 8], or [positions, planes, 8, 8] with --positions; rank 1 first.
    Npy,
}

fn encoding_name() -> impl TypedValueParser<Value = EncodingName> {
    PossibleValuesParser::new(EncodingName::WORDS)
        .map(|word| EncodingName::from_word(&word).expect("one of the words"))
}

fn orientation() -> impl TypedValueParser<Value = Orientation> {
    PossibleValuesParser::new(Orientation::WORDS)
        .map(|word| Orientation::from_word(&word).expect("one of the words"))
}

/// What `bench` measures.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    /// A closer look than the table.
    #[command(subcommand)]
    pub part: Option<BenchPart>,
    /// Games side by side in a lane.
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

/// What `bench` can look at more closely.
#[derive(Debug, Subcommand)]
pub enum BenchPart {
    /// Compare the search engines without a net, and show how the fast one scales.
    Search(BenchSearchArgs),
    /// Measure for half a minute how fast this machine plays and trains, for the times that `--check` tells.
    Calibrate,
    /// Check a device's answers, then measure evaluations and self-play on it.
    Device(BenchDeviceArgs),
}

/// What `bench device` measures.
#[derive(Debug, Args)]
pub struct BenchDeviceArgs {
    /// Where nets run: auto, cpu, cuda:0, …
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: String,
    /// Nets by the names of presets.
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "dc0-6x128,dc0-10x128,alpha-zero-chess"
    )]
    pub nets: Vec<String>,
    /// The numbers that nets calculate with.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "auto", value_parser = precision)]
    pub precision: Vec<Precision>,
    /// Rows of a batch.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "64,256,1024,4096",
        value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub batch: Vec<u32>,
    /// Threads that evaluate or play [default: the number of cores on a CPU, 2 on a device].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub lanes: Option<u32>,
    /// Fill batches up to a multiple of this.
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
}

fn precision(word: &str) -> Result<Precision, String> {
    Precision::from_word(word).ok_or_else(|| format!("expected one of {}", Precision::WORDS.join(", ")))
}

/// What `bench search` measures.
#[derive(Debug, Args)]
pub struct BenchSearchArgs {
    /// Games side by side in a lane, where nothing else is said.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub games: u32,
    /// Simulations for each move, where nothing else is said.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub simulations: u32,
    /// Searches whose time is taken, one after the other.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub searches: u32,
    /// Simulations of each of them.
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub long_simulations: u32,
    /// Most lanes to try [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// Rows of a batch to try, as games side by side and as leaves in flight of one game.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,16,64,256",
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub rows: Vec<u32>,
    /// Seconds that each figure is measured for.
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub seconds: u64,
    /// Draw the figures into this file, too.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// The least important log messages that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What is unusual.
    Warn,
    /// What is done.
    Info,
    /// Details.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::Off,
            LogLevel::Error => Self::Error,
            LogLevel::Warn => Self::Warn,
            LogLevel::Info => Self::Info,
            LogLevel::Debug => Self::Debug,
            LogLevel::Trace => Self::Trace,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, Command};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_first_word_is_a_subcommand_or_else_a_script() {
        let cli =
            Cli::try_parse_from(["dc0-run", "x.rhai", "--set", "a=1", "--set", "b.c=2"]).expect("parses");
        assert_eq!(cli.script.script.expect("a script"), std::path::Path::new("x.rhai"));
        assert_eq!(cli.script.overrides.len(), 2);
        let cli = Cli::try_parse_from(["dc0-run", "doctor"]).expect("parses");
        assert!(matches!(cli.command, Some(Command::Doctor(_))));
        assert!(Cli::try_parse_from(["dc0-run"]).is_err());
        assert!(Cli::try_parse_from(["dc0-run", "x.rhai", "--set", "nothing"]).is_err());
    }
}
