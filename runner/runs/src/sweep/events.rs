//! The events in a sweep's journal, from which the state of all trials is derived.

use dc0_core::arena::student;
use dc0_core::params::Value;
use serde::{Deserialize, Serialize};

use super::pruner::Reported;
use super::space::Point;

/// A measured value with its 95 % interval; all three numbers are equal if the error is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The most that a value may be: variances of several are finite. Chosen.
const LARGEST: f64 = 1e100;

/// The cost of a replicate. Steps taken over from other runs count as if they had been done here, so that budgets compare
/// trials fairly.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Games of self-play and of matches.
    pub games: f64,
    /// Evaluations of positions, those that a cache answered included.
    pub evaluations: f64,
    /// Updates of the optimiser.
    pub updates: f64,
    /// Floating-point operations of nets: one forward pass per evaluation that no cache answered; three times as many per training
    /// sample, since the backward pass costs twice the forward pass (Kaplan et al. 2020, section 2.1).
    pub flops: f64,
    /// Seconds of its steps. The only figure that is not reproducible.
    pub seconds: f64,
}

/// How an execution of a replicate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The trial's function returned a value.
    Complete,
    /// The pruner paused it; it may be promoted later.
    Paused,
    /// The pruner ended it.
    Pruned,
    /// The script or a step failed.
    Failed,
}

/// A replicate of a trial: the trial's point with a seed of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Replicate {
    /// The trial's number, from 0.
    pub trial: u32,
    /// The replicate's number, from 0.
    pub replicate: u32,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The sweep was opened with another script or parameters than the last time.
    Opened {
        /// All its parameters, the defaults included.
        params: Value,
        /// blake3 of the texts of the script and of all that it imports, and of the parameters that it declares.
        script: String,
    },
    /// The sampler chose a trial's point.
    #[serde(rename = "asked")]
    Suggested {
        /// The trial.
        trial: u32,
        /// Its point.
        point: Point,
    },
    /// A replicate started or resumed.
    Started {
        /// The replicate.
        #[serde(flatten)]
        replicate: Replicate,
    },
    /// A replicate reported an intermediate value.
    Reported {
        /// The replicate.
        #[serde(flatten)]
        replicate: Replicate,
        /// The intermediate value.
        #[serde(flatten)]
        report: Reported,
    },
    /// A trial that has ended is to be executed again, because the script, its imports or its declared parameters have changed.
    /// Steps that are still the same are found finished; only the others are done.
    Revisited {
        /// The trial.
        trial: u32,
    },
    /// A failed trial is to be tried again.
    Retried {
        /// The trial.
        trial: u32,
    },
    /// An execution of a replicate ended.
    Ended {
        /// The replicate.
        #[serde(flatten)]
        replicate: Replicate,
        /// How it ended.
        ending: Ending,
        /// The value; that of the last report if the pruner ended it.
        result: Option<Measured>,
        /// Why it failed.
        because: Option<String>,
        /// Its cost.
        spent: Spent,
    },
}

impl Replicate {
    /// The name of its run: `0007-0`.
    pub fn name(self) -> String {
        format!("{:04}-{}", self.trial, self.replicate)
    }
}

impl Measured {
    /// A value whose error is unknown.
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Both ends of the interval; `None` if the error is unknown.
    pub fn interval(self) -> Option<(f64, f64)> {
        (self.low < self.high).then_some((self.low, self.high))
    }

    /// Whether all three numbers are in order, and small enough that means and variances of trials are finite.
    pub fn is_sound(self) -> bool {
        let all = [self.low, self.value, self.high];
        all.iter().all(|number| number.abs() <= LARGEST) && all.is_sorted()
    }

    /// The mean of replicates; `None` if there are none. Its interval is Student's, from the spread of replicates, but no shorter
    /// than the interval that follows from their own intervals as independent errors.
    pub fn mean(all: &[Self], spread: Option<Spread>) -> Option<Self> {
        let half = spread.map_or(0.0, |spread| spread.half(1.0 / all.len() as f64));
        let side = |end| half.max(own_error(all, end));
        let value = mean_value(all);
        let mean = Self { value, low: value - side(LOW), high: value + side(HIGH) };
        (!all.is_empty()).then_some(mean)
    }

