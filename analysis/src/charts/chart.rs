//! A chart as plain data.

use thiserror::Error;

use super::look::Ink;

/// A picture was not drawn.
#[derive(Debug, Error)]
#[error("the chart {name} cannot be drawn: {cause}")]
pub struct ChartError {
    /// The chart's name.
    pub name: String,
    /// What the drawing library says.
    pub cause: String,
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its name among all charts: letters, digits and `-`.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub about: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub marks: Marks,
    /// Values to compare with, as lines across the chart.
    pub references: Vec<Reference>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it counts, with its unit.
    pub label: String,
    /// How its numbers are written.
    pub scale: Scale,
    /// The least end that is shown at all events.
    pub from: Option<f64>,
    /// The greatest end that is shown at all events.
    pub to: Option<f64>,
    /// What stands where words take the place of numbers: behind all numbers, or at 1, 2, 3 and so on of an axis of words.
    pub words: Vec<(f64, String)>,
}

/// How the numbers of an axis are written and spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Plain,
    /// Whole numbers.
    Whole,
    /// Shares in [0, 1], as percentages.
    Share,
    /// Spaced by their logarithm.
    Logarithm,
    /// Words alone.
    Words,
}

/// What a chart draws.
#[derive(Debug, Clone, PartialEq)]
pub enum Marks {
    /// Points, or lines through them.
    Series(Vec<Series>),
    /// A stack for each category; the parts lie on each other in their order.
    Stacks {
        /// The names of the stacks.
        categories: Vec<String>,
        /// The parts of all stacks.
        parts: Vec<Part>,
    },
    /// One horizontal bar for each name, from the top.
    Bars(Vec<(String, f64)>),
    /// One line for each row across an upright axis for each name.
    Parallel {
        /// The axes.
        axes: Vec<Axis>,
        /// The lines, each with a value for each axis; `best` ones stand out.
        lines: Vec<ParallelLine>,
    },
}

/// A line of a chart of parallel axes.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelLine {
    /// What it is.
    pub name: String,
    /// A value for each axis.
    pub values: Vec<f64>,
    /// What each value is in words.
    pub words: Vec<String>,
    /// Whether it stands out.
    pub best: bool,
}

/// A part of stacks.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// Its size in each stack.
    pub values: Vec<f64>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// Colour, line and marker.
    pub ink: Ink,
    /// Whether a line joins them.
    pub joined: Joined,
    /// From the left to the right.
    pub points: Vec<Point>,
}

/// How points are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// Not at all; intervals are bars.
    No,
    /// By a line with markers; intervals are bars.
    Marked,
    /// By a line alone; intervals are a band.
    Line,
}

/// A point with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its place.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// The lower and upper end of what the value may be.
    pub interval: Option<(f64, f64)>,
}

/// A line to compare with.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// Across the chart at a value.
    Level(f64, String),
    /// From the lower left to the upper right: where x equals y.
    Diagonal(String),
}

impl Axis {
    /// An axis of plain numbers.
    pub fn plain(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Plain, from: None, to: None, words: Vec::new() }
    }

    /// An axis of whole numbers.
    pub fn whole(label: impl Into<String>) -> Self {
        Self { scale: Scale::Whole, ..Self::plain(label) }
    }

    /// An axis of shares from none to all.
    pub fn share(label: impl Into<String>) -> Self {
        Self { scale: Scale::Share, from: Some(0.0), to: Some(1.0), ..Self::plain(label) }
    }

    /// The same axis, from 0 at the latest.
    pub fn from_zero(self) -> Self {
        Self { from: Some(0.0), ..self }
    }
}

impl Point {
    /// A point without an interval.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None }
    }
}

impl Chart {
    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        match &self.marks {
            Marks::Series(series) => series.iter().all(|series| series.points.is_empty()),
            Marks::Stacks { categories, .. } => categories.is_empty(),
            Marks::Bars(bars) => bars.is_empty(),
            Marks::Parallel { lines, .. } => lines.is_empty(),
        }
    }
}
