//! Converts rows to the bytes of a Parquet file and back.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnPath;

use super::error::StoreError;
use super::row::{Column, Packing, RowFault, TableRow, schema};

/// Where a file comes from: names such as `run`, `step`, `seed` or `network`, with their values. Stored in the file's
/// metadata under `dc0.<name>`, so part of its bytes.
pub type Provenance = BTreeMap<String, String>;

/// Rows that are compressed and read together; a reader holds this many in memory.
const ROW_GROUP: usize = 65_536;

/// How much time goes into compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Level 9 of zstd: on self-play games it saves 8 % over level 3 at some microseconds per position, which is negligible
    /// beside the search.
    Small,
    /// Level 3, for rows that come faster than a search makes them.
    Fast,
}

impl Effort {
    fn level(self) -> ZstdLevel {
        let level = match self {
            Self::Small => 9,
            Self::Fast => 3,
        };
        ZstdLevel::try_new(level).expect("a level of zstd")
    }
}

const TABLE: &str = "dc0.table";
const VERSION: &str = "dc0.schema_version";

/// Encodes rows as a Parquet file. Equal rows and provenance give equal bytes.
pub(super) fn encode<R: TableRow>(rows: &[R], provenance: &Provenance, effort: Effort) -> Vec<u8> {
    let schema = Arc::new(schema::<R>());
    let options = ArrowWriterOptions::new()
        .with_properties(properties::<R>(provenance, effort))
        // Parquet's own types are sufficient; arrow's copy of the schema would only cost space.
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema.clone(), options)
        .expect("every column's type can be stored");
    for group in rows.chunks(ROW_GROUP) {
        let batch =
            RecordBatch::try_new(schema.clone(), R::arrays(group)).expect("arrays come from the columns");
        writer.write(&batch).expect("memory takes every write");
    }
    writer.into_inner().expect("memory takes every write")
}

fn properties<R: TableRow>(provenance: &Provenance, effort: Effort) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(effort.level()))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_data_page_row_count_limit(ROW_GROUP)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by("dc0".to_owned())
        .set_key_value_metadata(Some(metadata::<R>(provenance)));
    for column in R::columns() {
        let path = leaf_path(&column);
        properties = match column.packing {
            Packing::Dictionary => properties.set_column_dictionary_enabled(path, true),
            Packing::Plain => properties.set_column_dictionary_enabled(path, false),
            Packing::Lengths => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_LENGTH_BYTE_ARRAY),
            Packing::ByteColumns => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            Packing::Deltas => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    properties.build()
}

/// The path of a column's values in the file.
fn leaf_path(column: &Column) -> ColumnPath {
    let mut parts = vec![column.name.to_owned()];
    if matches!(column.data_type, DataType::List(_)) {
        parts.extend(["list".to_owned(), "element".to_owned()]);
    }
    ColumnPath::new(parts)
}

fn metadata<R: TableRow>(provenance: &Provenance) -> Vec<KeyValue> {
    let mut pairs: BTreeMap<String, String> =
        provenance.iter().map(|(name, value)| (format!("dc0.{name}"), value.clone())).collect();
    for (name, value) in [(TABLE, R::TABLE.to_owned()), (VERSION, R::VERSION.to_string())] {
        let previous = pairs.insert(name.to_owned(), value);
        assert!(previous.is_none(), "{name} is set by the store and must not be in a provenance");
    }
    pairs.into_iter().map(|(name, value)| KeyValue::new(name, value)).collect()
}

/// Decodes the rows of a file; `path` is for messages.
pub(super) fn decode<R: TableRow>(
    file: impl ChunkReader + 'static,
    path: &Path,
) -> Result<Vec<R>, StoreError> {
    // The Parquet library panics on some damaged files.
    let decoded = catch_unwind(AssertUnwindSafe(|| try_decode(file, path)));
    decoded.unwrap_or_else(|_| Err(damaged(path)("the Parquet reader panicked")))
}

fn try_decode<R: TableRow>(file: impl ChunkReader + 'static, path: &Path) -> Result<Vec<R>, StoreError> {
    let builder = footer(file, path)?;
    let version = check_metadata::<R>(builder.metadata().file_metadata().key_value_metadata(), path)?;
    check_columns::<R>(builder.schema(), version, path)?;
    let expected = builder.metadata().file_metadata().num_rows();
    let mut rows = Vec::new();
    for batch in builder.with_batch_size(ROW_GROUP).build().map_err(|cause| damaged(path)(cause))? {
        let read = R::rows(&batch.map_err(|cause| damaged(path)(cause))?);
        let before = rows.len();
        let in_file = |fault: RowFault| RowFault { row: before + fault.row, ..fault };
        rows.extend(read.map_err(|fault| StoreError::from_row_fault(path, R::TABLE, in_file(fault)))?);
    }
    if rows.len() as i64 != expected {
        return Err(damaged(path)(format!("it has {} rows but its footer says {expected}", rows.len())));
    }
    Ok(rows)
}

