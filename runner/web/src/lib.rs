//! Runs in the browser: the live view, and the report as one file.

pub mod report;
pub mod serve;
