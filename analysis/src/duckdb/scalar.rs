//! dc0's own functions as scalar functions of DuckDB.

#![allow(unsafe_code, reason = "a library that is not linked has no safe interface")]

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dc0_core::board::Move;

use super::api::{Api, Handle, ListEntry, SUCCESS};
use super::error::EngineError;
use super::library;
use super::vector::Vector;

/// A function of rows.
pub(crate) struct Function {
    /// Its call, such as `san(fen, move)`, which begins with its name.
    pub(crate) form: &'static str,
    /// What it computes.
    pub(crate) compute: Compute,
    /// What it returns, in a few words.
    pub(crate) meaning: &'static str,
}

/// What a function computes of a row's arguments, which are not empty. `None` is an empty cell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compute {
    /// An integer of a FEN.
    FenInt(fn(&str) -> Option<i32>),
    /// A number of a FEN.
    FenFloat(fn(&str) -> Option<f64>),
    /// A text of a FEN.
    FenText(fn(&str) -> Option<String>),
    /// A text of a FEN and a packed move.
    FenMoveText(fn(&str, Move) -> Option<String>),
    /// A text of packed moves: a list, or a single one.
    MovesText(fn(&[Move]) -> Option<String>),
    /// A number of a list of numbers.
    ListFloat(fn(&[f64]) -> f64),
}

/// The type of an argument or of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Int32,
    Int,
    Float,
    Ints,
    Floats,
}

/// `duckdb_type` in DuckDB's header.
const INTEGER: i32 = 4;
const BIGINT: i32 = 5;
const DOUBLE: i32 = 11;
const VARCHAR: i32 = 17;

impl Type {
    /// A logical type, which the caller destroys.
    fn logical(self, api: &Api) -> Handle {
        let list_of = |item: Self| {
            let mut item = item.logical(api);
            // SAFETY: the item's type is alive and destroyed once.
            unsafe {
                let list = (api.create_list_type)(item);
                (api.destroy_logical_type)(&raw mut item);
                list
            }
        };
        let plain = |id| unsafe { (api.create_logical_type)(id) };
        match self {
            Self::Text => plain(VARCHAR),
            Self::Int32 => plain(INTEGER),
            Self::Int => plain(BIGINT),
            Self::Float => plain(DOUBLE),
            Self::Ints => list_of(Self::Int),
            Self::Floats => list_of(Self::Float),
        }
    }
}

impl Compute {
    /// The types of the arguments, in all forms in which the function is called.
    fn forms(self) -> &'static [&'static [Type]] {
        match self {
            Self::FenInt(_) | Self::FenFloat(_) | Self::FenText(_) => &[&[Type::Text]],
            Self::FenMoveText(_) => &[&[Type::Text, Type::Int]],
            Self::MovesText(_) => &[&[Type::Ints], &[Type::Int]],
            Self::ListFloat(_) => &[&[Type::Floats]],
        }
    }

    /// The type of a result, in the words of the tables' columns.
    pub(crate) fn gives(self) -> &'static str {
        match self {
            Self::FenInt(_) => "i64",
            Self::FenFloat(_) | Self::ListFloat(_) => "f64",
            Self::FenText(_) | Self::FenMoveText(_) | Self::MovesText(_) => "text",
        }
    }

    fn returns(self) -> Type {
        match self {
            Self::FenInt(_) => Type::Int32,
            Self::FenFloat(_) | Self::ListFloat(_) => Type::Float,
            Self::FenText(_) | Self::FenMoveText(_) | Self::MovesText(_) => Type::Text,
        }
    }
}

/// A function in one of its forms, as DuckDB keeps it.
struct Call {
    api: &'static Api,
    compute: Compute,
    form: &'static [Type],
}

/// Registers functions with a connection.
pub(super) fn register(
    api: &'static Api,
    connection: Handle,
    functions: &'static [Function],
) -> Result<(), EngineError> {
    for function in functions {
        let name = function.form.split('(').next().unwrap_or(function.form);
        let name = CString::new(name).map_err(|_| EngineError::other("a function's name"))?;
        // SAFETY: the connection is open; the set is destroyed once.
        unsafe {
            let mut set = (api.create_scalar_function_set)(name.as_ptr());
            for form in function.compute.forms() {
                let call = Call { api, compute: function.compute, form };
                add_form(set, &name, call);
            }
            let state = (api.register_scalar_function_set)(connection, set);
            (api.destroy_scalar_function_set)(&raw mut set);
            if state != SUCCESS {
                let message = format!("DuckDB does not take the function {}", function.form);
                return Err(EngineError::other(&message));
            }
        }
    }
    Ok(())
}

/// Adds a form of a function to an open set.
unsafe fn add_form(set: Handle, name: &CString, call: Call) {
    let api = call.api;
    // SAFETY: the function and the types are ours and destroyed once; DuckDB destroys the call with `destroy`.
    unsafe {
        let mut function = (api.create_scalar_function)();
        (api.scalar_function_set_name)(function, name.as_ptr());
        for argument in call.form {
            let mut kind = argument.logical(api);
            (api.scalar_function_add_parameter)(function, kind);
            (api.destroy_logical_type)(&raw mut kind);
        }
        let mut kind = call.compute.returns().logical(api);
        (api.scalar_function_set_return_type)(function, kind);
        (api.destroy_logical_type)(&raw mut kind);
        (api.scalar_function_set_extra_info)(function, Box::into_raw(Box::new(call)).cast(), Some(destroy));
        (api.scalar_function_set_function)(function, compute);
        (api.add_scalar_function_to_set)(set, function);
        (api.destroy_scalar_function)(&raw mut function);
    }
}

