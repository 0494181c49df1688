//! The fast search and the reference do the same, with every option.

use super::*;

fn reference_visits(root: &Node) -> Vec<(Move, u32)> {
    root.children.iter().map(|child| (child.played, child.visits)).collect()
}

/// Visits in an order that does not depend on which moves were tried first.
fn sorted(mut visits: Vec<(Move, u32)>) -> Vec<(Move, u32)> {
    visits.sort_unstable();
    visits
}

fn compare_with_the_reference(params: &SearchParams, noise: Noise) {
    for (salt, game) in bench::positions().iter().enumerate() {
        let mut evaluator = Hashed::new(encoding(), salt as u64).with_moves_left();
        let fast = searched_with_noise(game, params, noise, &mut evaluator);
        let mut slow = Reference::new(game, RULES, params, &mut evaluator).expect("fakes do not fail");
        noise.add_to_reference(&mut slow, params);
        slow.run(&mut evaluator).expect("fakes do not fail");
        let fen = game.position().fen();
        assert_eq!(sorted(visits(&fast)), sorted(reference_visits(slow.root())), "{fen}, {params:?}");
        assert_eq!(fast.proof().map(|proof| proof.value(0.0)), slow.root().certain.map(f64::from), "{fen}");
        if fast.proof().is_none() {
            let mean = slow.root().value_sum / f64::from(slow.root().visits);
            assert!((fast.tree.node(ROOT).value() - mean).abs() < 1e-9, "{fen}");
        }
        compare_moves_left(&fast, slow.root());
        if params.root.rule == RootRule::Gumbel && fast.proof().is_none() {
            assert_eq!(fast.choose(&ChoiceParams::default(), 0.0, &mut stream(0)), slow.gumbel_choice());
            let mut shares: Vec<(Move, f64)> =
                slow.root().children.iter().map(|child| child.played).zip(slow.improved_policy()).collect();
            shares.sort_by_key(|(played, _)| *played);
            let mut target = fast.policy_target();
            target.sort_by_key(|of| of.played);
            for (of, (played, share)) in target.iter().zip(shares) {
                assert!(of.played == played && (of.share - share).abs() < 1e-9, "{fen}");
            }
        }
    }
}

fn compare_moves_left(fast: &Search, slow: &Node) {
    let mean = slow.moves_left_sum / f64::from(slow.visits);
    let expected = if slow.certain.is_some() { slow.moves_left } else { mean };
    let found = fast.tree.moves_left(ROOT);
    assert_eq!(found.is_some(), fast.params.moves_left.is_some());
    assert!(found.is_none_or(|found| (found - expected).abs() < 1e-6), "{found:?} {expected}");
}

/// Every option away from its default, one at a time and together.
fn shapes() -> Vec<SearchParams> {
    let base = || simulations(200);
    let first_play = |kind, value| FirstPlayParams { kind, value };
    let root = |root: RootParams| SearchParams { root, ..base() };
    vec![
        base(),
        SearchParams { c_puct: 0.0, ..base() },
        SearchParams { c_puct: 4.0, first_play: first_play(FirstPlay::Absolute, -1.0), ..base() },
        SearchParams { first_play: first_play(FirstPlay::Parent, 0.0), ..base() },
        SearchParams { c_puct_factor: 2.0, c_puct_base: 50.0, ..base() },
        SearchParams { policy_temperature: 1.6, ..base() },
        SearchParams { draw_score: -0.4, ..base() },
        SearchParams { solver: false, ..base() },
        SearchParams { stop_when_settled: true, ..base() },
        SearchParams { mate_in_one: true, ..base() },
        SearchParams { two_fold_draws: true, mate_in_one: true, ..base() },
        root(RootParams { c_puct: Some(3.0), ..RootParams::default() }),
        root(RootParams { first_play: Some(first_play(FirstPlay::Absolute, 1.0)), ..RootParams::default() }),
        root(RootParams { policy_temperature: Some(0.7), ..RootParams::default() }),
        root(RootParams { forced_playouts: 2.0, ..RootParams::default() }),
        SearchParams { tree_rule: TreeRule::Improved, ..base() },
        SearchParams { graph: true, ..base() },
        SearchParams { graph: true, solver: false, draw_score: 0.2, ..base() },
        SearchParams { graph: true, two_fold_draws: true, mate_in_one: true, ..base() },
        SearchParams { graph: true, tree_rule: TreeRule::Improved, ..base() },
        SearchParams { stop_by_gain: Some(GainStop { interval: 20, minimum: 1e-3 }), ..base() },
        by_plies(base()),
        by_plies(SearchParams { draw_score: 0.3, mate_in_one: true, two_fold_draws: true, ..base() }),
        by_plies(SearchParams { solver: false, ..base() }),
        by_plies(SearchParams { graph: true, two_fold_draws: true, ..base() }),
        by_plies(SearchParams { graph: true, solver: false, draw_score: -0.2, ..base() }),
        by_plies(root(RootParams { c_puct: Some(2.0), forced_playouts: 2.0, ..RootParams::default() })),
        SearchParams {
            c_puct_factor: 1.0,
            c_puct_base: 20.0,
            policy_temperature: 1.3,
            draw_score: 0.3,
            mate_in_one: true,
            two_fold_draws: true,
            root: RootParams {
                c_puct: Some(2.0),
                policy_temperature: Some(1.1),
                forced_playouts: 3.0,
                ..RootParams::default()
            },
            ..base()
        },
    ]
}

