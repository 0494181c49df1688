//! The thread that takes one search after the other.

mod alone;
mod people;

pub use alone::{Engine, Found, Told};
pub(super) use people::{bench_line, speed};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use dc0_core::board::{Game, Move, Rules, Side};
use dc0_core::network::EvaluatorError;
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::{ChoiceParams, Search, SearchParams, SharedSearch};

use super::options::Settings;
use super::output::Output;
use super::parse::Go;
use super::report::{Frame, visits_of};
use super::signal::Signal;
use super::time::{Allowance, Clock};
use super::watch::{Limits, Watch};
use super::workers::Pool;

/// Games go on until chess ends them.
const RULES: Rules = Rules { max_plies: u32::MAX };

/// Simulations of a search that only something else ends.
const NO_LIMIT: u32 = u32::MAX / 2;

/// What the thinker is asked for.
pub(super) enum Job {
    /// Make everything ready, and say so.
    Ready(Box<Settings>),
    NewGame,
    Search(Box<Order>),
    Eval(Box<Settings>, Game),
    Tree,
    Bench(Box<Settings>),
}

/// A search that is asked for.
pub(super) struct Order {
    pub(super) game: Result<Game, String>,
    pub(super) go: Go,
    pub(super) settings: Settings,
    pub(super) signal: Arc<Signal>,
}

/// A tree from the last search.
struct Tree {
    search: Search,
    params: SearchParams,
    /// Whether only some moves were searched.
    is_restricted: bool,
}

/// The thinker.
pub(super) struct Thinker {
    output: Output,
    running: Arc<AtomicUsize>,
    pool: Option<Pool>,
    tree: Option<Tree>,
    /// The value at the engine's last move, and the side it played.
    last_value: Option<(Side, f64)>,
    /// Searches since the game began; each draws its own random numbers.
    searches: u64,
}

impl Thinker {
    pub(super) fn new(output: Output, running: Arc<AtomicUsize>) -> Self {
        Self { output, running, pool: None, tree: None, last_value: None, searches: 0 }
    }

