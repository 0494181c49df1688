//! The analysis from outside, in one test program: linking costs more than testing.

mod queries;
mod reports;
