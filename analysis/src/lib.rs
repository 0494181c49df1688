//! SQL and data frames over the tables of runs. Only this crate names polars; nothing here writes to a run, takes a lock or
//! reads a clock.
//!
//! The runner says which runs there are, as plain data ([`RunSource`], [`SweepSource`]); a [`Database`] over them answers
//! statements with a [`Frame`], which is computed when its [`Rows`] are asked for:
//!
//! ```no_run
//! use dc0_analysis::{Database, RunSource, Work};
//!
//! let run = RunSource::of_folder("first", "datasets/first");
//! let database = Database::new(vec![run], Vec::new(), Work::Fast);
//! let rows = database.query("select reason, count(*) as games from games group by reason")?.rows()?;
//! println!("{rows}");
//! # Ok::<(), dc0_analysis::AnalysisError>(())
//! ```

/// A variable of the environment with its value: in a process that starts with it, one thread computes all answers, so that sums of
/// fractions are added up in the same order on any machine.
pub const ONE_THREAD: (&str, &str) = ("POLARS_MAX_THREADS", "1");

mod answer;
pub mod charts;
mod chess;
mod database;
mod error;
mod export;
mod files;
mod frame;
mod functions;
mod page;
mod plain;
mod questions;
mod rating;
pub mod report;
mod rows;
mod scan;
mod show;
mod source;
mod standing;
mod statement;
mod stored;
pub mod web;

pub use database::{ColumnInfo, Database, TableInfo, Work};
pub use error::AnalysisError;
pub use export::Format;
pub use frame::{Frame, Grouped};
pub use functions::{FunctionInfo, functions};
pub use questions::{Question, questions};
pub use rows::Rows;
pub use show::{Limits, Shown};
pub use source::{Files, RunRow, RunSource, StepRow, SweepSource, Trial};
