//! Conversions between plain values and the engine's dynamic ones.

use rhai::{Array, Dynamic, Map};

use dc0_core::params::Value;

/// A scalar value of a script as a plain one; `None` for anything else.
pub fn scalar(given: &Dynamic) -> Option<Value> {
    if given.is_unit() {
        return Some(Value::None);
    }
    let bool = || given.as_bool().map(Value::Bool);
    let int = |_| given.as_int().map(Value::Int);
    let float = |_| given.as_float().map(Value::Float);
    let text = |_| given.clone().into_immutable_string().map(|text| Value::Text(text.to_string()));
    bool().or_else(int).or_else(float).or_else(text).ok()
}

/// A plain value as a script sees it.
pub fn to_dynamic(value: &Value) -> Dynamic {
    match value {
        Value::None => Dynamic::UNIT,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(to_dynamic).collect::<Array>().into(),
        Value::Group(members) => members
            .iter()
            .map(|(name, value)| (name.as_str().into(), to_dynamic(value)))
            .collect::<Map>()
            .into(),
    }
}
