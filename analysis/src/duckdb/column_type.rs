//! Types of columns as dc0 reads them.

#![allow(unsafe_code, reason = "a library that is not linked has no safe interface")]

use polars::prelude::DataType;

use super::api::{Api, Handle};

/// A column's type. DuckDB's other types are cast to the nearest of these before they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// A truth value.
    Bool,
    /// An integer of 64 bits.
    Int,
    /// A number of 32 bits.
    Float32,
    /// A number of 64 bits.
    Float64,
    /// A text.
    Text,
    /// A list.
    List(Box<Self>),
    /// A type of DuckDB's that is cast to another before it is read.
    Cast(Box<Self>),
}

/// `duckdb_type` in DuckDB's header.
mod id {
    pub(super) const BOOLEAN: i32 = 1;
    pub(super) const BIGINT: i32 = 5;
    pub(super) const FLOAT: i32 = 10;
    pub(super) const DOUBLE: i32 = 11;
    pub(super) const VARCHAR: i32 = 17;
    pub(super) const DECIMAL: i32 = 19;
    pub(super) const LIST: i32 = 24;
    /// The other integers, from `TINYINT` to `UBIGINT`, then `HUGEINT`, `UHUGEINT`, `SQLNULL` and `INTEGER_LITERAL`.
    pub(super) const INTEGERS: [i32; 11] = [2, 3, 4, 6, 7, 8, 9, 16, 32, 36, 38];
}

impl ColumnType {
    /// Reads and destroys a logical type.
    ///
    /// # Safety
    /// The handle must be that of a logical type that the caller owns.
    pub(super) unsafe fn read(api: &Api, mut handle: Handle) -> Self {
        let cast = |kind| Self::Cast(Box::new(kind));
        // SAFETY: see above; the child type is owned by us, too.
        unsafe {
            let kind = match (api.get_type_id)(handle) {
                id::BOOLEAN => Self::Bool,
                id::BIGINT => Self::Int,
                id::FLOAT => Self::Float32,
                id::DOUBLE => Self::Float64,
                id::VARCHAR => Self::Text,
                id::LIST => match Self::read(api, (api.list_type_child_type)(handle)) {
                    Self::Cast(item) => cast(Self::List(item)),
                    item => Self::List(Box::new(item)),
                },
                id::DECIMAL => cast(Self::Float64),
                other if id::INTEGERS.contains(&other) => cast(Self::Int),
                _ => cast(Self::Text),
            };
            (api.destroy_logical_type)(&raw mut handle);
            kind
        }
    }

    /// Its name in SQL.
    pub(crate) fn sql(&self) -> String {
        match self {
            Self::Bool => "BOOLEAN".to_owned(),
            Self::Int => "BIGINT".to_owned(),
            Self::Float32 => "FLOAT".to_owned(),
            Self::Float64 => "DOUBLE".to_owned(),
            Self::Text => "VARCHAR".to_owned(),
            Self::List(item) => format!("{}[]", item.sql()),
            Self::Cast(kind) => kind.sql(),
        }
    }

    /// The type of a column of the result.
    pub(crate) fn dtype(&self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int => DataType::Int64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Text => DataType::String,
            Self::List(item) => DataType::List(Box::new(item.dtype())),
            Self::Cast(kind) => kind.dtype(),
        }
    }
}
