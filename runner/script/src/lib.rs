//! Scripts: the engine, its limits and imports, and the values, parameters and errors of scripts.

pub mod args;
pub mod call;
mod captured_receivers;
pub mod compile;
pub mod convert;
pub mod declare;
pub mod declared_names;
pub mod described;
pub mod dynamic;
pub mod engine;
pub mod failure;
pub mod host;
pub mod imports;
pub mod jail;
pub mod launch;
pub mod limits;
mod list_functions;
mod list_push;
pub mod location;
pub mod messages;
pub mod names;
mod order;
pub mod parameter;
pub mod plans;
pub mod reference;
pub mod report;
pub mod scan;
pub mod script_run;
pub mod syntax;
mod unknown_calls;
pub mod values;
pub mod watchdog;

#[cfg(test)]
mod tests;
