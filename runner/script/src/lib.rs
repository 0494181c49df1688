//! Scripts: the engine, its limits and imports, and the values, parameters and errors of scripts.

pub mod args;
pub mod call;
pub mod compile;
pub mod convert;
pub mod declare;
pub mod described;
pub mod dynamic;
pub mod engine;
pub mod failure;
pub mod host;
pub mod imports;
pub mod jail;
pub mod launch;
pub mod limits;
pub mod names;
pub mod parameter;
pub mod place;
pub mod reference;
pub mod rehearsal;
pub mod report;
mod unknown;
pub mod values;
pub mod watchdog;
pub mod wording;
pub mod words;

#[cfg(test)]
mod tests;
