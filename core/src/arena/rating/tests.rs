use std::collections::BTreeMap;

use rand::RngExt;

use super::model::{ELO, expected};
use super::{PairResult, Rating, RatingError, Ratings, Standings, Tally, chances, fit};
use crate::rng::{Purpose, Seed, Stream};

/// Two games with colours exchanged; the first player wins with Black before it wins with White.
fn pair(first: usize, second: usize, points: f64) -> PairResult {
    let [mut white, mut black] = [Tally::default(); 2];
    black.count(points.min(1.0));
    white.count((points - 1.0).max(0.0));
    PairResult { first, second, white, black }
}

/// Ratings relative to one player.
fn against(players: usize, anchor: usize, results: &[PairResult]) -> Ratings {
    fit(players, results, &[(anchor, 0.0)].into())
}

fn some(ratings: &Ratings) -> Vec<Rating> {
    ratings.players.iter().map(|rating| rating.expect("connected to the anchor")).collect()
}

/// Both colours alike, so that White has no advantage.
fn without_advantage(results: &[PairResult]) -> Vec<PairResult> {
    let exchanged = |result: &PairResult| PairResult { white: result.black, black: result.white, ..*result };
    results.iter().copied().chain(results.iter().map(exchanged)).collect()
}

#[test]
fn two_players_differ_by_the_elo_of_their_score() {
    // 30 of 40 points; with the virtual draw 30.5 of 41, so exp(r) = 30.5 / 10.5.
    let results: Vec<PairResult> =
        (0..10).map(|index| pair(1, 0, if index % 2 == 0 { 2.0 } else { 1.0 })).collect();
    let found = against(2, 0, &without_advantage(&results));
    assert!(found.white_advantage.expect("games").value.abs() < 1e-6);
    let found = some(&found);
    assert_eq!((found[0].elo, found[0].low, found[0].high), (0.0, 0.0, 0.0));
    let by_hand = 400.0 * (30.5_f64 / 10.5).log10();
    assert!((found[1].elo - by_hand).abs() < 1e-6, "{} {by_hand}", found[1].elo);
    assert!(found[1].low < by_hand && by_hand < found[1].high);
}

#[test]
fn whites_advantage_and_the_draw_rate_are_fitted() {
    // Equal players: White wins 60, draws 20 and loses 20 of 100 games with either colour; 70.25 of 100.5 points each.
    let tally = |wins, draws, losses| Tally { wins, draws, losses };
    let one = |white, black| PairResult { first: 0, second: 1, white, black };
    let mut results = vec![one(tally(1, 0, 0), tally(0, 0, 1)); 60];
    results.extend(vec![one(tally(0, 1, 0), tally(0, 1, 0)); 20]);
    results.extend(vec![one(tally(0, 0, 1), tally(1, 0, 0)); 20]);
    let found = against(2, 0, &results);
    assert_eq!(some(&found)[1].elo, 0.0);
    let white = found.white_advantage.expect("games");
    let by_hand = 400.0 * (70.25_f64 / 30.25).log10();
    assert!((white.value - by_hand).abs() < 1e-6, "{white:?} {by_hand}");
    assert!(white.low > 80.0 && white.high < 220.0, "{white:?}");
    // Davidson's ν is 20 / √(60 · 20), and equal players draw ν / (2 + ν) of their games, if the virtual games are left aside.
    let draws = found.draw_rate.expect("games");
    let ratio = 20.0 / 1200_f64.sqrt();
    assert!((draws.value - ratio / (2.0 + ratio)).abs() < 0.005, "{draws:?}");
    assert!(draws.low > 0.14 && draws.high < 0.34, "{draws:?}");
}

