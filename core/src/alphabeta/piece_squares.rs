//! Material and piece-square tables: the evaluation without a net.
//!
//! Tomasz Michniewski's Simplified Evaluation Function (<https://www.chessprogramming.org/Simplified_Evaluation_Function>).

use super::evaluator::StaticEvaluator;
use crate::board::{KnownMove, Piece, Position, Promotion, Side};

/// [`evaluation`], kept up to date from move to move.
#[derive(Debug, Clone, Default)]
pub struct PieceSquares {
    /// White's material and piece squares less Black's without the kings, after each move since the reset. Kings are added at the
    /// end, because which table they use depends on the other pieces.
    sums: Vec<i32>,
}

impl PieceSquares {
    /// The value of a piece on a square, from White's side.
    fn of(side: Side, piece: Piece, square: u8) -> i32 {
        if piece == Piece::King {
            return 0;
        }
        let score = value(piece) + table(piece)[index(side, square.into())];
        if side == Side::White { score } else { -score }
    }

    /// The sum of a position.
    fn counted(position: &Position) -> i32 {
        let mut sum = 0;
        for side in [Side::White, Side::Black] {
            for piece in Piece::ALL {
                let mut squares = position.pieces(side, piece);
                while squares != 0 {
                    sum += Self::of(side, piece, squares.trailing_zeros() as u8);
                    squares &= squares - 1;
                }
            }
        }
        sum
    }

    fn change(before: &Position, mv: KnownMove) -> i32 {
        let KnownMove { played, piece, captured } = mv;
        let side = before.side_to_move();
        if let Some(castling) = before.castling(played) {
            // A king has no squares here.
            let rook = |square| Self::of(side, Piece::Rook, square);
            return rook(castling.rook_to) - rook(castling.rook_from);
        }
        let placed = played.promotion().map_or(piece, Promotion::piece);
        let mut change = Self::of(side, placed, played.to()) - Self::of(side, piece, played.from());
        if let Some(captured) = captured {
            change -= Self::of(side.other(), captured, before.captured_square(mv));
        }
        change
    }
}

impl StaticEvaluator for PieceSquares {
    fn reset(&mut self, position: &Position) {
        self.sums.clear();
        self.sums.push(Self::counted(position));
    }

    fn push(&mut self, before: &Position, mv: KnownMove, _: &Position) {
        let sum = self.sums.last().copied().unwrap_or_default();
        self.sums.push(sum + Self::change(before, mv));
    }

    fn pop(&mut self) {
        self.sums.pop();
    }

    fn evaluate(&mut self, position: &Position) -> i32 {
        with_kings(self.sums.last().copied().unwrap_or_default(), position)
    }

    fn name(&self) -> &'static str {
        "material"
    }
}

/// The value of a piece in centipawns; the king has none.
pub fn value(piece: Piece) -> i32 {
    match piece {
        Piece::Pawn => 100,
        Piece::Knight => 320,
        Piece::Bishop => 330,
        Piece::Rook => 500,
        Piece::Queen => 900,
        Piece::King => 0,
    }
}

/// Material and piece squares of a position, in centipawns for the side to move.
pub fn evaluation(position: &Position) -> i32 {
    with_kings(PieceSquares::counted(position), position)
}

/// The evaluation of a position, for the side to move, with this sum of its other pieces, from White's side.
fn with_kings(sum: i32, position: &Position) -> i32 {
    let is_ending = [Side::White, Side::Black].into_iter().all(|side| is_reduced(position, side));
    let table = if is_ending { &KING_IN_ENDING } else { &KING };
    let king = |side| table[index(side, position.pieces(side, Piece::King).trailing_zeros() as usize)];
    let white = sum + king(Side::White) - king(Side::Black);
    if position.side_to_move() == Side::White { white } else { -white }
}

/// Whether a side has no queen, or a queen with no rook and at most one knight or bishop; if both have, kings use their table of the
/// ending.
fn is_reduced(position: &Position, side: Side) -> bool {
    let count = |piece| position.pieces(side, piece).count_ones();
    count(Piece::Queen) == 0 || (count(Piece::Rook) == 0 && count(Piece::Knight) + count(Piece::Bishop) <= 1)
}

/// The index of a square in a table, which has the eighth rank first.
fn index(side: Side, square: usize) -> usize {
    if side == Side::White { square ^ 56 } else { square }
}

fn table(piece: Piece) -> &'static [i32; 64] {
    match piece {
        Piece::Pawn => &PAWN,
        Piece::Knight => &KNIGHT,
        Piece::Bishop => &BISHOP,
        Piece::Rook => &ROOK,
        Piece::Queen => &QUEEN,
        Piece::King => &KING,
    }
}

#[rustfmt::skip]
const PAWN: [i32; 64] = [
      0,   0,   0,   0,   0,   0,   0,   0,
     50,  50,  50,  50,  50,  50,  50,  50,
     10,  10,  20,  30,  30,  20,  10,  10,
      5,   5,  10,  25,  25,  10,   5,   5,
      0,   0,   0,  20,  20,   0,   0,   0,
      5,  -5, -10,   0,   0, -10,  -5,   5,
      5,  10,  10, -20, -20,  10,  10,   5,
      0,   0,   0,   0,   0,   0,   0,   0,
];

