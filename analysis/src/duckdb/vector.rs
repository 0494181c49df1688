//! Columns of chunks as DuckDB lays them out.

#![allow(unsafe_code, reason = "a library that is not linked has no safe interface")]

use std::marker::PhantomData;
use std::slice;

use polars::prelude::{IntoSeries, ListChunked, NamedFrom, PlSmallStr, PolarsResult, Series};

use super::api::{Api, Handle, ListEntry, RawText};
use super::column_type::ColumnType;

/// A column of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Vector<'a> {
    api: &'a Api,
    handle: Handle,
    chunk: PhantomData<&'a ()>,
}

impl<'a> Vector<'a> {
    /// # Safety
    /// The handle must be that of a flat vector that lives for `'a`.
    pub(super) unsafe fn new(api: &'a Api, handle: Handle) -> Self {
        Self { api, handle, chunk: PhantomData }
    }

    /// Whether a row has a value.
    pub(super) fn is_valid(self, row: usize) -> bool {
        // SAFETY: the vector is alive; its mask, if there is one, has a bit for each row.
        unsafe {
            let mask = (self.api.vector_get_validity)(self.handle);
            mask.is_null() || (*mask.add(row / 64) >> (row % 64)) & 1 == 1
        }
    }

    /// The values of the first rows; those of rows without a value are arbitrary.
    ///
    /// # Safety
    /// The vector must hold values of this type, at least `rows`.
    pub(super) unsafe fn values<T>(self, rows: usize) -> &'a [T] {
        if rows == 0 {
            return &[];
        }
        unsafe { slice::from_raw_parts((self.api.vector_get_data)(self.handle).cast::<T>(), rows) }
    }

    /// A row of a vector of texts, which must have a value.
    ///
    /// # Safety
    /// The vector must hold texts, more than `row`.
    pub(super) unsafe fn text(self, row: usize) -> &'a str {
        unsafe {
            let raw = (self.api.vector_get_data)(self.handle).cast::<RawText>().add(row);
            let length = (*raw).length;
            let start = if length <= RawText::INLINE {
                (&raw const (*raw).prefix).cast::<u8>()
            } else {
                (&raw const (*raw).rest).cast::<*const u8>().read_unaligned()
            };
            // DuckDB's texts are UTF-8, which it checks when it reads files.
            std::str::from_utf8_unchecked(slice::from_raw_parts(start, length as usize))
        }
    }

    /// The items of a vector of lists, with their number.
    ///
    /// # Safety
    /// The vector must hold lists.
    pub(super) unsafe fn items(self) -> (Self, usize) {
        unsafe {
            let items = Self::new(self.api, (self.api.list_vector_get_child)(self.handle));
            (items, (self.api.list_vector_get_size)(self.handle) as usize)
        }
    }

    /// The first rows as a series of their type.
    pub(super) fn series(self, name: PlSmallStr, kind: &ColumnType, rows: usize) -> PolarsResult<Series> {
        // SAFETY: the vector has this type, as its statement says, and at least that many rows.
        let series = unsafe {
            match kind {
                ColumnType::Bool => Series::new(name, self.options::<bool>(rows)),
                ColumnType::Int => Series::new(name, self.options::<i64>(rows)),
                ColumnType::Float32 => Series::new(name, self.options::<f32>(rows)),
                ColumnType::Float64 => Series::new(name, self.options::<f64>(rows)),
                ColumnType::Text => {
                    let text = |row| self.is_valid(row).then(|| self.text(row));
                    Series::new(name, (0..rows).map(text).collect::<Vec<_>>())
                }
                ColumnType::List(item) => {
                    let (items, count) = self.items();
                    let items = items.series(PlSmallStr::EMPTY, item, count)?;
                    let list = |(row, entry): (usize, &ListEntry)| {
                        let list = || items.slice(entry.offset as i64, entry.length as usize);
                        self.is_valid(row).then(list)
                    };
                    let lists: ListChunked =
                        self.values::<ListEntry>(rows).iter().enumerate().map(list).collect();
                    // Without any list, the type of the items is not known from them.
                    lists.into_series().cast(&kind.dtype())?.with_name(name)
                }
                ColumnType::Cast(_) => unreachable!("columns are cast before they are read"),
            }
        };
        Ok(series)
    }

    /// # Safety
    /// As [`values`](Self::values).
    unsafe fn options<T: Copy>(self, rows: usize) -> Vec<Option<T>> {
        let values = unsafe { self.values::<T>(rows) };
        values.iter().enumerate().map(|(row, value)| self.is_valid(row).then_some(*value)).collect()
    }
}
