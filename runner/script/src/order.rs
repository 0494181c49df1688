//! `<`, `<=`, `>` and `>=` between values that have no order are errors.
//!
//! The engine's own say `false`, so that a gate such as `verdict.elo > 20` would fail silently where there is no `elo`. Equality is not
//! changed: values of different kinds are just not equal.

use std::any::TypeId;
use std::ops::{Range, RangeInclusive};

use rhai::{
    Array, Blob, Dynamic, Engine, FnPtr, FuncRegistration, ImmutableString, Map, Module, NativeCallContext,
    RhaiFunc, Shared,
};

use super::call::{Answer, Call};
use super::dynamic::scalar;

/// What to do with values that have no order, but fields.
pub(super) const FIELDS_HINT: &str = "; compare one of its fields, such as `.score` of a match";

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
                Err(Call::new(operator, &context).misuse(no_order(&context, given[0], given[1], "")))
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
    refuse::<FnPtr>(engine, "");
    refuse::<Blob>(engine, "");
    refuse::<Range<i64>>(engine, "");
    refuse::<RangeInclusive<i64>>(engine, "");
}

/// Makes comparisons of a type's values with any others errors, which end with the hint.
pub(super) fn refuse<T: Clone + Send + Sync + 'static>(engine: &mut Engine, hint: &'static str) {
    let (own, any) = (TypeId::of::<T>(), TypeId::of::<Dynamic>());
    for operator in ["<", "<=", ">", ">="] {
        for types in [[own, any], [any, own]] {
            engine.register_raw_fn(operator, types, move |context, given| -> Answer<bool> {
                Err(Call::new(operator, &context).misuse(no_order(&context, given[0], given[1], hint)))
            });
        }
    }
}

fn no_order(context: &NativeCallContext<'_>, first: &Dynamic, second: &Dynamic, hint: &str) -> String {
    let hint = if first.is_unit() || second.is_unit() {
        "; () says that there is no value, so ask for `!= ()` first"
    } else {
        hint
    };
    format!("{} and {} have no order{hint}", shown(context, first), shown(context, second))
}

/// A value as the error shows it: in full if it is plain data.
fn shown(context: &NativeCallContext<'_>, value: &Dynamic) -> String {
    match value.read_lock::<ImmutableString>() {
        Some(text) => format!("{:?}", text.as_str()),
        None if value.is_unit() => "()".to_owned(),
        None if is_plain(value) => value.to_string(),
        None if value.is_array() => "a list".to_owned(),
        None if value.is_map() => "a map".to_owned(),
        None => format!("a value of the type {}", context.engine().map_type_name(value.type_name())),
    }
}

fn is_plain(value: &Dynamic) -> bool {
    if let Some(items) = value.read_lock::<Array>() {
        return items.iter().all(is_plain);
    }
    if let Some(map) = value.read_lock::<Map>() {
        return map.values().all(is_plain);
    }
    value.is_char() || scalar(value).is_some()
}
