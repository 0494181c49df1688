//! Parallel coordinates (Inselberg 1985): lines across vertical axes, each with its own scale, numbers and labels.
//!
//! kuva's own parallel coordinates have neither logarithmic axes nor labels, so lines, axes and tick labels are built here from lines
//! and text.

use kuva::plot::line::LinePlot;
use kuva::render::annotations::ReferenceLine;
use kuva::render::color::Color;
use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, TextAnchor};

use super::axis::{step, truncated};
use super::chart::{Axis, ParallelLine, Scale};
use super::table::short;
use super::theme::{Ink, TEXT_SIZE, Theme, text_width};

/// The approximate number of ticks per axis.
const TICKS: f64 = 5.0;
/// The smallest margin left and right of the outermost axes.
const MARGIN: f64 = 36.0;
/// Padding above and below the values, as a share of the axes' height.
const PADDING: f64 = 0.06;
/// The gap between an axis and its tick labels.
const GAP: f64 = 5.0;
/// The opacity of the background of tick labels, which hides most of the lines below.
const BACKGROUND_OPACITY: f64 = 0.75;

impl ParallelLine {
    /// The legend's name for highlighted lines, and for the others.
    pub(super) fn name_of(best: bool) -> &'static str {
        if best { "best quarter, thick" } else { "others, thin" }
    }

    /// The colour of highlighted lines, and of the others.
    pub(super) fn ink_of(best: bool) -> Ink {
        if best { Ink::Series(1) } else { Ink::Text }
    }
}

/// The height of each line at each axis, in [0, 1].
pub(super) fn heights(axes: &[Axis], lines: &[ParallelLine]) -> Vec<Vec<f64>> {
    let scales = axis_scales(axes, lines);
    let of = |line: &ParallelLine| {
        scales.iter().zip(&line.values).map(|(scale, value)| scale.height(*value)).collect()
    };
    lines.iter().map(of).collect()
}

/// The lines; highlighted ones are drawn last, above the others.
pub(super) fn plots(axes: &[Axis], lines: &[ParallelLine], theme: Theme) -> Vec<Plot> {
    let plot = |(line, heights): (&ParallelLine, Vec<f64>)| -> Plot {
        let points = heights.into_iter().enumerate().map(|(index, height)| (index as f64 + 1.0, height));
        let width = if line.best { 2.6 } else { 0.8 };
        let plot =
            LinePlot::new().with_data(points).with_color(ParallelLine::ink_of(line.best).colour(theme));
        plot.with_stroke_width(width).into()
    };
    let (best, others): (Vec<_>, Vec<_>) =
        lines.iter().zip(heights(axes, lines)).partition(|(line, _)| line.best);
    others.into_iter().chain(best).map(plot).collect()
}

/// A vertical line for each axis, with its name below.
pub(super) fn layout(layout: Layout, axes: &[Axis], width: f64, theme: Theme) -> Layout {
    // Names alternate between two rows, so each has the room of two axes.
    let room = 2.0 * (width - 2.0 * MARGIN) / (axes.len() - 1).max(1) as f64;
    let longest = ((room - GAP) / text_width(1)) as usize;
    let names: Vec<String> = axes.iter().map(|axis| end_of(&axis.label, longest)).collect();
    let lengths = [names.first(), names.last()].map(|name| name.map_or(0, |name| name.chars().count()));
    let layout = layout.with_x_categories(names).with_x_label_overlap(AxisLabelOverlap::Stagger);
    let layout = layout.with_x_axis_min(1.0).with_x_axis_max(axes.len() as f64);
    let layout = layout.with_y_axis_min(-PADDING).with_y_axis_max(1.0 + PADDING).with_show_grid(false);
    let vertical = |x: usize| ReferenceLine::vertical(x as f64).with_color(Ink::Muted.colour(theme));
    // Names are centred below their axes.
    let [left, right] = lengths.map(|length| MARGIN.max(text_width(length) / 2.0));
    let layout = layout.with_force_margins(left, right);
    let mut layout = (1..=axes.len())
        .fold(layout, |layout, x| layout.with_reference_line(vertical(x).with_dasharray("none")));
    layout.suppress_y_ticks = true;
    layout
}

