//! The fast search and the reference agree, with every option.

use super::*;
use crate::search::reference::Node;

fn compare_with_the_reference(params: &SearchParams, noise: Noise) {
    for (salt, game) in bench::positions().iter().enumerate() {
        let mut evaluator = Hashed::new(encoding(), salt as u64).with_moves_left();
        let fast = searched_with_noise(game, params, |search| noise.add(search), &mut evaluator);
        let mut reference = Reference::new(game, params, &mut evaluator).expect("fakes do not fail");
        noise.add_to_reference(&mut reference, params);
        reference.run(&mut evaluator).expect("fakes do not fail");
        let fen = game.position().fen();
        compare_visits(&fast, &reference);
        assert_eq!(
            fast.proof().map(|proof| proof.value(0.0)),
            reference.root().proven.map(f64::from),
            "{fen}"
        );
        if fast.proof().is_none() {
            let mean = reference.root().value_sum / f64::from(reference.root().visits);
            assert!((fast.tree.node(ROOT).value() - mean).abs() < 1e-9, "{fen}");
        }
        compare_moves_left(&fast, reference.root());
        if params.root.rule == RootRule::Gumbel && fast.proof().is_none() {
            assert_eq!(fast.choose(&ChoiceParams::default(), 0.0, &mut stream(0)), reference.gumbel_choice());
            let mut shares: Vec<(Move, f64)> = reference
                .root()
                .children
                .iter()
                .map(|child| child.played)
                .zip(reference.improved_policy())
                .collect();
            shares.sort_by_key(|(played, _)| *played);
            let mut target = fast.policy_target();
            target.sort_by_key(|mv| mv.played);
            for (mv, (played, share)) in target.iter().zip(shares) {
                assert!(mv.played == played && (mv.share - share).abs() < 1e-9, "{fen}");
            }
        }
    }
}

fn compare_moves_left(fast: &Search, reference: &Node) {
    let mean = reference.moves_left_sum / f64::from(reference.visits);
    let expected = if reference.proven.is_some() { reference.moves_left } else { mean };
    let found = fast.tree.moves_left(ROOT);
    assert_eq!(found.is_some(), fast.params.moves_left.is_some());
    assert!(found.is_none_or(|found| (found - expected).abs() < 1e-6), "{found:?} {expected}");
}

