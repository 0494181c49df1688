//! Tests across stage borders, of whole runs and of the source; `interop` holds those that need more than cargo builds.
//!
//! They are tests of the package `dc0-run`, because cargo builds a program only for tests of its own package.

mod architecture;
mod docs;
mod encode;
mod program;
mod runs;
