//! Moves-left utility: short wins and long losses are preferred to others of similar value.

use super::*;
use crate::board::Piece;
use crate::encoding::{Plane, PlaneKind, Viewed};

/// Evaluates every position as the same win for White, with 60 moves left, or `plies` once a pawn stands on `square`.
struct ByPawn {
    uniform: Uniform,
    /// Index among the binary planes of one side's pawns.
    pawns: usize,
    /// Index among the binary planes of the plane that is full if White is to move.
    white_to_move: usize,
    square: u64,
    plies: f32,
}

impl ByPawn {
    fn new(side: Viewed, square: u64, plies: f32) -> Self {
        let encoding = Encoding::new(EncodingName::DummyChess, Orientation::Absolute);
        let binary: Vec<&Plane> =
            encoding.planes().iter().filter(|plane| plane.kind() == PlaneKind::Binary).collect();
        let index = |wanted: Plane| {
            binary.iter().position(|plane| **plane == wanted).expect("a plane of the encoding")
        };
        let pawns = index(Plane::Pieces { side, piece: Piece::Pawn, ago: 0 });
        let white_to_move = index(Plane::WhiteToMove);
        Self { uniform: Uniform::new(encoding), pawns, white_to_move, square, plies }
    }
}

impl Evaluator for ByPawn {
    fn encoding(&self) -> &Encoding {
        self.uniform.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.uniform.evaluate(batch, out)?;
        let won = Wdl { win: 0.95, draw: 0.04, loss: 0.01 };
        for (row, planes) in batch.binary.chunks_exact(self.encoding().binary_count()).enumerate() {
            out.wdl[row] = if planes[self.white_to_move] == u64::MAX { won } else { won.flipped() };
            let stands = planes[self.pawns] >> self.square & 1 == 1;
            out.moves_left.push(if stands { self.plies } else { 60.0 });
        }
        Ok(())
    }
}

fn default_moves_left() -> SearchParams {
    SearchParams { moves_left: Some(MovesLeftParams::default()), c_puct: 0.5, ..simulations(400) }
}

/// Whether a move is played with moves-left utility, and its visits with and without.
fn compared(game: &Game, evaluator: &mut ByPawn, text: &str) -> (bool, u32, u32) {
    let search = |params: &SearchParams, evaluator: &mut ByPawn| {
        let search = searched(game, params, evaluator);
        let played = search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)).to_string();
        let mv = search.root_moves().find(|mv| mv.played.to_string() == text).expect("is legal");
        (played == text, mv.visits)
    };
    let without = SearchParams { moves_left: None, ..default_moves_left() };
    let ((is_played, with), (_, without)) =
        (search(&default_moves_left(), evaluator), search(&without, evaluator));
    (is_played, with, without)
}

#[test]
fn the_winning_side_prefers_the_shorter_game() {
    let game = from_fen("4k3/5p2/8/8/8/8/P4PPP/3Q2K1 w - - 0 1");
    let after = |plies| compared(&game, &mut ByPawn::new(Viewed::First, 16, plies), "a2a3");
    let (is_played, with, without) = after(20.0);
    assert!(is_played && with > 3 * without, "{with} {without}");
    // The same move if it makes the game longer.
    let (is_played, with, without) = after(120.0);
    assert!(!is_played && with < without, "{with} {without}");
}

#[test]
fn the_losing_side_prefers_the_longer_game() {
    let game = from_fen("8/p4k2/8/8/8/8/5P2/3QK3 b - - 0 1");
    let after = |plies| compared(&game, &mut ByPawn::new(Viewed::Second, 40, plies), "a7a6");
    let (is_played, with, without) = after(120.0);
    assert!(is_played && 2 * with > 3 * without, "{with} {without}");
    let (is_played, with, without) = after(20.0);
    assert!(!is_played && with < without, "{with} {without}");
}

