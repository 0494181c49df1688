//! Figures of matches and joint ratings, compared with those that Python computes from the formulas, and with fastchess'.

use std::collections::BTreeMap;

use dc0_core::arena::rating::{PairResult, Rating, Tally, chances, fit};
use dc0_core::arena::{EloModel, SprtParams, elo_of, interval, normalized, superiority};
use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;
use serde_json::{Value, json};

use crate::interop_script;

/// Pentanomials of fastchess' own tests (`app/tests/elo_test.cpp`, "`EloPentanomial` 1" to 3, at commit 74deac23), with what it computes:
/// Elo and normalised Elo, each with half its interval, and the likelihood of superiority.
const FASTCHESS: [([u32; 5], [f64; 5]); 3] = [
    ([34, 54, 63, 64, 75], [55.58, 27.65, 57.94, 28.28, 1.0]),
    ([332, 433, 498, 333, 334], [-8.64, 10.33, -9.17, 10.96, 0.0505]),
    ([7895, 8757, 5685, 568, 9999], [-21.04, 2.95, -19.01, 2.65, 0.0]),
];

#[test]
fn fastchess_computes_the_same() {
    let is_close =
        |found: f64, expected: f64, within: f64| (found - expected).abs() <= within * expected.abs();
    for (pentanomial, [elo, half, normalized_elo, normalized_half, los]) in FASTCHESS {
        let pairs = f64::from(pentanomial.iter().sum::<u32>());
        let points: f64 =
            (0..).zip(pentanomial).map(|(half, count)| f64::from(half) * f64::from(count)).sum();
        assert!(is_close(elo_of(points / 4.0 / pairs).expect("a score"), elo, 0.005), "{pentanomial:?}");
        let found = normalized(&pentanomial);
        assert!(is_close(found.elo.expect("a figure"), normalized_elo, 0.005), "{pentanomial:?}: {found:?}");
        // The virtual pair and Student's distribution make little difference to hundreds of pairs. fastchess takes the deviation for
        // known.
        let (low, high) = interval(&pentanomial);
        let width = elo_of(high).zip(elo_of(low)).map(|(high, low)| high - low).expect("bounds");
        assert!(is_close(width, 2.0 * half, 0.02), "{pentanomial:?}: {width}");
        let width = found.high.zip(found.low).map(|(high, low)| high - low).expect("bounds");
        assert!(is_close(width, 2.0 * normalized_half, 0.05), "{pentanomial:?}: {width}");
        assert!((superiority(&pentanomial) - los).abs() < 0.002, "{pentanomial:?}");
    }
}

fn test(elo0: f64, elo1: f64, is_normalized: bool) -> SprtParams {
    let model = if is_normalized { EloModel::Normalized } else { EloModel::Logistic };
    SprtParams { elo0, elo1, model, ..SprtParams::default() }
}

/// A match's figures, and those of sequential tests of it.
fn figures(pentanomial: [u32; 5]) -> Value {
    let (low, high) = interval(&pentanomial);
    let found = normalized(&pentanomial);
    let of = |elo0: f64, elo1: f64, is_normalized: bool| {
        let llr = test(elo0, elo1, is_normalized).test(&pentanomial).llr;
        json!({ "elo0": elo0, "elo1": elo1, "normalized": is_normalized, "llr": llr })
    };
    let tests = [(0.0, 20.0), (30.0, 80.0)]
        .iter()
        .flat_map(|(elo0, elo1)| [of(*elo0, *elo1, false), of(*elo0, *elo1, true)]);
    json!({
        "pentanomial": pentanomial,
        "score": [low, high],
        "elo": [elo_of(low), elo_of(high)],
        "normalized": [found.low, found.elo, found.high],
        "los": superiority(&pentanomial),
        "tests": tests.collect::<Vec<_>>(),
    })
}

/// Pentanomials of all kinds: fastchess', one-sided, level, short and random ones.
fn pentanomials(stream: &mut Stream) -> Vec<[u32; 5]> {
    let mut all: Vec<[u32; 5]> = FASTCHESS.iter().map(|(pentanomial, _)| *pentanomial).collect();
    for pairs in [1, 2, 20, 300] {
        all.extend((0..5).map(|result| {
            let mut one = [0; 5];
            one[result] = pairs;
            one
        }));
    }
    for largest in [2, 9, 60, 800] {
        all.extend((0..10).map(|_| std::array::from_fn(|_| stream.random_range(0..=largest))));
    }
    all.retain(|pentanomial| pentanomial.iter().sum::<u32>() > 0);
    all
}

/// A tournament's results with its ratings.
fn tournament(stream: &mut Stream, players: usize, pairs: u32, anchors: &BTreeMap<usize, f64>) -> Value {
    let mut results = Vec::new();
    for first in 0..players {
        for second in first + 1..players.min(first + 4) {
            let elo = 90.0 * (first as f64 - second as f64);
            let mut game = |elo: f64| {
                let (chances, drawn) = (chances(elo, 0.35), stream.random::<f64>());
                let mut tally = Tally::default();
                tally.count(if drawn < chances.win {
                    1.0
                } else {
                    f64::from(u8::from(drawn < chances.win + chances.draw)) / 2.0
                });
                tally
            };
            for _ in 0..pairs {
                results.push(PairResult { first, second, white: game(elo + 60.0), black: game(elo - 60.0) });
            }
        }
    }
    // Some games whose partner is missing.
    results.iter_mut().step_by(5).for_each(|result| result.black = Tally::default());
    let found = fit(players, &results, anchors);
    let points = |tally: Tally| (tally.games() > 0).then(|| tally.points());
    let pair = |result: &PairResult| {
        json!([result.first, result.second, points(result.white), points(result.black)])
    };
    let rating = |rating: &Option<Rating>| {
        rating.map(|rating| json!([rating.elo, rating.low, rating.high])).expect("connected")
    };
    let (white, draws) = (found.white_advantage.expect("games"), found.draw_rate.expect("games"));
    json!({
        "players": players,
        "anchors": anchors.iter().collect::<Vec<_>>(),
        "pairs": results.iter().map(pair).collect::<Vec<_>>(),
        "ratings": found.players.iter().map(rating).collect::<Vec<_>>(),
        "white": [white.value, white.low, white.high],
        "draws": [draws.value, draws.low, draws.high],
    })
}

#[test]
fn python_computes_the_same_figures_and_ratings() {
    let mut stream = Seed { run: 1, step: 0 }.stream(0, Purpose::RandomPlayer);
    let matches: Vec<Value> = pentanomials(&mut stream).into_iter().map(figures).collect();
    let anchors: [&[(usize, f64)]; 4] = [&[(0, 0.0)], &[(1, 1500.0), (4, 1700.0)], &[], &[(2, -250.0)]];
    let tournaments: Vec<Value> = anchors
        .iter()
        .zip([(2, 6), (6, 1), (5, 8), (12, 3)])
        .map(|(anchors, (players, pairs))| {
            tournament(&mut stream, players, pairs, &anchors.iter().copied().collect())
        })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("figures.json");
    std::fs::write(&file, json!({ "matches": matches, "tournaments": tournaments }).to_string())
        .expect("written");
    let text = interop_script("strength.py", &file);
    let expected = format!("{} matches and 4 tournaments agree", matches.len());
    assert!(matches.len() >= 60 && text.contains(&expected), "{text}");
}
