//! Tests of opponents with programs that behave and misbehave, all of them `examples/test_engine.rs`.

mod engine;
mod leftovers;
mod uci;
mod xboard;
