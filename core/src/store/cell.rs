//! How a Rust type is stored in a column of a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, UInt16Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray, StringArray,
};
use arrow_buffer::{ArrowNativeType, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use crate::board::{Ending, GameResult, PgnEval, Side};
use crate::param_enum;

/// A type that a column can hold. Columns have no missing values, and a column of an enum holds only that enum's values.
pub(super) trait Cell: Sized {
    /// The type's name on the schema page.
    fn kind() -> String;

    /// The type in the file.
    fn data_type() -> DataType;

    /// A column of these cells.
    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;

    /// The cells of a column of [`Cell::data_type`], or the first that is not a valid value.
    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault>;
}

/// A cell that is not a valid value of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellFault {
    /// Its row within the column.
    pub(super) row: usize,
    /// What is wrong with it, such as `is 5, expected -1, 0 or 1`.
    pub(super) fault: String,
}

/// Converts stored cells to values of an enum.
fn values<S, T>(
    stored: &[S],
    value: impl Fn(&S) -> Option<T>,
    fault: impl Fn(&S) -> String,
) -> Result<Vec<T>, CellFault> {
    let value = |(row, cell): (usize, &S)| value(cell).ok_or_else(|| CellFault { row, fault: fault(cell) });
    stored.iter().enumerate().map(value).collect()
}

impl Cell for GameResult {
    fn kind() -> String {
        i8::kind()
    }

    fn data_type() -> DataType {
        i8::data_type()
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        let scores: Vec<i8> = cells.map(|result| result.score_for(Side::White)).collect();
        i8::array(scores.iter())
    }

    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
        let fault = |score: &i8| format!("is {score}, expected -1, 0 or 1");
        values(&i8::cells(array)?, |score| Self::from_white_score(*score), fault)
    }
}

macro_rules! named {
    ($($type:ident),+) => {$(
        impl Cell for $type {
            fn kind() -> String {
                String::kind()
            }

            fn data_type() -> DataType {
                String::data_type()
            }

            fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(StringArray::from_iter_values(cells.map(|value| value.name())))
            }

            fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
                let fault = |name: &String| format!("is \"{name}\", which is not known");
                values(&String::cells(array)?, |name| Self::from_name(name), fault)
            }
        }
    )+};
}

named!(Ending, Reject);

param_enum! {
    /// Why a game was not imported.
    pub enum Reject {
        /// It cannot be read: a comment, tag or variation does not end, or one too many ends.
        Syntax = "syntax",
        /// It starts from no legal position.
        Fen = "fen",
        /// It is a game of neither standard chess nor Chess960.
        Variant = "variant",
        /// A move is not legal, or is none.
        IllegalMove = "illegal_move",
        /// A player passes.
        NullMove = "null_move",
        /// No result follows its moves, or one that is no win, draw or loss.
        NoResult = "no_result",
        /// Its result is not that of its tags, or not that of the mate or stalemate on the board.
        OtherResult = "other_result",
        /// It has more than 65,535 plies.
        TooLong = "too_long",
        /// Its content cannot be read, or ends early.
        Damaged = "damaged",
        /// Its records are of a version that is not read.
        Version = "version",
        /// Its planes are of a format that is not read.
        InputFormat = "input_format",
        /// A record's planes are not those of the position that the moves lead to, or impossible.
        Planes = "planes",
        /// A record's probabilities are not those of the legal moves, or do not sum to 1.
        Policy = "policy",
        /// A record's values are impossible.
        Value = "value",
    }
}

/// Evaluations in the order of moves; NaN for a move without one.
#[derive(Debug, Clone, Default)]
pub struct Scores(pub Vec<f32>);

impl Scores {
    /// The score of a mate on the board, in centipawns; more than any evaluation.
    pub const MATE: f32 = 32_000.0;

    /// The moves of the mate that a score stands for; `None` for an evaluation.
    pub fn mate_in(score: f32) -> Option<f32> {
        let moves = Self::MATE - score.abs();
        (moves <= f32::from(PgnEval::MOST_MOVES)).then_some(moves)
    }
}

/// Equal bits are equal, NaN included.
impl PartialEq for Scores {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|score| score.to_bits()).eq(other.0.iter().map(|score| score.to_bits()))
    }
}

impl Cell for Scores {
    fn kind() -> String {
        Vec::<f32>::kind()
    }

    fn data_type() -> DataType {
        Vec::<f32>::data_type()
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Vec::<f32>::array(cells.map(|scores| &scores.0))
    }

    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
        Ok(Vec::<f32>::cells(array)?.into_iter().map(Self).collect())
    }
}

/// A number, stored at its own width.
pub(super) trait Number: ArrowNativeType {
    /// Arrow's name for it.
    type Arrow: ArrowPrimitiveType<Native = Self>;
    /// Rust's name for it.
    const KIND: &'static str;
}

macro_rules! numbers {
    ($($native:ident is $arrow:ident),+) => {$(
        impl Number for $native {
            type Arrow = $arrow;
            const KIND: &'static str = stringify!($native);
        }
    )+};
}

numbers!(i8 is Int8Type, u16 is UInt16Type, u32 is UInt32Type, f32 is Float32Type, f64 is Float64Type);

impl<N: Number> Cell for N {
    fn kind() -> String {
        N::KIND.to_owned()
    }

    fn data_type() -> DataType {
        N::Arrow::DATA_TYPE
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(PrimitiveArray::<N::Arrow>::from_iter_values(cells.copied()))
    }

    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
        Ok(array.as_primitive::<N::Arrow>().values().to_vec())
    }
}

impl Cell for bool {
    fn kind() -> String {
        "bool".to_owned()
    }

    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(cells.copied().map(Some).collect::<BooleanArray>())
    }

    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
        Ok(array.as_boolean().values().iter().collect())
    }
}

impl Cell for String {
    fn kind() -> String {
        "text".to_owned()
    }

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(cells))
    }

    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
        let texts = array.as_string::<i32>();
        Ok((0..texts.len()).map(|row| texts.value(row).to_owned()).collect())
    }
}

impl<N: Number> Cell for Vec<N> {
    fn kind() -> String {
        format!("list<{}>", N::KIND)
    }

    fn data_type() -> DataType {
        DataType::List(items::<N>())
    }

    fn array<'a>(cells: impl Iterator<Item = &'a Self>) -> ArrayRef {
        let (mut lengths, mut values) = (Vec::new(), Vec::new());
        for cell in cells {
            lengths.push(cell.len());
            values.extend_from_slice(cell);
        }
        let values = PrimitiveArray::<N::Arrow>::new(ScalarBuffer::from(values), None);
        Arc::new(ListArray::new(items::<N>(), OffsetBuffer::from_lengths(lengths), Arc::new(values), None))
    }

    fn cells(array: &dyn Array) -> Result<Vec<Self>, CellFault> {
        let lists = array.as_list::<i32>();
        let values = lists.values().as_primitive::<N::Arrow>().values();
        let range = |ends: &[i32]| ends[0] as usize..ends[1] as usize;
        Ok(lists.offsets().windows(2).map(|ends| values[range(ends)].to_vec()).collect())
    }
}

/// The item field of a list; Parquet's specification calls it `element`.
fn items<N: Number>() -> Arc<Field> {
    Arc::new(Field::new("element", N::Arrow::DATA_TYPE, false))
}
