//! Root noise, root rules and the choice of the move.

use super::*;

#[test]
fn noise_is_mixed_into_the_priors_by_its_fraction() {
    let mut evaluator = Uniform::new(encoding());
    let mut search = new_search(Game::initial(), simulations(1));
    run(&mut search, &mut evaluator);
    let noise = RootNoise { alpha: 0.3, fraction: 0.25, ..RootNoise::default() };
    search.add_noise(&dirichlet(&noise), &mut stream(0));
    let priors: Vec<f32> = search.root_moves().map(|mv| mv.prior).collect();
    assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    assert!(priors.iter().all(|prior| *prior >= 0.75 / 20.0 - 1e-6));
    assert!(priors[0] > 0.06, "some move got a large part of the noise");
    search.check_invariants();
}

#[test]
fn policy_targets_of_moves_without_visits_are_priors_without_noise() {
    let noise = RootNoise { fraction: 1.0, ..RootNoise::default() };
    let mut search = new_search(Game::initial(), simulations(1));
    run(&mut search, &mut Hashed::new(encoding(), 1));
    let target = |search: &Search| {
        let mut shares: Vec<(Move, u32)> =
            search.policy_target().iter().map(|mv| (mv.played, (mv.share * 1e6).round() as u32)).collect();
        shares.sort_unstable();
        shares
    };
    let before = target(&search);
    search.add_noise(&dirichlet(&noise), &mut stream(0));
    assert_eq!(target(&search), before);
}

#[test]
fn a_total_concentration_is_divided_among_the_moves() {
    let noised = |noise: &RootNoise| -> Vec<f32> {
        let mut search = new_search(Game::initial(), simulations(1));
        run(&mut search, &mut Uniform::new(encoding()));
        search.add_noise(&dirichlet(noise), &mut stream(0));
        search.root_moves().map(|mv| mv.prior).collect()
    };
    // Twenty legal moves: a total of 6 is 0.3 for each.
    let total = RootNoise { alpha: 9.0, total: Some(6.0), ..RootNoise::default() };
    assert_eq!(noised(&total), noised(&RootNoise { alpha: 0.3, ..RootNoise::default() }));
    assert_ne!(noised(&total), noised(&RootNoise { alpha: 9.0, ..RootNoise::default() }));
}

#[test]
fn noise_keeps_the_prior_of_a_single_legal_move() {
    let forced = from_fen("7k/8/8/8/8/8/r7/1r5K w - - 0 1");
    assert_eq!(forced.position().legal_moves().len(), 0);
    let forced = from_fen("k7/8/8/8/8/7p/r6P/7K w - - 0 1");
    assert_eq!(forced.position().legal_moves().len(), 1);
    let mut search = new_search(forced, simulations(1));
    run(&mut search, &mut Uniform::new(encoding()));
    search.add_noise(&dirichlet(&RootNoise::default()), &mut stream(0));
    let only: Vec<RootMove> = search.root_moves().collect();
    assert_eq!(only[0].prior, 1.0);
}

fn gumbel(considered: u32, budget: u32) -> SearchParams {
    let root = RootParams { rule: RootRule::Gumbel, considered, ..RootParams::default() };
    SearchParams { root, ..simulations(budget) }
}

/// A gumbel search with noise of this scale.
fn gumbel_searched(params: &SearchParams, scale: f64, number: u64) -> Search {
    let noise = |search: &mut Search| search.add_noise(&gumbel_noise(scale), &mut stream(number));
    searched_with_noise(&Game::initial(), params, noise, &mut Hashed::new(encoding(), 1))
}

#[test]
fn sequential_halving_gives_the_survivors_most_visits() {
    // 64 descents: 16 moves get 1, 8 moves 2 more, 4 moves 4 more, 2 moves 8 more: 1, 3, 7 or 15 visits.
    let search = gumbel_searched(&gumbel(16, 65), 0.0, 0);
    let mut counts: Vec<u32> = search.root_moves().map(|mv| mv.visits).collect();
    counts.sort_unstable();
    assert_eq!(counts, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 7, 7, 15, 15]);
}

