//! The second searcher of the engine, alpha-beta: its limits, its clock and its reports.

use std::sync::Arc;
use std::time::Duration;

use dc0_core::alphabeta::{
    AlphaBeta, AlphaBetaParams, Control, Found, Limits, Line, MakeStaticEvaluator, NnueEvaluation,
    PieceSquares, Score, SelectivityParams, bench, nnue_draw, nnue_value,
};
use dc0_core::board::{Game, Move, Side, Tablebase, TablebaseError};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::{NnueLine, NnueNet};
use dc0_core::network::{ValueHead, Wdl};
use dc0_process::clock::Stopwatch;
use dc0_runs::net::shipped_nnue;

use super::options::{SearchMode, Settings};
use super::output::Output;
use super::parse::Go;
use super::signal::Signal;
use super::time::{Allowance, Stability};
use crate::score::{ScoreFit, score_text};

/// Positions of a search that nothing limits: about a second. Chosen.
const NODES: u64 = 1_000_000;

/// Plies beyond those of a mate that a search for one goes deep, since some lines are searched less deep. Chosen.
const MATE_PLIES: u32 = 10;

/// The searcher, once it is set up.
#[derive(Default)]
pub(super) struct Second {
    ready: Option<Ready>,
    /// The value at the last move, and the side it played.
    last_value: Option<(Side, f64)>,
}

/// A searcher with what it was made for.
struct Ready {
    searcher: AlphaBeta,
    params: AlphaBetaParams,
    tablebases: Option<Tablebase>,
    mode: SearchMode,
    /// What `DC0Model` names.
    model: Arc<Checkpoint>,
    evaluation: Evaluation,
}

/// What evaluates positions.
enum Evaluation {
    Net {
        net: Arc<NnueNet>,
        /// Whether its values distinguish draws from losses and wins.
        knows_draws: bool,
    },
    /// Material and piece squares.
    Material,
}

/// Win, draw and loss of lines, by a net.
struct Chances {
    line: NnueLine,
    fit: ScoreFit,
}

impl Chances {
    /// In thousandths. The score is the net's value at the end of the line; what it leaves open is a draw with the share that the net
    /// gives there, and surely one where the rules end the game.
    fn of(&mut self, game: &Game, line: &Line) -> [u32; 3] {
        let mut end = game.clone();
        line.moves.iter().for_each(|mv| end.play_unchecked(*mv));
        let is_over = end.outcome_by_rules(end.position().has_legal_move()).is_some();
        let own = if is_over {
            Wdl { win: 0.0, draw: 1.0, loss: 0.0 }
        } else {
            self.line.evaluate(0, end.position())
        };
        let value = nnue_value(line.score);
        self.fit.of_value(value.into(), nnue_draw(value, own).into()).thousandths()
    }
}

/// What a search is for, besides its position.
pub(super) struct Task<'a> {
    pub(super) go: &'a Go,
    pub(super) settings: &'a Settings,
    pub(super) signal: &'a Arc<Signal>,
    /// The time for the move, if it is limited.
    pub(super) time: Option<Allowance>,
    /// The root moves to search; all if empty.
    pub(super) only: Vec<Move>,
}

impl Second {
    /// Takes new settings; keeps the table where it still fits.
    pub(super) fn set_up(&mut self, settings: &Settings, output: &Output) {
        let params = AlphaBetaParams {
            depth: None,
            nodes: None,
            hash_mb: settings.hash,
            threads: settings.threads,
            tablebases: None,
            selectivity: settings.selectivity.clone(),
        };
        let is_same = |ready: &Ready| {
            ready.params == params
                && ready.mode == settings.mode
                && ready.tablebases == settings.tablebases
                && Arc::ptr_eq(&ready.model, &settings.net)
        };
        if self.ready.as_ref().is_some_and(is_same) {
            return;
        }
        self.ready = None;
        let tablebases = settings.tablebases.clone();
        let mode = settings.mode;
        let evaluation = match mode {
            SearchMode::Material => Evaluation::Material,
            SearchMode::AlphaBeta | SearchMode::Dc0 => Evaluation::of_net(&settings.net, output),
        };
        let searcher = AlphaBeta::new(&params, tablebases.clone(), &*evaluation.evaluators());
        let model = Arc::clone(&settings.net);
        self.ready = Some(Ready { searcher, params, tablebases, mode, model, evaluation });
    }

    /// The evaluation of a position after [`set_up`](Self::set_up), for people.
    pub(super) fn evaluation(&self, game: &Game) -> Option<String> {
        let mut evaluator = self.ready.as_ref()?.evaluation.evaluators()();
        evaluator.reset(game.position());
        let score = score_text(evaluator.evaluate(game.position()).into(), None);
        Some(format!("{} {score} for the side to move, in pawns", evaluator.name()))
    }