    /// Works until nobody can ask any more.
    pub(super) fn work(mut self, jobs: &Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Ready(settings) => {
                    self.make_ready(&settings);
                    self.output.say("readyok");
                }
                Job::NewGame => self.forget(),
                Job::Search(order) => self.search(&order),
                Job::Eval(settings, game) => self.eval(&settings, game),
                Job::Tree => self.show_tree(),
                Job::Bench(settings) => self.bench(&settings),
            }
        }
    }

    fn forget(&mut self) {
        (self.tree, self.last_value, self.searches) = (None, None, 0);
        if let Some(Err(error)) = self.pool.as_ref().map(Pool::forget) {
            self.output.tell(&format!("error: {error}"));
            self.pool = None;
        }
    }

    /// Makes the threads that evaluate; on the CPU if the device fails. Says what went wrong.
    fn make_ready(&mut self, settings: &Settings) {
        if self.pool.as_ref().is_some_and(|pool| pool.fits(settings)) {
            return;
        }
        (self.pool, self.tree) = (None, None);
        let made = Pool::new(settings).or_else(|error| {
            self.output.tell(&format!("error: {error}; the CPU is used instead"));
            let on_cpu = settings.on_cpu().map_err(|error| error.to_string())?;
            Pool::new(&on_cpu).map_err(|error| error.to_string())
        });
        match made {
            Ok(pool) => self.pool = Some(pool.serving(settings)),
            Err(error) => self.output.tell(&format!("error: {error}")),
        }
    }

    /// Searches and tells the move.
    fn search(&mut self, order: &Order) {
        let (best, answer) = match &order.game {
            Ok(game) if game.position().has_legal_move() => self.think(game, order),
            Ok(game) => {
                // Mated, or stalemate.
                let score = if game.position().is_check() { "mate" } else { "cp" };
                self.output.say(&format!("info depth 0 score {score} 0"));
                (None, None)
            }
            Err(error) => {
                self.output.tell(error);
                (None, None)
            }
        };
        order.signal.wait(order.go.infinite);
        self.running.fetch_sub(1, Ordering::SeqCst);
        let best = best.map_or("(none)".to_owned(), |best| best.to_string());
        let answer = answer.map(|answer| format!(" ponder {answer}")).unwrap_or_default();
        self.output.say(&format!("bestmove {best}{answer}"));
    }

    /// The best move of a position that has one, and the answer expected.
    fn think(&mut self, game: &Game, order: &Order) -> (Option<Move>, Option<Move>) {
        let legal = game.position().legal_moves();
        let only: Vec<Move> =
            order.go.searchmoves.iter().copied().filter(|played| legal.contains(played)).collect();
        let fallback = only.first().or(legal.first()).copied();
        self.make_ready(&order.settings);
        let mut search = self.take_tree(game, &order.settings, !only.is_empty());
        search.restrict_root(&only);
        let open = if only.is_empty() { legal.len() } else { only.len() };
        let limits = self.limits(game, order, (open, search.visits()));
        self.searches += 1;
        search.set_budget(budget(order, &limits));
        let watch = Watch::new(Arc::clone(&order.signal), limits, frame(&order.settings));
        let (search, ended) = self.run(search, watch);
        let has_visits = search.visits() > 0;
        let found = has_visits.then(|| self.choose(&search, &order.settings));
        match ended {
            Ok(()) => self.keep(search, &order.settings, !only.is_empty()),
            Err(error) => {
                self.output.tell(&format!("error: {error}"));
                self.pool = None;
            }
        }
        found.unwrap_or((fallback, None))
    }

    /// The tree of the last search where it leads to this game, else a new one.
    fn take_tree(&mut self, game: &Game, settings: &Settings, restricts: bool) -> Search {
        let tree = self.tree.take().filter(|tree| tree.params == settings.search);
        tree.and_then(|tree| tree.lead_to(game, restricts)).unwrap_or_else(|| {
            Search::with_tablebases(game.clone(), RULES, settings.search.clone(), settings.tables.clone())
        })
    }

    fn limits(&self, game: &Game, order: &Order, (open, kept): (usize, u32)) -> Limits {
        let (go, side) = (&order.go, game.position().side_to_move());
        let last_value = self.last_value.filter(|(of, _)| *of == side).map(|(_, value)| value);
        if go.infinite {
            return Limits::default();
        }
        let time = allowance(go, side, &order.settings);
        let by_depth = go.depth.map(|depth| visits_of(depth).saturating_sub(kept).max(1));
        let by_nodes = go.nodes.map(|nodes| nodes.clamp(1, NO_LIMIT.into()) as u32);
        let plain = || (time.is_none() && go.mate.is_none()).then_some(order.settings.search.simulations);
        let nodes = [by_depth, by_nodes].into_iter().flatten().min().or_else(plain);
        let is_forced = open == 1 && go.movetime.is_none() && !order.settings.analyses;
        Limits { nodes, time, is_forced, last_value }
    }

    /// Lets all threads work on a search, and tells what was found.
    fn run(&self, search: Search, mut watch: Watch) -> (Search, Result<(), EvaluatorError>) {
        let Some(pool) = &self.pool else {
            let cause = "no net can be evaluated; look at the messages before".to_owned();
            return (search, Err(EvaluatorError::Device { rows: 0, cause }));
        };
        (watch.output, watch.memory) = (Some(self.output.clone()), pool.memory().clone());
        let (search, watch, ended) = run_on(pool, search, watch);
        if search.visits() > 0 {
            // Chess programs take what is told while the engine ponders for another search's, so it is told again after the hit. Asked
            // before the report: a hit that comes beside it must not be missed.
            let ponders = watch.signal.ponders();
            watch.report(&search, &self.output);
            watch.signal.wait(false);
            if ponders {
                watch.report(&search, &self.output);
            }
        }
        (search, ended)
    }

    /// The move to play with the answer expected, and the value for the next time.
    fn choose(&mut self, search: &Search, settings: &Settings) -> (Option<Move>, Option<Move>) {
        let temperature = if settings.analyses { 0.0 } else { settings.temperature };
        let mut stream = Seed { run: settings.seed, step: 0 }.stream(self.searches, Purpose::MoveChoice);
        let lines = search.lines(usize::MAX);
        let best = if temperature > 0.0 {
            search.choose(&ChoiceParams::default(), temperature, &mut stream)
        } else {
            lines[0].first.played
        };
        self.last_value = Some((search.game().position().side_to_move(), search.root_value().0));
        let line = lines.iter().find(|line| line.first.played == best);
        (Some(best), line.and_then(|line| line.moves.get(1).copied()))
    }

    fn keep(&mut self, search: Search, settings: &Settings, is_restricted: bool) {
        self.tree = Some(Tree { search, params: settings.search.clone(), is_restricted });
    }
}

