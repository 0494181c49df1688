//! What the stored games of a run teach, and what a net gets wrong on them, in figures that are compared before and after a change.
//!
//! `cargo run --release -p dc0-benches -- learning --run az_small --net az_small:10`

mod mirror;
mod positions;
mod shortcuts;
mod stored;
mod study;

use std::error::Error;
use std::path::PathBuf;

use clap::Args;
use dc0_core::board::Tablebase;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::{NnueEvaluator, NnueNet};
use dc0_core::network::torch::{Precision, TorchEvaluator, TorchOptions};
use dc0_core::network::{Evaluator, Tower};
use dc0_runs::net::{named, shipped_residual};

use study::{Row, Study};

/// Measures what stored games teach and what a net gets wrong on them: targets on mates and in endings, results that tablebases
/// contradict; whether a net agrees with itself on mirror images, and whether it uses what does not matter for the result.
#[derive(Args)]
pub(crate) struct Options {
    /// The run whose games of self-play are read: its folder, or its name in `datasets`.
    #[arg(long)]
    run: String,
    /// The net: NET.safetensors, RUN or RUN:GENERATION [default: the small shipped residual net].
    #[arg(long)]
    net: Option<String>,
    /// The iterations whose games are read [default: all].
    #[arg(long, value_delimiter = ',')]
    iterations: Vec<u32>,
    /// Positions, evenly spaced over those of the iterations; fewer if there are fewer.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    positions: u64,
    /// A folder of Syzygy tablebases, which the figures of endings need; `cargo xtask tablebases` fetches small ones.
    #[arg(long)]
    tablebases: Option<PathBuf>,
    /// The figures to measure [default: all].
    #[arg(long, value_delimiter = ',', value_parser = Figures::parse)]
    figures: Vec<Figure>,
}

/// Measures the rows of a figure.
type Measure = fn(&mut Study) -> Result<Vec<Row>, Box<dyn Error>>;

/// Something to measure, with one row for each number.
#[derive(Clone, Copy)]
struct Figure {
    /// Its name on the command line and in the table.
    name: &'static str,
    measure: Measure,
}

/// All figures.
struct Figures;

impl Figures {
    const ALL: &'static [Figure] = &[
        Figure { name: "mirror", measure: mirror::measure },
        Figure { name: "shortcuts", measure: shortcuts::measure },
        Figure { name: "mates", measure: stored::mates },
        Figure { name: "capped", measure: stored::capped },
        Figure { name: "endings", measure: stored::endings },
    ];

    /// The figure with a name.
    fn parse(name: &str) -> Result<Figure, String> {
        let names: Vec<&str> = Self::ALL.iter().map(|figure| figure.name).collect();
        let found = Self::ALL.iter().find(|figure| figure.name == name).copied();
        found.ok_or_else(|| format!("expected one of {}", names.join(", ")))
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (net, name) = match &options.net {
        Some(name) => (named(name)?.net, name.as_str()),
        None => (shipped_residual().clone().net, "the small shipped residual net"),
    };
    let positions = positions::read(&options.run, &options.iterations, options.positions as usize)?;
    println!("{} positions of {}, {}, {name}", positions.len(), options.run, net.spec.input());
    let tables = options.tablebases.as_deref().map(Tablebase::open).transpose()?;
    let mut study = Study::new(positions, tables, evaluator(&net)?);
    let chosen = if options.figures.is_empty() { Figures::ALL } else { &options.figures };
    println!("\n{:<10} {:<66} {:>8} {:>10}", "figure", "what", "value", "positions");
    for figure in chosen {
        for Row { what, value, positions } in (figure.measure)(&mut study)? {
            let value = value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
            println!("{:<10} {what:<66} {value:>8} {positions:>10}", figure.name);
        }
    }
    Ok(())
}

/// A net as it plays: an nnue in integers, others in f32.
fn evaluator(net: &Checkpoint) -> Result<Box<dyn Evaluator>, Box<dyn Error>> {
    if net.spec.tower.kind == Tower::Nnue {
        return Ok(Box::new(NnueEvaluator::new(NnueNet::shared(&net.spec, &net.weights)?)));
    }
    let options = TorchOptions { precision: Precision::F32, ..TorchOptions::default() };
    Ok(Box::new(TorchEvaluator::new(&net.spec, &net.weights, options)?))
}
