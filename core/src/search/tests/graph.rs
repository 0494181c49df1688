//! Graph search: transpositions share nodes.

use super::*;
use crate::search::tree::State;

fn graph_search(budget: u32) -> SearchParams {
    SearchParams { graph: true, ..simulations(budget) }
}

/// A locked position where only kings can move: full of repetitions.
const LOCKED: &str = "4k3/8/p1p1p1p1/P1P1P1P1/8/8/8/4K3 w - - 0 1";

#[test]
fn transpositions_are_stored_and_evaluated_once() {
    // All moves are searched alike, so both orders of two moves are.
    let mut evaluator = Uniform::new(encoding());
    let (tree, graph) = (
        searched(&Game::initial(), &simulations(4000), &mut evaluator),
        searched(&Game::initial(), &graph_search(4000), &mut evaluator),
    );
    assert_eq!((tree.visits(), graph.visits()), (4000, 4000));
    let (in_tree, in_graph) = (tree.memory().nodes, graph.memory().nodes);
    assert!(in_graph < in_tree * 9 / 10, "{in_graph} of {in_tree} nodes");
    let shared = graph.tree.nodes.iter().enumerate().filter(|(id, node)| {
        let by_moves: u32 = (0..graph.tree.nodes.len() as u32)
            .flat_map(|parent| graph.tree.visited_edges(parent))
            .filter(|edge| edge.child as usize == *id)
            .map(|edge| edge.visits)
            .sum();
        *id > 0 && node.state == State::Expanded && by_moves > node.visits
    });
    assert!(shared.take(3).count() == 3, "moves that lead to the same position have visits of their own");
}

#[test]
fn without_transpositions_a_graph_is_a_tree() {
    // One king is locked in, and the other has two squares: for some plies, each position has one path to it.
    let game = from_fen("8/8/8/8/8/p1p5/P1P1k3/K7 w - - 0 1");
    let mut evaluator = Hashed::new(encoding(), 3);
    let both =
        [simulations(6), graph_search(6)].map(|params| visits(&searched(&game, &params, &mut evaluator)));
    assert_eq!(both[0], both[1]);
}

#[test]
fn draws_by_repetition_are_exact_in_a_graph() {
    let shapes = [
        graph_search(5000),
        SearchParams { solver: false, ..graph_search(5000) },
        SearchParams { two_fold_draws: true, ..graph_search(5000) },
    ];
    for (params, plies) in shapes.iter().flat_map(|params| [(params, 2), (params, 4), (params, 6)]) {
        let mut game = from_fen(LOCKED);
        for text in ["e1e2", "e8e7", "e2e1", "e7e8", "e1e2", "e8e7"].iter().take(plies) {
            game.play_unchecked(Move::from_uci(text).unwrap());
        }
        let search = compared(&game, params, &mut Hashed::new(encoding(), 7));
        compare_ends_with_the_game(&search, params.two_fold_draws);
    }
}

/// Follows every path through the graph while its edges still lead to the positions of this path: nodes are terminal exactly if
/// the game is over.
fn compare_ends_with_the_game(search: &Search, two_fold: bool) {
    let (root_ply, graph) = (search.game().ply(), search.tree.graph.as_ref().expect("is a graph"));
    let (mut ends, mut paths) = (0, vec![(ROOT, search.game().clone())]);
    while let Some((node, game)) = paths.pop() {
        let depth = game.ply() - root_ply;
        let repeats = two_fold && game.plies_since_repetition().is_some_and(|plies| plies <= depth);
        if graph.key(node) != game.state_key() ^ u64::from(repeats) {
            continue;
        }
        let is_end = game.outcome(&RULES).is_some() || repeats;
        let state = search.tree.node(node).state;
        assert_eq!(is_end, [State::Proven, State::Repeated].contains(&state), "{:?}", game.moves());
        if is_end {
            assert_eq!(search.tree.node(node).draw_share(), 1.0);
        }
        ends += usize::from(is_end);
        assert!(depth < 60, "the graph has no cycles");
        if ends > 5_000 {
            return;
        }
        for (mv, edge) in search.tree.moves(node).iter().zip(search.tree.visited_edges(node)) {
            let mut after = game.clone();
            after.play_unchecked(*mv);
            paths.push((edge.child, after));
        }
    }
    assert!(ends > 0, "some lines end by repetition");
}

#[test]
fn several_leaves_in_flight_may_be_one_position() {
    for leaves in [2, 16, 64] {
        let params = SearchParams { leaf_batch: leaves, ..graph_search(3000) };
        let search = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 1));
        assert_eq!(search.visits(), 3000);
    }
    for (game, salt) in bench::positions().iter().zip(0..) {
        let params = SearchParams { leaf_batch: 16, draw_score: -0.3, ..graph_search(1000) };
        searched(game, &params, &mut Hashed::new(encoding(), salt));
    }
}

#[test]
fn a_reused_graph_keeps_its_visits_and_values() {
    let params = SearchParams { reuse_tree: true, draw_score: 0.3, ..graph_search(2000) };
    let mut evaluator = Hashed::new(encoding(), 4);
    let mut search = new_search(Game::initial(), params);
    for _ in 0..6 {
        run(&mut search, &mut evaluator);
        let best = search.lines(1)[0].first;
        let nodes = search.memory().nodes;
        search.play_unchecked(best.played);
        assert!(search.visits() >= best.visits && search.memory().nodes < nodes);
        let (root, value) = (search.root_value(), best.value.expect("visited"));
        // The mover's value with a draw at 0.3 is minus the opponent's with a draw at -0.3.
        assert!(
            search.proof().is_some() || (root.value - 0.3 * root.draw + value).abs() < 1e-9,
            "{root:?} {value}"
        );
        search.check_invariants();
    }
}

#[test]
fn a_proof_is_shared_by_all_paths() {
    // A ladder mate in a few moves, with many move orders.
    let game = from_fen("7k/8/8/8/8/8/8/KRR5 w - - 0 1");
    let nodes = |params: SearchParams| {
        let search = searched(&game, &params, &mut Uniform::new(encoding()));
        assert_eq!(search.proof(), Some(Proof::Win));
        search.memory().nodes
    };
    assert!(nodes(graph_search(100_000)) < nodes(simulations(100_000)), "a proof is found once");
}
