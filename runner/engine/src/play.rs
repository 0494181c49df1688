//! `dc0-run play`: a game against a net in the terminal.
//!
//! Drawing, reading and writing are functions of what they are given; only `session` plays, and only `input` waits.
//! docs/guides/play.md says what users see.

mod args;
pub mod board;
mod commands;
mod input;
mod panel;
pub mod pgn;
mod pgn_file;
pub mod record;
pub mod score;
mod session;

use std::io::{self, IsTerminal};

use dc0_core::board::{Game, GameTextError, Side};
use dc0_core::network::EvaluatorError;
use dc0_core::rng::{Purpose, Seed};
use rand::RngExt;
use thiserror::Error;

use crate::uci::{Engine, SettingsError, UciArgs, settings};
use args::SideChoice;
use dc0_process::clock;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::style::TermStyle;
use input::Player;
use pgn::{Tags, today};
use pgn_file::{Keep, KeepError};
use record::Record;
use session::{PlayError, Session, Setup};

pub use args::PlayArgs;

/// Why a game cannot start.
#[derive(Debug, Error)]
enum StartError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("--fen: {0}")]
    Position(#[from] GameTextError),
    #[error("--fen: expected a position in which the game is not over, found \"{fen}\": {reason}")]
    Over { fen: String, reason: String },
    #[error(transparent)]
    Keep(#[from] KeepError),
    #[error(transparent)]
    Engine(#[from] EvaluatorError),
    #[error("cannot listen for Ctrl-C: {0}")]
    Listen(#[from] ctrlc::Error),
}

impl Fault for StartError {
    fn exit(&self) -> Exit {
        match self {
            Self::Settings(cause) => cause.exit(),
            Self::Position(_) | Self::Over { .. } | Self::Keep(_) => Exit::BadInput,
            Self::Engine(_) | Self::Listen(_) => Exit::Failed,
        }
    }
}

impl Command for PlayArgs {
    const NAME: &'static str = "play";
    const ABOUT: &'static str = "Play against a net in the terminal";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.show_warnings()?;
        let (setup, player) = set_up(self)?;
        match Session::new(setup, player, &mut io::stdout()).run() {
            // Nobody reads on.
            Err(PlayError::Output(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
            ended => Ok(ended?),
        }
    }
}

fn set_up(args: &PlayArgs) -> Result<(Setup, Player), StartError> {
    let start = start(args.fen.as_deref())?;
    let seed = args.seed.unwrap_or_else(|| seed_given(&args.engine).unwrap_or_else(clock::time_seed));
    let mut settings = settings(&args.engine)?;
    settings.check_play(&args.engine.options)?;
    settings.set("DC0Seed", &seed.to_string())?;
    for (name, value) in [
        ("DC0Simulations", args.sims.map(|number| number.to_string())),
        ("DC0Temperature", args.temperature.map(|number| number.to_string())),
    ] {
        value.map(|value| settings.set(name, &value)).transpose()?;
    }
    settings.check_effects()?;
    let keep = args.pgn.as_deref().map(Keep::open).transpose()?;
    let engine = Engine::new(settings)?;
    let tags = Tags {
        event: "Game in the terminal",
        date: today(),
        engine: concat!("dc0 ", env!("CARGO_PKG_VERSION")).to_owned(),
        side: side(args.side, seed),
        plays_both: false,
        net: net_name(&args.engine),
        simulations: engine.simulations(),
    };
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let is_terminal = io::stdout().is_terminal();
    let setup = Setup {
        engine,
        start,
        tags,
        style: TermStyle::new(args.ascii, args.color, is_terminal, &variable),
        hides_evaluation: args.hide_eval,
        is_typed: io::stdin().is_terminal(),
        is_terminal,
        keep,
    };
    Ok((setup, Player::listen()?))
}

/// The game to start from.
fn start(text: Option<&str>) -> Result<Game, StartError> {
    let game = text.map_or_else(|| Ok(Game::initial()), Game::from_text)?;
    match Record::new(game.clone()).reason() {
        Some(reason) => Err(StartError::Over { fen: game.position().fen(), reason }),
        None => Ok(game),
    }
}

fn side(choice: SideChoice, seed: u32) -> Side {
    let mut stream = Seed { run: seed.into(), step: 0 }.stream(0, Purpose::RandomPlayer);
    match choice {
        SideChoice::White => Side::White,
        SideChoice::Black => Side::Black,
        SideChoice::Random => [Side::White, Side::Black][usize::from(stream.random::<bool>())],
    }
}

/// The value given last for an option.
fn given<'a>(args: &'a UciArgs, name: &str) -> Option<&'a str> {
    let found = args.options.iter().rev().find(|(option, _)| option.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

fn seed_given(args: &UciArgs) -> Option<u32> {
    given(args, "DC0Seed").and_then(|seed| seed.parse().ok())
}

fn net_name(args: &UciArgs) -> String {
    let named = given(args, "DC0Model").or(args.net.net.as_deref()).filter(|name| !name.is_empty());
    named.unwrap_or("the shipped net").to_owned()
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Side;

    use super::{SideChoice, StartError, side, start};

    #[test]
    fn a_seed_always_gives_the_same_side() {
        let sides: Vec<Side> = (0..50).map(|seed| side(SideChoice::Random, seed)).collect();
        assert_eq!(sides, (0..50).map(|seed| side(SideChoice::Random, seed)).collect::<Vec<_>>());
        assert!(sides.contains(&Side::White) && sides.contains(&Side::Black));
        assert_eq!(side(SideChoice::Black, 1), Side::Black);
    }

    #[test]
    fn a_finished_game_is_rejected() {
        assert_eq!(start(Some("startpos moves e2e4")).unwrap().ply(), 1);
        let error = start(Some("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")).unwrap_err();
        assert!(matches!(error, StartError::Over { .. }));
        assert!(error.to_string().ends_with("found \"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\": draw by stalemate"));
        assert!(start(Some("x")).unwrap_err().to_string().starts_with("--fen: \"x\" is not a FEN"));
    }
}