#[test]
fn moves_left_matter_only_if_the_search_uses_them() {
    for (salt, game) in (0..).zip(bench::positions()) {
        let plain = searched(&game, &simulations(200), &mut Hashed::new(encoding(), salt));
        let with = |params: SearchParams| {
            searched(&game, &params, &mut Hashed::new(encoding(), salt).with_moves_left())
        };
        let (off, on) = (with(simulations(200)), with(with_moves_left(simulations(200))));
        assert_eq!((visits(&plain), plain.rows(0, true)), (visits(&off), off.rows(0, true)));
        assert_eq!((off.memory().moves_left_bytes, off.tree.moves_left(ROOT)), (0, None));
        assert!(on.memory().moves_left_bytes <= 12 * on.memory().nodes);
        let nothing = MovesLeftParams { max_effect: 0.0, ..MovesLeftParams::default() };
        let nothing = with(SearchParams { moves_left: Some(nothing), ..simulations(200) });
        assert_eq!(visits(&nothing), visits(&off));
    }
    let game = Game::initial();
    let with = |params| visits(&searched(&game, &params, &mut Hashed::new(encoding(), 1).with_moves_left()));
    assert_ne!(with(with_moves_left(simulations(400))), with(simulations(400)));
}

#[test]
fn moves_left_are_means_over_the_evaluations_below() {
    for game in bench::positions() {
        let params = with_moves_left(SearchParams { solver: false, ..simulations(300) });
        let search = searched(&game, &params, &mut Hashed::new(encoding(), 2).with_moves_left());
        let tree = &search.tree;
        let plies = tree.moves_left.as_ref().expect("are held");
        for (id, node) in (0..).zip(&tree.nodes) {
            // Every visit below is one ply longer from here.
            let below: f64 = tree
                .visited_edges(id)
                .iter()
                .map(|edge| plies.sum(edge.child) + f64::from(tree.node(edge.child).visits))
                .sum();
            let own = f64::from(plies.own(id));
            let own = if tree.visited_edges(id).is_empty() { own * f64::from(node.visits) } else { own };
            assert!((plies.sum(id) - own - below).abs() < 1e-6, "node {id}");
        }
    }
}

#[test]
fn moves_left_of_a_proof_are_the_length_of_its_best_line() {
    let plies_of = |fen: &str, params: SearchParams| {
        let search = searched(&from_fen(fen), &params, &mut Hashed::new(encoding(), 2).with_moves_left());
        assert!(search.proof().is_some());
        search.tree.moves_left(ROOT)
    };
    let mate_in_two = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1";
    let mate_in_one = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    let mated_in_one = "7k/1R6/R7/8/8/8/8/K7 b - - 0 1";
    let plies = Some(MovesLeftParams::default());
    let base =
        |params: SearchParams| SearchParams { simulations: 20_000, moves_left: plies.clone(), ..params };
    for graph in [false, true] {
        let graph = SearchParams { graph, ..SearchParams::default() };
        assert_eq!(plies_of(mate_in_two, base(graph.clone())), Some(3.0));
        assert_eq!(plies_of(mate_in_one, base(graph.clone())), Some(1.0));
        let with_mate_search = base(SearchParams { mate_in_one: true, ..graph });
        assert_eq!(plies_of(mate_in_one, with_mate_search.clone()), Some(1.0));
        assert_eq!(plies_of(mated_in_one, with_mate_search), Some(2.0));
    }
}

#[test]
fn the_shortest_proven_win_and_the_longest_proven_loss_are_played() {
    let candidate = |uci, visits, proof, plies: f64| RootMove {
        played: Move::from_uci(uci).expect("a move"),
        visits,
        prior: 0.1,
        value: Some(0.0),
        standard_error: 0.0,
        proof: Some(proof),
        moves_left: Some(plies),
    };
    let chosen = |proof| {
        let moves = [
            candidate("e2e4", 9, proof, 5.0),
            candidate("d2d4", 3, proof, 2.0),
            candidate("c2c4", 3, proof, 8.0),
        ];
        choose_move(&moves, &ChoiceParams::default(), 0.0, &mut stream(0)).to_string()
    };
    assert_eq!([Proof::Win, Proof::Loss, Proof::Draw].map(chosen), ["d2d4", "c2c4", "e2e4"]);
}

