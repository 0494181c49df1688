//! The thread that runs the searches, one after another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dc0_backend::is_by_rows;
use dc0_core::board::{Game, Move, Position, Side};
use dc0_core::network::EvaluatorError;
use dc0_core::search::Search;

use super::alphabeta::{Second, Task};
use super::engine::Engine;
use super::inspect::{self, MOST_PLIES};
use super::move_stats::move_stats;
use super::notation::Notation;
use super::options::Settings;
use super::output::Output;
use super::parse::Go;
use super::report::visits_of;
use super::signal::Signal;
use super::time::{Allowance, BatchTime, Clock};
use super::watch::{Limits, Watch, watched};
use crate::score::mate;
use dc0_core::poison::IgnorePoison as _;
use dc0_process::clock::Stopwatch;
use thiserror::Error;

/// The budget of a search that is ended by something else.
const NO_LIMIT: u32 = u32::MAX / 2;

/// A job for the thinker.
pub(super) enum Job {
    /// Make everything ready, then answer `readyok`.
    Ready(Box<Settings>),
    NewGame,
    Search(Box<Order>),
    Eval(Box<Settings>, Game),
    Tree(Notation),
    Bench(Box<Settings>),
}

/// The last `position` could not be read, which was reported then.
#[derive(Debug, Clone, Copy, Error)]
#[error("there is no position, so there is no move: see the error before")]
pub(super) struct NoPosition;

/// A search to run.
pub(super) struct Order {
    pub(super) game: Result<Game, NoPosition>,
    pub(super) go: Go,
    pub(super) settings: Settings,
    pub(super) signal: Arc<Signal>,
}

/// Runs jobs with the engine.
pub(super) struct Thinker {
    output: Output,
    /// Searches that have not reported their move yet.
    running: Arc<AtomicUsize>,
    engine: Engine,
    /// The searcher of `SearchMode alphabeta` and `material`.
    second: Second,
    /// The value at the engine's last move, and the side it played.
    last_value: Option<(Side, f64)>,
    /// How long a batch may take.
    batch: BatchTime,
}

impl Thinker {
    pub(super) fn new(output: Output, running: Arc<AtomicUsize>, settings: Settings) -> Self {
        Self {
            output,
            running,
            engine: Engine::idle(settings),
            second: Second::default(),
            last_value: None,
            batch: BatchTime::default(),
        }
    }

