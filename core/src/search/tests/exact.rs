//! Exact results: the solver, mates, draws and ends of the game.

use super::*;
use crate::search::tree::{NodeId, State, Tree};

/// The moves with a share of the policy target.
fn target_moves(search: &Search) -> Vec<String> {
    let target = search.policy_target().into_iter().filter(|mv| mv.share > 0.0);
    target.map(|mv| mv.played.to_string()).collect()
}

fn solved(fen: &str, params: &SearchParams) -> Search {
    searched(&from_fen(fen), params, &mut Hashed::new(encoding(), 2))
}

#[test]
fn the_solver_proves_a_mate_in_two_and_plays_it() {
    let fen = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1";
    let search = solved(fen, &simulations(20_000));
    assert_eq!(search.proof(), Some(Proof::Win));
    assert!(search.visits() < 20_000, "a proven search stops");
    assert_eq!(search.choose(&ChoiceParams::default(), 5.0, &mut stream(0)).to_string(), "a1a6");
    assert_eq!(target_moves(&search), ["a1a6"]);
    let without = solved(fen, &SearchParams { solver: false, ..simulations(2_000) });
    assert_eq!((without.proof(), without.visits()), (None, 2_000));
}

#[test]
fn a_move_into_mate_is_not_played_if_there_is_another() {
    // After g8h8 the rook mates on e8; every other move is safe.
    let fen = "6k1/5ppp/8/8/8/8/8/K3R3 b - - 0 1";
    let params = SearchParams { mate_in_one: true, ..simulations(400) };
    let search = searched(&from_fen(fen), &params, &mut Uniform::new(encoding()));
    let moves: Vec<RootMove> = search.root_moves().collect();
    let losing = moves.iter().find(|mv| mv.played.to_string() == "g8h8").expect("is legal");
    assert_eq!((losing.proof, losing.visits <= 1), (Some(Proof::Loss), true));
    assert!(!target_moves(&search).contains(&"g8h8".to_owned()));
    assert_eq!(search.proof(), None);
}

#[test]
fn a_lost_position_is_proven_lost_and_still_has_a_move() {
    // Any move of the king lets the rooks mate.
    let search =
        solved("7k/1R6/R7/8/8/8/8/K7 b - - 0 1", &SearchParams { mate_in_one: true, ..simulations(50) });
    let lost = PositionValue { value: -1.0, draw: 0.0 };
    assert_eq!((search.proof(), search.root_value()), (Some(Proof::Loss), lost));
    assert_eq!(target_moves(&search), ["h8g8"]);
    assert_eq!(search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)).to_string(), "h8g8");
}

#[test]
fn a_won_node_stays_won_when_a_move_turns_out_to_lose() {
    // As if another descent was in flight below the node when it was proven.
    let mut tree = Tree::new(&SearchParams::default());
    let moves = ["e2e4", "d2d4", "c2c4"].map(|text| Move::from_uci(text).unwrap());
    let node = tree.add_node(State::Evaluating, None, 0);
    tree.expand(node, &moves, [0.5, 0.3, 0.2].into_iter());
    for (index, proof) in [(0, Proof::Win), (1, Proof::Loss)] {
        tree.add_visited_edge(node, index);
        tree.prove(node, index as u8, proof);
        assert_eq!(tree.node(node).proof, Some(Proof::Win));
    }
}

#[test]
fn a_mate_on_the_board_needs_one_evaluation() {
    let search = solved(
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        &SearchParams { mate_in_one: true, ..simulations(400) },
    );
    assert_eq!((search.proof(), search.visits()), (Some(Proof::Win), 1));
    assert!(search.net_value().value < 1.0, "the net's own value is not the proven one");
    assert_eq!(target_moves(&search), ["d1d8"]);
    assert_eq!(search.choose(&ChoiceParams::default(), 1.0, &mut stream(0)).to_string(), "d1d8");
}

#[test]
fn ends_of_the_game_are_exact_in_the_tree() {
    // One ply before the fifty-move rule every quiet move draws: its value is exactly 0.
    let search = searched(
        &from_fen("k7/8/6K1/8/8/8/8/7R w - - 99 80"),
        &simulations(60),
        &mut Hashed::new(encoding(), 1),
    );
    for mv in search.root_moves().filter(|mv| mv.visits > 0) {
        assert_eq!(mv.value, Some(0.0), "{}", mv.played);
    }
    let PositionValue { value, draw } = search.root_value();
    assert!(value.abs() <= 1.0 / 60.0 && draw > 0.9);
}

#[test]
fn a_repetition_in_the_tree_is_a_draw() {
    // Both sides shuffled twice; the third occurrence after f6g8 ends the game.
    let mut game = Game::initial();
    for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        game.play_unchecked(Move::from_uci(text).unwrap());
    }
    let mut evaluator = Scripted::new(encoding(), HashMap::new());
    let search = searched(&game, &simulations(200), &mut evaluator);
    let back = search.root_moves().find(|mv| mv.played.to_string() == "f6g8").unwrap();
    assert_eq!(back.value, Some(0.0));
    assert!((search.root_value().draw - 1.0).abs() < 1e-9);
}

