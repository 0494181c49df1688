//! Tables whose columns are known only when they are written, such as the trials of a sweep, with a column for each
//! parameter. Unlike in other tables, cells may be empty.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::error::StoreError;
use super::file::FileEntry;
use super::format::{Provenance, check_wide, damaged};
use crate::params::Value;
use crate::{durable, regular};

/// The metadata with the digest of the file, because no manifest has one of a file that is rewritten.
const DIGEST: &str = "dc0.blake3";

/// What stands in the file for its digest while that is computed.
const NO_DIGEST: [u8; 64] = [b'0'; 64];

/// One column: its name and a value for each row; [`Value::None`] leaves a cell empty.
#[derive(Debug, Clone, PartialEq)]
pub struct WideColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub cells: Vec<Value>,
    /// What it holds if all of them are empty, so that a query means the same whatever a table has.
    pub if_empty: WideKind,
}

/// The kind of a column without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WideKind {
    /// Whole numbers.
    Int,
    /// Numbers.
    #[default]
    Float,
    /// Text.
    Text,
}

/// Writes a table of at least one column to `root/path`; all columns have the same number of cells.
///
/// A column holds integers, floats (if any value is one), booleans or text; a column of mixed kinds, or of lists and groups, is
/// text, with each value as JSON. The metadata `dc0.blake3` is the digest of the file with 64 zeros instead of it. Equal columns give equal bytes. If the process is killed, the file is either whole or absent.
pub fn write_wide(
    root: &Path,
    path: &str,
    table: &str,
    version: u32,
    columns: &[WideColumn],
    provenance: &Provenance,
) -> Result<FileEntry, StoreError> {
    let arrays: Vec<ArrayRef> = columns.iter().map(array).collect();
    let field =
        |(column, array): (&WideColumn, &ArrayRef)| Field::new(&column.name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().zip(&arrays).map(field).collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("columns of one length");
    let options = ArrowWriterOptions::new()
        .with_properties(properties(table, version, provenance))
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options)
        .expect("every column's type can be stored");
    writer.write(&batch).expect("memory takes every write");
    let mut content = writer.into_inner().expect("memory takes every write");
    let digest = durable::digest(&content);
    digest_in(&mut content).expect("it was written").copy_from_slice(digest.as_bytes());
    let file = root.join(path);
    durable::write(&file, &content).map_err(|source| StoreError::Write { file, source })?;
    Ok(FileEntry {
        path: path.to_owned(),
        rows: batch.num_rows() as u64,
        bytes: content.len() as u64,
        blake3: durable::digest(&content),
    })
}

/// Checks that a table of [`write_wide`] is as it was written, and was written with these values in its provenance.
pub fn verify_wide(path: &Path, table: &'static str, provenance: &Provenance) -> Result<(), StoreError> {
    let read = |source| StoreError::Read { file: path.to_owned(), source };
    let mut content = regular::read(path).map_err(read)?;
    let digits = digest_in(&mut content).ok_or_else(|| damaged(path)("it has no digest"))?;
    let expected = String::from_utf8_lossy(digits).into_owned();
    digits.copy_from_slice(&NO_DIGEST);
    let found = durable::digest(&content);
    if found != expected {
        return Err(damaged(path)(format!("its digest is {found}, not {expected} as written in it")));
    }
    check_wide(regular::open(path).map_err(read)?, path, table, provenance)
}

/// The digits of the digest in a file, which follow the name of that metadata, two bytes of Thrift's compact protocol (a text
/// follows, and its length).
fn digest_in(content: &mut [u8]) -> Option<&mut [u8]> {
    let name = [DIGEST.as_bytes(), &[0x18, NO_DIGEST.len() as u8]].concat();
    let start = content.windows(name.len()).rposition(|bytes| bytes == name)? + name.len();
    content.get_mut(start..start + NO_DIGEST.len())
}

fn properties(table: &str, version: u32, provenance: &Provenance) -> WriterProperties {
    let blake3 = String::from_utf8_lossy(&NO_DIGEST).into_owned();
    let own = [("table", table.to_owned()), ("schema_version", version.to_string()), ("blake3", blake3)];
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let pairs: BTreeMap<String, String> = provenance
        .clone()
        .into_iter()
        .chain(own)
        .map(|(name, value)| (format!("dc0.{name}"), value))
        .collect();
    let metadata = pairs.into_iter().map(|(name, value)| KeyValue::new(name, value)).collect();
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("dc0".to_owned())
        .set_key_value_metadata(Some(metadata))
        .build()
}

