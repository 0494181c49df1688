//! Alpha-beta: the classic search of chess programs, as a second searcher beside the tree search of [`crate::search`].
//!
//! Iterative deepening of a principal variation search, with a transposition table, quiescence and an evaluation of single positions
//! ([`StaticEvaluator`]); docs/methods/alphabeta.md describes it. It reads no clock and draws no random numbers: with one thread and
//! a limit of nodes or depth, the same searches in the same order find the same.

pub mod bench;
mod descent;
mod evaluator;
mod history;
mod iterations;
mod leaves;
mod limits;
mod nnue;
mod ordering;
mod params;
mod piece_squares;
mod quiescence;
mod reductions;
mod score;
mod see;
mod table;
mod thread;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::scope;

use crate::board::{Game, KnownMove, Tablebase, TablebaseError, TablebaseResult};
use crate::poison::IgnorePoison as _;
use iterations::{Iterations, RootMove};
use reductions::Reductions;
use table::{Table, table_key};
use thread::{Node, Shared, Thread, Worker};

pub use evaluator::StaticEvaluator;
pub use leaves::QuiescentNnue;
pub use limits::{Control, Found, Limits, Line, Unwatched};
pub use nnue::{NnueEvaluation, nnue_centipawns, nnue_draw, nnue_value};
pub use params::{AlphaBetaParams, SelectivityParams};
pub use piece_squares::{PieceSquares, evaluation, value};
pub use score::Score;

#[cfg(test)]
mod tests;

/// Makes the evaluator of each thread.
pub type MakeStaticEvaluator<'a> = dyn Fn() -> Box<dyn StaticEvaluator> + 'a;

/// An alpha-beta searcher. Its table and histories stay from search to search, until [`start_game`](Self::start_game).
pub struct AlphaBeta {
    selectivity: SelectivityParams,
    reductions: Reductions,
    table: Table,
    /// One for each thread.
    workers: Vec<Worker>,
    tablebases: Option<Tablebase>,
}

impl AlphaBeta {
    /// A searcher with the memory and the threads of some parameters; their `depth` and `nodes` are the caller's to pass on
    /// ([`Limits`]), and their `tablebases` to open.
    pub fn new(
        params: &AlphaBetaParams,
        tablebases: Option<Tablebase>,
        make_evaluator: &MakeStaticEvaluator<'_>,
    ) -> Self {
        Self {
            selectivity: params.selectivity.clone(),
            reductions: Reductions::new(),
            table: Table::new(params.hash_mb),
            workers: (0..params.threads.max(1)).map(|_| Worker::new(make_evaluator())).collect(),
            tablebases,
        }
    }

    /// The name of its evaluation.
    pub fn evaluator_name(&self) -> &str {
        self.workers[0].evaluator_name()
    }

    /// Forgets everything that earlier searches found.
    pub fn start_game(&mut self) {
        self.table.clear();
        self.workers.iter_mut().for_each(|worker| worker.history.clear());
    }

    /// The best move of the last position of a game, which has a legal move.
    ///
    /// Where tablebases know the root, only moves that keep its result are searched, and all scores but mates are that result. An error is a
    /// table that cannot be read.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &mut dyn Control,
    ) -> Result<Found, TablebaseError> {
        let (moves, known) = self.root_moves(game, limits)?;
        let Self { selectivity, reductions, table, workers, tablebases } = self;
        table.begin_search();
        let shared = Shared {
            selectivity,
            reductions,
            table,
            tablebases: tablebases.as_ref(),
            most_nodes: limits.nodes.unwrap_or(u64::MAX),
            has_helpers: workers.len() > 1,
            stop: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            evaluations: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            error: Mutex::new(None),
        };
        let position = game.position();
        let root = Node { position, key: game.key(), ply: 0, is_check: position.is_check() };
        let (first, helpers) = workers.split_first_mut().expect("there is at least one thread");
        let mut found = scope(|scope| {
            let _stop = StopAtEnd(&shared.stop);
            for (number, worker) in (1..).zip(helpers) {
                let (shared, moves) = (&shared, moves.clone());
                scope.spawn(move || {
                    let mut thread = Thread::new(shared, worker, None, game);
                    let limits = Limits { lines: 1, mate: None, ..limits.clone() };
                    // Every other helper is a ply ahead, so that they do not all do the same.
                    Iterations::new(&mut thread, root, moves, known, &limits).run(1 + number % 2);
                    thread.flush();
                });
            }
            let mut thread = Thread::new(&shared, first, Some(control), game);
            let mut iterations = Iterations::new(&mut thread, root, moves, known, limits);
            let depth = iterations.run(1);
            let lines = iterations.lines();
            thread.flush();
            let selective_depth = thread.selective_depth as u32;
            Found {
                lines,
                is_known: known.is_some(),
                depth,
                selective_depth,
                nodes: 0,
                evaluations: 0,
                tablebase_hits: 0,
                hash_permill: table.permill(),
            }
        });
        if let Some(error) = shared.error.into_inner().ignore_poison() {
            return Err(error);
        }
        (found.nodes, found.tablebase_hits) = (shared.nodes.into_inner(), shared.hits.into_inner());
        found.evaluations = shared.evaluations.into_inner();
        self.expect_answer(game, &mut found);
        Ok(found)
    }

    /// The moves to search, in the order of generation, and the result of perfect play after them, if tablebases know it.
    fn root_moves(
        &self,
        game: &Game,
        limits: &Limits,
    ) -> Result<(Vec<RootMove>, Option<TablebaseResult>), TablebaseError> {
        let mut moves: Vec<KnownMove> = Vec::new();
        game.position().known_moves_into(&mut moves);
        if moves.iter().any(|mv| limits.root_moves.contains(&mv.played)) {
            moves.retain(|mv| limits.root_moves.contains(&mv.played));
        }
        let ranked = self.tablebases.as_ref().map(|tables| tables.rank_root(game)).transpose()?.flatten();
        let mut ranked = ranked.unwrap_or_default();
        ranked.retain(|ranked| moves.iter().any(|mv| mv.played == ranked.mv));
        let best = ranked.iter().max_by_key(|ranked| ranked.rank).copied();
        if let Some(best) = best {
            ranked.retain(|ranked| ranked.rank == best.rank);
            moves.retain(|mv| ranked.iter().any(|ranked| ranked.mv == mv.played));
        }
        Ok((moves.into_iter().map(RootMove::new).collect(), best.map(|best| best.result)))
    }

    /// Adds the answer that the table has to lines of one move that does not end the game, for programs that think on the opponent's
    /// time.
    fn expect_answer(&self, game: &Game, found: &mut Found) {
        for line in found.lines.iter_mut().filter(|line| line.moves.len() == 1) {
            let mut after = game.clone();
            after.play_unchecked(line.moves[0]);
            if after.outcome_by_rules(true).is_some() {
                continue;
            }
            let key = table_key(after.position(), after.key());
            let stored = self.table.probe(key, 1).and_then(|entry| entry.best);
            line.moves.extend(stored.filter(|answer| after.position().is_legal(*answer)));
        }
    }
}

/// Stops the helpers once the first thread is done, even by a panic: they have no limits of their own.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for AlphaBeta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AlphaBeta")
            .field("selectivity", &self.selectivity)
            .field("threads", &self.workers.len())
            .field("tablebases", &self.tablebases)
            .finish_non_exhaustive()
    }
}
