//! The functions of lists and maps that call one of the script's: what that one answers is never ignored.
//!
//! The engine's own take an error of a comparison, and an answer of another kind than they expect, for one of their own choice: a list
//! of floats "sorted" by `|x, y| y - x` keeps its order, and a filter by a number finds nothing. Those that take any answer, such as
//! `map` and `reduce`, stay the engine's.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use rhai::{
    Array, Dynamic, Engine, FnPtr, FuncRegistration, Identifier, Map, Module, NativeCallContext, Shared,
};

use super::call::{Answer, Call};

type Context<'a> = NativeCallContext<'a>;

/// The parameters of functions of lists and of maps.
const OF_LIST: &[&str] = &["list: array", "function: Fn"];
const OF_LIST_FROM: &[&str] = &["list: array", "function: Fn", "start: int"];
const OF_MAP: &[&str] = &["map: map", "function: Fn"];

/// Replaces the engine's functions.
pub(super) fn register(engine: &mut Engine) {
    let mut functions = Module::new();
    for name in ["sort", "sort_by"] {
        let sort = move |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<()> {
            // The function sees items that are not in the list for now; if it fails, the list is as before.
            *list = sorted(&Callback { name, context: &context, function: &function }, list.clone())?;
            Ok(())
        };
        changing(name, OF_LIST).set_into_module(&mut functions, sort);
    }
    for name in ["order", "order_by"] {
        let order = move |context: Context<'_>, list: &mut Array, function: FnPtr| -> Answer<Array> {
            sorted(&Callback { name, context: &context, function: &function }, list.clone())
        };
        reading(name, OF_LIST).set_into_module(&mut functions, order);
    }
    reading("filter", OF_LIST).set_into_module(&mut functions, filter);
    reading("find", OF_LIST).set_into_module(&mut functions, find);
    reading("find", OF_LIST_FROM).set_into_module(&mut functions, find_from);
    reading("index_of", OF_LIST).set_into_module(&mut functions, index_of);
    reading("index_of", OF_LIST_FROM).set_into_module(&mut functions, index_of_from);
    reading("some", OF_LIST).set_into_module(&mut functions, some);
    reading("all", OF_LIST).set_into_module(&mut functions, all);
    changing("retain", OF_LIST).set_into_module(&mut functions, retain);
    changing("drain", OF_LIST).set_into_module(&mut functions, drain);
    changing("dedup", OF_LIST).set_into_module(&mut functions, dedup);
    reading("filter", OF_MAP).set_into_module(&mut functions, filter_map);
    changing("retain", OF_MAP).set_into_module(&mut functions, retain_map);
    changing("drain", OF_MAP).set_into_module(&mut functions, drain_map);
    engine.register_global_module(Shared::new(functions));
}

/// A function that leaves its list or map as it is.
fn reading(name: &str, params: &[&str]) -> FuncRegistration {
    FuncRegistration::new(name).in_global_namespace().with_params_info(params)
}

/// A function that changes its list or map, which then is no constant.
fn changing(name: &str, params: &[&str]) -> FuncRegistration {
    reading(name, params).with_purity(false)
}

