//! Makes the script engine: the same for running, checking, documentation and tests.

use std::path::Path;
use std::sync::Arc;

use rhai::packages::{
    BasicArrayPackage, BasicBlobPackage, BasicMapPackage, BasicMathPackage, BitFieldPackage, CorePackage,
    LogicPackage, MoreStringPackage, Package,
};
use rhai::{Dynamic, Engine, EvalAltResult, OptimizationLevel};

use super::failure::Failure;
use super::jail::Jail;
use super::limits::{self, SampleBudget};
use super::list_functions;
use super::list_push;
use super::order;
use dc0_runs::sources::Sources;

/// What an engine needs from the program around it.
pub struct EngineHooks {
    /// Keeps the texts of imported scripts for error messages.
    pub sources: Arc<Sources>,
    /// What `print` does with a line.
    pub print: Box<dyn Fn(&str) + Send + Sync>,
    /// What `debug` does with a line.
    pub debug: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether the user asked to stop.
    pub is_stopped: Box<dyn Fn() -> bool + Send + Sync>,
    /// Most operations of the interpreter before a script is stopped; see [`limits`].
    pub operations: u64,
}

/// The token of the error that ends a script when the user asked to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stopped;

/// An engine without host functions. Imports stay within `folder`.
pub fn engine(folder: &Path, surroundings: EngineHooks) -> Engine {
    let mut engine = Engine::new_raw();
    register_packages(&mut engine);
    list_push::register(&mut engine);
    list_functions::register(&mut engine);
    order::register(&mut engine);
    limits::apply(&mut engine, surroundings.operations);
    engine.set_default_tag(Dynamic::from(SampleBudget::new(surroundings.operations)));
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_strict_variables(true);
    engine.set_fail_on_invalid_map_property(true);
    engine.disable_symbol("eval");
    // A sleeping script would not react to Ctrl-C, and scripts have no clock. These hide the functions of the packages.
    engine.register_fn("sleep", |_: i64| no_sleep()).register_fn("sleep", |_: f64| no_sleep());
    engine.register_type_with_name::<Failure>("Error");
    order::refuse::<Failure>(&mut engine, "");
    engine.register_fn(rhai::FUNC_TO_STRING, |failure: &mut Failure| failure.message.clone());
    engine.set_module_resolver(Jail::new(folder, Arc::clone(&surroundings.sources)));
    let EngineHooks { print, debug, is_stopped, .. } = surroundings;
    engine.on_print(print);
    engine.on_debug(move |text, _, _| debug(text));
    engine.on_progress(move |_| is_stopped().then(|| Dynamic::from(Stopped)));
    engine
}

fn no_sleep() -> Result<(), Box<EvalAltResult>> {
    Err("there is no `sleep`: scripts have no clock".into())
}

/// Rhai's standard packages without the clock: a script that depends on the time is not reproducible.
fn register_packages(engine: &mut Engine) {
    CorePackage::new().register_into_engine(engine);
    LogicPackage::new().register_into_engine(engine);
    BitFieldPackage::new().register_into_engine(engine);
    BasicMathPackage::new().register_into_engine(engine);
    BasicArrayPackage::new().register_into_engine(engine);
    BasicBlobPackage::new().register_into_engine(engine);
    BasicMapPackage::new().register_into_engine(engine);
    MoreStringPackage::new().register_into_engine(engine);
}
