//! Reads Parquet files as one table when a query runs: of each file only the columns that the query names, and no more files than
//! its LIMIT needs. polars applies conditions afterwards.
//!
//! polars' own Parquet scan is part of its streaming engine, which cannot be built without cloud storage, HTTP and TLS.

use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{
    AnonymousScan, AnonymousScanArgs, Column, DataFrame, IntoLazy, LazyFrame, PlSmallStr, PolarsResult,
    Scalar, ScanArgsAnonymous, Schema, SchemaExt, SchemaRef,
};
use polars_core::runtime::RAYON;
use polars_core::utils::accumulate_dataframes_vertical;
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use rayon::prelude::*;

/// A column that is constant in a file, such as the run that it belongs to.
pub(crate) type Constant = (&'static str, Scalar);

/// A file, with the columns that it does not store.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) path: PathBuf,
    pub(crate) constants: Vec<Constant>,
}

/// The rows of some files, one file after the other. A column that a file lacks is empty in its rows; the others are cast to the
/// schema's types.
pub(crate) fn scan(files: Vec<ParquetFile>, schema: Schema) -> PolarsResult<LazyFrame> {
    if files.is_empty() {
        return Ok(DataFrame::empty_with_schema(&schema).lazy());
    }
    let schema = Arc::new(schema);
    let args = ScanArgsAnonymous {
        schema: Some(Arc::clone(&schema)),
        name: "PARQUET FILES",
        ..ScanArgsAnonymous::default()
    };
    LazyFrame::anonymous_scan(Arc::new(ParquetFiles { files, schema }), args)
}

/// The columns of a file with their stored types.
pub(crate) fn stored_schema(path: &Path) -> PolarsResult<Schema> {
    Ok(Schema::from_arrow_schema(reader(path)?.schema()?.as_ref()))
}

/// Reads a whole file to check that it can be read.
pub(crate) fn check(path: &Path) -> PolarsResult<()> {
    reader(path)?.finish().map(drop)
}

fn reader(path: &Path) -> PolarsResult<ParquetReader<File>> {
    Ok(ParquetReader::new(File::open(path)?))
}

struct ParquetFiles {
    files: Vec<ParquetFile>,
    schema: SchemaRef,
}

impl AnonymousScan for ParquetFiles {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn allows_projection_pushdown(&self) -> bool {
        true
    }

    // polars passes conditions in a form that it cannot evaluate outside its engine.
    fn allows_predicate_pushdown(&self) -> bool {
        false
    }

    fn scan(&self, args: AnonymousScanArgs) -> PolarsResult<DataFrame> {
        let all = || self.schema.iter_names_cloned().collect();
        let columns: Vec<PlSmallStr> = args.with_columns.map_or_else(all, |columns| columns.to_vec());
        let read = |file: &ParquetFile| file.columns(&columns, &self.schema, usize::MAX);
        let parts = match args.n_rows {
            Some(rows) => self.first(&columns, rows)?,
            None => RAYON.install(|| self.files.par_iter().map(read).collect::<PolarsResult<Vec<_>>>())?,
        };
        accumulate_dataframes_vertical(parts)
    }
}

impl ParquetFiles {
    /// The first rows, from as few files as possible.
    fn first(&self, columns: &[PlSmallStr], rows: usize) -> PolarsResult<Vec<DataFrame>> {
        let (mut parts, mut left) = (Vec::new(), rows);
        for file in &self.files {
            let part = file.columns(columns, &self.schema, left)?;
            left -= part.height();
            parts.push(part);
            if left == 0 {
                break;
            }
        }
        Ok(parts)
    }
}

impl ParquetFile {
    /// Some columns of the first rows, at most `limit`.
    fn columns(&self, names: &[PlSmallStr], schema: &Schema, limit: usize) -> PolarsResult<DataFrame> {
        let mut reader = reader(&self.path)?;
        let rows = reader.num_rows()?.min(limit);
        let stored = reader.schema()?;
        let stored_names = names.iter().filter(|name| self.constant(name).is_none() && stored.contains(name));
        let stored_names = stored_names.map(ToString::to_string).collect();
        let read = reader.with_columns(Some(stored_names)).with_slice(Some((0, rows))).finish()?;
        let column = |name: &PlSmallStr| {
            let dtype = schema.try_get(name)?;
            match (self.constant(name), read.column(name)) {
                (Some(value), _) => Ok(Column::new_scalar(name.clone(), value.clone(), rows)),
                (None, Ok(column)) if column.dtype() == dtype => Ok(column.clone()),
                (None, Ok(column)) => column.strict_cast(dtype),
                (None, Err(_)) => Ok(Column::full_null(name.clone(), rows, dtype)),
            }
        };
        DataFrame::new(rows, names.iter().map(column).collect::<PolarsResult<_>>()?)
    }

    fn constant(&self, name: &str) -> Option<&Scalar> {
        self.constants.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}
