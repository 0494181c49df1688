//! Matches with fake evaluators, and scores worked by hand.

mod programs;

use std::ops::ControlFlow;
use std::sync::Mutex;

use rand::RngExt;

use super::{
    ArenaError, ArenaParams, BASELINES, EloInterval, Match, MatchShard, MatchSummary, Mind, Player,
    PlayerParams, Requested, baseline, elo_of, normalized, pair_points, play, summarise, superiority,
};
use crate::board::{GameResult, Reason, Side};
use crate::durable::digest;
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::event::Silent;
use crate::network::fake::{Hashed, Uniform};
use crate::network::{Evaluator, EvaluatorError};
use crate::params::{Schedule, Value, read};
use crate::rng::{Purpose, Seed, Stream};
use crate::search::{RootParams, SearchParams};
use crate::selfplay::{MakeEvaluator, shards_of};
use crate::store::{MatchGameRow, Scores};

/// What players request who search nothing.
const NOTHING: [Requested; 2] = [Requested { evaluations: 0, cache_hits: 0 }; 2];

fn encoding() -> Encoding {
    Encoding::new(EncodingName::Dc0, Orientation::SideToMove)
}

fn hashed() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(Hashed::new(encoding(), 1)))
}

fn uniform() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(Uniform::new(encoding())))
}

fn params(games: u32) -> ArenaParams {
    let search = SearchParams { simulations: 8, ..SearchParams::default() };
    ArenaParams { games, search, max_plies: 120, shard_games: 6, ..ArenaParams::default() }
}

/// All games of a match.
fn played(params: &ArenaParams, players: [Player<'_>; 2], lanes: u32) -> MatchShard {
    try_played(params, players, lanes).expect("fakes do not fail")
}

fn try_played(params: &ArenaParams, players: [Player<'_>; 2], lanes: u32) -> Result<MatchShard, ArenaError> {
    let job = Match { params, seed: Seed { run: 1, step: 2 }, players, book: None, tables: None };
    let kept = Mutex::new(Vec::new());
    let keep = |_, shard: MatchShard| {
        kept.lock().unwrap().push(shard);
        Ok(ControlFlow::Continue(()))
    };
    let shards = shards_of(params.games, job.lineup().shard_games(params));
    play(&job, &shards, lanes, &keep, &Silent)?;
    let shards = kept.into_inner().unwrap();
    let mut requested = [Requested::default(); 2];
    for shard in &shards {
        requested.iter_mut().zip(shard.requested).for_each(|(sum, own)| *sum += own);
    }
    let mut rows: Vec<MatchGameRow> = shards.into_iter().flat_map(|shard| shard.rows).collect();
    rows.sort_by_key(|row| row.game);
    Ok(MatchShard { rows, requested })
}

fn sum(played: &MatchShard) -> MatchSummary {
    summarise(&played.rows, played.requested)
}

fn player(name: &str) -> Player<'static> {
    Player::baseline(baseline(name).expect("a baseline"))
}

/// The nets of a match, with the searches of its parameters.
fn nets<'a>(params: &'a ArenaParams, make: [&'a MakeEvaluator<'a>; 2]) -> [Player<'a>; 2] {
    [0, 1].map(|number| Player {
        name: ["a", "b"][number],
        mind: Mind::Network { make_evaluator: make[number], search: params.search_of(number), tables: None },
    })
}

#[test]
fn names_of_baselines_are_unique() {
    for one in BASELINES {
        let found = baseline(one.name()).expect("its name");
        assert_eq!(found.about(), one.about());
    }
    assert!(baseline("0123456789abcdef").is_none());
}

#[test]
fn pairs_share_an_opening_and_exchange_colours() {
    let params = params(20);
    let nets = nets(&params, [&hashed, &uniform]);
    let MatchShard { rows, requested } = played(&params, nets, 2);
    let evaluations = requested[0].evaluations + requested[1].evaluations;
    let searched: usize = rows.iter().map(|row| row.moves.len() - 6).sum();
    assert!(evaluations as usize > searched && evaluations as usize <= 8 * searched, "{evaluations}");
    assert_eq!(rows.len(), 20);
    for pair in rows.chunks(2) {
        assert_eq!(pair[0].pair, pair[1].pair);
        assert!(pair[0].first_is_white && !pair[1].first_is_white);
        assert_eq!(pair[0].moves[..6], pair[1].moves[..6], "the opening is shared");
    }
    let openings: std::collections::BTreeSet<_> = rows.iter().map(|row| row.moves[..6].to_vec()).collect();
    assert_eq!(openings.len(), 10, "every pair has its own opening");
    assert_eq!(MatchShard { rows, requested }, played(&params, nets, 1), "lanes change nothing");
}