#[test]
fn gumbel_noise_changes_the_moves_considered() {
    let params = gumbel(4, 5);
    let considered = |scale, number| -> Vec<Move> {
        let search = gumbel_searched(&params, scale, number);
        search.root_moves().filter(|mv| mv.visits > 0).map(|mv| mv.played).collect()
    };
    assert_eq!(considered(0.0, 1), considered(0.0, 2));
    assert_ne!(considered(1.0, 1), considered(1.0, 2));
    assert_eq!(considered(1.0, 1), considered(1.0, 1));
}

#[test]
fn the_target_of_a_gumbel_root_follows_values() {
    // Only the position after a2a3 has a value, and all priors are equal.
    let mut after = Game::initial();
    after.play_unchecked(Move::from_uci("a2a3").unwrap());
    let mut evaluator = Scripted::new(encoding(), HashMap::from([(after.key(), Wdl::LOSS)]));
    let search = searched(&Game::initial(), &gumbel(32, 33), &mut evaluator);
    assert_eq!(search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)).to_string(), "a2a3");
    let target = search.policy_target();
    assert!((target.iter().map(|mv| mv.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let best = target.iter().max_by(|a, b| a.share.total_cmp(&b.share)).unwrap();
    assert_eq!((best.played.to_string().as_str(), best.share > 0.99), ("a2a3", true));
}

#[test]
fn the_target_of_a_gumbel_root_without_values_is_the_policy() {
    let search = searched(&Game::initial(), &gumbel(8, 9), &mut Scripted::new(encoding(), HashMap::new()));
    for (target, mv) in search.policy_target().iter().zip(search.root_moves()) {
        assert!((target.share - f64::from(mv.prior)).abs() < 1e-6);
    }
}

fn visited(uci: &str, visits: u32) -> RootMove {
    RootMove {
        played: Move::from_uci(uci).unwrap(),
        visits,
        prior: 0.1,
        value: Some(0.0),
        standard_error: 0.0,
        proof: None,
        moves_left: None,
    }
}

#[test]
fn temperature_zero_plays_the_most_visited_move_without_randomness() {
    let moves = [visited("e2e4", 3), visited("d2d4", 9), visited("c2c4", 9)];
    let (mut used, mut unused) = (stream(1), stream(1));
    assert_eq!(choose_move(&moves, &ChoiceParams::default(), 0.0, &mut used).to_string(), "d2d4");
    assert_eq!(used.random::<u64>(), unused.random::<u64>(), "the stream was not used");
}

#[test]
fn temperature_shapes_the_frequencies() {
    let moves = [visited("e2e4", 10), visited("d2d4", 30), visited("a2a3", 0)];
    let share = |temperature: f64| {
        let mut stream = stream(2);
        let chosen = (0..20_000).filter(|_| {
            choose_move(&moves, &ChoiceParams::default(), temperature, &mut stream) == moves[0].played
        });
        chosen.count() as f64 / 20_000.0
    };
    assert!((share(1.0) - 0.25).abs() < 0.02, "10 / (10 + 30)");
    assert!((share(0.5) - 0.1).abs() < 0.02, "100 / (100 + 900)");
    assert!(share(0.01) < 0.001);
}

#[test]
fn the_move_may_be_chosen_by_value_or_lower_confidence_bound() {
    let candidate = |uci, visits, value, standard_error| RootMove {
        value: Some(value),
        standard_error,
        ..visited(uci, visits)
    };
    let moves = [
        candidate("e2e4", 100, 0.1, 0.01),
        candidate("d2d4", 80, 0.2, 0.2),
        candidate("c2c4", 60, 0.15, 0.01),
        candidate("a2a3", 5, 0.9, 0.3),
    ];
    let chosen = |by| {
        let params = ChoiceParams { by, ..ChoiceParams::default() };
        choose_move(&moves, &params, 0.0, &mut stream(0)).to_string()
    };
    // a2a3 has too few visits to be trusted; d2d4's value is uncertain.
    assert_eq!([ChooseBy::Visits, ChooseBy::Value, ChooseBy::Bound].map(chosen), ["e2e4", "d2d4", "c2c4"]);
}

/// An edge whose visits had these values.
fn edge(values: &[f64]) -> VisitedEdge {
    let mut edge = VisitedEdge::EMPTY;
    for value in values {
        edge.in_flight = 1;
        edge.visit(*value);
    }
    edge
}

#[test]
fn few_visits_have_a_wide_bound_even_if_their_values_are_equal() {
    // KataGo's prior of weight 1/n² has variance 1: √((1/2) / 2) for one visit.
    assert!((edge(&[0.9]).standard_error() - 0.5).abs() < 1e-9);
    // Two: the variance is (1/4) / (2 + 1/4), of (2 + 1/4)² / (2 + 1/16) effective visits.
    let two = ((0.25 / 2.25) / (2.25f64.powi(2) / 2.0625)).sqrt();
    assert!((edge(&[0.9, 0.9]).standard_error() - two).abs() < 1e-9);
    // With many visits it is the usual one: values ±0.2 around 0.1 have the deviation 0.2.
    let many: Vec<f64> = (0..10_000).map(|number| 0.1 + if number % 2 == 0 { 0.2 } else { -0.2 }).collect();
    assert!((edge(&many).standard_error() / (0.2 / 100.0) - 1.0).abs() < 1e-3);
    assert_eq!(VisitedEdge::EMPTY.standard_error(), 0.0);
}

#[test]
fn removed_visits_leave_no_trace() {
    let mut changed = edge(&[0.5, 0.3, -0.7, 0.3, 0.3, 0.1]);
    changed.remove_visits(3, 0.9);
    let expected = edge(&[0.5, -0.7, 0.1]);
    assert_eq!(changed.visits, 3);
    assert!((changed.value_sum - expected.value_sum).abs() < 1e-9);
    assert!((changed.deviation_sum - expected.deviation_sum).abs() < 1e-6);
}

#[test]
fn deviations_in_a_graph_stay_those_of_the_values() {
    let params = SearchParams { graph: true, ..simulations(3000) };
    let search = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 3));
    for edge in search.tree.visited_edges(ROOT).iter().filter(|edge| edge.visits > 50) {
        // Of W − L from three shares of uniform numbers; the tree below an edge prefers some of them.
        let deviation = edge.standard_error() * f64::from(edge.visits).sqrt();
        assert!((0.1..0.5).contains(&deviation), "{deviation} after {} visits", edge.visits);
    }
}