impl Tree {
    /// The search of a game that this one's leads to.
    fn lead_to(mut self, game: &Game, restricts: bool) -> Option<Search> {
        let own = self.search.game();
        let known = own.moves().len();
        let is_later = game.moves().starts_with(own.moves()) && own.start().fen() == game.start().fen();
        if !self.params.reuse_tree || !is_later {
            return None;
        }
        let played = &game.moves()[known..];
        // The same position once more: a search that was confined, or that ended itself, cannot go on.
        let may_go_on = !self.is_restricted && !restricts && self.params.stop_by_gain.is_none();
        if played.is_empty() && !may_go_on {
            return None;
        }
        for played in played {
            self.search.play_unchecked(*played);
        }
        Some(self.search)
    }
}

/// Simulations that a search is given.
fn budget(order: &Order, limits: &Limits) -> u32 {
    // Pondering has no limit before the hit, unless the rule shares out a number that it must know beforehand.
    let plans_ahead = order.settings.search.root.rule.plans_ahead();
    let nodes = limits.nodes.filter(|_| !order.go.ponder || plans_ahead);
    let otherwise = if plans_ahead { order.settings.search.simulations } else { NO_LIMIT };
    nodes.unwrap_or(otherwise)
}

fn frame(settings: &Settings) -> Frame {
    Frame {
        lines: settings.lines,
        shows_wdl: settings.shows_wdl,
        hash_permill: 0,
        nodes: 0,
        elapsed: Duration::ZERO,
    }
}

/// Time for the side to move.
fn allowance(go: &Go, side: Side, settings: &Settings) -> Option<Allowance> {
    let overhead = settings.overhead;
    if let Some(time) = go.movetime {
        return Some(Allowance::of_move(time, overhead));
    }
    let (left, increment) = match side {
        Side::White => (go.wtime, go.winc),
        Side::Black => (go.btime, go.binc),
    };
    // A clock of the other side alone says that this is a timed game.
    let left = left.or_else(|| go.wtime.or(go.btime))?;
    let clock = Clock { left, increment: increment.unwrap_or(0), moves_to_go: go.movestogo };
    Some(Allowance::of_clock(clock, overhead, &settings.time))
}

/// Lets the first thread watch, and the others follow.
fn run_on(pool: &Pool, search: Search, watch: Watch) -> (Search, Watch, Result<(), EvaluatorError>) {
    let shared = Arc::new(SharedSearch::new(search).expect("UCI has no option for the engine"));
    let signal = Arc::clone(&watch.signal);
    let watching = Arc::new(std::sync::Mutex::new(watch));
    let ended = pool.all(|number| {
        let (shared, watching, signal) = (Arc::clone(&shared), Arc::clone(&watching), Arc::clone(&signal));
        Box::new(move |evaluator| {
            if number > 0 {
                let mut goes_on = |search: &Search| search.visits() == 0 || !signal.is_stopped();
                return shared.work_while(evaluator, &mut goes_on);
            }
            let mut watch = watching.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            shared.work_while(evaluator, &mut |search| watch.goes_on(search))
        })
    });
    let search = Arc::try_unwrap(shared).expect("every thread has given its share back").into_search();
    let watch = Arc::try_unwrap(watching)
        .map(|watch| watch.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    let Ok(watch) = watch else { unreachable!("every thread has given its share back") };
    (search, watch, ended)
}
