//! Leaves that wait for their evaluations.

use super::tree::NodeId;
use crate::board::Move;

/// The leaves that one batch holds of a search. Searches keep one of their own; threads that share a search have one each.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    pub(super) leaves: Vec<Leaf>,
    /// Edges walked to the leaves, each with the node it leaves, one way after the other.
    pub(super) ways: Vec<(NodeId, u8)>,
    /// Legal moves of the leaves, one list after the other.
    pub(super) legal: Vec<Move>,
}

/// A leaf whose evaluation is under way.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) node: NodeId,
    /// Where its way from the root ends in [`Pending::ways`].
    pub(super) way_end: usize,
    /// Where its legal moves end in [`Pending::legal`].
    pub(super) legal_end: usize,
}

impl Pending {
    /// The number of leaves.
    pub(super) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Empties it and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.leaves.clear();
        self.ways.clear();
        self.legal.clear();
    }
}
