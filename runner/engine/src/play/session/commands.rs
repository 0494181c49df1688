//! What commands do.

use dc0_core::board::MoveTextError;

use super::{PlayError, Session};
use crate::play::pgn::pgn;
use crate::play::read::{Command, advice, help};
use crate::play::record::{Agreed, Record};
use crate::play::score::Score;
use dc0_process::look::Tone;

/// Lines of a hint.
const HINTS: usize = 3;

impl Session<'_> {
    /// Obeys; true to leave.
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
            Command::Help => self.say(&help())?,
            Command::Hint => self.hint()?,
            Command::Eval => self.evaluate()?,
            Command::Undo => self.undo()?,
            Command::Moves => self.moves()?,
            Command::Board => self.show()?,
            Command::Flip => {
                self.is_flipped = !self.is_flipped;
                self.show()?;
            }
            Command::Fen => self.say(&self.record.game.position().fen())?,
            Command::Pgn => self.say(pgn(&self.record, &self.setup.tags).trim_end())?,
            Command::Resign => self.agree(Agreed::Resigned(self.human()))?,
            Command::Draw => self.offer_draw()?,
            Command::Go => self.answer()?,
            Command::Switch => self.switch(),
            Command::New => self.begin_anew()?,
            Command::Quit => return Ok(true),
        }
        Ok(false)
    }

    fn hint(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        self.score = Some(Score::of(&found.lines[0], self.turn()));
        let mut lines: Vec<_> = found.lines.iter().collect();
        lines.truncate(HINTS);
        self.say(&format!("Best lines, with visits and White's score ({} simulations):", found.simulations))?;
        self.tell_lines(&lines)
    }

    fn evaluate(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        let score = Score::of(&found.lines[0], self.turn());
        self.score = Some(score);
        self.say(&format!("  {}", score.bar(self.setup.look)))
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
        let mut moves: Vec<String> =
            position.legal_moves().into_iter().map(|played| position.san(played)).collect();
        moves.sort_unstable();
        self.say_words(&moves)
    }

    /// The engine agrees unless it likes its own chances better; docs/guides/play.md says so.
    fn offer_draw(&mut self) -> Result<(), PlayError> {
        let Some(found) = self.search()? else { return Ok(()) };
        let [win, _, loss] = found.lines[0].chances;
        if win >= loss {
            return self.agree(Agreed::Draw);
        }
        let percent = |thousandths: u32| (thousandths + 5) / 10;
        let (own, yours) = (percent(loss), percent(win));
        self.say(&format!("dc0 declines: it gives itself {own}% and you {yours}% to win."))
    }

    fn agree(&mut self, end: Agreed) -> Result<(), PlayError> {
        self.record.agreed = Some(end);
        self.show()
    }

    fn switch(&mut self) {
        self.setup.tags.side = self.human().other();
        self.is_flipped = !self.is_flipped;
    }

    fn begin_anew(&mut self) -> Result<(), PlayError> {
        self.close()?;
        self.record = Record::new(self.setup.start.clone());
        self.score = None;
        if self.turn() == self.human() { self.show() } else { Ok(()) }
    }

    /// Says why a text is no move; nothing has changed.
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
        self.say(&self.setup.look.tone(text, Tone::Alarm))
    }
}