/// The nodes below one, where a game stands, that are drawn by a repetition, and repeat no position from there on.
fn old_repetitions(search: &Search, node: NodeId, game: &mut Game, root_ply: usize) -> u32 {
    let mut count = 0;
    for (mv, edge) in search.tree.moves(node).iter().zip(search.tree.visited_edges(node)) {
        let ply = game.ply();
        game.play_unchecked(*mv);
        let plies = game.plies_since_repetition();
        let is_old = plies.is_none_or(|plies| plies > game.ply() - root_ply);
        count += u32::from(is_old && search.tree.node(edge.child).state == State::Repeated);
        count += old_repetitions(search, edge.child, game, root_ply);
        game.take_back_to(ply);
    }
    count
}

#[test]
fn tree_reuse_keeps_no_draw_by_a_repetition_of_what_is_now_before_the_root() {
    let plain = SearchParams { two_fold_draws: true, reuse_tree: true, ..simulations(3000) };
    let shapes = [
        plain.clone(),
        SearchParams { draw_score: -0.2, solver: false, ..plain.clone() },
        with_moves_left(plain),
    ];
    for params in shapes {
        let mut search = new_search(from_fen("8/8/8/4k3/8/8/3K1R2/8 w - - 0 1"), params.clone());
        let mut removed = 0;
        for _ in 0..6 {
            run(&mut search, &mut Hashed::new(encoding(), 5).with_moves_left());
            let played = search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
            let mut game = search.game().clone();
            game.play_unchecked(played);
            let root_ply = game.ply();
            if let Some(child) = search.child_to_keep(played) {
                removed += old_repetitions(&search, child, &mut game, root_ply);
            }
            search.play_unchecked(played);
            search.check_invariants();
            if search.visits() > 0 {
                assert_eq!(old_repetitions(&search, ROOT, &mut game, root_ply), 0, "{params:?}");
            }
        }
        assert!(removed > 0, "nothing was to be removed: {params:?}");
    }
}

#[test]
fn a_proof_does_not_change_the_nets_own_value() {
    let searched_for = |simulations| {
        let params = SearchParams { simulations, mate_in_one: true, ..SearchParams::default() };
        solved("7k/1R6/R7/8/8/8/8/K7 b - - 0 1", &params)
    };
    let proven = searched_for(50);
    assert_eq!(proven.proof(), Some(Proof::Loss));
    assert_eq!(proven.net_value(), searched_for(1).net_value());
}

#[test]
fn a_search_does_not_see_the_ply_cap() {
    let searched_under = |max_plies| {
        let rules = Rules { max_plies };
        let mut search = Search::with_tablebases(Game::initial(), rules, simulations(300), None);
        run(&mut search, &mut Hashed::new(encoding(), 1));
        (visits(&search), search.root_value(), search.proof())
    };
    assert_eq!(searched_under(1), searched_under(512));
}

/// Both rules of the root, with and without the search for mates in one.
fn root_rules(budget: u32) -> [SearchParams; 4] {
    let gumbel = RootParams { rule: RootRule::Gumbel, considered: 218, ..RootParams::default() };
    [(RootParams::default(), true), (RootParams::default(), false), (gumbel.clone(), true), (gumbel, false)]
        .map(|(root, mate_in_one)| SearchParams { root, mate_in_one, ..simulations(budget) })
}

#[test]
fn a_mate_is_the_whole_target_however_well_the_net_thinks_of_the_rest() {
    // Two mates in one; other moves win as well, and the net is sure of it.
    let game = from_fen("6k1/5ppp/8/8/8/8/5PPP/1Q1R2K1 w - - 0 1");
    let sure = Wdl { win: 0.98, draw: 0.01, loss: 0.01 };
    let mut known = HashMap::from([(game.key(), sure)]);
    for mv in game.position().legal_moves() {
        let mut after = game.clone();
        after.play_unchecked(mv);
        known.insert(after.key(), Wdl { win: 0.01, draw: 0.01, loss: 0.98 });
    }
    for params in root_rules(200) {
        let search = searched(&game, &params, &mut Scripted::new(encoding(), known.clone()));
        let mates = ["b1b8", "d1d8"].map(str::to_owned);
        assert!(target_moves(&search).iter().all(|mv| mates.contains(mv)), "{params:?}");
    }
}

#[test]
fn a_move_into_mate_is_not_taught_by_a_gumbel_root() {
    // After g8h8 the rook mates on e8; the net believes it to be the best move.
    let game = from_fen("6k1/5ppp/8/8/8/8/8/K3R3 b - - 0 1");
    let mut after = game.clone();
    after.play_unchecked(Move::from_uci("g8h8").unwrap());
    let known = HashMap::from([(after.key(), Wdl::LOSS)]);
    for params in root_rules(1000) {
        let search = searched(&game, &params, &mut Scripted::new(encoding(), known.clone()));
        let proof = search.root_moves().find(|mv| mv.played.to_string() == "g8h8").and_then(|mv| mv.proof);
        assert_eq!(proof, Some(Proof::Loss), "{params:?}");
        assert!(!target_moves(&search).contains(&"g8h8".to_owned()), "{params:?}");
    }
}
