//! The fast search against the reference, and what every search must hold.

use std::collections::HashMap;

use rand::RngExt;

use super::reference::{Node, Reference};
use super::tree::ROOT;
use super::{
    ChoiceParams, ChooseBy, FirstPlay, FirstPlayParams, Proof, RootNoise, RootParams, RootRule, Search,
    SearchParams, TreeRule, Visited, choose_move,
};
use crate::board::{Game, Move, Position, Rules, random_opening};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::network::fake::{Hashed, Scripted, Uniform};
use crate::network::{Batch, Evaluations, Evaluator, Wdl};
use crate::rng::{Purpose, Seed, Stream};

const RULES: Rules = Rules { max_plies: 512 };

fn encoding() -> Encoding {
    Encoding::new(EncodingName::Dc0, Orientation::SideToMove)
}

fn stream(game: u64) -> Stream {
    Seed { run: 3, step: 4 }.stream(game, Purpose::RootNoise)
}

fn from_fen(fen: &str) -> Game {
    Game::from_position(Position::from_fen(fen).expect("test FEN"))
}

fn run(search: &mut Search, evaluator: &mut dyn Evaluator) {
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    let encoding = evaluator.encoding().clone();
    while !search.is_done() {
        batch.clear();
        search.gather(&encoding, &mut batch);
        evaluator.evaluate(&batch, &mut answers).expect("fakes do not fail");
        search.apply(&batch, &answers, 0);
    }
    search.check_invariants();
}

fn searched(game: &Game, params: &SearchParams, evaluator: &mut dyn Evaluator) -> Search {
    let mut search = Search::new(game.clone(), RULES, params.clone());
    run(&mut search, evaluator);
    search
}

fn simulations(simulations: u32) -> SearchParams {
    SearchParams { simulations, ..SearchParams::default() }
}

fn visits(search: &Search) -> Vec<(Move, u32)> {
    search.root_moves().map(|seen| (seen.played, seen.visits)).collect()
}

fn reference_visits(root: &Node) -> Vec<(Move, u32)> {
    root.children.iter().map(|child| (child.played, child.visits())).collect()
}

/// Visits in an order that does not depend on which moves were tried first.
fn sorted(mut visits: Vec<(Move, u32)>) -> Vec<(Move, u32)> {
    visits.sort_unstable();
    visits
}

fn sample_games() -> Vec<Game> {
    let opened = (0..12).map(|game| {
        let mut stream = Seed { run: 9, step: 0 }.stream(game, Purpose::Opening);
        random_opening(game as u32 * 7, &RULES, &mut stream)
    });
    let fens = [
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "8/8/8/8/8/3k4/4p3/4K3 w - - 96 90",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    ];
    opened.chain(fens.map(from_fen)).collect()
}

/// Searches with noise drawn the same way as the reference draws it.
fn searched_with_noise(
    game: &Game,
    params: &SearchParams,
    noise: Noise,
    evaluator: &mut dyn Evaluator,
) -> Search {
    let mut search = Search::new(game.clone(), RULES, params.clone());
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    let mut fresh = true;
    while !search.is_done() {
        batch.clear();
        search.gather(&encoding(), &mut batch);
        evaluator.evaluate(&batch, &mut answers).expect("fakes do not fail");
        search.apply(&batch, &answers, 0);
        if std::mem::take(&mut fresh) {
            noise.add(&mut search);
        }
    }
    search.check_invariants();
    search
}

/// The noise of a root.
#[derive(Debug, Clone, Copy)]
enum Noise {
    None,
    Dirichlet,
    Gumbel,
}

impl Noise {
    fn add(self, search: &mut Search) {
        match self {
            Self::None => {}
            Self::Dirichlet => search.add_noise(&RootNoise::default(), &mut stream(4)),
            Self::Gumbel => search.add_gumbel_noise(1.0, &mut stream(4)),
        }
        search.force_playouts();
    }

