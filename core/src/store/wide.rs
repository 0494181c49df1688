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
use super::format::Provenance;
use crate::durable;
use crate::params::Value;

/// One column: its name and a value for each row; [`Value::None`] leaves a cell empty.
#[derive(Debug, Clone, PartialEq)]
pub struct WideColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub cells: Vec<Value>,
}

/// Writes a table of at least one column to `root/path`; all columns have the same number of cells.
///
/// A column holds integers, floats (if any value is one), booleans or text; a column of mixed kinds, or of lists and groups, is
/// text, with each value as JSON. Equal columns give equal bytes. If the process is killed, the file is either whole or absent.
pub fn write_wide(
    root: &Path,
    path: &str,
    table: &str,
    version: u32,
    columns: &[WideColumn],
    provenance: &Provenance,
) -> Result<FileEntry, StoreError> {
    let arrays: Vec<ArrayRef> = columns.iter().map(|column| array(&column.cells)).collect();
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
    let content = writer.into_inner().expect("memory takes every write");
    let file = root.join(path);
    durable::write(&file, &content).map_err(|source| StoreError::Write { file, source })?;
    Ok(FileEntry {
        path: path.to_owned(),
        rows: batch.num_rows() as u64,
        bytes: content.len() as u64,
        blake3: durable::digest(&content),
    })
}

fn properties(table: &str, version: u32, provenance: &Provenance) -> WriterProperties {
    let own = [("table", table.to_owned()), ("schema_version", version.to_string())];
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

fn array(cells: &[Value]) -> ArrayRef {
    let all = |is_kind: fn(&Value) -> bool| cells.iter().all(|cell| *cell == Value::None || is_kind(cell));
    if all(|cell| matches!(cell, Value::Int(_))) && cells.iter().any(|cell| *cell != Value::None) {
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

    use super::{WideColumn, write_wide};
    use crate::params::Value;
    use crate::store::Provenance;

    fn column(name: &str, cells: &[Value]) -> WideColumn {
        WideColumn { name: name.to_owned(), cells: cells.to_vec() }
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
            column("empty", &[none.clone(), none.clone(), none]),
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
        assert_eq!(names, ["Int64", "Float64", "Boolean", "Utf8", "Utf8", "Float64"]);
        let empty: Vec<usize> = batches[0].columns().iter().map(Array::null_count).collect();
        assert_eq!(empty, [1, 1, 1, 1, 0, 3]);
    }
}
