//! Several leaves of one tree in flight.

use super::super::pending::Pending;
use super::*;
use crate::network::fake::Material;

#[test]
fn leaf_batches_keep_the_invariants_and_find_a_mate() {
    let mate_in_one = from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    for (leaves, in_flight) in [2, 7, 64]
        .into_iter()
        .flat_map(|leaves| [(leaves, VirtualLossMode::Loss), (leaves, VirtualLossMode::Visit)])
    {
        let params = SearchParams {
            leaf_batch: leaves,
            virtual_loss_mode: in_flight,
            solver: false,
            ..simulations(400)
        };
        let search = searched(&mate_in_one, &params, &mut Uniform::new(encoding()));
        assert_eq!(search.visits(), 400);
        let best = search.root_moves().max_by_key(|mv| mv.visits).expect("has moves");
        assert_eq!(best.played.to_string(), "d1d8", "with {leaves} leaves, {in_flight:?}");
        assert!(best.value.expect("visited") > 0.99);
    }
}

#[test]
fn virtual_loss_matters_only_with_several_leaves_in_flight() {
    let visits_with = |leaves, in_flight| {
        let params = SearchParams { leaf_batch: leaves, virtual_loss_mode: in_flight, ..simulations(300) };
        visits(&searched(&Game::initial(), &params, &mut Hashed::new(encoding(), 1)))
    };
    assert_eq!(visits_with(1, VirtualLossMode::Loss), visits_with(1, VirtualLossMode::Visit));
    assert_ne!(visits_with(16, VirtualLossMode::Loss), visits_with(16, VirtualLossMode::Visit));
}

fn in_batches(leaves: u32, collisions: Option<u32>, mode: VirtualLossMode) -> SearchParams {
    let base = simulations(400);
    SearchParams { leaf_batch: leaves, max_collisions: collisions, virtual_loss_mode: mode, ..base }
}

/// The sizes of the batches of a search, without the root's own evaluation.
fn batch_sizes(game: &Game, params: &SearchParams, evaluator: &mut dyn Evaluator) -> Vec<usize> {
    let mut search = new_search(game.clone(), params.clone());
    let (mut batch, mut evaluations) = (Batch::default(), Evaluations::default());
    let mut sizes = Vec::new();
    while !search.is_done() {
        batch.clear();
        search.gather(evaluator, &mut batch).expect("no tablebase is damaged");
        sizes.push(batch.len());
        evaluator.evaluate(&batch, &mut evaluations).expect("fakes do not fail");
        search.apply(&batch, &evaluations, 0).expect("fakes have moves left");
    }
    search.check_invariants();
    sizes.split_off(1)
}

#[test]
fn a_batch_of_a_narrow_tree_is_filled_past_its_collisions() {
    let narrow = from_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1");
    for mode in [VirtualLossMode::Loss, VirtualLossMode::Visit] {
        let mean = |collisions| {
            let mut evaluator = Hashed::new(encoding(), 2);
            let sizes = batch_sizes(&narrow, &in_batches(16, collisions, mode), &mut evaluator);
            assert!(sizes.iter().all(|size| *size <= 16), "{sizes:?}");
            sizes.iter().sum::<usize>() as f64 / sizes.len() as f64
        };
        let (first, all) = (mean(Some(1)), mean(None));
        assert!(all > 10.0 && all >= first, "{mode:?}: {all} leaves, {first} up to the first collision");
        assert!(mode == VirtualLossMode::Loss || first < 0.5 * all, "{first} leaves, {all}");
    }
}

#[test]
fn collisions_leave_no_trace() {
    // Without several leaves in flight there are none.
    for game in bench::positions() {
        let with = |collisions| {
            let params = in_batches(1, collisions, VirtualLossMode::Loss);
            visits(&searched(&game, &params, &mut Hashed::new(encoding(), 3)))
        };
        assert_eq!(with(None), with(Some(1000)));
    }
    // `searched` checks that nothing is in flight at the end.
    for graph in [false, true] {
        for rule in [RootRule::Puct, RootRule::Gumbel] {
            let root = RootParams { rule, ..RootParams::default() };
            let params = in_batches(16, Some(1000), VirtualLossMode::Visit);
            let params = SearchParams { root, graph, ..params };
            for game in bench::positions() {
                searched(&game, &params, &mut Hashed::new(encoding(), 4));
            }
        }
    }
}

/// Half the sum of the differences between the visit shares of two searches: 0 for equal ones, 1 where they share no move.
fn distance(a: &Search, b: &Search) -> f64 {
    let share = |search: &Search, mv: Move| {
        let all: u32 = search.root_moves().map(|mv| mv.visits).sum();
        let visits = search.root_moves().find(|other| other.played == mv).map_or(0, |mv| mv.visits);
        f64::from(visits) / f64::from(all.max(1))
    };
    0.5 * a.root_moves().map(|mv| (share(a, mv.played) - share(b, mv.played)).abs()).sum::<f64>()
}

#[test]
fn a_batch_without_a_loss_visits_nearly_the_same_moves_as_one_leaf_at_a_time() {
    let games = bench::positions();
    let mean = |mode| {
        let of = |game: &Game| {
            let search = |leaves| {
                let params = in_batches(leaves, None, mode);
                searched(game, &params, &mut Material::new(encoding()))
            };
            distance(&search(16), &search(1))
        };
        games.iter().map(of).sum::<f64>() / games.len() as f64
    };
    // 0.03 and 0.14.
    let (visit, loss) = (mean(VirtualLossMode::Visit), mean(VirtualLossMode::Loss));
    assert!(visit < 0.05 && visit < 0.5 * loss, "{visit} of the visits go elsewhere, {loss} with a loss");
}

#[test]
fn batches_of_two_threads_are_filled_from_one_tree() {
    let (mut evaluator, params) = (Hashed::new(encoding(), 5), in_batches(16, None, VirtualLossMode::Visit));
    let mut search = new_search(Game::initial(), params);
    search.set_budget(2000);
    let (mut batches, mut pending) =
        ([Batch::default(), Batch::default()], [Pending::default(), Pending::default()]);
    let mut evaluations = Evaluations::default();
    let mut sizes = Vec::new();
    for turn in (0..2).cycle() {
        // The other thread's batch is being evaluated.
        if !pending[turn].is_empty() {
            evaluator.evaluate(&batches[turn], &mut evaluations).expect("fakes do not fail");
            search.apply_from(&mut pending[turn], &batches[turn], &evaluations, 0).expect("no moves left");
        }
        if search.is_done() && search.in_flight() == 0 {
            break;
        }
        batches[turn].clear();
        sizes.push(search.gather_into(&mut pending[turn], &encoding(), &mut batches[turn], u32::MAX));
    }
    search.check_invariants();
    assert_eq!(search.visits(), 2000);
    let late = &sizes[sizes.len() / 4..sizes.len() - 4];
    let mean = late.iter().sum::<usize>() as f64 / late.len() as f64;
    assert!(mean > 12.0, "batches of {mean} leaves: {sizes:?}");
}
