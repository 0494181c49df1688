//! One joint rating of all players of all matches.
//!
//! The model is that of Bradley and Terry (1952): player i scores `1 / (1 + exp(r_j − r_i))` against j, where a draw is half a
//! point. Ratings maximise the likelihood of all games at once. Averages along a chain of matches would inflate; one fit does
//! not. Each pair of players that met is given one drawn game more, so that a match won outright has a finite rating (the
//! virtual draws of Coulom's `BayesElo`).
//!
//! Intervals are of the difference to the anchor, at 95 %. Games of a pair share an opening, and draws make scores less
//! scattered than the model says, so the covariance is the sandwich of White (1982), H⁻¹ J H⁻¹, with one cluster for each pair
//! of games. Where a player's pairs were all as one-sided as can be, they do not scatter, and the model's own H⁻¹, which is
//! wider, stands instead.

/// Elo for each unit of the logistic scale.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
const QUANTILE_95: f64 = 1.959_963_984_540_054;
/// Games drawn that every two players who met are given besides their own.
const VIRTUAL_DRAWS: f64 = 1.0;
const STEPS: usize = 200;
const CLOSE_ENOUGH: f64 = 1e-10;

/// What one pair of games, or a game alone, gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairResult {
    /// The first player.
    pub(super) first: usize,
    /// The second player.
    pub(super) second: usize,
    /// Games, usually two: an opening with either colour.
    pub(super) games: f64,
    /// The first player's points of them.
    pub(super) points: f64,
}

/// A player's rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rating {
    /// Elo above the anchor.
    pub(super) elo: f64,
    /// The lower end of the 95 % interval.
    pub(super) low: f64,
    /// The upper end.
    pub(super) high: f64,
    /// Games played.
    pub(super) games: f64,
}

/// The ratings of players 0 to `players` over player `anchor`, which has 0. A player that no chain of matches joins with the
/// anchor has none.
pub(super) fn ratings(players: usize, anchor: usize, results: &[PairResult]) -> Vec<Option<Rating>> {
    let joined = joined_with(players, anchor, results);
    // The anchor's rating is no unknown.
    let place = |player: usize| {
        (player != anchor && joined[player]).then(|| joined[..player].iter().filter(|is| **is).count())
    };
    let anchor_at = joined[..anchor].iter().filter(|is| **is).count();
    let unknown = |player: usize| place(player).map(|at| if at > anchor_at { at - 1 } else { at });
    let count = joined.iter().filter(|is| **is).count() - 1;
    let own: Vec<PairResult> = results.iter().filter(|result| joined[result.first]).copied().collect();
    let all = with_virtual_draws(players, &own);
    let fit = Fit { unknowns: count, unknown: &unknown, results: &all };
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

fn with_virtual_draws(players: usize, results: &[PairResult]) -> Vec<PairResult> {
    let mut met = vec![false; players * players];
    let mut all = results.to_vec();
    for result in results {
        let (low, high) = (result.first.min(result.second), result.first.max(result.second));
        if !std::mem::replace(&mut met[low * players + high], true) {
            all.push(PairResult {
                first: low,
                second: high,
                games: VIRTUAL_DRAWS,
                points: 0.5 * VIRTUAL_DRAWS,
            });
        }
    }
    all
}

struct Fit<'a> {
    unknowns: usize,
    unknown: &'a dyn Fn(usize) -> Option<usize>,
    results: &'a [PairResult],
}

type Matrix = Vec<Vec<f64>>;

impl Fit<'_> {
    fn difference(&self, at: &[f64], result: &PairResult) -> f64 {
        let rating = |player: usize| (self.unknown)(player).map_or(0.0, |unknown| at[unknown]);
        rating(result.first) - rating(result.second)
    }

    /// The unknowns that a result depends on, each with the sign of its rating in the difference.
    fn ends(&self, result: &PairResult) -> impl Iterator<Item = (usize, f64)> + Clone {
        let end = |player: usize, sign: f64| (self.unknown)(player).map(|unknown| (unknown, sign));
        [end(result.first, 1.0), end(result.second, -1.0)].into_iter().flatten()
    }

    /// Newton's method, with steps of at most 1 so that it cannot run away from far starts.
    fn maximum(&self) -> Vec<f64> {
        let mut at = vec![0.0; self.unknowns];
        for _ in 0..STEPS {
            let mut slope = vec![0.0; self.unknowns];
            for result in self.results {
                let missing = result.points - result.games * expected(self.difference(&at, result));
                self.ends(result).for_each(|(unknown, sign)| slope[unknown] += sign * missing);
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
        self.summed(|result| {
            let score = expected(self.difference(at, result));
            result.games * score * (1.0 - score)
        })
    }

    /// J: the scatter of the pairs' slopes.
    fn scatter(&self, at: &[f64]) -> Matrix {
        self.summed(|result| (result.points - result.games * expected(self.difference(at, result))).powi(2))
    }

    fn summed(&self, weight: impl Fn(&PairResult) -> f64) -> Matrix {
        let mut sum = vec![vec![0.0; self.unknowns]; self.unknowns];
        for result in self.results {
            let weight = weight(result);
            for (row, a) in self.ends(result) {
                for (column, b) in self.ends(result) {
                    sum[row][column] += a * b * weight;
                }
            }
        }
        sum
    }

    fn covariance(&self, at: &[f64]) -> Matrix {
        let model = inverse(&self.information(at));
        let robust = product(&product(&model, &self.scatter(at)), &model);
        let wins_all = |of: usize| self.results.iter().all(|result| self.is_one_sided(result, of));
        let mut covariance = robust;
        for at in 0..self.unknowns {
            if wins_all(at) {
                covariance[at][at] = covariance[at][at].max(model[at][at]);
            }
        }
        covariance
    }

    /// Whether a result does not concern an unknown, or was as one-sided as can be.
    fn is_one_sided(&self, result: &PairResult, of: usize) -> bool {
        let concerns = self.ends(result).any(|(unknown, _)| unknown == of);
        let is_virtual = result.games == VIRTUAL_DRAWS && result.points == 0.5 * VIRTUAL_DRAWS;
        !concerns || is_virtual || result.points == 0.0 || result.points == result.games
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