#[test]
fn a_net_scores_exactly_one_half_against_itself() {
    // Both games of a pair are the same moves with the names exchanged, so every pair gives one point.
    let params = params(16);
    let summary = sum(&played(&params, nets(&params, [&hashed, &hashed]), 1));
    assert_eq!(summary.score, 0.5);
    assert_eq!(summary.pentanomial, [0, 0, 8, 0, 0]);
}

#[test]
fn evaluations_are_counted_for_each_player() {
    let params = ArenaParams {
        second: PlayerParams {
            search: Some(SearchParams { simulations: 2, ..SearchParams::default() }),
            ..PlayerParams::default()
        },
        ..params(6)
    };
    let [first, second] = nets(&params, [&hashed, &hashed]);
    let played_with = |cache, players| {
        let params = ArenaParams { cache, ..params.clone() };
        let MatchShard { rows, requested } = played(&params, players, 1);
        (rows, requested)
    };
    let (rows, [of_first, of_second]) = played_with(0, [first, second]);
    let moves = |is_first: bool| {
        let movers =
            rows.iter().flat_map(|row| (6..row.moves.len()).map(|ply| (ply % 2 == 0) == row.first_is_white));
        movers.filter(|mover| *mover == is_first).count() as u64
    };
    for (requested, moves, simulations) in [(of_first, moves(true), 8), (of_second, moves(false), 2)] {
        assert_eq!(requested.cache_hits, 0);
        let evaluations = requested.evaluations;
        assert!(evaluations > moves && evaluations <= simulations * moves, "{evaluations} in {moves} moves");
    }
    assert!(of_first.evaluations > 2 * of_second.evaluations);
    let (cached_rows, cached) = played_with(10_000, [first, second]);
    assert_eq!(
        (cached_rows, cached.map(|own| own.evaluations)),
        (rows, [of_first, of_second].map(|own| own.evaluations))
    );
    // Two simulations rarely reach a position again.
    let [of_eight, of_two] = cached.map(|own| own.cache_hits);
    assert!(of_two < of_eight && of_eight < of_first.evaluations, "{cached:?}");
    // A player without a net requests nothing, on whichever side it is.
    let none = Requested::default();
    let (_, [alone, of_baseline]) = played_with(0, [first, player("random")]);
    assert!(alone.evaluations > 0 && of_baseline == none);
    let (_, [of_baseline, alone]) = played_with(0, [player("random"), second]);
    assert!(alone.evaluations > 0 && of_baseline == none);
}

#[test]
fn each_player_may_have_its_own_search() {
    let search = |simulations| SearchParams { simulations, ..SearchParams::default() };
    let with = |search_of_second| {
        let second = PlayerParams { search: search_of_second, ..PlayerParams::default() };
        let params = ArenaParams { search: search(8), second, ..params(6) };
        played(&params, nets(&params, [&hashed, &hashed]), 1).rows
    };
    assert_eq!(with(None), with(Some(search(8))));
    assert_ne!(with(None), with(Some(search(2))));
    // Exchanging searches exchanges the players of each pair.
    let first = PlayerParams { search: Some(search(2)), ..PlayerParams::default() };
    let exchanged = ArenaParams { search: search(8), first, ..params(6) };
    let nets = nets(&exchanged, [&hashed, &hashed]);
    let score = |rows: &[MatchGameRow]| rows.iter().map(|row| row.score).sum::<f64>();
    assert_eq!(score(&with(Some(search(2)))) + score(&played(&exchanged, nets, 1).rows), 6.0);
}

#[test]
fn matches_may_reuse_trees() {
    let with = |reuse_tree, lanes| {
        let search = SearchParams { simulations: 24, reuse_tree, ..SearchParams::default() };
        let params = ArenaParams { search, ..params(8) };
        played(&params, nets(&params, [&hashed, &uniform]), lanes)
    };
    assert!(with(true, 1) == with(true, 2), "lanes change nothing");
    assert!(with(true, 1) != with(false, 1), "kept visits change the play");
}

#[test]
fn temperature_and_forced_playouts_change_matches() {
    let moves = |params: &ArenaParams| -> Vec<Vec<u16>> {
        played(params, nets(params, [&hashed, &hashed]), 1).rows.into_iter().map(|row| row.moves).collect()
    };
    let root = RootParams { forced_playouts: 20.0, ..RootParams::default() };
    let base = params(4);
    let plain = ArenaParams { search: SearchParams { root, ..base.search.clone() }, ..base };
    let warm = ArenaParams { temperature: Schedule::constant(1.0), ..plain.clone() };
    let forced = ArenaParams { force_playouts: true, ..plain.clone() };
    assert_ne!(moves(&plain), moves(&warm));
    assert_ne!(moves(&plain), moves(&forced));
}

