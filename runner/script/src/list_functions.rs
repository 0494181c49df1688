//! The functions of lists that call one of the script's: what that one answers is never ignored.
//!
//! The engine's own take an error of a comparison, and an answer of another kind than they expect, for one of their own choice: a list
//! of floats "sorted" by `|x, y| y - x` keeps its order, and a filter by a number finds nothing.

use rhai::{Array, Dynamic, Engine, FnPtr, FuncRegistration, Module, NativeCallContext, Shared};

use super::call::{Answer, Call};

type Context<'a> = NativeCallContext<'a>;

/// Replaces the engine's functions.
pub(super) fn register(engine: &mut Engine) {
    let mut functions = Module::new();
    let named = |name| {
        let info = ["list: array", "function: Fn"];
        FuncRegistration::new(name).in_global_namespace().with_params_info(info)
    };
    for name in ["sort", "sort_by"] {
        let sort = move |context: Context<'_>, list: &mut Array, comparer: FnPtr| -> Answer<()> {
            // The comparer sees items that are not in the list for now; if it fails, the list is as before.
            *list = sorted(&Comparer { name, context: &context, function: &comparer }, list.clone())?;
            Ok(())
        };
        named(name).set_into_module(&mut functions, sort);
    }
    named("filter").set_into_module(
        &mut functions,
        |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<Array> {
            let chosen = chosen(&Test { name: "filter", context: &context, function: &function }, list)?;
            Ok(list
                .iter()
                .zip(chosen)
                .filter(|(_, is_chosen)| *is_chosen)
                .map(|(item, _)| item.clone())
                .collect())
        },
    );
    named("find").set_into_module(
        &mut functions,
        |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<Dynamic> {
            let found = first(&Test { name: "find", context: &context, function: &function }, list, true)?;
            Ok(found.map_or(Dynamic::UNIT, |index| list[index].clone()))
        },
    );
    named("some").set_into_module(
        &mut functions,
        |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<bool> {
            Ok(first(&Test { name: "some", context: &context, function: &function }, list, true)?.is_some())
        },
    );
    named("all").set_into_module(
        &mut functions,
        |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<bool> {
            Ok(first(&Test { name: "all", context: &context, function: &function }, list, false)?.is_none())
        },
    );
    named("retain").set_into_module(
        &mut functions,
        |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<Array> {
            let chosen = chosen(&Test { name: "retain", context: &context, function: &function }, list)?;
            Ok(split(list, &chosen, true))
        },
    );
    named("drain").set_into_module(
        &mut functions,
        |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<Array> {
            let chosen = chosen(&Test { name: "drain", context: &context, function: &function }, list)?;
            Ok(split(list, &chosen, false))
        },
    );
    engine.register_global_module(Shared::new(functions));
}

/// A script's function that says which items are chosen.
struct Test<'a> {
    name: &'static str,
    context: &'a Context<'a>,
    function: &'a FnPtr,
}

impl Test<'_> {
    /// What the function says of an item; it may take the item's index as well.
    fn chooses(&self, index: usize, item: &Dynamic) -> Answer<bool> {
        let (mut item, index) = (item.clone(), Dynamic::from_int(index as i64));
        let answer = self.function.call_raw_with_extra_args(
            self.name,
            self.context,
            Some(&mut item),
            [],
            [index],
            Some(0),
        )?;
        answer.as_bool().map_err(|found| {
            Call::new(self.name, self.context)
                .misuse(format!("the function should return true or false, found {answer} ({found})"))
        })
    }
}

/// Which items of a list are chosen.
fn chosen(test: &Test<'_>, list: &[Dynamic]) -> Answer<Vec<bool>> {
    list.iter().enumerate().map(|(index, item)| test.chooses(index, item)).collect()
}

/// The index of the first item of which the function says `wanted`.
fn first(test: &Test<'_>, list: &[Dynamic], wanted: bool) -> Answer<Option<usize>> {
    for (index, item) in list.iter().enumerate() {
        if test.chooses(index, item)? == wanted {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Leaves the items in a list that are chosen, or the others, and returns the rest.
fn split(list: &mut Array, chosen: &[bool], stays: bool) -> Array {
    let (mut left, mut rest) = (Array::new(), Array::new());
    for (item, is_chosen) in std::mem::take(list).into_iter().zip(chosen) {
        if *is_chosen == stays { &mut left } else { &mut rest }.push(item);
    }
    *list = left;
    rest
}

/// A script's function that compares two items.
struct Comparer<'a> {
    name: &'static str,
    context: &'a Context<'a>,
    function: &'a FnPtr,
}

impl Comparer<'_> {
    /// Whether the second item belongs before the first: the function returns a number above 0, or false.
    fn swaps(&self, first: &Dynamic, second: &Dynamic) -> Answer<bool> {
        let answer = self.function.call_raw(self.context, None, [first.clone(), second.clone()])?;
        if let Ok(is_before) = answer.as_bool() {
            return Ok(!is_before);
        }
        let number = answer.as_int().map(|number| number as f64).or_else(|_| answer.as_float());
        number.ok().filter(|number| !number.is_nan()).map(|number| number > 0.0).ok_or_else(|| {
            Call::new(self.name, self.context)
                .misuse(format!("the function should return a number, or true or false, found {answer}"))
        })
    }
}

/// Merge sort: stable, and sound whatever the function answers.
fn sorted(comparer: &Comparer<'_>, mut list: Array) -> Answer<Array> {
    if list.len() < 2 {
        return Ok(list);
    }
    let second = sorted(comparer, list.split_off(list.len() / 2))?;
    let first = sorted(comparer, list)?;
    let mut merged = Array::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        let swaps = comparer.swaps(one, other)?;
        merged.extend(if swaps { second.next() } else { first.next() });
    }
    merged.extend(first.chain(second));
    Ok(merged)
}
