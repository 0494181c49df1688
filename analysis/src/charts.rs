//! Charts: what is to be drawn, apart from how. kuva draws them; only this module names it.
//!
//! A chart is plain data. [`Chart::svg`] and [`Chart::png`] draw it in one of the looks, [`Chart::table`] says the same in
//! rows of text, for people who cannot see it and for those who want the numbers. Series differ by line and marker and not by
//! colour alone.

mod axis;
mod chart;
mod curves;
mod draw;
mod figure;
mod look;
mod parallel;
mod sheet;
mod table;

pub use chart::{
    Axis, Chart, ChartError, Joined, Marks, ParallelLine, Part, Point, Reference, Scale, Series,
};
pub use figure::figure;
pub use look::{Ink, Look};
pub use sheet::sheet;
pub use table::{escape, short};
