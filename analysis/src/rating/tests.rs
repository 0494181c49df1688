use super::fit::expected;
use super::{ELO, PairResult, Rating, ratings};

fn pair(first: usize, second: usize, points: f64) -> PairResult {
    PairResult { first, second, games: 2.0, points }
}

fn some(ratings: &[Option<Rating>]) -> Vec<Rating> {
    ratings.iter().map(|rating| rating.expect("connected to the anchor")).collect()
}

#[test]
fn two_players_differ_by_the_elo_of_their_score() {
    // 15 of 20 points; with the virtual draw 15.5 of 21, so exp(r) = 15.5 / 5.5.
    let results: Vec<PairResult> =
        (0..10).map(|index| pair(1, 0, if index % 2 == 0 { 2.0 } else { 1.0 })).collect();
    let found = some(&ratings(2, 0, &results));
    assert_eq!((found[0].elo, found[0].low, found[0].high), (0.0, 0.0, 0.0));
    let by_hand = 400.0 * (15.5_f64 / 5.5).log10();
    assert!((found[1].elo - by_hand).abs() < 1e-6, "{} {by_hand}", found[1].elo);
    assert_eq!(found[1].games, 20.0);
    assert!(found[1].low < by_hand && by_hand < found[1].high);
}

#[test]
fn every_player_scores_as_its_rating_predicts() {
    // At the maximum the points of each player are those the ratings predict, the virtual draws included.
    let results: Vec<PairResult> =
        [(0, 1, 0.5), (1, 2, 1.0), (2, 0, 2.0), (3, 1, 1.5), (0, 3, 0.0), (2, 3, 1.0), (1, 0, 2.0)]
            .map(|(first, second, points)| pair(first, second, points))
            .to_vec();
    let found = some(&ratings(4, 1, &results));
    for player in 0..4 {
        let mut excess = 0.0;
        let met = [(0, 1), (1, 2), (0, 2), (1, 3), (0, 3), (2, 3)].map(|(a, b)| PairResult {
            first: a,
            second: b,
            games: 1.0,
            points: 0.5,
        });
        for result in results.iter().chain(&met) {
            let predicted =
                expected((found[result.first].elo - found[result.second].elo) / ELO) * result.games;
            let sign = f64::from(i32::from(result.first == player) - i32::from(result.second == player));
            excess += sign * (result.points - predicted);
        }
        assert!(excess.abs() < 1e-6, "player {player}: {excess}");
    }
}

#[test]
fn equal_players_have_equal_ratings() {
    let cycle: Vec<PairResult> =
        [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(first, second)| pair(first, second, 2.0)).to_vec();
    let found: Vec<f64> = some(&ratings(4, 0, &cycle)).iter().map(|rating| rating.elo).collect();
    assert_eq!(found, [0.0; 4]);
    assert!(found.iter().all(|elo| elo.is_sign_positive()), "{found:?}");
}

#[test]
fn a_match_won_outright_has_a_finite_rating_and_a_wide_interval() {
    let results: Vec<PairResult> = (0..60).map(|_| pair(1, 0, 2.0)).collect();
    let found = some(&ratings(2, 0, &results));
    assert!((found[1].elo - 400.0 * 241.0_f64.log10()).abs() < 1e-6);
    assert!(found[1].high - found[1].low > 800.0);
}

#[test]
fn players_not_connected_to_the_anchor_have_no_rating() {
    let found = ratings(4, 0, &[pair(0, 1, 1.0), pair(2, 3, 2.0)]);
    assert!(found[1].is_some() && found[2].is_none() && found[3].is_none());
    assert_eq!(ratings(1, 0, &[]).len(), 1);
}

/// A linear congruential generator, for tests only.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// One game's points: a draw with probability min(p, 1 − p), and wins so that the expected score is p.
fn points(rng: &mut Lcg, expected: f64) -> f64 {
    let drawn = expected.min(1.0 - expected);
    let wins = expected - 0.5 * drawn;
    match rng.next() {
        draw if draw < wins => 1.0,
        draw if draw < wins + drawn => 0.5,
        _ => 0.0,
    }
}

/// How often the interval of a two-player match contains the true difference, over several differences.
fn coverage(pairs: usize) -> f64 {
    let (mut covered, mut total) = (0, 0);
    let mut rng = Lcg(pairs as u64);
    for index in 0..3000 {
        let truth = 0.5 * f64::from(index % 4);
        let score = expected(truth);
        let results: Vec<PairResult> =
            (0..pairs).map(|_| pair(1, 0, points(&mut rng, score) + points(&mut rng, score))).collect();
        let rating = some(&ratings(2, 0, &results))[1];
        assert!(rating.high - rating.low > 1.0, "{results:?}");
        total += 1;
        covered += i32::from(rating.low <= ELO * truth && ELO * truth <= rating.high);
    }
    f64::from(covered) / f64::from(total)
}

#[test]
fn intervals_of_short_matches_have_nearly_nominal_coverage() {
    for (pairs, least) in [(2, 0.88), (4, 0.9), (8, 0.92)] {
        let share = coverage(pairs);
        assert!(share >= least, "{pairs} pairs: {share}");
    }
}

#[test]
fn intervals_of_level_pairs_narrow_as_pairs_are_added() {
    let width = |pairs: usize| {
        let rating = some(&ratings(2, 0, &vec![pair(1, 0, 1.0); pairs]))[1];
        assert!(rating.elo.abs() < 1e-9);
        rating.high - rating.low
    };
    // Worked by hand for 8 pairs: H = 17 / 4, J = 2 · (1/4)², so the error is √(1/8) / (17/4) and the width 3.92 of it in Elo.
    assert!((width(8) - 2.0 * 1.959_964 * ELO * 0.125_f64.sqrt() * 4.0 / 17.0).abs() < 1e-3, "{}", width(8));
    assert!(width(1) > width(2) && width(2) > width(8) && width(8) > width(100) && width(100) > 1.0);
}

#[test]
fn a_player_behind_an_outright_win_stays_uncertain() {
    let mut results = vec![pair(1, 0, 2.0); 10];
    results.extend((0..10).map(|index| pair(2, 1, f64::from(index % 3))));
    let found = some(&ratings(3, 0, &results));
    let width = |rating: &Rating| rating.high - rating.low;
    assert!(width(&found[1]) > 500.0 && width(&found[2]) > width(&found[1]), "{found:?}");
}

#[test]
fn intervals_have_nominal_coverage() {
    let truth: Vec<f64> = (0..5).map(|index| 0.5 * f64::from(index)).collect();
    let (mut covered, mut total) = (0, 0);
    let mut rng = Lcg(7);
    for _ in 0..200 {
        let mut results = Vec::new();
        for (first, second) in [(1, 0), (2, 1), (3, 2), (4, 3), (4, 0), (2, 0)] {
            for _ in 0..20 {
                let score = expected(truth[first] - truth[second]);
                let points = points(&mut rng, score) + points(&mut rng, score);
                results.push(pair(first, second, points));
            }
        }
        for (rating, truth) in some(&ratings(5, 0, &results)).iter().zip(&truth).skip(1) {
            total += 1;
            covered += i32::from(rating.low <= ELO * truth && ELO * truth <= rating.high);
        }
    }
    let share = f64::from(covered) / f64::from(total);
    assert!((0.92..=0.98).contains(&share), "{share}");
}
