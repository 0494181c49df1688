//! The engine without a chess program: one call is one search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dc0_core::board::{Game, Move};
use dc0_core::network::EvaluatorError;
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::{ChoiceParams, Line, Search, SharedSearch};

use super::{RULES, Tree};
use crate::uci::options::Settings;
use crate::uci::report::{centipawns, chances, line_to_mate, mate};
use crate::uci::workers::Pool;

/// An engine with a tree that it keeps from move to move.
pub struct Engine {
    settings: Settings,
    pool: Pool,
    tree: Option<Tree>,
    /// Searches so far; each draws its own random numbers.
    searches: u64,
}

/// What a search found.
pub struct Found {
    /// The place in `lines` of the move to play.
    pub chosen: usize,
    /// Every move that was visited, the best first.
    pub lines: Vec<Told>,
    /// Simulations of this search.
    pub simulations: u32,
}

/// A move with what is expected to follow, for the side that makes it.
#[derive(Debug, Clone)]
pub struct Told {
    /// The move and what follows.
    pub moves: Vec<Move>,
    /// Visits of the move, those from searches before included.
    pub visits: u32,
    /// The net's probability of the move.
    pub prior: f32,
    /// The move's value in [−1, 1]; the position's where the move has no visit.
    pub q: f64,
    /// Win, draw and loss in thousandths.
    pub(crate) chances: [u32; 3],
    pub(crate) centipawns: i64,
    /// Moves to a proven mate, below 0 if this side is mated.
    pub(crate) mate: Option<i64>,
}

impl Engine {
    /// Starts the threads, each with its copy of the net.
    pub fn new(settings: Settings) -> Result<Self, EvaluatorError> {
        let pool = Pool::new(&settings)?;
        Ok(Self { settings, pool, tree: None, searches: 0 })
    }

    /// Simulations of a search.
    pub(crate) fn simulations(&self) -> u32 {
        self.settings.search.simulations
    }

    /// Searches the present position of a game that is not over, until the simulations are done or `stop` is set.
    pub fn search(&mut self, game: &Game, stop: &Arc<AtomicBool>) -> Result<Found, EvaluatorError> {
        let mut search = self.take_tree(game);
        search.set_budget(self.settings.search.simulations);
        self.searches += 1;
        let search = self.run(search, stop)?;
        let found = self.found(&search);
        self.tree = Some(Tree { search, params: self.settings.search.clone(), is_restricted: false });
        Ok(found)
    }

    fn take_tree(&mut self, game: &Game) -> Search {
        self.tree.take().and_then(|tree| tree.lead_to(game, false)).unwrap_or_else(|| {
            let (search, tables) = (self.settings.search.clone(), self.settings.tables.clone());
            Search::with_tablebases(game.clone(), RULES, search, tables)
        })
    }

    fn run(&self, search: Search, stop: &Arc<AtomicBool>) -> Result<Search, EvaluatorError> {
        let shared = Arc::new(SharedSearch::new(search).expect("UCI has no option for the engine"));
        self.pool.all(|_| {
            let (shared, stop) = (Arc::clone(&shared), Arc::clone(stop));
            Box::new(move |evaluator| {
                // There is a first visit in any case, so that there is a move.
                let mut goes_on = |search: &Search| search.visits() == 0 || !stop.load(Ordering::SeqCst);
                shared.work_while(evaluator, &mut goes_on)
            })
        })?;
        Ok(Arc::try_unwrap(shared).expect("every thread has given its share back").into_search())
    }

    fn found(&self, search: &Search) -> Found {
        let lines = search.lines(usize::MAX);
        let temperature = if self.settings.analyses { 0.0 } else { self.settings.temperature };
        let mut stream = Seed { run: self.settings.seed, step: 0 }.stream(self.searches, Purpose::MoveChoice);
        let drawn = (temperature > 0.0)
            .then(|| search.choose(&ChoiceParams::default(), temperature, &mut stream))
            .and_then(|drawn| lines.iter().position(|line| line.first.played == drawn));
        let told = lines.iter().map(|line| told(search, line)).collect();
        Found { chosen: drawn.unwrap_or(0), lines: told, simulations: search.spent() }
    }
}

fn told(search: &Search, line: &Line) -> Told {
    let q = line.first.value.unwrap_or_else(|| search.root_value().0);
    Told {
        moves: line_to_mate(search, line),
        visits: line.first.visits,
        prior: line.first.prior,
        q,
        chances: chances(q, line.draw),
        centipawns: centipawns(q),
        mate: mate(search, line),
    }
}
