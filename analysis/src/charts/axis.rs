//! Where axes begin and end, and where their ticks stand.

use super::chart::{Axis, Marks, Scale, Series};
use super::table::short;

/// The ends of an axis and the distance of its ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) from: f64,
    pub(super) to: f64,
    /// None where they are not evenly spaced.
    pub(super) step: Option<f64>,
}

/// Room between the outermost values and the ends, as a share of what lies between.
const ROOM: f64 = 0.04;
/// The least factor that a logarithmic axis is thought to span for that. Chosen.
const FACTOR: f64 = 10.0;

impl Axis {
    /// A range that holds the values, with about as many ticks as are wanted; the axis' own ends hold at all events.
    pub(super) fn range(&self, values: &[f64], ticks: usize) -> Option<Range> {
        let sound = || values.iter().copied().filter(|value| value.is_finite());
        let least = sound().chain(self.from).fold(f64::INFINITY, f64::min);
        let most = sound().chain(self.to).fold(f64::NEG_INFINITY, f64::max);
        if self.scale == Scale::Words || least > most {
            return None;
        }
        if self.scale == Scale::Logarithm {
            let room = (most / least).max(FACTOR).powf(ROOM);
            let (from, to) = widened(least / room, most * room);
            return Some(Range { from, to, step: None });
        }
        let (least, most) = if least < most { (least, most) } else { (least - 0.5, most + 0.5) };
        let room = ROOM * (most - least);
        let end = |own: Option<f64>, far: f64| if own == Some(far) { far } else { f64::NAN };
        let (own_from, own_to) = (end(self.from, least), end(self.to, most));
        let step = step((most - least) / ticks as f64);
        let step = if self.scale == Scale::Whole { step.max(1.0).ceil() } else { step };
        // An end of the axis' own stands where it is; another one has some room, or comes to the next tick.
        let from = if own_from.is_nan() { least - room } else { own_from };
        let to = if own_to.is_nan() { most + room } else { own_to };
        Some(Range { from, to, step: Some(step) })
    }

    /// What stands at a place: its word, or the number as the axis writes it.
    pub(super) fn text(&self, value: f64) -> String {
        match (self.word(value), self.scale) {
            (Some(word), _) => word.to_owned(),
            (None, Scale::Share) => format!("{:.0} %", 100.0 * value),
            (None, Scale::Whole) => format!("{value:.0}"),
            (None, Scale::Plain | Scale::Logarithm | Scale::Words) => short(value),
        }
    }

    pub(super) fn word(&self, value: f64) -> Option<&str> {
        self.words.iter().find(|(place, _)| *place == value).map(|(_, word)| word.as_str())
    }
}

/// The same ends, or ones so far apart that at least two numbers at which a logarithmic axis has ticks lie within.
fn widened(from: f64, to: f64) -> (f64, f64) {
    let decade = 10_f64.powf(from.log10().floor());
    let ticks = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].map(|factor| factor * decade);
    let within = ticks.iter().filter(|tick| (from..=to).contains(*tick)).count();
    let below = ticks.iter().rfind(|tick| **tick <= from).copied();
    let above = ticks.iter().find(|tick| **tick >= to).copied();
    match (within, below, above) {
        (0 | 1, Some(below), Some(above)) => (below, above),
        _ => (from, to),
    }
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is no less than this.
pub(super) fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(least)
}

/// Everything that an axis has to hold.
pub(super) fn values(marks: &Marks, of: fn(&Series) -> Vec<f64>) -> Vec<f64> {
    if let Marks::Series(series) = marks { series.iter().flat_map(of).collect() } else { Vec::new() }
}

/// The places of a series' points.
pub(super) fn places(series: &Series) -> Vec<f64> {
    series.points.iter().map(|point| point.x).collect()
}

/// The values of a series' points with the ends of their intervals.
pub(super) fn heights(series: &Series) -> Vec<f64> {
    let all = |point: &super::chart::Point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [low, point.y, high]
    };
    series.points.iter().flat_map(all).collect()
}

#[cfg(test)]
mod tests {
    use super::{Axis, Scale, step};

    #[test]
    fn steps_are_round() {
        let cases = [(1.0, 1.0), (1.1, 2.0), (2.2, 2.5), (0.03, 0.05), (70.0, 100.0), (250.0, 250.0)];
        for (least, round) in cases {
            assert!((step(least) - round).abs() < 1e-9 * round, "{least}: {}", step(least));
        }
    }

    #[test]
    fn ranges_hold_all_values_and_the_axis_own_ends() {
        let range = Axis::plain("x").from_zero().range(&[2.0, 10.0], 5).expect("values");
        assert_eq!((range.from, range.step), (0.0, Some(2.0)));
        assert!(range.to > 10.0 && range.to < 11.0);
        let one = Axis::whole("net").range(&[3.0], 5).expect("a value");
        assert!(one.from < 3.0 && one.to > 3.0 && one.step == Some(1.0));
        let share = Axis::share("s").range(&[0.2, f64::NAN], 5).expect("values");
        assert_eq!((share.from, share.to), (0.0, 1.0));
        assert_eq!(Axis::plain("x").range(&[], 5), None);
        let rate = Axis { scale: Scale::Logarithm, ..Axis::plain("rate") };
        let narrow = rate.range(&[0.012, 0.018], 5).expect("values");
        assert!((narrow.from - 0.01).abs() < 1e-9 && (narrow.to - 0.02).abs() < 1e-9, "{narrow:?}");
        let range = rate.range(&[0.01, 1.0], 5).expect("values");
        assert!(
            range.from > 0.008
                && range.from < 0.01
                && range.to > 1.0
                && range.to < 1.25
                && range.step.is_none()
        );
    }
}
