//! What PGN comments say of what a move took and how the position stands: `[%clk 0:03:00]`, `[%eval 0.25]` and `+0.25/12 0.53s`.
//!
//! The commands in brackets were defined by `ChessBase` and FICS and are written by Lichess, chess.com and others. Their evaluations are
//! White's. cutechess, fastchess and dc0 write the score of the player that moved, and some files have White's instead.

use super::Side;
use crate::param_enum;

param_enum! {
    /// Whose a score is that a comment begins with.
    pub enum ScoreView {
        /// That of the player that moved.
        Mover = "mover",
        /// White's.
        White = "white",
    }
}

/// An evaluation by an engine, from White's side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PgnEval {
    /// Centipawns.
    Centipawns(f32),
    /// Moves until mate; below 0 if Black mates.
    Mate(i32),
}

/// What a comment says about a move.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MoveNote {
    /// Seconds left on the clock of the player that moved.
    pub clock: Option<f32>,
    /// The evaluation of the position after the move.
    pub eval: Option<PgnEval>,
}

impl PgnEval {
    /// The most moves of a mate; in tables a longer one could not be distinguished from an evaluation.
    pub const MOST_MOVES: u16 = 999;

    /// As `[%eval …]` has it: pawns, or `#` and moves.
    pub fn text(self) -> String {
        match self {
            // Adding 0 makes a level score 0.00 instead of -0.00.
            Self::Centipawns(score) => format!("{:.2}", score / 100.0 + 0.0),
            Self::Mate(moves) => format!("#{moves}"),
        }
    }
}

impl MoveNote {
    /// Adds what a comment on a move of `mover` says; what cannot be read says nothing. `[%eval …]` counts before a score.
    pub(super) fn read(&mut self, comment: &[u8], mover: Side, scores: ScoreView, is_of_dc0: bool) {
        let mut rest = comment;
        while let Some(start) = rest.windows(2).position(|bytes| bytes == b"[%") {
            let command = &rest[start + 2..];
            let end = command.iter().position(|byte| *byte == b']').unwrap_or(command.len());
            let (command, after) = command.split_at(end);
            rest = after;
            // Lines are broken at any space, those within commands too.
            let words = std::str::from_utf8(command).ok();
            let Some((name, value)) = words.and_then(|text| text.split_once(char::is_whitespace)) else {
                continue;
            };
            match name {
                "clk" => self.clock = clock(value.trim()).or(self.clock),
                "eval" => self.eval = eval(value.trim()).or(self.eval),
                _ => {}
            }
        }
        self.eval = self.eval.or_else(|| score(comment, mover, scores, is_of_dc0));
    }

