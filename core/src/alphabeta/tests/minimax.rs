//! The search with everything off against the plain search that it must equal.

use super::{RULES, found, random_games, to_depth, with};
use crate::alphabeta::score::{INFINITE, Score, mated};
use crate::alphabeta::{AlphaBetaParams, SelectivityParams, evaluation};
use crate::board::thinned::chess960_games;
use crate::board::{Game, KnownMove, Promotion, Reason};
use crate::effort::cases;

/// Minimax without pruning, table or order. `root` is the ply of the root.
struct Minimax {
    game: Game,
    root: usize,
    /// Positions that it may still visit: quiescence without an order grows beyond all bounds where much can be captured.
    left: u32,
}

impl Minimax {
    fn ply(&self) -> usize {
        self.game.ply() - self.root
    }

    /// The score of a position that is over, or that repeats one since the root.
    fn end(&self, knows_moves: bool) -> Option<i32> {
        if self.ply() == 0 {
            return None;
        }
        let has_moves = !knows_moves || self.game.position().has_legal_move();
        if let Some(outcome) = self.game.outcome_by_rules(has_moves) {
            return Some(if outcome.reason == Reason::Checkmate { mated(self.ply()) } else { 0 });
        }
        let since = self.game.plies_since_repetition();
        since.is_some_and(|plies| plies <= self.ply()).then_some(0)
    }

    fn best(&mut self, moves: Vec<KnownMove>, at_least: i32, below: &mut dyn FnMut(&mut Self) -> i32) -> i32 {
        let ply = self.game.ply();
        self.left = self.left.saturating_sub(1);
        let moves = if self.left == 0 { Vec::new() } else { moves };
        moves.into_iter().fold(at_least, |best, mv| {
            self.game.play_unchecked(mv.played);
            let score = -below(self);
            self.game.take_back_to(ply);
            best.max(score)
        })
    }

    fn moves(&self) -> Vec<KnownMove> {
        let mut moves = Vec::new();
        self.game.position().known_moves_into(&mut moves);
        moves
    }

    fn search(&mut self, depth: u32) -> i32 {
        if depth == 0 {
            return self.quiescence();
        }
        if let Some(score) = self.end(true) {
            return score;
        }
        let moves = self.moves();
        self.best(moves, -INFINITE, &mut |below| below.search(depth - 1))
    }

    fn quiescence(&mut self) -> i32 {
        let position = self.game.position();
        let side = position.side_to_move();
        let is_check = position.is_check();
        // Without a check, only a side with pawns alone is looked at for stalemate.
        let looks = is_check || !position.has_pieces(side);
        if let Some(score) = self.end(looks) {
            return score;
        }
        if is_check {
            let moves = self.moves();
            return self.best(moves, -INFINITE, &mut Self::quiescence);
        }
        let stand = evaluation(position);
        let is_followed = |mv: &KnownMove| match mv.played.promotion() {
            Some(promotion) => promotion == Promotion::Queen,
            None => mv.captured.is_some(),
        };
        let moves = self.moves().into_iter().filter(is_followed).collect();
        self.best(moves, stand, &mut Self::quiescence)
    }
}

/// The score by minimax; `None` if that visits too many positions.
fn minimax(game: &Game, depth: u32) -> Option<Score> {
    let mut search = Minimax { game: game.clone(), root: game.ply(), left: 200_000 };
    let score = search.search(depth);
    (search.left > 0).then(|| Score::of(score))
}

fn plain(hash_mb: u32) -> AlphaBetaParams {
    AlphaBetaParams { hash_mb, ..with(SelectivityParams::none()) }
}

#[test]
fn a_search_that_leaves_nothing_out_is_minimax() {
    let mut compared = [0; 4];
    let games = [random_games(41, cases(300).into(), 130), chess960_games(cases(150).into())].concat();
    let open = games.iter().filter(|game| game.position().has_legal_move());
    for (number, game) in open.enumerate() {
        let depth = 1 + number as u32 % 3;
        let Some(expected) = minimax(game, depth) else { continue };
        let fen = game.position().fen();
        assert_eq!(found(&plain(0), game, &to_depth(depth)).score(), expected, "depth {depth}: {fen}");
        let windows =
            SelectivityParams { aspiration: true, mate_distance: true, ..SelectivityParams::none() };
        let params = AlphaBetaParams { hash_mb: 0, ..with(windows) };
        assert_eq!(found(&params, game, &to_depth(depth)).score(), expected, "windows, depth {depth}: {fen}");
        compared[depth as usize] += 1;
    }
    assert!(compared[1] > cases(60) && compared[2] > cases(40) && compared[3] > cases(20), "{compared:?}");
}

#[test]
fn endings_are_searched_deep_as_by_minimax() {
    let fens = [
        "8/8/8/8/8/5k2/4p3/4K3 b - - 0 1",
        "8/8/8/1p6/1P6/1k6/8/1K6 w - - 0 1",
        "7k/5Q2/8/8/8/8/8/K7 b - - 0 1",
        "8/k7/8/K1P5/8/8/8/8 w - - 0 1",
        "8/8/8/8/8/2k5/2p5/2K4R b - - 97 90",
        "k7/8/1K6/8/8/8/8/7R w - - 98 90",
    ];
    for fen in fens {
        for depth in 1..=4 {
            let game = super::game(fen);
            if game.outcome(&RULES).is_none() {
                let score = found(&plain(0), &game, &to_depth(depth)).score();
                assert_eq!(Some(score), minimax(&game, depth), "{fen} {depth}");
            }
        }
    }
}

#[test]
fn the_table_changes_no_score() {
    // Within three plies no position is reached at two depths, so that the table holds none that was searched deeper.
    for game in random_games(42, cases(300).into(), 0) {
        for depth in 1..=3 {
            let scores = [0, 1, 16].map(|hash| found(&plain(hash), &game, &to_depth(depth)).score());
            assert_eq!(scores, [scores[0]; 3], "depth {depth}: {}", game.position().fen());
        }
    }
}

#[test]
fn the_table_decides_nothing_near_the_fifty_move_rule() {
    // Keys do not know the clock. Taking the knight loses least, until every other move is a draw within five plies.
    let at_clock = |clock| super::game(&format!("8/8/8/4k3/4N3/8/R7/K7 b - - {clock} 90"));
    let mut searcher = super::searcher(&plain(1));
    let lost = super::search(&mut searcher, &at_clock(0), &to_depth(5)).score();
    let drawn = super::search(&mut searcher, &at_clock(95), &to_depth(5)).score();
    assert_eq!(drawn, found(&plain(0), &at_clock(95), &to_depth(5)).score());
    assert_ne!(drawn, lost);
}
