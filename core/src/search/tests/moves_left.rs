//! Short wins and long losses before others of the same value.

use super::*;
use crate::board::Piece;
use crate::encoding::{Plane, PlaneKind, Viewed};

/// Says that White wins with the same certainty everywhere, and how long a game is by a pawn: another number of plies once it
/// stands on a square.
struct ByPawn {
    rest: Uniform,
    /// The place of the white or black pawns among the binary planes, and of the plane that is full where White is to move.
    pawns: usize,
    white_to_move: usize,
    square: u64,
    plies: f32,
}

impl ByPawn {
    fn new(side: Viewed, square: u64, plies: f32) -> Self {
        let encoding = Encoding::new(EncodingName::Dc0, Orientation::Absolute);
        let binary: Vec<&Plane> =
            encoding.planes().iter().filter(|plane| plane.kind() == PlaneKind::Binary).collect();
        let place =
            |of: Plane| binary.iter().position(|plane| **plane == of).expect("a plane of the encoding");
        let pawns = place(Plane::Pieces { side, piece: Piece::Pawn, ago: 0 });
        let white_to_move = place(Plane::WhiteToMove);
        Self { rest: Uniform::new(encoding), pawns, white_to_move, square, plies }
    }
}

impl Evaluator for ByPawn {
    fn encoding(&self) -> &Encoding {
        self.rest.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.rest.evaluate(batch, out)?;
        let won = Wdl { win: 0.95, draw: 0.04, loss: 0.01 };
        for (row, planes) in batch.binary.chunks_exact(self.encoding().binary_count()).enumerate() {
            out.wdl[row] = if planes[self.white_to_move] == u64::MAX { won } else { won.flipped() };
            let stands = planes[self.pawns] >> self.square & 1 == 1;
            out.moves_left.push(if stands { self.plies } else { 60.0 });
        }
        Ok(())
    }
}

fn with_plies() -> SearchParams {
    SearchParams { moves_left: Some(MovesLeftParams::default()), c_puct: 0.5, ..simulations(400) }
}

/// Whether a move is played with the preference, and the visits it has with it and without it.
fn compared(game: &Game, evaluator: &mut ByPawn, text: &str) -> (bool, u32, u32) {
    let search = |params: &SearchParams, evaluator: &mut ByPawn| {
        let search = searched(game, params, evaluator);
        let played = search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)).to_string();
        let seen = search.root_moves().find(|seen| seen.played.to_string() == text).expect("is legal");
        (played == text, seen.visits)
    };
    let without = SearchParams { moves_left: None, ..with_plies() };
    let ((is_played, with), (_, without)) = (search(&with_plies(), evaluator), search(&without, evaluator));
    (is_played, with, without)
}

#[test]
fn the_winning_side_goes_for_the_shorter_game() {
    let game = from_fen("4k3/5p2/8/8/8/8/P4PPP/3Q2K1 w - - 0 1");
    let after = |plies| compared(&game, &mut ByPawn::new(Viewed::First, 16, plies), "a2a3");
    let (is_played, with, without) = after(20.0);
    assert!(is_played && with > 3 * without, "{with} {without}");
    // The same move, were it to make the game longer.
    let (is_played, with, without) = after(120.0);
    assert!(!is_played && with < without, "{with} {without}");
}

#[test]
fn the_losing_side_goes_for_the_longer_game() {
    let game = from_fen("8/p4k2/8/8/8/8/5P2/3QK3 b - - 0 1");
    let after = |plies| compared(&game, &mut ByPawn::new(Viewed::Second, 40, plies), "a7a6");
    let (is_played, with, without) = after(120.0);
    assert!(is_played && 2 * with > 3 * without, "{with} {without}");
    let (is_played, with, without) = after(20.0);
    assert!(!is_played && with < without, "{with} {without}");
}

#[test]
fn plies_count_only_where_they_are_asked_for() {
    for (salt, game) in (0..).zip(bench::positions()) {
        let plain = searched(&game, &simulations(200), &mut Hashed::new(encoding(), salt));
        let with = |params: SearchParams| {
            searched(&game, &params, &mut Hashed::new(encoding(), salt).with_moves_left())
        };
        let (off, on) = (with(simulations(200)), with(by_plies(simulations(200))));
        assert_eq!((visits(&plain), plain.rows(0, true)), (visits(&off), off.rows(0, true)));
        assert_eq!((off.memory().moves_left_bytes, off.tree.moves_left(ROOT)), (0, None));
        assert!(on.memory().moves_left_bytes <= 12 * on.memory().nodes);
        let nothing = MovesLeftParams { max_effect: 0.0, ..MovesLeftParams::default() };
        let nothing = with(SearchParams { moves_left: Some(nothing), ..simulations(200) });
        assert_eq!(visits(&nothing), visits(&off));
    }
    let game = Game::initial();
    let with = |params| visits(&searched(&game, &params, &mut Hashed::new(encoding(), 1).with_moves_left()));
    assert_ne!(with(by_plies(simulations(400))), with(simulations(400)));
}