    /// Runs jobs until the session ends.
    pub(super) fn work(mut self, jobs: &Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Ready(settings) => {
                    self.make_ready(&settings);
                    self.output.line("readyok");
                }
                Job::NewGame => self.start_game(),
                Job::Search(order) => self.search(&order),
                Job::Eval(settings, game) => self.eval(&settings, game),
                Job::Tree(notation) => self.show_tree(notation),
                Job::Bench(settings) => self.bench(&settings),
            }
        }
    }

    fn start_game(&mut self) {
        self.last_value = None;
        self.second.start_game();
        if let Err(error) = self.engine.start_game() {
            self.output.info(&format!("error: {error}"));
            self.engine.drop_threads();
        }
    }

    /// Starts the evaluating threads, on the CPU if the device fails; reports errors.
    fn make_ready(&mut self, settings: &Settings) {
        if settings.mode.is_alphabeta() {
            self.second.set_up(settings, &self.output);
            return;
        }
        self.second.drop_table();
        let made = self.engine.set_up(settings).or_else(|error| {
            if is_by_rows(&settings.net.spec) {
                // It was the CPU that failed.
                return Err(error.to_string());
            }
            self.output.info(&format!("error: {error}; the CPU is used instead"));
            self.engine.fall_back_to_cpu()
        });
        if let Err(error) = made {
            self.output.info(&format!("error: {error}"));
        }
    }

    fn eval(&mut self, settings: &Settings, game: Game) {
        if !game.position().has_legal_move() {
            self.output.line("no legal move: the game is over");
            return;
        }
        if settings.mode.is_alphabeta() {
            self.second.set_up(settings, &self.output);
            if let Some(line) = self.second.evaluation(&game) {
                self.output.line(&line);
            }
            return;
        }
        self.make_ready(settings);
        let Some(pool) = self.engine.pool() else { return };
        self.answer(inspect::evaluation(pool, settings, game));
    }

    fn bench(&mut self, settings: &Settings) {
        if settings.mode.is_alphabeta() {
            self.second.set_up(settings, &self.output);
            if let Some(measured) = self.second.bench() {
                self.answer(measured.map_err(EvaluatorError::from));
            }
            return;
        }
        self.make_ready(settings);
        let Some(pool) = self.engine.pool() else { return };
        self.answer(inspect::bench(pool, settings));
    }

    fn show_tree(&self, notation: Notation) {
        match self.engine.last_search() {
            Some(search) => self.output.line(&inspect::visited_moves(search, notation)),
            None => self.output.line("nothing was searched"),
        }
    }

    fn answer(&self, answer: Result<String, EvaluatorError>) {
        match answer {
            Ok(answer) => self.output.line(&answer),
            Err(error) => self.output.info(&format!("error: {error}")),
        }
    }

    /// Prints the number of positions after each move, and their sum.
    fn perft(&self, game: &Game, depth: i64, order: &Order) {
        let Some(plies) = u32::try_from(depth).ok().filter(|plies| (1..=MOST_PLIES).contains(plies)) else {
            let limit = if depth < 1 { "at least 1".to_owned() } else { format!("at most {MOST_PLIES}") };
            self.output.info(&format!("error: go perft: expected a depth of {limit}, got {depth}"));
            return;
        };
        match inspect::perft(game.position(), plies, order.settings.notation, &|| order.signal.is_stopped()) {
            Some(counts) => self.output.line(&counts),
            None => self.output.info("perft was stopped"),
        }
    }

    /// Searches and reports the move, or counts positions.
    fn search(&mut self, order: &Order) {
        if let Some(depth) = order.go.perft {
            match &order.game {
                Ok(game) => self.perft(game, depth, order),
                Err(error) => self.output.info(&error.to_string()),
            }
            self.running.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let (best, answer) = match &order.game {
            Ok(game) if game.position().has_legal_move() => self.think(game, order),
            Ok(game) => {
                // Mated, or stalemate.
                let score = if game.position().is_check() { "mate" } else { "cp" };
                self.output.line(&format!("info depth 0 score {score} 0"));
                (None, None)
            }
            Err(error) => {
                self.output.info(&error.to_string());
                (None, None)
            }
        };
        order.signal.wait(order.go.infinite);
        self.running.fetch_sub(1, Ordering::SeqCst);
        let moves: Vec<Move> = best.into_iter().chain(answer).collect();
        let position = order.game.as_ref().map(Game::position);
        let texts =
            position.map_or_else(|_| Vec::new(), |position| order.settings.notation.line(position, &moves));
        self.output.line(&match texts.as_slice() {
            [] => "bestmove (none)".to_owned(),
            [best] => format!("bestmove {best}"),
            [best, answer, ..] => format!("bestmove {best} ponder {answer}"),
        });
    }

    /// The best move of a position that has one, and the expected answer.
    fn think(&mut self, game: &Game, order: &Order) -> (Option<Move>, Option<Move>) {
        let legal = game.position().legal_moves();
        let only = self.searched_only(&order.go, game.position());
        let allowed = if only.is_empty() { &legal } else { &only };
        let fallback = game.position().mate_in_one(allowed).or(allowed.first().copied());
        self.make_ready(&order.settings);
        if order.settings.mode.is_alphabeta() {
            return self.think_second(game, order, only).unwrap_or((fallback, None));
        }
        let is_restricted = !only.is_empty();
        let mut search = self.engine.begin(game, is_restricted);
        search.restrict_root(&only);
        let choices = if is_restricted { only.len() } else { legal.len() };
        let limits = self.limits(order, &search, choices);
        search.set_budget(budget(order, &limits));
        let has_time = || {
            let elapsed = order.signal.own_time().map_or(Duration::ZERO, Stopwatch::elapsed);
            limits.time.is_none_or(|time| time.fits_evaluation(elapsed, self.batch))
        };
        if search.visits() == 0 && !order.go.ponder && !has_time() {
            self.batch = self.batch.a_move_later();
            self.output.info("the clock has no time for an evaluation");
            return (fallback, None);
        }
        let watch = Watch::new(Arc::clone(&order.signal), limits, &order.settings, self.batch);
        let (search, ended) = self.run(search, watch);
        let has_visits = search.visits() > 0;
        if order.settings.shows_moves {
            for line in move_stats(&search, order.settings.notation) {
                self.output.line(&line);
            }
        }
        let found = has_visits.then(|| self.choose(&search));
        if let Some(most) = mate_moves(&order.go) {
            let best = has_visits.then(|| search.lines(1)).and_then(|lines| mate(&search, &lines[0]));
            if !best.is_some_and(|moves| (1..=most).contains(&moves)) {
                self.output.info(&format!("no mate in {most} was found"));
            }
        }
        match ended {
            Ok(()) => self.engine.keep(search, is_restricted),
            Err(error) => {
                self.output.info(&format!("error: {error}"));
                self.engine.drop_threads();
            }
        }
        found.unwrap_or((fallback, None))
    }

    /// The same by alpha-beta; `None` if a tablebase could not be read, which is reported.
    fn think_second(
        &mut self,
        game: &Game,
        order: &Order,
        only: Vec<Move>,
    ) -> Option<(Option<Move>, Option<Move>)> {
        let (go, settings, signal) = (&order.go, &order.settings, &order.signal);
        let side = game.position().side_to_move();
        let time = if go.infinite { None } else { allowance(go, side, settings) };
        let thought = self.second.think(game, &Task { go, settings, signal, time, only }, &self.output);
        let thought = thought.unwrap_or_else(|error| {
            self.output.info(&format!("error: {error}"));
            None
        });
        thought.map(|(best, answer)| (Some(best), answer))
    }

    /// The root moves that a search is restricted to; none for all. Reports moves that are not legal.
    fn searched_only(&self, go: &Go, position: &Position) -> Vec<Move> {
        let read = |text: &String| position.read_uci(text);
        let only: Vec<Move> = go.searchmoves.iter().filter_map(read).collect();
        let illegal: Vec<&str> =
            go.searchmoves.iter().filter(|text| read(text).is_none()).map(String::as_str).collect();
        if !illegal.is_empty() {
            let so = if only.is_empty() { "all moves are searched" } else { "only the others are searched" };
            self.output.info(&format!(
                "error: go searchmoves: expected legal moves, got {}; {so}",
                illegal.join(", ")
            ));
        }
        only
    }

    /// The limits of a search that may choose among so many moves.
    fn limits(&self, order: &Order, search: &Search, choices: usize) -> Limits {
        let (go, side) = (&order.go, search.game().position().side_to_move());
        let last_value = self.last_value.filter(|(last_side, _)| *last_side == side).map(|(_, value)| value);
        if go.infinite {
            return Limits::default();
        }
        let time = allowance(go, side, &order.settings);
        let by_depth = go.depth.map(|depth| search.simulations_to(visits_of(depth)).max(1));
        let by_nodes = go.nodes.map(|nodes| nodes.clamp(1, NO_LIMIT.into()) as u32);
        let simulations = order.settings.search.simulations;
        let for_mate = |moves: i64| u32::try_from(moves).unwrap_or(u32::MAX).saturating_mul(simulations);
        let plain = || time.is_none().then(|| mate_moves(go).map_or(simulations, for_mate).min(NO_LIMIT));
        let nodes = [by_depth, by_nodes].into_iter().flatten().min().or_else(plain);
        let is_forced = choices == 1 && go.movetime.is_none() && !order.settings.analyses;
        Limits { nodes, time, is_forced, last_value }
    }

    /// Runs a search on all threads, and reports its result.
    fn run(&mut self, search: Search, mut watch: Watch) -> (Search, Result<(), EvaluatorError>) {
        let cache = self.engine.pool().map(|pool| pool.cache().clone());
        (watch.output, watch.cache) = (Some(self.output.clone()), cache.unwrap_or_default());
        let signal = Arc::clone(&watch.signal);
        // A tree that needs no further batch is not handed to the threads, which would take time.
        let is_enough = search.visits() > 0 && !watch.should_continue(&search);
        let watch = Arc::new(Mutex::new(watch));
        let (search, ended) =
            if is_enough { (search, Ok(())) } else { self.engine.run(search, watched(&watch)) };
        self.batch = watch.lock().ignore_poison().batch.a_move_later();
        if search.is_full() {
            self.output.info("the tree is full, which ends the search; search.max_nodes is its size");
        }
        if self.engine.pool().is_some() && search.visits() > 0 {
            // Chess programs do not count lines sent while the engine ponders as this search's, so they are sent again after the
            // hit. Read before the report: a hit during the report must not be missed.
            let ponders = signal.ponders();
            watch.lock().ignore_poison().report(&search, &self.output);
            signal.wait(false);
            if ponders {
                watch.lock().ignore_poison().report(&search, &self.output);
            }
        }
        (search, ended)
    }

    /// The move to play with the expected answer. Keeps the value for the next search.
    fn choose(&mut self, search: &Search) -> (Option<Move>, Option<Move>) {
        let lines = search.lines(usize::MAX);
        let best = self.engine.choose(search, &lines);
        self.last_value = Some((search.game().position().side_to_move(), search.root_value().value));
        let line = lines.iter().find(|line| line.first.played == best);
        (Some(best), line.and_then(|line| line.moves.get(1).copied()))
    }
}

