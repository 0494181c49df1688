//! Time management. Pure functions that read no clock.

use std::time::Duration;

use dc0_core::params;

params! {
    /// The time management of `dc0-run uci`: its options `time.…`. No script call has these members.
    pub struct TimeParams {
        /// Moves that the rest of the game is assumed to last where the clock does not say; the time left is divided evenly among
        /// them. Games of engines last about 60 moves of each side, and later moves find less time left anyway.
        moves_ahead: u32 = 30, in 1..=200;
        /// Share of an increment, less `Move Overhead`, that is spent at once; the rest refills a clock that runs low.
        increment_spent: f64 = 0.8, in 0.0..=1.0;
        /// The longest time of a hard move, in multiples of an ordinary move's.
        longest: f64 = 3.0, in 1.0..=20.0;
        /// Share of the clock that one move may take at most.
        largest_share: f64 = 0.4, in 0.01..=1.0;
        /// The same for the last move before the clock is set again.
        largest_share_at_last: f64 = 0.9, in 0.01..=1.0;
        /// Factor on the time of a move where the second most visited move has a better value than the most visited one.
        undecided: f64 = 1.5, in 1.0..=20.0;
        /// Factor on the time of a move where the value fell.
        falling: f64 = 1.5, in 1.0..=20.0;
        /// The value counts as fallen if P(win) − P(loss) is this much lower than at the engine's last move.
        fall: f64 = 0.1, in 0.0..=2.0;
        /// Share of the clock, or of `go movetime`, that `Move Overhead` takes at most, so that something is left of a short time. 1
        /// for a network that may lose all of it.
        overhead_share: f64 = 0.2, in 0.0..=1.0;
    }
}

/// One side's clock, in milliseconds. May be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Time left.
    pub left: i64,
    /// Time added after the move.
    pub increment: i64,
    /// Moves until the clock is set again, if it ever is.
    pub moves_to_go: Option<i64>,
}

/// Time for one move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// The time of an ordinary move.
    pub wanted: Duration,
    /// The time that no move exceeds.
    pub most: Duration,
    /// The time below which no evaluation is begun: the clock, less a reserve. `None` where no clock runs, or it has run out.
    evaluates_until: Option<Duration>,
    extensions: Extensions,
    /// Whether a move that is decided is played before its time: not in `go movetime`, which uses all of it.
    may_end_early: bool,
}

/// Factors by which an unstable search extends a move's time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extensions {
    undecided: f64,
    falling: f64,
    fall: f64,
}

/// How stable a search's choice is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Visits of the move with the most.
    pub most: u32,
    /// Visits of the next one.
    pub second: u32,
    /// Whether the second most visited move has a better value than the most visited one.
    pub is_undecided: bool,
    /// How far the value fell since the engine's last move; below 0 if it rose.
    pub fall: f64,
}

/// The time on a clock that no evaluation is to reach, or `Move Overhead` where that is less: other programs may hold a busy
/// machine for some milliseconds. Chosen.
const RESERVE: f64 = 10.0;

/// Batches that the clock must have time for before the first is begun, since some take longer than those before. Chosen.
const BATCHES_AHEAD: u32 = 2;

/// The share of a move's time after which no iteration is begun: each takes about as long as all before it. Chosen.
const ITERATIONS_UNTIL: f64 = 0.6;

/// Batches whose times count. Chosen: with a batch in thousands that another program holds up, hardly ever two of these.
const BATCHES_KEPT: usize = 12;

/// How much of a batch's time is expected again a move later. Chosen.
const SLOWNESS_KEPT: f64 = 0.8;

fn millis(number: f64) -> Duration {
    Duration::from_secs_f64(number.clamp(0.0, 1e15) / 1000.0)
}

/// The part of a time that is lost between the programs.
fn lost(time: i64, overhead: i64, params: &TimeParams) -> f64 {
    (overhead as f64).min(params.overhead_share * time.max(0) as f64)
}

