//! The arguments of `export`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use dc0_core::arena::MAX_MATE;
use dc0_core::encoding::{EncodingName, Orientation};

use super::is_stdout;
use crate::commands::encode::{encoding_name, orientation};

/// A file or folder for what is no text. `-` would be a file of that name.
fn no_stdout() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if is_stdout(&path) {
            return Err("this format is no text for standard output; expected a name, or `./-`");
        }
        Ok(path)
    })
}

/// What `export` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The format.
    #[command(subcommand)]
    pub format: ExportFormat,
}

/// The formats that `export` knows.
#[derive(Debug, Subcommand)]
pub(crate) enum ExportFormat {
    /// A net by itself, as a checkpoint that every command reads, to be kept or passed on.
    Net(ExportNetArgs),
    /// An ONNX file; docs/guides/python.md shows how to use it.
    Onnx(ExportOnnxArgs),
    /// A sweep as an Optuna journal: `optuna-dashboard FILE` opens it.
    Optuna(ExportOptunaArgs),
    /// The stored games of a run or dataset, with the values of their searches as comments.
    Pgn(ExportPgnArgs),
    /// Mates that the stored games of a run end with, as a suite of puzzles in EPD; each has a single fastest mate, which is proven.
    Puzzles(ExportPuzzlesArgs),
    /// A copy of this program in which the net of an evalfile plays where none is named.
    Engine(ExportEngineArgs),
    /// A net as a single file, for match servers that give an engine its net with `EVALFILE`.
    Evalfile(ExportEvalfileArgs),
    /// The training curves of a run, or of all runs of a sweep, as TensorBoard event files: `tensorboard --logdir DIR`.
    Tensorboard(ExportTensorboardArgs),
    /// The positions that a run or dataset trains on, as tensors in a safetensors file; docs/guides/python.md shows how to use it.
    Tensors(ExportTensorsArgs),
}

/// What `export net` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportNetArgs {
    /// A net: `NET.safetensors`, `RUN` (its last generation), `RUN:GENERATION`, `shipped` (the one that plays by default), `shipped:az_small` or `shipped:az_nnue`.
    #[arg(value_name = "NET")]
    pub net: String,
    /// The weights file to write, with its .json beside it; existing ones are replaced.
    #[arg(long, value_name = "FILE.safetensors")]
    pub out: PathBuf,
    /// Rounds the weights to 16-bit floats: half the size, for nets that play; training on from it starts from slightly different weights.
    #[arg(long)]
    pub rounded: bool,
}

/// What `export optuna` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportOptunaArgs {
    /// A sweep, which may be running: its folder, or its name in datasets/.
    #[arg(value_name = "SWEEP")]
    pub sweep: PathBuf,
    /// The file to write; an existing one is replaced. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// What `export pgn` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportPgnArgs {
    /// A run, which may be running: its folder, or its name in datasets/. Games of finished steps are written.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// The file to write; an existing one is replaced. `-` is standard output.
    #[arg(long, value_name = "FILE.pgn")]
    pub out: PathBuf,
    /// Which games.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Games::All)]
    pub games: Games,
    /// Only those of the iteration or match with this number.
    #[arg(long, value_name = "N")]
    pub number: Option<u32>,
}

/// What `export engine` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportEngineArgs {
    /// The net, as `export evalfile` writes it.
    #[arg(value_name = "EVALFILE")]
    pub evalfile: PathBuf,
    /// The program to write; an existing file is replaced.
    #[arg(long, value_name = "FILE", value_parser = no_stdout())]
    pub out: PathBuf,
}

/// What `export evalfile` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportEvalfileArgs {
    /// The net: a weights file, the folder of a run or its name in datasets/ for its last generation, RUN:GENERATION, or one in the
    /// program: `shipped`, `shipped:az_small` or `shipped:az_nnue`.
    #[arg(value_name = "NET")]
    pub net: String,
    /// The file to write; an existing one is replaced.
    #[arg(long, value_name = "FILE", value_parser = no_stdout())]
    pub out: PathBuf,
}

/// What `export puzzles` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportPuzzlesArgs {
    /// A run, which may be running: its folder, or its name in datasets/. Games of finished steps are read, in their order.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// The file to write; an existing one is replaced. `-` is standard output.
    #[arg(long, value_name = "FILE.epd")]
    pub out: PathBuf,
    /// The longest mates, in moves.
    #[arg(long, value_name = "MOVES", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_MATE)))]
    pub mates: u32,
    /// Puzzles of each kind: of each length of mates, and of both kinds of endings.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// Syzygy tablebases, for puzzles of endings, too: positions in which a single move wins, or a single move draws. Folders are
    /// separated by `:`.
    #[arg(long, value_name = "FOLDERS")]
    pub tablebases: Option<PathBuf>,
    /// Only endings, no mates.
    #[arg(long, requires = "tablebases", conflicts_with = "mates")]
    pub without_mates: bool,
}

/// Which games are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Games {
    /// Those of self-play, of matches and of imports.
    All,
    /// Those of self-play.
    SelfPlay,
    /// Those of imports.
    Imported,
    /// Those of matches.
    Matches,
}

/// What `export tensors` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportTensorsArgs {
    /// A run or dataset: its folder, or its name in datasets/. Games of self-play and imports in finished steps are written;
    /// those that the ply cap ended have no result, and so 0, 0, 0 as their `wdl`.
    #[arg(value_name = "RUN|DATASET")]
    pub run: PathBuf,
    /// The file to write; an existing one is replaced.
    #[arg(long, value_name = "FILE.safetensors")]
    pub out: PathBuf,
    /// The table of planes.
    #[arg(long, value_name = "NAME", default_value = EncodingName::Dc0.name(), value_parser = encoding_name())]
    pub encoding: EncodingName,
    /// The side from which planes and policy see the board.
    #[arg(long, value_name = "SIDE", default_value = Orientation::SideToMove.name(), value_parser = orientation())]
    pub orientation: Orientation,
    /// Number of positions in the history, the current one included [default: the encoding's own].
    #[arg(long, value_name = "N")]
    pub history: Option<u32>,
    /// Write positions as bits and scalars instead of planes of floats: some twentieth of the size.
    #[arg(long)]
    pub packed: bool,
    /// Write the moves of all positions one after the other instead of padded to the longest list.
    #[arg(long)]
    pub ragged: bool,
    /// Only those of the iteration or import with this number.
    #[arg(long, value_name = "N")]
    pub number: Option<u32>,
}

/// What `export tensorboard` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportTensorboardArgs {
    /// A run or a sweep, which may be running: its folder, or its name in datasets/.
    #[arg(value_name = "RUN|SWEEP")]
    pub run: PathBuf,
    /// The folder to write to, with a folder for each run of a sweep.
    #[arg(long, value_name = "DIR", value_parser = no_stdout())]
    pub out: PathBuf,
}

/// What `export onnx` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportOnnxArgs {
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
