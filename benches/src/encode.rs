//! Positions encoded per second on one core, with the history of their games.
//!
//! `cargo run --release -p dc0-benches -- encode`

use clap::Args;
use dc0_core::board::Game;
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::Batch;

use crate::positions::games;
use crate::timing::Rates;

/// Encodes positions of random games with every encoding, and computes the policy indices of their legal moves.
#[derive(Args)]
pub(crate) struct Options {
    /// Positions, from the opening to deep in random games.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    positions: u64,
    /// Positions encoded per measurement.
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    encoded: u64,
    /// Rows of a batch, after which its memory is reused.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    rows: u64,
    /// Repetitions; the table shows median, slowest and fastest.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
}

/// Calls `row` for the items in turn, and clears the batch whenever it is full.
fn fill<T>(options: &Options, items: &[T], mut row: impl FnMut(&T, &mut Batch)) -> u64 {
    let mut batch = Batch::default();
    for (number, item) in (0..options.encoded).zip(items.iter().cycle()) {
        if number % options.rows == 0 {
            std::hint::black_box(&mut batch).clear();
        }
        row(item, &mut batch);
    }
    options.encoded
}

pub(crate) fn run(options: &Options) {
    let games = games(options.positions, 120);
    println!("{} positions, one core; positions/s: median (slowest – fastest)", games.len());
    println!("{:<24} {:>6} {:>6} {:>8} {:>12}", "encoding", "planes", "bytes", "ns", "positions/s");
    for (name, orientation) in EncodingName::ALL
        .into_iter()
        .flat_map(|name| name.orientations().iter().map(move |orientation| (name, *orientation)))
    {
        let encoding = Encoding::new(name, orientation);
        let bytes = 8 * encoding.binary_count() + 4 * encoding.scalar_count();
        let rates = Rates::measure(options.repeats, || {
            fill(options, &games, |game, batch| {
                encoding.encode(game, &mut batch.binary, &mut batch.scalars);
            })
        });
        let (label, nanos) = (encoding.to_string(), 1e9 / rates.median());
        println!("{label:<24} {:>6} {bytes:>6} {nanos:>8.1} {rates}", encoding.planes().len());
    }
    indices(options, &games);
}

/// Measures the policy indices of legal moves, without generating the moves.
fn indices(options: &Options, games: &[Game]) {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let moves = |game: &Game| (game.position().side_to_move(), game.position().legal_moves());
    let positions: Vec<_> = games.iter().map(moves).collect();
    let rates = Rates::measure(options.repeats, || {
        fill(options, &positions, |(side, moves), batch| {
            batch.legal.extend(moves.iter().map(|mv| encoding.policy_index(*mv, *side)));
        })
    });
    println!("{:<24} {:>6} {:>6} {:>8.1} {rates}", "indices of legal moves", "", "", 1e9 / rates.median());
}
