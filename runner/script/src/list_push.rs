//! `push` on lists, in constant time.
//!
//! The engine's own makes a loop that builds a list quadratic: after each call of a method it counts the items of the value on which
//! the method was called, to hold it to the limit of items. This `push` leaves most of these counts out.

use rhai::{Array, Dynamic, Engine, FuncRegistration, Module, RhaiFunc, Shared};

use super::limits::MAX_ITEMS;

/// Items, nested ones included, of an item that is pushed without counting the list.
const SMALL: usize = 16;
/// Bytes of a text that is pushed without counting the list.
const SHORT: usize = 64;

/// Replaces the engine's `push` on lists.
pub(super) fn register(engine: &mut Engine) {
    let mut functions = Module::new();
    let types = [std::any::TypeId::of::<Array>(), std::any::TypeId::of::<Dynamic>()];
    FuncRegistration::new("push")
        .in_global_namespace()
        .with_params_info(["list: array", "item: ?"])
        .set_into_module_raw(
            &mut functions,
            types,
            RhaiFunc::Method {
                func: Shared::new(|_, given: &mut [&mut Dynamic]| Ok(push(given))),
                has_context: false,
                is_pure: false,
                is_volatile: false,
            },
        );
    engine.register_global_module(Shared::new(functions));
}

fn push(given: &mut [&mut Dynamic]) -> Dynamic {
    let item = std::mem::take(given[1]);
    let is_small = items(&item, SMALL).is_some();
    let count = {
        let mut list = given[0].write_lock::<Array>().expect("the engine checks types");
        list.push(item);
        list.len()
    };
    // A list is counted whenever its length has doubled, so all counts together cost as much as a few passes over it.
    if is_small && count <= MAX_ITEMS && !count.is_power_of_two() {
        // The engine counts the first argument after the call.
        given.swap(0, 1);
    }
    Dynamic::UNIT
}

/// How many of `most` items are left after those of a value; `None` if it has more, or a long text.
fn items(value: &Dynamic, most: usize) -> Option<usize> {
    if let Ok(items_of) = value.as_array_ref() {
        return items_of.iter().try_fold(most.checked_sub(items_of.len())?, |left, item| items(item, left));
    }
    if let Ok(map) = value.as_map_ref() {
        return map.values().try_fold(most.checked_sub(map.len())?, |left, item| items(item, left));
    }
    if let Ok(text) = value.as_immutable_string_ref() {
        return (text.len() <= SHORT).then_some(most);
    }
    (!value.is_blob()).then_some(most)
}
