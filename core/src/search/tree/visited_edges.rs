//! Storage of the visited edges of all nodes.

use super::node::VisitedEdge;

/// Blocks of visited edges, one for each node that has any. A block holds a power of two; a full one moves to a block twice
/// as large, and its space is reused.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct VisitedEdges {
    pub(in crate::search) all: Vec<VisitedEdge>,
    /// Starts of unused blocks of 1, 2, 4, … edges.
    free: [Vec<u32>; 9],
}

impl VisitedEdges {
    pub(in crate::search) fn clear(&mut self) {
        self.all.clear();
        self.free.iter_mut().for_each(Vec::clear);
    }

    /// Makes room for one more edge in a block of `count`; returns the block's new start.
    pub(in crate::search) fn push(&mut self, first: u32, count: u8) -> u32 {
        let count = usize::from(count);
        if count > 0 && !count.is_power_of_two() {
            self.all[first as usize + count] = VisitedEdge::EMPTY;
            return first;
        }
        let size = if count == 0 { 1 } else { 2 * count };
        let new = self.block(size);
        for index in 0..count {
            self.all[new as usize + index] = self.all[first as usize + index].clone();
        }
        self.all[new as usize + count] = VisitedEdge::EMPTY;
        if count > 0 {
            self.free[count.ilog2() as usize].push(first);
        }
        new
    }

    /// An unused block of `size` edges, a power of two.
    fn block(&mut self, size: usize) -> u32 {
        self.free[size.ilog2() as usize].pop().unwrap_or_else(|| {
            let start = self.all.len();
            self.all.resize(start + size, VisitedEdge::EMPTY);
            start as u32
        })
    }

    /// A new block with copies of these edges; returns its start.
    pub(in crate::search) fn append(&mut self, visited: &[VisitedEdge]) -> u32 {
        if visited.is_empty() {
            return 0;
        }
        let start = self.all.len();
        self.all.extend_from_slice(visited);
        self.all.resize(start + visited.len().next_power_of_two(), VisitedEdge::EMPTY);
        start as u32
    }
}
