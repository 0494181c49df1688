//! Opponents: programs that were found and identified, and dc0's own alpha-beta search.

use std::sync::Arc;

use dc0_core::alphabeta::AlphaBetaParams;
use dc0_core::arena::Program;
use dc0_core::board::Tablebase;
use dc0_core::params::Value;

use crate::error::OpponentError;
use crate::params::{Settings, UciParams, XboardParams};
use crate::player::{Player, Protocol};
use crate::searcher::{self, Searcher};
use crate::setup::Setup;
use crate::uci::Uci;
use crate::xboard::Xboard;

/// A program that plays, as a player of matches. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Opponent(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// A process.
    Process { setup: Arc<Setup>, start: Start },
    /// dc0's own search.
    AlphaBeta { params: Arc<AlphaBetaParams>, tables: Option<Tablebase> },
}

/// Starts a program that speaks some protocol.
type Start = fn(Arc<Setup>) -> Result<Box<dyn Program>, OpponentError>;

impl Opponent {
    /// dc0's alpha-beta search with material and piece squares.
    pub fn alphabeta(params: &AlphaBetaParams) -> Result<Self, OpponentError> {
        let tables = params.open_tablebases()?;
        Ok(Self(Kind::AlphaBeta { params: Arc::new(params.clone()), tables }))
    }

    /// A UCI engine. If `starts`, it is started once to learn its name and to check its options; a plan only knows that its file is
    /// there.
    pub fn uci(command: &str, params: &UciParams, starts: bool) -> Result<Self, OpponentError> {
        Self::program::<Uci>("uci", command, params.into(), starts)
    }

    /// An xboard engine; `starts` is as in [`uci`](Self::uci).
    pub fn xboard(command: &str, params: &XboardParams, starts: bool) -> Result<Self, OpponentError> {
        Self::program::<Xboard>("xboard", command, params.into(), starts)
    }

    fn program<P: Protocol + 'static>(
        protocol: &'static str,
        command: &str,
        settings: Settings,
        starts: bool,
    ) -> Result<Self, OpponentError> {
        let mut setup = Setup::new(protocol, command, settings)?;
        if starts {
            let (process, _, introduction) = Player::<P>::start(&setup)?;
            drop(process);
            setup.introduction = Some(introduction);
        }
        Ok(Self(Kind::Process { setup: Arc::new(setup), start: start::<P> }))
    }

    /// Its name for tables, such as `Stockfish 15.1, Skill Level 0, 1000 nodes`.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::Process { setup, .. } => setup.name(),
            Kind::AlphaBeta { params, .. } => searcher::name(params),
        }
    }

    /// The blake3 digest, in hexadecimal, of what determines its games: the program's file, those that its arguments, options and `files`
    /// name, arguments, options, limit and timeouts. That of a plan is the same, unless the program is started by a script: then what
    /// the program says of itself counts, too. Of dc0's own search, that of its parameters, its tablebases and its signature.
    pub fn digest(&self) -> String {
        match &self.0 {
            Kind::Process { setup, .. } => setup.digest(),
            Kind::AlphaBeta { params, tables } => searcher::digest(params, tables.as_ref()),
        }
    }

    /// All that is known of it, for manifests.
    pub fn identity(&self) -> Value {
        match &self.0 {
            Kind::Process { setup, .. } => setup.identity(),
            Kind::AlphaBeta { params, tables } => searcher::identity(params, tables.as_ref()),
        }
    }

    /// Size of its transposition table in this process in MiB; 0 for programs, which have memory of their own.
    pub fn hash_mb(&self) -> u32 {
        match &self.0 {
            Kind::Process { .. } => 0,
            Kind::AlphaBeta { params, .. } => params.hash_mb,
        }
    }

    /// Whether its moves are limited by time, so that games depend on the machine.
    pub fn is_timed(&self) -> bool {
        match &self.0 {
            Kind::Process { setup, .. } => setup.limit.is_timed(),
            Kind::AlphaBeta { .. } => false,
        }
    }

    /// Starts the program for games, one after the other. It ends when the result is dropped.
    pub fn start(&self) -> Result<Box<dyn Program>, OpponentError> {
        match &self.0 {
            Kind::Process { setup, start } => start(Arc::clone(setup)),
            Kind::AlphaBeta { params, tables } => Ok(Box::new(Searcher::new(params, tables.clone()))),
        }
    }
}

fn start<P: Protocol + 'static>(setup: Arc<Setup>) -> Result<Box<dyn Program>, OpponentError> {
    Ok(Box::new(Player::<P>::new(setup)?))
}
