//! Tests of whole runs, of commands and of the source tree. `interop` holds those that need more than cargo builds.
//!
//! They belong to the package `dc0-run`, because cargo builds a program only for tests of its own package.

mod architecture;
mod docs;
mod encode;
mod program;
mod runs;
mod shipped;
mod words;
