//! The grid: all points of a space in order.

use std::collections::BTreeMap;

use super::{Point, Space};

impl Space {
    /// The points of the grid: names in order, the last one changing fastest. Empty if a dimension is continuous without `points`.
    pub fn grid(&self) -> impl Iterator<Item = Point> + '_ {
        let is_finite = self.dimensions.values().all(|dimension| dimension.domain.count().is_some());
        let mut indices = is_finite.then(BTreeMap::new);
        let mut is_first = true;
        std::iter::from_fn(move || {
            let indices = indices.as_mut()?;
            if !std::mem::take(&mut is_first) {
                self.advance(indices)?;
            }
            self.point_of(indices)
        })
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