    /// The mean of replicates less that of another trial's; `None` if one of them has none. The interval is as that of a mean, with the
    /// errors of both trials (Fisher's least significant difference, for one pair alone). It is shorter than the two intervals together: a difference is clear before they cease to overlap.
    pub fn difference(all: &[Self], others: &[Self], spread: Option<Spread>) -> Option<Self> {
        let share = 1.0 / all.len() as f64 + 1.0 / others.len() as f64;
        let half = spread.map_or(0.0, |spread| spread.half(share));
        let side = |end, other_end| half.max(own_error(all, end).hypot(own_error(others, other_end)));
        let value = mean_value(all) - mean_value(others);
        let difference = Self { value, low: value - side(LOW, HIGH), high: value + side(HIGH, LOW) };
        (!all.is_empty() && !others.is_empty()).then_some(difference)
    }
}

/// An end of an interval.
type End = fn(&Measured) -> f64;
const LOW: End = |one| one.low;
const HIGH: End = |one| one.high;

fn mean_value(all: &[Measured]) -> f64 {
    all.iter().map(|one| one.value).sum::<f64>() / all.len() as f64
}

fn largest_value(all: &[Measured]) -> f64 {
    all.iter().map(|one| one.value.abs()).fold(0.0, f64::max)
}

/// The distance from the mean to an end of its interval that follows from the replicates' own intervals as independent errors.
fn own_error(all: &[Measured], end: End) -> f64 {
    let squares: f64 = all.iter().map(|one| (end(one) - one.value).powi(2)).sum();
    squares.sqrt() / all.len() as f64
}

/// The spread of replicates of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The standard deviation.
    pub deviation: f64,
    /// Its degrees of freedom.
    pub degrees: usize,
}

impl Spread {
    /// Half of Student's 95 % interval of a sum of means whose variance is this share of one replicate's.
    fn half(self, share: f64) -> f64 {
        student(self.degrees as f64) * self.deviation * share.sqrt()
    }

    /// Pools the spread over several trials, each with its own mean, as in an analysis of variance. All trials are assumed to have
    /// the same variance, so two replicates of each suffice. `None` while no trial has two.
    pub fn pooled<'a>(trials: impl IntoIterator<Item = &'a [Measured]>) -> Option<Self> {
        let (mut squares, mut degrees, mut largest) = (0.0, 0, 0.0);
        for replicates in trials.into_iter().filter(|replicates| replicates.len() > 1) {
            let mean = mean_value(replicates);
            squares += replicates.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>();
            degrees += replicates.len() - 1;
            largest = largest_value(replicates).max(largest);
        }
        (degrees > 0).then(|| Self::beyond_rounding(squares, degrees, largest))
    }

    /// The spread of differences between trials that have the same replicates, in the same order, each of which is a block with its seed:
    /// what the means of the trials and those of the replicates leave of the variance (a randomised complete block design;
    /// Montgomery, "Design and analysis of experiments", section 4.1). `None` with fewer than two degrees of freedom, where Student's
    /// quantile is 12.7 and the pooled spread, which has the variance between seeds, too, gives shorter intervals nearly always.
    pub fn blocked(trials: &[Vec<Measured>]) -> Option<Self> {
        let (count, blocks) = (trials.len(), trials.first()?.len());
        let degrees = (count - 1) * blocks.checked_sub(1)?;
        if degrees < 2 || trials.iter().any(|replicates| replicates.len() != blocks) {
            return None;
        }
        let means: Vec<f64> = trials.iter().map(|replicates| mean_value(replicates)).collect();
        let overall = means.iter().sum::<f64>() / count as f64;
        let mut squares = 0.0;
        for block in 0..blocks {
            let values = trials.iter().map(|replicates| replicates[block].value);
            let offset = values.clone().sum::<f64>() / count as f64 - overall;
            squares += values.zip(&means).map(|(value, mean)| (value - mean - offset).powi(2)).sum::<f64>();
        }
        let largest = trials.iter().map(|replicates| largest_value(replicates)).fold(0.0, f64::max);
        Some(Self::beyond_rounding(squares, degrees, largest))
    }

    /// The spread with this sum of squares, 0 if that is no more than the rounding of values as large as the `largest`.
    fn beyond_rounding(squares: f64, degrees: usize, largest: f64) -> Self {
        let deviation = (squares / degrees as f64).sqrt();
        Self { deviation: if deviation > ROUNDING * largest { deviation } else { 0.0 }, degrees }
    }
}

