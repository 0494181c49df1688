//! Halves of a leaf batch that take turns.

use super::*;
use crate::network::Divided;
use crate::network::fake::Material;

/// The parameters with which halves are tried.
fn all_params() -> Vec<SearchParams> {
    let mut all = Vec::new();
    for leaves in [2, 5, 16] {
        for graph in [false, true] {
            for rule in [RootRule::Puct, RootRule::Gumbel] {
                let root = RootParams { rule, ..RootParams::default() };
                all.push(SearchParams { root, graph, leaf_batch: leaves, ..simulations(600) });
            }
        }
    }
    all
}

fn in_turns(game: &Game, params: &SearchParams, evaluator: &mut dyn Evaluator) -> Search {
    let shared = SharedSearch::new(new_search(game.clone(), params.clone())).expect("the fast engine");
    shared.work_in_turns(evaluator, &mut |_| true).expect("fakes do not fail");
    let search = shared.into_search();
    search.check_invariants();
    search
}

/// Checks that halves are begun and finished in turns.
struct Checked {
    inner: Material,
    begun: Option<Vec<u64>>,
    /// The rows of all halves.
    sizes: Vec<usize>,
}

impl Checked {
    fn new() -> Self {
        Self { inner: Material::new(encoding()), begun: None, sizes: Vec::new() }
    }
}

impl Evaluator for Checked {
    fn encoding(&self) -> &Encoding {
        self.inner.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.inner.evaluate(batch, out)
    }

    fn begin(&mut self, batch: &Batch) -> Result<(), EvaluatorError> {
        assert!(!batch.is_empty() && self.begun.is_none());
        self.begun = Some(batch.keys.clone());
        self.sizes.push(batch.len());
        Ok(())
    }

    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        assert_eq!(self.begun.take().as_ref(), Some(&batch.keys));
        self.evaluate(batch, out)
    }
}

#[test]
fn the_search_does_not_depend_on_the_threads_that_evaluate() {
    let games = bench::positions();
    for (params, game) in all_params().iter().zip(games.iter().cycle()) {
        let alone = in_turns(game, params, &mut Hashed::new(encoding(), 6));
        for threads in 1..=3 {
            let mut divided =
                Divided::new(threads, || Ok(Box::new(Hashed::new(encoding(), 6)))).expect("fakes are made");
            let search = in_turns(game, params, &mut divided);
            assert_eq!(visits(&search), visits(&alone), "{threads} threads, {params:?}");
        }
    }
}

#[test]
fn known_results_do_not_spend_the_budget_while_the_other_half_waits() {
    // Every move of the king draws by the fifty moves; the pawn's two moves keep it.
    let late = from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 99 1");
    for leaves in [2, 8] {
        let params = SearchParams { leaf_batch: leaves, ..simulations(400) };
        let search = in_turns(&late, &params, &mut Material::new(encoding()));
        let of_pawn = |mv: &RootMove| mv.played.to_string().starts_with("e2");
        let visits: u32 = search.root_moves().filter(of_pawn).map(|mv| mv.visits).sum();
        assert!(visits > 200, "{leaves} leaves: {visits}");
    }
}

#[test]
fn each_half_is_finished_before_the_next_is_begun_and_the_whole_budget_is_spent() {
    for params in all_params() {
        for game in bench::positions() {
            let mut evaluator = Checked::new();
            let search = in_turns(&game, &params, &mut evaluator);
            assert!(evaluator.begun.is_none());
            assert!(evaluator.sizes.iter().all(|size| *size <= params.leaf_batch as usize / 2));
            let is_spent = search.visits() == params.simulations || search.proof().is_some();
            assert!(is_spent && search.in_flight() == 0, "{} visits", search.visits());
        }
    }
}

#[test]
fn a_half_is_gathered_while_the_other_is_evaluated() {
    let params = SearchParams { leaf_batch: 8, ..simulations(600) };
    for game in bench::positions() {
        let shared = SharedSearch::new(new_search(game, params.clone())).expect("the fast engine");
        let (mut halves, mut beside) = (0, 0);
        let mut count = |search: &Search| {
            halves += 1;
            beside += u32::from(search.in_flight() > 0);
            true
        };
        shared.work_in_turns(&mut Checked::new(), &mut count).expect("fakes do not fail");
        // Not beside the root, the first half and those that follow an empty one.
        assert!(beside * 10 > halves * 8, "{beside} of {halves}");
    }
}

#[test]
fn a_batch_of_one_leaf_has_no_halves() {
    let params = SearchParams { leaf_batch: 1, ..simulations(300) };
    for game in bench::positions() {
        let alone = searched(&game, &params, &mut Hashed::new(encoding(), 7));
        assert_eq!(visits(&in_turns(&game, &params, &mut Hashed::new(encoding(), 7))), visits(&alone));
    }
}

#[test]
fn a_stopped_search_applies_the_half_that_was_begun() {
    let params = SearchParams { leaf_batch: 8, ..simulations(100_000) };
    for last in 1..20 {
        let shared = shared_search(params.clone());
        let mut calls = 0;
        let mut keep_going = |_: &Search| {
            calls += 1;
            calls <= last
        };
        shared.work_in_turns(&mut Checked::new(), &mut keep_going).expect("fakes do not fail");
        let search = shared.into_search();
        search.check_invariants();
        assert_eq!(search.in_flight(), 0, "after {last} halves");
        assert!(search.visits() > 0 && search.visits() <= 1 + 4 * last);
    }
}

#[test]
fn an_evaluator_that_fails_ends_the_search() {
    let endless = SearchParams { leaf_batch: 8, ..simulations(10_000_000) };
    let make = || -> Result<Box<dyn Evaluator>, EvaluatorError> {
        Ok(Box::new(FailsAfter(Hashed::new(encoding(), 1), 50)))
    };
    let mut divided = Divided::new(2, make).expect("fakes are made");
    let shared = shared_search(endless);
    let error = shared.work_in_turns(&mut divided, &mut |_| true).expect_err("a batch fails");
    assert!(matches!(error, EvaluatorError::NotFinite { .. }), "{error}");
}
