//! What tablebases say to a search, and moves of the root that are left out.

use std::path::Path;

use super::params::{SearchParams, TablebaseUse};
use super::proof::Proof;
use super::tree::{NodeId, ROOT};
use super::{Search, Visited};
use crate::board::{Game, Move, Tablebase, TablebaseError};

impl SearchParams {
    /// Opens the tablebases that searches are to ask, if any.
    pub fn open_tablebases(&self) -> Result<Option<Tablebase>, TablebaseError> {
        self.tablebases.as_deref().map(|folders| Tablebase::open(Path::new(folders))).transpose()
    }

    pub(super) fn ask_at_root(&self) -> bool {
        self.tablebase_use != TablebaseUse::Leaves
    }

    pub(super) fn ask_at_leaves(&self) -> bool {
        self.tablebase_use != TablebaseUse::Root
    }
}

/// The certain result of a position for its side to move. Tables are exact right after a capture or a pawn move only.
pub(super) fn probe(tables: &Tablebase, game: &Game) -> Result<Option<Proof>, TablebaseError> {
    if game.position().halfmove_clock() > 0 {
        return Ok(None);
    }
    let found = tables.probe_wdl(game.position())?;
    Ok(found.map(|result| Proof::of_score(result.outcome())))
}

/// The tablebases of a search, and what came of asking them.
#[derive(Debug, Clone)]
pub(super) struct Oracle {
    tablebases: Option<Tablebase>,
    /// Positions whose result they knew.
    hits: u64,
    /// A table that could not be read. The search takes it for a missing one, and what it finds must not be used.
    damage: Option<TablebaseError>,
}

impl Oracle {
    pub(super) fn new(tablebases: Option<Tablebase>) -> Self {
        Self { tablebases, hits: 0, damage: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.tablebases.is_some()
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.damage.is_some()
    }

    /// The tablebases, for another engine.
    pub(super) fn tablebases(&self) -> Option<Tablebase> {
        self.tablebases.clone()
    }

    /// The damage that was met since the last call.
    pub(super) fn take_damage(&mut self) -> Result<(), TablebaseError> {
        self.damage.take().map_or(Ok(()), Err)
    }

    /// The moves of a root that keep its result.
    fn best_moves(&mut self, game: &Game) -> Option<Vec<Move>> {
        let found = self.tablebases.as_ref()?.best_moves(game);
        self.noted(found)
    }

    /// The result of a new position.
    fn proof(&mut self, game: &Game) -> Option<Proof> {
        let found = probe(self.tablebases.as_ref()?, game);
        self.noted(found)
    }

    fn noted<T>(&mut self, found: Result<Option<T>, TablebaseError>) -> Option<T> {
        let known = found.unwrap_or_else(|damage| {
            self.damage = Some(damage);
            None
        });
        self.hits += u64::from(known.is_some());
        known
    }
}

impl Search {
    /// Confines this move's search to some legal moves of the root (UCI's `searchmoves`); before it has begun. An empty list
    /// leaves all.
    pub fn restrict_root(&mut self, moves: &[Move]) {
        self.root.allowed = moves.to_vec();
    }

    /// Positions whose result came from a table, since the search was made.
    pub fn tablebase_hits(&self) -> u64 {
        self.oracle.hits
    }

    /// Confines the root to the moves that keep its result, if tables know them.
    pub(super) fn restrict_root_by_tables(&mut self) {
        if !self.params.ask_at_root() {
            return;
        }
        let Some(mut best) = self.oracle.best_moves(&self.game) else { return };
        let allowed = &mut self.root.allowed;
        let both = best.iter().any(|played| allowed.contains(played));
        if both {
            best.retain(|played| allowed.contains(played));
        }
        if allowed.is_empty() || both {
            *allowed = best;
        }
    }

    /// What tables know of a new position.
    pub(super) fn probe_leaf(&mut self) -> Option<Proof> {
        if self.params.ask_at_leaves() { self.oracle.proof(&self.game) } else { None }
    }

    /// Whether a descent may take a move.
    pub(super) fn is_allowed(&self, node: NodeId, place: usize) -> bool {
        node != ROOT || self.root.allows(self.tree.moves(ROOT)[place])
    }

    /// The moves of the root that may be played.
    pub(super) fn playable(&self) -> Vec<Visited> {
        self.root_moves().filter(|seen| self.root.allows(seen.played)).collect()
    }
}