    fn add_to_reference(self, search: &mut Reference<'_>, params: &SearchParams) {
        match self {
            Self::None => {}
            Self::Dirichlet => search.add_noise(&RootNoise::default(), &mut stream(4)),
            Self::Gumbel => search.add_gumbel_noise(1.0, &mut stream(4)),
        }
        if params.root.forced_playouts > 0.0 {
            search.force_playouts();
        }
    }
}

fn compare_with_the_reference(params: &SearchParams, noise: Noise) {
    for (salt, game) in sample_games().iter().enumerate() {
        let mut evaluator = Hashed::new(encoding(), salt as u64);
        let fast = searched_with_noise(game, params, noise, &mut evaluator);
        let mut slow = Reference::new(game, RULES, params, &mut evaluator).expect("fakes do not fail");
        noise.add_to_reference(&mut slow, params);
        slow.run(&mut evaluator).expect("fakes do not fail");
        let fen = game.position().fen();
        assert_eq!(sorted(visits(&fast)), sorted(reference_visits(&slow.root)), "{fen}, {params:?}");
        assert_eq!(fast.proof().map(|proof| proof.value(0.0)), slow.root.certain.map(f64::from), "{fen}");
        if fast.proof().is_none() {
            let mean = slow.root.value_sum / f64::from(slow.root.visits);
            assert!((fast.tree.node(ROOT).value() - mean).abs() < 1e-9, "{fen}");
        }
        if params.root.rule == RootRule::Gumbel && fast.proof().is_none() {
            assert_eq!(fast.choose(&ChoiceParams::default(), 0.0, &mut stream(0)), slow.gumbel_choice());
            let mut shares: Vec<(Move, f64)> =
                slow.root.children.iter().map(|child| child.played).zip(slow.improved_policy()).collect();
            shares.sort_by_key(|(played, _)| *played);
            let mut target = fast.policy_target();
            target.sort_by_key(|of| of.played);
            for (of, (played, share)) in target.iter().zip(shares) {
                assert!(of.played == played && (of.share - share).abs() < 1e-9, "{fen}");
            }
        }
    }
}

