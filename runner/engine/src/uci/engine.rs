//! The engine: a net that searches on several threads and keeps its tree from move to move.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dc0_core::board::{Game, Move, Rules};
use dc0_core::network::EvaluatorError;
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::{ChoiceParams, Line, Search, SearchParams, SharedSearch};

use super::options::{Settings, SettingsError};
use super::workers::Pool;
use crate::score::{ScoreFit, line_to_mate};

/// No ply limit: only the rules of chess end a game.
pub(super) const RULES: Rules = Rules { max_plies: u32::MAX };

/// A net that searches.
pub struct Engine {
    settings: Settings,
    /// Absent until the engine is set up, and after an evaluator has failed.
    pool: Option<Pool>,
    tree: Option<KeptTree>,
    /// Searches since the game began; each draws its own random numbers.
    searches: u64,
}

/// The tree of the last search.
struct KeptTree {
    search: Search,
    params: SearchParams,
    /// Whether the search was restricted to some root moves.
    is_restricted: bool,
}

/// What a search found.
pub struct SearchResult {
    /// The index in `lines` of the move to play.
    pub chosen: usize,
    /// Every visited move, the best first.
    pub lines: Vec<MoveLine>,
    /// Simulations of this search.
    pub simulations: u32,
}

/// A root move with its principal variation, for the side that makes it.
#[derive(Debug, Clone)]
pub struct MoveLine {
    /// The principal variation; its first move is the root move.
    pub moves: Vec<Move>,
    /// Visits of the move, those of earlier searches included.
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
        let mut engine = Self::idle(settings);
        engine.start_threads()?;
        Ok(engine)
    }

    /// Without threads, until [`set_up`](Self::set_up).
    pub(super) fn idle(settings: Settings) -> Self {
        Self { settings, pool: None, tree: None, searches: 0 }
    }

    /// Takes new settings; keeps the threads and the tree where they still fit.
    pub(super) fn set_up(&mut self, settings: &Settings) -> Result<(), EvaluatorError> {
        self.settings = settings.clone();
        if self.pool.as_ref().is_some_and(|pool| pool.fits(settings)) { Ok(()) } else { self.start_threads() }
    }

    fn start_threads(&mut self) -> Result<(), EvaluatorError> {
        (self.pool, self.tree) = (None, None);
        self.pool = Some(Pool::new(&self.settings)?);
        Ok(())
    }

    /// Evaluates on the CPU in place of the device that the settings ask for.
    pub(super) fn fall_back_to_cpu(&mut self) -> Result<(), String> {
        let on_cpu = self.settings.on_cpu().map_err(|error: SettingsError| error.to_string())?;
        let pool = Pool::new(&on_cpu).map_err(|error| error.to_string())?;
        self.pool = Some(pool.serving(&self.settings));
        Ok(())
    }

    /// Drops the tree and all cached evaluations.
    pub(super) fn start_game(&mut self) -> Result<(), EvaluatorError> {
        (self.tree, self.searches) = (None, 0);
        self.pool.as_ref().map_or(Ok(()), Pool::clear_cache)
    }

    /// Drops the threads after a failure; the next set-up makes new ones.
    pub(super) fn drop_threads(&mut self) {
        self.pool = None;
    }

    /// The threads, where there are any.
    pub(super) fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// The last search, where it has a visit.
    pub(super) fn last_search(&self) -> Option<&Search> {
        self.tree.as_ref().map(|tree| &tree.search).filter(|search| search.visits() > 0)
    }

    /// Simulations of a search.
    pub(crate) fn simulations(&self) -> u32 {
        self.settings.search.simulations
    }

    /// Searches the current position of a game that is not over, until the simulations are done or `stop` is set.
    pub fn search(&mut self, game: &Game, stop: &Arc<AtomicBool>) -> Result<SearchResult, EvaluatorError> {
        let mut search = self.begin(game, false);
        search.set_budget(self.settings.search.simulations);
        let stop = Arc::clone(stop);
        let (search, ended) = self.run(search, move |_, _| !stop.load(Ordering::SeqCst));
        ended?;
        let found = self.result(&search);
        self.keep(search, false);
        Ok(found)
    }

    /// Begins a search of a game, with the last search's tree where that can be reused. `is_restricted`: the caller restricts the
    /// root to some moves.
    pub(super) fn begin(&mut self, game: &Game, is_restricted: bool) -> Search {
        self.searches += 1;
        let Settings { search: params, tablebases, .. } = &self.settings;
        let kept = self.tree.take().filter(|tree| tree.params == *params);
        kept.and_then(|tree| tree.advance_to(game, is_restricted)).unwrap_or_else(|| {
            Search::with_tablebases(game.clone(), RULES, params.clone(), tablebases.clone())
        })
    }

    /// Runs a search on all threads. Returns it even after an error, as it was then.
    pub(super) fn run(
        &self,
        search: Search,
        should_continue: impl Fn(usize, &Search) -> bool + Send + Sync + 'static,
    ) -> (Search, Result<(), EvaluatorError>) {
        let Some(pool) = &self.pool else {
            let cause = "no net can be evaluated; look at the messages before".to_owned();
            return (search, Err(EvaluatorError::Make { cause }));
        };
        run_on(pool, search, should_continue)
    }

    /// The move to play after a search, whose lines are given best first.
    pub(super) fn choose(&self, search: &Search, lines: &[Line]) -> Move {
        let settings = &self.settings;
        let temperature = if settings.analyses { 0.0 } else { settings.temperature };
        if temperature > 0.0 {
            let mut stream = Seed { run: settings.seed, step: 0 }.stream(self.searches, Purpose::MoveChoice);
            search.choose(&ChoiceParams::default(), temperature, &mut stream)
        } else {
            lines[0].first.played
        }
    }

    /// Keeps the tree for the next search.
    pub(super) fn keep(&mut self, search: Search, is_restricted: bool) {
        self.tree = Some(KeptTree { search, params: self.settings.search.clone(), is_restricted });
    }

    fn result(&self, search: &Search) -> SearchResult {
        let lines = search.lines(usize::MAX);
        let best = self.choose(search, &lines);
        let chosen = lines.iter().position(|line| line.first.played == best).unwrap_or(0);
        let fit = self.settings.score_fit();
        let lines = lines.iter().map(|line| MoveLine::new(search, line, fit)).collect();
        SearchResult { chosen, lines, simulations: search.spent() }
    }
}

