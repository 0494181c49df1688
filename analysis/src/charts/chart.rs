//! A chart as plain data.

use thiserror::Error;

use super::theme::Ink;

/// A chart could not be drawn.
#[derive(Debug, Error)]
#[error("the chart {name} cannot be drawn: {cause}")]
pub struct ChartError {
    /// The chart's name.
    pub name: String,
    /// The drawing library's message.
    pub cause: String,
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its unique name: letters, digits and `-`.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub marks: Marks,
    /// Reference lines across the chart.
    pub references: Vec<Reference>,
}

impl Chart {
    /// A chart without a caption and references.
    pub fn new(name: &str, title: &str, x: Axis, y: Axis, marks: Marks) -> Self {
        let (name, title) = (name.to_owned(), title.to_owned());
        Self { name, title, caption: String::new(), x, y, marks, references: Vec::new() }
    }
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its quantity, with the unit.
    pub label: String,
    /// How its numbers are formatted and spaced.
    pub scale: Scale,
    /// A lower bound that the axis always includes.
    pub from: Option<f64>,
    /// An upper bound that the axis always includes.
    pub to: Option<f64>,
    /// Positions with a label instead of a number: beyond the numbers, or 1, 2, 3, … on an axis of categories.
    pub labels: Vec<(f64, String)>,
}

/// How the numbers of an axis are formatted and spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Plain,
    /// Linear, with integer ticks.
    Integer,
    /// Linear, shares in [0, 1] as percentages.
    Share,
    /// Logarithmic.
    Logarithm,
    /// Labels instead of numbers.
    Categories,
}

/// What a chart draws.
#[derive(Debug, Clone, PartialEq)]
pub enum Marks {
    /// Points, or lines through them.
    Series(Vec<Series>),
    /// A stacked bar for each category, with the parts in order from the bottom.
    Stacks {
        /// The names of the bars.
        categories: Vec<String>,
        /// The parts of all bars.
        parts: Vec<StackSeries>,
    },
    /// A horizontal bar for each name, from the top.
    Bars(Vec<(String, f64)>),
    /// Parallel coordinates: vertical axes, and a line across them for each row.
    Parallel {
        /// The axes.
        axes: Vec<Axis>,
        /// The lines, each with a value for every axis; those that are `best` are highlighted.
        lines: Vec<ParallelLine>,
    },
}

/// A line of a parallel coordinates chart.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelLine {
    /// Its name.
    pub name: String,
    /// Its value on each axis.
    pub values: Vec<f64>,
    /// The text of each value.
    pub labels: Vec<String>,
    /// Whether it is highlighted.
    pub best: bool,
}

/// One part of every stacked bar.
#[derive(Debug, Clone, PartialEq)]
pub struct StackSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// Its size in each bar.
    pub values: Vec<f64>,
}

/// A series of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Colour, line and marker.
    pub ink: Ink,
    /// How its points are drawn.
    pub style: SeriesStyle,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesStyle {
    /// Markers without a line; intervals are error bars.
    Markers,
    /// A line with markers; intervals are error bars.
    MarkedLine,
    /// A line without markers; intervals are a band.
    Line,
}

/// A point with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its x value.
    pub x: f64,
    /// Its y value.
    pub y: f64,
    /// The lower and upper end of the confidence interval of `y`.
    pub interval: Option<(f64, f64)>,
}

/// A reference line.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// A horizontal line at a value, with its label.
    Level(f64, String),
    /// The line x = y, with its label.
    Diagonal(String),
}

impl Axis {
    /// A linear axis.
    pub fn plain(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Plain, from: None, to: None, labels: Vec::new() }
    }

    /// An axis of integers.
    pub fn integer(label: impl Into<String>) -> Self {
        Self { scale: Scale::Integer, ..Self::plain(label) }
    }

    /// An axis of shares, from 0 to 1.
    pub fn share(label: impl Into<String>) -> Self {
        Self { scale: Scale::Share, from: Some(0.0), to: Some(1.0), ..Self::plain(label) }
    }

    /// The same axis, always including 0.
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