#[test]
fn visit_offset_and_value_cutoff_exclude_bad_moves() {
    let moves = [
        RootMove { value: Some(0.5), ..visited("e2e4", 10) },
        RootMove { value: Some(0.4), ..visited("d2d4", 3) },
        RootMove { value: Some(-0.5), ..visited("a2a3", 10) },
    ];
    let drawn = |params: ChoiceParams| {
        let mut stream = stream(3);
        let mut drawn: Vec<String> =
            (0..500).map(|_| choose_move(&moves, &params, 1.0, &mut stream).to_string()).collect();
        drawn.sort();
        drawn.dedup();
        drawn
    };
    assert_eq!(drawn(ChoiceParams::default()), ["a2a3", "d2d4", "e2e4"]);
    assert_eq!(drawn(ChoiceParams { visit_offset: -3.0, ..ChoiceParams::default() }), ["a2a3", "e2e4"]);
    assert_eq!(drawn(ChoiceParams { value_cutoff: 0.2, ..ChoiceParams::default() }), ["d2d4", "e2e4"]);
    // The most visited move decides, not one that is better after a visit or two.
    let lucky = [moves[0], RootMove { value: Some(0.9), ..visited("d2d4", 3) }, moves[2]];
    let params = ChoiceParams { value_cutoff: 0.2, ..ChoiceParams::default() };
    let mut stream = stream(4);
    let chosen = (0..200).map(|_| choose_move(&lucky, &params, 1.0, &mut stream).to_string());
    let mut chosen: Vec<String> = chosen.collect();
    chosen.sort();
    chosen.dedup();
    assert_eq!(chosen, ["d2d4", "e2e4"]);
}

