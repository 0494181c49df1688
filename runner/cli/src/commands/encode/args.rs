//! The arguments of `encode`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dc0_core::encoding::{EncodingName, Orientation};

/// What `encode` shows.
#[derive(Debug, Args)]
pub(crate) struct EncodeArgs {
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
    #[arg(long, value_name = "NAME", default_value = EncodingName::Dc0.name(), value_parser = encoding_name())]
    pub encoding: EncodingName,
    /// The side from which planes and policy see the board; dc0-20 has it from the side to move only.
    #[arg(long, value_name = "SIDE", default_value = Orientation::SideToMove.name(), value_parser = orientation())]
    pub orientation: Orientation,
    /// Number of positions in the history, the current one included [default: the encoding's own].
    #[arg(long, value_name = "N")]
    pub history: Option<u32>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = EncodeFormat::Text)]
    pub format: EncodeFormat,
    /// The file to write instead of stdout.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How encoded positions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodeFormat {
    /// Every plane as a board, with its name.
    Text,
    /// One line of JSON for each position; the bits of a plane are 16 hex digits, a1 the lowest bit.
    Json,
    /// An array for Python's numpy, float32, [planes, 8, 8], or [positions, planes, 8, 8] with --positions; rank 1 first.
    Npy,
}

pub(crate) fn encoding_name() -> impl TypedValueParser<Value = EncodingName> {
    PossibleValuesParser::new(EncodingName::NAMES)
        .map(|name| EncodingName::from_name(&name).expect("one of the names"))
}

pub(crate) fn orientation() -> impl TypedValueParser<Value = Orientation> {
    PossibleValuesParser::new(Orientation::NAMES)
        .map(|name| Orientation::from_name(&name).expect("one of the names"))
}
