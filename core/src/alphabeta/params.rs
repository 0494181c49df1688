//! Parameters of the alpha-beta search.

use crate::board::{Tablebase, TablebaseError};
use crate::params;

params! {
    /// How an alpha-beta search plays: its limits, its memory, and what it may leave out.
    pub struct AlphaBetaParams {
        /// Plies that every search goes deep; () for no limit.
        depth: Option<u32> = None, in 1..=199;
        /// Positions that every search visits at most; () for no limit.
        nodes: Option<u64> = Some(10_000), in 1..=1_000_000_000_000_i64;
        /// Size of the transposition table in MiB; 0 for none. Larger finds more positions again in long searches.
        hash_mb: u32 = 16, in 0..=65_536;
        /// Threads that search the same position and share the table. With more than 1 the same input may give other moves.
        threads: u32 = 1, in 1..=64;
        /// Folder of Syzygy tablebases, or several separated by `:`; () for none.
        tablebases: Option<String> = None;
        /// What the search leaves out or looks at twice.
        selectivity: SelectivityParams = SelectivityParams::default();
    }
    check |params| {
        let is_endless = params.depth.is_none() && params.nodes.is_none();
        let problem = || ("nodes", "expected a limit, got () for `nodes` and for `depth`; give one of them".to_owned());
        is_endless.then(problem).into_iter().collect()
    };
}

params! {
    /// What an alpha-beta search leaves out, or searches deeper. With all of them off it is a plain search, whose score is that of
    /// minimax with quiescence; each keeps mates and other forced results, only later or sooner.
    pub struct SelectivityParams {
        /// Whether iterations begin with a narrow window around the last score.
        aspiration: bool = true;
        /// Whether a score that a mate already found cannot change ends a line.
        mate_distance: bool = true;
        /// Whether a position is left once even a pass keeps it above the window.
        null_move: bool = true;
        /// Whether late moves are searched less deep at first.
        late_move_reductions: bool = true;
        /// Whether late quiet moves of shallow positions are left out.
        late_move_pruning: bool = true;
        /// Whether shallow positions, moves and captures far outside the window are left out by their evaluation.
        futility: bool = true;
        /// Whether shallow positions far below the window are left to quiescence.
        razoring: bool = true;
        /// Whether moves that lose material by static exchange are left out of shallow positions and of quiescence.
        exchange: bool = true;
        /// Whether positions without a move in the table are searched one ply less deep, on the principal variation and where a
        /// refutation is expected.
        internal_reductions: bool = true;
        /// Whether checks are answered one ply deeper.
        check_extensions: bool = true;
        /// Whether a move that is far better than all others is searched deeper.
        singular_extensions: bool = true;
    }
}

impl AlphaBetaParams {
    /// Opens the tablebases that searches probe, if any.
    pub fn open_tablebases(&self) -> Result<Option<Tablebase>, TablebaseError> {
        Tablebase::open_if(self.tablebases.as_deref())
    }
}

impl SelectivityParams {
    /// Everything off: the plain search.
    pub fn none() -> Self {
        Self {
            aspiration: false,
            mate_distance: false,
            null_move: false,
            late_move_reductions: false,
            late_move_pruning: false,
            futility: false,
            razoring: false,
            exchange: false,
            internal_reductions: false,
            check_extensions: false,
            singular_extensions: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AlphaBetaParams;
    use crate::params::{Value, read};

    #[test]
    fn a_limit_is_needed() {
        let read = |members: &[(&str, Value)]| {
            let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            read::<AlphaBetaParams>("alphabeta", &Value::Group(members)).map_err(|error| error.to_string())
        };
        assert_eq!(
            read(&[("nodes", Value::None)]),
            Err("alphabeta: 1 problem in its parameters\n  nodes: expected a limit, got () for `nodes` and for `depth`; give one of them"
                .to_owned())
        );
        assert!(read(&[("nodes", Value::None), ("depth", Value::Int(4))]).is_ok());
    }
}
