//! Draws by the rules, and mates at the edge of them.

use super::{found, game, search, searcher, to_depth, uci};
use crate::alphabeta::{AlphaBetaParams, Score};
use crate::board::Game;

fn score(fen: &str, depth: u32) -> Score {
    found(&AlphaBetaParams::default(), &game(fen), &to_depth(depth)).score()
}

#[test]
fn a_perpetual_check_saves_a_lost_game() {
    // White, far behind, checks on f6, g5 and d8 for ever.
    let fen = "7k/5p1p/8/6Q1/8/1p6/qp4PP/7K w - - 0 1";
    assert_eq!(score(fen, 10), Score::Centipawns(0));
    assert!(score("7k/5p1p/8/8/8/1p6/qp4PP/7K w - - 0 1", 8).value() < -0.9);
}

#[test]
fn a_position_that_occurred_twice_is_drawn_by_its_next_occurrence() {
    // Black is a rook ahead. The white king has been on g1 and h1, the black one on g8 and h8, twice.
    let text = "fen 6k1/8/8/8/r7/8/8/6K1 w - - 0 1 moves g1h1 g8h8 h1g1 h8g8 g1h1 g8h8 h1g1";
    let game = Game::from_text(text).expect("a game");
    let found = found(&AlphaBetaParams::default(), &game, &to_depth(6));
    // h8g8 would draw.
    assert_ne!(uci(found.best()), "h8g8");
    assert!(matches!(found.score(), Score::Centipawns(400..) | Score::Mate(1..)));
}

#[test]
fn the_fifty_moves_are_counted() {
    // A rook ahead with one ply left: the next move draws. With a pawn to push the win goes on.
    assert_eq!(score("7k/8/8/8/8/8/1R6/K7 w - - 99 90", 6), Score::Centipawns(0));
    let pushed = found(&AlphaBetaParams::default(), &game("7k/8/8/8/8/7P/1R6/K7 w - - 99 90"), &to_depth(6));
    assert_eq!(uci(pushed.best()), "h3h4");
    // A line ends with the draw, although the table knows an answer from a game that went on.
    let mut searcher = searcher(&AlphaBetaParams::default());
    search(&mut searcher, &game("7k/8/8/8/8/8/1R6/K7 w - - 0 1"), &to_depth(8));
    let drawn = search(&mut searcher, &game("7k/8/8/8/8/8/1R6/K7 w - - 99 90"), &to_depth(6));
    assert_eq!((drawn.score(), drawn.lines[0].moves.len()), (Score::Centipawns(0), 1));
    // Mate on the hundredth ply wins.
    assert_eq!(score("7k/8/6K1/8/8/8/8/R7 w - - 99 90", 4), Score::Mate(1));
}

#[test]
fn a_draw_by_fifty_moves_is_none_at_a_lower_clock() {
    // White mates in three where five plies are left.
    let mate = |clock| game(&format!("3k4/8/8/4K3/8/8/8/7Q w - - {clock} 100"));
    for (late, early) in [(96, 0), (96, 80), (98, 94)] {
        let mut searcher = searcher(&AlphaBetaParams::default());
        let drawn = search(&mut searcher, &mate(late), &to_depth(20));
        let won = search(&mut searcher, &mate(early), &to_depth(10));
        assert_eq!((drawn.score(), won.score()), (Score::Centipawns(0), Score::Mate(3)), "{late}, {early}");
    }
}

#[test]
fn material_that_cannot_mate_is_a_draw() {
    // Whatever takes the queen, kings and at most a bishop are left.
    for fen in ["8/8/8/3k4/8/8/6q1/7K w - - 0 1", "7k/8/8/8/8/8/6q1/5B1K w - - 0 1"] {
        assert_eq!(score(fen, 3), Score::Centipawns(0), "{fen}");
    }
}

#[test]
fn stalemate_traps_are_seen() {
    // The queen must not go to f7, where Black has no move.
    let queen = found(&AlphaBetaParams::default(), &game("7k/8/8/8/8/8/5Q2/K7 w - - 0 1"), &to_depth(8));
    assert_ne!(uci(queen.best()), "f2f7");
    assert!(queen.score().value() > 0.9);
    // The pawn can be kept only by stalemate.
    assert_eq!(score("7k/7P/8/6K1/8/8/8/8 w - - 0 1", 6), Score::Centipawns(0));
}

#[test]
fn a_game_that_goes_on_uses_what_was_found() {
    let mut searcher = searcher(&AlphaBetaParams::default());
    let first = search(&mut searcher, &Game::initial(), &to_depth(8));
    let mut game = Game::initial();
    first.lines[0].moves.iter().take(2).for_each(|mv| game.play_unchecked(*mv));
    let fresh = found(&AlphaBetaParams::default(), &game, &to_depth(7));
    let second = search(&mut searcher, &game, &to_depth(7));
    assert!(second.nodes < fresh.nodes, "{} against {}", second.nodes, fresh.nodes);
}
