//! Column types: their names in `datasets/README.md` and the polars types behind them.

use polars::prelude::DataType;

/// The type that queries see for a documented type. All integers become `i64`, however they are stored, because polars' sums and
/// differences of narrower integers overflow silently.
pub(crate) fn data_type(name: &str) -> DataType {
    match name {
        "bool" => DataType::Boolean,
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" => DataType::Int64,
        "f32" => DataType::Float32,
        "f64" => DataType::Float64,
        "text" => DataType::String,
        list => {
            let item = list.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>'));
            DataType::List(Box::new(data_type(item.expect("a type that datasets/README.md uses"))))
        }
    }
}

/// The same for the stored type of a column that is not documented.
pub(crate) fn widened(stored: &DataType) -> DataType {
    match stored {
        dtype if dtype.is_integer() => DataType::Int64,
        DataType::List(item) => DataType::List(Box::new(widened(item))),
        other => other.clone(),
    }
}

/// A type's name, as in `datasets/README.md`.
pub(crate) fn type_name(dtype: &DataType) -> String {
    match dtype {
        DataType::Boolean => "bool".to_owned(),
        DataType::String => "text".to_owned(),
        DataType::List(item) => format!("list<{}>", type_name(item)),
        DataType::Null => "nothing".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::DataType;

    use super::{data_type, type_name, widened};

    #[test]
    fn integers_are_widened_in_columns_and_lists() {
        for (stored, seen) in [("u16", "i64"), ("list<u32>", "list<i64>"), ("f32", "f32"), ("text", "text")] {
            assert_eq!(type_name(&data_type(stored)), seen);
        }
        assert_eq!(widened(&DataType::List(Box::new(DataType::UInt8))), data_type("list<u8>"));
        assert_eq!(widened(&DataType::Float64), DataType::Float64);
    }
}
