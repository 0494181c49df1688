//! `dc0-run encode`: what a net sees of positions, and the policy indices of their legal moves.

mod args;
mod json;
mod npy;
mod text;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dc0_core::board::{Game, GameTextError, Move};
use dc0_core::durable;
use dc0_core::encoding::{Encoding, EncodingError, Plane, PlaneKind, leela_index};
use thiserror::Error;

use args::EncodeFormat;
pub(crate) use args::{EncodeArgs, encoding_name, orientation};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// Why nothing was encoded.
#[derive(Debug, Error)]
enum EncodeError {
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// A position given on the command line cannot be read.
    #[error(transparent)]
    Position(#[from] GameTextError),
    #[error("{}, line {line}: {cause}", file.display())]
    Line {
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        cause: GameTextError,
    },
    #[error("{} has no lines; expected one position in each, such as \"startpos moves e2e4\"", file.display())]
    Empty { file: PathBuf },
    #[error("cannot read the positions of {}: {cause}", file.display())]
    Read { file: PathBuf, cause: io::Error },
    #[error("cannot write the result to {}: {cause}", file.display())]
    Write { file: PathBuf, cause: io::Error },
}

impl Fault for EncodeError {
    fn exit(&self) -> Exit {
        match self {
            Self::Read { .. } => Exit::Storage,
            Self::Write { cause, .. } => Exit::of_writing(cause),
            _ => Exit::BadInput,
        }
    }
}

/// One position in an encoding.
struct Encoded<'a> {
    encoding: &'a Encoding,
    game: &'a Game,
    /// In the order of the encoding's table.
    planes: Vec<PlaneContent>,
    moves: Vec<IndexedMove>,
}

/// The content of one plane.
#[derive(Debug, Clone, Copy)]
enum PlaneContent {
    /// One bit per square, a1 = bit 0.
    Bits(u64),
    /// The same number on every square.
    Number(f32),
}

/// A legal move with its indices in two policies.
struct IndexedMove {
    chess_move: Move,
    policy: u16,
    leela: u16,
}

impl<'a> Encoded<'a> {
    fn new(encoding: &'a Encoding, game: &'a Game) -> Self {
        let (mut binary, mut scalars) = (Vec::new(), Vec::new());
        encoding.encode(game, &mut binary, &mut scalars);
        let (mut binary, mut scalars) = (binary.into_iter(), scalars.into_iter());
        let content = |plane: &Plane| match plane.kind() {
            PlaneKind::Binary => PlaneContent::Bits(binary.next().expect("a number for each binary plane")),
            PlaneKind::Scalar => {
                PlaneContent::Number(scalars.next().expect("a number for each scalar plane"))
            }
        };
        let position = game.position();
        let indexed = |chess_move| IndexedMove {
            chess_move,
            policy: encoding.policy_index(chess_move, position.side_to_move()).get(),
            leela: leela_index(chess_move, position),
        };
        Self {
            encoding,
            game,
            planes: encoding.planes().iter().map(content).collect(),
            moves: position.legal_moves().into_iter().map(indexed).collect(),
        }
    }
}

impl Command for EncodeArgs {
    const NAME: &'static str = "encode";
    const ABOUT: &'static str =
        "Show what a net sees of a position, and the policy indices of its legal moves";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        try_encode(self, &program.console)?;
        Ok(Exit::Done)
    }
}

fn try_encode(args: &EncodeArgs, console: &Console) -> Result<(), EncodeError> {
    let encoding = Encoding::try_new(args.encoding, args.orientation, args.history)?;
    let games = match &args.positions {
        Some(file) => read_games(file)?,
        None => vec![Game::from_text(&one_game(args))?],
    };
    let encoded: Vec<Encoded<'_>> = games.iter().map(|game| Encoded::new(&encoding, game)).collect();
    let result = match args.format {
        EncodeFormat::Text => text::write(&encoded).into_bytes(),
        EncodeFormat::Json => json::write(&encoded).into_bytes(),
        EncodeFormat::Npy => npy::write(&encoded, args.positions.is_some()),
    };
    match &args.out {
        Some(file) => {
            durable::write(file, &result)
                .map_err(|cause| EncodeError::Write { file: file.clone(), cause })?;
        }
        None => console.results(|out| out.write_all(&result)),
    }
    Ok(())
}

/// The position of the command line with the moves of `--moves`.
fn one_game(args: &EncodeArgs) -> String {
    let position = args.position.join(" ");
    if args.moves.is_empty() {
        return position;
    }
    let between = if position.split_whitespace().any(|word| word == "moves") { "" } else { "moves " };
    format!("{position} {between}{}", args.moves.join(" "))
}

/// Reads one game from each line of a file, or of stdin for `-`.
fn read_games(file: &Path) -> Result<Vec<Game>, EncodeError> {
    let read = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    let text = read.map_err(|cause| EncodeError::Read { file: file.to_owned(), cause })?;
    if text.is_empty() {
        return Err(EncodeError::Empty { file: file.to_owned() });
    }
    let game = |(number, line)| {
        Game::from_text(line).map_err(|cause| EncodeError::Line {
            file: file.to_owned(),
            line: number,
            cause,
        })
    };
    (1..).zip(text.lines()).map(game).collect()
}
