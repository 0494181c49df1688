//! SQL and data frames over the tables of runs. Only this crate uses DuckDB and polars; nothing here writes to a run, takes a lock or
//! reads a clock.
//!
//! The runner supplies the runs as plain data ([`RunSource`], [`SweepSource`]); a [`Database`] over them turns a statement into a
//! [`Frame`], which is computed when its [`Rows`] are requested:
//!
//! ```no_run
//! use dc0_analysis::{Database, RunSource, Work};
//!
//! let run = RunSource::from_folder("first", "datasets/first");
//! let database = Database::new(vec![run], Vec::new(), Work::Fast);
//! let rows = database.query("select reason, count(*) as games from games group by reason")?.rows()?;
//! println!("{rows}");
//! # Ok::<(), dc0_analysis::AnalysisError>(())
//! ```

mod answer;
mod catalog;
pub mod charts;
mod chess;
mod column_docs;
mod column_types;
mod computed_tables;
mod database;
mod duckdb;
mod error;
mod export;
mod frame;
mod functions;
mod questions;
mod quoting;
pub mod report;
mod rows;
mod session;
mod show;
mod source;
mod staleness;
mod standings;
mod statement;
mod stored_tables;
mod table_files;
mod views;
pub mod web;

pub use database::{ColumnInfo, Database, TableInfo};
pub use duckdb::{LibraryError, duckdb_version, use_duckdb};
pub use error::AnalysisError;
pub use export::Format;
pub use frame::{Frame, Grouped};
pub use functions::{FunctionInfo, functions};
pub use questions::{Question, questions};
pub use rows::Rows;
pub use session::{Session, Work};
pub use show::{Limits, Shown};
pub use source::{Damage, Files, Promotion, RunRow, RunSource, StepRow, SweepSource, Trial};
pub use stored_tables::stored_names;
