//! The simulations that the reference records agree with the trees of both engines.

use super::super::reference::{Choice, End, Simulation};
use super::*;

/// The same search by the reference engine, with all simulations recorded, and by the fast engine.
fn recorded(game: &Game, params: &SearchParams, salt: u64) -> (Search, Search) {
    let search_with = |engine| {
        let params = SearchParams { engine, ..params.clone() };
        let mut search = new_search(game.clone(), params);
        search.record_simulations(usize::MAX);
        let mut evaluator = Hashed::new(encoding(), salt).with_moves_left();
        search.run(&mut evaluator).expect("fakes do not fail");
        search
    };
    (search_with(Engine::Reference), search_with(Engine::Fast))
}

fn shapes() -> Vec<SearchParams> {
    let base = || simulations(120);
    let gumbel = RootParams { rule: RootRule::Gumbel, ..RootParams::default() };
    vec![
        base(),
        SearchParams { solver: false, c_puct_factor: 1.0, c_puct_base: 50.0, ..base() },
        SearchParams { draw_score: -0.3, moves_left: Some(MovesLeftParams::default()), ..base() },
        SearchParams { graph: true, ..base() },
        SearchParams { root: gumbel, tree_rule: TreeRule::Improved, ..base() },
    ]
}

fn each(check: impl Fn(&SearchParams, &Search, &Search)) {
    for params in shapes() {
        for (salt, game) in (0..).zip(bench::positions()) {
            let (reference, fast) = recorded(&game, &params, salt);
            check(&params, &reference, &fast);
        }
    }
}

/// The number of recorded simulations through each move of the root.
fn root_counts(simulations: &[Simulation]) -> HashMap<Move, u32> {
    let mut counts = HashMap::new();
    for choice in simulations.iter().filter_map(|simulation| simulation.choices.first()) {
        *counts.entry(choice.moves[choice.chosen].played).or_default() += 1;
    }
    counts
}

#[test]
fn recorded_simulations_match_the_visits_of_both_trees() {
    each(|params, reference, fast| {
        let counts = root_counts(reference.simulations());
        assert!(fast.simulations().is_empty(), "the fast engine records none");
        for search in [reference, fast] {
            let visited = search.root_moves().filter(|mv| mv.visits > 0);
            let visits: HashMap<Move, u32> = visited.map(|mv| (mv.played, mv.visits)).collect();
            assert_eq!(visits, counts, "{params:?}");
        }
        let count = reference.simulations().len();
        assert_eq!(count, reference.visits() as usize, "the root's evaluation and the descents");
    });
}

#[test]
fn the_last_update_of_the_root_matches_both_trees() {
    each(|params, reference, fast| {
        let last = reference.simulations().last().and_then(|last| last.back_up.last()).expect("a root");
        assert_eq!((last.depth, last.visits), (0, fast.visits()));
        assert!((last.mean - reference.tree.node(ROOT).value()).abs() < 1e-12, "{params:?}");
        // Once a root is proven its mean is meaningless, and the engines' means differ in a graph.
        let is_open = fast.proof().is_none();
        assert!(!is_open || (last.mean - fast.tree.node(ROOT).value()).abs() < 1e-9, "{params:?}");
    });
}

#[test]
fn every_choice_has_the_best_score_and_every_score_is_the_sum_of_its_terms() {
    each(|params, reference, _| {
        let choices = || reference.simulations().iter().flat_map(|simulation| &simulation.choices);
        assert!(choices().count() > 0 || reference.proof().is_some());
        for choice in choices() {
            check_sums(choice);
            let chosen = &choice.moves[choice.chosen];
            let open = choice.moves.iter().filter(|mv| mv.is_open);
            let best = open.map(|mv| mv.score).fold(f64::NEG_INFINITY, f64::max);
            let scheduled = choice.depth == 0 && params.root.rule == RootRule::Gumbel;
            assert!(chosen.is_open && (chosen.score == best || scheduled), "{params:?}");
        }
    });
}

fn check_sums(choice: &Choice) {
    let below: u32 = choice.moves.iter().map(|mv| mv.visits).sum();
    assert!(choice.visits > below, "a node has one visit more than its edges, or more in a graph");
    for mv in &choice.moves {
        let sum = match mv.terms {
            [("u", u), ("plies", plies)] => mv.q + u + plies,
            [("noise", noise), ("improved", improved)] => noise + improved,
            [("policy", policy), ("share", share)] => policy - share,
            terms => panic!("unknown terms {terms:?}"),
        };
        assert!((mv.score - sum).abs() < 1e-12);
    }
}

#[test]
fn values_change_sign_at_every_ply_of_the_back_up() {
    let params = SearchParams { solver: false, ..simulations(60) };
    let (reference, _) = recorded(&bench::positions()[3], &params, 3);
    for simulation in reference.simulations() {
        let depths: Vec<u32> = simulation.back_up.iter().map(|update| update.depth).collect();
        assert_eq!(depths, (0..=simulation.leaf.depth).rev().collect::<Vec<_>>());
        assert_eq!(simulation.choices.len(), simulation.leaf.depth as usize);
        for update in &simulation.back_up {
            let sign = if (simulation.leaf.depth - update.depth).is_multiple_of(2) { 1.0 } else { -1.0 };
            assert_eq!(update.value, sign * simulation.leaf.value);
        }
        assert!(simulation.leaf.end != End::New || !simulation.leaf.priors.is_empty());
    }
}

#[test]
fn only_the_first_simulations_are_recorded() {
    let game = Game::initial();
    let params = SearchParams { engine: Engine::Reference, ..simulations(50) };
    let mut search = new_search(game, params);
    search.record_simulations(3);
    search.run(&mut Hashed::new(encoding(), 1)).expect("fakes do not fail");
    assert_eq!((search.simulations().len(), search.visits()), (3, 50));
    assert_eq!(search.simulations()[0].choices, []);
}

#[test]
fn the_next_descent_takes_the_best_root_score() {
    for params in shapes().into_iter().filter(|params| params.root.rule == RootRule::Puct) {
        for (salt, game) in (0..).zip(bench::positions()) {
            let (_, mut fast) = recorded(&game, &params, salt);
            if fast.proof().is_some() {
                continue;
            }
            let scores = fast.root_scores().expect("a PUCT root");
            let next = fast.select(ROOT, 0);
            let best =
                scores.iter().filter(|mv| mv.is_open).map(|mv| mv.score).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(scores[next].score, best, "{params:?}");
            assert_eq!(scores[next].played, fast.tree.moves(ROOT)[next]);
        }
    }
}
