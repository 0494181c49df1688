//! Sweeps: many runs of one script at points of a space, chosen, watched and compared.

pub mod pruner;
pub mod sampler;
pub mod space;
pub mod told;
