//! What makes a struct a row of a table, and the macro that declares it.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name; also the name of the row's field.
    pub name: &'static str,
    /// Its type's name on the schema page, such as `list<u16>`.
    pub kind: String,
    pub(super) data_type: DataType,
    pub(super) packing: Packing,
    /// The first version of the table that has it. Rows of older files have the default that the table declares, or the type's: no
    /// items, no text.
    pub(super) since: u32,
}

/// How a column's values are laid out before zstd compression; chosen by measurement on self-play games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// A dictionary of the distinct values.
    Dictionary,
    /// Values as they are.
    Plain,
    /// All lengths, then all bytes: for texts that compress best when nothing separates them.
    Lengths,
    /// All first bytes, then all second bytes, and so on: for floating-point numbers with similar high bytes.
    ByteColumns,
    /// Differences of neighbours in as few bits as they need: for integers that rise, or are small.
    Deltas,
}

/// A row of a table, as `table!` declares it.
pub trait TableRow: Sized {
    /// The sort key of rows; unique within a file.
    type Key: Ord;
    /// The table's name.
    const TABLE: &'static str;
    /// The version of the table's columns and of their meaning.
    const VERSION: u32;
    /// The columns that make up the key.
    const KEY: &'static [&'static str];

    /// The columns in file order.
    fn columns() -> Vec<Column>;

    /// The row's key.
    fn key(&self) -> Self::Key;

    /// The row's key for messages, such as `game 3, ply 12`.
    fn key_text(&self) -> String;

    /// What is wrong with the row on its own, if anything.
    fn fault(&self) -> Option<String>;

    /// One array for each column.
    fn arrays(rows: &[Self]) -> Vec<ArrayRef>;

    /// The rows of a batch with all columns and the right types, or the first row with an invalid cell.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, RowFault>;
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFault {
    /// Its index among the rows.
    pub row: usize,
    /// Its key, such as `game 3, ply 12`.
    pub key: String,
    /// What is wrong.
    pub fault: String,
}

/// The schema of a table's files.
pub(super) fn schema<R: TableRow>() -> Schema {
    let field = |column: Column| Field::new(column.name, column.data_type, false);
    Schema::new(R::columns().into_iter().map(field).collect::<Vec<_>>())
}

/// The first invalid row: a fault of its own, or out of order.
pub(super) fn first_fault<R: TableRow>(rows: &[R]) -> Option<RowFault> {
    let disorder = |index: usize| {
        let last = &rows[index.checked_sub(1)?];
        let out_of_order = last.key() >= rows[index].key();
        out_of_order
            .then(|| format!("comes after {}; rows are sorted by {}", last.key_text(), R::KEY.join(" and ")))
    };
    let fault_at = |(index, row): (usize, &R)| {
        let fault = row.fault().or_else(|| disorder(index))?;
        Some(RowFault { row: index, key: row.key_text(), fault })
    };
    rows.iter().enumerate().find_map(fault_at)
}

/// Declares a table: its row type, name, version, key, check and columns with their types and packing. After `struct` it declares
/// the row type too, with fields as visible as the type. A column that the first version did not have says `since` which version
/// it is there, `or` what its cells are in older files.
macro_rules! table {
    (
        $(#[$attribute:meta])* $seen:vis struct $row:ident is $table:literal version $version:literal,
        key $key:tt, check $check:path {
            $(
                $(#[$doc:meta])*
                $column:ident: $cell:ty as $packing:ident $(since $since:literal $(or $default:expr)?)?
            ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $seen struct $row {
            $($(#[$doc])* $seen $column: $cell,)+
        }

        table! {
            $row is $table version $version, key $key, check $check {
                $($column: $cell as $packing $(since $since $(or $default)?)?),+
            }
        }
    };
    (
        $row:ident is $table:literal version $version:literal, key ($($key:ident: $key_type:ty),+), check $check:path {
            $($column:ident: $cell:ty as $packing:ident $(since $since:literal $(or $default:expr)?)?),+ $(,)?
        }
    ) => {
        impl $crate::store::row::TableRow for $row {
            type Key = ($($key_type,)+);
            const TABLE: &'static str = $table;
            const VERSION: u32 = $version;
            const KEY: &'static [&'static str] = &[$(stringify!($key)),+];

            fn columns() -> Vec<$crate::store::row::Column> {
                vec![$($crate::store::row::Column {
                    name: stringify!($column),
                    kind: <$cell as $crate::store::cell::Cell>::kind(),
                    data_type: <$cell as $crate::store::cell::Cell>::data_type(),
                    packing: $crate::store::row::Packing::$packing,
                    since: [$($since,)? 1_u32][0],
                }),+]
            }

            fn key(&self) -> Self::Key {
                ($(self.$key,)+)
            }

            fn key_text(&self) -> String {
                [$(format!("{} {}", stringify!($key), self.$key)),+].join(", ")
            }

            fn fault(&self) -> Option<String> {
                $check(self)
            }

            fn arrays(rows: &[Self]) -> Vec<arrow_array::ArrayRef> {
                vec![$(<$cell as $crate::store::cell::Cell>::array(rows.iter().map(|row| &row.$column))),+]
            }

            fn rows(batch: &arrow_array::RecordBatch) -> Result<Vec<Self>, $crate::store::row::RowFault> {
                let array = |name| batch.column_by_name(name).expect("the reader checked the columns");
                let fault = |column, cell: $crate::store::cell::CellFault| {
                    let keys = [$({
                        let keys = <$key_type as $crate::store::cell::Cell>::cells(array(stringify!($key)));
                        format!("{} {}", stringify!($key), keys.expect("keys are numbers")[cell.row])
                    }),+];
                    let fault = format!("`{column}` {}", cell.fault);
                    $crate::store::row::RowFault { row: cell.row, key: keys.join(", "), fault }
                };
                $(let mut $column = match batch.column_by_name(stringify!($column)) {
                    Some(cells) => <$cell as $crate::store::cell::Cell>::cells(cells)
                        .map_err(|cell| fault(stringify!($column), cell))?,
                    None => table!(@missing batch $(, $since $(or $default)?)?),
                }
                .into_iter();)+
                let mut row = || Some(Self { $($column: $column.next()?),+ });
                Ok(std::iter::from_fn(&mut row).collect())
            }
        }
    };
    // The cells of a column that a file of an older version lacks.
    (@missing $batch:ident, $since:literal or $default:expr) => {
        vec![$default; $batch.num_rows()]
    };
    (@missing $batch:ident, $since:literal) => {
        vec![Default::default(); $batch.num_rows()]
    };
    (@missing $batch:ident) => {
        unreachable!("the reader checked the columns")
    };
}
pub(super) use table;
