//! Resource limits of scripts, the same in every build. Rhai's own defaults are lower in debug builds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhai::Engine;

/// Operations of the interpreter in one script; a host function counts as one. An empty loop reaches this in some minutes.
pub const MAX_OPERATIONS: u64 = 500_000_000;
/// Depth of nested function calls.
pub const MAX_CALL_LEVELS: usize = 64;
/// Depth of nested expressions, at the top level and within functions.
pub const MAX_EXPRESSION_DEPTHS: (usize, usize) = (64, 64);
/// Bytes of one text.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// Items of one list or map, nested ones included.
pub const MAX_ITEMS: usize = 1_000_000;
/// Variables alive at once.
pub const MAX_VARIABLES: usize = 1_000;
/// Functions of one script, closures included.
pub const MAX_FUNCTIONS: usize = 1_000;
/// Modules that one script imports.
pub const MAX_MODULES: usize = 100;
/// Bytes of one script file.
pub const MAX_SCRIPT_BYTES: u64 = 1 << 20;
/// Lines of one script file: the interpreter numbers them with 16 bits.
pub const MAX_SCRIPT_LINES: usize = 65_535;
/// Stack of the thread that runs scripts: enough for all call and expression levels in an unoptimised build.
pub const STACK_BYTES: usize = 256 << 20;

/// Budget for calls of a script's functions by the host, which the interpreter does not count: together they are held to the limit
/// of operations. The engine carries it as its tag.
#[derive(Debug, Clone)]
pub struct SampleBudget(Arc<AtomicU64>);

impl SampleBudget {
    /// A budget of this many calls.
    pub fn new(calls: u64) -> Self {
        Self(Arc::new(AtomicU64::new(calls)))
    }

    /// Takes one call from the budget; false if none is left.
    pub fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

/// Sets every limit.
pub(super) fn apply(engine: &mut Engine, operations: u64) {
    engine.set_max_operations(operations);
    engine.set_max_call_levels(MAX_CALL_LEVELS);
    engine.set_max_expr_depths(MAX_EXPRESSION_DEPTHS.0, MAX_EXPRESSION_DEPTHS.1);
    engine.set_max_string_size(MAX_TEXT_BYTES);
    engine.set_max_array_size(MAX_ITEMS);
    engine.set_max_map_size(MAX_ITEMS);
    engine.set_max_variables(MAX_VARIABLES);
    engine.set_max_functions(MAX_FUNCTIONS);
    engine.set_max_modules(MAX_MODULES);
}
