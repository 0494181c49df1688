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

impl Search {
    /// Lets the search ask tablebases, as `tablebase_use` says.
    pub fn with_tablebases(mut self, tables: Option<Tablebase>) -> Self {
        self.tables = tables;
        self
    }

    /// The damage of a table that was met since the last call. The search took it for a missing one; what it found must not be
    /// used.
    pub fn take_damage(&mut self) -> Result<(), TablebaseError> {
        self.damage.take().map_or(Ok(()), Err)
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.damage.is_some()
    }

    /// Confines this move's search to some legal moves of the root (UCI's `searchmoves`); before it has begun. An empty list
    /// leaves all.
    pub fn restrict_root(&mut self, moves: &[Move]) {
        self.allowed.clear();
        self.allowed.extend_from_slice(moves);
    }

    /// Positions whose result came from a table, since the search was made.
    pub fn tablebase_hits(&self) -> u64 {
        self.tablebase_hits
    }

    /// Confines the root to the moves that keep its result, if tables know them.
    pub(super) fn restrict_root_by_tables(&mut self) {
        let Some(tables) = self.tables.as_ref().filter(|_| self.params.ask_at_root()) else { return };
        match tables.best_moves(&self.game) {
            Ok(None) => {}
            Ok(Some(mut best)) => {
                self.tablebase_hits += 1;
                let both = best.iter().any(|played| self.allowed.contains(played));
                if !self.allowed.is_empty() && both {
                    best.retain(|played| self.allowed.contains(played));
                }
                if self.allowed.is_empty() || both {
                    self.allowed = best;
                }
            }
            Err(damage) => self.damage = Some(damage),
        }
    }

    /// What tables know of a new position.
    pub(super) fn probe_leaf(&mut self) -> Option<Proof> {
        let tables = self.tables.as_ref().filter(|_| self.params.ask_at_leaves())?;
        match probe(tables, &self.game) {
            Ok(proof) => {
                self.tablebase_hits += u64::from(proof.is_some());
                proof
            }
            Err(damage) => {
                self.damage = Some(damage);
                None
            }
        }
    }

    /// Whether a descent may take a move.
    pub(super) fn is_allowed(&self, node: NodeId, place: usize) -> bool {
        node != ROOT || self.allowed.is_empty() || self.allowed.contains(&self.tree.moves(ROOT)[place])
    }

    /// The moves of the root that may be played.
    pub(super) fn playable(&self) -> Vec<Visited> {
        let open = |seen: &Visited| self.allowed.is_empty() || self.allowed.contains(&seen.played);
        self.root_moves().filter(open).collect()
    }
}