/// The fakes and the search without noise give the same results on every processor; see `selfplay/tests/golden.rs`.
#[test]
fn a_match_is_unchanged() {
    let line = |row: &MatchGameRow| {
        let players = (row.game, row.pair, &row.first, &row.second, row.first_is_white);
        let result = row.result.score_for(Side::White);
        let ended = (row.plies, row.score.to_bits(), result, row.reason.name());
        format!("{players:?} {} {:?} {} {ended:?}\n", row.start_fen, row.moves, row.opening_plies)
    };
    let params = params(8);
    let text: String = played(&params, nets(&params, [&hashed, &uniform]), 1).rows.iter().map(line).collect();
    assert_eq!(&digest(text.as_bytes())[..16], "3c9bd5cc679b1a46");
}

#[test]
fn the_greedy_player_beats_the_random_one() {
    let summary = sum(&played(&params(60), [player("greedy"), player("random")], 2));
    assert!(summary.score > 0.6, "{summary:?}");
    let exchanged = sum(&played(&params(60), [player("random"), player("greedy")], 2));
    assert!(exchanged.score < 0.4, "{exchanged:?}");
}

#[test]
fn alpha_beta_beats_the_greedy_player_and_itself_with_fewer_plies() {
    for (first, second) in [("alphabeta-1", "greedy"), ("alphabeta-3", "alphabeta-1")] {
        let summary = sum(&played(&params(14), [player(first), player(second)], 2));
        assert!(summary.score > 0.6, "{first} against {second}: {summary:?}");
    }
}

fn row(pair: u32, score: f64) -> MatchGameRow {
    MatchGameRow {
        game: 0,
        pair,
        first: String::new(),
        second: String::new(),
        first_is_white: true,
        start_fen: String::new(),
        moves: Vec::new(),
        opening_plies: 0,
        plies: 0,
        scores: Scores::default(),
        depths: Vec::new(),
        seconds: Vec::new(),
        score,
        result: GameResult::Draw,
        reason: Reason::PlyCap.into(),
        detail: String::new(),
    }
}

#[test]
fn scores_and_intervals_worked_by_hand() {
    // Four pairs: 2, 1½, 1, 1½ points: mean score 6/8 = 0.75; pair scores 1, .75, .5, .75 have variance 1/32.
    let rows: Vec<_> = [(0, 1.0), (0, 1.0), (1, 1.0), (1, 0.5), (2, 1.0), (2, 0.0), (3, 0.5), (3, 1.0)]
        .map(|(pair, score)| row(pair, score))
        .into();
    let summary = summarise(&rows, NOTHING);
    assert_eq!((summary.wins, summary.draws, summary.losses), (5, 2, 1));
    assert_eq!(summary.pentanomial, [0, 0, 1, 2, 1]);
    assert_eq!(summary.score, 0.75);
    // With half a pair won and half a pair lost there are 5 pairs with a mean of 0.7 and a sum of squares of 0.425; Student's
    // quantile at 4 degrees of freedom is 2.776_445_105.
    let margin = 2.776_445_105 * (0.425_f64 / 5.0 / 5.0).sqrt();
    assert!((summary.score_low - (0.7 - margin)).abs() < 1e-9, "{summary:?}");
    assert_eq!(summary.score_high, 1.0);
    assert!((elo_of(0.75).unwrap() - 190.85).abs() < 0.01);
    assert_eq!(elo_of(0.5), Some(0.0));
    assert_eq!((elo_of(1.0), elo_of(0.0)), (None, None));
}

#[test]
fn plies_of_a_match_are_those_of_the_mean_game() {
    let rows = [40, 61, 10].map(|plies| MatchGameRow { plies, ..row(0, 0.5) });
    assert_eq!(summarise(&rows, NOTHING).mean_plies, 37.0);
    assert_eq!(summarise(&[], NOTHING).mean_plies, 0.0);
}

#[test]
fn a_clean_sweep_has_only_a_lower_bound() {
    let rows: Vec<_> = (0..40).map(|game| row(game / 2, 1.0)).collect();
    let summary = summarise(&rows, NOTHING);
    let EloInterval { low, elo, high } = summary.elo();
    assert!(low.is_some_and(|low| low > 300.0), "{low:?}");
    assert_eq!((elo, high), (None, None));
}

