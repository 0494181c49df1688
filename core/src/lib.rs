#![doc = include_str!("../README.md")]

pub mod arena;
pub mod board;
pub mod book;
pub mod durable;
pub mod encoding;
pub mod event;
pub mod import;
pub mod network;
pub mod params;
pub mod poison;
pub mod rng;
pub mod search;
pub mod selfplay;
pub mod store;
pub mod text_table;
pub mod trainer;