/// Every option away from its default, one at a time and together.
fn shapes() -> Vec<SearchParams> {
    let base = || simulations(200);
    let first_play = |kind, value| FirstPlayParams { kind, value };
    let root = |root: RootParams| SearchParams { root, ..base() };
    vec![
        base(),
        SearchParams { c_puct: 0.0, ..base() },
        SearchParams { c_puct: 4.0, first_play: first_play(FirstPlay::Absolute, -1.0), ..base() },
        SearchParams { first_play: first_play(FirstPlay::Parent, 0.0), ..base() },
        SearchParams { c_puct_factor: 2.0, c_puct_base: 50.0, ..base() },
        SearchParams { policy_temperature: 1.6, ..base() },
        SearchParams { draw_score: -0.4, ..base() },
        SearchParams { solver: false, ..base() },
        SearchParams { stop_when_settled: true, ..base() },
        SearchParams { mate_in_one: true, ..base() },
        SearchParams { two_fold_draws: true, mate_in_one: true, ..base() },
        root(RootParams { c_puct: Some(3.0), ..RootParams::default() }),
        root(RootParams { first_play: Some(first_play(FirstPlay::Absolute, 1.0)), ..RootParams::default() }),
        root(RootParams { policy_temperature: Some(0.7), ..RootParams::default() }),
        root(RootParams { forced_playouts: 2.0, ..RootParams::default() }),
        SearchParams { tree_rule: TreeRule::Improved, ..base() },
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
fn the_search_visits_what_the_reference_visits() {
    for params in shapes() {
        compare_with_the_reference(&params, Noise::None);
        compare_with_the_reference(&params, Noise::Dirichlet);
    }
}

#[test]
fn the_gumbel_root_visits_what_the_reference_visits() {
    for mut params in shapes() {
        params.root = RootParams { rule: RootRule::Gumbel, forced_playouts: 0.0, ..params.root };
        params.stop_when_settled = false;
        for (considered, rescale, budget) in [(16, false, 17), (4, true, 100), (64, false, 200)] {
            params.root.considered = considered;
            params.improved_policy.rescale = rescale;
            params.simulations = budget;
            compare_with_the_reference(&params, Noise::Gumbel);
        }
    }
}

/// The moves of the policy target.
fn held(search: &Search) -> Vec<String> {
    let target = search.policy_target().into_iter().filter(|of| of.share > 0.0);
    target.map(|of| of.played.to_string()).collect()
}

fn solved(fen: &str, params: &SearchParams) -> Search {
    searched(&from_fen(fen), params, &mut Hashed::new(encoding(), 2))
}

#[test]
fn the_solver_proves_a_mate_in_two_and_plays_it() {
    let fen = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1";
    let search = solved(fen, &simulations(20_000));
    assert_eq!(search.proof(), Some(Proof::Win));
    assert!(search.visits() < 20_000, "a proven search stops");
    assert_eq!(search.choose(&ChoiceParams::default(), 5.0, &mut stream(0)).to_string(), "a1a6");
    assert_eq!(held(&search), ["a1a6"]);
    let without = solved(fen, &SearchParams { solver: false, ..simulations(2_000) });
    assert_eq!((without.proof(), without.visits()), (None, 2_000));
}

#[test]
fn a_move_into_mate_is_not_played_while_another_is_left() {
    // After g8h8 the rook mates on e8; every other move holds.
    let fen = "6k1/5ppp/8/8/8/8/8/K3R3 b - - 0 1";
    let params = SearchParams { mate_in_one: true, ..simulations(400) };
    let search = searched(&from_fen(fen), &params, &mut Uniform::new(encoding()));
    let moves: Vec<Visited> = search.root_moves().collect();
    let losing = moves.iter().find(|seen| seen.played.to_string() == "g8h8").expect("is legal");
    assert_eq!((losing.proof, losing.visits <= 1), (Some(Proof::Loss), true));
    assert!(!held(&search).contains(&"g8h8".to_owned()));
    assert_eq!(search.proof(), None);
}

#[test]
fn a_lost_position_is_proven_lost_and_still_has_a_move() {
    // Any move of the king lets the rooks mate.
    let search =
        solved("7k/1R6/R7/8/8/8/8/K7 b - - 0 1", &SearchParams { mate_in_one: true, ..simulations(50) });
    assert_eq!((search.proof(), search.root_value()), (Some(Proof::Loss), (-1.0, 0.0)));
    assert_eq!(held(&search), ["h8g8"]);
    assert_eq!(search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)).to_string(), "h8g8");
}

#[test]
fn a_mate_on_the_board_needs_one_evaluation() {
    let search = solved(
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        &SearchParams { mate_in_one: true, ..simulations(400) },
    );
    assert_eq!((search.proof(), search.visits()), (Some(Proof::Win), 1));
    assert!(search.net_value().0 < 1.0, "the net's own value is kept apart");
    assert_eq!(held(&search), ["d1d8"]);
    assert_eq!(search.choose(&ChoiceParams::default(), 1.0, &mut stream(0)).to_string(), "d1d8");
}

#[test]
fn trees_in_one_batch_do_not_touch_each_other() {
    let games = sample_games();
    let mut evaluator = Hashed::new(encoding(), 5);
    let alone: Vec<_> =
        games.iter().map(|game| visits(&searched(game, &simulations(100), &mut evaluator))).collect();
    let mut together: Vec<Search> =
        games.iter().map(|game| Search::new(game.clone(), RULES, simulations(100))).collect();
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    while together.iter().any(|search| !search.is_done()) {
        batch.clear();
        let mut rows = vec![0];
        for search in &mut together {
            search.gather(&encoding(), &mut batch);
            rows.push(batch.len());
        }
        evaluator.evaluate(&batch, &mut answers).unwrap();
        for (search, first_row) in together.iter_mut().zip(rows) {
            search.apply(&batch, &answers, first_row);
        }
    }
    assert_eq!(alone, together.iter().map(visits).collect::<Vec<_>>());
}