    /// The comment that says this; `None` if there is nothing to say.
    pub fn text(self) -> Option<String> {
        let eval = self.eval.map(|eval| format!("[%eval {}]", eval.text()));
        let clock = self.clock.map(|clock| format!("[%clk {}]", clock_text(clock)));
        let parts: Vec<String> = eval.into_iter().chain(clock).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// Seconds of `hours:minutes:seconds`.
fn clock(text: &str) -> Option<f32> {
    let mut seconds = 0.0;
    let mut parts = 0;
    for part in text.split(':') {
        // -0 is not below 0, but a time that begins with it is.
        let is_time = |number: &f64| number.is_sign_positive() && *number < 1e7;
        let number = part.parse::<f64>().ok().filter(is_time)?;
        seconds = 60.0 * seconds + number;
        parts += 1;
    }
    (parts <= 3).then_some(seconds as f32)
}

fn clock_text(seconds: f32) -> String {
    // The shortest number that is this float is the one that was read, up to milliseconds.
    let shortest = seconds.to_string();
    let digits = shortest.split_once('.').map_or("", |(_, digits)| &digits[..digits.len().min(3)]);
    let whole = seconds as u64;
    let text = format!("{}:{:02}:{:02}.{digits}", whole / 3600, whole / 60 % 60, whole % 60);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An evaluation in pawns, which a depth may follow: `0.25`, `-1.5,20`, `#-3`. `ChessBase` writes centipawns and a depth: `25,20`.
fn eval(text: &str) -> Option<PgnEval> {
    let (score, depth) = text.split_once(',').map_or((text, None), |(score, depth)| (score, Some(depth)));
    let score = score.trim();
    if let Some(moves) = score.strip_prefix('#') {
        return mate(moves.parse().ok()?);
    }
    let is_in_centipawns = depth.is_some() && score.parse::<i64>().is_ok();
    let unit = if is_in_centipawns { 0.01 } else { 1.0 };
    centipawns(unit * score.parse::<f64>().ok()?)
}

/// The score that cutechess, fastchess and dc0 begin a comment with, seen from White: `+0.31/12 0.53s`, `-M6/20`, `0.00/1`.
///
/// Its depth distinguishes it from numbers that people write; fastchess has depth 0 where an engine reports nothing. dc0 leaves out a
/// depth that a player does not report, always writes the mover's score, and counts mates in moves, the others in plies.
fn score(comment: &[u8], mover: Side, view: ScoreView, is_of_dc0: bool) -> Option<PgnEval> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let word = std::str::from_utf8(comment.trim_ascii_start().split(is_end).next()?).ok()?;
    let (score, has_depth) = match word.split_once('/') {
        Some((score, depth)) => (number(depth).filter(|depth| *depth > 0).map(|_| score)?, true),
        None if is_of_dc0 => (word, false),
        None => return None,
    };
    let size = score.strip_prefix(['+', '-']).unwrap_or(score);
    let (is_score, is_worse) = (has_depth || size.len() < score.len(), score.starts_with('-'));
    let is_movers = view == ScoreView::Mover || is_of_dc0;
    let is_blacks = is_worse != (is_movers && mover == Side::Black);
    if let Some(count) = size.strip_prefix('M').filter(|_| is_score) {
        // The move is the first of a mate by its own side, and is made.
        let moves = match (number(count)?, is_of_dc0) {
            (plies, false) => plies / 2,
            (moves, true) if is_worse => moves,
            (moves, true) => moves.checked_sub(1)?,
        };
        return mate(if is_blacks { -i32::from(moves) } else { i32::from(moves) });
    }
    let (whole, hundredths) = size.split_once('.')?;
    if number(whole).is_none() || number(hundredths).is_none() || hundredths.len() != 2 {
        return None;
    }
    let pawns: f64 = size.parse().ok().filter(|pawns| is_score || *pawns == 0.0)?;
    centipawns(if is_blacks { -pawns } else { pawns })
}

fn number(digits: &str) -> Option<u16> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn mate(moves: i32) -> Option<PgnEval> {
    let is_mate = (1..=PgnEval::MOST_MOVES.into()).contains(&moves.unsigned_abs());
    is_mate.then_some(PgnEval::Mate(moves))
}

fn centipawns(pawns: f64) -> Option<PgnEval> {
    // Adding 0 makes a level score 0 instead of -0.
    (pawns.abs() <= 300.0).then_some(PgnEval::Centipawns((pawns * 100.0).round() as f32 + 0.0))
}

#[cfg(test)]
mod tests {
    use super::{MoveNote, PgnEval, ScoreView, Side};

    fn read(comment: &str) -> (Option<f32>, Option<PgnEval>) {
        let mut note = MoveNote::default();
        note.read(comment.as_bytes(), Side::White, ScoreView::Mover, false);
        (note.clock, note.eval)
    }

    /// What a comment says about a move of White, and what it says about one of Black.
    fn seen(comment: &str, view: ScoreView, is_of_dc0: bool) -> [Option<PgnEval>; 2] {
        [Side::White, Side::Black].map(|mover| {
            let mut note = MoveNote::default();
            note.read(comment.as_bytes(), mover, view, is_of_dc0);
            note.eval
        })
    }

    fn scores(comment: &str, is_of_dc0: bool) -> [Option<PgnEval>; 2] {
        seen(comment, ScoreView::Mover, is_of_dc0)
    }

    #[test]
    fn clocks_and_evaluations_are_read() {
        let level = Some(PgnEval::Centipawns(23.0));
        assert_eq!(read(" [%eval 0.23] [%clk 0:03:00] "), (Some(180.0), level));
        assert_eq!(read("[%clk 1:02:03.5][%emt 0:00:01]"), (Some(3723.5), None));
        assert_eq!(read("a move [%eval #-3] with words"), (None, Some(PgnEval::Mate(-3))));
        assert_eq!(read("[%eval\n0.23]\n[%clk\t0:03:00]"), (Some(180.0), level));
        assert_eq!(read("[%eval -12.5,20]"), (None, Some(PgnEval::Centipawns(-1250.0))));
        assert_eq!(read("[%eval 3.0,20]"), (None, Some(PgnEval::Centipawns(300.0))));
        assert_eq!(read("[%eval 3]"), (None, Some(PgnEval::Centipawns(300.0))));
        assert_eq!(read("[%eval\n-105, 24] [%emt 0:00:17]"), (None, Some(PgnEval::Centipawns(-105.0))));
        for nothing in [
            "",
            "[%",
            "[%clk]",
            "[%clk x]",
            "[%clk 1:2:3:4]",
            "[%eval #0]",
            "[%eval #1000]",
            "[%eval #-2147483648]",
            "[%eval inf]",
            "[%eval NaN]",
            "[%clk -1]",
            "[%clk -0:00:05]",
        ] {
            assert_eq!(read(nothing), (None, None), "{nothing}");
        }
    }

    #[test]
    fn scores_are_the_movers_and_evaluations_are_whites() {
        let centipawns = |score: f32| [score, -score].map(|score| Some(PgnEval::Centipawns(score)));
        let mate = |moves: i32| [moves, -moves].map(|moves| Some(PgnEval::Mate(moves)));
        for (comment, expected) in [
            // cutechess
            ("+0.31/12 0.53s", centipawns(31.0)),
            ("-2.05/9 12s", centipawns(-205.0)),
            ("0.00/1 0s", centipawns(0.0)),
            ("+M7/21 0.090s", mate(3)),
            ("-M6/20 1.2s, Black mates", mate(-3)),
            ("+M3/9\n0.53s", mate(1)),
            // fastchess
            ("+1.00/15 1.321s, n=1250, sd=4", centipawns(100.0)),
            ("+10.15/18 1.821s, engine2 got checkmated", centipawns(1015.0)),
            (" -0.09/7, line", centipawns(-9.0)),
            // xboard
            ("+0.31/12 53", centipawns(31.0)),
            // Without the sign of what is above 0.
            ("0.31/12 5", centipawns(31.0)),
            ("M7/21", mate(3)),
        ] {
            assert_eq!(scores(comment, false), expected, "{comment}");
        }
        // The mate is on the board; nothing was searched, or it is not said whose score it is.
        for nothing in [
            "+M1/3 0.1s",
            "book",
            "0.00/0 0.001s",
            "ERR/4 0.1s",
            "+0.31",
            "0.31",
            "+0.3/12",
            "M5",
            "+300.01/12",
            "+0.31/12b",
            "+0.31/",
            "++0.31/12",
            "so +0.31/12",
            "1/2",
            "1/2-1/2",
            "+inf/1",
            "/",
            "/5",
            "+M/5",
            "+M99999/5",
        ] {
            assert_eq!(scores(nothing, false), [None; 2], "{nothing}");
        }
        let level = Some(PgnEval::Centipawns(0.0));
        for both in ["+0.31/12 0.53s [%eval 0.00]", "[%eval 0.00] +0.31/12"] {
            assert_eq!(scores(both, false), [level; 2], "{both}");
        }
        let mut note = MoveNote::default();
        for comment in ["+0.31/12", "[%eval 0.00]", "+0.31/12"] {
            note.read(comment.as_bytes(), Side::White, ScoreView::Mover, false);
        }
        assert_eq!(note.eval, level);
    }

    #[test]
    fn scores_may_be_whites_but_in_games_of_dc0() {
        let white = |comment: &str| seen(comment, ScoreView::White, false);
        let centipawns = |score: f32| [Some(PgnEval::Centipawns(score)); 2];
        let mate = |moves: i32| [Some(PgnEval::Mate(moves)); 2];
        for (comment, expected) in [
            ("+1.91/30 7.7s", centipawns(191.0)),
            ("-0.30/10 1", centipawns(-30.0)),
            ("0.05/10 1", centipawns(5.0)),
            ("+M7/21", mate(3)),
            ("-M6/20", mate(-3)),
            ("-0.30/10 [%eval 0.25]", centipawns(25.0)),
        ] {
            assert_eq!(white(comment), expected, "{comment}");
        }
        for comment in ["+0.35", "-0.35/12", "+M5/12", "-M5/12"] {
            assert_eq!(seen(comment, ScoreView::White, true), scores(comment, true), "{comment}");
        }
    }

    #[test]
    fn scores_of_dc0_may_lack_a_depth_and_count_mates_in_moves() {
        let centipawns = |score: f32| [score, -score].map(|score| Some(PgnEval::Centipawns(score)));
        let mate = |moves: i32| [moves, -moves].map(|moves| Some(PgnEval::Mate(moves)));
        for (comment, expected) in [
            ("+0.35", centipawns(35.0)),
            ("-0.35/12 0.250s", centipawns(-35.0)),
            ("+M5/12", mate(4)),
            ("-M5/12", mate(-5)),
            ("+M1", [None; 2]),
            ("0.25", [None; 2]),
            ("M5", [None; 2]),
            ("0.250s", [None; 2]),
            ("q=+0.41 net=+0.10", [None; 2]),
        ] {
            assert_eq!(scores(comment, true), expected, "{comment}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (clock, eval) in [
            (Some(0.0), None),
            (Some(3723.5), Some(PgnEval::Centipawns(-1.0))),
            (None, Some(PgnEval::Mate(7))),
            (Some(59.9), Some(PgnEval::Centipawns(0.0))),
            (Some(179.95), Some(PgnEval::Centipawns(30_000.0))),
            (Some(0.007), Some(PgnEval::Mate(-999))),
            (Some(20_000.3), None),
            (Some(600.0), None),
        ] {
            let text = MoveNote { clock, eval }.text().expect("something to say");
            assert_eq!(read(&text), (clock, eval), "{text}");
        }
        let clock = |seconds| MoveNote { clock: Some(seconds), eval: None }.text().expect("a clock");
        for (seconds, expected) in
            [(600.0, "0:10:00"), (179.95, "0:02:59.95"), (3661.25, "1:01:01.25"), (0.0004, "0:00:00")]
        {
            assert_eq!(clock(seconds), format!("[%clk {expected}]"));
        }
        assert_eq!(MoveNote::default().text(), None);
    }
}
