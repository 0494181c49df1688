//! When a search ends.

use super::*;

#[test]
fn a_full_tree_ends_the_search() {
    let params = SearchParams { max_nodes: 50, ..simulations(1000) };
    let search = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 1));
    assert_eq!((search.memory().nodes, search.visits()), (50, 50));
}

#[test]
fn a_search_that_changes_its_mind_no_more_ends() {
    // All values are alike and one move has nearly all of the policy, so shares settle at once.
    let stop = |minimum| SearchParams {
        stop_by_gain: Some(GainStop { interval: 50, minimum }),
        ..simulations(2000)
    };
    let mut evaluator = Hashed::new(encoding(), 1);
    let visits =
        [0.0, 1e-4, 1.0].map(|minimum| searched(&Game::initial(), &stop(minimum), &mut evaluator).visits());
    assert_eq!((visits[0], visits[2]), (2000, 101), "never, and at the second look");
    assert!((102..2000).contains(&visits[1]), "{visits:?}");
}

#[test]
fn a_search_goes_on_with_a_new_budget_as_if_it_had_been_given_both() {
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
fn a_search_by_the_reference_engine_cannot_be_shared_by_threads() {
    let params = SearchParams { engine: Engine::Reference, ..simulations(10) };
    let refused = SharedSearch::new(begun(Game::initial(), params)).expect_err("has one thread").to_string();
    assert!(refused.contains("\"reference\"") && refused.contains("search.engine"), "{refused}");
}

#[test]
fn tablebases_that_the_parameters_name_are_opened_with_the_search() {
    let params = SearchParams { tablebases: Some("no/such/folder".to_owned()), ..simulations(10) };
    let refused = Search::new(Game::initial(), RULES, params).expect_err("cannot be opened").to_string();
    assert!(refused.contains("no/such/folder"), "{refused}");
}

#[test]
fn one_thread_does_what_a_search_does_and_several_spend_the_same_budget() {
    let params = SearchParams { leaves: 8, ..simulations(3000) };
    let alone = searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 1));
    let threaded = |threads: usize| {
        let shared = in_threads(params.clone());
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
fn a_budget_of_time_ends_a_search_within_a_batch() {
    let params = SearchParams { leaves: 8, ..simulations(100_000) };
    let shared = in_threads(params);
    // The clock ticks once a batch; the first batch is the root alone.
    let mut ticks = 0;
    let mut goes_on = |_: &Search| {
        ticks += 1;
        ticks <= 5
    };
    shared.work_while(&mut Hashed::new(encoding(), 1), &mut goes_on).expect("fakes do not fail");
    let search = shared.into_search();
    search.check_invariants();
    let visits = search.visits();
    assert!((5..=1 + 4 * 8).contains(&visits) && !search.is_done(), "{visits}");
    assert!(!search.lines(1).is_empty(), "a stopped search has a move");
}

/// An evaluator whose third batch fails.
struct Failing(Hashed, u32);

impl Evaluator for Failing {
    fn encoding(&self) -> &Encoding {
        self.0.encoding()
    }

    fn evaluate(
        &mut self,
        batch: &Batch,
        out: &mut Evaluations,
    ) -> Result<(), crate::network::EvaluatorError> {
        self.1 += 1;
        if self.1 == 3 {
            return Err(crate::network::EvaluatorError::NotFinite { row: 0 });
        }
        self.0.evaluate(batch, out)
    }
}

#[test]
fn a_stopped_search_and_a_failing_evaluator_end_the_work_of_all_threads() {
    let endless = SearchParams { leaves: 4, ..simulations(10_000_000) };
    let shared = in_threads(endless.clone());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| shared.work(&mut Hashed::new(encoding(), 1)).expect("fakes do not fail"));
        }
        while shared.look(Search::visits) < 100 {
            std::thread::yield_now();
        }
        shared.stop();
    });
    shared.into_search().check_invariants();

    let shared = in_threads(endless);
    let results = std::thread::scope(|scope| {
        let work = |_| scope.spawn(|| shared.work(&mut Failing(Hashed::new(encoding(), 1), 0)));
        let threads: Vec<_> = (0..2).map(work).collect();
        threads.into_iter().map(|thread| thread.join().expect("does not panic")).collect::<Vec<_>>()
    });
    assert!(results.iter().any(Result::is_err));
}
