//! Functions that SQL has here beside its own: chess, and lists as DuckDB names them. Each is declared once.

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
    /// How it is called.
    pub form: &'static str,
    /// The type of what it gives.
    pub gives: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// What a function takes, one for each argument.
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
    takes: &'static [Argument],
    gives: DataType,
    run: fn(&[Column]) -> PolarsResult<Column>,
}

const fn function(
    (name, form, gives_word, meaning): (&'static str, &'static str, &'static str, &'static str),
    takes: &'static [Argument],
    gives: DataType,
    run: fn(&[Column]) -> PolarsResult<Column>,
) -> Function {
    Function { name, info: FunctionInfo { form, gives: gives_word, meaning }, takes, gives, run }
}

const FUNCTIONS: [Function; 14] = [
    function(
        (
            "material",
            "material(fen)",
            "i32",
            "White's material less Black's, in pawns: 1 a pawn, 3 a knight or bishop, 5 a rook, 9 a queen",
        ),
        &[Argument::Text],
        DataType::Int32,
        chess::material,
    ),
    function(
        (
            "phase",
            "phase(fen)",
            "f64",
            "how much of the pieces is left: 1 all, 0 kings and pawns only; a queen counts 4, a rook 2, a knight or bishop 1, of 24",
        ),
        &[Argument::Text],
        DataType::Float64,
        chess::phase,
    ),
    function(
        ("men", "men(fen)", "i32", "kings, pieces and pawns on the board"),
        &[Argument::Text],
        DataType::Int32,
        chess::men,
    ),
    function(
        ("side", "side(fen)", "text", "`white` or `black`, who is to move"),
        &[Argument::Text],
        DataType::String,
        chess::side,
    ),
    function(
        ("board", "board(fen)", "text", "the board in eight lines, White below"),
        &[Argument::Text],
        DataType::String,
        chess::board,
    ),
    function(
        (
            "uci",
            "uci(move) or uci(moves)",
            "text",
            "a packed move as in `e7e8q`; a list of them with blanks between",
        ),
        &[Argument::Moves],
        DataType::String,
        chess::uci,
    ),
    function(
        (
            "san",
            "san(fen, move)",
            "text",
            "a packed move as in `Nf3` or `exd8=Q+`; empty where it is not legal",
        ),
        &[Argument::Text, Argument::Move],
        DataType::String,
        chess::san,
    ),
    function(
        (
            "opening",
            "opening(moves)",
            "text",
            "the name of the last named position of a game from the initial position; empty without one",
        ),
        &[Argument::Moves],
        DataType::String,
        chess::opening,
    ),
    function(
        ("eco", "eco(moves)", "text", "its code, such as `B20`"),
        &[Argument::Moves],
        DataType::String,
        chess::eco,
    ),
    function(
        (
            "entropy",
            "entropy(list)",
            "f64",
            "entropy in nats of the list as shares of its sum; 0 for an empty list",
        ),
        &[Argument::List],
        DataType::Float64,
        entropy,
    ),
    function(
        ("len", "len(list)", "i64", "the number of its items; also `array_length`"),
        &[Argument::List],
        DataType::Int64,
        len,
    ),
    function(
        ("list_sum", "list_sum(list)", "i64", "their sum; also `array_sum`"),
        &[Argument::List],
        DataType::Int64,
        list_sum,
    ),
    function(
        ("list_max", "list_max(list)", "i64", "the largest; also `array_upper`"),
        &[Argument::List],
        DataType::Int64,
        list_max,
    ),
    function(
        ("list_min", "list_min(list)", "i64", "the smallest; also `array_lower`"),
        &[Argument::List],
        DataType::Int64,
        list_min,
    ),
];

/// All of them, in the order of listings.
pub fn functions() -> Vec<FunctionInfo> {
    FUNCTIONS.iter().map(|function| function.info).collect()
}

/// Functions of SQL that people often look for, and dc0's own: for the nearest name of one that is not there.
pub(crate) fn known_names() -> Vec<String> {
    const USUAL: [&str; 24] = [
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
    FUNCTIONS.iter().map(|function| function.name).chain(USUAL).map(str::to_owned).collect()
}

/// Whether a function is dc0's own.
pub(crate) fn is_own(name: &str) -> bool {
    find(name).is_some()
}

fn find(name: &str) -> Option<&'static Function> {
    const ALL: &[Function] = &FUNCTIONS;
    ALL.iter().find(|function| function.name == name)
}

/// Gives polars the functions.
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
            Ok(Field::new(fields[0].name().clone(), self.gives.clone()))
        };
        let call = move |columns: &mut [Column]| run(&broadcast(columns));
        let mut udf = UserDefinedFunction::new(self.name.into(), BaseColumnUdf::new(call, field));
        // A row's value depends on that row alone, so any part of the rows may be computed by itself.
        udf.options = FunctionOptions::elementwise();
        udf
    }

    fn check(&self, fields: &[Field]) -> PolarsResult<()> {
        if fields.len() != self.takes.len() {
            polars_bail!(InvalidOperation: "{} is called as {}, not with {} arguments", self.name, self.info.form, fields.len());
        }
        for (field, takes) in fields.iter().zip(self.takes) {
            if !takes.is_met_by(field.dtype()) {
                polars_bail!(
                    InvalidOperation: "{} is called as {}; `{}` is {}, not {}",
                    self.name, self.info.form, field.name(), type_name(field.dtype()), takes.words()
                );
            }
        }
        Ok(())
    }
}

impl Argument {
    fn is_met_by(self, kind: &DataType) -> bool {
        let is_list = |kind: &DataType| matches!(kind, DataType::List(item) if item.is_primitive_numeric() || item.is_null());
        match self {
            Self::Text => kind.is_string() || kind.is_null(),
            Self::Move => kind.is_integer() || kind.is_null() || kind.is_unknown(),
            Self::Moves => Self::Move.is_met_by(kind) || is_list(kind),
            Self::List => is_list(kind),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Move => "a packed move",
            Self::Moves => "a packed move or a list of them",
            Self::List => "a list of numbers",
        }
    }
}

/// Columns of equal lengths: a constant stands for as many rows as the others have.
fn broadcast(columns: &[Column]) -> Vec<Column> {
    let rows = columns.iter().map(Column::len).filter(|rows| *rows != 1).max().unwrap_or(1);
    columns
        .iter()
        .map(|column| if column.len() == 1 { column.new_from_index(0, rows) } else { column.clone() })
        .collect()
}

fn whole(column: &Column, values: &Column) -> PolarsResult<Column> {
    Ok(values.cast(&DataType::Int64)?.with_name(column.name().clone()))
}

fn len(columns: &[Column]) -> PolarsResult<Column> {
    let lists = columns[0].list()?;
    let lengths = lists.lst_lengths();
    whole(&columns[0], &polars::prelude::IntoColumn::into_column(lengths))
}

fn list_sum(columns: &[Column]) -> PolarsResult<Column> {
    whole(&columns[0], &columns[0].list()?.lst_sum()?.into())
}

fn list_max(columns: &[Column]) -> PolarsResult<Column> {
    whole(&columns[0], &columns[0].list()?.lst_max()?.into())
}

fn list_min(columns: &[Column]) -> PolarsResult<Column> {
    whole(&columns[0], &columns[0].list()?.lst_min()?.into())
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

/// −Σ p·ln p over the shares p of the sum.
fn entropy_of(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    let shares = weights.iter().filter(|weight| **weight > 0.0).map(|weight| weight / sum);
    // Adding 0 turns −0 into 0.
    -shares.map(|share| share * share.ln()).sum::<f64>() + 0.0
}

/// The registry as polars wants it.
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
