//! Losses, optimisers and whole trainings, with the stage's games.

mod loss;
mod optimizer;
mod state;
mod training;

use crate::trainer::tests::{SEED, all_trained, encoding, material, random_games, rows, samples, uci};
