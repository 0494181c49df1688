//! When a search ends.

use super::*;

#[test]
fn a_full_tree_ends_the_search() {
    let params = SearchParams { max_nodes: 50, ..simulations(1000) };
    let search = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 1));
    assert_eq!((search.memory().nodes, search.visits()), (50, 50));
}

#[test]
fn a_small_kld_gain_ends_the_search() {
    // All values are similar and one move has nearly all of the policy, so the visit shares converge at once.
    let stop =
        |minimum| SearchParams { kld_gain: Some(KldGain { interval: 50, minimum }), ..simulations(2000) };
    let mut evaluator = Hashed::new(encoding(), 1);
    let visits =
        [0.0, 1e-4, 1.0].map(|minimum| searched(&Game::initial(), &stop(minimum), &mut evaluator).visits());
    assert_eq!((visits[0], visits[2]), (2000, 101), "never, and at the second comparison");
    assert!((102..2000).contains(&visits[1]), "{visits:?}");
}

#[test]
fn a_second_budget_continues_the_search() {
    let mut evaluator = Hashed::new(encoding(), 1);
    let mut search = searched(&Game::initial(), &simulations(100), &mut evaluator);
    search.set_budget(150);
    assert_eq!(search.spent(), 0);
    run(&mut search, &mut evaluator);
    let whole = searched(&Game::initial(), &simulations(250), &mut evaluator);
    assert_eq!(visits(&search), visits(&whole));
    assert_eq!((search.spent(), whole.spent()), (150, 250));
}

#[test]
fn a_second_budget_continues_a_search_that_ended_by_itself() {
    let mut evaluator = Hashed::new(encoding(), 1);
    let kld_gain = Some(KldGain { interval: 50, minimum: 1.0 });
    let mut search =
        searched(&Game::initial(), &SearchParams { kld_gain, ..simulations(2000) }, &mut evaluator);
    assert_eq!(search.visits(), 101, "it ends at its second comparison");
    search.set_budget(2000);
    run(&mut search, &mut evaluator);
    assert_eq!(search.visits(), 152, "its comparisons begin again");
    let reference = |budget| SearchParams { engine: Engine::Reference, ..simulations(budget) };
    let mut search = searched(&Game::initial(), &reference(100), &mut evaluator);
    search.set_budget(150);
    run(&mut search, &mut evaluator);
    assert_eq!(visits(&search), visits(&searched(&Game::initial(), &reference(250), &mut evaluator)));
}

#[test]
fn simulations_to_a_number_of_visits_count_a_second_evaluation() {
    let params = SearchParams { reuse_tree: true, ..simulations(300) };
    let mut evaluator = Hashed::new(encoding(), 1);
    let mut search = new_search(Game::initial(), params);
    for visits in [128, 256] {
        search.set_budget(search.simulations_to(visits));
        run(&mut search, &mut evaluator);
        assert_eq!(search.visits(), visits, "of the same root");
    }
    let (most, _) = search.leaders();
    search.play_unchecked(most.expect("has moves").played);
    let kept = search.visits();
    assert!(kept > 0);
    search.set_budget(search.simulations_to(512));
    run(&mut search, &mut evaluator);
    assert_eq!((search.visits(), search.spent()), (512, 512 - kept + 1));
    assert_eq!(search.simulations_to(512), 0);
}

/// Their visits of earlier searches are no lead over the moves that may be played.
#[test]
fn closed_moves_are_no_leaders_and_end_no_search() {
    let mut evaluator = Hashed::new(encoding(), 1);
    let params = SearchParams { smart_pruning: true, ..simulations(300) };
    let mut search = searched(&Game::initial(), &params, &mut evaluator);
    let mut by_visits = visits(&search);
    by_visits.sort_by_key(|(_, visits)| std::cmp::Reverse(*visits));
    let open = [by_visits[1].0, by_visits[2].0];
    let lead = by_visits[0].1 - by_visits[1].1;
    assert!(lead > 0 && search.leaders().0.is_some_and(|leader| leader.played == by_visits[0].0));
    search.restrict_root(&open);
    search.set_budget(lead);
    run(&mut search, &mut evaluator);
    assert!(search.spent() > 0, "{by_visits:?}");
    let (most, second) = search.leaders();
    for leader in [most, second] {
        assert!(leader.is_some_and(|leader| open.contains(&leader.played)), "{leader:?}");
    }
}

