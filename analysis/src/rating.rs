//! One joint rating of all players of all matches.
//!
//! The model is that of Bradley and Terry (1952): player i scores `1 / (1 + exp(r_j − r_i))` against j, where a draw is half a
//! point. Ratings maximise the likelihood of all games at once. Averages along a chain of matches would inflate; one fit does
//! not. Each pair of players that met is given one drawn game more, so that a match won outright has a finite rating (the
//! virtual draws of Coulom's `BayesElo`).
//!
//! Intervals are of the difference to the anchor, at 95 %. Games of a pair share an opening, and draws make scores less
//! scattered than the model says, so the covariance is the sandwich of White (1982), H⁻¹ J H⁻¹, with one cluster for each pair
//! of games. The scatter of the G pairs of two players is taken G / (G − 1) times, as the rating was fitted to them, and where
//! it says nothing (one pair alone, or a match won outright) it is the model's own variance at the least. The virtual draw is
//! half a game won and half a game lost, which is the same likelihood, but has a scatter: a match whose pairs are all level is
//! no proof of equality.

use std::collections::BTreeMap;

/// Elo for each unit of the logistic scale.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
const QUANTILE_95: f64 = 1.959_963_984_540_054;
/// Games drawn that every two players who met are given besides their own.
const VIRTUAL_DRAWS: f64 = 1.0;
const STEPS: usize = 200;
const CLOSE_ENOUGH: f64 = 1e-10;

/// What one pair of games, or a game alone, gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairResult {
    /// The first player.
    pub(crate) first: usize,
    /// The second player.
    pub(crate) second: usize,
    /// Games, usually two: an opening with either colour.
    pub(crate) games: f64,
    /// The first player's points of them.
    pub(crate) points: f64,
}

/// A player's rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rating {
    /// Elo above the anchor.
    pub(crate) elo: f64,
    /// The lower end of the 95 % interval.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
    /// Games played.
    pub(crate) games: f64,
}

/// The ratings of players 0 to `players` over player `anchor`, which has 0. A player that no chain of matches joins with the
/// anchor has none.
pub(crate) fn ratings(players: usize, anchor: usize, results: &[PairResult]) -> Vec<Option<Rating>> {
    let joined = joined_with(players, anchor, results);
    // The anchor's rating is no unknown.
    let place = |player: usize| {
        (player != anchor && joined[player]).then(|| joined[..player].iter().filter(|is| **is).count())
    };
    let anchor_at = joined[..anchor].iter().filter(|is| **is).count();
    let unknown = |player: usize| place(player).map(|at| if at > anchor_at { at - 1 } else { at });
    let count = joined.iter().filter(|is| **is).count() - 1;
    let own: Vec<PairResult> = results.iter().filter(|result| joined[result.first]).copied().collect();
    let fit = Fit { unknowns: count, unknown: &unknown, links: links(&own) };
    let found = fit.maximum();
    let covariance = fit.covariance(&found);
    (0..players)
        .map(|player| {
            let games = own.iter().filter(|r| r.first == player || r.second == player).map(|r| r.games).sum();
            match (unknown(player), joined[player]) {
                (Some(at), _) => {
                    let (elo, margin) =
                        (ELO * found[at], ELO * QUANTILE_95 * covariance[at][at].max(0.0).sqrt());
                    Some(Rating { elo, low: elo - margin, high: elo + margin, games })
                }
                (None, true) => Some(Rating { elo: 0.0, low: 0.0, high: 0.0, games }),
                (None, false) => None,
            }
        })
        .collect()
}

/// The score that a difference of ratings predicts.
fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

fn joined_with(players: usize, anchor: usize, results: &[PairResult]) -> Vec<bool> {
    let mut joined = vec![false; players];
    joined[anchor] = true;
    loop {
        let mut grew = false;
        for result in results {
            if joined[result.first] != joined[result.second] {
                (joined[result.first], joined[result.second], grew) = (true, true, true);
            }
        }
        if !grew {
            return joined;
        }
    }
}

/// Everything that two players played against each other.
struct Link {
    first: usize,
    second: usize,
    /// The games of each pair, and the first player's points of them.
    pairs: Vec<(f64, f64)>,
}

