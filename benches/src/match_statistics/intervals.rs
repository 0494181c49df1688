//! Intervals and likelihoods of superiority of single matches.

use dc0_core::arena::{elo_of, interval, normalized, superiority};
use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

use super::games::Synthetic;
use super::percent;

/// Openings over which true figures are means.
const SAMPLES: u32 = 200_000;

pub(super) fn run(games: &Synthetic, matches: u32) {
    println!(
        "intervals of 95 %: share that contains the true score, mean width; the same for normalised Elo"
    );
    for (line, elo) in (0..).zip([0.0, 50.0, 200.0]) {
        for pairs in [10, 50, 200, 1000] {
            let mut stream = Seed { run: 1, step: line }.stream(pairs.into(), Purpose::RandomPlayer);
            coverage(games, elo, pairs, matches, &mut stream);
        }
    }
    println!(
        "likelihood of superiority: mean said, share of matches in which the player is the stronger one"
    );
    for pairs in [10, 50, 200] {
        superiorities(games, pairs, 10 * matches);
    }
}

/// The expected score and the normalised Elo of players with a difference in Elo.
pub(super) fn truth(games: &Synthetic, elo: f64) -> (f64, f64) {
    let mut stream = Seed { run: 3, step: 0 }.stream(0, Purpose::RandomPlayer);
    let mut chances = [0.0; 5];
    for _ in 0..SAMPLES {
        (0..)
            .zip(games.outcomes(elo, &mut stream))
            .for_each(|(result, chance): (usize, f64)| chances[result] += chance);
    }
    let score = (0..).zip(chances).map(|(half, chance)| f64::from(half) / 4.0 * chance).sum::<f64>();
    // As many pairs as have these shares to a billionth.
    let pentanomial = chances.map(|chance| (chance / f64::from(SAMPLES) * 1e9) as u32);
    (score / f64::from(SAMPLES), normalized(&pentanomial).elo.expect("pairs that differ"))
}

fn coverage(games: &Synthetic, elo: f64, pairs: u32, matches: u32, stream: &mut Stream) {
    let (score, normalized_elo) = truth(games, elo);
    let (mut covered, mut width) = ([0, 0], [0.0, 0.0]);
    let mut unbounded = 0;
    for _ in 0..matches {
        let pentanomial = games.pentanomial(elo, pairs, stream);
        let (low, high) = interval(&pentanomial);
        covered[0] += u32::from((low..=high).contains(&score));
        width[0] += high - low;
        let found = normalized(&pentanomial);
        let (low, high) = (found.low.unwrap_or(f64::NEG_INFINITY), found.high.unwrap_or(f64::INFINITY));
        covered[1] += u32::from((low..=high).contains(&normalized_elo));
        if (high - low).is_finite() { width[1] += high - low } else { unbounded += 1 }
    }
    let share = covered.map(|covered| percent(covered, matches));
    let (of_score, of_elo) =
        (width[0] / f64::from(matches), width[1] / f64::from((matches - unbounded).max(1)));
    println!(
        "{elo:6} Elo {:5} games   {:5.1} %   {of_score:.3}   {:5.1} %   {of_elo:4.0}   {unbounded} unbounded",
        2 * pairs,
        share[0],
        share[1]
    );
    if pairs == 10 {
        let by_score = elo_of(score).expect("a score below 1");
        println!("           (by the score {by_score:.1} Elo, normalised {normalized_elo:.1})");
    }
}

fn superiorities(games: &Synthetic, pairs: u32, matches: u32) {
    const BOUNDS: [f64; 6] = [0.5, 0.7, 0.9, 0.97, 0.99, 1.0];
    let mut stream = Seed { run: 5, step: 0 }.stream(pairs.into(), Purpose::RandomPlayer);
    let mut bins = [(0, 0.0, 0); 5];
    // All differences that such a match may leave open are equally likely.
    let range = 1300.0 / f64::from(pairs).sqrt();
    for _ in 0..matches {
        let elo = range * (2.0 * stream.random::<f64>() - 1.0);
        let likelihood = superiority(&games.pentanomial(elo, pairs, &mut stream));
        // Of the player that is said to be stronger.
        let (said, stronger) =
            if likelihood < 0.5 { (1.0 - likelihood, elo < 0.0) } else { (likelihood, elo > 0.0) };
        let bin = BOUNDS[1..5].iter().filter(|bound| said >= **bound).count();
        bins[bin].0 += 1;
        bins[bin].1 += said;
        bins[bin].2 += u32::from(stronger);
    }
    for (bin, (count, said, stronger)) in bins.iter().enumerate().filter(|(_, (count, ..))| *count > 0) {
        println!(
            "{:5} games   {:.2} to {:.2}: {count:6} matches   {:5.1} %   {:5.1} %",
            2 * pairs,
            BOUNDS[bin],
            BOUNDS[bin + 1],
            100.0 * said / f64::from(*count),
            percent(*stronger, *count)
        );
    }
}
