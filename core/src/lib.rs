#![doc = include_str!("../README.md")]

pub mod alphabeta;
pub mod arena;
pub mod board;
pub mod book;
pub mod durable;
#[cfg(test)]
mod effort;
pub mod encoding;
pub mod event;
pub mod import;
mod math;
pub mod network;
pub mod params;
pub mod poison;
pub mod regular;
pub mod rng;
pub mod search;
pub mod selfplay;
pub mod store;
pub mod text_table;
pub mod trainer;
