//! What the reference shows of its simulations is what the trees hold, its own and the fast one's.

use super::super::reference::{Choice, End, Simulation};
use super::*;

/// A search of the reference engine with all of its simulations, and the same one of the fast engine.
fn watched(game: &Game, params: &SearchParams, salt: u64) -> (Search, Search) {
    let of = |engine| {
        let params = SearchParams { engine, ..params.clone() };
        let mut search = begun(game.clone(), params);
        search.watch(usize::MAX);
        let mut evaluator = Hashed::new(encoding(), salt).with_moves_left();
        search.run(&mut evaluator).expect("fakes do not fail");
        search
    };
    (of(Engine::Reference), of(Engine::Fast))
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
            let (slow, fast) = watched(&game, &params, salt);
            check(&params, &slow, &fast);
        }
    }
}

/// The root's moves by the number of simulations that the trace sends through them.
fn sent(simulations: &[Simulation]) -> HashMap<Move, u32> {
    let mut counts = HashMap::new();
    for choice in simulations.iter().filter_map(|simulation| simulation.choices.first()) {
        *counts.entry(choice.moves[choice.chosen].played).or_default() += 1;
    }
    counts
}

#[test]
fn the_simulations_shown_are_the_visits_of_both_trees() {
    each(|params, slow, fast| {
        let counts = sent(slow.simulations());
        assert!(fast.simulations().is_empty(), "the fast engine shows none");
        for search in [slow, fast] {
            let seen: HashMap<Move, u32> =
                search.root_moves().filter(|of| of.visits > 0).map(|of| (of.played, of.visits)).collect();
            assert_eq!(seen, counts, "{params:?}");
        }
        let shown = slow.simulations().len();
        assert_eq!(shown, slow.visits() as usize, "the root's evaluation and the descents");
    });
}

#[test]
fn the_last_value_shown_of_a_position_is_the_trees() {
    each(|params, slow, fast| {
        let last = slow.simulations().last().and_then(|last| last.back_up.last()).expect("a root");
        assert_eq!((last.depth, last.visits), (0, fast.visits()));
        assert!((last.mean - slow.tree.node(ROOT).value()).abs() < 1e-12, "{params:?}");
        // Once a root is proven its mean says nothing any more, and the engines' differ in a graph.
        let is_open = fast.proof().is_none();
        assert!(!is_open || (last.mean - fast.tree.node(ROOT).value()).abs() < 1e-9, "{params:?}");
    });
}

#[test]
fn every_choice_is_the_best_score_and_every_score_the_sum_of_its_terms() {
    each(|params, slow, _| {
        let choices = || slow.simulations().iter().flat_map(|simulation| &simulation.choices);
        assert!(choices().count() > 0 || slow.proof().is_some());
        for choice in choices() {
            adds_up(choice);
            let chosen = &choice.moves[choice.chosen];
            let open = choice.moves.iter().filter(|of| of.is_open);
            let best = open.map(|of| of.score).fold(f64::NEG_INFINITY, f64::max);
            let scheduled = choice.depth == 0 && params.root.rule == RootRule::Gumbel;
            assert!(chosen.is_open && (chosen.score == best || scheduled), "{params:?}");
        }
    });
}

fn adds_up(choice: &Choice) {
    let below: u32 = choice.moves.iter().map(|of| of.visits).sum();
    assert!(
        choice.visits > below,
        "a position is visited once more than its moves, or more often once shared"
    );
    for of in &choice.moves {
        let sum = match of.terms {
            [("u", u), ("plies", plies)] => of.q + u + plies,
            [("noise", noise), ("improved", improved)] => noise + improved,
            [("policy", policy), ("share", share)] => policy - share,
            terms => panic!("unknown terms {terms:?}"),
        };
        assert!((of.score - sum).abs() < 1e-12);
    }
}

#[test]
fn values_change_sides_on_the_way_up() {
    let params = SearchParams { solver: false, ..simulations(60) };
    let (slow, _) = watched(&bench::positions()[3], &params, 3);
    for simulation in slow.simulations() {
        let depths: Vec<u32> = simulation.back_up.iter().map(|counted| counted.depth).collect();
        assert_eq!(depths, (0..=simulation.leaf.depth).rev().collect::<Vec<_>>());
        assert_eq!(simulation.choices.len(), simulation.leaf.depth as usize);
        for counted in &simulation.back_up {
            let sign = if (simulation.leaf.depth - counted.depth).is_multiple_of(2) { 1.0 } else { -1.0 };
            assert_eq!(counted.value, sign * simulation.leaf.value);
        }
        assert!(simulation.leaf.end != End::New || !simulation.leaf.priors.is_empty());
    }
}

#[test]
fn only_the_first_simulations_are_kept() {
    let game = Game::initial();
    let params = SearchParams { engine: Engine::Reference, ..simulations(50) };
    let mut search = begun(game, params);
    search.watch(3);
    search.run(&mut Hashed::new(encoding(), 1)).expect("fakes do not fail");
    assert_eq!((search.simulations().len(), search.visits()), (3, 50));
    assert_eq!(search.simulations()[0].choices, []);
}

#[test]
fn the_best_score_of_the_root_is_the_move_that_is_next() {
    for params in shapes().into_iter().filter(|params| params.root.rule == RootRule::Puct) {
        for (salt, game) in (0..).zip(bench::positions()) {
            let (_, mut fast) = watched(&game, &params, salt);
            if fast.proof().is_some() {
                continue;
            }
            let scores = fast.root_scores().expect("a PUCT root");
            let next = fast.select(ROOT, 0);
            let best =
                scores.iter().filter(|of| of.is_open).map(|of| of.score).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(scores[next].score, best, "{params:?}");
            assert_eq!(scores[next].played, fast.tree.moves(ROOT)[next]);
        }
    }
}
