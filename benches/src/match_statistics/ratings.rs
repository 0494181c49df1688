//! Joint ratings of many players: whether intervals contain the truth, and what choosing the pairs saves.

use std::collections::BTreeMap;

use dc0_core::arena::rating::{Estimate, PairResult, Ratings, fit};
use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

use super::games::Synthetic;
use super::percent;

const PLAYERS: usize = 20;

/// The range of the players' strengths, in Elo.
const RANGE: f64 = 1000.0;

/// The true ratings of some players.
fn strengths(stream: &mut Stream) -> Vec<f64> {
    (0..PLAYERS).map(|_| RANGE * stream.random::<f64>()).collect()
}

/// The pairs of games of a tournament: who meets whom, how often.
type Schedule = Vec<([usize; 2], u32)>;

fn schedules() -> [(&'static str, Schedule); 3] {
    let all = |first: usize| (first + 1..PLAYERS).map(move |second| [first, second]);
    let robin = |pairs: u32| (0..PLAYERS).flat_map(all).map(|players| (players, pairs)).collect();
    // Each meets the next two, as candidates of a run do, and some meet the first again.
    let near = |step: usize| (step..PLAYERS).map(move |second| ([second - step, second], 20));
    let first = (3..PLAYERS).step_by(4).map(|second| ([0, second], 20));
    [
        ("all against all, 2 games", robin(1)),
        ("all against all, 10 games", robin(5)),
        ("each against the next two", near(1).chain(near(2)).chain(first).collect()),
    ]
}

fn play(
    games: &Synthetic,
    strengths: &[f64],
    schedule: &Schedule,
    times: u32,
    stream: &mut Stream,
) -> Vec<PairResult> {
    let mut results = Vec::new();
    for ([first, second], pairs) in schedule {
        let elo = strengths[*first] - strengths[*second];
        results.extend((0..times * pairs).map(|_| games.result([*first, *second], elo, stream)));
    }
    results
}

/// How often intervals contain the truth.
pub(super) fn recovery(games: &Synthetic, tournaments: u32) {
    println!(
        "{PLAYERS} players over {RANGE} Elo, openings of {} Elo: share of intervals that contain the truth, mean width",
        games.openings
    );
    for (line, (name, schedule)) in (0..).zip(schedules()) {
        for anchors in [1, 3, 0] {
            let mut stream = Seed { run: 6, step: line }.stream(anchors as u64, Purpose::RandomPlayer);
            let strengths = strengths(&mut stream);
            // Openings make scores less extreme than the ratings say, so the truth is what very many games show.
            let truth = if games.openings == 0.0 {
                None
            } else {
                let long = play(games, &strengths, &schedule, 1000, &mut stream);
                Some(fit(PLAYERS, &long, &anchored(&strengths, anchors)))
            };
            let truth = Truth::new(games, &strengths, anchors, truth.as_ref());
            let (mut ratings, mut white, mut draws) =
                (Covered::default(), Covered::default(), Covered::default());
            for _ in 0..tournaments {
                let results = play(games, &strengths, &schedule, 1, &mut stream);
                let found = fit(PLAYERS, &results, &truth.anchors);
                truth.count(&found, &mut ratings);
                white.count(found.white_advantage, truth.white);
                draws.count(found.draw_rate, truth.draws);
            }
            println!(
                "{name:26} {anchors} anchors   ratings {ratings}   White's advantage {white}   draw rate {draws}"
            );
        }
    }
}

/// Anchors, spread over the players.
fn anchored(strengths: &[f64], count: usize) -> BTreeMap<usize, f64> {
    (0..count).map(|anchor| anchor * 9).map(|player| (player, strengths[player])).collect()
}

struct Truth {
    anchors: BTreeMap<usize, f64>,
    ratings: Vec<f64>,
    white: f64,
    draws: f64,
}

impl Truth {
    fn new(games: &Synthetic, strengths: &[f64], anchors: usize, long: Option<&Ratings>) -> Self {
        let mean = if anchors == 0 { strengths.iter().sum::<f64>() / PLAYERS as f64 } else { 0.0 };
        let exact: Vec<f64> = strengths.iter().map(|strength| strength - mean).collect();
        let seen = long.map(|long| long.players.iter().flatten().map(|rating| rating.elo).collect());
        let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
        Self {
            anchors: anchored(strengths, anchors),
            ratings: seen.unwrap_or(exact),
            white: long.and_then(|long| value(long.white_advantage)).unwrap_or(games.white),
            draws: long.and_then(|long| value(long.draw_rate)).unwrap_or(games.draws),
        }
    }

    fn count(&self, found: &Ratings, covered: &mut Covered) {
        for (player, truth) in self.ratings.iter().enumerate() {
            let free = found.players[player].filter(|_| !self.anchors.contains_key(&player));
            covered.count(
                free.map(|rating| Estimate { value: rating.elo, low: rating.low, high: rating.high }),
                *truth,
            );
        }
    }
}

#[derive(Default)]
struct Covered {
    count: u32,
    all: u32,
    width: f64,
}

impl Covered {
    fn count(&mut self, estimate: Option<Estimate>, truth: f64) {
        let Some(estimate) = estimate else { return };
        self.all += 1;
        self.count += u32::from((estimate.low..=estimate.high).contains(&truth));
        self.width += estimate.high - estimate.low;
    }
}

impl std::fmt::Display for Covered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:5.1} % ({:.3})", percent(self.count, self.all), self.width / f64::from(self.all))
    }
}

/// Games until the widest interval is narrow enough, if the next pair is chosen or all meet in turn.
pub(super) fn design(games: &Synthetic, tournaments: u32) {
    println!(
        "games until the widest interval of {PLAYERS} players is narrow enough: chosen pairs, all against all; coverage"
    );
    for width in [200.0, 120.0, 80.0] {
        for anchors in [1, 3, 0] {
            let (mut chosen, mut all) = ((0, Covered::default()), (0, Covered::default()));
            for tournament in 0..tournaments {
                let mut stream =
                    Seed { run: 7, step: tournament.into() }.stream(anchors as u64, Purpose::RandomPlayer);
                let strengths = strengths(&mut stream);
                let truth = Truth::new(games, &strengths, anchors, None);
                for (choose, (played, covered)) in [(true, &mut chosen), (false, &mut all)] {
                    let (count, found) = until(games, &strengths, &truth.anchors, width, choose, &mut stream);
                    *played += count;
                    truth.count(&found, covered);
                }
            }
            let mean = |played: usize| played as f64 / f64::from(tournaments);
            println!(
                "{width:4} Elo {anchors} anchors   {:6.0}   {:6.0}   ratings {}, {}",
                mean(chosen.0),
                mean(all.0),
                chosen.1,
                all.1
            );
        }
    }
}

/// Games of a chosen pair before the next one is chosen.
const ROUND: u32 = 20;

fn until(
    games: &Synthetic,
    strengths: &[f64],
    anchors: &BTreeMap<usize, f64>,
    width: f64,
    choose: bool,
    stream: &mut Stream,
) -> (usize, Ratings) {
    let (_, all) = &schedules()[0];
    let mut results = Vec::new();
    loop {
        let found = fit(PLAYERS, &results, anchors);
        if found.widest().is_some_and(|widest| widest <= width) {
            return (2 * results.len(), found);
        }
        let next = if choose {
            found.next_pair(ROUND, &|_| true).into_iter().map(|players| (players, ROUND / 2)).collect()
        } else {
            all.clone()
        };
        results.extend(play(games, strengths, &next, 1, stream));
    }
}
