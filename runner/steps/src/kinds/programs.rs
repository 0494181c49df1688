//! Players of matches and puzzles that are programs: other programs, and alpha-beta with the values of a net.

use std::sync::Arc;

use dc0_core::alphabeta::AlphaBetaParams;
use dc0_core::arena::{Fault, Forfeit, Program};
use dc0_core::board::TablebaseError;
use dc0_core::network::Tower;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::{NnueError, NnueNet};
use dc0_opponents::{Opponent, alphabeta_with};

use crate::handles::{Network, ProgramPlayer};

/// A player that is started for one game after the other.
pub(super) enum Startable<'a> {
    /// dc0's alpha-beta search.
    AlphaBeta { name: &'a str, net: Arc<NnueNet>, params: &'a AlphaBetaParams },
    /// Another program.
    Program(&'a ProgramPlayer),
}

impl<'a> Startable<'a> {
    /// Alpha-beta with the values of a net.
    pub(super) fn alphabeta(
        name: &'a str,
        net: &Checkpoint,
        params: &'a AlphaBetaParams,
    ) -> Result<Self, NnueError> {
        Ok(Self::AlphaBeta { name, net: NnueNet::shared(&net.spec, &net.weights)?, params })
    }

    /// Starts it.
    pub(super) fn start(&self) -> Result<Box<dyn Program>, Forfeit> {
        let failed = |detail: String| Forfeit { fault: Fault::Crash, detail };
        match self {
            Self::AlphaBeta { name, net, params } => {
                let tables = params.open_tablebases();
                let tables = tables.map_err(|cause: TablebaseError| failed(cause.to_string()))?;
                Ok(alphabeta_with(net, params, tables, name))
            }
            Self::Program(program) => {
                let opponent = program.opponent.as_ref();
                let opponent = opponent.ok_or_else(|| failed(format!("{} plays no more", program.name)))?;
                opponent.start().map_err(|cause| failed(cause.to_string()))
            }
        }
    }

    /// Whether it plays by time.
    pub(super) fn is_timed(&self) -> bool {
        match self {
            Self::AlphaBeta { .. } => false,
            Self::Program(program) => program.opponent.as_ref().is_some_and(Opponent::is_timed),
        }
    }
}

/// Why a net cannot give alpha-beta its values; `None` if it can. `name` is the player's, and `role` that of its parameters.
pub(super) fn unfit_for_alphabeta(role: &str, name: &str, network: &Network) -> Option<String> {
    let tower = network.0.spec.tower.kind;
    (tower != Tower::Nnue).then(|| {
        format!(
            "{role}.alphabeta: alpha-beta asks a net of the kind nnue for values, and {name} is of the kind {}; leave it out for a \
             tree search, or the net for material and piece squares",
            tower.name()
        )
    })
}
