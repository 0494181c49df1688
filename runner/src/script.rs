//! Scripts: the engine, what scripts may use up and import, their values, parameters and errors.

pub mod call;
pub mod convert;
pub mod declared;
pub mod engine;
pub mod failure;
pub mod jail;
pub mod limits;
pub mod names;
pub mod overrides;
pub mod place;
pub mod report;
pub mod sources;

#[cfg(test)]
mod tests;
