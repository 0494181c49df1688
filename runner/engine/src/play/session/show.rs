//! What the player sees.

use super::{PlayError, Session};
use crate::play::board::{self, Scene, board};
use crate::play::panel::panel;
use crate::play::score::Score;
use crate::uci::{MoveLine, SearchResult};
use dc0_process::look::{Tone, padded};

use dc0_core::board::{Side, numbered_moves};

/// Columns that lines are broken at.
const COLUMNS: usize = 79;

/// Lines of the engine's thinking, the move played among them.
const LINES: usize = 3;

impl Session<'_> {
    pub(super) fn say(&mut self, text: &str) -> Result<(), PlayError> {
        writeln!(self.to, "{text}")?;
        Ok(self.to.flush()?)
    }

    /// Words in lines.
    pub(super) fn say_words(&mut self, words: &[String]) -> Result<(), PlayError> {
        let mut lines: Vec<String> = Vec::new();
        for word in words {
            match lines.last_mut() {
                Some(line) if line.len() + 2 + word.len() <= COLUMNS => line.extend(["  ", word]),
                _ => lines.push(format!("  {word}")),
            }
        }
        self.say(&lines.join("\n"))
    }

    pub(super) fn introduce(&mut self) -> Result<(), PlayError> {
        let tags = &self.setup.tags;
        let who = format!("{} with {}, {} simulations a move", tags.engine, tags.net, tags.simulations);
        let side = self.human();
        self.say(&format!("{who}. You play {side:?}; \"help\" lists the commands."))?;
        if self.turn() == side { self.show() } else { Ok(()) }
    }

    /// The board with everything beside and below it.
    pub(super) fn show(&mut self) -> Result<(), PlayError> {
        let look = self.setup.look;
        let scene = Scene {
            position: self.record.game.position(),
            last: self.record.game.moves().last().copied(),
            is_flipped: self.is_flipped,
            look,
        };
        let names = if self.human() == Side::White { ["you", "dc0"] } else { ["dc0", "you"] };
        let beside = panel(&self.record, names, self.is_flipped, look);
        let mut page = vec![String::new()];
        for (at, rank) in board(&scene).iter().enumerate() {
            let beside = beside.get(at).map_or("", String::as_str);
            page.push(format!("{}   {beside}", padded(rank, board::WIDTH)).trim_end().to_owned());
        }
        page.push(String::new());
        if let Some(score) = self.score.filter(|_| !self.setup.hides_evaluation && !self.record.is_over()) {
            page.extend([format!("  {}", score.bar(look)), String::new()]);
        }
        page.extend(self.news());
        self.say(&page.join("\n"))
    }

    /// The end of the game, or a check.
    fn news(&self) -> Option<String> {
        let look = self.setup.look;
        match self.record.reason() {
            Some(reason) => Some(look.tone(&format!("{}  {reason}.", self.record.result()), Tone::Bold)),
            None if self.record.game.position().is_check() => {
                Some(look.tone(&format!("{:?} is in check.", self.turn()), Tone::Alarm))
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
        write!(self.to, "{}", self.setup.look.tone(&text, Tone::Bold))?;
        Ok(self.to.flush()?)
    }

    /// The engine's move, before it is played, with the lines that it thought of.
    pub(super) fn tell_answer(&mut self, found: &SearchResult) -> Result<(), PlayError> {
        let chosen = &found.lines[found.chosen];
        let position = self.record.game.position();
        let played = numbered_moves(position, &chosen.moves[..1]).concat();
        let played = self.setup.look.tone(&format!("dc0 plays {played}"), Tone::Bold);
        if self.setup.hides_evaluation {
            return self.say(&format!("\n{played}"));
        }
        let about = format!("({} simulations; visits, White's score, expected moves)", found.simulations);
        self.say(&format!("\n{played}  {}", self.setup.look.tone(&about, Tone::Dim)))?;
        let others = found.lines.iter().enumerate().filter(|(at, _)| *at != found.chosen);
        let lines: Vec<&MoveLine> =
            std::iter::once(chosen).chain(others.map(|(_, line)| line)).take(LINES).collect();
        self.tell_lines(&lines)
    }

    pub(super) fn tell_lines(&mut self, lines: &[&MoveLine]) -> Result<(), PlayError> {
        let (position, side) = (self.record.game.position().clone(), self.turn());
        for line in lines {
            let start = format!("  {:>8}  {:>7}  ", line.visits, Score::of(line, side).text());
            let moves = fitting(&numbered_moves(&position, &line.moves), COLUMNS - start.len());
            self.say(&format!("{start}{moves}"))?;
        }
        Ok(())
    }
}

/// As many words as a width holds.
fn fitting(words: &[String], columns: usize) -> String {
    let mut line = String::new();
    for word in words {
        let gap = if line.is_empty() { "" } else { " " };
        if line.len() + gap.len() + word.len() > columns {
            break;
        }
        line += gap;
        line += word;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn a_line_holds_whole_moves_only() {
        let words = ["1. e4", "e5", "2. Nf3"].map(ToOwned::to_owned);
        assert_eq!(fitting(&words, 7), "1. e4");
        assert_eq!(fitting(&words, 8), "1. e4 e5");
        assert_eq!(fitting(&words, 99), "1. e4 e5 2. Nf3");
    }
}