#[test]
fn more_draws_than_the_scores_permit_determine_no_draw_rate() {
    // One game of 24 is decided, and the fitted scores ask for more.
    let tally = |wins, draws, losses| Tally { wins, draws, losses };
    let drawn = |first, second| {
        let pair = PairResult { first, second, white: tally(0, 1, 0), black: tally(0, 1, 0) };
        [pair; 4]
    };
    let mut results = [drawn(1, 0), drawn(2, 0), drawn(3, 1)].concat();
    results.last_mut().expect("pairs").black = tally(1, 0, 0);
    let found = against(4, 0, &results);
    assert!(found.draw_rate.is_none(), "{:?}", found.draw_rate);
    assert!(found.white_advantage.is_some());
}

#[test]
fn a_player_that_always_has_white_is_not_stronger_for_it() {
    // 0 beats 1 with White as often as 1 beats 0; both score as often against 2, with White only.
    let tally = |wins, draws, losses| Tally { wins, draws, losses };
    let mut results = Vec::new();
    for _ in 0..50 {
        results.push(PairResult { first: 0, second: 1, white: tally(7, 0, 3), black: tally(3, 0, 7) });
        results.push(PairResult { first: 0, second: 2, white: tally(7, 0, 3), black: Tally::default() });
    }
    let found = some(&against(3, 0, &results));
    assert!(found[2].elo.abs() < 20.0, "{found:?}");
}

#[test]
fn every_player_scores_as_its_rating_predicts() {
    // At the maximum the points of each player, and White's, are those that the ratings predict, the virtual draws included.
    let results: Vec<PairResult> =
        [(0, 1, 0.5), (1, 2, 1.0), (2, 0, 2.0), (3, 1, 1.5), (0, 3, 0.0), (2, 3, 1.0), (1, 0, 2.0)]
            .map(|(first, second, points)| pair(first, second, points))
            .to_vec();
    let found = against(4, 1, &results);
    let advantage = found.white_advantage.expect("games").value;
    let found = some(&found);
    // Half a game of each player, spread as its 8 or 6 games are.
    let met = [(0, 1, 4.0), (1, 2, 2.0), (0, 2, 2.0), (1, 3, 2.0), (0, 3, 2.0), (2, 3, 2.0)];
    let games = [8.0, 8.0, 6.0, 6.0];
    let mut excess = [0.0; 4];
    let mut of_white = 0.0;
    let mut game = |first: usize, second: usize, weight: f64, points: f64| {
        let predicted = expected((found[first].elo - found[second].elo + advantage) / ELO) * weight;
        excess[first] += points - predicted;
        excess[second] -= points - predicted;
        of_white += points - predicted;
    };
    for result in &results {
        game(result.first, result.second, 1.0, result.white.points());
        game(result.second, result.first, 1.0, result.black.mirrored().points());
    }
    for (first, second, played) in met {
        let half = 0.25 * (played / games[first] + played / games[second]);
        game(first, second, half, 0.5 * half);
        game(second, first, half, 0.5 * half);
    }
    assert!(
        excess.iter().all(|excess| excess.abs() < 1e-6) && of_white.abs() < 1e-6,
        "{excess:?} {of_white}"
    );
}

#[test]
fn equal_players_have_equal_ratings() {
    let cycle: Vec<PairResult> =
        [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(first, second)| pair(first, second, 2.0)).to_vec();
    let found: Vec<f64> = some(&against(4, 0, &cycle)).iter().map(|rating| rating.elo).collect();
    assert_eq!(found, [0.0; 4]);
    assert!(found.iter().all(|elo| elo.is_sign_positive()), "{found:?}");
}

#[test]
fn a_match_won_outright_has_a_finite_rating_and_a_wide_interval() {
    let results: Vec<PairResult> = (0..60).map(|_| pair(1, 0, 2.0)).collect();
    let found = some(&against(2, 0, &results));
    assert!((found[1].elo - 400.0 * 241.0_f64.log10()).abs() < 1e-6);
    assert!(found[1].width() > 600.0, "{found:?}");
}

