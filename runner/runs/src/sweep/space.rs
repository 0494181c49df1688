//! The search space of a sweep: named dimensions, some of them active only for some values of others, and its points.

mod conditions;
mod domain;
mod grid;
mod read;
mod write;

use std::collections::BTreeMap;

use dc0_core::params::{Param, ParamErrors, Problems, Value};

pub use domain::Domain;

/// One value for every dimension that is active there, by name.
pub type Point = BTreeMap<String, Value>;

/// When a dimension is active: each named dimension must be active and have one of the values.
pub type Condition = BTreeMap<String, Vec<Value>>;

/// One dimension of a space.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// Its values.
    pub domain: Domain,
    /// When it is active; always, if empty.
    pub when: Condition,
}

/// A search space.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    dimensions: BTreeMap<String, Dimension>,
    /// All names, each after those that its condition names.
    order: Vec<String>,
}

impl Space {
    /// Reads a script's `space: #{…}`, with all its problems at once.
    pub fn from_value(value: &Value) -> Result<Self, ParamErrors> {
        let mut problems = Problems::default();
        let space = Self::read(value, "space", None, &mut problems);
        space.ok_or_else(|| problems.into_errors("sweep"))
    }

    /// The dimensions with their names, each after those that its condition names.
    pub fn dimensions(&self) -> impl Iterator<Item = (&str, &Dimension)> {
        self.order.iter().map(|name| (name.as_str(), &self.dimensions[name]))
    }

    /// Builds a point from `value`, called for each active dimension after those it depends on.
    ///
    /// `None` as soon as `value` returns `None`.
    pub fn build(&self, mut value: impl FnMut(&str, &Domain) -> Option<Value>) -> Option<Point> {
        let mut point = Point::new();
        for (name, dimension) in self.dimensions() {
            if dimension.is_active(&point) {
                point.insert(name.to_owned(), value(name, &dimension.domain)?);
            }
        }
        Some(point)
    }

    /// Whether a point has a valid value for each active dimension, and no others.
    ///
    /// Old points therefore stay valid when values are added to a space, and those with removed values become invalid.
    pub fn contains(&self, point: &Point) -> bool {
        let built =
            self.build(|name, domain| point.get(name).filter(|value| domain.contains(value)).cloned());
        built.is_some_and(|built| built.len() == point.len())
    }

    /// Whether there are finitely many points, because no dimension is continuous.
    pub fn is_discrete(&self) -> bool {
        self.dimensions.values().all(|dimension| dimension.domain.is_discrete())
    }
}

impl Dimension {
    /// Whether the dimension is active, given a point with the values of those it depends on.
    pub fn is_active(&self, point: &Point) -> bool {
        self.when.iter().all(|(name, values)| point.get(name).is_some_and(|value| values.contains(value)))
    }
}

/// The point as JSON with sorted names: equal points have equal texts.
pub fn canonical(point: &Point) -> String {
    Value::Group(point.clone()).canonical()
}

/// The point as a table shows it, such as `blocks=4 c_puct=1.414`.
///
/// Nothing is rounded here: samplers draw short numbers, so the point shown is the point used (see [`Domain::at_unit`]).
pub fn label(point: &Point) -> String {
    let part = |(name, value): (&String, &Value)| match value {
        Value::Text(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    point.iter().map(part).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