fn array(WideColumn { cells, if_empty, .. }: &WideColumn) -> ArrayRef {
    if cells.iter().all(|cell| *cell == Value::None) {
        return match if_empty {
            WideKind::Int => Arc::new(Int64Array::new_null(cells.len())),
            WideKind::Float => Arc::new(Float64Array::new_null(cells.len())),
            WideKind::Text => Arc::new(StringArray::new_null(cells.len())),
        };
    }
    let all = |is_kind: fn(&Value) -> bool| cells.iter().all(|cell| *cell == Value::None || is_kind(cell));
    if all(|cell| matches!(cell, Value::Int(_))) {
        let int = |cell: &Value| if let Value::Int(int) = cell { Some(*int) } else { None };
        Arc::new(cells.iter().map(int).collect::<Int64Array>())
    } else if all(|cell| cell.as_f64().is_some()) {
        Arc::new(cells.iter().map(Value::as_f64).collect::<Float64Array>())
    } else if all(|cell| matches!(cell, Value::Bool(_))) {
        let bool = |cell: &Value| if let Value::Bool(bool) = cell { Some(*bool) } else { None };
        Arc::new(cells.iter().map(bool).collect::<BooleanArray>())
    } else {
        Arc::new(cells.iter().map(text).collect::<StringArray>())
    }
}

fn text(cell: &Value) -> Option<String> {
    match cell {
        Value::None => None,
        Value::Text(text) => Some(text.clone()),
        other => Some(other.canonical()),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::{WideColumn, WideKind, verify_wide, write_wide};
    use crate::params::Value;
    use crate::store::Provenance;

    fn column(name: &str, cells: &[Value]) -> WideColumn {
        WideColumn { name: name.to_owned(), cells: cells.to_vec(), if_empty: WideKind::Float }
    }

    #[test]
    fn columns_have_the_kind_of_their_values_and_empty_cells_stay_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let (none, text) = (Value::None, |text: &str| Value::Text(text.to_owned()));
        let columns = [
            column("ints", &[Value::Int(1), none.clone(), Value::Int(3)]),
            column("floats", &[Value::Int(1), Value::Float(0.5), none.clone()]),
            column("bools", &[Value::Bool(true), none.clone(), Value::Bool(false)]),
            column("texts", &[text("a"), none.clone(), text("b")]),
            column("mixed", &[text("a"), Value::Int(2), Value::List(vec![Value::Int(1)])]),
            column("empty", &[none.clone(), none.clone(), none.clone()]),
            WideColumn {
                if_empty: WideKind::Int,
                ..column("no_int", &[none.clone(), none.clone(), none.clone()])
            },
            WideColumn {
                if_empty: WideKind::Text,
                ..column("no_text", &[none.clone(), none.clone(), none.clone()])
            },
            WideColumn {
                if_empty: WideKind::Text,
                ..column("flag", &[none.clone(), Value::Bool(true), none])
            },
        ];
        let provenance = Provenance::from([("sweep".to_owned(), "s".to_owned())]);
        let write = || write_wide(folder.path(), "t.parquet", "trials", 1, &columns, &provenance);
        let entry = write().expect("writes");
        assert_eq!((entry.rows, write().expect("writes").blake3), (3, entry.blake3.clone()));
        let file = std::fs::File::open(folder.path().join("t.parquet")).expect("opens");
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(file).expect("is Parquet").build().expect("reads");
        let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("reads")).collect();
        let kinds: Vec<DataType> =
            batches[0].schema().fields().iter().map(|field| field.data_type().clone()).collect();
        let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        assert_eq!(
            names,
            ["Int64", "Float64", "Boolean", "Utf8", "Utf8", "Float64", "Int64", "Utf8", "Boolean"]
        );
        let empty: Vec<usize> = batches[0].columns().iter().map(Array::null_count).collect();
        assert_eq!(empty, [1, 1, 1, 1, 0, 3, 3, 3, 2]);
        let path = folder.path().join("t.parquet");
        verify_wide(&path, "trials", &provenance).expect("is whole");
        let other = Provenance::from([("sweep".to_owned(), "other".to_owned())]);
        let error = verify_wide(&path, "trials", &other).expect_err("is another sweep's").to_string();
        assert!(error.contains("its sweep is \"s\", not \"other\""), "{error}");
    }

    #[test]
    fn every_flipped_bit_of_a_wide_table_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let columns = [column("ints", &[Value::Int(1), Value::None])];
        let provenance = Provenance::from([("sweep".to_owned(), "s".to_owned())]);
        write_wide(folder.path(), "t.parquet", "trials", 1, &columns, &provenance).expect("writes");
        let path = folder.path().join("t.parquet");
        let whole = std::fs::read(&path).expect("reads");
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, bytes).expect("writes");
            verify_wide(&path, "trials", &provenance).expect_err("is noticed");
        }
        std::fs::write(&path, whole).expect("writes");
        verify_wide(&path, "costs", &provenance).expect_err("is another table");
    }
}
