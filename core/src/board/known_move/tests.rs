use super::KnownMove;
use crate::board::thinned::chess960_games;
use crate::board::{Game, Move, Position, Promotion, Rules, Side, random_opening};
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

/// The positions of random games, and some with every kind of special move.
fn positions() -> Vec<Position> {
    let fens = [
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        "8/8/8/1k1pP2K/8/8/8/8 w - d6 0 1",
        // A capture en passant would expose the king on its rank.
        "8/8/8/KPp4r/8/8/8/4k3 w - c6 0 1",
    ];
    let mut positions: Vec<Position> =
        fens.iter().map(|fen| Position::from_fen(fen).expect("a position")).collect();
    for fen in ["4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNQ w - - 0 1", "3k4/4P3/2n1N3/8/6B1/8/3K4/7r b - - 0 1"] {
        positions.push(Position::from_inexact_fen(fen).expect("a position that no game reaches").0);
    }
    for number in 0..60 {
        let mut stream = Seed { run: 21, step: 0 }.stream(number, Purpose::Opening);
        let game: Game = random_opening(120, &RULES, &mut stream);
        positions.extend(game.positions().cloned());
    }
    positions.extend(chess960_games(300).iter().flat_map(Game::positions).cloned());
    positions
}

fn known(position: &Position) -> Vec<KnownMove> {
    let mut moves = Vec::new();
    position.known_moves_into(&mut moves);
    moves
}

#[test]
fn moves_positions_and_keys_are_those_of_the_plain_operations() {
    for position in positions() {
        let moves = known(&position);
        let plain: Vec<Move> = moves.iter().map(|mv| mv.played).collect();
        assert_eq!(plain, position.legal_moves());
        for mv in moves {
            assert_eq!(position.known(mv.played), mv);
            let mut expected = position.clone();
            let key = expected.play_unchecked(mv.played, position.key());
            let (after, after_key) = position.after(mv, position.key());
            assert_eq!((after.fen(), after_key), (expected.fen(), key), "{} {}", position.fen(), mv.played);
            assert_eq!(after_key, after.key());
        }
    }
}

#[test]
fn captures_are_the_legal_ones() {
    let mut captures = Vec::new();
    let mut counted = 0;
    for position in positions().iter().filter(|position| !position.is_check()) {
        position.known_captures_into(&mut captures);
        let is_listed = |mv: &KnownMove| match mv.played.promotion() {
            Some(promotion) => promotion == Promotion::Queen,
            None => mv.captured.is_some(),
        };
        let mut expected: Vec<KnownMove> = known(position).into_iter().filter(is_listed).collect();
        captures.sort_by_key(|mv| mv.played);
        expected.sort_by_key(|mv| mv.played);
        assert_eq!(captures, expected, "{}", position.fen());
        counted += captures.len();
    }
    assert!(counted > 5000, "{counted}");
}

#[test]
fn a_pass_changes_the_side_and_forgets_en_passant() {
    for position in positions() {
        match position.after_pass(position.key()) {
            None => assert!(position.is_check(), "{}", position.fen()),
            Some((passed, key)) => {
                assert_eq!(key, passed.key());
                assert_eq!(passed.side_to_move(), position.side_to_move().other());
                assert_eq!(passed.pieces_by_kind(), position.pieces_by_kind());
                assert_eq!(passed.legal_en_passant(), None);
            }
        }
    }
}

#[test]
fn attackers_see_through_pieces_that_have_left() {
    // Rooks on e1 and e2, a pawn on d4, a king on f6: all attack e5; the rook on e1 only once the other has left.
    let position = Position::from_fen("8/8/5k2/8/3P4/8/4R3/K3R3 w - - 0 1").expect("a position");
    let occupied = position.occupied(Side::White) | position.occupied(Side::Black);
    let (e1, e2, d4, f6, e5) = (1u64 << 4, 1u64 << 12, 1u64 << 27, 1u64 << 45, 36);
    assert_eq!(position.attackers(e5, occupied), e2 | d4 | f6);
    assert_eq!(position.attackers(e5, occupied & !e2), e1 | d4 | f6);
    assert!(position.has_pieces(Side::White) && !position.has_pieces(Side::Black));
    assert_eq!((position.piece_count(), position.pieces_besides_pawns(Side::White)), (5, 2));
}