#[test]
fn players_not_connected_to_the_anchor_have_no_rating() {
    let results = [pair(0, 1, 1.0), pair(2, 3, 2.0)];
    let found = against(4, 0, &results).players;
    assert!(found[1].is_some() && found[2].is_none() && found[3].is_none());
    assert_eq!(against(1, 0, &[]).players, [Some(Rating { elo: 0.0, low: 0.0, high: 0.0 })]);
    assert_eq!(fit(0, &[], &BTreeMap::new()).players, []);
    // Anchors of both groups connect them.
    let found = fit(4, &results, &[(0, 100.0), (3, -50.0)].into()).players;
    let elo: Vec<f64> = found.iter().map(|rating| rating.expect("connected").elo).collect();
    assert!(elo[0] == 100.0 && (elo[1] - 100.0).abs() < 1e-6 && elo[2] > -50.0 && elo[3] == -50.0, "{elo:?}");
}

#[test]
fn anchors_keep_their_ratings_and_tie_the_others_to_them() {
    let mut results = Vec::new();
    for index in 0..40 {
        results.push(pair(0, 1, f64::from(index % 5) / 2.0));
        results.push(pair(1, 2, if index % 4 == 0 { 1.0 } else { 0.5 }));
    }
    let anchors = [(0, 2000.0), (2, 2300.0)].into();
    let found = some(&fit(3, &results, &anchors));
    assert_eq!((found[0], found[2].elo), (Rating { elo: 2000.0, low: 2000.0, high: 2000.0 }, 2300.0));
    // Against one anchor alone it would be 2000, against the other about 2160.
    assert!(found[1].elo > 2010.0 && found[1].elo < 2150.0 && found[1].width() > 10.0, "{found:?}");
    // A common shift of the anchors shifts everything.
    let shifted = some(&fit(3, &results, &[(0, -1000.0), (2, -700.0)].into()));
    assert!((shifted[1].elo + 3000.0 - found[1].elo).abs() < 1e-6, "{shifted:?}");
    assert!((shifted[1].width() - found[1].width()).abs() < 1e-6);
}

#[test]
fn without_anchors_the_mean_is_0() {
    let mut results = Vec::new();
    for index in 0..30 {
        results.push(pair(0, 1, f64::from(index % 5) / 2.0));
        results.push(pair(1, 2, if index % 3 == 0 { 2.0 } else { 1.0 }));
        results.push(pair(4, 5, 1.0));
    }
    let found = fit(6, &results, &BTreeMap::new());
    let rated: Vec<Rating> = found.players.iter().flatten().copied().collect();
    assert!(rated.len() == 3 && found.players[3].is_none() && found.players[4].is_none());
    assert!(rated.iter().map(|rating| rating.elo).sum::<f64>().abs() < 1e-6, "{rated:?}");
    assert!(rated.iter().all(|rating| rating.width() > 20.0), "{rated:?}");
    // Differences are those of a fit with an anchor.
    let anchored = against(6, 0, &results).players;
    let difference = |ratings: &[Option<Rating>]| ratings[2].unwrap().elo - ratings[0].unwrap().elo;
    assert!((difference(&found.players) - difference(&anchored)).abs() < 1e-6);
}

#[test]
fn before_any_game_only_anchors_or_the_first_player_are_rated() {
    let known = |elo| Some(Rating { elo, low: elo, high: elo });
    let found = fit(3, &[], &BTreeMap::new());
    assert_eq!(found.players, [known(0.0), None, None]);
    assert_eq!((found.covariance, found.dispersion), (vec![vec![0.0; 3]; 3], 1.0));
    assert_eq!(fit(3, &[], &[(1, 100.0)].into()).players, [None, known(100.0), None]);
}

