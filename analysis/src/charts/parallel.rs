//! Lines across parallel axes (Inselberg 1985), each axis with its own scale, numbers and words.
//!
//! kuva's own chart of this kind has neither logarithmic axes nor words, so lines, axes and what stands at them are put together
//! here from lines and text.

use kuva::plot::line::LinePlot;
use kuva::render::annotations::ReferenceLine;
use kuva::render::color::Color;
use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, TextAnchor};

use super::axis::step;
use super::chart::{Axis, ParallelLine, Scale};
use super::look::{Ink, Look, TEXT_SIZE, letters};
use super::table::short;

/// Numbers at an axis, about.
const TICKS: f64 = 5.0;
/// The least room left and right of the outermost axes.
const MARGIN: f64 = 36.0;
/// Room above and below what stands at the axes, as a share of their height.
const ROOM: f64 = 0.06;
/// Between an axis and what stands at it.
const GAP: f64 = 5.0;
/// What stands at an axis lies on paper that hides most of the lines below.
const PAPER_OPACITY: f64 = 0.75;

impl ParallelLine {
    /// What lines that stand out, and the others, are called in legends.
    pub(super) fn name_of(best: bool) -> &'static str {
        if best { "best quarter, thick" } else { "others, thin" }
    }

    /// The colour of lines that stand out, and of the others.
    pub(super) fn ink_of(best: bool) -> Ink {
        if best { Ink::Series(1) } else { Ink::Text }
    }
}

/// The lines; those that stand out are drawn last, above the others.
pub(super) fn plots(axes: &[Axis], lines: &[ParallelLine], look: Look) -> Vec<Plot> {
    let uprights = uprights(axes, lines);
    let plot = |line: &ParallelLine| -> Plot {
        let heights = uprights.iter().zip(&line.values).map(|(upright, value)| upright.height(*value));
        let places = heights.enumerate().map(|(at, height)| (at as f64 + 1.0, height));
        let width = if line.best { 2.6 } else { 0.8 };
        let plot = LinePlot::new().with_data(places).with_color(ParallelLine::ink_of(line.best).colour(look));
        plot.with_stroke_width(width).into()
    };
    let of = |best: bool| lines.iter().filter(move |line| line.best == best);
    of(false).chain(of(true)).map(plot).collect()
}

/// An upright line for each axis, with its name below.
pub(super) fn layout(layout: Layout, axes: &[Axis], look: Look) -> Layout {
    let names = axes.iter().map(|axis| axis.label.clone()).collect();
    let layout = layout.with_x_categories(names).with_x_label_overlap(AxisLabelOverlap::Stagger);
    let layout = layout.with_x_axis_min(1.0).with_x_axis_max(axes.len() as f64);
    let layout = layout.with_y_axis_min(-ROOM).with_y_axis_max(1.0 + ROOM).with_show_grid(false);
    let upright = |at: usize| ReferenceLine::vertical(at as f64).with_color(Ink::Muted.colour(look));
    // Names stand in the middle below their axes.
    let margin = |axis: Option<&Axis>| {
        axis.map_or(MARGIN, |axis| MARGIN.max(letters(axis.label.chars().count()) / 2.0))
    };
    let layout = layout.with_force_margins(margin(axes.first()), margin(axes.last()));
    let mut layout = (1..=axes.len())
        .fold(layout, |layout, at| layout.with_reference_line(upright(at).with_dasharray("none")));
    layout.suppress_y_ticks = true;
    layout
}

/// The numbers and words at the axes: on the right of each, on the left of the last, and no longer than there is room.
pub(super) fn labels(
    axes: &[Axis],
    lines: &[ParallelLine],
    place: &ComputedLayout,
    look: Look,
) -> Vec<Primitive> {
    let room = place.map_x(2.0) - place.map_x(1.0);
    let most = |at: usize| {
        // What stands at the last two axes shares what lies between them.
        let room = if at + 2 >= axes.len() { room / 2.0 } else { room };
        ((room - 2.0 * GAP) / letters(1)) as usize
    };
    let at_axis = |(at, upright): (usize, Upright<'_>)| -> Vec<Primitive> {
        let (x, is_last) = (place.map_x(at as f64 + 1.0), at + 1 == axes.len());
        let label = |(height, text): (f64, String)| {
            label(x, place.map_y(height), shortened(&text, most(at)), is_last, look)
        };
        upright.ticks().into_iter().flat_map(label).collect()
    };
    uprights(axes, lines).into_iter().enumerate().flat_map(at_axis).collect()
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn label(x: f64, y: f64, content: String, is_last: bool, look: Look) -> [Primitive; 2] {
    let (width, height) = (letters(content.chars().count()), f64::from(TEXT_SIZE));
    let (left, x, anchor) = if is_last {
        (x - GAP - width, x - GAP, TextAnchor::End)
    } else {
        (x + GAP, x + GAP, TextAnchor::Start)
    };
    let paper = Primitive::Rect {
        x: left,
        y: y - height / 2.0,
        width,
        height,
        fill: Color::from(Ink::Paper.colour(look)),
        stroke: None,
        stroke_width: None,
        opacity: Some(PAPER_OPACITY),
    };
    // Text stands on its base line, which is about a third of its size below its middle.
    let y = y + height / 3.0;
    [
        paper,
        Primitive::Text { x, y, content, size: TEXT_SIZE, anchor, rotate: None, bold: false, color: None },
    ]
}

fn uprights<'a>(axes: &'a [Axis], lines: &[ParallelLine]) -> Vec<Upright<'a>> {
    let values = |at: usize| lines.iter().map(move |line| line.values[at]);
    axes.iter().enumerate().map(|(at, axis)| Upright::new(axis, values(at))).collect()
}

