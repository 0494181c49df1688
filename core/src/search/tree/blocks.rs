//! Where the tried moves of all nodes lie.

use super::node::Branch;

/// Blocks of branches, one for each node with any. A block holds a power of two; a full one moves to one twice as large, and
/// its place is used again.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct Branches {
    pub(in crate::search) all: Vec<Branch>,
    /// Starts of unused blocks of 1, 2, 4, … branches.
    free: [Vec<u32>; 9],
}

impl Branches {
    pub(in crate::search) fn clear(&mut self) {
        self.all.clear();
        self.free.iter_mut().for_each(Vec::clear);
    }

    /// Makes place for one more branch in a block of `count`; gives the block's start from now on.
    pub(in crate::search) fn push(&mut self, first: u32, count: u8) -> u32 {
        let count = usize::from(count);
        if count > 0 && !count.is_power_of_two() {
            self.all[first as usize + count] = Branch::EMPTY;
            return first;
        }
        let size = if count == 0 { 1 } else { 2 * count };
        let new = self.block(size);
        for at in 0..count {
            self.all[new as usize + at] = self.all[first as usize + at].clone();
        }
        self.all[new as usize + count] = Branch::EMPTY;
        if count > 0 {
            self.free[count.ilog2() as usize].push(first);
        }
        new
    }

    /// An unused block of a power of two.
    fn block(&mut self, size: usize) -> u32 {
        self.free[size.ilog2() as usize].pop().unwrap_or_else(|| {
            let start = self.all.len();
            self.all.resize(start + size, Branch::EMPTY);
            start as u32
        })
    }

    /// A block with copies of some branches.
    pub(in crate::search) fn append(&mut self, branches: &[Branch]) -> u32 {
        if branches.is_empty() {
            return 0;
        }
        let start = self.all.len();
        self.all.extend_from_slice(branches);
        self.all.resize(start + branches.len().next_power_of_two(), Branch::EMPTY);
        start as u32
    }
}
