//! Properties of every search, tested on the bench positions and on random ones with few simulations each.

use rand::RngExt;

use super::*;
use crate::board::thinned::chess960_games;
use crate::board::{Side, random_opening};

mod endgames;
mod mirror;
mod repetitions;

/// The bench positions and random games of 0 to 149 plies.
fn sample(random: u64) -> Vec<Game> {
    let opened = (0..random).map(|number| {
        let mut stream = Seed { run: 11, step: 0 }.stream(number, Purpose::Opening);
        random_opening((number * 7 % 150) as u32, &RULES, &mut stream)
    });
    bench::positions().into_iter().chain(opened).collect()
}

/// The kinds of search that are tested.
fn kinds(budget: u32) -> Vec<SearchParams> {
    let base = || simulations(budget);
    let gumbel = || RootParams { rule: RootRule::Gumbel, ..RootParams::default() };
    vec![
        base(),
        SearchParams { solver: false, ..base() },
        SearchParams { mate_in_one: true, two_fold_draws: true, ..base() },
        SearchParams { policy_temperature: 1.4, draw_score: -0.3, ..base() },
        SearchParams { tree_rule: TreeRule::Improved, ..base() },
        SearchParams { root: gumbel(), ..base() },
        SearchParams { root: gumbel(), tree_rule: TreeRule::Improved, ..base() },
    ]
}

/// Checks the properties of a finished search.
fn check(search: &Search, budget: u32) {
    let fen = search.game().position().fen();
    let moves: Vec<RootMove> = search.root_moves().collect();
    let below: u32 = moves.iter().map(|mv| mv.visits).sum();
    match search.proof() {
        None => assert_eq!((below + 1, search.visits()), (budget, budget), "{fen}"),
        Some(_) => assert!(below < search.visits() && search.visits() <= budget, "{fen}"),
    }
    let PositionValue { value, draw } = search.root_value();
    assert!((-1.0..=1.0).contains(&value) && (0.0..=1.0).contains(&draw), "{fen}: {value}, {draw}");
    for mv in &moves {
        assert!(mv.value.is_none_or(|value| (-1.0..=1.0).contains(&value)), "{fen}: {mv:?}");
        assert!(mv.standard_error >= 0.0 && (0.0..=1.0).contains(&mv.prior), "{fen}: {mv:?}");
    }
    let mut by_visits = moves.clone();
    by_visits.retain(|mv| mv.proof != Some(Proof::Loss));
    by_visits.sort_by_key(|mv| std::cmp::Reverse(mv.visits));
    assert_eq!(search.leaders(), (by_visits.first().copied(), by_visits.get(1).copied()), "{fen}");
    let priors: f64 = moves.iter().map(|mv| f64::from(mv.prior)).sum();
    let target = search.policy_target();
    let shares: f64 = target.iter().map(|mv| mv.share).sum();
    assert!((priors - 1.0).abs() < 1e-5 && (shares - 1.0).abs() < 1e-9, "{fen}: {priors}, {shares}");
    assert!(target.iter().all(|mv| mv.share >= 0.0), "{fen}");
    let best = moves.iter().map(|mv| mv.proof.map_or(0, rank)).max();
    let taught = moves.iter().zip(&target).filter(|(_, taught)| taught.share > 0.0);
    for (mv, _) in taught {
        assert_eq!(Some(mv.proof.map_or(0, rank)), best, "{fen}: taught beside something better: {mv:?}");
    }
    let mut found: Vec<Move> = moves.iter().map(|mv| mv.played).collect();
    let mut legal = search.game().position().legal_moves();
    found.sort_unstable();
    legal.sort_unstable();
    assert_eq!(found, legal, "{fen}");
}

fn rank(proof: Proof) -> i8 {
    match proof {
        Proof::Win => 1,
        Proof::Draw => 0,
        Proof::Loss => -1,
    }
}

#[test]
fn the_smallest_searches_teach_no_proven_loss_either() {
    for (number, game) in sample(250).iter().enumerate() {
        for params in kinds(2).into_iter().chain(kinds(5)) {
            let params = SearchParams { mate_in_one: params.solver, ..params };
            let budget = params.simulations;
            check(&searched(game, &params, &mut Hashed::new(encoding(), number as u64)), budget);
        }
    }
}