/// How long a batch may take, by the last ones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BatchTime {
    /// The last times, the oldest of which is at `next` once all are known.
    last: [Duration; BATCHES_KEPT],
    next: usize,
}

impl BatchTime {
    /// The second longest time: one batch that was held up says nothing about the next.
    pub fn expected(&self) -> Duration {
        let mut longest = [Duration::ZERO; 2];
        for time in self.last {
            if time > longest[0] {
                longest = [time, longest[0]];
            } else {
                longest[1] = longest[1].max(time);
            }
        }
        longest[1]
    }

    /// Takes the time of a batch.
    pub fn record(&mut self, time: Duration) {
        self.last[self.next] = time;
        self.next = (self.next + 1) % BATCHES_KEPT;
    }

    /// The estimate a move later, for a search that may begin no batch.
    #[must_use]
    pub fn a_move_later(self) -> Self {
        Self { last: self.last.map(|time| time.mul_f64(SLOWNESS_KEPT)), ..self }
    }
}

impl Allowance {
    /// The time for a move on a clock. `overhead` milliseconds of what is left are never used: they are lost between the programs.
    pub fn of_clock(clock: Clock, overhead: i64, params: &TimeParams) -> Self {
        let lost = lost(clock.left, overhead, params);
        let left = clock.left.max(0) as f64;
        let usable = left - lost;
        let ahead = i64::from(params.moves_ahead);
        // Some programs send 0 where no time control is ahead.
        let to_go = clock.moves_to_go.filter(|moves| *moves > 0);
        let moves = to_go.map_or(ahead, |moves| moves.min(ahead));
        let is_last = to_go == Some(1);
        let largest = if is_last { params.largest_share_at_last } else { params.largest_share };
        // Every move loses the overhead, so only the rest of an increment can be spent without running low.
        let gained = (clock.increment as f64 - lost).max(0.0);
        let even = usable / moves as f64 + params.increment_spent * gained;
        let most = (params.longest * even).min(largest * usable);
        Self {
            wanted: millis(even.min(most)),
            most: millis(most),
            evaluates_until: (left > 0.0).then(|| millis(left - RESERVE.min(overhead as f64))),
            extensions: Extensions::from_params(params),
            may_end_early: true,
        }
    }

    /// The time of `go movetime`, all of which is used.
    pub fn of_move(time: i64, overhead: i64, params: &TimeParams) -> Self {
        let time = millis(time as f64 - lost(time, overhead, params));
        let extensions = Extensions { undecided: 1.0, falling: 1.0, fall: 0.0 };
        Self { wanted: time, most: time, evaluates_until: None, extensions, may_end_early: false }
    }

    /// Whether the clock has time for a first evaluation after `elapsed`. If not, the flag would be at risk for one move.
    pub fn fits_evaluation(&self, elapsed: Duration, batch: BatchTime) -> bool {
        self.evaluates_until.is_none_or(|until| elapsed + BATCHES_AHEAD * batch.expected() < until)
    }

    /// Whether an alpha-beta search begins another iteration after `elapsed`: one that would hardly be completed in time is not begun.
    pub fn allows_iteration(&self, elapsed: Duration, stability: &Stability) -> bool {
        let until =
            if self.may_end_early { self.extended(stability).mul_f64(ITERATIONS_UNTIL) } else { self.most };
        elapsed < until
    }

    /// Whether to play the move after `elapsed`, at `speed` simulations per second.
    pub fn is_spent(&self, elapsed: Duration, speed: f64, stability: &Stability) -> bool {
        let until = self.extended(stability);
        elapsed >= until
            || (self.may_end_early && is_decided(until.saturating_sub(elapsed), speed, stability))
    }

    fn extended(&self, stability: &Stability) -> Duration {
        self.wanted.mul_f64(self.extensions.factor(stability)).min(self.most)
    }
}

impl Extensions {
    fn from_params(params: &TimeParams) -> Self {
        Self { undecided: params.undecided, falling: params.falling, fall: params.fall }
    }

