//! The result of a search from White's side, and the bar that shows it.

use dc0_core::board::Side;

use crate::score::score_text;
use crate::uci::MoveLine;
use dc0_process::style::{TermStyle, Tone};

/// Chances and score from White's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// White wins, draw, Black wins, in thousandths.
    pub chances: [u32; 3],
    pub(crate) evaluation: Evaluation,
}

/// How good a position is for White.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    Centipawns(i64),
    /// Moves to mate, below 0 if White is mated.
    Mate(i64),
}

/// The width of the bar.
const BAR: u32 = 32;

impl Score {
    /// The score of a line, for a side to move.
    pub fn from_line(line: &MoveLine, side: Side) -> Self {
        let [win, draw, loss] = line.chances;
        let (chances, sign) = match side {
            Side::White => ([win, draw, loss], 1),
            Side::Black => ([loss, draw, win], -1),
        };
        let evaluation = line
            .mate
            .map_or(Evaluation::Centipawns(sign * line.centipawns), |moves| Evaluation::Mate(sign * moves));
        Self { chances, evaluation }
    }

    /// In pawns, such as `+0.31`, or `#3` and `#-3` for a mate.
    pub fn text(self) -> String {
        match self.evaluation {
            Evaluation::Centipawns(centipawns) => score_text(centipawns, None),
            Evaluation::Mate(moves) => score_text(0, Some(moves)),
        }
    }

    /// The same after the line's first move, as in PGN's `%eval`; `None` if that move mates.
    pub(crate) fn after_move(self, mover: Side) -> Option<String> {
        let sign = if mover == Side::White { 1 } else { -1 };
        match self.evaluation {
            Evaluation::Centipawns(centipawns) => Some(format!("{:.2}", centipawns as f64 / 100.0)),
            Evaluation::Mate(moves) if moves == sign => None,
            Evaluation::Mate(moves) if moves * sign > 0 => Some(format!("#{}", moves - sign)),
            Evaluation::Mate(moves) => Some(format!("#{moves}")),
        }
    }

    /// The chances as a line: White's share from the left, Black's from the right, draws between.
    pub(super) fn bar(self, style: TermStyle) -> String {
        let [white, draw, black] = shares(self.chances, BAR).map(|columns| columns as usize);
        let fills = if style.is_unicode { ["█", "▒", "░"] } else { ["#", "=", "."] };
        let parts = [(white, 0, "38;5;255"), (draw, 1, "38;5;248"), (black, 2, "38;5;244")];
        let bar: String =
            parts.map(|(columns, fill, colour)| style.paint(&fills[fill].repeat(columns), colour)).concat();
        let [white, draw, black] = shares(self.chances, 100);
        let score = style.tone(&self.text(), Tone::Bold);
        format!("White {white:>3}% {bar} {black:>3}% Black   {draw:>3}% draw   {score}")
    }
}

/// Thousandths as shares of a whole that sum to it.
fn shares([white, _, black]: [u32; 3], whole: u32) -> [u32; 3] {
    let share = |thousandths: u32| (thousandths * whole + 500) / 1000;
    let (white, black) = (share(white), share(black).min(whole - share(white)));
    [white, whole - white - black, black]
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Side;

    use super::{Evaluation, Score, shares};
    use crate::uci::MoveLine;
    use dc0_process::style::TermStyle;
    use dc0_process::style::{PLAIN, width};

    fn line(chances: [u32; 3], centipawns: i64, mate: Option<i64>) -> MoveLine {
        MoveLine { moves: Vec::new(), visits: 1, prior: 0.0, q: 0.0, chances, centipawns, mate }
    }

    #[test]
    fn scores_are_from_whites_side() {
        let (line, mating) = (line([500, 300, 200], 31, None), line([1000, 0, 0], 12_780, Some(3)));
        assert_eq!(Score::from_line(&line, Side::White).text(), "+0.31");
        let black = Score::from_line(&line, Side::Black);
        assert_eq!((black.chances, black.text().as_str()), ([200, 300, 500], "-0.31"));
        assert_eq!(Score::from_line(&mating, Side::Black).text(), "#-3");
    }

    #[test]
    fn only_the_mating_side_shortens_the_mate() {
        let after = |moves, mover| {
            Score { chances: [0, 1000, 0], evaluation: Evaluation::Mate(moves) }.after_move(mover)
        };
        assert_eq!(after(3, Side::White).as_deref(), Some("#2"));
        assert_eq!(after(1, Side::White), None);
        assert_eq!(after(-2, Side::White).as_deref(), Some("#-2"));
        assert_eq!(after(-2, Side::Black).as_deref(), Some("#-1"));
        assert_eq!(after(-1, Side::Black), None);
        assert_eq!(after(1, Side::Black).as_deref(), Some("#1"));
    }

    #[test]
    fn the_bar_is_readable_without_colours() {
        let bar = |chances, evaluation, style| Score { chances, evaluation }.bar(style);
        assert_eq!(
            bar([500, 250, 250], Evaluation::Centipawns(22), PLAIN),
            "White  50% ################========........  25% Black    25% draw   +0.22"
        );
        assert_eq!(
            bar([0, 0, 1000], Evaluation::Mate(-2), PLAIN),
            "White   0% ................................ 100% Black     0% draw   #-2"
        );
        let coloured = TermStyle { is_unicode: true, is_coloured: true };
        let widest = bar([0, 0, 1000], Evaluation::Centipawns(-12_780), coloured);
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
