//! A simulated fleet of up to 100,000 workers: what its coordinator, its broker and its links can take, what saturates first, how far
//! the net that played is behind the one that learns, and what a position costs. Nothing is sent: all figures are options, with what
//! was measured as defaults, and the same options and seed give the same table.
//!
//! `cargo run --release -p dc0-benches -- scale`

mod design;
mod draws;
mod events;
mod learner;
mod options;
mod outcome;
mod server;
mod simulation;
#[cfg(test)]
mod tests;
mod worker;

use dc0_core::text_table::{Align, aligned};

pub(crate) use options::Options;
use outcome::Outcome;
use simulation::Simulation;

/// Simulates each number of workers and prints the table.
pub(crate) fn run(options: &Options) {
    println!("{}", table(options).join("\n"));
}

/// The table: a line for each number of workers.
fn table(options: &Options) -> Vec<String> {
    let mut rows = vec![Outcome::HEADER.map(str::to_owned)];
    for workers in &options.workers {
        rows.push(Outcome::of(Simulation::new(options, *workers).run()).row());
    }
    aligned(&rows, |column| if column + 1 == Outcome::HEADER.len() { Align::Left } else { Align::Right })
}
