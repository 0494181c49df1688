//! Positions of games that repeat the same moves.

use super::*;

/// A game from a FEN in which a cycle of moves is played repeatedly for `plies` plies.
fn cycling(fen: &str, cycle: &str, plies: usize) -> Game {
    let mut game = from_fen(fen);
    for text in cycle.split(' ').cycle().take(plies) {
        let played = Move::from_uci(text).expect("a move");
        assert!(game.position().is_legal(played), "{text} in {}", game.position().fen());
        game.play_unchecked(played);
    }
    game
}

/// Start positions and cycles: shuffling kings, a perpetual check, blocked pawns, shuffling knights.
const CYCLES: [(&str, &str); 4] = [
    ("4k3/8/p7/P7/8/8/8/4K3 w - - 0 1", "e1e2 e8e7 e2e1 e7e8"),
    ("6k1/6p1/8/7Q/8/8/rq6/7K w - - 0 1", "h5e8 g8h7 e8h5 h7g8"),
    ("8/3k4/p1p1p1p1/P1P1P1P1/8/3K4/8/8 w - - 0 1", "d3e3 d7e7 e3d3 e7d7"),
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3 g8f6 f3g1 f6g8"),
];

/// The games of every cycle, from its start to one ply before the third occurrence.
fn games() -> Vec<Game> {
    let of_cycle = |(fen, cycle): &(&'static str, &'static str)| {
        let (fen, cycle) = (*fen, *cycle);
        let lengths = (0..16).map(move |plies| cycling(fen, cycle, plies));
        lengths.take_while(|game| game.outcome(&RULES).is_none()).collect::<Vec<_>>()
    };
    CYCLES.iter().flat_map(of_cycle).collect()
}

fn shapes() -> Vec<SearchParams> {
    let mut shapes = Vec::new();
    for two_fold_draws in [false, true] {
        for solver in [false, true] {
            shapes.push(SearchParams { solver, two_fold_draws, ..simulations(300) });
        }
        let root = RootParams { rule: RootRule::Gumbel, ..RootParams::default() };
        shapes.push(SearchParams { two_fold_draws, root, draw_score: 0.2, ..simulations(200) });
    }
    shapes
}

/// Checks that moves that draw the game have exactly the draw score, and counts them.
fn check_draws(search: &Search, params: &SearchParams) -> usize {
    let mut draws = 0;
    for mv in search.root_moves().filter(|mv| mv.visits > 0) {
        let mut after = search.game().clone();
        after.play_unchecked(mv.played);
        if after.outcome(&RULES).is_some_and(|outcome| outcome.winner.is_none()) {
            let expected = params.draw_score;
            assert!(mv.value.is_some_and(|value| (value - expected).abs() < 1e-9), "{mv:?}");
            assert_eq!(mv.proof, params.solver.then_some(Proof::Draw), "{mv:?}");
            draws += 1;
        }
    }
    draws
}

#[test]
fn repetitions_match_the_reference() {
    let (mut draws, mut repeated) = (0, 0);
    for (number, game) in games().iter().enumerate() {
        repeated += u32::from(game.repetitions() > 0);
        for params in shapes() {
            let fast = compared(game, &params, &mut Hashed::new(encoding(), number as u64));
            check(&fast, params.simulations);
            draws += check_draws(&fast, &params);
        }
    }
    assert!(repeated >= 10 && draws >= 20, "{repeated} roots are repeated, {draws} moves repeat thrice");
}

#[test]
fn a_search_with_only_drawn_leaves_has_value_zero() {
    // Every position that is evaluated is a draw, and so is every end of the game within reach.
    let mut evaluator = Scripted::new(encoding(), HashMap::new());
    for two_fold_draws in [false, true] {
        let game = cycling(CYCLES[0].0, CYCLES[0].1, 7);
        let params = SearchParams { two_fold_draws, ..simulations(400) };
        let search = searched(&game, &params, &mut evaluator);
        assert_eq!(search.root_value(), PositionValue { value: 0.0, draw: 1.0 });
        assert!(search.root_moves().all(|mv| mv.value.is_none_or(|value| value == 0.0)));
    }
}
