//! Scores of the search: centipawns for the side to move, with mates and tablebase results above all evaluations.

use crate::math::tanh;

/// Above every score.
pub(super) const INFINITE: i32 = 32_001;

/// A mate on the board; a mate in n plies scores n less. Fits 16 bits, as the table stores it.
pub(super) const MATE: i32 = 32_000;

/// The deepest line in plies. Chosen: far beyond what a search reaches, and a thread's stack holds it.
pub(super) const MAX_PLY: usize = 200;

/// A tablebase win; one n plies away scores n less.
const TABLEBASE_WIN: i32 = 31_000;

/// The largest evaluation; evaluators that say more are cut to it, so that no evaluation looks like a proven result.
pub(super) const MAX_EVALUATION: i32 = 30_000;

/// The score of the side that is mated, `ply` plies below the root.
pub(super) fn mated(ply: usize) -> i32 {
    ply as i32 - MATE
}

/// The score of a tablebase result `ply` plies below the root: 1 for a win, 0 and −1.
pub(super) fn of_tablebase(result: i8, ply: usize) -> i32 {
    i32::from(result) * (TABLEBASE_WIN - ply as i32)
}

/// Whether a score is a proven win, by mate or by tablebases.
pub(super) fn is_win(score: i32) -> bool {
    score > MAX_EVALUATION
}

/// Whether a score is a proven loss; `-INFINITE` is none.
pub(super) fn is_loss(score: i32) -> bool {
    (-MATE..-MAX_EVALUATION).contains(&score)
}

/// Whether a score is a proven win or loss.
pub(super) fn is_decisive(score: i32) -> bool {
    score.abs() > MAX_EVALUATION
}

/// Whether a score is a mate, for either side.
pub(super) fn is_mate(score: i32) -> bool {
    score.abs() >= MATE - MAX_PLY as i32
}

/// A score as the table stores it: mates and tablebase wins are counted from the stored position, not from the root, so that the
/// same position at another distance gets the right score.
pub(super) fn to_table(score: i32, ply: usize) -> i32 {
    if is_decisive(score) { score + score.signum() * ply as i32 } else { score }
}

/// The inverse of [`to_table`], at a position `ply` plies below the root.
pub(super) fn from_table(score: i32, ply: usize) -> i32 {
    if is_decisive(score) { score - score.signum() * ply as i32 } else { score }
}

/// A score for the side to move as people and programs read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn; tablebase wins lie above 30,000.
    Centipawns(i32),
    /// Moves to a mate, at least 1; below 0 if the side to move is mated, 0 if it is mated already.
    Mate(i32),
}

impl Score {
    pub(super) fn of(score: i32) -> Self {
        if !is_mate(score) {
            return Self::Centipawns(score);
        }
        let plies = MATE - score.abs();
        Self::Mate(if score > 0 { (plies + 1) / 2 } else { -(plies / 2) })
    }

    /// Whether the side to move mates in so many moves at most.
    pub fn is_mate_in(self, most: u32) -> bool {
        matches!(self, Self::Mate(moves) if moves > 0 && moves.unsigned_abs() <= most)
    }

    /// The value in [−1, 1] that this score suggests, as P(win) − P(loss): `tanh(centipawns / 400)`, close to the logistic curve with
    /// which Elo ratings compare players (<https://www.chessprogramming.org/Pawn_Advantage,_Win_Percentage,_and_Elo>).
    pub fn value(self) -> f64 {
        match self {
            Self::Centipawns(centipawns) => tanh(f64::from(centipawns) / 400.0),
            Self::Mate(moves) if moves > 0 => 1.0,
            Self::Mate(_) => -1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MATE, Score, from_table, is_mate, is_win, mated, of_tablebase, to_table};

    #[test]
    fn mates_are_counted_in_moves() {
        // Mates in 1, 2 and 3 plies; mated at once and in 2 plies.
        assert_eq!([1, 2, 3].map(|plies| Score::of(MATE - plies)), [1, 1, 2].map(Score::Mate));
        assert_eq!([0, 2, 4].map(|ply| Score::of(mated(ply))), [0, -1, -2].map(Score::Mate));
        assert_eq!(Score::of(-31), Score::Centipawns(-31));
        assert!(matches!(Score::of(of_tablebase(1, 3)), Score::Centipawns(30_997)));
    }

    #[test]
    fn stored_mates_keep_their_distance_from_the_position() {
        // A mate 3 plies below a position that is 4 plies below the root, seen again 2 plies below another root.
        let stored = to_table(MATE - 7, 4);
        assert_eq!(stored, MATE - 3);
        assert_eq!(from_table(stored, 2), MATE - 5);
        assert_eq!(from_table(to_table(mated(9), 4), 6), mated(11));
        assert_eq!(from_table(to_table(-250, 4), 6), -250);
        assert_eq!(from_table(to_table(of_tablebase(-1, 5), 5), 1), of_tablebase(-1, 1));
    }

    #[test]
    fn tablebase_wins_lie_between_evaluations_and_mates() {
        let win = of_tablebase(1, 199);
        assert!(is_win(win) && !is_mate(win) && win < MATE - 199);
        assert_eq!(of_tablebase(0, 7), 0);
        assert_eq!(
            (Score::Mate(2).value(), Score::Mate(-2).value(), Score::Centipawns(0).value()),
            (1.0, -1.0, 0.0)
        );
    }
}
