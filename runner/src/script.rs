//! Scripts: the engine, what scripts may use up and import, their values, parameters and errors.

pub mod call;
pub mod compile;
pub mod convert;
pub mod declared;
pub mod described;
pub mod engine;
pub mod failure;
pub mod imports;
pub mod jail;
pub mod limits;
pub mod names;
pub mod overrides;
pub mod parameter;
pub mod place;
pub mod report;
pub mod sources;
mod unknown;
pub mod values;
pub mod wording;
pub mod words;

#[cfg(test)]
mod tests;