/// The tick labels: right of each axis, left of the last one, truncated to the space between axes.
pub(super) fn labels(
    axes: &[Axis],
    lines: &[ParallelLine],
    layout: &ComputedLayout,
    theme: Theme,
) -> Vec<Primitive> {
    let space = layout.map_x(2.0) - layout.map_x(1.0);
    let max_length = |index: usize| {
        // The labels of the last two axes share the space between them.
        let space = if index + 2 >= axes.len() { space / 2.0 } else { space };
        ((space - 2.0 * GAP) / text_width(1)) as usize
    };
    let at_axis = |(index, scale): (usize, AxisScale<'_>)| -> Vec<Primitive> {
        let (x, is_last) = (layout.map_x(index as f64 + 1.0), index + 1 == axes.len());
        let label = |(height, text): (f64, String)| {
            label(x, layout.map_y(height), truncated(&text, max_length(index)), is_last, theme)
        };
        scale.ticks().into_iter().flat_map(label).collect()
    };
    axis_scales(axes, lines).into_iter().enumerate().flat_map(at_axis).collect()
}

/// The end of a name that is too long: the last parts of a path distinguish it.
fn end_of(name: &str, longest: usize) -> String {
    let length = name.chars().count();
    if length <= longest {
        return name.to_owned();
    }
    ['…'].into_iter().chain(name.chars().skip(length + 1 - longest.max(1))).collect()
}

fn label(x: f64, y: f64, content: String, is_last: bool, theme: Theme) -> [Primitive; 2] {
    let (width, height) = (text_width(content.chars().count()), f64::from(TEXT_SIZE));
    let (left, x, anchor) = if is_last {
        (x - GAP - width, x - GAP, TextAnchor::End)
    } else {
        (x + GAP, x + GAP, TextAnchor::Start)
    };
    let background = Primitive::Rect {
        x: left,
        y: y - height / 2.0,
        width,
        height,
        fill: Color::from(Ink::Background.colour(theme)),
        stroke: None,
        stroke_width: None,
        opacity: Some(BACKGROUND_OPACITY),
    };
    // SVG places text by its baseline, which is about a third of the font size below the middle.
    let y = y + height / 3.0;
    [
        background,
        Primitive::Text { x, y, content, size: TEXT_SIZE, anchor, rotate: None, bold: false, color: None },
    ]
}

fn axis_scales<'a>(axes: &'a [Axis], lines: &[ParallelLine]) -> Vec<AxisScale<'a>> {
    let values = |index: usize| lines.iter().map(move |line| line.values[index]);
    axes.iter().enumerate().map(|(index, axis)| AxisScale::new(axis, values(index))).collect()
}

/// A vertical axis that spans its smallest to its largest value.
struct AxisScale<'a> {
    axis: &'a Axis,
    least: f64,
    most: f64,
}

impl<'a> AxisScale<'a> {
    fn new(axis: &'a Axis, values: impl Iterator<Item = f64>) -> Self {
        let ends = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        Self { axis, least, most }
    }

    /// The height of a value, in [0, 1]; ½ if all values are equal.
    fn height(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.axis.scale == Scale::Logarithm { value.ln() } else { value };
        if self.least < self.most {
            (scaled(value) - scaled(self.least)) / (scaled(self.most) - scaled(self.least))
        } else {
            0.5
        }
    }

    /// The tick labels with their heights: the axis' labels, and round numbers.
    fn ticks(&self) -> Vec<(f64, String)> {
        let labels = self.axis.labels.iter();
        let labels = labels.filter(|(position, _)| (self.least..=self.most).contains(position));
        let first = labels.clone().map(|(position, _)| *position).fold(f64::INFINITY, f64::min);
        let numbers = match self.axis.scale {
            Scale::Categories => Vec::new(),
            Scale::Logarithm => round_numbers_by_factor(self.least, self.most),
            Scale::Plain | Scale::Integer | Scale::Share => round_numbers(self.least, self.most),
        };
        let numbers = numbers.into_iter().filter(|number| *number < self.last_number_before(first));
        let numbers = numbers.map(|number| (self.height(number), short(number)));
        labels.map(|(position, label)| (self.height(*position), label.clone())).chain(numbers).collect()
    }