/// Drops a [`Call`] that DuckDB no longer needs.
unsafe extern "C" fn destroy(call: Handle) {
    // SAFETY: DuckDB calls this once for each call that it got.
    drop(unsafe { Box::from_raw(call.cast::<Call>()) });
}

/// Computes a function for the rows of a chunk.
unsafe extern "C" fn compute(info: Handle, input: Handle, output: Handle) {
    let Ok(api) = library::loaded() else { return };
    // SAFETY: DuckDB passes the call that it got, which lives as long as the function; a chunk with vectors of the declared types; and
    // a vector of the declared result with room for as many rows. A panic must not unwind into DuckDB.
    unsafe {
        let call = &*(api.scalar_function_get_extra_info)(info).cast::<Call>();
        let rows = (api.data_chunk_get_size)(input) as usize;
        let argument = |index| Vector::new(api, (api.data_chunk_get_vector)(input, index));
        if catch_unwind(AssertUnwindSafe(|| call.fill(rows, &argument, output))).is_err() {
            (api.scalar_function_set_error)(info, c"a function of dc0 panicked".as_ptr());
        }
    }
}

impl Call {
    /// # Safety
    /// The arguments must have the types of the form, and the output that of the result.
    unsafe fn fill<'a>(&self, rows: usize, argument: &dyn Fn(u64) -> Vector<'a>, output: Handle) {
        let first = argument(0);
        for row in 0..rows {
            // SAFETY: see above; rows are below the number of rows.
            unsafe {
                let fen = |compute: &dyn Fn(&str)| {
                    if first.is_valid(row) {
                        compute(first.text(row));
                    } else {
                        self.set_empty(output, row);
                    }
                };
                match self.compute {
                    Compute::FenInt(function) => fen(&|fen| self.set(output, row, function(fen))),
                    Compute::FenFloat(function) => fen(&|fen| self.set(output, row, function(fen))),
                    Compute::FenText(function) => fen(&|fen| self.set_text(output, row, function(fen))),
                    Compute::FenMoveText(function) => {
                        let mv = single(argument(1), row, rows);
                        fen(&|fen| {
                            self.set_text(output, row, mv.and_then(|mv| function(fen, mv)));
                        });
                    }
                    Compute::MovesText(function) => {
                        let moves = match self.form[0] {
                            Type::Int => single(first, row, rows).map(|mv| vec![mv]),
                            _ => list::<i64>(first, row, rows)
                                .and_then(|moves| moves.into_iter().map(unpacked).collect()),
                        };
                        self.set_text(output, row, moves.and_then(|moves| function(&moves)));
                    }
                    Compute::ListFloat(function) => {
                        let items = list::<f64>(first, row, rows);
                        let items = items.map(|items| items.into_iter().flatten().collect::<Vec<f64>>());
                        self.set(output, row, items.map(|items| function(&items)));
                    }
                }
            }
        }
    }

    /// # Safety
    /// The output must hold values of this type, more than `row`.
    unsafe fn set<T>(&self, output: Handle, row: usize, value: Option<T>) {
        unsafe {
            match value {
                Some(value) => (self.api.vector_get_data)(output).cast::<T>().add(row).write(value),
                None => self.set_empty(output, row),
            }
        }
    }

    /// # Safety
    /// The output must hold texts, more than `row`.
    unsafe fn set_text(&self, output: Handle, row: usize, value: Option<String>) {
        unsafe {
            match value {
                Some(text) => (self.api.vector_assign_string_element_len)(
                    output,
                    row as u64,
                    text.as_ptr().cast(),
                    text.len() as u64,
                ),
                None => self.set_empty(output, row),
            }
        }
    }

    /// # Safety
    /// The output must hold more rows than `row`.
    unsafe fn set_empty(&self, output: Handle, row: usize) {
        unsafe {
            (self.api.vector_ensure_validity_writable)(output);
            (self.api.validity_set_row_invalid)((self.api.vector_get_validity)(output), row as u64);
        }
    }
}

fn unpacked(packed: Option<i64>) -> Option<Move> {
    Move::from_packed(u16::try_from(packed?).ok()?)
}

/// # Safety
/// The vector must hold integers of 64 bits, `rows` of them.
unsafe fn single(moves: Vector<'_>, row: usize, rows: usize) -> Option<Move> {
    unpacked(moves.is_valid(row).then(|| unsafe { moves.values::<i64>(rows)[row] }))
}

/// A row's list; `None` if it is empty.
///
/// # Safety
/// The vector must hold lists of this type, `rows` of them.
unsafe fn list<T: Copy>(lists: Vector<'_>, row: usize, rows: usize) -> Option<Vec<Option<T>>> {
    if !lists.is_valid(row) {
        return None;
    }
    unsafe {
        let (items, count) = lists.items();
        let ListEntry { offset, length } = lists.values::<ListEntry>(rows)[row];
        let values = items.values::<T>(count);
        let item = |index: usize| items.is_valid(index).then(|| values[index]);
        Some((offset as usize..(offset + length) as usize).map(item).collect())
    }
}
