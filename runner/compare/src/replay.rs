//! `dc0-run replay`: shows a stored game ply by ply, or recomputes its shard from the seed.

mod game;
mod json;
mod name;
mod recompute;
mod text;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use dc0_core::network::checkpoint::CheckpointError;
use dc0_core::params::ParamErrors;
use dc0_core::store::StoreError;
use thiserror::Error;

use crate::diff::{CompareError, Loaded, run_folder};
use dc0_backend::BackendError;
use dc0_process::command::{Command, Failure, Process, Program};
use dc0_process::console::OutputFormat;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::style::{Colours, TermStyle};
use dc0_steps::StepError;
use game::FoundGame;
use name::GameName;

/// Which game `replay` shows, and how.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The folder of a run, or its name in datasets/.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The game: `3:17` is game 17 of iteration 3, `match:2:5` game 5 of match 2.
    #[arg(value_name = "ITERATION:GAME|match:MATCH:GAME")]
    pub game: GameName,
    /// Show only the position before this ply; 0 is the start.
    #[arg(long, value_name = "N", conflicts_with_all = ["pgn", "recompute"])]
    pub ply: Option<usize>,
    /// Print the game as PGN.
    #[arg(long, conflicts_with_all = ["recompute", "format"])]
    pub pgn: bool,
    /// Play the game's shard again from the run's seed and compare moves and visits with what is stored.
    #[arg(long)]
    pub recompute: bool,
    /// ONNX Runtime's library for --recompute, or its folder [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Output format: text for people, or one JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Show boards with letters [default: if the terminal has no Unicode].
    #[arg(long)]
    pub ascii: bool,
    /// Use colours.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colours::Auto)]
    pub color: Colours,
}

/// Why a game cannot be shown or recomputed.
#[derive(Debug, Error)]
enum ReplayError {
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error("{} has no {wanted}; {there}", .run.display())]
    NoStep { run: PathBuf, wanted: String, there: String },
    #[error("{step} has no game {game}; its games are 0 to {last}")]
    NoGame { step: String, game: u32, last: u32 },
    #[error("the game has no ply {ply}; --ply takes 0 to {last}")]
    NoPly { ply: usize, last: usize },
    #[error("{}: game {game} cannot be read: {cause}; put back a good copy of the file", .file.display())]
    Damaged { file: PathBuf, game: u32, cause: String },
    #[error(
        "the net {digest} that played {step} is not in {} any more, so its games cannot be played again; \
         run the script again to recreate it",
        .run.display()
    )]
    NoNetwork { run: PathBuf, step: String, digest: String },
    #[error(
        "games of {step} start from positions of {games}, which are not in {}, so they cannot be played again here; run the script again \
         in a new folder to repeat them",
        .run.display()
    )]
    NoArchive { run: PathBuf, step: String, games: String },
    #[error(
        "the games of {step} are copies with new targets; play them again in the iteration that they come from, or run the script again \
         in a new folder to repeat the searches"
    )]
    Reanalyzed { step: String },
    #[error("the parameters of {step} were written by another version of dc0 and cannot be read: {cause}")]
    Parameters { step: String, cause: ParamErrors },
    #[error(
        "{step} was done by version {found} of its kind of step, and this dc0-run has version {known}, which plays differently; \
         use the dc0-run that made it"
    )]
    Version { step: String, found: u32, known: u32 },
    #[error(
        "{step} was played with another program, whose moves are not computed here; run the script again in a new folder to repeat it"
    )]
    Program { step: String },
    #[error("{step} was imported, so there is nothing to play again; --pgn prints a game as it was imported")]
    Imported { step: String },
    #[error("this dc0-run knows no player \"{name}\" of {step}; use the dc0-run that made it")]
    UnknownPlayer { step: String, name: String },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(transparent)]
    Step(#[from] StepError),
}

impl Fault for ReplayError {
    fn exit(&self) -> Exit {
        match self {
            Self::Compare(error) => error.exit(),
            Self::Step(error) => error.exit(),
            Self::NoStep { .. }
            | Self::NoGame { .. }
            | Self::NoPly { .. }
            | Self::NoNetwork { .. }
            | Self::NoArchive { .. }
            | Self::Reanalyzed { .. }
            | Self::UnknownPlayer { .. }
            | Self::Program { .. }
            | Self::Imported { .. }
            | Self::Parameters { .. }
            | Self::Version { .. }
            | Self::Backend(_) => Exit::BadInput,
            Self::Damaged { .. } | Self::Store(_) | Self::Checkpoint(_) => Exit::Storage,
        }
    }
}

impl Command for ReplayArgs {
    const NAME: &'static str = "replay";
    const ABOUT: &'static str =
        "Show a stored game, or play its shard again from the seed and compare. Exit code 1 if it differs";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        Ok(replayed(self, &program.start(log::LevelFilter::Warn)?)?)
    }
}

fn replayed(args: &ReplayArgs, process: &Process) -> Result<Exit, ReplayError> {
    let run = Loaded::read(&args.run, run_folder(&args.run)?)?;
    let game = FoundGame::read(&run, args.game)?;
    if args.recompute {
        return recompute::recompute(args, &run, &game, process);
    }
    if let Some(ply) = args.ply.filter(|ply| *ply > game.stored.game.ply()) {
        return Err(ReplayError::NoPly { ply, last: game.stored.game.ply() });
    }
    let page = match (args.format, args.pgn) {
        (_, true) => game.stored.pgn(&format!("{}, {}", run.record.name, game.step.name())),
        (OutputFormat::Json, false) => json::page(&game, args.ply).to_string(),
        (OutputFormat::Text, false) => text::page(&game, args.ply, style(args)),
    };
    process.console.result(page.trim_end());
    Ok(Exit::Done)
}

/// The terminal's style.
fn style(args: &ReplayArgs) -> TermStyle {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    TermStyle::new(args.ascii, args.color, std::io::stdout().is_terminal(), &variable)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};

    use super::ReplayArgs;

    #[test]
    fn a_pgn_has_no_other_format() {
        let is_accepted = |args: &[&str]| {
            let command = ReplayArgs::augment_args(Command::new("replay"));
            command.try_get_matches_from([&["replay", "smoke", "0:0", "--pgn"], args].concat()).is_ok()
        };
        assert!(is_accepted(&[]) && !is_accepted(&["--format", "json"]));
    }
}
