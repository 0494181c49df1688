//! `<`, `<=`, `>` and `>=` between values that have no order are errors.
//!
//! The engine's own say `false`, so that a gate such as `verdict.elo > 20` would fail silently where there is no `elo`. Equality is not
//! changed: values of different kinds are just not equal.

use std::any::TypeId;

use rhai::{
    Array, Dynamic, Engine, FuncRegistration, ImmutableString, Map, Module, NativeCallContext, RhaiFunc,
    Shared,
};

use super::call::Call;

/// Makes the comparisons errors. The engine's operators are looked up as functions from now on, instead of being built in.
pub(super) fn register(engine: &mut Engine) {
    engine.set_fast_operators(false);
    let numbers = [TypeId::of::<i64>(), TypeId::of::<f64>()];
    let others = [
        TypeId::of::<()>(),
        TypeId::of::<bool>(),
        TypeId::of::<char>(),
        TypeId::of::<ImmutableString>(),
        TypeId::of::<Array>(),
        TypeId::of::<Map>(),
    ];
    let kinds = || numbers.iter().chain(&others);
    let mut functions = Module::new();
    for operator in ["<", "<=", ">", ">="] {
        for (first, second) in kinds().flat_map(|first| kinds().map(move |second| (first, second))) {
            let are_numbers = numbers.contains(first) && numbers.contains(second);
            let are_equal_kinds = first == second && *first != TypeId::of::<()>();
            if are_numbers || are_equal_kinds {
                continue;
            }
            let function = move |context: Option<NativeCallContext<'_>>, given: &mut [&mut Dynamic]| {
                let context = context.expect("the function is registered as one that takes the context");
                Err(Call::new(operator, &context).misuse(no_order(given[0], given[1])))
            };
            FuncRegistration::new(operator).in_global_namespace().set_into_module_raw(
                &mut functions,
                [*first, *second],
                RhaiFunc::Pure {
                    func: Shared::new(function),
                    has_context: true,
                    is_pure: true,
                    is_volatile: false,
                },
            );
        }
    }
    engine.register_global_module(Shared::new(functions));
}

fn no_order(first: &Dynamic, second: &Dynamic) -> String {
    let shown = |value: &Dynamic| match value.read_lock::<ImmutableString>() {
        Some(text) => format!("{:?}", text.as_str()),
        None if value.is_unit() => "()".to_owned(),
        None => value.to_string(),
    };
    let is_absent = first.is_unit() || second.is_unit();
    let hint = if is_absent { "; () says that there is no value, so ask for `!= ()` first" } else { "" };
    format!("{} and {} have no order{hint}", shown(first), shown(second))
}