impl KeptTree {
    /// The search, advanced to a game that continues its own; `None` where its tree cannot be reused.
    fn advance_to(mut self, game: &Game, is_restricted: bool) -> Option<Search> {
        let own = self.search.game();
        let known = own.moves().len();
        let is_later = game.moves().starts_with(own.moves()) && own.start().fen() == game.start().fen();
        // What is known of closed moves, such as a proof, must not count in a restricted search.
        if !self.params.reuse_tree || is_restricted || !is_later {
            return None;
        }
        let played = &game.moves()[known..];
        // A restricted search of the same position cannot be continued.
        if played.is_empty() && self.is_restricted {
            return None;
        }
        for mv in played {
            self.search.play_unchecked(*mv);
        }
        Some(self.search)
    }
}

impl MoveLine {
    fn new(search: &Search, line: &Line, fit: ScoreFit) -> Self {
        let q = line.first.value.unwrap_or_else(|| search.root_value().value);
        let shown = fit.of_line(search, line);
        Self {
            moves: line_to_mate(search, line),
            visits: line.first.visits,
            prior: line.first.prior,
            q,
            chances: shown.thousandths(),
            centipawns: shown.centipawns,
            mate: shown.mate,
        }
    }
}

/// Runs a search on all threads of a pool while `should_continue` holds; it is called before each batch, with the thread's number.
/// The first visit is made in any case, so that there is a move.
pub(super) fn run_on(
    pool: &Pool,
    search: Search,
    should_continue: impl Fn(usize, &Search) -> bool + Send + Sync + 'static,
) -> (Search, Result<(), EvaluatorError>) {
    let shared = Arc::new(SharedSearch::new(search).expect("UCI has no option for the engine"));
    let should_continue = Arc::new(should_continue);
    let takes_turns = pool.takes_turns();
    let ended = pool.all(|thread| {
        let (shared, should_continue) = (Arc::clone(&shared), Arc::clone(&should_continue));
        Box::new(move |evaluator| {
            let mut keep_going = |search: &Search| search.visits() == 0 || should_continue(thread, search);
            if takes_turns {
                shared.work_in_turns(evaluator, &mut keep_going)
            } else {
                shared.work_while(evaluator, &mut keep_going)
            }
        })
    });
    (Arc::try_unwrap(shared).expect("every thread has dropped its reference").into_search(), ended)
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Game;
    use dc0_core::encoding::{Encoding, EncodingName, Orientation};
    use dc0_core::network::fake::Hashed;
    use dc0_core::search::{KldGain, Search, SearchParams};

    use super::{KeptTree, RULES};

    #[test]
    fn only_a_restricted_search_begins_a_tree_of_its_own() {
        let kld_gain = Some(KldGain::default());
        let params = SearchParams { reuse_tree: true, kld_gain, simulations: 100, ..SearchParams::default() };
        let mut search = Search::with_tablebases(Game::initial(), RULES, params.clone(), None);
        let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
        search.run(&mut Hashed::new(encoding, 1)).expect("fakes do not fail");
        let mut later = Game::initial();
        later.play_unchecked(search.leaders().0.expect("has moves").played);
        for game in [Game::initial(), later] {
            let tree = || KeptTree { search: search.clone(), params: params.clone(), is_restricted: false };
            assert!(tree().advance_to(&game, false).is_some_and(|search| search.visits() > 0));
            assert!(tree().advance_to(&game, true).is_none());
        }
    }
}