#[test]
fn several_leaves_in_flight_keep_the_invariants_and_find_the_mate() {
    let mate_in_one = from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    for leaves in [2, 7, 64] {
        let params = SearchParams { leaves, solver: false, ..simulations(400) };
        let search = searched(&mate_in_one, &params, &mut Uniform::new(encoding()));
        assert_eq!(search.visits(), 400);
        let best = search.root_moves().max_by_key(|seen| seen.visits).expect("has moves");
        assert_eq!(best.played.to_string(), "d1d8", "with {leaves} leaves");
        assert!(best.value.expect("visited") > 0.99);
    }
}

#[test]
fn an_untrained_net_visits_every_root_move() {
    // Trap: a first-play value on another scale than Q makes unvisited moves look lost (or won) for ever.
    for kind in [FirstPlay::Reduction, FirstPlay::Absolute] {
        let value = if kind == FirstPlay::Reduction { 0.33 } else { 0.0 };
        let params = SearchParams { first_play: FirstPlayParams { kind, value }, ..simulations(64) };
        let search = searched(&Game::initial(), &params, &mut Uniform::new(encoding()));
        assert!(search.root_moves().all(|seen| seen.visits > 0), "{kind:?}");
    }
}

#[test]
fn a_lost_position_one_ply_down_is_good_for_the_mover() {
    // Trap: a value backed up with the wrong sign. Only the position after e2e4 is given a value: lost for Black.
    let mut after = Game::initial();
    after.play_unchecked(Move::from_uci("e2e4").unwrap());
    let mut evaluator = Scripted::new(encoding(), HashMap::from([(after.key(), Wdl::LOSS)]));
    let search = searched(&Game::initial(), &simulations(100), &mut evaluator);
    let best = search.root_moves().max_by_key(|seen| seen.visits).unwrap();
    assert_eq!(best.played.to_string(), "e2e4");
    assert!(search.root_value().0 > 0.0);
}

#[test]
fn ends_of_the_game_are_exact_in_the_tree() {
    // One ply before the fifty-move rule every quiet move draws: draws are worth 0 and certain.
    let search = searched(
        &from_fen("k7/8/6K1/8/8/8/8/7R w - - 99 80"),
        &simulations(60),
        &mut Hashed::new(encoding(), 1),
    );
    for seen in search.root_moves().filter(|seen| seen.visits > 0) {
        assert_eq!(seen.value, Some(0.0), "{}", seen.played);
    }
    let (value, draw) = search.root_value();
    assert!(value.abs() <= 1.0 / 60.0 && draw > 0.9);
}

#[test]
fn a_repetition_in_the_tree_is_a_draw() {
    // Both sides shuffled twice; g8 for the third time on the board ends the game.
    let mut game = Game::initial();
    for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        game.play_unchecked(Move::from_uci(text).unwrap());
    }
    let mut evaluator = Scripted::new(encoding(), HashMap::new());
    let search = searched(&game, &simulations(200), &mut evaluator);
    let back = search.root_moves().find(|seen| seen.played.to_string() == "f6g8").unwrap();
    assert_eq!(back.value, Some(0.0));
    let (_, draw) = search.root_value();
    assert!((draw - 1.0).abs() < 1e-9);
}

#[test]
fn noise_changes_the_priors_by_its_fraction_and_keeps_their_sum() {
    let mut evaluator = Uniform::new(encoding());
    let mut search = Search::new(Game::initial(), RULES, simulations(1));
    run(&mut search, &mut evaluator);
    search.add_noise(&RootNoise { alpha: 0.3, fraction: 0.25, ..RootNoise::default() }, &mut stream(0));
    let priors: Vec<f32> = search.root_moves().map(|seen| seen.prior).collect();
    assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    assert!(priors.iter().all(|prior| *prior >= 0.75 / 20.0 - 1e-6));
    assert!(priors[0] > 0.06, "some move got a good part of the noise");
    search.check_invariants();
}

