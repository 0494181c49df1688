//! One thread of a search: the position it is at, with the path that led there.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::evaluator::StaticEvaluator;
use super::history::{Before, History, Placement};
use super::limits::Control;
use super::ordering::Buffers;
use super::params::SelectivityParams;
use super::reductions::Reductions;
use super::score::{MAX_EVALUATION, MAX_PLY, mated, of_tablebase};
use super::table::{Table, table_key};
use crate::board::{Game, KnownMove, Move, Position, Tablebase, TablebaseError};
use crate::poison::IgnorePoison as _;

/// Positions between two looks at the caller's clock: less than a millisecond. Chosen.
const CHECK_EVERY: u64 = 1024;

/// What a thread keeps from search to search, and its buffers.
pub(super) struct Worker {
    evaluator: Box<dyn StaticEvaluator>,
    pub(super) history: History,
    /// By plies from the root.
    pub(super) frames: Vec<Frame>,
    pub(super) buffers: Vec<Buffers>,
    /// The principal variation from each distance.
    pub(super) lines: Vec<Vec<Move>>,
    /// The keys of the game's positions and of the path.
    keys: Vec<u64>,
}

/// What is known of the position at a distance from the root.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frame {
    /// Its evaluation; `None` in check.
    pub(super) evaluation: Option<i32>,
    /// The move that the path goes on with; `None` for a pass.
    pub(super) placement: Option<Placement>,
    /// A move that is left out, to see how good the others are.
    pub(super) excluded: Option<Move>,
    /// Whether its score must come from moves, because it is that of a pass that is verified.
    pub(super) is_verified: bool,
}

/// A position of the tree.
#[derive(Clone, Copy)]
pub(super) struct Node<'p> {
    pub(super) position: &'p Position,
    pub(super) key: u64,
    /// Plies from the root.
    pub(super) ply: usize,
    pub(super) is_check: bool,
}

/// A position after a move or a pass, which a [`Node`] refers to.
pub(super) struct Reached {
    position: Position,
    key: u64,
    ply: usize,
    pub(super) is_check: bool,
}

impl Reached {
    pub(super) fn node(&self) -> Node<'_> {
        Node { position: &self.position, key: self.key, ply: self.ply, is_check: self.is_check }
    }
}

/// What the threads of a search share.
pub(super) struct Shared<'a> {
    pub(super) selectivity: &'a SelectivityParams,
    pub(super) reductions: &'a Reductions,
    pub(super) table: &'a Table,
    pub(super) tablebases: Option<&'a Tablebase>,
    /// Positions that all threads may visit.
    pub(super) most_nodes: u64,
    /// Whether several threads search, so that the limit is looked at only now and then.
    pub(super) has_helpers: bool,
    pub(super) stop: AtomicBool,
    /// Positions visited, positions evaluated and tablebase hits, as the threads last added them.
    pub(super) nodes: AtomicU64,
    pub(super) evaluations: AtomicU64,
    pub(super) hits: AtomicU64,
    /// The first table that could not be read, which ends the search.
    pub(super) error: Mutex<Option<TablebaseError>>,
}

/// A thread while it searches.
pub(super) struct Thread<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) worker: &'a mut Worker,
    /// Present in the thread that asks the caller.
    pub(super) control: Option<&'a mut dyn Control>,
    pub(super) is_stopped: bool,
    pub(super) selective_depth: usize,
    /// The depth of the iteration, which bounds extensions.
    pub(super) root_depth: i32,
    /// No pass is tried above this distance: a null move is being verified.
    pub(super) no_pass_before: usize,
    /// The index of the root's key.
    root_key: usize,
    /// The index of the key after the last pass; repetitions do not reach behind it.
    floor: usize,
    nodes: u64,
    /// Positions, evaluations and hits that `shared` does not count yet.
    uncounted: u64,
    uncounted_evaluations: u64,
    uncounted_hits: u64,
    next_check: u64,
}

impl Worker {
    pub(super) fn new(evaluator: Box<dyn StaticEvaluator>) -> Self {
        Self {
            evaluator,
            history: History::new(),
            frames: vec![Frame::default(); MAX_PLY + 2],
            buffers: (0..MAX_PLY + 2).map(|_| Buffers::default()).collect(),
            lines: vec![Vec::new(); MAX_PLY + 2],
            keys: Vec::new(),
        }
    }

    pub(super) fn evaluator_name(&self) -> &str {
        self.evaluator.name()
    }
}

impl<'a> Thread<'a> {
    /// A thread that begins at the last position of a game.
    pub(super) fn new(
        shared: &'a Shared<'a>,
        worker: &'a mut Worker,
        control: Option<&'a mut dyn Control>,
        game: &Game,
    ) -> Self {
        worker.evaluator.reset(game.position());
        worker.history.begin_search();
        worker.keys.clear();
        worker.keys.extend(game.keys());
        worker.frames.fill(Frame::default());
        Self {
            shared,
            control,
            is_stopped: false,
            selective_depth: 0,
            root_depth: 0,
            no_pass_before: 0,
            root_key: worker.keys.len() - 1,
            worker,
            floor: 0,
            nodes: 0,
            uncounted: 0,
            uncounted_evaluations: 0,
            uncounted_hits: 0,
            // The first iteration is so short that it is always completed, unless a limit forbids it.
            next_check: shared.most_nodes.min(CHECK_EVERY),
        }
    }