#[test]
fn sums_and_ranges_hold_with_every_option() {
    for (number, game) in sample(250).iter().enumerate() {
        for params in kinds(24) {
            let search = searched(game, &params, &mut Hashed::new(encoding(), number as u64));
            check(&search, 24);
        }
    }
}

#[test]
fn sums_and_ranges_hold_with_leaves_in_flight() {
    for (number, game) in sample(60).iter().enumerate() {
        for (leaves, in_flight) in
            [(3, VirtualLossMode::Loss), (8, VirtualLossMode::Visit), (64, VirtualLossMode::Loss)]
        {
            for params in kinds(40) {
                let params = SearchParams { leaf_batch: leaves, virtual_loss_mode: in_flight, ..params };
                check(&searched(game, &params, &mut Hashed::new(encoding(), number as u64)), 40);
            }
        }
    }
}

/// Game slots of one batch with different positions, rules, budgets and leaf batches, so that they end at different times.
fn slots(count: usize) -> Vec<(Game, SearchParams)> {
    let games = sample(120);
    let slot = |number: usize| {
        let kinds = kinds(2 + (number % 37) as u32);
        let leaves = if number.is_multiple_of(5) { 4 } else { 1 };
        let params = SearchParams { leaf_batch: leaves, ..kinds[number % kinds.len()].clone() };
        (games[number % games.len()].clone(), params)
    };
    (0..count).map(slot).collect()
}

#[test]
fn a_slot_searches_the_same_alone_and_among_a_thousand() {
    let slots = slots(1000);
    let mut evaluator = Hashed::new(encoding(), 3);
    let mut together: Vec<Search> =
        slots.iter().map(|(game, params)| new_search(game.clone(), params.clone())).collect();
    search_in_lockstep(&mut together, &mut evaluator, &mut |_| Ok::<_, EvaluatorError>(()))
        .expect("fakes do not fail");
    for ((game, params), search) in slots.iter().zip(&together) {
        let alone = searched(game, params, &mut evaluator);
        assert_eq!(visits(&alone), visits(search), "{}, {params:?}", game.position().fen());
        assert_eq!(alone.root_value(), search.root_value());
        assert_eq!(alone.policy_target(), search.policy_target());
    }
}

#[test]
fn virtual_loss_and_slot_order_change_nothing_with_one_leaf_in_flight() {
    let games = sample(30);
    let mut evaluator = Hashed::new(encoding(), 4);
    let mut searched_with = |in_flight, reversed: bool| {
        let params = SearchParams { leaf_batch: 1, virtual_loss_mode: in_flight, ..simulations(60) };
        let new = |game: &Game| new_search(game.clone(), params.clone());
        let mut searches: Vec<Search> = games.iter().map(new).collect();
        if reversed {
            searches.reverse();
        }
        search_in_lockstep(&mut searches, &mut evaluator, &mut |_| Ok::<_, EvaluatorError>(()))
            .expect("fakes do not fail");
        if reversed {
            searches.reverse();
        }
        searches.iter().map(visits).collect::<Vec<_>>()
    };
    let expected = searched_with(VirtualLossMode::Loss, false);
    assert_eq!(searched_with(VirtualLossMode::Visit, false), expected);
    assert_eq!(searched_with(VirtualLossMode::Loss, true), expected);
}

#[test]
fn temperature_zero_draws_no_random_number() {
    for (number, game) in sample(20).iter().enumerate() {
        for params in kinds(30) {
            let search = searched(game, &params, &mut Hashed::new(encoding(), number as u64));
            for by in [ChooseBy::Visits, ChooseBy::Value, ChooseBy::Bound] {
                let (mut used, mut unused) = (stream(1), stream(1));
                let choice = ChoiceParams { by, ..ChoiceParams::default() };
                let played = search.choose(&choice, 0.0, &mut used);
                assert!(game.position().is_legal(played));
                assert_eq!(used.random::<u64>(), unused.random::<u64>(), "{by:?}, {params:?}");
            }
        }
    }
}

#[test]
fn random_positions_match_the_reference() {
    for (number, game) in sample(120).iter().chain(&chess960_games(60)).enumerate() {
        for params in kinds(60) {
            compared(game, &params, &mut Hashed::new(encoding(), number as u64));
        }
    }
}