#[test]
fn a_covariance_is_that_of_the_ratings() {
    let mut results = Vec::new();
    for index in 0..30 {
        results.push(pair(0, 1, f64::from(index % 5) / 2.0));
    }
    // Their mean is 0, so what one gains the other loses. The third player has no game.
    let found = fit(3, &results, &BTreeMap::new()).covariance;
    let variance = found[0][0];
    assert!(variance > 1.0, "{found:?}");
    for (row, signs) in found.iter().zip([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0; 3]]) {
        for (entry, sign) in row.iter().zip(signs) {
            assert!((entry - sign * variance).abs() < 1e-9 * variance, "{found:?}");
        }
    }
    // An anchor does not vary, and the difference between two players does as much as before.
    let anchored = against(3, 0, &results).covariance;
    for (number, row) in anchored.iter().enumerate() {
        for (other, entry) in row.iter().enumerate() {
            let expected = if (number, other) == (1, 1) { 4.0 * variance } else { 0.0 };
            assert!((entry - expected).abs() < 1e-6 * variance, "{anchored:?}");
        }
    }
}

#[test]
fn distant_anchors_do_not_hinder_the_fit() {
    let results: Vec<PairResult> =
        (0..20).flat_map(|_| [pair(0, 1, 0.0), pair(2, 1, 2.0), pair(0, 2, 1.5)]).collect();
    let found = some(&fit(3, &results, &[(0, -4000.0), (2, 4000.0)].into()));
    assert!(found[1].elo.is_finite() && found[1].high > found[1].low, "{found:?}");
}

#[test]
fn standings_name_groups_and_wrong_names() {
    let names: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    let named = |first: &str, second: &str, points| {
        let pair = pair(0, 1, points);
        let (first, second) = (first.to_owned(), second.to_owned());
        PairResult { first, second, white: pair.white, black: pair.black }
    };
    let results = [named("d", "b", 1.5), named("c", "a", 2.0), named("d", "a", 0.5)];
    let all = Standings::new(&names, &results, &[("a".to_owned(), 1500.0)].into()).expect("known players");
    assert_eq!(all.connected(), Ok(()));
    let a = &all.players[0];
    assert!(a.is_anchor && a.rating.is_some_and(|rating| rating.elo == 1500.0));
    assert_eq!((a.tally, a.tally.score()), (Tally { wins: 1, draws: 1, losses: 2 }, Some(0.375)));
    let apart = Standings::new(&names, &results[..2], &BTreeMap::new()).expect("known players");
    let error = apart.connected().expect_err("two groups").to_string();
    assert!(error.starts_with("the players are 2 groups that no game connects: a, c; b, d. "), "{error}");
    assert!(apart.widest().is_none());
    let unknown = Standings::new(&names, &[named("a", "x", 1.0)], &BTreeMap::new()).expect_err("no x");
    assert_eq!(
        unknown.to_string(),
        "a result names the player x, which is not among the players: a, b, c, d"
    );
    let nan = Standings::new(&names, &[], &[("a".to_owned(), f64::NAN)].into()).expect_err("no rating");
    assert!(nan.to_string().contains("expected Elo"), "{nan}");
    let twice = Standings::new(&["a".to_owned(), "a".to_owned()], &[], &BTreeMap::new());
    assert_eq!(twice.expect_err("one name"), RatingError::Twice { name: "a".to_owned() });
}

fn stream(step: u64) -> Stream {
    Seed { run: 11, step }.stream(0, Purpose::RandomPlayer)
}

/// The first player's results in a pair of games.
fn played(stream: &mut Stream, first: usize, second: usize, elo: f64, white: f64, draws: f64) -> PairResult {
    let mut game = |elo: f64| {
        let (chances, drawn) = (chances(elo, draws), stream.random::<f64>());
        let mut tally = Tally::default();
        tally.count(if drawn < chances.win {
            1.0
        } else if drawn < chances.win + chances.draw {
            0.5
        } else {
            0.0
        });
        tally
    };
    PairResult { first, second, white: game(elo + white), black: game(elo - white) }
}

