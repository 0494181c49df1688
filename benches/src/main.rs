//! Benchmarks of every stage, one command each; each module says what it measures and how to call it.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod count;
mod encode;
mod evaluate;
mod learning;
mod match_statistics;
mod nnue;
mod one_tree;
mod positions;
mod scale;
mod self_play;
mod stored_games;
mod tables;
mod timing;
mod training;

use std::error::Error;

use clap::Parser;
use mimalloc::MiMalloc;

/// The allocator of the program that is measured.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Measures one part of dc0 on its own.
#[derive(Parser)]
enum Bench {
    Count(count::Options),
    Encode(encode::Options),
    Evaluate(evaluate::Options),
    Learning(learning::Options),
    MatchStatistics(match_statistics::Options),
    Nnue(nnue::Options),
    OneTree(one_tree::Options),
    Scale(Box<scale::Options>),
    SelfPlay(self_play::Options),
    Tables(tables::Options),
    Training(training::Options),
}

fn main() -> Result<(), Box<dyn Error>> {
    match Bench::parse() {
        Bench::Count(options) => count::run(&options),
        Bench::Encode(options) => encode::run(&options),
        Bench::Evaluate(options) => evaluate::run(&options)?,
        Bench::Learning(options) => learning::run(&options)?,
        Bench::MatchStatistics(options) => match_statistics::run(&options),
        Bench::Nnue(options) => nnue::run(&options),
        Bench::OneTree(options) => one_tree::run(&options),
        Bench::Scale(options) => scale::run(&options),
        Bench::SelfPlay(options) => self_play::run(&options),
        Bench::Tables(options) => tables::run(&options)?,
        Bench::Training(options) => training::run(&options)?,
    }
    Ok(())
}
