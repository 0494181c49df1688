//! How a Rust type is stored in a column of a table.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, UInt16Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, ListArray, PrimitiveArray, StringArray,
};
use arrow_buffer::{ArrowNativeType, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use super::records::{Reject, Scores};
use crate::board::{Ending, GameResult, Side};

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