#[test]
fn the_search_visits_what_the_reference_visits() {
    for params in shapes() {
        compare_with_the_reference(&params, Noise::None);
        compare_with_the_reference(&params, Noise::Dirichlet);
    }
}

#[test]
fn the_gumbel_root_visits_what_the_reference_visits() {
    for mut params in shapes().into_iter().filter(|params| params.moves_left.is_none()) {
        params.root = RootParams { rule: RootRule::Gumbel, forced_playouts: 0.0, ..params.root };
        (params.stop_when_settled, params.stop_by_gain) = (false, None);
        for (considered, rescale, budget) in [(16, false, 17), (4, true, 100), (64, false, 200)] {
            params.root.considered = considered;
            params.improved_policy.rescale = rescale;
            params.simulations = budget;
            compare_with_the_reference(&params, Noise::Gumbel);
        }
    }
}

#[test]
fn a_repetition_within_the_tree_may_count_as_a_draw_at_once() {
    let game = from_fen("4k3/8/p7/P7/8/8/8/4K3 w - - 0 1");
    let params = SearchParams { two_fold_draws: true, ..simulations(1500) };
    let mut evaluator = Hashed::new(encoding(), 7);
    let fast = searched(&game, &params, &mut evaluator);
    let repeated =
        fast.tree.nodes.iter().filter(|node| node.state == crate::search::tree::State::Repeated).count();
    assert!(repeated > 0, "kings that shuffle come back");
    let mut slow = Reference::new(&game, RULES, &params, &mut evaluator).expect("fakes do not fail");
    slow.run(&mut evaluator).expect("fakes do not fail");
    assert_eq!(sorted(visits(&fast)), sorted(reference_visits(slow.root())));
}

/// Everything that a search says of its root, in the order of the moves.
fn said(search: &Search) -> Vec<(Visited, f64)> {
    let target: HashMap<Move, f64> =
        search.policy_target().into_iter().map(|of| (of.played, of.share)).collect();
    let mut said: Vec<(Visited, f64)> =
        search.root_moves().map(|seen| (seen, target[&seen.played])).collect();
    said.sort_by_key(|(seen, _)| seen.played);
    said
}

#[test]
fn the_reference_engine_says_what_the_fast_one_says() {
    let gumbel = RootParams { rule: RootRule::Gumbel, considered: 8, ..RootParams::default() };
    let more = [
        SearchParams { root: gumbel, ..simulations(40) },
        SearchParams { max_nodes: 30, mate_in_one: true, ..simulations(200) },
    ];
    for params in shapes().into_iter().chain(more) {
        for (salt, game) in bench::positions().iter().enumerate() {
            compare_engines(game, &params, salt as u64);
        }
    }
}

fn compare_engines(game: &Game, params: &SearchParams, salt: u64) {
    let noise = if params.root.rule == RootRule::Gumbel { Noise::Gumbel } else { Noise::Dirichlet };
    let search = |engine| {
        let params = SearchParams { engine, ..params.clone() };
        searched_with_noise(game, &params, noise, &mut Hashed::new(encoding(), salt).with_moves_left())
    };
    let (fast, slow) = (search(Engine::Fast), search(Engine::Reference));
    let (fen, close) = (game.position().fen(), |a: f64, b: f64| (a - b).abs() < 1e-6);
    for ((a, share), (b, other)) in said(&fast).into_iter().zip(said(&slow)) {
        assert_eq!((a.played, a.visits, a.prior, a.proof), (b.played, b.visits, b.prior, b.proof), "{fen}");
        let same = close(a.value.unwrap_or(9.0), b.value.unwrap_or(9.0))
            && close(a.moves_left.unwrap_or(-1.0), b.moves_left.unwrap_or(-1.0))
            && close(share, other);
        assert!(same && (a.standard_error - b.standard_error).abs() < 1e-3, "{fen} {params:?}: {a:?} {b:?}");
    }
    let (a, b) = (fast.root_value(), slow.root_value());
    assert!(close(a.0, b.0) && close(a.1, b.1), "{fen} {params:?}: {a:?} {b:?}");
    assert_eq!(fast.net_value(), slow.net_value());
    let chosen = |search: &Search| search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
    assert_eq!(chosen(&fast), chosen(&slow), "{fen} {params:?}");
}
