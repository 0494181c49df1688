//! Tablebase probes of a search.

use super::Search;
use super::params::{SearchParams, TablebaseUse};
use super::proof::Proof;
use crate::board::{Game, Move, Tablebase, TablebaseError};

impl SearchParams {
    /// Opens the tablebases that searches probe, if any.
    pub fn open_tablebases(&self) -> Result<Option<Tablebase>, TablebaseError> {
        Tablebase::open_if(self.tablebases.as_deref())
    }

    pub(super) fn probe_at_root(&self) -> bool {
        self.tablebase_use != TablebaseUse::Leaves
    }

    pub(super) fn probe_at_leaves(&self) -> bool {
        self.tablebase_use != TablebaseUse::Root
    }
}

/// The result of a position for its side to move. Tablebase WDL is exact only right after a capture or a pawn move.
pub(super) fn probe(tablebase: &Tablebase, game: &Game) -> Result<Option<Proof>, TablebaseError> {
    if game.position().halfmove_clock() > 0 {
        return Ok(None);
    }
    let found = tablebase.probe_wdl(game.position())?;
    Ok(found.map(|result| Proof::of_score(result.outcome())))
}

/// The tablebases of a search, with its hits and read errors.
#[derive(Debug, Clone)]
pub(super) struct TablebaseProber {
    tablebases: Option<Tablebase>,
    /// Probes that found a result since the budget was set.
    hits: u64,
    /// The error of a table that could not be read. The search treats it as missing, and its results must not be used.
    error: Option<TablebaseError>,
}

impl TablebaseProber {
    pub(super) fn new(tablebases: Option<Tablebase>) -> Self {
        Self { tablebases, hits: 0, error: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.tablebases.is_some()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// The tablebases, for another engine.
    pub(super) fn tablebases(&self) -> Option<Tablebase> {
        self.tablebases.clone()
    }

    pub(super) fn forget_hits(&mut self) {
        self.hits = 0;
    }

    /// The error of a probe since the last call.
    pub(super) fn take_error(&mut self) -> Result<(), TablebaseError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// The moves of a root that keep its result.
    fn best_moves(&mut self, game: &Game) -> Option<Vec<Move>> {
        let found = self.tablebases.as_ref()?.best_moves(game);
        self.record(found)
    }

    /// The result of a new position.
    fn proof(&mut self, game: &Game) -> Option<Proof> {
        let found = probe(self.tablebases.as_ref()?, game);
        self.record(found)
    }

    fn record<T>(&mut self, found: Result<Option<T>, TablebaseError>) -> Option<T> {
        let found = found.unwrap_or_else(|error| {
            self.error = Some(error);
            None
        });
        self.hits += u64::from(found.is_some());
        found
    }
}

impl Search {
    /// Tablebase hits since the budget was set.
    pub fn tablebase_hits(&self) -> u64 {
        self.prober.hits
    }

    /// Restricts the root to the moves that keep its tablebase result, if there is one.
    pub(super) fn restrict_root_by_tables(&mut self) {
        if !self.params.probe_at_root() {
            return;
        }
        let Some(mut best) = self.prober.best_moves(&self.game) else { return };
        let allowed = &mut self.root.allowed;
        let both = best.iter().any(|mv| allowed.contains(mv));
        if both {
            best.retain(|mv| allowed.contains(mv));
        }
        if allowed.is_empty() || both {
            *allowed = best;
        }
    }

    /// The tablebase result of a new position.
    pub(super) fn probe_leaf(&mut self) -> Option<Proof> {
        if self.params.probe_at_leaves() { self.prober.proof(&self.game) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Rules;

    #[test]
    fn hits_are_counted_from_the_budget_on() {
        let params = SearchParams::default();
        let mut search = Search::with_tablebases(Game::initial(), Rules { max_plies: 512 }, params, None);
        search.prober.record(Ok(Some(Proof::Draw)));
        assert_eq!(search.tablebase_hits(), 1);
        search.set_budget(10);
        assert_eq!(search.tablebase_hits(), 0);
    }
}