    /// Counts a position; false once the search is to stop.
    pub(super) fn visit(&mut self, ply: usize) -> bool {
        if self.nodes >= self.next_check {
            self.check();
        }
        if self.is_stopped {
            return false;
        }
        self.nodes += 1;
        self.uncounted += 1;
        self.selective_depth = self.selective_depth.max(ply);
        true
    }

    fn check(&mut self) {
        let nodes = self.flush();
        let is_requested = self.control.as_mut().is_some_and(|control| control.should_stop(nodes));
        if is_requested || nodes >= self.shared.most_nodes {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        self.is_stopped |= self.shared.stop.load(Ordering::Relaxed);
        let rest = self.shared.most_nodes.saturating_sub(nodes);
        let step = if self.shared.has_helpers { CHECK_EVERY } else { rest.min(CHECK_EVERY) };
        self.next_check = self.nodes + step;
    }

    /// Adds this thread's counts to those of all, and returns the positions of all.
    pub(super) fn flush(&mut self) -> u64 {
        let evaluations = std::mem::take(&mut self.uncounted_evaluations);
        self.shared.evaluations.fetch_add(evaluations, Ordering::Relaxed);
        self.shared.hits.fetch_add(std::mem::take(&mut self.uncounted_hits), Ordering::Relaxed);
        let uncounted = std::mem::take(&mut self.uncounted);
        self.shared.nodes.fetch_add(uncounted, Ordering::Relaxed) + uncounted
    }

    /// The position after a move, which becomes the current one.
    pub(super) fn play(&mut self, at: Node<'_>, mv: KnownMove) -> Reached {
        let (position, key) = at.position.after(mv, at.key);
        self.shared.table.prefetch(table_key(&position, key));
        self.worker.evaluator.push(at.position, mv, &position);
        self.worker.keys.push(key);
        self.worker.frames[at.ply].placement = Some(Placement::of(at.position, mv));
        let is_check = position.is_check();
        Reached { position, key, ply: at.ply + 1, is_check }
    }

    /// Takes the last move back.
    pub(super) fn take_back(&mut self) {
        self.worker.evaluator.pop();
        self.worker.keys.pop();
    }

    /// Visits the position after a pass of a side that is not in check.
    pub(super) fn with_pass<T>(
        &mut self,
        at: Node<'_>,
        visit: impl FnOnce(&mut Self, Node<'_>) -> T,
    ) -> Option<T> {
        let (position, key) = at.position.after_pass(at.key)?;
        self.worker.keys.push(key);
        self.worker.frames[at.ply].placement = None;
        let floor = std::mem::replace(&mut self.floor, self.worker.keys.len() - 1);
        let reached = Reached { position, key, ply: at.ply + 1, is_check: false };
        let found = visit(self, reached.node());
        self.floor = floor;
        self.worker.keys.pop();
        Some(found)
    }

    /// The evaluation of a position without a check.
    pub(super) fn evaluate(&mut self, at: Node<'_>) -> i32 {
        self.uncounted_evaluations += 1;
        self.worker.evaluator.evaluate(at.position).clamp(-MAX_EVALUATION, MAX_EVALUATION)
    }

    /// The last two moves before a position of the path.
    pub(super) fn before(&self, ply: usize) -> Before {
        [1, 2].map(|back| self.worker.frames.get(ply.checked_sub(back)?)?.placement)
    }

    /// The score of a position that the rules end besides mate and stalemate, or that repeats one of the path.
    pub(super) fn drawn(&self, at: Node<'_>) -> Option<i32> {
        let clock = at.position.halfmove_clock() as usize;
        if at.position.is_insufficient_material() || self.repeats(clock) {
            return Some(0);
        }
        // Mate takes precedence over the fifty moves.
        let is_over = clock >= 100;
        is_over.then(|| if at.is_check && !at.position.has_legal_move() { mated(at.ply) } else { 0 })
    }

    /// Whether the current position occurred since the root, or twice before: who can repeat once can repeat again.
    fn repeats(&self, clock: usize) -> bool {
        let keys = &self.worker.keys;
        let now = keys.len() - 1;
        let reach = clock.min(now - self.floor);
        let mut earlier = 0;
        for distance in (4..=reach).step_by(2) {
            if keys[now - distance] == keys[now] {
                earlier += 1;
                if now - distance >= self.root_key || earlier == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// The score by the tablebases, right after a capture or a pawn move.
    pub(super) fn tablebase_score(&mut self, at: Node<'_>) -> Option<i32> {
        let tables = self.shared.tablebases?;
        if at.position.halfmove_clock() > 0 || at.position.piece_count() as usize > tables.max_pieces() {
            return None;
        }
        match tables.probe_wdl(at.position) {
            Ok(found) => {
                self.uncounted_hits += u64::from(found.is_some());
                found.map(|result| of_tablebase(result.outcome(), at.ply))
            }
            Err(error) => {
                let mut first = self.shared.error.lock().ignore_poison();
                first.get_or_insert(error);
                self.shared.stop.store(true, Ordering::Relaxed);
                self.is_stopped = true;
                None
            }
        }
    }

    /// Sets the principal variation of a distance: a move, and what follows it.
    pub(super) fn extend_line(&mut self, ply: usize, played: Move) {
        let (above, below) = self.worker.lines.split_at_mut(ply + 1);
        let line = &mut above[ply];
        line.clear();
        line.push(played);
        line.extend_from_slice(&below[0]);
    }
}