/// The relative error of means and their differences, generously.
pub(super) const ROUNDING: f64 = 1e-13;

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.games += other.games;
        self.evaluations += other.evaluations;
        self.updates += other.updates;
        self.flops += other.flops;
        self.seconds += other.seconds;
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;
    use dc0_core::rng::{Purpose, Seed};
    use rand::RngExt;

    use super::{Ending, Event, LARGEST, Measured, Replicate, Reported, Spent, Spread};

    #[test]
    fn events_are_read_back_as_they_were_written() {
        let replicate = Replicate { trial: 3, replicate: 1 };
        let measured = Measured { value: 0.1 + 0.2, low: 0.25, high: 1.0 / 3.0 };
        let spent = Spent { evaluations: 1e9 + 0.1, ..Spent::default() };
        let point = [("c_puct".to_owned(), Value::Float(2.0)), ("blocks".to_owned(), Value::Int(2))].into();
        let events = [
            Event::Suggested { trial: 3, point },
            Event::Started { replicate },
            Event::Reported {
                replicate,
                report: Reported { at: 4, value: 0.5, low: 0.1, high: 1.0 / 3.0 + 0.4 },
            },
            Event::Ended { replicate, ending: Ending::Pruned, result: Some(measured), because: None, spent },
        ];
        for event in events {
            let line = serde_json::to_string(&event).expect("text keys");
            assert_eq!(serde_json::from_str::<Event>(&line).expect("reads"), event, "{line}");
        }
    }

    #[test]
    fn replicates_are_averaged_with_students_interval() {
        let all = [0.4, 0.6].map(Measured::exact);
        let mean = |all: &[Measured]| Measured::mean(all, Spread::pooled([all])).expect("a mean");
        // The deviation of 0.4 and 0.6 is √0.02, that of their mean 0.1.
        let two = mean(&all);
        assert!((two.value - 0.5).abs() < 1e-12 && (two.high - 0.5 - 1.270_620_474).abs() < 1e-9, "{two:?}");
        // Four equal values differ in nothing; their own errors shrink by half.
        let one = Measured { value: 0.5, low: 0.4, high: 0.7 };
        let four = mean(&[one; 4]);
        assert!((four.low - 0.45).abs() < 1e-12 && (four.high - 0.6).abs() < 1e-12, "{four:?}");
        assert_eq!((mean(&[one]), Measured::mean(&[], None)), (one, None));
    }

    #[test]
    fn the_difference_of_two_trials_has_the_errors_of_both() {
        // scipy.stats: means 0.85 and 0.5, pooled variance 0.025 / 2, so 4.3027 · √0.0125 · √(½ + ½) on each side.
        let trials = [[0.4, 0.6], [0.8, 0.9]].map(|trial| trial.map(Measured::exact));
        let spread = Spread::pooled(trials.iter().map(|trial| &trial[..]));
        let found = Measured::difference(&trials[1], &trials[0], spread).expect("both have values");
        assert!(
            (found.value - 0.35).abs() < 1e-12 && (found.high - 0.35 - 0.48107).abs() < 1e-4,
            "{found:?}"
        );
        // One match each: the lower end is that of the first one's low and the second one's high.
        let one = Measured { value: 0.6, low: 0.57, high: 0.64 };
        let other = Measured { value: 0.5, low: 0.47, high: 0.54 };
        let found = Measured::difference(&[one], &[other], None).expect("both have values");
        assert!((found.low - (0.1 - 0.05)).abs() < 1e-12 && (found.high - (0.1 + 0.05)).abs() < 1e-12);
        assert_eq!(Measured::difference(&[one], &[], None), None);
    }

    #[test]
    fn the_spread_is_pooled_over_trials_around_their_own_means() {
        let trials = [[0.4, 0.6], [0.8, 0.9]].map(|trial| trial.map(Measured::exact));
        // Squares 0.02 and 0.005 over one degree of freedom each.
        let spread = Spread::pooled(trials.iter().map(|trial| &trial[..])).expect("two of each");
        assert!((spread.deviation - 0.0125_f64.sqrt()).abs() < 1e-12 && spread.degrees == 2, "{spread:?}");
        assert_eq!(Spread::pooled([&trials[0][..1], &[]]), None);
    }

    #[test]
    fn differences_between_trials_with_the_same_replicates_are_free_of_the_seeds() {
        // Trials of means 2, 4 and 9, replicates of means 3 and 7; they leave ±1, ±1 and ∓2.
        let trials = [[1.0, 3.0], [3.0, 5.0], [5.0, 13.0]].map(|trial| trial.map(Measured::exact).to_vec());
        let spread = Spread::blocked(&trials).expect("three trials of two replicates");
        // Squares 4 · 1 + 2 · 4 over (3 − 1)(2 − 1) degrees of freedom; the pooled spread is (2 + 2 + 32) / 3.
        assert!((spread.deviation - 6.0_f64.sqrt()).abs() < 1e-12 && spread.degrees == 2, "{spread:?}");
        let pooled = Spread::pooled(trials.iter().map(Vec::as_slice)).expect("two of each");
        assert!((pooled.deviation - 12.0_f64.sqrt()).abs() < 1e-12 && pooled.degrees == 3, "{pooled:?}");
        let found = Measured::difference(&trials[0], &trials[2], Some(spread)).expect("both have values");
        assert!((found.high + 7.0 - 4.302_652_730 * 6.0_f64.sqrt()).abs() < 1e-7, "{found:?}");
        // Two trials of two replicates, trials of different numbers of replicates, and single ones have none.
        let [first, second, third] = trials;
        assert_eq!(Spread::blocked(&[first.clone(), second.clone()]), None);
        assert_eq!(Spread::blocked(&[first[..1].to_vec(), second.clone(), third.clone()]), None);
        assert_eq!(Spread::blocked(&[&first[..1], &second[..1], &third[..1]].map(<[_]>::to_vec)), None);
        assert_eq!(Spread::blocked(&[first]), None);
        assert_eq!(Spread::blocked(&[]), None);
    }

    #[test]
    fn differences_have_their_coverage_with_and_without_an_effect_of_the_seeds() {
        let mut stream = Seed { run: 5, step: 0 }.stream(0, Purpose::Trial);
        // Irwin and Hall's approximation of a normal deviate.
        let mut normal = || (0..12).map(|_| stream.random::<f64>()).sum::<f64>() - 6.0;
        for (seed_effect, trials, replicates) in [(0.0, 3, 2), (3.0, 3, 2), (0.0, 2, 4), (3.0, 6, 3)] {
            let mut covered = 0;
            for _ in 0..2000 {
                let seeds: Vec<f64> = (0..replicates).map(|_| seed_effect * normal()).collect();
                let mut trial = |mean: f64| -> Vec<Measured> {
                    seeds.iter().map(|seed| Measured::exact(mean + seed + normal())).collect()
                };
                let all: Vec<Vec<Measured>> = (0..trials).map(|number| trial(f64::from(number))).collect();
                let found = Measured::difference(&all[0], &all[1], Spread::blocked(&all)).expect("values");
                covered += usize::from((found.low..=found.high).contains(&-1.0));
            }
            // Four standard errors about 95 %.
            assert!(
                (1861..=1939).contains(&covered),
                "{seed_effect} {trials} {replicates}: {covered} of 2000"
            );
        }
    }

    #[test]
    fn replicates_that_differ_by_rounding_alone_have_no_spread() {
        let trials =
            [0.1, 0.3, 0.7].map(|mean| [0.0, 0.01, 0.02].map(|seed| Measured::exact(mean + seed)).to_vec());
        let spread = Spread::blocked(&trials).expect("three replicates of each");
        assert_eq!(spread, Spread { deviation: 0.0, degrees: 4 });
        let difference =
            Measured::difference(&trials[0], &trials[1], Some(spread)).expect("both have values");
        assert_eq!(difference.interval(), None);
        let equal = [Measured::exact(0.1); 3];
        assert_eq!(Spread::pooled([&equal[..]]).expect("three").deviation, 0.0);
    }

    #[test]
    fn sound_intervals_are_ordered_and_finite() {
        let one = Measured { value: 0.5, low: 0.4, high: 0.7 };
        assert!(
            Measured::exact(0.5).is_sound() && one.is_sound() && !Measured { low: 0.6, ..one }.is_sound()
        );
        assert!(!Measured::exact(f64::NAN).is_sound());
        let replicates = [Measured::exact(LARGEST), Measured::exact(-LARGEST), Measured::exact(LARGEST)];
        let mean = Measured::mean(&replicates, Spread::pooled([&replicates[..]])).expect("three");
        assert!(mean.low.is_finite() && mean.high.is_finite(), "{mean:?}");
        assert!(replicates[0].is_sound() && !Measured::exact(1.5e308).is_sound());
    }
}