/// The moves in which a mate is looked for.
fn mate_moves(go: &Go) -> Option<i64> {
    go.mate.filter(|moves| *moves > 0)
}

/// The simulations of a search.
fn budget(order: &Order, limits: &Limits) -> u32 {
    // Pondering has no limit before the hit, unless the root rule must know its budget beforehand.
    let plans_ahead = order.settings.search.root.rule.plans_ahead();
    let nodes = limits.nodes.filter(|_| !order.go.ponder || plans_ahead);
    let otherwise = if plans_ahead { order.settings.search.simulations } else { NO_LIMIT };
    nodes.unwrap_or(otherwise)
}

/// Time for the side to move.
fn allowance(go: &Go, side: Side, settings: &Settings) -> Option<Allowance> {
    let overhead = settings.overhead;
    if let Some(time) = go.movetime {
        return Some(Allowance::of_move(time.max(1), overhead, &settings.time));
    }
    let (left, increment) = match side {
        Side::White => (go.wtime, go.winc),
        Side::Black => (go.btime, go.binc),
    };
    // The other side's clock alone means that this is a timed game.
    let left = left.or_else(|| go.wtime.or(go.btime))?;
    let clock = Clock { left, increment: increment.unwrap_or(0), moves_to_go: go.movestogo };
    Some(Allowance::of_clock(clock, overhead, &settings.time))
}

#[cfg(test)]
mod tests {
    use dc0_core::board::Side;

    use super::{Allowance, Go, Settings, allowance};

    #[test]
    fn a_time_below_a_millisecond_is_taken_for_one() {
        let settings = Settings::new(None).expect("the shipped net on the CPU");
        let one = Allowance::of_move(1, settings.overhead, &settings.time);
        for movetime in [-5, 0, 1] {
            let go = Go { movetime: Some(movetime), ..Go::default() };
            assert_eq!(allowance(&go, Side::White, &settings), Some(one), "{movetime}");
        }
    }
}
