//! Alpha-beta with a fixed depth, quiescence and a hand-written evaluation: the classic yardstick.
//!
//! The evaluation is material and piece squares, as the search of [`crate::alphabeta`] has without a net.

use rand::RngExt;

use super::Baseline;
use crate::alphabeta::{evaluation, value};
use crate::board::{Game, Move, Piece, Position, Reason, Rules};
use crate::rng::Stream;

/// Plays a move with the best score `depth` plies ahead, captures, promotions and answers to checks followed to their end. Ties are
/// broken at random.
#[derive(Debug)]
pub(super) struct AlphaBeta {
    name: &'static str,
    about: &'static str,
    depth: u32,
}

impl AlphaBeta {
    /// One ply.
    pub(super) const ONE: Self = Self::new(1, "alphabeta-1", "alpha-beta, one ply, then captures");
    /// Two plies.
    pub(super) const TWO: Self = Self::new(2, "alphabeta-2", "alpha-beta, two plies, then captures");
    /// Three plies.
    pub(super) const THREE: Self = Self::new(3, "alphabeta-3", "alpha-beta, three plies, then captures");
    /// Four plies.
    pub(super) const FOUR: Self = Self::new(4, "alphabeta-4", "alpha-beta, four plies, then captures");

    const fn new(depth: u32, name: &'static str, about: &'static str) -> Self {
        Self { name, about, depth }
    }
}

/// Above every score. A mate in n plies scores `MATE - n`.
const INFINITE: i32 = 1_000_000;
const MATE: i32 = 100_000;

impl Baseline for AlphaBeta {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn choose(&self, game: &mut Game, rules: &Rules, stream: &mut Stream) -> Move {
        let best = best_moves(game, rules, self.depth);
        best[stream.random_range(0..best.len())]
    }
}

/// The score for the side to move `depth` plies ahead if neither side has more than `limit` centipawns, otherwise `None`. The game is
/// not over.
pub(crate) fn balanced_score(game: &mut Game, rules: &Rules, depth: u32, limit: i32) -> Option<i32> {
    // A window that begins below the limit, so that scores within it are exact.
    let score = alpha_beta(game, rules, depth, 0, (-limit - 1, limit + 1));
    (score.abs() <= limit).then_some(score)
}

/// All moves with the best score, in the order of move generation.
fn best_moves(game: &mut Game, rules: &Rules, depth: u32) -> Vec<Move> {
    let (ply, mut best) = (game.ply(), (-INFINITE, Vec::new()));
    for mv in game.position().legal_moves() {
        game.play_unchecked(mv);
        // A window that begins below the best score, so that equal scores are exact.
        let score = -alpha_beta(game, rules, depth - 1, 1, (-INFINITE, 1 - best.0));
        game.take_back_to(ply);
        if score > best.0 {
            best = (score, Vec::new());
        }
        if score == best.0 {
            best.1.push(mv);
        }
    }
    best.1
}

/// The score for the side to move, `distance` plies below the root; a bound of it outside the window.
fn alpha_beta(game: &mut Game, rules: &Rules, depth: u32, distance: i32, window: (i32, i32)) -> i32 {
    match game.outcome(rules) {
        Some(outcome) if outcome.reason == Reason::Checkmate => return distance - MATE,
        Some(_) => return 0,
        None if depth == 0 => return quiescence(game, distance, window),
        None => {}
    }
    let (ply, (mut alpha, beta)) = (game.ply(), window);
    let mut best = -INFINITE;
    for mv in ordered(game.position(), game.position().legal_moves()) {
        game.play_unchecked(mv);
        let score = -alpha_beta(game, rules, depth - 1, distance + 1, (-beta, -alpha));
        game.take_back_to(ply);
        best = best.max(score);
        alpha = alpha.max(score);
        if alpha >= beta {
            break;
        }
    }
    best
}

/// The score once only quiet moves are left: captures and promotions are followed, and every answer to a check.
fn quiescence(game: &mut Game, distance: i32, window: (i32, i32)) -> i32 {
    let (ply, (mut alpha, beta)) = (game.ply(), window);
    let position = game.position();
    let (is_check, mut moves) = (position.is_check(), position.legal_moves());
    let mut best = match (is_check, moves.is_empty()) {
        (true, true) => return distance - MATE,
        (false, true) => return 0,
        (true, false) => -INFINITE,
        (false, false) => evaluation(position),
    };
    if best >= beta {
        return best;
    }
    if !is_check {
        moves.retain(|mv| gain(position, *mv) > 0);
    }
    alpha = alpha.max(best);
    for mv in ordered(position, moves) {
        game.play_unchecked(mv);
        let score = -quiescence(game, distance + 1, (-beta, -alpha));
        game.take_back_to(ply);
        best = best.max(score);
        alpha = alpha.max(score);
        if alpha >= beta {
            break;
        }
    }
    best
}

/// The moves with the largest gain first, and the least valuable piece first among equal gains.
fn ordered(position: &Position, mut moves: Vec<Move>) -> Vec<Move> {
    let mover = |mv: Move| position.piece_at(mv.from()).map_or(0, value);
    moves.sort_by_cached_key(|mv| (-gain(position, *mv), mover(*mv)));
    moves
}

