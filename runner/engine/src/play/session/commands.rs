//! The player's commands.

use dc0_core::board::MoveTextError;
use dc0_process::format::counted;

use super::{PlayError, Session};
use crate::play::commands::{Command, advice, help};
use crate::play::pgn::pgn;
use crate::play::record::{Agreed, Record};
use crate::play::score::Score;
use dc0_process::style::Tone;

/// Lines that a hint shows.
const HINTS: usize = 3;

impl Session<'_> {
    /// Executes a command; true to leave.
    pub(super) fn command(&mut self, command: Command) -> Result<bool, PlayError> {
        let needs_game = matches!(
            command,
            Command::Hint
                | Command::Eval
                | Command::Moves
                | Command::Go
                | Command::Switch
                | Command::Draw
                | Command::Resign
        );
        if needs_game && self.record.is_over() {
            self.complain("the game is over: undo, new, pgn or quit")?;
            return Ok(false);
        }
        match command {
            Command::Help => self.print(&help())?,
            Command::Hint => self.hint()?,
            Command::Eval => self.evaluate()?,
            Command::Undo => self.undo()?,
            Command::Moves => self.moves()?,
            Command::Board => self.show()?,
            Command::Flip => {
                self.is_flipped = !self.is_flipped;
                self.show()?;
            }
            Command::Fen => self.print(&self.record.game.position().fen())?,
            Command::Pgn => self.print(pgn(&self.record, &self.setup.tags).trim_end())?,
            Command::Resign => self.agree(Agreed::Resigned(self.human()))?,
            Command::Draw => self.offer_draw()?,
            Command::Go => self.answer()?,
            Command::Switch => self.switch(),
            Command::New => self.start_new_game()?,
            Command::Quit => return Ok(true),
        }
        Ok(false)
    }

    fn hint(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        self.score = Some(Score::from_line(&found.lines[0], self.turn()));
        let mut lines: Vec<_> = found.lines.iter().collect();
        lines.truncate(HINTS);
        self.print(&format!(
            "Best lines, with visits and White's score ({}):",
            counted(found.simulations as usize, "simulation")
        ))?;
        self.show_lines(&lines)
    }

    fn evaluate(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        let score = Score::from_line(&found.lines[0], self.turn());
        self.score = Some(score);
        self.print(&format!("  {}", score.bar(self.setup.style)))
    }

    fn undo(&mut self) -> Result<(), PlayError> {
        match self.record.last_turn_of(self.human()) {
            Some(ply) => {
                self.record.take_back_to(ply);
                self.score = self.record.last_score();
                self.show()
            }
            None if self.record.agreed.take().is_some() => self.show(),
            None => self.complain("there is no move of yours to take back"),
        }
    }

    fn moves(&mut self) -> Result<(), PlayError> {
        let position = self.record.game.position();
        let mut moves: Vec<String> = position.legal_moves().into_iter().map(|mv| position.san(mv)).collect();
        moves.sort_unstable();
        self.print_wrapped(&moves)
    }

    /// The engine agrees unless its own chances are better; docs/guides/play.md says so.
    fn offer_draw(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        let [win, _, loss] = found.lines[0].chances;
        if win >= loss {
            return self.agree(Agreed::Draw);
        }
        let percent = |thousandths: u32| (thousandths + 5) / 10;
        let (own, yours) = (percent(loss), percent(win));
        self.print(&format!("dc0 declines: it gives itself {own}% and you {yours}% to win."))
    }

    fn agree(&mut self, end: Agreed) -> Result<(), PlayError> {
        self.record.agreed = Some(end);
        self.show()
    }

    fn switch(&mut self) {
        self.setup.tags.side = self.human().other();
        self.is_flipped = !self.is_flipped;
    }

    fn start_new_game(&mut self) -> Result<(), PlayError> {
        self.close()?;
        self.record = Record::new(self.setup.start.clone());
        self.score = None;
        if self.turn() == self.human() { self.show() } else { Ok(()) }
    }

    /// Explains why a text is not a legal move; nothing changes.
    pub(super) fn refuse(&mut self, text: &str, error: &MoveTextError) -> Result<(), PlayError> {
        if !matches!(error, MoveTextError::NotAMove { .. }) {
            return self.complain(&error.to_string());
        }
        let example = error.to_string();
        let shown: String = text.chars().take(40).collect();
        let example = example.rsplit_once("such as ").map_or("", |(_, example)| example);
        let what = format!("\"{shown}\" is neither a move, such as {example}, nor a command");
        self.complain(&format!("{what}; {}", advice(text)))
    }

    pub(super) fn complain(&mut self, text: &str) -> Result<(), PlayError> {
        self.print(&self.setup.style.tone(text, Tone::Alarm))
    }
}