/// Every option away from its default, one at a time and together.
fn shapes() -> Vec<SearchParams> {
    let base = || simulations(200);
    let fpu = |kind, value| FpuParams { kind, value };
    let root = |root: RootParams| SearchParams { root, ..base() };
    vec![
        base(),
        SearchParams { c_puct: 0.0, ..base() },
        SearchParams { c_puct: 4.0, fpu: fpu(Fpu::Absolute, -1.0), ..base() },
        SearchParams { fpu: fpu(Fpu::Reduction, 0.33), ..base() },
        SearchParams { c_puct_factor: 2.0, c_puct_base: 50.0, ..base() },
        SearchParams { policy_temperature: 1.6, ..base() },
        SearchParams { quiescence: Some(true), ..base() },
        SearchParams { draw_score: -0.4, ..base() },
        SearchParams { solver: false, ..base() },
        SearchParams { smart_pruning: true, ..base() },
        SearchParams { mate_in_one: true, ..base() },
        SearchParams { two_fold_draws: true, mate_in_one: true, ..base() },
        SearchParams { average_mirror: true, ..base() },
        with_moves_left(SearchParams { average_mirror: true, graph: true, ..base() }),
        root(RootParams { c_puct: Some(3.0), ..RootParams::default() }),
        root(RootParams { fpu: Some(fpu(Fpu::Absolute, 1.0)), ..RootParams::default() }),
        root(RootParams { policy_temperature: Some(0.7), ..RootParams::default() }),
        root(RootParams { forced_playouts: 2.0, ..RootParams::default() }),
        SearchParams { tree_rule: TreeRule::Improved, ..base() },
        SearchParams { tree_rule: TreeRule::Improved, draw_score: -0.4, ..base() },
        SearchParams { graph: true, ..base() },
        SearchParams { graph: true, solver: false, draw_score: 0.2, ..base() },
        SearchParams { graph: true, two_fold_draws: true, mate_in_one: true, ..base() },
        SearchParams { graph: true, tree_rule: TreeRule::Improved, ..base() },
        SearchParams { graph: true, tree_rule: TreeRule::Improved, draw_score: -0.4, ..base() },
        SearchParams { kld_gain: Some(KldGain { interval: 20, minimum: 1e-3 }), ..base() },
        with_moves_left(base()),
        with_moves_left(SearchParams { draw_score: 0.3, mate_in_one: true, two_fold_draws: true, ..base() }),
        with_moves_left(SearchParams { solver: false, ..base() }),
        with_moves_left(SearchParams { graph: true, two_fold_draws: true, ..base() }),
        with_moves_left(SearchParams { graph: true, solver: false, draw_score: -0.2, ..base() }),
        with_moves_left(root(RootParams {
            c_puct: Some(2.0),
            forced_playouts: 2.0,
            ..RootParams::default()
        })),
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
fn visits_match_the_reference() {
    for params in shapes() {
        compare_with_the_reference(&params, Noise::None);
        compare_with_the_reference(&params, Noise::Dirichlet);
    }
}

#[test]
fn visits_of_a_gumbel_root_match_the_reference() {
    for mut params in shapes().into_iter().filter(|params| params.moves_left.is_none()) {
        params.root = RootParams { rule: RootRule::Gumbel, forced_playouts: 0.0, ..params.root };
        (params.smart_pruning, params.kld_gain) = (false, None);
        for (considered, rescale, budget) in [(16, false, 17), (4, true, 100), (64, false, 200)] {
            params.root.considered = considered;
            params.improved_policy.rescale = rescale;
            params.simulations = budget;
            compare_with_the_reference(&params, Noise::Gumbel);
        }
    }
}

#[test]
fn two_fold_draws_match_the_reference() {
    let game = from_fen("4k3/8/p7/P7/8/8/8/4K3 w - - 0 1");
    let params = SearchParams { two_fold_draws: true, ..simulations(1500) };
    let fast = compared(&game, &params, &mut Hashed::new(encoding(), 7));
    let repeated =
        fast.tree.nodes.iter().filter(|node| node.state == crate::search::tree::State::Repeated).count();
    assert!(repeated > 0, "shuffling kings repeat positions");
}

/// The root's moves with their shares of the policy target, in the order of the moves.
fn root_results(search: &Search) -> Vec<(RootMove, f64)> {
    let target: HashMap<Move, f64> =
        search.policy_target().into_iter().map(|mv| (mv.played, mv.share)).collect();
    let mut results: Vec<(RootMove, f64)> = search.root_moves().map(|mv| (mv, target[&mv.played])).collect();
    results.sort_by_key(|(mv, _)| mv.played);
    results
}

#[test]
fn the_engines_give_the_same_results() {
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
        let mut evaluator = Hashed::new(encoding(), salt).with_moves_left();
        searched_with_noise(game, &params, |search| noise.add(search), &mut evaluator)
    };
    let (fast, reference) = (search(Engine::Fast), search(Engine::Reference));
    let (fen, close) = (game.position().fen(), |a: f64, b: f64| (a - b).abs() < 1e-6);
    for ((a, share), (b, other)) in root_results(&fast).into_iter().zip(root_results(&reference)) {
        assert_eq!((a.played, a.visits, a.prior, a.proof), (b.played, b.visits, b.prior, b.proof), "{fen}");
        let same = close(a.value.unwrap_or(9.0), b.value.unwrap_or(9.0))
            && close(a.moves_left.unwrap_or(-1.0), b.moves_left.unwrap_or(-1.0))
            && close(share, other);
        assert!(same && (a.standard_error - b.standard_error).abs() < 1e-3, "{fen} {params:?}: {a:?} {b:?}");
    }
    let (a, b) = (fast.root_value(), reference.root_value());
    assert!(close(a.value, b.value) && close(a.draw, b.draw), "{fen} {params:?}: {a:?} {b:?}");
    assert_eq!(fast.net_value(), reference.net_value());
    let chosen = |search: &Search| search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
    assert_eq!(chosen(&fast), chosen(&reference), "{fen} {params:?}");
}

#[test]
fn quiescence_marks_every_row() {
    let settled = SearchParams { quiescence: Some(true), average_mirror: true, ..simulations(200) };
    let plain = SearchParams { quiescence: Some(false), ..settled.clone() };
    for game in bench::positions() {
        let of = |params| searched(&game, params, &mut Hashed::new(encoding(), 1)).tree.node(ROOT).value();
        assert_ne!(of(&settled).to_bits(), of(&plain).to_bits(), "{}", game.position().fen());
    }
}