#[rustfmt::skip]
const KNIGHT: [i32; 64] = [
    -50, -40, -30, -30, -30, -30, -40, -50,
    -40, -20,   0,   0,   0,   0, -20, -40,
    -30,   0,  10,  15,  15,  10,   0, -30,
    -30,   5,  15,  20,  20,  15,   5, -30,
    -30,   0,  15,  20,  20,  15,   0, -30,
    -30,   5,  10,  15,  15,  10,   5, -30,
    -40, -20,   0,   5,   5,   0, -20, -40,
    -50, -40, -30, -30, -30, -30, -40, -50,
];

#[rustfmt::skip]
const BISHOP: [i32; 64] = [
    -20, -10, -10, -10, -10, -10, -10, -20,
    -10,   0,   0,   0,   0,   0,   0, -10,
    -10,   0,   5,  10,  10,   5,   0, -10,
    -10,   5,   5,  10,  10,   5,   5, -10,
    -10,   0,  10,  10,  10,  10,   0, -10,
    -10,  10,  10,  10,  10,  10,  10, -10,
    -10,   5,   0,   0,   0,   0,   5, -10,
    -20, -10, -10, -10, -10, -10, -10, -20,
];

#[rustfmt::skip]
const ROOK: [i32; 64] = [
      0,   0,   0,   0,   0,   0,   0,   0,
      5,  10,  10,  10,  10,  10,  10,   5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
     -5,   0,   0,   0,   0,   0,   0,  -5,
      0,   0,   0,   5,   5,   0,   0,   0,
];

#[rustfmt::skip]
const QUEEN: [i32; 64] = [
    -20, -10, -10,  -5,  -5, -10, -10, -20,
    -10,   0,   0,   0,   0,   0,   0, -10,
    -10,   0,   5,   5,   5,   5,   0, -10,
     -5,   0,   5,   5,   5,   5,   0,  -5,
      0,   0,   5,   5,   5,   5,   0,  -5,
    -10,   5,   5,   5,   5,   5,   0, -10,
    -10,   0,   5,   0,   0,   0,   0, -10,
    -20, -10, -10,  -5,  -5, -10, -10, -20,
];

#[rustfmt::skip]
const KING: [i32; 64] = [
    -30, -40, -40, -50, -50, -40, -40, -30,
    -30, -40, -40, -50, -50, -40, -40, -30,
    -30, -40, -40, -50, -50, -40, -40, -30,
    -30, -40, -40, -50, -50, -40, -40, -30,
    -20, -30, -30, -40, -40, -30, -30, -20,
    -10, -20, -20, -20, -20, -20, -20, -10,
     20,  20,   0,   0,   0,   0,  20,  20,
     20,  30,  10,   0,   0,  10,  30,  20,
];

#[rustfmt::skip]
const KING_IN_ENDING: [i32; 64] = [
    -50, -40, -30, -20, -20, -30, -40, -50,
    -30, -20, -10,   0,   0, -10, -20, -30,
    -30, -10,  20,  30,  30,  20, -10, -30,
    -30, -10,  30,  40,  40,  30, -10, -30,
    -30, -10,  30,  40,  40,  30, -10, -30,
    -30, -10,  20,  30,  30,  20, -10, -30,
    -30, -30,   0,   0,   0,   0, -30, -30,
    -50, -30, -30, -30, -30, -30, -30, -50,
];

#[cfg(test)]
mod tests {
    use super::{PieceSquares, evaluation};
    use crate::alphabeta::StaticEvaluator as _;
    use crate::board::thinned::chess960_games;
    use crate::board::{Position, Rules, random_opening};
    use crate::rng::{Purpose, Seed};

    #[test]
    fn the_evaluation_knows_no_colours() {
        let at = |fen: &str| evaluation(&Position::from_fen(fen).expect("a position"));
        assert_eq!(at("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), 0);
        let white = at("r1bq1rk1/ppp2ppp/2n5/3p4/3P4/5N2/PPP2PPP/RNBQ1RK1 w - - 0 1");
        let black = at("rnbq1rk1/ppp2ppp/5n2/3p4/3P4/2N5/PPP2PPP/R1BQ1RK1 b - - 0 1");
        assert_eq!(white, black);
        // In the ending. The rook on a1 has 0, the knight on b1 −40, the kings have −30 each on the middle of the first rank.
        assert_eq!(at("4k3/8/8/8/8/8/8/RN2K3 w Q - 0 1"), 500 + 320 - 40);
    }

    #[test]
    fn moves_change_the_evaluation_as_counting_again_does() {
        let opened = (0..100).map(|number| {
            let mut stream = Seed { run: 31, step: 0 }.stream(number, Purpose::Opening);
            random_opening(150, &Rules { max_plies: 512 }, &mut stream)
        });
        for game in opened.chain(chess960_games(300)) {
            let mut evaluator = PieceSquares::default();
            evaluator.reset(game.start());
            for ((before, after), mv) in game.positions().zip(game.positions().skip(1)).zip(game.moves()) {
                let known = before.known(*mv);
                evaluator.push(before, known, after);
                assert_eq!(evaluator.evaluate(after), evaluation(after), "{}", after.fen());
                evaluator.pop();
                assert_eq!(evaluator.evaluate(before), evaluation(before), "{}", before.fen());
                evaluator.push(before, known, after);
            }
        }
    }
}
