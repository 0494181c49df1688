//! The output of a session.

use super::{PlayError, Session};
use crate::play::board::{self, Scene, board};
use crate::play::panel::panel;
use crate::play::score::Score;
use crate::uci::{MoveLine, SearchResult};
use crate::variation::whole_moves;
use dc0_process::format::counted;
use dc0_process::style::{Tone, padded};

use dc0_core::board::{Side, numbered_moves};

/// Columns of a line before it is wrapped.
const COLUMNS: usize = 79;

/// Lines of the engine's search that are shown, the move played among them.
const LINES: usize = 3;

impl Session<'_> {
    pub(super) fn print(&mut self, text: &str) -> Result<(), PlayError> {
        writeln!(self.to, "{text}")?;
        Ok(self.to.flush()?)
    }

    /// Prints moves, wrapped into lines.
    pub(super) fn print_wrapped(&mut self, moves: &[String]) -> Result<(), PlayError> {
        let mut lines: Vec<String> = Vec::new();
        for mv in moves {
            match lines.last_mut() {
                Some(line) if line.len() + 2 + mv.len() <= COLUMNS => line.extend(["  ", mv]),
                _ => lines.push(format!("  {mv}")),
            }
        }
        self.print(&lines.join("\n"))
    }

    pub(super) fn introduce(&mut self) -> Result<(), PlayError> {
        let tags = &self.setup.tags;
        let who = format!(
            "{} with {}, {} a move",
            tags.engine,
            tags.net,
            counted(tags.simulations as usize, "simulation")
        );
        let side = self.human();
        self.print(&format!("{who}.\nYou play {side:?}; \"help\" lists the commands."))?;
        if self.turn() == side { self.show() } else { Ok(()) }
    }

    /// Prints the board with the panel beside it, and the score and the status below.
    pub(super) fn show(&mut self) -> Result<(), PlayError> {
        let style = self.setup.style;
        let scene = Scene {
            position: self.record.game.position(),
            last: self.record.game.moves().last().copied(),
            is_flipped: self.is_flipped,
            style,
        };
        let names = if self.human() == Side::White { ["you", "dc0"] } else { ["dc0", "you"] };
        let beside = panel(&self.record, names, self.is_flipped, style);
        let mut page = vec![String::new()];
        for (row, rank) in board(&scene).iter().enumerate() {
            let beside = beside.get(row).map_or("", String::as_str);
            page.push(format!("{}   {beside}", padded(rank, board::WIDTH)).trim_end().to_owned());
        }
        page.push(String::new());
        if let Some(score) = self.score.filter(|_| !self.setup.hides_evaluation && !self.record.is_over()) {
            page.extend([format!("  {}", score.bar(style)), String::new()]);
        }
        page.extend(self.status());
        self.print(&page.join("\n"))
    }

    /// The end of the game, or a check.
    fn status(&self) -> Option<String> {
        let style = self.setup.style;
        match self.record.reason() {
            Some(reason) => Some(style.tone(&format!("{}  {reason}.", self.record.result()), Tone::Bold)),
            None if self.record.game.position().is_check() => {
                Some(style.tone(&format!("{:?} is in check.", self.turn()), Tone::Alarm))
            }
            None => None,
        }
    }

    pub(super) fn prompt(&mut self) -> Result<(), PlayError> {
        let position = self.record.game.position();
        let text = match (self.record.is_over(), position.side_to_move()) {
            (true, _) => "game over> ".to_owned(),
            (false, side) => format!("{}. {side:?}> ", position.fullmove_number()),
        };
        write!(self.to, "{}", self.setup.style.tone(&text, Tone::Bold))?;
        Ok(self.to.flush()?)
    }

    /// Prints the engine's move, before it is played, with the best lines of its search.
    pub(super) fn show_answer(&mut self, found: &SearchResult) -> Result<(), PlayError> {
        let chosen = &found.lines[found.chosen];
        let position = self.record.game.position();
        let played = numbered_moves(position, &chosen.moves[..1]).concat();
        let played = self.setup.style.tone(&format!("dc0 plays {played}"), Tone::Bold);
        if self.setup.hides_evaluation {
            return self.print(&format!("\n{played}"));
        }
        let simulations = counted(found.simulations as usize, "simulation");
        let about = format!("({simulations}; visits, White's score, expected moves)");
        self.print(&format!("\n{played}  {}", self.setup.style.tone(&about, Tone::Dim)))?;
        let others = found.lines.iter().enumerate().filter(|(index, _)| *index != found.chosen);
        let lines: Vec<&MoveLine> =
            std::iter::once(chosen).chain(others.map(|(_, line)| line)).take(LINES).collect();
        self.show_lines(&lines)
    }

    pub(super) fn show_lines(&mut self, lines: &[&MoveLine]) -> Result<(), PlayError> {
        let (position, side) = (self.record.game.position().clone(), self.turn());
        for line in lines {
            let start = format!("  {:>8}  {:>7}  ", line.visits, Score::from_line(line, side).text());
            let moves = whole_moves(&position, &line.moves, COLUMNS - start.len());
            self.print(&format!("{start}{moves}"))?;
        }
        Ok(())
    }
}
