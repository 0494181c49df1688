//! dc0's own SQL functions: chess, and list functions under DuckDB's names. Each is declared once.

use std::sync::Arc;

use polars::prelude::{
    BaseColumnUdf, Column, DataType, Field, ListNameSpaceImpl, PolarsResult, Schema, UserDefinedFunction,
    polars_bail,
};
use polars::sql::{FunctionOptions, FunctionRegistry};

use crate::chess;
use crate::column_types::type_name;

/// A function as users see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Its call, such as `san(fen, move)`.
    pub form: &'static str,
    /// Its return type.
    pub gives: &'static str,
    /// What it returns, in a few words.
    pub meaning: &'static str,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Text.
    Text,
    /// A packed move.
    Move,
    /// A packed move or a list of them.
    Moves,
    /// A list of numbers.
    List,
}

pub(crate) struct Function {
    name: &'static str,
    info: FunctionInfo,
    arguments: &'static [Argument],
    returns: DataType,
    run: fn(&[Column]) -> PolarsResult<Column>,
}

const fn function(
    name: &'static str,
    form: &'static str,
    gives: &'static str,
    meaning: &'static str,
    arguments: &'static [Argument],
    returns: DataType,
    run: fn(&[Column]) -> PolarsResult<Column>,
) -> Function {
    Function { name, info: FunctionInfo { form, gives, meaning }, arguments, returns, run }
}

const FUNCTIONS: [Function; 14] = [
    function(
        "material",
        "material(fen)",
        "i32",
        "White's material minus Black's, in pawns: pawn 1, knight and bishop 3, rook 5, queen 9",
        &[Argument::Text],
        DataType::Int32,
        chess::material,
    ),
    function(
        "phase",
        "phase(fen)",
        "f64",
        "game phase, from 1 (all pieces) to 0 (kings and pawns only): a queen counts 4, a rook 2, a knight or bishop 1, of 24",
        &[Argument::Text],
        DataType::Float64,
        chess::phase,
    ),
    function(
        "piece_count",
        "piece_count(fen)",
        "i32",
        "number of pieces on the board, kings and pawns included",
        &[Argument::Text],
        DataType::Int32,
        chess::piece_count,
    ),
    function(
        "side",
        "side(fen)",
        "text",
        "the side to move: `white` or `black`",
        &[Argument::Text],
        DataType::String,
        chess::side,
    ),
    function(
        "board",
        "board(fen)",
        "text",
        "the board in eight lines, White at the bottom",
        &[Argument::Text],
        DataType::String,
        chess::board,
    ),
    function(
        "uci",
        "uci(move) or uci(moves)",
        "text",
        "a packed move in UCI notation, such as `e7e8q`; a list of moves with spaces between them",
        &[Argument::Moves],
        DataType::String,
        chess::uci,
    ),
    function(
        "san",
        "san(fen, move)",
        "text",
        "a packed move in algebraic notation, such as `Nf3` or `exd8=Q+`; empty if it is not legal",
        &[Argument::Text, Argument::Move],
        DataType::String,
        chess::san,
    ),
    function(
        "opening",
        "opening(moves)",
        "text",
        "the opening's name, by the last named position of a game from the initial position; empty if there is none",
        &[Argument::Moves],
        DataType::String,
        chess::opening,
    ),
    function(
        "eco",
        "eco(moves)",
        "text",
        "the opening's ECO code, such as `B20`",
        &[Argument::Moves],
        DataType::String,
        chess::eco,
    ),
    function(
        "entropy",
        "entropy(list)",
        "f64",
        "entropy in nats of the list, normalised to sum to 1; 0 for an empty list",
        &[Argument::List],
        DataType::Float64,
        entropy,
    ),
    function(
        "len",
        "len(list)",
        "i64",
        "the number of items; also `array_length`",
        &[Argument::List],
        DataType::Int64,
        len,
    ),
    function(
        "list_sum",
        "list_sum(list)",
        "i64",
        "the sum of the items; also `array_sum`",
        &[Argument::List],
        DataType::Int64,
        list_sum,
    ),
    function(
        "list_max",
        "list_max(list)",
        "i64",
        "the largest item; also `array_upper`",
        &[Argument::List],
        DataType::Int64,
        list_max,
    ),
    function(
        "list_min",
        "list_min(list)",
        "i64",
        "the smallest item; also `array_lower`",
        &[Argument::List],
        DataType::Int64,
        list_min,
    ),
];

/// All functions, in the order in which they are listed.
pub fn functions() -> Vec<FunctionInfo> {
    FUNCTIONS.iter().map(|function| function.info).collect()
}

/// Common SQL functions and dc0's own, for suggesting the nearest name to an unknown one.
pub(crate) fn known_names() -> Vec<String> {
    const COMMON: [&str; 24] = [
        "abs",
        "array_length",
        "array_lower",
        "array_mean",
        "array_sum",
        "array_upper",
        "avg",
        "coalesce",
        "count",
        "exp",
        "first",
        "floor",
        "last",
        "ln",
        "max",
        "median",
        "min",
        "round",
        "row_number",
        "sqrt",
        "stddev",
        "sum",
        "unnest",
        "variance",
    ];
    FUNCTIONS.iter().map(|function| function.name).chain(COMMON).map(str::to_owned).collect()
}

/// Whether a function is dc0's own.
pub(crate) fn is_own(name: &str) -> bool {
    find(name).is_some()
}

