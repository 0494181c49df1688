//! A game between a person and the engine, from its first move to its end.

mod commands;
mod show;

use std::io::{self, Write};

use dc0_core::board::{Game, Side};
use dc0_core::network::EvaluatorError;
use thiserror::Error;

use super::commands::{Typed, typed};
use super::input::{Event, Player};
use super::pgn::{Tags, pgn};
use super::pgn_file::{Keep, KeepError};
use super::record::Record;
use super::score::Score;
use crate::uci::{Engine, SearchResult};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::style::TermStyle;

/// Why a game cannot go on.
#[derive(Debug, Error)]
pub(super) enum PlayError {
    #[error("cannot write to the terminal: {0}")]
    Output(#[from] io::Error),
    #[error("cannot read the input: {0}")]
    Input(io::Error),
    #[error(transparent)]
    Engine(#[from] EvaluatorError),
    #[error(transparent)]
    Keep(#[from] KeepError),
}

impl Fault for PlayError {
    fn exit(&self) -> Exit {
        match self {
            Self::Keep(_) => Exit::Storage,
            Self::Output(_) | Self::Input(_) | Self::Engine(_) => Exit::Failed,
        }
    }
}

/// What a session starts with.
pub(super) struct Setup {
    pub(super) engine: Engine,
    pub(super) start: Game,
    pub(super) tags: Tags,
    pub(super) style: TermStyle,
    /// Whether bar and lines are shown only when asked for.
    pub(super) hides_evaluation: bool,
    /// Whether the input is a terminal, which echoes what is typed.
    pub(super) is_typed: bool,
    /// Whether the output is a terminal, where a line about waiting can be erased.
    pub(super) is_terminal: bool,
    pub(super) keep: Option<Keep>,
}

/// A game in progress.
pub(super) struct Session<'a> {
    setup: Setup,
    player: Player,
    to: &'a mut dyn Write,
    record: Record,
    is_flipped: bool,
    /// The score of the last search, of this position or the one before.
    score: Option<Score>,
}

impl<'a> Session<'a> {
    pub(super) fn new(setup: Setup, player: Player, to: &'a mut dyn Write) -> Self {
        let record = Record::new(setup.start.clone());
        let is_flipped = setup.tags.side == Side::Black;
        Self { setup, player, to, record, is_flipped, score: None }
    }

    /// Plays until the player leaves; then prints and saves the game.
    pub(super) fn run(mut self) -> Result<Exit, PlayError> {
        let ended = self.play();
        let closed = self.close();
        let exit = ended?;
        closed.map(|()| exit)
    }

    fn play(&mut self) -> Result<Exit, PlayError> {
        self.introduce()?;
        while !self.player.is_interrupted() {
            if !self.record.is_over() && self.turn() != self.human() {
                self.answer()?;
                continue;
            }
            self.prompt()?;
            match self.player.next() {
                Event::Line(line) => {
                    if !self.setup.is_typed {
                        self.print(&line)?;
                    }
                    if self.execute(&line)? {
                        return Ok(Exit::Done);
                    }
                }
                Event::TooLong(complaint) => self.complain(&complaint)?,
                Event::End => {
                    self.print("")?;
                    return Ok(Exit::Done);
                }
                Event::Failed(cause) => return Err(PlayError::Input(cause)),
                Event::Interrupted => self.print("")?,
            }
        }
        Ok(Exit::Interrupted)
    }

    fn human(&self) -> Side {
        self.setup.tags.side
    }

    fn turn(&self) -> Side {
        self.record.game.position().side_to_move()
    }

    /// Executes a line; true to leave.
    fn execute(&mut self, line: &str) -> Result<bool, PlayError> {
        match typed(line) {
            Typed::Nothing => {}
            Typed::Command(command) => return self.command(command),
            Typed::Text(text) => self.play_move(&text)?,
        }
        Ok(false)
    }

    fn play_move(&mut self, text: &str) -> Result<(), PlayError> {
        if self.record.is_over() {
            return self.complain("the game is over: undo, new, pgn or quit");
        }
        match self.record.game.position().read_move(text) {
            Ok(mv) => {
                self.record.play(mv, None);
                if self.record.is_over() { self.show() } else { Ok(()) }
            }
            Err(error) => self.refuse(text, &error),
        }
    }

    /// Lets the engine make the move.
    fn answer(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        let score = Score::from_line(&found.lines[found.chosen], self.turn());
        self.score = Some(score);
        self.show_answer(&found)?;
        self.record.play(found.lines[found.chosen].moves[0], Some(score));
        self.show()
    }

    /// Searches the position; `None` if the player pressed Ctrl-C meanwhile.
    fn search(&mut self) -> Result<Option<SearchResult>, PlayError> {
        let waits = self.setup.is_terminal && self.setup.style.is_coloured;
        if waits {
            write!(self.to, "dc0 is thinking ...").and_then(|()| self.to.flush())?;
        }
        let found = self.setup.engine.search(&self.record.game, &self.player.stop);
        if waits {
            write!(self.to, "\r\x1b[K")?;
        }
        let found = found?;
        Ok((!self.player.is_interrupted()).then_some(found))
    }

    /// Prints and saves the game, unless it is empty.
    fn close(&mut self) -> Result<(), PlayError> {
        if self.record.is_empty() {
            return Ok(());
        }
        let game = pgn(&self.record, &self.setup.tags);
        let kept = self.setup.keep.as_mut().map(|keep| keep.add(&game));
        self.print(&format!("\n{}", game.trim_end()))?;
        kept.transpose()?;
        if let Some(keep) = &self.setup.keep {
            let added = format!("\nThe game was added to {}.", keep.path().display());
            self.print(&added)?;
        }
        Ok(())
    }
}