/// How often the interval of a two-player match contains the true difference, over several differences.
fn coverage(pairs: usize) -> f64 {
    let (mut covered, mut total) = (0, 0);
    let mut stream = stream(pairs as u64);
    for index in 0..3000 {
        let truth = 90.0 * f64::from(index % 4);
        let results: Vec<PairResult> =
            (0..pairs).map(|_| played(&mut stream, 1, 0, truth, 35.0, 0.4)).collect();
        let rating = some(&against(2, 0, &results))[1];
        assert!(rating.width() > 1.0, "{results:?}");
        total += 1;
        covered += i32::from(rating.low <= truth && truth <= rating.high);
    }
    f64::from(covered) / f64::from(total)
}

#[test]
fn intervals_of_short_matches_cover_the_truth() {
    for pairs in [1, 2, 4, 8, 30] {
        let share = coverage(pairs);
        assert!(share >= 0.94, "{pairs} pairs: {share}");
        // With few pairs the virtual games, whose variance is that of decided ones, make intervals a little longer.
        let most = if pairs <= 4 { 0.98 } else { 0.975 };
        assert!(share <= most || pairs < 4, "{pairs} pairs: {share}");
    }
}

#[test]
fn virtual_games_have_the_variance_of_decided_ones() {
    // Ten pairs of games that the stronger player wins or draws, where intervals of ratings are shortest for what they should be.
    let (wins, mut stream): (f64, _) = (0.108, stream(2));
    let truth = 400.0 * ((1.0 + wins) / (1.0 - wins)).log10();
    let mut covered = 0;
    for _ in 0..3000 {
        let mut points = || 1.0 + f64::from(u8::from(stream.random::<f64>() < wins));
        let results: Vec<PairResult> = (0..10)
            .map(|_| {
                let [mut white, mut black] = [Tally::default(); 2];
                white.count(0.5 * points());
                black.count(0.5 * points());
                PairResult { first: 1, second: 0, white, black }
            })
            .collect();
        let rating = some(&against(2, 0, &results))[1];
        covered += i32::from(rating.low <= truth && truth <= rating.high);
    }
    assert!((0.88..0.92).contains(&(f64::from(covered) / 3000.0)), "{covered}");
}

#[test]
fn intervals_of_level_pairs_narrow_as_pairs_are_added() {
    let width = |pairs: usize| {
        let rating = some(&against(2, 0, &vec![pair(1, 0, 1.0); pairs]))[1];
        assert!(rating.elo.abs() < 1e-9);
        rating.width()
    };
    assert!(width(1) > width(2) && width(2) > width(8) && width(8) > width(100) && width(100) > 1.0);
}

#[test]
fn a_player_behind_an_outright_win_stays_uncertain() {
    let mut results = vec![pair(1, 0, 2.0); 10];
    results.extend((0..10).map(|index| pair(2, 1, f64::from(index % 3))));
    let found = some(&against(3, 0, &results));
    assert!(found[1].width() > 500.0 && found[2].width() > found[1].width(), "{found:?}");
}

#[test]
fn intervals_have_nominal_coverage() {
    let truth: Vec<f64> = (0..5).map(|index| 90.0 * f64::from(index)).collect();
    let (mut covered, mut total) = ([0; 3], [0; 3]);
    let mut stream = stream(1);
    for _ in 0..200 {
        let mut results = Vec::new();
        for (first, second) in [(1, 0), (2, 1), (3, 2), (4, 3), (4, 0), (2, 0)] {
            for _ in 0..20 {
                results.push(played(&mut stream, first, second, truth[first] - truth[second], 35.0, 0.4));
            }
        }
        let found = against(5, 0, &results);
        let mut count = |what: usize, low: f64, truth: f64, high: f64| {
            total[what] += 1;
            covered[what] += i32::from(low <= truth && truth <= high);
        };
        for (rating, truth) in some(&found).iter().zip(&truth).skip(1) {
            count(0, rating.low, *truth, rating.high);
        }
        let (white, draws) = (found.white_advantage.expect("games"), found.draw_rate.expect("games"));
        count(1, white.low, 35.0, white.high);
        count(2, draws.low, 0.4, draws.high);
    }
    for (covered, total) in covered.iter().zip(total) {
        let share = f64::from(*covered) / f64::from(total);
        assert!((0.92..=0.985).contains(&share), "{share}");
    }
}

