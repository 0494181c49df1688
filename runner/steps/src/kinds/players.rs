//! Players of matches and puzzles: as arguments, as inputs, and as programs that are started.

use std::fmt;
use std::sync::Arc;

use dc0_backend::is_by_rows;
use dc0_core::alphabeta::AlphaBetaParams;
use dc0_core::arena::{Baseline, Fault, Forfeit, PlayerParams, Program, baseline};
use dc0_core::board::TablebaseError;
use dc0_core::network::Tower;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::{NnueError, NnueNet};
use dc0_core::params::{Param as _, Value};
use dc0_opponents::{Opponent, alphabeta_with};

use crate::handles::{Network, Player, ProgramPlayer};
use crate::step::{Argument, no_matching_form};

/// Precedes a program's digest among the inputs.
const PROGRAM: &str = "program:";

/// The player that an argument is or names.
pub(super) fn player(argument: Argument) -> Result<Player, String> {
    match argument {
        Argument::Network(network) => Ok(Player::of(network)),
        Argument::Player(player) => Ok(player),
        Argument::Text(name) => Player::named(&name),
        _ => Err(no_matching_form()),
    }
}

/// The parameters that a player brings along, under the name that they have in the step.
pub(super) fn own_params(name: &'static str, player: &Player) -> Option<(&'static str, Value)> {
    let own = player.own().filter(|own| **own != PlayerParams::default())?;
    Some((name, own.to_value()))
}

/// Size in MiB of the transposition table of a player that has one in this process; `own` is what it has of its own.
pub(super) fn hash_mb(player: &Player, own: &PlayerParams) -> Option<u32> {
    let opponent = || Some(player.program()?.opponent.as_ref()?.hash_mb());
    own.alphabeta.as_ref().map(|search| search.hash_mb).or_else(opponent)
}

/// A player among the inputs of a step.
#[derive(Debug, Clone)]
pub enum PlayerInput {
    /// A net, by its digest.
    Network(String),
    /// A player without a net.
    Baseline(&'static dyn Baseline),
    /// Another program, by the digest of what determines its games.
    Program(String),
}

impl PlayerInput {
    pub(super) fn of(player: &Player) -> Self {
        match player {
            Player::Network { network, .. } => Self::Network(network.0.digest.clone()),
            Player::Baseline(baseline) => Self::Baseline(*baseline),
            Player::Program(program) => Self::Program(program.digest.clone()),
        }
    }

    /// The player of an input; `None` if it is none of these.
    pub fn parse(input: &str) -> Option<Self> {
        if let Some(baseline) = baseline(input) {
            return Some(Self::Baseline(baseline));
        }
        let program = input.strip_prefix(PROGRAM).map(|digest| Self::Program(digest.to_owned()));
        program.or_else(|| (input.len() == 64).then(|| Self::Network(input.to_owned())))
    }
}

impl fmt::Display for PlayerInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(digest) => f.write_str(digest),
            Self::Baseline(baseline) => f.write_str(baseline.name()),
            Self::Program(digest) => write!(f, "{PROGRAM}{digest}"),
        }
    }
}

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

/// Why a player's net cannot have a precision of its own; `None` if it can. `role` is the name of the player's parameters.
pub(super) fn useless_precision(role: &str, own: &PlayerParams, network: &Network) -> Option<String> {
    let is_useless = own.precision.is_some() && is_by_rows(&network.0.spec);
    is_useless.then(|| {
        format!(
            "{role}.precision: it is for nets that play on libtorch, and an nnue plays in integers; leave it out"
        )
    })
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
