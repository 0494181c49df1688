//! Leaves whose evaluations are under way.

use super::tree::NodeId;
use crate::board::Move;

/// The leaves of a search in one batch. A search has one; threads that share a search have one each.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    pub(super) leaves: Vec<Leaf>,
    /// The paths to the leaves, one after the other, as nodes and edge indices.
    pub(super) paths: Vec<(NodeId, u8)>,
    /// Legal moves of the leaves, one list after the other.
    pub(super) legal: Vec<Move>,
    /// Edges of the descents that collided while the batch is gathered, which count as in flight until it is complete.
    pub(super) collided: Vec<(NodeId, u8)>,
}

/// A leaf whose evaluation is under way.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) node: NodeId,
    /// End of its path in [`Pending::paths`].
    pub(super) path_end: usize,
    /// End of its legal moves in [`Pending::legal`].
    pub(super) legal_end: usize,
    /// Whether its row of the batch is followed by that of its mirror image.
    pub(super) has_mirror: bool,
}

impl Pending {
    /// The number of leaves.
    pub(super) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Whether it has no leaves.
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Removes everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.leaves.clear();
        self.paths.clear();
        self.legal.clear();
    }
}