#[test]
fn a_net_without_moves_left_is_rejected_by_the_first_evaluation() {
    for (engine, graph) in [(Engine::Fast, false), (Engine::Fast, true), (Engine::Reference, false)] {
        let params = SearchParams { engine, graph, ..default_moves_left() };
        let mut search = [new_search(Game::initial(), params)];
        let mut batches = 0;
        let ended = search_in_lockstep(&mut search, &mut Uniform::new(encoding()), &mut |_| {
            batches += 1;
            Ok::<_, EvaluatorError>(())
        });
        let text = ended.expect_err("is rejected").to_string();
        assert!(text.contains("moves_left_head") && batches == 0, "{text}");
    }
    let shared = shared_search(default_moves_left());
    let ended = shared.work(&mut Uniform::new(encoding()));
    assert!(matches!(ended, Err(EvaluatorError::NoMovesLeft)));
}

#[test]
fn rules_without_moves_left_reject_them() {
    let improved = r#"{"moves_left": {}, "tree_rule": "improved"}"#;
    let gumbel = r#"{"moves_left": {}, "root": {"rule": "gumbel"}}"#;
    for (text, advice) in [(improved, "set tree_rule to \"puct\""), (gumbel, "set root.rule to \"puct\"")] {
        let value = serde_json::from_str(text).expect("JSON");
        let error = crate::params::read::<SearchParams>("search", &value).expect_err("is rejected");
        assert!(error.to_string().contains(advice), "{error}");
    }
}

#[test]
fn a_reused_tree_keeps_moves_left() {
    for graph in [false, true] {
        let params = SearchParams { reuse_tree: true, graph, ..with_moves_left(simulations(300)) };
        let mut evaluator = Hashed::new(encoding(), 1).with_moves_left();
        let mut search = searched(&Game::initial(), &params, &mut evaluator);
        let best = search.lines(1)[0].first;
        search.play_unchecked(best.played);
        assert_eq!(search.tree.moves_left(ROOT), best.moves_left);
        run(&mut search, &mut evaluator);
        assert!(search.visits() > best.visits);
    }
}

#[test]
fn moves_left_add_up_with_leaf_batches() {
    for leaves in [3, 64] {
        let params = with_moves_left(SearchParams { leaf_batch: leaves, solver: false, ..simulations(500) });
        let search = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 3).with_moves_left());
        let plies = search.tree.moves_left.as_ref().expect("are held");
        let below = search.root_moves().filter_map(|mv| Some(f64::from(mv.visits) * (mv.moves_left? + 1.0)));
        let expected = f64::from(plies.own(ROOT)) + below.sum::<f64>();
        assert!((plies.sum(ROOT) - expected).abs() < 1e-6);
    }
}

#[test]
fn rows_without_moves_left_are_rejected_if_the_search_needs_them() {
    let game = Game::initial();
    let rows = searched(&game, &simulations(50), &mut Hashed::new(encoding(), 2)).rows(3, true);
    let error =
        new_search(game.clone(), with_moves_left(simulations(50))).restore(&rows).expect_err("is rejected");
    assert!(error.to_string().contains("go on from a search with `moves_left`"), "{error}");
    // The opposite works: rows may have moves left that the search does not use.
    let mut evaluator = Hashed::new(encoding(), 2).with_moves_left();
    let rows = searched(&game, &with_moves_left(simulations(50)), &mut evaluator).rows(3, true);
    let mut without = new_search(game, simulations(50)).restore(&rows).expect("is a tree");
    run(&mut without, &mut Hashed::new(encoding(), 2));
    assert_eq!(without.visits(), 99);
}