#[test]
fn threads_cannot_share_a_search_of_the_reference_engine() {
    let params = SearchParams { engine: Engine::Reference, ..simulations(10) };
    let error =
        SharedSearch::new(new_search(Game::initial(), params)).expect_err("has one thread").to_string();
    assert!(error.contains("\"reference\"") && error.contains("search.engine"), "{error}");
}

#[test]
fn a_new_search_opens_its_tablebases() {
    let params = SearchParams { tablebases: Some("no/such/folder".to_owned()), ..simulations(10) };
    let error = Search::new(Game::initial(), RULES, params).expect_err("cannot be opened").to_string();
    assert!(error.contains("no/such/folder"), "{error}");
}

#[test]
fn several_threads_spend_the_budget_of_one() {
    let params = SearchParams { leaf_batch: 8, ..simulations(3000) };
    let alone = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 1));
    let threaded = |threads: usize| {
        let shared = shared_search(params.clone());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| shared.work(&mut Hashed::new(encoding(), 1)).expect("fakes do not fail"));
            }
        });
        shared.into_search()
    };
    assert_eq!(visits(&threaded(1)), visits(&alone));
    for _ in 0..10 {
        let search = threaded(3);
        search.check_invariants();
        assert_eq!((search.visits(), search.in_flight()), (3000, 0));
    }
}

#[test]
fn a_search_of_known_results_can_be_stopped() {
    // Every move but a capture draws by the fifty-move rule, and nothing is proven without the solver.
    let game = Game::from_text("6k1/8/8/8/8/8/8/K6R w - - 99 80").expect("a position");
    let params = SearchParams { simulations: 10_000_000, solver: false, ..SearchParams::default() };
    let shared = SharedSearch::new(new_search(game, params)).expect("the fast engine takes threads");
    let mut calls = 0;
    let mut keep_going = |_: &Search| {
        calls += 1;
        calls < 5
    };
    shared.work_while(&mut Hashed::new(encoding(), 1), &mut keep_going).expect("fakes do not fail");
    let visits = shared.into_search().visits();
    assert!((2048..=5 * 2048).contains(&visits), "{visits}");
}

#[test]
fn a_time_budget_ends_a_search_within_a_batch() {
    let params = SearchParams { leaf_batch: 8, ..simulations(100_000) };
    let shared = shared_search(params);
    // The clock ticks once a batch; the first batch is the root alone.
    let mut ticks = 0;
    let mut keep_going = |_: &Search| {
        ticks += 1;
        ticks <= 5
    };
    shared.work_while(&mut Hashed::new(encoding(), 1), &mut keep_going).expect("fakes do not fail");
    let search = shared.into_search();
    search.check_invariants();
    let visits = search.visits();
    assert!((5..=1 + 4 * 8).contains(&visits) && !search.is_done(), "{visits}");
    assert!(!search.lines(1).is_empty(), "a stopped search has a move");
}

#[test]
fn a_stop_or_a_failing_evaluator_ends_all_threads() {
    let endless = SearchParams { leaf_batch: 4, ..simulations(10_000_000) };
    let shared = shared_search(endless.clone());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| shared.work(&mut Hashed::new(encoding(), 1)).expect("fakes do not fail"));
        }
        while shared.inspect(Search::visits) < 100 {
            std::thread::yield_now();
        }
        shared.stop();
    });
    shared.into_search().check_invariants();

    let shared = shared_search(endless);
    let results = std::thread::scope(|scope| {
        let work = |_| scope.spawn(|| shared.work(&mut FailsAfter(Hashed::new(encoding(), 1), 2)));
        let threads: Vec<_> = (0..2).map(work).collect();
        threads.into_iter().map(|thread| thread.join().expect("does not panic")).collect::<Vec<_>>()
    });
    assert!(results.iter().any(Result::is_err));
}
