//! Conditions of dimensions, checked against the dimensions they name.

use std::collections::BTreeMap;

use dc0_core::params::{Problems, Value, nearest};

use super::{Dimension, Domain};

/// The conditions of all dimensions, checked against each other.
pub(super) struct Conditions<'a> {
    /// All dimensions, as the script gives them.
    pub(super) given: &'a BTreeMap<String, Value>,
    /// Those that are valid on their own.
    pub(super) dimensions: &'a BTreeMap<String, Dimension>,
    /// The path of the space in messages.
    pub(super) path: &'a str,
}

impl Conditions<'_> {
    /// Adds a problem for each condition that names a missing dimension or can never hold.
    pub(super) fn check(&self, problems: &mut Problems) {
        for (name, dimension) in self.dimensions {
            for (other, values) in &dimension.when {
                let path = format!("{}.{name}.when.{other}", self.path);
                if values.is_empty() {
                    problems.add(&path, "is empty, so the dimension would never be active");
                }
                match (self.given.contains_key(other), self.dimensions.get(other)) {
                    (false, _) => problems.add(&path, self.unknown(other)),
                    (true, Some(other)) => check_values(&other.domain, values, &path, problems),
                    (true, None) => {}
                }
            }
        }
    }

    fn unknown(&self, name: &str) -> String {
        match nearest(name, self.given.keys().map(String::as_str)) {
            Some(near) => format!("there is no dimension `{name}`; did you mean `{near}`?"),
            None => format!("there is no dimension `{name}`"),
        }
    }

    /// All names, each after those that its condition names; a cycle is a problem.
    pub(super) fn order(&self, problems: &mut Problems) -> Vec<String> {
        let mut order = Vec::new();
        for name in self.dimensions.keys() {
            if let Err(cycle) = self.visit(name, &mut Vec::new(), &mut order) {
                let path = format!("{}.{}.when", self.path, cycle[0]);
                problems.add(&path, format!("depends on itself: {}", cycle.join(" → ")));
                break;
            }
        }
        order
    }

    /// Appends a name to `order` after those it depends on; `path` leads from the first name to this one. The error is a cycle.
    fn visit(&self, name: &str, path: &mut Vec<String>, order: &mut Vec<String>) -> Result<(), Vec<String>> {
        if order.iter().any(|visited| visited == name) {
            return Ok(());
        }
        let first = path.iter().position(|pending| pending == name);
        path.push(name.to_owned());
        if let Some(first) = first {
            return Err(path.split_off(first));
        }
        let needs = self.dimensions.get(name).into_iter().flat_map(|dimension| dimension.when.keys());
        for other in needs.filter(|other| self.dimensions.contains_key(*other)) {
            self.visit(other, path, order)?;
        }
        path.pop();
        order.push(name.to_owned());
        Ok(())
    }
}

fn check_values(domain: &Domain, values: &[Value], path: &str, problems: &mut Problems) {
    if !domain.is_discrete() {
        problems.add(path, "is continuous; a condition can only ask for values of choice(…) and int(…)");
        return;
    }
    for value in values.iter().filter(|value| !domain.contains(value)) {
        problems.add(path, format!("never has the value {value}; it is {domain}"));
    }
}