    /// The nodes of the signature with the evaluation that plays, after [`set_up`](Self::set_up), and nodes per second, in the form that match
    /// servers read.
    pub(super) fn bench(&self) -> Option<Result<String, TablebaseError>> {
        let Ready { params, evaluation, .. } = self.ready.as_ref()?;
        Some(alphabeta_bench(bench::DEPTH, &params.selectivity, &*evaluation.evaluators()))
    }

    /// Forgets what earlier searches found.
    pub(super) fn start_game(&mut self) {
        self.last_value = None;
        if let Some(ready) = &mut self.ready {
            ready.searcher.start_game();
        }
    }

    /// Frees the table.
    pub(super) fn drop_table(&mut self) {
        self.ready = None;
    }

    /// Searches a position that has a legal move, reports, and returns the move with the expected answer. Waits for the end of
    /// pondering.
    pub(super) fn think(
        &mut self,
        game: &Game,
        task: &Task<'_>,
        output: &Output,
    ) -> Result<Option<(Move, Option<Move>)>, TablebaseError> {
        let side = game.position().side_to_move();
        let last_value = self.last_value.filter(|(last, _)| *last == side).map(|(_, value)| value);
        let Some(Ready { searcher, evaluation, .. }) = &mut self.ready else { return Ok(None) };
        let chances = if task.settings.shows_wdl { evaluation.chances(task.settings, output) } else { None };
        let limits = limits(task);
        let choices = if task.only.is_empty() { game.position().legal_move_count() } else { task.only.len() };
        let mut watcher = Watcher {
            task,
            game,
            chances,
            output,
            limits: limits.clone(),
            is_forced: choices == 1 && task.go.movetime.is_none() && !task.settings.analyses,
            last_value,
            started: Stopwatch::start(),
            best: None,
        };
        // Pondering has no limits before the hit; the watcher knows them after it.
        let unlimited = Limits { depth: None, nodes: None, mate: None, ..limits.clone() };
        let found = searcher.search(game, if task.go.ponder { &unlimited } else { &limits }, &mut watcher)?;
        // Read before the report: a hit during the report must not be missed.
        let ponders = task.signal.ponders();
        watcher.report(&found);
        task.signal.wait(false);
        if ponders {
            // Chess programs do not count lines sent while the engine ponders as this search's.
            watcher.report(&found);
        }
        if let Some(most) = limits.mate.filter(|most| !found.score().is_mate_in(*most)) {
            output.info(&format!("no mate in {most} was found"));
        }
        self.last_value = Some((side, found.score().value()));
        Ok(Some((found.best(), found.lines[0].moves.get(1).copied())))
    }
}

/// What the command limits besides time.
fn limits(task: &Task<'_>) -> Limits {
    let go = task.go;
    let at_least_one = |number: i64| number.max(1);
    let lines = task.settings.lines;
    if go.infinite {
        return Limits { root_moves: task.only.clone(), lines, ..Limits::default() };
    }
    let mate = go.mate.and_then(|moves| u32::try_from(moves).ok()).filter(|moves| *moves > 0);
    let depth = go.depth.map(|depth| at_least_one(depth).min(199) as u32);
    let nodes = go.nodes.map(|nodes| at_least_one(nodes) as u64);
    let is_limited = depth.is_some() || nodes.is_some() || task.time.is_some();
    Limits {
        depth: depth.or_else(|| {
            mate.filter(|_| !is_limited)
                .map(|moves| moves.saturating_mul(2).saturating_add(MATE_PLIES).min(199))
        }),
        nodes: nodes.or_else(|| (!is_limited && mate.is_none()).then_some(NODES)),
        mate,
        root_moves: task.only.clone(),
        lines,
    }
}

/// Watches a search: its clock, the session's signals, and its reports.
struct Watcher<'a> {
    task: &'a Task<'a>,
    game: &'a Game,
    /// Present if lines have `wdl`.
    chances: Option<Chances>,
    output: &'a Output,
    limits: Limits,
    /// There is only one move, and its value is not asked for.
    is_forced: bool,
    /// The value at the engine's last move.
    last_value: Option<f64>,
    /// Since the search began.
    started: Stopwatch,
    /// The best move of the last iteration.
    best: Option<Move>,
}

impl Watcher<'_> {
    /// The engine's own time on this move; `None` while it ponders.
    fn own_time(&self) -> Option<Duration> {
        self.task.signal.own_time().map(Stopwatch::elapsed)
    }

    fn is_at_limit(&self, found: &Found) -> bool {
        let by_depth = self.limits.depth.is_some_and(|depth| found.depth >= depth);
        let by_mate = self.limits.mate.is_some_and(|most| found.score().is_mate_in(most));
        by_depth || by_mate
    }

    fn report(&mut self, found: &Found) {
        let (game, chances) = (self.game, &mut self.chances);
        let wdl = |line: &Line| match chances.as_mut().map(|chances| chances.of(game, line)) {
            Some([win, draw, loss]) => format!(" wdl {win} {draw} {loss}"),
            None => String::new(),
        };
        let moves = |line: &Line| self.task.settings.notation.line(game.position(), &line.moves).join(" ");
        for line in info(found, self.started.elapsed(), moves, wdl) {
            self.output.line(&line);
        }
    }
}