#[test]
fn plies_left_are_means_of_what_the_evaluations_below_say() {
    for game in bench::positions() {
        let params = by_plies(SearchParams { solver: false, ..simulations(300) });
        let search = searched(&game, &params, &mut Hashed::new(encoding(), 2).with_moves_left());
        let tree = &search.tree;
        let plies = tree.plies.as_ref().expect("are held");
        for (id, node) in (0..).zip(&tree.nodes) {
            // Every visit of a move below is one ply farther from here.
            let below: f64 = tree
                .branches(id)
                .iter()
                .map(|of| plies.sum(of.child) + f64::from(tree.node(of.child).visits))
                .sum();
            let own = f64::from(plies.known(id));
            let own = if tree.branches(id).is_empty() { own * f64::from(node.visits) } else { own };
            assert!((plies.sum(id) - own - below).abs() < 1e-6, "node {id}");
        }
    }
}

#[test]
fn a_proven_end_is_as_far_as_the_best_line_to_it() {
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
        let looking = base(SearchParams { mate_in_one: true, ..graph });
        assert_eq!(plies_of(mate_in_one, looking.clone()), Some(1.0));
        assert_eq!(plies_of(mated_in_one, looking), Some(2.0));
    }
}

#[test]
fn the_shortest_proven_win_and_the_longest_proven_loss_are_played() {
    let seen = |uci, visits, proof, plies: f64| Visited {
        played: Move::from_uci(uci).expect("a move"),
        visits,
        prior: 0.1,
        value: Some(0.0),
        standard_error: 0.0,
        proof: Some(proof),
        moves_left: Some(plies),
    };
    let chosen = |proof| {
        let moves = [seen("e2e4", 9, proof, 5.0), seen("d2d4", 3, proof, 2.0), seen("c2c4", 3, proof, 8.0)];
        choose_move(&moves, &ChoiceParams::default(), 0.0, &mut stream(0)).to_string()
    };
    assert_eq!([Proof::Win, Proof::Loss, Proof::Draw].map(chosen), ["d2d4", "c2c4", "e2e4"]);
}

#[test]
fn a_net_that_does_not_know_is_refused_by_the_first_evaluation() {
    for (engine, graph) in [(Engine::Fast, false), (Engine::Fast, true), (Engine::Reference, false)] {
        let params = SearchParams { engine, graph, ..with_plies() };
        let mut search = [begun(Game::initial(), params)];
        let mut batches = 0;
        let ended = search_in_lockstep(&mut search, &mut Uniform::new(encoding()), &mut |_| {
            batches += 1;
            Ok::<_, EvaluatorError>(())
        });
        let text = ended.expect_err("is refused").to_string();
        assert!(text.contains("moves_left_head") && batches == 0, "{text}");
    }
    let shared = in_threads(with_plies());
    let ended = shared.work(&mut Uniform::new(encoding()));
    assert!(matches!(ended, Err(EvaluatorError::NoMovesLeft)));
}

#[test]
fn rules_that_do_not_use_plies_refuse_them() {
    let improved = r#"{"moves_left": {}, "tree_rule": "improved"}"#;
    let gumbel = r#"{"moves_left": {}, "root": {"rule": "gumbel"}}"#;
    for (text, advice) in [(improved, "set tree_rule to \"puct\""), (gumbel, "set root.rule to \"puct\"")] {
        let value = serde_json::from_str(text).expect("JSON");
        let refused = crate::params::read::<SearchParams>("search", &value).expect_err("is refused");
        assert!(refused.to_string().contains(advice), "{refused}");
    }
}

#[test]
fn a_kept_tree_keeps_its_plies() {
    for graph in [false, true] {
        let params = SearchParams { reuse_tree: true, graph, ..by_plies(simulations(300)) };
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
fn leaves_in_flight_lose_no_plies() {
    for leaves in [3, 64] {
        let params = by_plies(SearchParams { leaves, solver: false, ..simulations(500) });
        let search = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 3).with_moves_left());
        let plies = search.tree.plies.as_ref().expect("are held");
        let below =
            search.root_moves().filter_map(|seen| Some(f64::from(seen.visits) * (seen.moves_left? + 1.0)));
        let expected = f64::from(plies.known(ROOT)) + below.sum::<f64>();
        assert!((plies.sum(ROOT) - expected).abs() < 1e-6);
    }
}

#[test]
fn rows_without_plies_are_no_tree_for_a_search_with_them() {
    let game = Game::initial();
    let rows = searched(&game, &simulations(50), &mut Hashed::new(encoding(), 2)).rows(3, true);
    let refused = begun(game.clone(), by_plies(simulations(50))).restore(&rows).expect_err("is refused");
    assert!(refused.to_string().contains("go on from a search with `moves_left`"), "{refused}");
    // The other way round they are not needed.
    let mut evaluator = Hashed::new(encoding(), 2).with_moves_left();
    let rows = searched(&game, &by_plies(simulations(50)), &mut evaluator).rows(3, true);
    let mut without = begun(game, simulations(50)).restore(&rows).expect("is a tree");
    run(&mut without, &mut Hashed::new(encoding(), 2));
    assert_eq!(without.visits(), 99);
}