fn filter(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<Array> {
    let chosen = Callback { name: "filter", context: &context, function: &function }.chosen(list)?;
    Ok(split(list.clone(), &chosen).0)
}

fn find(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<Dynamic> {
    find_from(context, list, function, 0)
}

fn find_from(context: Context<'_>, list: &mut Array, function: FnPtr, start: i64) -> Answer<Dynamic> {
    let found = Callback { name: "find", context: &context, function: &function }.first(list, start, true)?;
    Ok(found.map_or(Dynamic::UNIT, |index| list[index].clone()))
}

fn index_of(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<i64> {
    index_of_from(context, list, function, 0)
}

fn index_of_from(context: Context<'_>, list: &mut Array, function: FnPtr, start: i64) -> Answer<i64> {
    let found =
        Callback { name: "index_of", context: &context, function: &function }.first(list, start, true)?;
    Ok(found.map_or(-1, |index| index as i64))
}

fn some(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<bool> {
    let found = Callback { name: "some", context: &context, function: &function }.first(list, 0, true)?;
    Ok(found.is_some())
}

fn all(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<bool> {
    let found = Callback { name: "all", context: &context, function: &function }.first(list, 0, false)?;
    Ok(found.is_none())
}

fn retain(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<Array> {
    let chosen = Callback { name: "retain", context: &context, function: &function }.chosen(list)?;
    let (left, rest) = split(std::mem::take(list), &chosen);
    *list = left;
    Ok(rest)
}

fn drain(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<Array> {
    let chosen = Callback { name: "drain", context: &context, function: &function }.chosen(list)?;
    let (drained, left) = split(std::mem::take(list), &chosen);
    *list = left;
    Ok(drained)
}

/// Leaves out each item that the function calls equal to the last one before it that stays.
fn dedup(context: Context<'_>, list: &mut Array, function: FnPtr) -> Answer<()> {
    let callback = Callback { name: "dedup", context: &context, function: &function };
    let mut left = Array::new();
    for item in list.iter() {
        let is_repeated = match left.last() {
            Some(last) => callback.truth(&callback.compare(last, item)?)?,
            None => false,
        };
        if !is_repeated {
            left.push(item.clone());
        }
    }
    *list = left;
    Ok(())
}

fn filter_map(context: Context<'_>, map: &mut Map, function: FnPtr) -> Answer<Map> {
    let chosen = Callback { name: "filter", context: &context, function: &function }.chosen_of_map(map)?;
    Ok(split(map.clone(), &chosen).0)
}

fn retain_map(context: Context<'_>, map: &mut Map, function: FnPtr) -> Answer<Map> {
    let chosen = Callback { name: "retain", context: &context, function: &function }.chosen_of_map(map)?;
    let (left, rest) = split(std::mem::take(map), &chosen);
    *map = left;
    Ok(rest)
}

fn drain_map(context: Context<'_>, map: &mut Map, function: FnPtr) -> Answer<Map> {
    let chosen = Callback { name: "drain", context: &context, function: &function }.chosen_of_map(map)?;
    let (drained, left) = split(std::mem::take(map), &chosen);
    *map = left;
    Ok(drained)
}

/// A script's function that one of these calls.
struct Callback<'a> {
    /// The one that calls it.
    name: &'static str,
    context: &'a Context<'a>,
    function: &'a FnPtr,
}

impl Callback<'_> {
    /// Which items of a list the function chooses.
    fn chosen(&self, list: &[Dynamic]) -> Answer<Vec<bool>> {
        list.iter().enumerate().map(|(index, item)| self.chooses(index, item)).collect()
    }

    /// Which members of a map the function chooses.
    fn chosen_of_map(&self, map: &Map) -> Answer<Vec<bool>> {
        map.iter().map(|(name, value)| self.chooses_member(name, value)).collect()
    }

    /// The index of the first item from `start` on, which counts from the end if it is negative, of which the function says `wanted`.
    fn first(&self, list: &[Dynamic], start: i64, wanted: bool) -> Answer<Option<usize>> {
        let distance = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
        let start = if start < 0 { list.len().saturating_sub(distance) } else { distance };
        for (index, item) in list.iter().enumerate().skip(start) {
            if self.chooses(index, item)? == wanted {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

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
        self.truth(&answer)
    }

    /// What the function says of a member of a map: of its name and its value, which is `this` if the function takes the name alone.
    fn chooses_member(&self, name: &Identifier, value: &Dynamic) -> Answer<bool> {
        let (name, mut value): (Dynamic, Dynamic) = (name.as_str().into(), value.clone());
        let answer = self.function.call_raw_with_extra_args(
            self.name,
            self.context,
            Some(&mut value),
            [name],
            [],
            Some(1),
        )?;
        self.truth(&answer)
    }

    /// The function's answer for two items.
    fn compare(&self, first: &Dynamic, second: &Dynamic) -> Answer<Dynamic> {
        self.function.call_raw(self.context, None, [first.clone(), second.clone()])
    }

    fn truth(&self, answer: &Dynamic) -> Answer<bool> {
        answer.as_bool().map_err(|found| {
            Call::new(self.name, self.context)
                .misuse(format!("the function should return true or false, found {answer} ({found})"))
        })
    }

    /// Whether the second item belongs before the first: the function returns a number above 0, or true for the second and the first
    /// only. Items of which it says the same in both orders, as `<` and `<=` do of equal ones, stay as they are.
    fn swaps(&self, first: &Dynamic, second: &Dynamic) -> Answer<bool> {
        let answer = self.compare(first, second)?;
        if let Ok(is_before) = answer.as_bool() {
            return Ok(!is_before && self.truth(&self.compare(second, first)?)?);
        }
        let number = answer.as_int().map(|number| number as f64).or_else(|_| answer.as_float());
        number.ok().filter(|number| !number.is_nan()).map(|number| number > 0.0).ok_or_else(|| {
            Call::new(self.name, self.context)
                .misuse(format!("the function should return a number, or true or false, found {answer}"))
        })
    }
}

/// The items or members that are chosen, and the others.
fn split<T, C: IntoIterator<Item = T> + Default + Extend<T>>(all: C, chosen: &[bool]) -> (C, C) {
    let (mut taken, mut left) = (C::default(), C::default());
    for (item, is_chosen) in all.into_iter().zip(chosen) {
        if *is_chosen { &mut taken } else { &mut left }.extend([item]);
    }
    (taken, left)
}

/// Merge sort: stable, and sound whatever the function answers.
fn sorted(callback: &Callback<'_>, mut list: Array) -> Answer<Array> {
    if list.len() < 2 {
        return Ok(list);
    }
    let second = sorted(callback, list.split_off(list.len() / 2))?;
    let first = sorted(callback, list)?;
    let mut merged = Array::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        let swaps = callback.swaps(one, other)?;
        merged.extend(if swaps { second.next() } else { first.next() });
    }
    merged.extend(first.chain(second));
    Ok(merged)
}
