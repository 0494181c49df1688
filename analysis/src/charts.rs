//! Charts as plain data, drawn by kuva, which only this module uses.
//!
//! [`Chart::svg`] and [`Chart::png`] draw a chart, [`Chart::table`] gives its numbers as rows of text, for readers who cannot see
//! it and for those who want the figures. Series differ by line and marker, not by colour alone.

mod axis;
mod chart;
mod curves;
mod data;
mod draw;
mod figure;
mod levels;
mod parallel;
mod sheet;
mod table;
mod theme;

pub use chart::{
    Axis, Chart, ChartError, Marks, ParallelLine, Point, Reference, Scale, Series, SeriesStyle, StackSeries,
};
pub use figure::figure;
pub use sheet::sheet;
pub(crate) use table::percent;
pub use table::{escape, short, with_noun};
pub use theme::{Ink, Theme};
