//! Column types: their names in `datasets/README.md`, in SQL, and in rows.

use polars::prelude::DataType;

/// The SQL type for a documented type. Integers are wide however they are stored, so that differences of unsigned ones are numbers,
/// not errors.
pub(crate) fn sql_type(documented: &str) -> String {
    match documented {
        "bool" => "BOOLEAN".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" => "BIGINT".to_owned(),
        "f32" => "FLOAT".to_owned(),
        "f64" => "DOUBLE".to_owned(),
        "text" => "VARCHAR".to_owned(),
        list => {
            let item = list.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>'));
            format!("{}[]", sql_type(item.expect("a type that datasets/README.md uses")))
        }
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

    use super::{sql_type, type_name};

    #[test]
    fn integers_are_wide_in_columns_and_lists() {
        for (documented, sql) in
            [("u16", "BIGINT"), ("list<u32>", "BIGINT[]"), ("f32", "FLOAT"), ("text", "VARCHAR")]
        {
            assert_eq!(sql_type(documented), sql);
        }
        assert_eq!(type_name(&DataType::List(Box::new(DataType::Int64))), "list<i64>");
    }
}
