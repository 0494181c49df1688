//! The commands in PGN comments that say what a move took and how the position stands: `[%clk 0:03:00]` and `[%eval 0.25]`.
//!
//! They were defined by `ChessBase` and FICS and are written by Lichess, chess.com, cutechess and others. Evaluations are White's.

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
    /// Adds what a comment says; a command that cannot be read says nothing.
    pub(super) fn read(&mut self, comment: &[u8]) {
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

/// An evaluation, which a depth may follow: `0.25`, `-1.5,20`, `#-3`.
fn eval(text: &str) -> Option<PgnEval> {
    let score = text.split(',').next()?.trim();
    if let Some(moves) = score.strip_prefix('#') {
        let moves: i32 = moves.parse().ok()?;
        let is_mate = (1..=PgnEval::MOST_MOVES.into()).contains(&moves.unsigned_abs());
        return is_mate.then_some(PgnEval::Mate(moves));
    }
    let pawns: f64 = score.parse().ok()?;
    (pawns.abs() <= 300.0).then_some(PgnEval::Centipawns((pawns * 100.0).round() as f32))
}

#[cfg(test)]
mod tests {
    use super::{MoveNote, PgnEval};

    fn read(comment: &str) -> (Option<f32>, Option<PgnEval>) {
        let mut note = MoveNote::default();
        note.read(comment.as_bytes());
        (note.clock, note.eval)
    }

    #[test]
    fn clocks_and_evaluations_are_read() {
        let level = Some(PgnEval::Centipawns(23.0));
        assert_eq!(read(" [%eval 0.23] [%clk 0:03:00] "), (Some(180.0), level));
        assert_eq!(read("[%clk 1:02:03.5][%emt 0:00:01]"), (Some(3723.5), None));
        assert_eq!(read("a move [%eval #-3] with words"), (None, Some(PgnEval::Mate(-3))));
        assert_eq!(read("[%eval\n0.23]\n[%clk\t0:03:00]"), (Some(180.0), level));
        assert_eq!(read("[%eval -12.5,20]"), (None, Some(PgnEval::Centipawns(-1250.0))));
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