    fn factor(&self, stability: &Stability) -> f64 {
        let undecided = if stability.is_undecided { self.undecided } else { 1.0 };
        let falling = if stability.fall >= self.fall { self.falling } else { 1.0 };
        undecided * falling
    }
}

/// Whether the simulations that fit into the rest of the time cannot change which move has the most visits (smart pruning).
fn is_decided(rest: Duration, speed: f64, stability: &Stability) -> bool {
    let lead = stability.most.saturating_sub(stability.second);
    f64::from(lead) > speed * rest.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Allowance, BATCHES_KEPT, BatchTime, Clock, Stability, TimeParams};

    fn times(millis: &[u64]) -> BatchTime {
        let mut batch = BatchTime::default();
        for time in millis {
            batch.record(ms(*time));
        }
        batch
    }

    const STABLE: Stability = Stability { most: 10, second: 9, is_undecided: false, fall: 0.0 };

    fn clock(left: i64, increment: i64, moves_to_go: Option<i64>) -> Allowance {
        Allowance::of_clock(Clock { left, increment, moves_to_go }, 50, &TimeParams::default())
    }

    fn both(allowance: Allowance) -> (Duration, Duration) {
        let whole = |time: Duration| ms(time.as_millis() as u64);
        (whole(allowance.wanted), whole(allowance.most))
    }

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn a_minute_is_divided_among_thirty_moves() {
        // (60000 − 50) / 30 = 1998.3, and three times as much for a hard move.
        assert_eq!(both(clock(60_000, 0, None)), (ms(1998), ms(5995)));
        // 1998.3 + 0.8 · (1000 − 50).
        assert_eq!(both(clock(60_000, 1000, None)).0, ms(2758));
        assert_eq!(clock(60_000, 50, None), clock(60_000, 0, None));
        assert_eq!(both(clock(60_000, 0, Some(10))).0, ms(5995));
        assert_eq!(both(clock(60_000, 0, Some(1))), (ms(53_955), ms(53_955)));
        for none in [0, -1, i64::MIN] {
            assert_eq!(clock(60_000, 0, Some(none)), clock(60_000, 0, None));
        }
        assert_eq!(clock(60_000, 0, Some(1000)), clock(60_000, 0, None));
    }

    #[test]
    fn no_move_takes_more_than_the_time_left() {
        for left in [i64::MIN, -5, 0, 1, 49, 50, 51, 100, 3000, 1 << 40, i64::MAX] {
            for increment in [i64::MIN, -1, 0, 1, 2000, i64::MAX] {
                for moves in [None, Some(i64::MIN), Some(0), Some(1), Some(2), Some(40), Some(i64::MAX)] {
                    let allowance = clock(left, increment, moves);
                    let usable = left.max(0) as f64 - f64::min(50.0, 0.2 * left.max(0) as f64);
                    assert!(
                        allowance.wanted <= allowance.most && allowance.most <= super::millis(usable),
                        "{left} {moves:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_whole_game_never_empties_the_clock() {
        for increment in [0, 10, 100] {
            let mut left = 1000;
            for _ in 0..300 {
                let used = clock(left, increment, None).most.as_millis() as i64;
                left -= used + (left / 5).min(50);
                assert!(left >= 0, "{left} left with {increment}");
                left += increment;
            }
        }
    }

    #[test]
    fn movetime_is_used_up_but_for_the_overhead() {
        let of_move = |time| Allowance::of_move(time, 50, &TimeParams::default());
        let allowance = of_move(1000);
        let clear = Stability { most: 1_000_000, second: 0, ..STABLE };
        assert!(!allowance.is_spent(ms(949), 10.0, &clear) && allowance.is_spent(ms(950), 10.0, &clear));
        assert!(of_move(i64::MIN).is_spent(ms(0), 0.0, &STABLE));
        // A clock keeps what is left, even if an ordinary move may take as long as any.
        for allowance in [clock(1000, 0, Some(1)), clock(1000, 0, Some(2)), clock(2000, 5000, None)] {
            assert_eq!(allowance.wanted, allowance.most);
            assert!(allowance.is_spent(ms(100), 10.0, &clear) && !allowance.is_spent(ms(100), 10.0, &STABLE));
        }
    }

    #[test]
    fn the_overhead_takes_a_share_of_a_short_time() {
        let of_move = |time| both(Allowance::of_move(time, 50, &TimeParams::default())).0;
        assert_eq!([10, 50, 100, 250, 1000].map(of_move), [ms(8), ms(40), ms(80), ms(200), ms(950)]);
        let all = TimeParams { overhead_share: 1.0, ..TimeParams::default() };
        assert_eq!(both(Allowance::of_move(50, 50, &all)).0, ms(0));
        // (100 − 20) / 30 = 2.67.
        assert_eq!(both(clock(100, 1, None)), (ms(2), ms(8)));
    }

    #[test]
    fn no_evaluation_is_begun_that_the_clock_may_not_have_time_for() {
        let batch = times(&[2, 2]);
        let fits = |left| clock(left, 1, None).fits_evaluation(ms(1), batch);
        // 10 in reserve, 2 batches of 2, 1 elapsed.
        assert_eq!([16, 15, 5].map(fits), [true, false, false]);
        assert!(fits(0), "this clock has run out, or is none");
        let of_move = Allowance::of_move(1, 50, &TimeParams::default());
        assert!(of_move.fits_evaluation(ms(5), batch), "a fixed time has no flag");
        // Slow batches are forgotten over some moves.
        let later = (0..20).fold(batch, |batch, _| batch.a_move_later());
        assert!(later.expected() < Duration::from_micros(25));
    }

    #[test]
    fn a_batch_that_was_held_up_is_not_expected_again() {
        assert_eq!(times(&[2, 500, 3]).expected(), ms(3));
        assert_eq!(times(&[500]).expected(), ms(0));
        assert_eq!(times(&[2, 500, 3, 400]).expected(), ms(400), "twice is not by chance");
        let since: Vec<u64> = [500, 400].into_iter().chain([1; BATCHES_KEPT]).collect();
        assert_eq!(times(&since).expected(), ms(1));
    }

    #[test]
    fn an_unstable_search_takes_longer() {
        let allowance = clock(60_000, 0, None);
        let undecided = Stability { is_undecided: true, ..STABLE };
        let both = Stability { fall: 0.2, ..undecided };
        assert!(
            allowance.is_spent(ms(1999), 1000.0, &STABLE)
                && !allowance.is_spent(ms(1999), 1000.0, &undecided)
        );
        assert!(
            allowance.is_spent(ms(2998), 1000.0, &undecided) && !allowance.is_spent(ms(2998), 1000.0, &both)
        );
        assert!(allowance.is_spent(ms(5995), 1000.0, &both));
    }

    #[test]
    fn parameters_change_the_time() {
        let params =
            TimeParams { moves_ahead: 10, longest: 1.5, increment_spent: 0.0, ..TimeParams::default() };
        let clock = Clock { left: 10_050, increment: 500, moves_to_go: None };
        assert_eq!(both(Allowance::of_clock(clock, 50, &params)), (ms(1000), ms(1500)));
        let clock = Clock { moves_to_go: Some(40), ..clock };
        assert_eq!(both(Allowance::of_clock(clock, 50, &params)), (ms(1000), ms(1500)));
    }

    #[test]
    fn a_lead_out_of_reach_ends_the_search() {
        let allowance = clock(60_000, 0, None);
        // At 1000 simulations per second about 998 are still to come.
        let lead = |most| Stability { most, second: 0, ..STABLE };
        assert!(
            !allowance.is_spent(ms(1000), 1000.0, &lead(997))
                && allowance.is_spent(ms(1000), 1000.0, &lead(999))
        );
    }
}
