//! Tests of losses, optimisers and whole trainings.

mod loss;
mod mirror;
mod nnue;
mod optimizer;
mod state;
mod training;

use crate::trainer::tests::{
    SEED, all_trained, encoding, material, random_games, rows, rows_from, samples, uci,
};
