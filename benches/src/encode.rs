//! Positions encoded a second on one core, with the earlier positions of their games at hand.
//!
//! `cargo run --release -p dc0-benches -- encode`

use clap::Args;
use dc0_core::board::{Game, Rules, random_opening};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::Batch;
use dc0_core::rng::{Purpose, Seed};

use crate::timing::Rates;

/// Positions of random games as bits and numbers, table by table; and the indices of their legal moves.
#[derive(Args)]
pub(crate) struct Options {
    /// Positions, from the opening to deep in random games.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    positions: u64,
    /// Positions of a measurement.
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    encoded: u64,
    /// Rows of a batch, after which its memory is used again.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    rows: u64,
    /// Repetitions; the table shows median, slowest and fastest.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
}

fn games(count: u64) -> Vec<Game> {
    let game = |number| {
        let mut stream = Seed { run: 1, step: 1 }.stream(number, Purpose::Opening);
        random_opening((number % 120) as u32, &Rules { max_plies: 512 }, &mut stream)
    };
    (0..count).map(game).collect()
}

/// Calls `row` for each thing in turn, and forgets what it wrote after every batch.
fn fill<T>(options: &Options, things: &[T], mut row: impl FnMut(&T, &mut Batch)) -> u64 {
    let mut batch = Batch::default();
    for (number, thing) in (0..options.encoded).zip(things.iter().cycle()) {
        if number % options.rows == 0 {
            std::hint::black_box(&mut batch).clear();
        }
        row(thing, &mut batch);
    }
    options.encoded
}

pub(crate) fn run(options: &Options) {
    let games = games(options.positions);
    println!("{} positions, one core; positions/s: median (slowest – fastest)", games.len());
    println!("{:<24} {:>6} {:>6} {:>8} {:>12}", "encoding", "planes", "bytes", "ns", "positions/s");
    for (name, orientation) in EncodingName::ALL
        .into_iter()
        .flat_map(|name| [Orientation::SideToMove, Orientation::Absolute].map(|seen| (name, seen)))
    {
        let encoding = Encoding::new(name, orientation);
        let bytes = 8 * encoding.binary_count() + 4 * encoding.scalar_count();
        let rates = Rates::measure(options.repeats, || {
            fill(options, &games, |game, batch| {
                encoding.encode(game, &mut batch.binary, &mut batch.scalars);
            })
        });
        let (what, nanos) = (encoding.to_string(), 1e9 / rates.median());
        println!("{what:<24} {:>6} {bytes:>6} {nanos:>8.1} {rates}", encoding.planes().len());
    }
    indices(options, &games);
}

/// The indices of all legal moves of a position, once the moves are known.
fn indices(options: &Options, games: &[Game]) {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let moves = |game: &Game| (game.position().side_to_move(), game.position().legal_moves());
    let known: Vec<_> = games.iter().map(moves).collect();
    let rates = Rates::measure(options.repeats, || {
        fill(options, &known, |(side, moves), batch| {
            batch.legal.extend(moves.iter().map(|played| encoding.policy_index(*played, *side)));
        })
    });
    println!("{:<24} {:>6} {:>6} {:>8.1} {rates}", "indices of legal moves", "", "", 1e9 / rates.median());
}