/// One link for every two players that met.
fn links(results: &[PairResult]) -> Vec<Link> {
    let mut met: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    for result in results {
        let (players, points) = if result.first < result.second {
            ((result.first, result.second), result.points)
        } else {
            ((result.second, result.first), result.games - result.points)
        };
        met.entry(players).or_default().push((result.games, points));
    }
    met.into_iter().map(|((first, second), pairs)| Link { first, second, pairs }).collect()
}

impl Link {
    /// Games, the virtual draw among them.
    fn games(&self) -> f64 {
        VIRTUAL_DRAWS + self.pairs.iter().map(|(games, _)| games).sum::<f64>()
    }

    /// The first player's points, those of the virtual draw among them.
    fn points(&self) -> f64 {
        0.5 * VIRTUAL_DRAWS + self.pairs.iter().map(|(_, points)| points).sum::<f64>()
    }

    /// How far the points of pairs scatter about the score that is expected of the first player: this link's part of J.
    fn scatter(&self, score: f64) -> f64 {
        let count = self.pairs.len() as f64;
        let squares: f64 = self.pairs.iter().map(|(games, points)| (points - games * score).powi(2)).sum();
        let model = self.pairs.iter().map(|(games, _)| games).sum::<f64>() * score * (1.0 - score);
        let own =
            if self.says_nothing_of_scatter() { squares.max(model) } else { squares * count / (count - 1.0) };
        let half = 0.5 * VIRTUAL_DRAWS;
        own + half.powi(2) * ((1.0 - score).powi(2) + score.powi(2))
    }

    /// One pair has no scatter, and pairs that are all as one-sided as can be show none.
    fn says_nothing_of_scatter(&self) -> bool {
        self.pairs.len() < 2
            || self.pairs.iter().all(|(_, points)| *points == 0.0)
            || self.pairs.iter().all(|(games, points)| points == games)
    }
}

struct Fit<'a> {
    unknowns: usize,
    unknown: &'a dyn Fn(usize) -> Option<usize>,
    links: Vec<Link>,
}

type Matrix = Vec<Vec<f64>>;

impl Fit<'_> {
    /// The score that is expected of a link's first player.
    fn score(&self, at: &[f64], link: &Link) -> f64 {
        let rating = |player: usize| (self.unknown)(player).map_or(0.0, |unknown| at[unknown]);
        expected(rating(link.first) - rating(link.second))
    }

    /// The unknowns that a link depends on, each with the sign of its rating in the difference.
    fn ends(&self, link: &Link) -> impl Iterator<Item = (usize, f64)> + Clone {
        let end = |player: usize, sign: f64| (self.unknown)(player).map(|unknown| (unknown, sign));
        [end(link.first, 1.0), end(link.second, -1.0)].into_iter().flatten()
    }

    /// Newton's method, with steps of at most 1 so that it cannot run away from far starts.
    fn maximum(&self) -> Vec<f64> {
        let mut at = vec![0.0; self.unknowns];
        for _ in 0..STEPS {
            let mut slope = vec![0.0; self.unknowns];
            for link in &self.links {
                let missing = link.points() - link.games() * self.score(&at, link);
                self.ends(link).for_each(|(unknown, sign)| slope[unknown] += sign * missing);
            }
            let inverse = inverse(&self.information(&at));
            let step: Vec<f64> = inverse.iter().map(|row| dot(row, &slope)).collect();
            let longest = step.iter().fold(1.0_f64, |longest, step| longest.max(step.abs()));
            at.iter_mut().zip(&step).for_each(|(at, step)| *at += step / longest);
            if step.iter().all(|step| step.abs() < CLOSE_ENOUGH) {
                break;
            }
        }
        at
    }

    /// H: minus the second derivatives of the log-likelihood.
    fn information(&self, at: &[f64]) -> Matrix {
        self.summed(|link| {
            let score = self.score(at, link);
            link.games() * score * (1.0 - score)
        })
    }

    /// J: the scatter of the pairs' slopes.
    fn scatter(&self, at: &[f64]) -> Matrix {
        self.summed(|link| link.scatter(self.score(at, link)))
    }

    fn summed(&self, weight: impl Fn(&Link) -> f64) -> Matrix {
        let mut sum = vec![vec![0.0; self.unknowns]; self.unknowns];
        for link in &self.links {
            let weight = weight(link);
            for (row, a) in self.ends(link) {
                for (column, b) in self.ends(link) {
                    sum[row][column] += a * b * weight;
                }
            }
        }
        sum
    }

    fn covariance(&self, at: &[f64]) -> Matrix {
        let model = inverse(&self.information(at));
        product(&product(&model, &self.scatter(at)), &model)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let column = |at: usize| b.iter().map(|row| row[at]).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..b.len()).map(column).collect();
    a.iter().map(|row| columns.iter().map(|column| dot(row, column)).collect()).collect()
}