#[test]
fn a_single_legal_move_takes_noise_without_harm() {
    let forced = from_fen("7k/8/8/8/8/8/r7/1r5K w - - 0 1");
    assert_eq!(forced.position().legal_moves().len(), 0);
    let forced = from_fen("k7/8/8/8/8/7p/r6P/7K w - - 0 1");
    assert_eq!(forced.position().legal_moves().len(), 1);
    let mut search = Search::new(forced, RULES, simulations(1));
    run(&mut search, &mut Uniform::new(encoding()));
    search.add_noise(&RootNoise::default(), &mut stream(0));
    let only: Vec<Visited> = search.root_moves().collect();
    assert_eq!(only[0].prior, 1.0);
}

fn gumbel(considered: u32, budget: u32) -> SearchParams {
    let root = RootParams { rule: RootRule::Gumbel, considered, ..RootParams::default() };
    SearchParams { root, ..simulations(budget) }
}

/// A gumbel search whose noise is drawn after the root's evaluation.
fn gumbel_searched(game: &Game, params: &SearchParams, scale: f64, number: u64) -> Search {
    let mut evaluator = Hashed::new(encoding(), 1);
    let mut search = Search::new(game.clone(), RULES, params.clone());
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    while !search.is_done() {
        batch.clear();
        search.gather(&encoding(), &mut batch);
        evaluator.evaluate(&batch, &mut answers).unwrap();
        search.apply(&batch, &answers, 0);
        if search.visits() == 1 {
            search.add_gumbel_noise(scale, &mut stream(number));
        }
    }
    search.check_invariants();
    search
}

#[test]
fn sequential_halving_gives_the_survivors_most_visits() {
    // 64 descents: 16 moves once, 8 moves 2 more, 4 moves 4 more, 2 moves 8 more: 1, 3, 7 or 15 visits.
    let search = gumbel_searched(&Game::initial(), &gumbel(16, 65), 0.0, 0);
    let mut counts: Vec<u32> = search.root_moves().map(|seen| seen.visits).collect();
    counts.sort_unstable();
    assert_eq!(counts, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 7, 7, 15, 15]);
}

#[test]
fn gumbel_noise_decides_which_moves_are_considered() {
    let params = gumbel(4, 5);
    let considered = |scale, number| -> Vec<Move> {
        let search = gumbel_searched(&Game::initial(), &params, scale, number);
        search.root_moves().filter(|seen| seen.visits > 0).map(|seen| seen.played).collect()
    };
    assert_eq!(considered(0.0, 1), considered(0.0, 2));
    assert_ne!(considered(1.0, 1), considered(1.0, 2));
    assert_eq!(considered(1.0, 1), considered(1.0, 1));
}