/// An axis from the least to the greatest of its values.
struct Upright<'a> {
    axis: &'a Axis,
    least: f64,
    most: f64,
}

impl<'a> Upright<'a> {
    fn new(axis: &'a Axis, values: impl Iterator<Item = f64>) -> Self {
        let ends = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        Self { axis, least, most }
    }

    /// How high a value stands, in [0, 1]; in the middle where all values are the same.
    fn height(&self, value: f64) -> f64 {
        let of = |value: f64| if self.axis.scale == Scale::Logarithm { value.ln() } else { value };
        if self.least < self.most {
            (of(value) - of(self.least)) / (of(self.most) - of(self.least))
        } else {
            0.5
        }
    }

    /// What stands at the axis, and how high: words where they are, and round numbers.
    fn ticks(&self) -> Vec<(f64, String)> {
        let words = self.axis.words.iter().filter(|(place, _)| (self.least..=self.most).contains(place));
        let first = words.clone().map(|(place, _)| *place).fold(f64::INFINITY, f64::min);
        let numbers = match self.axis.scale {
            Scale::Words => Vec::new(),
            Scale::Logarithm => rounds_by_factor(self.least, self.most),
            Scale::Plain | Scale::Whole | Scale::Share => rounds(self.least, self.most),
        };
        let numbers = numbers.into_iter().filter(|number| *number < self.behind(first));
        let numbers = numbers.map(|number| (self.height(number), short(number)));
        words.map(|(place, word)| (self.height(*place), word.clone())).chain(numbers).collect()
    }

    /// Where numbers end before a word, so that the one is not written on the other.
    fn behind(&self, word: f64) -> f64 {
        match (word.is_finite(), self.axis.scale == Scale::Logarithm) {
            (false, _) => f64::INFINITY,
            (true, true) => word / (self.most / self.least).powf(1.0 / (3.0 * TICKS)),
            (true, false) => word - (self.most - self.least) / (3.0 * TICKS),
        }
    }
}

/// Round numbers from the least to the most.
fn rounds(least: f64, most: f64) -> Vec<f64> {
    if least >= most {
        return vec![least];
    }
    let step = step((most - least) / TICKS);
    let (first, last) = ((least / step).ceil() as i64, (most / step).floor() as i64);
    (first..=last).map(|at| at as f64 * step).collect()
}

/// Round numbers that are as far from each other by their logarithms: 1, 2 and 5 times powers of ten, or the powers alone.
fn rounds_by_factor(least: f64, most: f64) -> Vec<f64> {
    let powers = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
    let within = |factors: &'static [f64]| -> Vec<f64> {
        let all =
            powers.clone().flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
        all.filter(|number| (least * 0.999_999..=most * 1.000_001).contains(number)).collect()
    };
    let (fine, coarse) = (within(&[1.0, 2.0, 5.0]), within(&[1.0]));
    match (fine.len(), coarse.len() as f64) {
        // Less than a factor of five: what is round for a plain axis is near enough.
        (0 | 1, _) => rounds(least, most),
        (fine_ones, _) if fine_ones as f64 <= 2.0 * TICKS => fine,
        (_, ones) => coarse.into_iter().step_by((ones / TICKS).ceil() as usize).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Upright, rounds, rounds_by_factor, shortened};
    use crate::charts::{Axis, Scale, short};

    #[test]
    fn numbers_at_an_axis_are_round() {
        let read = |numbers: Vec<f64>| numbers.into_iter().map(short).collect::<Vec<_>>().join(" ");
        assert_eq!(read(rounds(0.0, 1.0)), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(read(rounds(3.0, 3.0)), "3");
        assert_eq!(read(rounds_by_factor(0.03, 3.0)), "0.05 0.1 0.2 0.5 1 2");
        assert_eq!(read(rounds_by_factor(1.1, 1.9)), "1.2 1.4 1.6 1.8");
        assert_eq!(read(rounds_by_factor(0.01, 1e5)), "0.01 1 100 10k");
    }

    #[test]
    fn a_logarithmic_axis_is_spaced_by_factors_and_its_words_stand_behind_its_numbers() {
        let words = vec![(1000.0, "not set".to_owned())];
        let axis = Axis { scale: Scale::Logarithm, words, ..Axis::plain("rate") };
        let upright = Upright::new(&axis, [0.1, 10.0, 1.0, 1000.0].into_iter());
        assert!((upright.height(1.0) - 0.25).abs() < 1e-12);
        let ticks = upright.ticks();
        assert_eq!(ticks[0], (1.0, "not set".to_owned()));
        assert!(ticks.iter().any(|(_, text)| text == "10"), "{ticks:?}");
        assert!(ticks.iter().all(|(height, text)| *height < 0.95 || text == "not set"), "{ticks:?}");
    }

    #[test]
    fn words_are_no_longer_than_their_room() {
        assert_eq!(shortened("gumbel", 6), "gumbel");
        assert_eq!(shortened("sequential halving", 8), "sequent…");
    }

    #[test]
    fn values_that_are_all_the_same_stand_in_the_middle() {
        let axis = Axis::plain("blocks");
        let upright = Upright::new(&axis, [2.0, 2.0].into_iter());
        assert_eq!(upright.ticks(), [(0.5, "2".to_owned())]);
    }
}