/// The inverse of a symmetric positive matrix, by Gauss and Jordan. Players joined with the anchor have such a one.
fn inverse(matrix: &Matrix) -> Matrix {
    let size = matrix.len();
    let mut left = matrix.clone();
    let mut right: Matrix =
        (0..size).map(|row| (0..size).map(|at| f64::from(u8::from(at == row))).collect()).collect();
    for pivot in 0..size {
        let best = (pivot..size)
            .max_by(|a, b| left[*a][pivot].abs().total_cmp(&left[*b][pivot].abs()))
            .unwrap_or(pivot);
        left.swap(pivot, best);
        right.swap(pivot, best);
        let scale = 1.0 / left[pivot][pivot].abs().max(f64::MIN_POSITIVE).copysign(left[pivot][pivot]);
        for half in [&mut left, &mut right] {
            half[pivot].iter_mut().for_each(|cell| *cell *= scale);
        }
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = left[row][pivot];
            for half in [&mut left, &mut right] {
                let of_pivot = half[pivot].clone();
                half[row].iter_mut().zip(of_pivot).for_each(|(cell, of_pivot)| *cell -= factor * of_pivot);
            }
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::{ELO, PairResult, Rating, expected, ratings};

    fn pair(first: usize, second: usize, points: f64) -> PairResult {
        PairResult { first, second, games: 2.0, points }
    }

    fn some(ratings: &[Option<Rating>]) -> Vec<Rating> {
        ratings.iter().map(|rating| rating.expect("joined with the anchor")).collect()
    }

    #[test]
    fn two_players_have_the_difference_that_their_score_says() {
        // 15 of 20 points; with the virtual draw 15.5 of 21, so exp(r) = 15.5 / 5.5.
        let results: Vec<PairResult> =
            (0..10).map(|at| pair(1, 0, if at % 2 == 0 { 2.0 } else { 1.0 })).collect();
        let found = some(&ratings(2, 0, &results));
        assert_eq!((found[0].elo, found[0].low, found[0].high), (0.0, 0.0, 0.0));
        let by_hand = 400.0 * (15.5_f64 / 5.5).log10();
        assert!((found[1].elo - by_hand).abs() < 1e-6, "{} {by_hand}", found[1].elo);
        assert_eq!(found[1].games, 20.0);
        assert!(found[1].low < by_hand && by_hand < found[1].high);
    }

    #[test]
    fn every_player_scores_what_is_expected_of_it() {
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
                let own = expected((found[result.first].elo - found[result.second].elo) / ELO) * result.games;
                let sign = f64::from(i32::from(result.first == player) - i32::from(result.second == player));
                excess += sign * (result.points - own);
            }
            assert!(excess.abs() < 1e-6, "player {player}: {excess}");
        }
    }

    #[test]
    fn a_match_won_outright_has_a_finite_rating_and_a_wide_interval() {
        let results: Vec<PairResult> = (0..60).map(|_| pair(1, 0, 2.0)).collect();
        let found = some(&ratings(2, 0, &results));
        assert!((found[1].elo - 400.0 * 241.0_f64.log10()).abs() < 1e-6);
        assert!(found[1].high - found[1].low > 800.0);
    }

    #[test]
    fn who_never_met_the_anchors_opponents_has_no_rating() {
        let found = ratings(4, 0, &[pair(0, 1, 1.0), pair(2, 3, 2.0)]);
        assert!(found[1].is_some() && found[2].is_none() && found[3].is_none());
        assert_eq!(ratings(1, 0, &[]).len(), 1);
    }

    /// Draws with a linear congruential generator, for tests alone.
    struct Chance(u64);

    impl Chance {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Half of the games that could be drawn are: wins are p(1 − d), losses (1 − p)(1 − d).
    fn points(chance: &mut Chance, expected: f64) -> f64 {
        let drawn = expected.min(1.0 - expected);
        let wins = expected - 0.5 * drawn;
        match chance.next() {
            draw if draw < wins => 1.0,
            draw if draw < wins + drawn => 0.5,
            _ => 0.0,
        }
    }

    /// How often the intervals of a match of two hold the truth, over differences and shares of draws.
    fn coverage(pairs: usize) -> f64 {
        let (mut held, mut asked) = (0, 0);
        let mut chance = Chance(pairs as u64);
        for at in 0..3000 {
            let truth = 0.5 * f64::from(at % 4);
            let score = expected(truth);
            let results: Vec<PairResult> = (0..pairs)
                .map(|_| pair(1, 0, points(&mut chance, score) + points(&mut chance, score)))
                .collect();
            let rating = some(&ratings(2, 0, &results))[1];
            assert!(rating.high - rating.low > 1.0, "{results:?}");
            asked += 1;
            held += i32::from(rating.low <= ELO * truth && ELO * truth <= rating.high);
        }
        f64::from(held) / f64::from(asked)
    }

    #[test]
    fn intervals_of_short_matches_hold_the_truth_nearly_as_often_as_they_say() {
        for (pairs, least) in [(2, 0.88), (4, 0.9), (8, 0.92)] {
            let share = coverage(pairs);
            assert!(share >= least, "{pairs} pairs: {share}");
        }
    }

    #[test]
    fn level_pairs_alone_leave_an_interval_that_grows_narrow_with_their_number() {
        let width = |pairs: usize| {
            let rating = some(&ratings(2, 0, &vec![pair(1, 0, 1.0); pairs]))[1];
            assert!(rating.elo.abs() < 1e-9);
            rating.high - rating.low
        };
        // Worked by hand for 8 pairs: H = 17 / 4, J = 2 · (1/4)², so the error is √(1/8) / (17/4) and the width 3.92 of it in Elo.
        assert!(
            (width(8) - 2.0 * 1.959_964 * ELO * 0.125_f64.sqrt() * 4.0 / 17.0).abs() < 1e-3,
            "{}",
            width(8)
        );
        assert!(width(1) > width(2) && width(2) > width(8) && width(8) > width(100) && width(100) > 1.0);
    }

    #[test]
    fn a_link_won_outright_keeps_whoever_stands_behind_it_uncertain() {
        let mut results = vec![pair(1, 0, 2.0); 10];
        results.extend((0..10).map(|at| pair(2, 1, f64::from(at % 3))));
        let found = some(&ratings(3, 0, &results));
        let width = |rating: &Rating| rating.high - rating.low;
        assert!(width(&found[1]) > 500.0 && width(&found[2]) > width(&found[1]), "{found:?}");
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        let truth: Vec<f64> = (0..5).map(|at| 0.5 * f64::from(at)).collect();
        let (mut held, mut asked) = (0, 0);
        let mut chance = Chance(7);
        for _ in 0..200 {
            let mut results = Vec::new();
            for (first, second) in [(1, 0), (2, 1), (3, 2), (4, 3), (4, 0), (2, 0)] {
                for _ in 0..20 {
                    let score = expected(truth[first] - truth[second]);
                    let points = points(&mut chance, score) + points(&mut chance, score);
                    results.push(pair(first, second, points));
                }
            }
            for (rating, truth) in some(&ratings(5, 0, &results)).iter().zip(&truth).skip(1) {
                asked += 1;
                held += i32::from(rating.low <= ELO * truth && ELO * truth <= rating.high);
            }
        }
        let share = f64::from(held) / f64::from(asked);
        assert!((0.92..=0.98).contains(&share), "{share}");
    }
}