/// The value that a move captures or promotes to; 0 for a quiet move.
fn gain(position: &Position, mv: Move) -> i32 {
    let captured = position.known(mv).captured.map_or(0, value);
    captured + mv.promotion().map_or(0, |promotion| value(promotion.piece()) - value(Piece::Pawn))
}

#[cfg(test)]
mod tests {
    use super::{INFINITE, MATE, alpha_beta, balanced_score, best_moves, gain, quiescence};
    use crate::alphabeta::evaluation;
    use crate::board::{Game, Move, Position, Reason, Rules, random_opening};
    use crate::rng::{Purpose, Seed};

    const RULES: Rules = Rules { max_plies: 512 };

    fn game(fen: &str) -> Game {
        Game::from_position(Position::from_fen(fen).expect("a position"))
    }

    fn best(fen: &str, depth: u32) -> Vec<String> {
        best_moves(&mut game(fen), &RULES, depth).iter().map(Move::to_string).collect()
    }

    /// The score without pruning.
    fn minimax(game: &mut Game, depth: u32, distance: i32) -> i32 {
        match game.outcome(&RULES) {
            Some(outcome) if outcome.reason == Reason::Checkmate => return distance - MATE,
            Some(_) => return 0,
            None if depth == 0 => return quiescence(game, distance, (-INFINITE, INFINITE)),
            None => {}
        }
        let ply = game.ply();
        let moves = game.position().legal_moves();
        let score = |mv: Move| {
            game.play_unchecked(mv);
            let score = -minimax(game, depth - 1, distance + 1);
            game.take_back_to(ply);
            score
        };
        moves.into_iter().map(score).max().expect("a move")
    }

    #[test]
    fn pruning_changes_neither_the_score_nor_the_best_moves() {
        for number in 0..8 {
            let mut stream = Seed { run: 7, step: 0 }.stream(number, Purpose::Opening);
            let mut game = random_opening(10 + number as u32 * 3, &RULES, &mut stream);
            let whole = (-INFINITE, INFINITE);
            let score = minimax(&mut game, 2, 0);
            assert_eq!(alpha_beta(&mut game, &RULES, 2, 0, whole), score);
            let (ply, moves) = (game.ply(), game.position().legal_moves());
            let mut of_move = |mv: Move| {
                game.play_unchecked(mv);
                let score = -minimax(&mut game, 1, 1);
                game.take_back_to(ply);
                score
            };
            let best: Vec<Move> = moves.iter().copied().filter(|mv| of_move(*mv) == score).collect();
            assert_eq!(best_moves(&mut game, &RULES, 2), best);
        }
    }

    #[test]
    fn balanced_scores_are_exact_within_their_limit() {
        let mut found = [0, 0];
        for number in 0..60 {
            let mut stream = Seed { run: 8, step: 0 }.stream(number, Purpose::Opening);
            let mut game = random_opening(6, &RULES, &mut stream);
            let score = alpha_beta(&mut game, &RULES, 2, 0, (-INFINITE, INFINITE));
            let balanced = balanced_score(&mut game, &RULES, 2, 40);
            assert_eq!(balanced, (score.abs() <= 40).then_some(score));
            found[usize::from(balanced.is_some())] += 1;
        }
        assert!(found[0] > 5 && found[1] > 5, "{found:?}");
    }

    #[test]
    fn mates_are_found_and_the_shortest_is_best() {
        assert_eq!(best("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1), ["a1a8"]);
        assert_eq!(best("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 3), ["a1a8"]);
        // A mate in two: the rooks take turns.
        let mut game = game("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1");
        assert_eq!(alpha_beta(&mut game, &RULES, 3, 0, (-INFINITE, INFINITE)), MATE - 3);
    }

    #[test]
    fn captures_are_followed_to_their_end() {
        // The pawn on d5 is protected, the one on h5 is not.
        let moves = best("6k1/8/4p3/3p3p/8/8/8/3Q2K1 w - - 0 1", 1);
        assert_eq!(moves, ["d1h5"]);
        let quiet = game("6k1/8/4p3/3p4/8/8/8/3Q2K1 w - - 0 1");
        let score = evaluation(quiet.position());
        assert!(quiescence(&mut quiet.clone(), 0, (-INFINITE, INFINITE)) < score + 100);
    }

    #[test]
    fn gains_are_what_is_captured_and_promoted() {
        let position = Position::from_fen("1n4k1/P7/8/3pP3/8/8/8/R3K2R w KQ d6 0 1").expect("a position");
        let gain = |uci| gain(&position, Move::from_uci(uci).expect("a move"));
        assert_eq!(gain("e5d6"), 100);
        assert_eq!(gain("a7a8q"), 800);
        assert_eq!(gain("a7b8n"), 320 + 220);
        assert_eq!(gain("e5e6"), 0);
        // Castling may be written as the king's capture of its rook.
        assert_eq!((gain("e1g1"), gain("e1h1")), (0, 0));
    }
}