/// The number of rows of a file; reads only the footer, and checks the table's name, version and columns.
pub(super) fn peek<R: TableRow>(file: impl ChunkReader + 'static, path: &Path) -> Result<u64, StoreError> {
    let builder = footer(file, path)?;
    let version = check_metadata::<R>(builder.metadata().file_metadata().key_value_metadata(), path)?;
    check_columns::<R>(builder.schema(), version, path)?;
    Ok(builder.metadata().file_metadata().num_rows().unsigned_abs())
}

/// The number of rows of a wide table; reads only the footer, and checks the table's name.
pub(super) fn peek_wide(
    file: impl ChunkReader + 'static,
    path: &Path,
    table: &'static str,
) -> Result<u64, StoreError> {
    let builder = footer(file, path)?;
    let metadata = builder.metadata().file_metadata();
    check_table(metadata.key_value_metadata(), path, table)?;
    Ok(metadata.num_rows().unsigned_abs())
}

/// Checks that a wide table is of this name and has these values in its provenance.
pub(super) fn check_wide(
    file: impl ChunkReader + 'static,
    path: &Path,
    table: &'static str,
    provenance: &Provenance,
) -> Result<(), StoreError> {
    let builder = footer(file, path)?;
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    check_table(pairs, path, table)?;
    for (name, expected) in provenance {
        let found = stored(pairs, &format!("dc0.{name}")).unwrap_or_default();
        if found != *expected {
            let (file, name, expected) = (path.to_owned(), name.clone(), expected.clone());
            return Err(StoreError::Foreign { file, name, expected, found });
        }
    }
    Ok(())
}

fn footer<F: ChunkReader + 'static>(
    file: F,
    path: &Path,
) -> Result<ParquetRecordBatchReaderBuilder<F>, StoreError> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    // The Parquet library panics on some damaged files.
    let read = || ParquetRecordBatchReaderBuilder::try_new_with_options(file, options);
    let read = catch_unwind(AssertUnwindSafe(read));
    let read = read.map_err(|_| damaged(path)("the Parquet reader panicked"))?;
    read.map_err(|cause| damaged(path)(cause))
}

pub(super) fn damaged<C: ToString>(path: &Path) -> impl Fn(C) -> StoreError {
    move |cause| StoreError::Damaged { file: path.to_owned(), cause: cause.to_string() }
}

/// Checks the table's name, and returns the version of its columns.
fn check_metadata<R: TableRow>(pairs: Option<&Vec<KeyValue>>, path: &Path) -> Result<u32, StoreError> {
    check_table(pairs, path, R::TABLE)?;
    let found = stored(pairs, VERSION).unwrap_or_default();
    match found.parse::<u32>() {
        Ok(version) if (1..=R::VERSION).contains(&version) => Ok(version),
        _ => Err(StoreError::Version { file: path.to_owned(), table: R::TABLE, newest: R::VERSION, found }),
    }
}

fn stored(pairs: Option<&Vec<KeyValue>>, name: &str) -> Option<String> {
    pairs?.iter().find(|pair| pair.key == name)?.value.clone()
}

fn check_table(pairs: Option<&Vec<KeyValue>>, path: &Path, expected: &'static str) -> Result<(), StoreError> {
    let found = stored(pairs, TABLE);
    if found.as_deref() == Some(expected) {
        Ok(())
    } else {
        Err(StoreError::Table { file: path.to_owned(), expected, found })
    }
}

/// Checks that a file has the columns of its version of the table.
fn check_columns<R: TableRow>(found: &Schema, version: u32, path: &Path) -> Result<(), StoreError> {
    let mut columns = R::columns();
    columns.retain(|column| column.since <= version);
    let mut problems: Vec<String> = columns
        .iter()
        .filter_map(|column| column_problem(column, found.field_with_name(column.name).ok()))
        .collect();
    let unexpected = |field: &&Arc<Field>| !columns.iter().any(|column| column.name == field.name());
    problems.extend(
        found.fields().iter().filter(unexpected).map(|field| format!("`{}` is unexpected", field.name())),
    );
    if problems.is_empty() {
        Ok(())
    } else {
        Err(StoreError::Columns { file: path.to_owned(), table: R::TABLE, problems })
    }
}

fn column_problem(column: &Column, found: Option<&Field>) -> Option<String> {
    let Some(found) = found else {
        return Some(format!("`{}` is missing", column.name));
    };
    if found.data_type() != &column.data_type {
        let (name, kind) = (column.name, &column.kind);
        return Some(format!(
            "`{name}` should be {kind} ({}) but is {}",
            column.data_type,
            found.data_type()
        ));
    }
    found.is_nullable().then(|| format!("`{}` may have missing values", column.name))
}