#[test]
fn the_next_pair_connects_players_and_then_teaches_most() {
    // Nobody has met: the first player meets the others one by one; of three groups, the largest is joined first.
    let nobody = fit(3, &[], &BTreeMap::new());
    assert_eq!(
        (nobody.next_pair(10, &|_| true), nobody.next_pairs(10, 5, &|_| true)),
        (Some([0, 1]), vec![[0, 1], [0, 2]])
    );
    let mut results = vec![pair(0, 1, 1.0), pair(0, 2, 0.5), pair(3, 4, 1.0), pair(0, 2, 1.5)];
    assert_eq!(fit(6, &results, &BTreeMap::new()).next_pairs(10, 2, &|_| true).len(), 2);
    assert_eq!(fit(6, &results, &BTreeMap::new()).next_pair(10, &|_| true), Some([0, 3]));
    // Anchors have no game to play with each other.
    let anchors = [(0, 0.0), (1, 20.0)].into();
    assert_eq!(fit(2, &[pair(0, 1, 1.0)], &anchors).next_pair(10, &|_| true), None);
    assert_eq!(fit(3, &[], &anchors).next_pair(10, &|_| true), Some([0, 2]));
    // Player 3 has the fewest games, and 2 is equal to it; 4 is too strong for it.
    results = (0..40).flat_map(|_| [pair(0, 1, 1.0), pair(1, 2, 1.0), pair(2, 0, 1.0)]).collect();
    results
        .extend((0..20).flat_map(|index| [pair(4, 0, if index == 0 { 1.0 } else { 2.0 }), pair(4, 2, 2.0)]));
    results.extend([pair(3, 2, 1.0), pair(3, 2, 1.5), pair(3, 2, 0.5)]);
    let ratings = fit(5, &results, &[(0, 0.0)].into());
    let next = ratings.next_pair(20, &|_| true).expect("a pair");
    assert!(next.contains(&3) && !next.contains(&4), "{next:?}: {ratings:?}");
    assert_eq!(next, ratings.next_pair(20, &|_| true).expect("a pair"));
    // Planned at once, the rounds differ.
    let planned = ratings.next_pairs(20, 3, &|_| true);
    assert!(planned.len() == 3 && planned.iter().any(|pair| *pair != next), "{planned:?}");
}

/// Games until every interval is narrow enough, with pairs chosen or in rounds of all against all.
fn games_until(width: f64, chosen: bool, seed: u64) -> usize {
    let mut stream = stream(100 + seed);
    let truth: Vec<f64> = (0..8).map(|_| 800.0 * stream.random::<f64>()).collect();
    let anchors = [(0, truth[0])].into();
    let mut results = Vec::new();
    loop {
        let ratings = fit(8, &results, &anchors);
        if ratings.widest().is_some_and(|widest| widest <= width) {
            return 2 * results.len();
        }
        let all = || (0..8).flat_map(|first| (first + 1..8).map(move |second| [first, second]));
        let pairs: Vec<[usize; 2]> = if chosen {
            ratings.next_pair(10, &|_| true).into_iter().flat_map(|pair| [pair; 5]).collect()
        } else {
            all().collect()
        };
        for [first, second] in pairs {
            results.push(played(&mut stream, first, second, truth[first] - truth[second], 35.0, 0.4));
        }
    }
}

#[test]
fn chosen_pairs_need_fewer_games_than_all_against_all() {
    let sum = |chosen| (0..6).map(|seed| games_until(150.0, chosen, seed)).sum::<usize>();
    let (chosen, all) = (sum(true), sum(false));
    assert!(5 * chosen < 4 * all, "{chosen} {all}");
}
