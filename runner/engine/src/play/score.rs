//! What a search thinks of a position, from White's side, and the bar that shows it.

use dc0_core::board::Side;

use crate::uci::MoveLine;
use dc0_process::look::{Look, Tone};

/// Chances and score from White's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// White wins, nobody does, Black wins, in thousandths.
    pub chances: [u32; 3],
    pub(crate) worth: Worth,
}

/// How good a position is for White.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    Centipawns(i64),
    /// Moves to mate, below 0 if White is mated.
    Mate(i64),
}

/// Columns of the bar.
const BAR: u32 = 32;

impl Score {
    /// Of a line of the side to move.
    pub fn of(line: &MoveLine, side: Side) -> Self {
        let [win, draw, loss] = line.chances;
        let (chances, sign) = match side {
            Side::White => ([win, draw, loss], 1),
            Side::Black => ([loss, draw, win], -1),
        };
        let worth =
            line.mate.map_or(Worth::Centipawns(sign * line.centipawns), |moves| Worth::Mate(sign * moves));
        Self { chances, worth }
    }

    /// In pawns, such as `+0.31`, or `#3` and `#-3` for a mate.
    pub fn text(self) -> String {
        match self.worth {
            Worth::Centipawns(worth) => format!("{:+.2}", worth as f64 / 100.0),
            Worth::Mate(moves) => format!("#{moves}"),
        }
    }

    /// The same after the move that begins the line, as PGN's `%eval` has it; `None` once it has mated.
    pub(crate) fn after_move(self, mover: Side) -> Option<String> {
        let sign = if mover == Side::White { 1 } else { -1 };
        match self.worth {
            Worth::Centipawns(worth) => Some(format!("{:.2}", worth as f64 / 100.0)),
            Worth::Mate(moves) if moves == sign => None,
            Worth::Mate(moves) if moves * sign > 0 => Some(format!("#{}", moves - sign)),
            Worth::Mate(moves) => Some(format!("#{moves}")),
        }
    }

    /// The chances as a line: White's share from the left, Black's from the right, draws between.
    pub(super) fn bar(self, look: Look) -> String {
        let [white, draw, black] = shares(self.chances, BAR).map(|columns| columns as usize);
        let fills = if look.is_unicode { ["█", "▒", "░"] } else { ["#", "=", "."] };
        let parts = [(white, 0, "38;5;255"), (draw, 1, "38;5;248"), (black, 2, "38;5;244")];
        let bar: String =
            parts.map(|(columns, fill, colour)| look.paint(&fills[fill].repeat(columns), colour)).concat();
        let [white, draw, black] = shares(self.chances, 100);
        let score = look.tone(&self.text(), Tone::Bold);
        format!("White {white:>3}% {bar} {black:>3}% Black   {draw:>3}% draw   {score}")
    }
}

/// Thousandths as shares of a whole that sum to it.
fn shares([white, _, black]: [u32; 3], whole: u32) -> [u32; 3] {
    let share = |of: u32| (of * whole + 500) / 1000;
    let (white, black) = (share(white), share(black).min(whole - share(white)));
    [white, whole - white - black, black]
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Side;

    use super::{Score, Worth, shares};
    use crate::uci::MoveLine;
    use dc0_process::look::Look;
    use dc0_process::look::{PLAIN, width};

    fn told(chances: [u32; 3], centipawns: i64, mate: Option<i64>) -> MoveLine {
        MoveLine { moves: Vec::new(), visits: 1, prior: 0.0, q: 0.0, chances, centipawns, mate }
    }

    #[test]
    fn scores_are_told_from_whites_side() {
        let line = told([500, 300, 200], 31, None);
        assert_eq!(Score::of(&line, Side::White).text(), "+0.31");
        let black = Score::of(&line, Side::Black);
        assert_eq!((black.chances, black.text().as_str()), ([200, 300, 500], "-0.31"));
        assert_eq!(Score::of(&told([1000, 0, 0], 12_780, Some(3)), Side::Black).text(), "#-3");
    }

    #[test]
    fn a_mating_move_shortens_the_mate_and_a_defence_does_not() {
        let after =
            |moves, mover| Score { chances: [0, 1000, 0], worth: Worth::Mate(moves) }.after_move(mover);
        assert_eq!(after(3, Side::White).as_deref(), Some("#2"));
        assert_eq!(after(1, Side::White), None);
        assert_eq!(after(-2, Side::White).as_deref(), Some("#-2"));
        assert_eq!(after(-2, Side::Black).as_deref(), Some("#-1"));
        assert_eq!(after(-1, Side::Black), None);
        assert_eq!(after(1, Side::Black).as_deref(), Some("#1"));
    }

    #[test]
    fn the_bar_reads_without_colours() {
        let bar = |chances, worth, look| Score { chances, worth }.bar(look);
        assert_eq!(
            bar([500, 250, 250], Worth::Centipawns(22), PLAIN),
            "White  50% ################========........  25% Black    25% draw   +0.22"
        );
        assert_eq!(
            bar([0, 0, 1000], Worth::Mate(-2), PLAIN),
            "White   0% ................................ 100% Black     0% draw   #-2"
        );
        let coloured = Look { is_unicode: true, is_coloured: true };
        let widest = bar([0, 0, 1000], Worth::Centipawns(-12_780), coloured);
        assert!(width(&widest) < 78 && widest.contains("░"), "{widest}");
    }

    #[test]
    fn shares_always_sum_to_the_whole() {
        assert_eq!(shares([505, 0, 495], 100), [51, 0, 49]);
        for white in 0..=1000 {
            for black in 0..=1000 - white {
                assert_eq!(shares([white, 1000 - white - black, black], 32).iter().sum::<u32>(), 32);
            }
        }
    }
}