    /// The end of the numbers before a label's position, so that they do not overlap it.
    fn last_number_before(&self, label: f64) -> f64 {
        match (label.is_finite(), self.axis.scale == Scale::Logarithm) {
            (false, _) => f64::INFINITY,
            (true, true) => label / (self.most / self.least).powf(1.0 / (3.0 * TICKS)),
            (true, false) => label - (self.most - self.least) / (3.0 * TICKS),
        }
    }
}

/// Evenly spaced round numbers in a range.
fn round_numbers(least: f64, most: f64) -> Vec<f64> {
    if least >= most {
        return vec![least];
    }
    let step = step((most - least) / TICKS);
    let (first, last) = ((least / step).ceil() as i64, (most / step).floor() as i64);
    (first..=last).map(|multiple| multiple as f64 * step).collect()
}

/// Round numbers for a logarithmic axis: 1, 2 and 5 times powers of ten, or powers of ten alone.
fn round_numbers_by_factor(least: f64, most: f64) -> Vec<f64> {
    let powers = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
    let within = |factors: &'static [f64]| -> Vec<f64> {
        let all =
            powers.clone().flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
        all.filter(|number| (least * 0.999_999..=most * 1.000_001).contains(number)).collect()
    };
    let (fine, coarse) = (within(&[1.0, 2.0, 5.0]), within(&[1.0]));
    match (fine.len(), coarse.len() as f64) {
        // With less than a factor of five, the ticks of a linear axis are good enough.
        (0 | 1, _) => round_numbers(least, most),
        (count, _) if count as f64 <= 2.0 * TICKS => fine,
        (_, count) => coarse.into_iter().step_by((count / TICKS).ceil() as usize).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{AxisScale, end_of, round_numbers, round_numbers_by_factor};
    use crate::charts::{Axis, Scale, short};

    #[test]
    fn numbers_at_an_axis_are_round() {
        let read = |numbers: Vec<f64>| numbers.into_iter().map(short).collect::<Vec<_>>().join(" ");
        assert_eq!(read(round_numbers(0.0, 1.0)), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(read(round_numbers(3.0, 3.0)), "3");
        assert_eq!(read(round_numbers_by_factor(0.03, 3.0)), "0.05 0.1 0.2 0.5 1 2");
        assert_eq!(read(round_numbers_by_factor(1.1, 1.9)), "1.2 1.4 1.6 1.8");
        assert_eq!(read(round_numbers_by_factor(0.01, 1e5)), "0.01 1 100 10k");
    }

    #[test]
    fn a_logarithmic_axis_has_its_labels_after_its_numbers() {
        let labels = vec![(1000.0, "not set".to_owned())];
        let axis = Axis { scale: Scale::Logarithm, labels, ..Axis::plain("rate") };
        let scale = AxisScale::new(&axis, [0.1, 10.0, 1.0, 1000.0].into_iter());
        assert!((scale.height(1.0) - 0.25).abs() < 1e-12);
        let ticks = scale.ticks();
        assert_eq!(ticks[0], (1.0, "not set".to_owned()));
        assert!(ticks.iter().any(|(_, text)| text == "10"), "{ticks:?}");
        assert!(ticks.iter().all(|(height, text)| *height < 0.95 || text == "not set"), "{ticks:?}");
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(end_of("search.c_puct", 13), "search.c_puct");
        assert_eq!(end_of("search.c_puct", 8), "….c_puct");
        assert_eq!(end_of("search.c_puct", 0), "…");
    }

    #[test]
    fn equal_values_are_in_the_middle() {
        let axis = Axis::plain("blocks");
        let scale = AxisScale::new(&axis, [2.0, 2.0].into_iter());
        assert_eq!(scale.ticks(), [(0.5, "2".to_owned())]);
    }
}
