//! Compares two trees of values by dotted names.

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

/// A value that differs; `None` if a side has no value of this name.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its dotted name.
    pub name: String,
    /// The first side's value.
    pub first: Option<Value>,
    /// The second side's value.
    pub second: Option<Value>,
}

/// All differences, sorted by their names.
pub fn differences(first: &Value, second: &Value) -> Vec<Difference> {
    let (first, second) = (leaves(first), leaves(second));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let difference = |name: &String| Difference {
        name: name.clone(),
        first: first.get(name).cloned(),
        second: second.get(name).cloned(),
    };
    names.into_iter().map(difference).filter(|found| found.first != found.second).collect()
}

/// Every value that is not a group, by its dotted name. An empty group is a value.
fn leaves(value: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    collect("", value, &mut found);
    found
}

fn collect(name: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Group(members) if !members.is_empty() || name.is_empty() => {
            for (member, value) in members {
                let path = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                collect(&path, value, found);
            }
        }
        other => _ = found.insert(name.to_owned(), other.clone()),
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} -> {}", self.name, shown(self.first.as_ref()), shown(self.second.as_ref()))
    }
}

/// A value for people.
pub fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "-".to_owned(), Value::shortened)
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::{differences, shown};

    fn value(json: &str) -> Value {
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn differences_have_dotted_names_in_order() {
        let first = value(r#"{"search": {"c_puct": 1.5, "simulations": 8}, "games": 4, "noise": null}"#);
        let second =
            value(r#"{"search": {"c_puct": 2.0, "simulations": 8}, "games": 4, "noise": {"share": 1}}"#);
        let texts: Vec<String> = differences(&first, &second).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["noise () -> -", "noise.share - -> 1", "search.c_puct 1.5 -> 2.0"]);
        assert!(differences(&first, &first).is_empty());
    }

    #[test]
    fn long_values_are_truncated() {
        let long = Value::List(vec![Value::Int(1000); 50]);
        assert_eq!(shown(Some(&long)).chars().count(), 61);
    }
}
