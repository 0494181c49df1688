//! Several leaves of one tree in flight.

use super::super::gather::Amount;
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

/// A mode of the virtual loss and its size.
type Loss = (VirtualLossMode, f64);

/// A descent in flight counts as lost.
const LOST: Loss = (VirtualLossMode::Loss, 1.0);
/// It leaves the mean unchanged.
const UNCHANGED: Loss = (VirtualLossMode::Visit, 0.0);
/// It lowers the mean a little, the default.
const LOWERED: Loss = (VirtualLossMode::Visit, 0.5);

fn in_batches(leaves: u32, collisions: Option<u32>, loss: Loss) -> SearchParams {
    SearchParams {
        leaf_batch: leaves,
        max_collisions: collisions,
        virtual_loss_mode: loss.0,
        virtual_loss: loss.1,
        ..simulations(400)
    }
}

/// The sizes of the batches of a search, without the root's own evaluation.
fn batch_sizes(game: &Game, params: &SearchParams, evaluator: &mut dyn Evaluator) -> Vec<usize> {
    let mut search = new_search(game.clone(), params.clone());
    let mut sizes = Vec::new();
    let mut keep = |size| {
        sizes.push(size);
        Ok::<_, EvaluatorError>(())
    };
    search_in_lockstep(std::slice::from_mut(&mut search), evaluator, &mut keep).expect("fakes do not fail");
    search.check_invariants();
    sizes.split_off(1)
}

#[test]
fn a_batch_of_a_narrow_tree_is_filled_past_its_collisions() {
    let narrow = from_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1");
    for loss in [LOST, UNCHANGED, LOWERED] {
        let mean = |collisions| {
            let mut evaluator = Hashed::new(encoding(), 2);
            let sizes = batch_sizes(&narrow, &in_batches(16, collisions, loss), &mut evaluator);
            assert!(sizes.iter().all(|size| *size <= 16), "{sizes:?}");
            sizes.iter().sum::<usize>() as f64 / sizes.len() as f64
        };
        let (first, all) = (mean(Some(1)), mean(None));
        assert!(all > 10.0 && all >= first, "{loss:?}: {all} leaves, {first} up to the first collision");
        assert!(loss != UNCHANGED || first < 0.5 * all, "{first} leaves, {all}");
    }
}

#[test]
fn known_results_do_not_spend_the_budget_while_leaves_wait() {
    // Every move of the king draws by the fifty moves; the pawn's two moves keep it.
    let late = from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 99 1");
    for leaves in [1, 2, 8] {
        let params = SearchParams { leaf_batch: leaves, ..simulations(400) };
        let search = searched(&late, &params, &mut Material::new(encoding()));
        let of_pawn = |mv: &RootMove| mv.played.to_string().starts_with("e2");
        let visits: u32 = search.root_moves().filter(of_pawn).map(|mv| mv.visits).sum();
        assert!(visits > 200, "{leaves} leaves: {visits}");
    }
}

#[test]
fn collisions_leave_no_trace() {
    // Without several leaves in flight there are none.
    for game in bench::positions() {
        let with = |collisions| {
            let params = in_batches(1, collisions, LOST);
            visits(&searched(&game, &params, &mut Hashed::new(encoding(), 3)))
        };
        assert_eq!(with(None), with(Some(1000)));
    }
    // `searched` checks that nothing is in flight at the end.
    for graph in [false, true] {
        for rule in [RootRule::Puct, RootRule::Gumbel] {
            let root = RootParams { rule, ..RootParams::default() };
            let params = in_batches(16, Some(1000), UNCHANGED);
            let params = SearchParams { root, graph, ..params };
            for game in bench::positions() {
                searched(&game, &params, &mut Hashed::new(encoding(), 4));
            }
        }
    }
}

