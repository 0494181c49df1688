//! The grid: all points of a space in order, and their number.

use std::collections::BTreeMap;

use dc0_core::params::Value;

use super::{Dimension, Point, Space};

impl Space {
    /// The number of points of the grid, saturating at `u64::MAX`; `None` if a dimension is continuous without `points`.
    pub fn size(&self) -> Option<u64> {
        self.count_from(0, &mut BTreeMap::new())
    }

    /// The points of the grid: names in order, the last one changing fastest. Empty if [`Space::size`] is `None`.
    pub fn grid(&self) -> impl Iterator<Item = Point> + '_ {
        let mut indices = self.size().map(|_| BTreeMap::new());
        let mut is_first = true;
        std::iter::from_fn(move || {
            let indices = indices.as_mut()?;
            if !std::mem::take(&mut is_first) {
                self.advance(indices)?;
            }
            self.point_of(indices)
        })
    }

    /// Counts the combinations from one dimension on, given the values of earlier dimensions that conditions use.
    ///
    /// Values that no condition names are equivalent, so they are counted together: `None` stands for any of them.
    fn count_from<'a>(&'a self, at: usize, values: &mut BTreeMap<&'a str, Option<&'a Value>>) -> Option<u64> {
        let Some((name, dimension)) = self.dimensions().nth(at) else { return Some(1) };
        if !is_active(dimension, values) {
            return self.count_from(at + 1, values);
        }
        let count = dimension.domain.count()?;
        let named = self.named_values(name);
        let mut total: u64 = 0;
        for value in &named {
            values.insert(name, Some(value));
            total = total.saturating_add(self.count_from(at + 1, values)?);
        }
        if count > named.len() as u64 {
            values.insert(name, None);
            let others = count - named.len() as u64;
            total = total.saturating_add(others.saturating_mul(self.count_from(at + 1, values)?));
        }
        values.remove(name);
        Some(total)
    }

    /// The distinct values of one dimension that conditions of others name.
    fn named_values(&self, name: &str) -> Vec<&Value> {
        let mut named: Vec<&Value> = Vec::new();
        let conditions = self.dimensions.values().filter_map(|dimension| dimension.when.get(name));
        for value in conditions.flatten() {
            if !named.contains(&value) {
                named.push(value);
            }
        }
        named
    }

    /// The point at these indices of the active dimensions; dimensions without an index get 0.
    fn point_of(&self, indices: &mut BTreeMap<String, u64>) -> Option<Point> {
        self.build(|name, domain| domain.nth(*indices.entry(name.to_owned()).or_insert(0)))
    }

    /// Advances to the next indices; `None` after the last.
    fn advance(&self, indices: &mut BTreeMap<String, u64>) -> Option<()> {
        for name in self.order.iter().rev() {
            if let Some(index) = indices.remove(name)
                && index + 1 < self.dimensions[name].domain.count()?
            {
                indices.insert(name.clone(), index + 1);
                return Some(());
            }
        }
        None
    }
}

fn is_active(dimension: &Dimension, values: &BTreeMap<&str, Option<&Value>>) -> bool {
    let holds = |(name, wanted): (&String, &Vec<Value>)| {
        values.get(name.as_str()).is_some_and(|value| value.is_some_and(|value| wanted.contains(value)))
    };
    dimension.when.iter().all(holds)
}