#[test]
fn a_gumbel_root_teaches_the_better_value_beyond_its_prior() {
    // Only the position after a2a3 has a value, and all priors are equal.
    let mut after = Game::initial();
    after.play_unchecked(Move::from_uci("a2a3").unwrap());
    let mut evaluator = Scripted::new(encoding(), HashMap::from([(after.key(), Wdl::LOSS)]));
    let search = searched(&Game::initial(), &gumbel(32, 33), &mut evaluator);
    assert_eq!(search.choose(&ChoiceParams::default(), 0.0, &mut stream(0)).to_string(), "a2a3");
    let target = search.policy_target();
    assert!((target.iter().map(|of| of.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let best = target.iter().max_by(|a, b| a.share.total_cmp(&b.share)).unwrap();
    assert_eq!((best.played.to_string().as_str(), best.share > 0.99), ("a2a3", true));
}

#[test]
fn a_gumbel_root_without_values_teaches_the_policy_itself() {
    let search = searched(&Game::initial(), &gumbel(8, 9), &mut Scripted::new(encoding(), HashMap::new()));
    for (of, seen) in search.policy_target().iter().zip(search.root_moves()) {
        assert!((of.share - f64::from(seen.prior)).abs() < 1e-6);
    }
}

fn visited(uci: &str, visits: u32) -> Visited {
    Visited {
        played: Move::from_uci(uci).unwrap(),
        visits,
        prior: 0.1,
        value: Some(0.0),
        standard_error: 0.0,
        proof: None,
    }
}

#[test]
fn temperature_zero_takes_the_most_visited_and_draws_no_number() {
    let moves = [visited("e2e4", 3), visited("d2d4", 9), visited("c2c4", 9)];
    let (mut used, mut unused) = (stream(1), stream(1));
    assert_eq!(choose_move(&moves, &ChoiceParams::default(), 0.0, &mut used).to_string(), "d2d4");
    assert_eq!(used.random::<u64>(), unused.random::<u64>(), "the stream was not touched");
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
fn the_best_move_may_be_chosen_by_value_or_by_its_lower_bound() {
    let seen = |uci, visits, value, standard_error| Visited {
        value: Some(value),
        standard_error,
        ..visited(uci, visits)
    };
    let moves = [
        seen("e2e4", 100, 0.1, 0.01),
        seen("d2d4", 80, 0.2, 0.2),
        seen("c2c4", 60, 0.15, 0.01),
        seen("a2a3", 5, 0.9, 0.3),
    ];
    let chosen = |by| {
        let params = ChoiceParams { by, ..ChoiceParams::default() };
        choose_move(&moves, &params, 0.0, &mut stream(0)).to_string()
    };
    // a2a3 has too few visits to be trusted; d2d4's value is uncertain.
    assert_eq!([ChooseBy::Visits, ChooseBy::Value, ChooseBy::Bound].map(chosen), ["e2e4", "d2d4", "c2c4"]);
}

#[test]
fn an_offset_and_a_cutoff_keep_bad_moves_from_being_drawn() {
    let moves = [
        Visited { value: Some(0.5), ..visited("e2e4", 10) },
        Visited { value: Some(0.4), ..visited("d2d4", 3) },
        Visited { value: Some(-0.5), ..visited("a2a3", 10) },
    ];
    let drawn = |params: ChoiceParams| {
        let mut stream = stream(3);
        let mut seen: Vec<String> =
            (0..500).map(|_| choose_move(&moves, &params, 1.0, &mut stream).to_string()).collect();
        seen.sort();
        seen.dedup();
        seen
    };
    assert_eq!(drawn(ChoiceParams::default()), ["a2a3", "d2d4", "e2e4"]);
    assert_eq!(drawn(ChoiceParams { visit_offset: -3.0, ..ChoiceParams::default() }), ["a2a3", "e2e4"]);
    assert_eq!(drawn(ChoiceParams { value_cutoff: 0.2, ..ChoiceParams::default() }), ["d2d4", "e2e4"]);
}

#[test]
fn a_kept_tree_goes_on_where_it_was() {
    let params =
        SearchParams { reuse_tree: true, draw_score: 0.4, policy_temperature: 1.2, ..simulations(300) };
    for (salt, game) in sample_games().iter().enumerate() {
        let mut evaluator = Hashed::new(encoding(), salt as u64);
        let mut search = searched(game, &params, &mut evaluator);
        if search.proof().is_some() {
            continue;
        }
        let best = search.root_moves().max_by_key(|seen| seen.visits).expect("has moves");
        search.play(best.played);
        if search.visits() == 0 {
            assert!(search.outcome().is_some() || best.visits <= 1 || best.proof.is_some());
            continue;
        }
        search.check_invariants();
        assert_eq!(search.visits(), best.visits);
        let ((mean, draw), value) = (search.root_value(), best.value.expect("visited"));
        // The mover's value with a draw at 0.4 is minus the opponent's with a draw at -0.4.
        assert!(
            search.proof().is_some() || (mean - 0.4 * draw + value).abs() < 1e-9,
            "{mean} {draw} {value}"
        );
        run(&mut search, &mut evaluator);
        assert!(search.proof().is_some() || search.visits() == best.visits + 299);
    }
}

#[test]
fn a_settled_search_plays_what_the_whole_one_plays() {
    let settled = SearchParams { stop_when_settled: true, solver: false, ..simulations(400) };
    let mut saved = 0;
    for (salt, game) in sample_games().iter().enumerate() {
        let mut evaluator = Hashed::new(encoding(), salt as u64);
        let (short, whole) = (
            searched(game, &settled, &mut evaluator),
            searched(game, &SearchParams { stop_when_settled: false, ..settled.clone() }, &mut evaluator),
        );
        let chosen = |search: &Search| search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
        assert_eq!(chosen(&short), chosen(&whole));
        saved += 400 - short.visits();
    }
    assert!(saved > 0, "some searches end early");
}

#[test]
fn a_repetition_within_the_tree_may_count_as_a_draw_at_once() {
    let game = from_fen("4k3/8/p7/P7/8/8/8/4K3 w - - 0 1");
    let params = SearchParams { two_fold_draws: true, ..simulations(1500) };
    let mut evaluator = Hashed::new(encoding(), 7);
    let fast = searched(&game, &params, &mut evaluator);
    let repeated = fast.tree.nodes.iter().filter(|node| node.state == super::tree::State::Repeated).count();
    assert!(repeated > 0, "kings that shuffle come back");
    let mut slow = Reference::new(&game, RULES, &params, &mut evaluator).expect("fakes do not fail");
    slow.run(&mut evaluator).expect("fakes do not fail");
    assert_eq!(sorted(visits(&fast)), sorted(reference_visits(&slow.root)));
}

#[test]
fn forced_playouts_are_taken_out_of_the_target_again() {
    // So many that every tried move is forced to have more visits than its score would give it.
    let root = RootParams { forced_playouts: 30.0, ..RootParams::default() };
    let params = SearchParams { root, ..simulations(400) };
    let game = Game::initial();
    let forced = searched_with_noise(&game, &params, Noise::Dirichlet, &mut Hashed::new(encoding(), 3));
    let target = forced.policy_target();
    assert!((target.iter().map(|of| of.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let top = target.iter().max_by_key(|of| of.visits).expect("has moves");
    assert!(target.iter().all(|of| of.share <= top.share));
    let raw_share = f64::from(top.visits) / 399.0;
    assert!(top.share > 1.2 * raw_share, "{} against {raw_share}", top.share);
    let without = SearchParams { root: RootParams::default(), ..params };
    let free = searched_with_noise(&game, &without, Noise::Dirichlet, &mut Hashed::new(encoding(), 3));
    let most = free.root_moves().map(|seen| seen.visits).max();
    assert!(most > Some(top.visits), "forcing takes visits from the best move");
}

#[test]
fn nodes_and_edges_stay_within_the_sizes_promised() {
    let search = searched(&Game::initial(), &simulations(200_000), &mut Hashed::new(encoding(), 1));
    let memory = search.memory();
    assert!(memory.nodes > 190_000 && memory.node_bytes <= 32 * memory.nodes);
    assert!(memory.move_bytes <= 12 * memory.moves, "{memory:?}");
}

#[test]
fn one_simulation_plays_the_policy() {
    let search = searched(&Game::initial(), &simulations(1), &mut Hashed::new(encoding(), 0));
    let moves: Vec<Visited> = search.root_moves().collect();
    assert_eq!(choose_move(&moves, &ChoiceParams::default(), 1.0, &mut stream(0)), moves[0].played);
}

#[test]
fn the_signature_of_the_search_is_unchanged() {
    // One number for the behaviour of the whole search on fixed positions; a change must be meant and announced.
    let mut signature = 0u64;
    for (salt, game) in sample_games().iter().enumerate() {
        let search = searched(game, &simulations(500), &mut Hashed::new(encoding(), salt as u64));
        for (played, visits) in visits(&search) {
            let item = u64::from(played.packed()) << 32 | u64::from(visits);
            signature = (signature ^ item).wrapping_mul(0x100_0000_01b3);
        }
    }
    assert_eq!(signature, 5_154_080_596_592_768_200);
}