#[test]
fn a_gumbel_root_keeps_its_schedule_in_batches() {
    for considered in [4, 8] {
        let root = RootParams { rule: RootRule::Gumbel, considered, ..RootParams::default() };
        for game in bench::positions() {
            let in_batches_of = |leaves| {
                let params = SearchParams {
                    root: root.clone(),
                    leaf_batch: leaves,
                    solver: false,
                    ..simulations(257)
                };
                let search = searched(&game, &params, &mut Hashed::new(encoding(), 2));
                let mut spent: Vec<u32> = search.root_moves().map(|mv| mv.visits).collect();
                spent.sort_unstable();
                spent
            };
            let alone = in_batches_of(1);
            for leaves in [2, 16, 64, 256] {
                assert_eq!(in_batches_of(leaves), alone, "{leaves} leaves, {}", game.position().fen());
            }
        }
    }
}

/// The mean share of a batch's leaves that are neighbours: children of a node with another leaf in the batch.
fn share_of_neighbours(game: &Game, params: &SearchParams, evaluator: &mut dyn Evaluator) -> f64 {
    let mut search = new_search(game.clone(), params.clone());
    let (mut batch, mut evaluations) = (Batch::default(), Evaluations::default());
    let (mut neighbours, mut leaves) = (0, 0);
    while !search.is_done() {
        batch.clear();
        search.gather(evaluator, &mut batch).expect("no tablebase is damaged");
        let pending = &search.pending;
        let ends = pending.leaves.iter().filter(|leaf| leaf.path_end > 0);
        let parents: Vec<_> = ends.map(|leaf| pending.paths[leaf.path_end - 1].0).collect();
        let count = |parent: u32| parents.iter().filter(|other| **other == parent).count();
        neighbours += parents.iter().filter(|parent| count(**parent) > 1).count();
        leaves += parents.len();
        evaluator.evaluate(&batch, &mut evaluations).expect("fakes do not fail");
        search.apply(&batch, &evaluations, 0).expect("fakes have moves left");
    }
    f64::from(neighbours as u32) / f64::from(leaves as u32)
}

#[test]
fn a_lowered_mean_sends_descents_past_the_neighbours_of_leaves_in_flight() {
    let mean = |loss| {
        let of = |game: &Game| {
            share_of_neighbours(game, &in_batches(16, None, loss), &mut Material::new(encoding()))
        };
        let games = bench::positions();
        games.iter().map(of).sum::<f64>() / games.len() as f64
    };
    let (unchanged, lowered) = (mean(UNCHANGED), mean(LOWERED));
    assert!(lowered < 0.8 * unchanged, "{lowered} of the leaves, {unchanged} without a loss");
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
fn a_loss_relative_to_the_mean_visits_nearly_the_same_moves_as_one_leaf_at_a_time() {
    let games = bench::positions();
    let mean = |loss| {
        let of = |game: &Game| {
            let search = |leaves| {
                let params = in_batches(leaves, None, loss);
                searched(game, &params, &mut Material::new(encoding()))
            };
            distance(&search(16), &search(1))
        };
        games.iter().map(of).sum::<f64>() / games.len() as f64
    };
    // 0.03, 0.05 and 0.14.
    let lost = mean(LOST);
    for share in [mean(UNCHANGED), mean(LOWERED)] {
        assert!(
            share < 0.06 && share < 0.5 * lost,
            "{share} of the visits go elsewhere, {lost} if they lose"
        );
    }
}

#[test]
fn batches_of_two_threads_are_filled_from_one_tree() {
    let (mut evaluator, params) = (Hashed::new(encoding(), 5), in_batches(16, None, LOWERED));
    let mut search = new_search(Game::initial(), params);
    search.set_budget(2000);
    let (mut batches, mut pending) =
        ([Batch::default(), Batch::default()], [Pending::default(), Pending::default()]);
    let mut evaluations = Evaluations::default();
    let mut sizes = Vec::new();
    let most = Amount { leaves: 16, descents: u32::MAX };
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
        sizes.push(search.gather_into(&mut pending[turn], &encoding(), &mut batches[turn], most));
    }
    search.check_invariants();
    assert_eq!(search.visits(), 2000);
    let late = &sizes[sizes.len() / 4..sizes.len() - 4];
    let mean = late.iter().sum::<usize>() as f64 / late.len() as f64;
    assert!(mean > 12.0, "batches of {mean} leaves: {sizes:?}");
}
