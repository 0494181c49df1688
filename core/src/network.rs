//! Nets: what they look like ([`NetworkSpec`]), what they say ([`Evaluator`]), and how they are stored.
//!
//! Only `network::torch` (and `trainer`) know libtorch. The [`fake`] evaluators are pure functions of the position, so
//! whole searches and games can be golden files.

mod batch;
pub mod checkpoint;
pub mod fake;
mod spec;
pub mod torch;

pub use batch::{Batch, Evaluations, Evaluator, EvaluatorError, Wdl};
pub use spec::{Activation, NetworkSpec, PolicyHead, PolicyHeadSpec, Tower, TowerSpec, ValueHead, ValueHeadSpec};