impl Control for Watcher<'_> {
    fn should_stop(&mut self, nodes: u64) -> bool {
        if self.task.signal.is_stopped() || self.output.is_broken() {
            return true;
        }
        let Some(elapsed) = self.own_time() else { return false };
        self.limits.nodes.is_some_and(|most| nodes >= most)
            || self.task.time.is_some_and(|time| elapsed >= time.most)
    }

    fn goes_on(&mut self, found: &Found) -> bool {
        self.report(found);
        let is_undecided = self.best.is_some_and(|best| best != found.best());
        self.best = Some(found.best());
        let Some(elapsed) = self.own_time() else { return true };
        let fall = self.last_value.map_or(0.0, |last| last - found.score().value());
        let stability = Stability { most: 0, second: 0, is_undecided, fall };
        let is_enough = |time: Allowance| self.is_forced || !time.allows_iteration(elapsed, &stability);
        !self.is_at_limit(found) && !self.task.time.is_some_and(is_enough)
    }
}

/// The `info` lines of what was found so far, with the text of the moves; `wdl` follows the score.
fn info(
    found: &Found,
    elapsed: Duration,
    moves: impl Fn(&Line) -> String,
    mut wdl: impl FnMut(&Line) -> String,
) -> Vec<String> {
    let Found { depth, selective_depth, nodes, tablebase_hits, hash_permill, .. } = found;
    let speed = u128::from(*nodes) * 1000 / elapsed.as_millis().max(1);
    let line = |(number, line): (usize, &Line)| {
        let score = match line.score {
            Score::Centipawns(centipawns) => format!("cp {centipawns}"),
            Score::Mate(moves) => format!("mate {moves}"),
        };
        let bound = if line.is_lower_bound { " lowerbound" } else { "" };
        format!(
            "info depth {depth} seldepth {selective_depth} multipv {number} score {score}{bound}{} nodes {nodes} nps {speed} \
             hashfull {hash_permill} tbhits {tablebase_hits} time {} pv {}",
            wdl(line),
            elapsed.as_millis(),
            moves(line)
        )
    };
    (1..).zip(&found.lines).map(line).collect()
}

impl Evaluation {
    /// That of `DC0Model`, or the shipped one if that is of another kind.
    fn of_net(model: &Checkpoint, output: &Output) -> Self {
        let (net, kind) = match NnueNet::shared(&model.spec, &model.weights) {
            Ok(net) => {
                output.info("SearchMode alphabeta evaluates with the value of DC0Model's net, on the CPU");
                (net, model.spec.value_head.kind)
            }
            Err(cause) => {
                output.info(&format!(
                    "SearchMode alphabeta evaluates with az_nnue, the shipped NNUE, on the CPU; the net of DC0Model is not used: \
                     {cause}"
                ));
                let Checkpoint { spec, weights, .. } = &*shipped_nnue().net;
                (NnueNet::shared(spec, weights).expect("it is an nnue"), spec.value_head.kind)
            }
        };
        Self::Net { net, knows_draws: kind == ValueHead::Wdl }
    }

    /// Makes evaluators for the threads of a search.
    fn evaluators(&self) -> Box<MakeStaticEvaluator<'static>> {
        match self {
            Self::Net { net, .. } => {
                let net = Arc::clone(net);
                Box::new(move || Box::new(NnueEvaluation::new(Arc::clone(&net))))
            }
            Self::Material => Box::new(|| Box::<PieceSquares>::default()),
        }
    }

    /// What shows the chances of lines, if anything can.
    fn chances(&self, settings: &Settings, output: &Output) -> Option<Chances> {
        let cause = match self {
            Self::Net { net, knows_draws: true } => {
                return Some(Chances { line: NnueLine::new(Arc::clone(net)), fit: settings.alphabeta_fit() });
            }
            Self::Net { .. } => "the net's value head is scalar and gives no draw probability",
            Self::Material => "material gives no draw probability",
        };
        output.info(&format!("UCI_ShowWDL has no effect: {cause}"));
        None
    }
}

/// The nodes of the signature and nodes per second with some evaluation, in the form that match servers read.
pub fn alphabeta_bench(
    depth: u32,
    selectivity: &SelectivityParams,
    make_evaluator: &MakeStaticEvaluator<'_>,
) -> Result<String, TablebaseError> {
    let started = Stopwatch::start();
    let nodes = bench::nodes(depth, selectivity, make_evaluator)?;
    let seconds = started.elapsed().max(Duration::from_millis(1)).as_secs_f64();
    Ok(format!("{nodes} nodes {:.0} nps", nodes as f64 / seconds))
}