#[test]
fn policy_target_pruning_removes_forced_playouts() {
    // So many that every visited move is forced to have more visits than its score would give it.
    let root = RootParams { forced_playouts: 30.0, ..RootParams::default() };
    let params = SearchParams { root, ..simulations(400) };
    let searched = |params: &SearchParams| {
        let noise = |search: &mut Search| Noise::Dirichlet.add(search);
        searched_with_noise(&Game::initial(), params, noise, &mut Hashed::new(encoding(), 3))
    };
    let forced = searched(&params);
    let target = forced.policy_target();
    assert!((target.iter().map(|mv| mv.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let top = target.iter().max_by_key(|mv| mv.visits).expect("has moves");
    assert!(target.iter().all(|mv| mv.share <= top.share));
    let raw_share = f64::from(top.visits) / 399.0;
    assert!(top.share > 1.2 * raw_share, "{} against {raw_share}", top.share);
    let without = SearchParams { root: RootParams::default(), ..params };
    let most = searched(&without).root_moves().map(|mv| mv.visits).max();
    assert!(most > Some(top.visits), "forcing takes visits from the best move");
}

#[test]
fn a_search_of_one_simulation_plays_by_the_policy() {
    let search = searched(&Game::initial(), &simulations(1), &mut Hashed::new(encoding(), 0));
    let moves: Vec<RootMove> = search.root_moves().collect();
    assert_eq!(choose_move(&moves, &ChoiceParams::default(), 1.0, &mut stream(0)), moves[0].played);
}

#[test]
fn a_root_may_be_restricted_to_some_moves() {
    let only: Vec<Move> = ["a2a3", "h2h4"].map(|text| Move::from_uci(text).unwrap()).into();
    for params in [simulations(60), gumbel(16, 40)] {
        for engine in [Engine::Fast, Engine::Reference] {
            let mut search = new_search(Game::initial(), SearchParams { engine, ..params.clone() });
            search.restrict_root(&only);
            let mut evaluator = Hashed::new(encoding(), 2);
            search.run(&mut evaluator).expect("fakes do not fail");
            for mv in search.root_moves() {
                assert_eq!(mv.visits > 0, only.contains(&mv.played), "{}", mv.played);
            }
            let played = search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
            assert!(only.contains(&played) && search.lines(9).len() == 2);
            search.play_unchecked(played);
            let other = search.game().position().legal_moves().len();
            assert_eq!((other, search.visits()), (20, 0), "the next move has all moves again");
        }
    }
}

#[test]
fn only_an_allowed_mate_in_one_proves_the_root() {
    let game = from_fen("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let [quiet, mate] = ["a1a2", "a1a8"].map(|text| Move::from_uci(text).unwrap());
    let results = |engine, allowed: &[Move]| {
        let params = SearchParams { mate_in_one: true, engine, ..simulations(60) };
        let mut search = new_search(game.clone(), params);
        search.restrict_root(allowed);
        search.run(&mut Hashed::new(encoding(), 2)).expect("fakes do not fail");
        (search.proof(), search.visits(), search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)))
    };
    for engine in [Engine::Fast, Engine::Reference] {
        assert_eq!(results(engine, &[quiet]), (None, 60, quiet), "{engine:?}");
        assert_eq!(results(engine, &[quiet, mate]), (Some(Proof::Win), 1, mate), "{engine:?}");
    }
}
