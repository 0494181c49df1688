//! The tables of runs for other programs.

mod duckdb;
mod polars;
