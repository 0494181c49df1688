//! The ranges of axes and the spacing of their ticks.

use super::chart::{Axis, Marks, Scale, Series};
use super::table::{percent, short};

/// The ends of an axis and the distance between its ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) from: f64,
    pub(super) to: f64,
    /// `None` if ticks are not evenly spaced.
    pub(super) step: Option<f64>,
}

/// Padding between the outermost values and the axis ends, as a share of the values' span.
const PADDING: f64 = 0.04;
/// The smallest factor between the ends of a logarithmic axis that the padding assumes. Chosen.
const MIN_FACTOR: f64 = 10.0;

/// Characters of a vertical axis' label that fit the height of a chart.
const UPRIGHT_LENGTH: usize = 40;

impl Axis {
    /// The label as a vertical axis has it.
    pub(super) fn upright_label(&self) -> String {
        truncated(&self.label, UPRIGHT_LENGTH)
    }

    /// A range that contains the values and the axis' own bounds, with about the wanted number of ticks.
    pub(super) fn range(&self, values: &[f64], ticks: usize) -> Option<Range> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let least = finite().chain(self.from).fold(f64::INFINITY, f64::min);
        let most = finite().chain(self.to).fold(f64::NEG_INFINITY, f64::max);
        if self.scale == Scale::Categories || least > most {
            return None;
        }
        if self.scale == Scale::Logarithm {
            let padding = (most / least).max(MIN_FACTOR).powf(PADDING);
            let (from, to) = widened(least / padding, most * padding);
            return Some(Range { from, to, step: None });
        }
        let (least, most) = if least < most { (least, most) } else { (least - 0.5, most + 0.5) };
        let padding = PADDING * (most - least);
        let step = step((most - least) / ticks as f64);
        let step = if self.scale == Scale::Integer { step.max(1.0).ceil() } else { step };
        // The axis' own bounds are exact; other ends get padding.
        let from = if self.from == Some(least) { least } else { least - padding };
        let to = if self.to == Some(most) { most } else { most + padding };
        Some(Range { from, to, step: Some(step) })
    }

    /// The tick text of a value: its label, or the number as the axis formats it.
    pub(super) fn text(&self, value: f64) -> String {
        match (self.label_at(value), self.scale) {
            (Some(label), _) => label.to_owned(),
            (None, Scale::Share) => percent(value, 0),
            (None, Scale::Integer) => format!("{value:.0}"),
            (None, Scale::Plain | Scale::Logarithm | Scale::Categories) => short(value),
        }
    }

    pub(super) fn label_at(&self, value: f64) -> Option<&str> {
        self.labels.iter().find(|(position, _)| *position == value).map(|(_, label)| label.as_str())
    }
}

/// The beginning of a text that is too long.
pub(super) fn truncated(text: &str, max_length: usize) -> String {
    if text.chars().count() <= max_length {
        return text.to_owned();
    }
    text.chars().take(max_length.saturating_sub(1)).chain(['…']).collect()
}

/// The ends of a logarithmic axis, widened if fewer than two ticks lie between them.
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

/// The smallest step of at least `least` among 1, 2, 2.5 and 5 times powers of ten.
pub(super) fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(least)
}

/// The values that an axis has to contain.
pub(super) fn values(marks: &Marks, of_series: fn(&Series) -> Vec<f64>) -> Vec<f64> {
    if let Marks::Series(series) = marks { series.iter().flat_map(of_series).collect() } else { Vec::new() }
}

/// The x values of a series' points.
pub(super) fn x_values(series: &Series) -> Vec<f64> {
    series.points.iter().map(|point| point.x).collect()
}

/// The y values of a series' points, and the ends of their intervals.
pub(super) fn y_values(series: &Series) -> Vec<f64> {
    let all = |point: &super::chart::Point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [low, point.y, high]
    };
    series.points.iter().flat_map(all).collect()
}

#[cfg(test)]
mod tests {
    use super::{Axis, Scale, step, truncated};

    #[test]
    fn long_labels_are_truncated() {
        assert_eq!(truncated("gumbel", 6), "gumbel");
        assert_eq!(truncated("sequential halving", 8), "sequent…");
    }

    #[test]
    fn steps_are_round() {
        let cases = [(1.0, 1.0), (1.1, 2.0), (2.2, 2.5), (0.03, 0.05), (70.0, 100.0), (250.0, 250.0)];
        for (least, round) in cases {
            assert!((step(least) - round).abs() < 1e-9 * round, "{least}: {}", step(least));
        }
    }

    #[test]
    fn ranges_contain_all_values_and_the_axis_bounds() {
        let range = Axis::plain("x").from_zero().range(&[2.0, 10.0], 5).expect("values");
        assert_eq!((range.from, range.step), (0.0, Some(2.0)));
        assert!(range.to > 10.0 && range.to < 11.0);
        let one = Axis::integer("net").range(&[3.0], 5).expect("a value");
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