fn find(name: &str) -> Option<&'static Function> {
    const ALL: &[Function] = &FUNCTIONS;
    ALL.iter().find(|function| function.name == name)
}

/// Hands the functions to polars.
pub(crate) struct Registry;

impl FunctionRegistry for Registry {
    fn register(&mut self, name: &str, _: UserDefinedFunction) -> PolarsResult<()> {
        polars_bail!(InvalidOperation: "`{name}`: functions are declared, not registered")
    }

    fn get_udf(&self, name: &str) -> PolarsResult<Option<UserDefinedFunction>> {
        Ok(find(name).map(Function::udf))
    }

    fn contains(&self, name: &str) -> bool {
        is_own(name)
    }
}

impl Function {
    fn udf(&'static self) -> UserDefinedFunction {
        let run = self.run;
        let field = move |_: &Schema, fields: &[Field]| {
            self.check(fields)?;
            Ok(Field::new(fields[0].name().clone(), self.returns.clone()))
        };
        let call = move |columns: &mut [Column]| run(&broadcast(columns));
        let mut udf = UserDefinedFunction::new(self.name.into(), BaseColumnUdf::new(call, field));
        // A row's value depends on that row alone, so polars may compute any subset of the rows.
        udf.options = FunctionOptions::elementwise();
        udf
    }

    fn check(&self, fields: &[Field]) -> PolarsResult<()> {
        if fields.len() != self.arguments.len() {
            polars_bail!(InvalidOperation: "{} is called as {}, not with {} arguments", self.name, self.info.form, fields.len());
        }
        for (field, argument) in fields.iter().zip(self.arguments) {
            if !argument.accepts(field.dtype()) {
                polars_bail!(
                    InvalidOperation: "{} is called as {}; `{}` is {}, not {}",
                    self.name, self.info.form, field.name(), type_name(field.dtype()), argument.name()
                );
            }
        }
        Ok(())
    }
}

impl Argument {
    fn accepts(self, dtype: &DataType) -> bool {
        let is_list = |dtype: &DataType| matches!(dtype, DataType::List(item) if item.is_primitive_numeric() || item.is_null());
        match self {
            Self::Text => dtype.is_string() || dtype.is_null(),
            Self::Move => dtype.is_integer() || dtype.is_null() || dtype.is_unknown(),
            Self::Moves => Self::Move.accepts(dtype) || is_list(dtype),
            Self::List => is_list(dtype),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Move => "a packed move",
            Self::Moves => "a packed move or a list of them",
            Self::List => "a list of numbers",
        }
    }
}

/// Repeats constants so that all columns have the same length.
fn broadcast(columns: &[Column]) -> Vec<Column> {
    let rows = columns.iter().map(Column::len).filter(|rows| *rows != 1).max().unwrap_or(1);
    columns
        .iter()
        .map(|column| if column.len() == 1 { column.new_from_index(0, rows) } else { column.clone() })
        .collect()
}

fn as_int64(column: &Column, values: &Column) -> PolarsResult<Column> {
    Ok(values.cast(&DataType::Int64)?.with_name(column.name().clone()))
}

fn len(columns: &[Column]) -> PolarsResult<Column> {
    let lists = columns[0].list()?;
    let lengths = lists.lst_lengths();
    as_int64(&columns[0], &polars::prelude::IntoColumn::into_column(lengths))
}

fn list_sum(columns: &[Column]) -> PolarsResult<Column> {
    as_int64(&columns[0], &columns[0].list()?.lst_sum()?.into())
}

fn list_max(columns: &[Column]) -> PolarsResult<Column> {
    as_int64(&columns[0], &columns[0].list()?.lst_max()?.into())
}

fn list_min(columns: &[Column]) -> PolarsResult<Column> {
    as_int64(&columns[0], &columns[0].list()?.lst_min()?.into())
}

fn entropy(columns: &[Column]) -> PolarsResult<Column> {
    let lists = columns[0].cast(&DataType::List(Box::new(DataType::Float64)))?;
    let lists = lists.list()?;
    let mut entropies = Vec::with_capacity(lists.len());
    for list in lists.amortized_iter() {
        let entropy = match list {
            Some(list) => Some(entropy_of(&list.as_ref().f64()?.iter().flatten().collect::<Vec<_>>())),
            None => None,
        };
        entropies.push(entropy);
    }
    Ok(Column::new(columns[0].name().clone(), entropies))
}

/// −Σ p·ln p, where p is a weight as a share of the sum.
fn entropy_of(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    let shares = weights.iter().filter(|weight| **weight > 0.0).map(|weight| weight / sum);
    // Adding 0 turns −0 into 0.
    -shares.map(|share| share * share.ln()).sum::<f64>() + 0.0
}

/// The registry in the form that polars takes.
pub(crate) fn registry() -> Arc<dyn FunctionRegistry> {
    Arc::new(Registry)
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, entropy_of};

    #[test]
    fn entropy_is_that_of_the_shares() {
        assert_eq!(entropy_of(&[5.0]), 0.0);
        assert!((entropy_of(&[1.0, 1.0, 0.0]) - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(entropy_of(&[]), 0.0);
    }

    #[test]
    fn forms_begin_with_their_name() {
        for function in &FUNCTIONS {
            assert!(function.info.form.starts_with(&format!("{}(", function.name)));
        }
    }
}
