//! Query results in the formats of other programs.

use std::io::{self, Write};

use dc0_core::params::Value;
use polars_io::parquet::write::{ParquetCompression, ParquetWriter};

use crate::rows::Rows;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header; empty cells are empty, NaN and infinity are `NaN`, `inf` and `-inf`, lists are written as JSON.
    Csv,
    /// One JSON object per line.
    Json,
}

impl Rows {
    /// Writes the rows as text.
    pub fn write_text(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Csv => self.write_csv(out),
            Format::Json => self.write_json(out),
        }
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns().into_iter().map(|(name, _)| name)).map_err(system_error)?;
        for row in 0..self.len() {
            writer.write_record(self.row(row).iter().map(csv_cell)).map_err(system_error)?;
        }
        writer.flush()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> = self.columns().into_iter().map(|(name, _)| name).collect();
        for row in 0..self.len() {
            let cell = |(name, value): (&String, Value)| format!("{}:{}", text(name), json(&value));
            let cells: Vec<String> = names.iter().zip(self.row(row)).map(cell).collect();
            writeln!(out, "{{{}}}", cells.join(","))?;
        }
        Ok(())
    }

    /// Writes the rows as a Parquet file compressed with zstd.
    pub fn write_parquet(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut frame = self.frame.clone();
        let writer = ParquetWriter::new(out).with_compression(ParquetCompression::Zstd(None));
        writer.finish(&mut frame).map(drop).map_err(|cause| io::Error::other(cause.to_string()))
    }
}

/// What the system says, whose kind `csv` does not keep.
fn system_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn csv_cell(value: &Value) -> String {
    match value {
        Value::None => String::new(),
        Value::Text(text) => text.clone(),
        Value::Float(number) if !number.is_finite() => number.to_string(),
        other => json(other),
    }
}

fn text(name: &str) -> String {
    Value::Text(name.to_owned()).canonical()
}

/// A value as JSON, which has no NaN or infinity: those are written as strings.
pub(crate) fn json(value: &Value) -> String {
    match value {
        Value::Float(number) if !number.is_finite() => text(&number.to_string()),
        Value::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        other => other.canonical(),
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::{csv_cell, json};

    #[test]
    fn what_is_no_number_is_written_alone_and_in_lists() {
        let list = Value::List(vec![
            Value::Float(f64::NAN),
            Value::List(vec![Value::Float(f64::NEG_INFINITY), Value::Int(1)]),
        ]);
        assert_eq!([csv_cell(&list), json(&list)], [r#"["NaN",["-inf",1]]"#; 2]);
        let cells = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5].map(Value::Float);
        assert_eq!(cells.each_ref().map(csv_cell), ["NaN", "inf", "-inf", "0.5"]);
        assert_eq!(cells.each_ref().map(json), [r#""NaN""#, r#""inf""#, r#""-inf""#, "0.5"]);
    }
}
