use super::{exchange, gains_at_least, worth};
use crate::alphabeta::piece_squares::value;
use crate::board::thinned::chess960_games;
use crate::board::{KnownMove, Move, Piece, Position, Promotion, Rules, Side, random_opening};
use crate::rng::{Purpose, Seed};

fn known(position: &Position) -> Vec<KnownMove> {
    let mut moves = Vec::new();
    position.known_moves_into(&mut moves);
    moves
}

fn see(fen: &str, uci: &str) -> i32 {
    let position = Position::from_fen(fen).expect("a position");
    let mv = position.known(Move::from_uci(uci).expect("a move"));
    exchange(&position, mv)
}

#[test]
fn exchanges_by_hand() {
    // A free pawn; a protected pawn taken by a rook.
    assert_eq!(see("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5"), 100);
    assert_eq!(see("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5"), 100 - 320);
    // A pawn that promotes and is taken: one pawn for nothing. Not taken: a queen for a pawn.
    assert_eq!(see("1r4k1/P7/8/8/8/8/8/6K1 w - - 0 1", "a7a8q"), -100);
    assert_eq!(see("6k1/P7/8/8/8/8/8/6K1 w - - 0 1", "a7a8q"), 800);
    // En passant opens the file for the rook behind.
    assert_eq!(see("3rk3/8/8/3pP3/8/8/8/3RK3 w - d6 0 1", "e5d6"), 100);
    // Quiet moves lose what stands en prise, and castling nothing.
    assert_eq!(see("6k1/5p2/8/8/8/8/8/Q5K1 w - - 0 1", "a1g7"), -900);
    assert_eq!(see("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"), 0);
    assert_eq!(see("4k2r/8/8/8/8/8/8/3K3R w K - 0 1", "d1h1"), 0);
    // A king does not take what is protected.
    assert_eq!(see("8/8/2k5/3p4/8/5B2/8/K2R4 w - - 0 1", "d1d5"), 100);
}

/// No slider is in line with the opponent's king, so that no capture on one square pins, unpins or discovers anything.
fn is_free_of_pins(position: &Position) -> bool {
    [Side::White, Side::Black].into_iter().all(|side| {
        let king = position.pieces(side, Piece::King).trailing_zeros();
        let sliders = |piece| position.pieces(side.other(), piece);
        let in_line = |square: u32| square % 8 == king % 8 || square / 8 == king / 8;
        let diagonal = |square: u32| (square % 8).abs_diff(king % 8) == (square / 8).abs_diff(king / 8);
        let any = |squares: u64, on: &dyn Fn(u32) -> bool| {
            (0..64).any(|square| squares >> square & 1 == 1 && on(square))
        };
        let queens = sliders(Piece::Queen);
        !any(queens | sliders(Piece::Rook), &in_line) && !any(queens | sliders(Piece::Bishop), &diagonal)
    })
}

/// The best that the side to move can gain by legal captures on a square, the least valuable piece first, and each side free to stop.
fn by_captures(position: &Position, square: u8) -> i32 {
    let captures = known(position).into_iter().filter(|mv| {
        let is_promotion_to_less = mv.played.promotion().is_some_and(|to| to != Promotion::Queen);
        mv.played.to() == square && mv.captured.is_some() && !is_promotion_to_less
    });
    let least = captures.min_by_key(|mv| (mv.piece as usize, mv.played.from()));
    least.map_or(0, |mv| 0.max(gain(position, mv) - by_captures(&position.after(mv, 0).0, square)))
}

fn gain(position: &Position, mv: KnownMove) -> i32 {
    let promoted = mv.played.promotion().map(Promotion::piece);
    debug_assert!(position.is_legal(mv.played));
    mv.captured.map_or(0, value) + promoted.map_or(0, |piece| value(piece) - value(Piece::Pawn))
}

#[test]
fn exchanges_are_those_of_legal_captures() {
    let mut compared = 0;
    let opened = (0..250).map(|number| {
        let mut stream = Seed { run: 61, step: 0 }.stream(number, Purpose::Opening);
        random_opening(140, &Rules { max_plies: 512 }, &mut stream)
    });
    for game in opened.chain(chess960_games(300)) {
        for position in game.positions().filter(|position| !position.is_check() && is_free_of_pins(position))
        {
            for mv in known(position) {
                let after = position.after(mv, 0).0;
                let is_castling = position.castling(mv.played).is_some();
                // Answers to a check are restricted, which the exchange does not know.
                if is_castling
                    || after.is_check()
                    || mv.played.promotion().is_some_and(|to| to != Promotion::Queen)
                {
                    continue;
                }
                let expected = gain(position, mv) - by_captures(&after, mv.played.to());
                assert_eq!(exchange(position, mv), expected, "{} {}", position.fen(), mv.played);
                for threshold in [expected - 1, expected, expected + 1] {
                    assert_eq!(gains_at_least(position, mv, threshold), expected >= threshold);
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn a_king_is_worth_more_than_all_other_pieces() {
    assert!(worth(Piece::King) > 2 * (9 * value(Piece::Queen) + 8 * value(Piece::Rook)));
}