#[test]
fn one_pair_shows_nothing_and_drawn_pairs_do_not_prove_equality() {
    let interval = |rows: &[MatchGameRow]| {
        let summary = summarise(rows, NOTHING);
        (summary.score_low, summary.score_high)
    };
    assert_eq!(interval(&[row(0, 1.0), row(0, 1.0)]), (0.0, 1.0));
    let drawn: Vec<_> = (0..8).map(|game| row(game / 2, 0.5)).collect();
    let (low, high) = interval(&drawn);
    assert!(low < 0.4 && high > 0.6, "{low} to {high}");
}

/// A random match: a share `drawn` of the games is drawn, and the first player wins a share `won` of the others.
fn random_match(stream: &mut Stream, pairs: u32, (drawn, won): (f64, f64)) -> Vec<MatchGameRow> {
    let mut score = || match (stream.random::<f64>() < drawn, stream.random::<f64>() < won) {
        (true, _) => 0.5,
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    (0..2 * pairs).map(|game| row(game / 2, score())).collect()
}

#[test]
fn intervals_have_their_coverage_however_short_the_match() {
    let mut stream = Seed { run: 7, step: 0 }.stream(0, Purpose::Opening);
    for (drawn, won) in [(0.6, 0.5), (0.6, 0.7), (0.2, 0.8), (0.3, 0.95)] {
        let truth = 0.5 * drawn + (1.0 - drawn) * won;
        for pairs in [1, 4, 10, 20] {
            let covers = |summary: MatchSummary| (summary.score_low..=summary.score_high).contains(&truth);
            let mut summary = || summarise(&random_match(&mut stream, pairs, (drawn, won)), NOTHING);
            let covered = (0..1000).filter(|_| covers(summary())).count();
            assert!(covered >= 940, "{drawn} {won}: {covered} of 1000 matches of {pairs} pairs");
        }
    }
}

#[test]
fn superiority_and_normalised_elo_worked_by_hand() {
    // Ten pairs: mean ½ + 0.05, variance 0.0475 about it (0.25² · 4 + 0.5² · 2 is 0.75; less 10 · 0.05², by 10).
    let pentanomial = [1, 1, 4, 3, 1];
    let EloInterval { low, elo, high } = normalized(&pentanomial);
    let by_hand = 0.05 / (2.0 * (0.075_f64 - 0.0025)).sqrt() * 800.0 / std::f64::consts::LN_10;
    assert!((elo.unwrap() - by_hand).abs() < 1e-9, "{elo:?} {by_hand}");
    assert!(low.unwrap() < -100.0 && high.unwrap() > 200.0, "{low:?} {high:?}");
    assert!((0.6..0.75).contains(&superiority(&pentanomial)), "{}", superiority(&pentanomial));
    // Exchanging the players mirrors both.
    let mirrored = normalized(&[1, 3, 4, 1, 1]);
    assert!(
        (mirrored.low.unwrap() + high.unwrap()).abs() < 1e-9
            && (mirrored.elo.unwrap() + by_hand).abs() < 1e-9
    );
    assert!((superiority(&[1, 3, 4, 1, 1]) + superiority(&pentanomial) - 1.0).abs() < 1e-12);
}

#[test]
fn superiority_and_normalised_elo_never_say_less_than_was_played() {
    let all = |result: usize, pairs: u32| {
        let mut pentanomial = [0; 5];
        pentanomial[result] = pairs;
        (superiority(&pentanomial), normalized(&pentanomial))
    };
    assert_eq!(all(0, 0), (0.5, EloInterval { low: None, elo: None, high: None }));
    assert_eq!(all(2, 1), (0.5, EloInterval { low: None, elo: Some(0.0), high: None }));
    let (los, won) = all(4, 200);
    assert!(los > 0.999_999 && los <= 1.0 && won.elo.is_none() && won.high.is_none(), "{los} {won:?}");
    assert!(won.low.is_some_and(|low| low > 500.0), "{won:?}");
    let (los, lost) = all(0, 200);
    assert!((0.0..1e-6).contains(&los) && lost.high.is_some_and(|high| high < -500.0), "{los} {lost:?}");
    let (los, level) = all(2, 200);
    assert!(los == 0.5 && level.elo == Some(0.0), "{los} {level:?}");
    assert!(level.low.unwrap() < -20.0 && level.high.unwrap() > 20.0, "{level:?}");
    // Every match of up to six pairs.
    for a in 0..7 {
        for b in 0..7 - a {
            for c in 0..7 - a - b {
                for d in 0..7 - a - b - c {
                    let pentanomial = [a, b, c, d, 6 - a - b - c - d];
                    let (los, EloInterval { low, elo, high }) =
                        (superiority(&pentanomial), normalized(&pentanomial));
                    assert!((0.0..=1.0).contains(&los), "{pentanomial:?}: {los}");
                    let finite = [low, elo, high].iter().flatten().all(|elo| elo.is_finite());
                    let ordered = low.zip(elo).is_none_or(|(low, elo)| low <= elo)
                        && elo.zip(high).is_none_or(|(elo, high)| elo <= high);
                    assert!(finite && ordered, "{pentanomial:?}: {low:?} {elo:?} {high:?}");
                }
            }
        }
    }
}

#[test]
fn a_pair_counts_once_both_of_its_games_are_finished() {
    // Games end in any order: pair 1 has one game yet.
    let rows = [row(2, 0.0), row(0, 1.0), row(1, 1.0), row(2, 0.5), row(0, 0.5)];
    assert_eq!(pair_points(&rows), [1.5, 0.5]);
    let of = |evaluations| Requested { evaluations, cache_hits: 0 };
    let summary = summarise(&rows, [of(4), of(3)]);
    assert_eq!(summary.pentanomial, [0, 1, 0, 1, 0]);
    assert_eq!((summary.games, summary.score), (5, 0.6));
    let figure = |name| summary.to_value().figure(name);
    let evaluations = ["evaluations", "first_evaluations", "second_evaluations"].map(figure);
    assert_eq!(evaluations, [7.0, 4.0, 3.0].map(Some));
    let nothing = summarise(&[row(0, 1.0)], NOTHING);
    assert_eq!((nothing.score_low, nothing.score_high, nothing.los), (0.0, 1.0, 0.5));
    assert_eq!(summarise(&[], NOTHING).score, 0.5);
}

#[test]
fn the_interval_of_normalised_elo_follows_from_the_influence_of_each_pair() {
    // A pair that scores x moves (mean − ½) / deviation by z − t (z² − 1) / 2 over the number of pairs, with z = (x − mean) / deviation.
    // Half a virtual pair is lost, and half of one is won.
    let pentanomial = [2, 5, 20, 40, 33];
    let counts = [2.5, 5.0, 20.0, 40.0, 33.5];
    let mean_of = |function: &dyn Fn(f64) -> f64| {
        (0..5).map(|result| counts[result] * function(result as f64 / 4.0)).sum::<f64>() / 101.0
    };
    let mean = mean_of(&|score| score);
    let deviation = mean_of(&|score| (score - mean) * (score - mean)).sqrt();
    let t = (mean - 0.5) / deviation;
    let influence = |score: f64| {
        let z = (score - mean) / deviation;
        z - t * (z * z - 1.0) / 2.0
    };
    let error = (mean_of(&|score| influence(score) * influence(score)) / 101.0).sqrt();
    // Student's quantile at 100 degrees of freedom is 1.984.
    let elo = |deviations: f64| deviations / 2.0_f64.sqrt() * 800.0 / std::f64::consts::LN_10;
    let EloInterval { low, high, .. } = normalized(&pentanomial);
    assert!((low.unwrap() - elo(t - 1.984 * error)).abs() < 0.1, "{low:?}");
    assert!((high.unwrap() - elo(t + 1.984 * error)).abs() < 0.1, "{high:?}");
    // The other player's interval is its mirror image, although the score's whole interval is below ½.
    let other = normalized(&[33, 40, 20, 5, 2]);
    assert!((other.low.unwrap() + high.unwrap()).abs() < 1e-6, "{other:?}");
    assert!((other.high.unwrap() + low.unwrap()).abs() < 1e-6, "{other:?}");
}

#[test]
fn odd_numbers_of_games_are_rejected() {
    let given: Value = serde_json::from_str(r#"{"games": 5}"#).unwrap();
    let error = read::<ArenaParams>("arena", &given).unwrap_err().to_string();
    assert!(error.contains("games: must be even"), "{error}");
}

#[test]
fn old_names_of_parameters_get_the_groups_that_they_are_in() {
    let given: Value =
        serde_json::from_str(r#"{"opponent_search": {"c_puct": 2.0}, "opponent_precision": "f32"}"#).unwrap();
    let error = read::<ArenaParams>("arena", &given).unwrap_err().to_string();
    for (old, new) in [("opponent_search", "second.search"), ("opponent_precision", "second.precision")] {
        let expected = format!("\n  {old}: unknown parameter; it is called `{new}` now");
        assert!(error.contains(&expected), "{expected} in\n{error}");
    }
}
