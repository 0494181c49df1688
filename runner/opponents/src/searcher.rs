//! dc0's own alpha-beta search as a player: a program that needs no process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use dc0_core::alphabeta::{
    AlphaBeta, AlphaBetaParams, Control, Found, Limits, NnueEvaluation, PieceSquares, Score, StaticEvaluator,
    bench,
};
use dc0_core::arena::{Answer, Clock, Forfeit, NotBegun, Program};
use dc0_core::board::{Fault, Game, Tablebase, TablebaseError};
use dc0_core::durable;
use dc0_core::network::nnue::NnueNet;
use dc0_core::params::{Param as _, Value};
use dc0_process::clock::Stopwatch;

use crate::player::mate;

/// How long [`Program::answer`] waits.
const POLL: Duration = Duration::from_millis(100);

/// Part of an identity, for changes of games that the search's signature does not show.
const VERSION: i64 = 2;

/// The player's name in tables: its evaluation, its limits, and the parameters that are not the defaults.
pub(crate) fn name(params: &AlphaBetaParams) -> String {
    let limits = [(params.nodes, "nodes"), (params.depth.map(u64::from), "plies")];
    let limits = limits.into_iter().filter_map(|(limit, unit)| Some(format!("{} {unit}", limit?)));
    let (given, defaults) = (params.to_value(), AlphaBetaParams::default().to_value());
    let selectivity = |value: &Value| value.member("selectivity").cloned().unwrap_or_else(Value::group);
    let mut parts = vec!["alpha-beta (material)".to_owned()];
    parts.extend(limits);
    parts.extend(changes(&given, &defaults, &["nodes", "depth", "selectivity", "tablebases"]));
    parts.extend(params.tablebases.as_ref().map(|_| "tablebases".to_owned()));
    parts.extend(changes(&selectivity(&given), &selectivity(&defaults), &[]));
    parts.join(", ")
}

/// The members of a group that differ from the defaults, with their values.
fn changes(given: &Value, defaults: &Value, left_out: &[&str]) -> Vec<String> {
    let Value::Group(members) = given else { return Vec::new() };
    let is_shown =
        |name: &str, value: &Value| !left_out.contains(&name) && defaults.member(name) != Some(value);
    let shown = members.iter().filter(|(name, value)| is_shown(name, value));
    shown.map(|(name, value)| format!("{name} {value}")).collect()
}

/// All that decides its games: the parameters, the set of tablebases, and the signature of the search, which changes with its
/// behaviour.
pub(crate) fn identity(params: &AlphaBetaParams, tables: Option<&Tablebase>) -> Value {
    let mut identity = Value::of([
        ("evaluation", Value::Text("material".to_owned())),
        ("name", Value::Text(name(params))),
        ("params", params.to_value()),
        ("protocol", Value::Text("alphabeta".to_owned())),
        ("signature", Value::Int(bench::SIGNATURE as i64)),
        ("version", Value::Int(VERSION)),
    ]);
    if let Some(tables) = tables {
        identity.put("tablebases", Value::Text(tables.digest()));
    }
    identity
}

/// The digest of [`identity`].
pub(crate) fn digest(params: &AlphaBetaParams, tables: Option<&Tablebase>) -> String {
    durable::digest(identity(params, tables).canonical().as_bytes())
}

/// What a search came to, with the searcher.
type Thought = (AlphaBeta, Result<Found, TablebaseError>);

/// dc0's alpha-beta search with the values of an `nnue`, as a player of matches; `name` is the player's in messages.
pub fn alphabeta_with(
    net: &Arc<NnueNet>,
    params: &AlphaBetaParams,
    tables: Option<Tablebase>,
    name: &str,
) -> Box<dyn Program> {
    let net = Arc::clone(net);
    let make = move || Box::new(NnueEvaluation::new(Arc::clone(&net))) as _;
    let evaluation = Evaluation { make: Arc::new(make), tables };
    Box::new(Searcher::with_evaluation(params.clone(), name.to_owned(), evaluation))
}

/// What evaluates positions.
#[derive(Clone)]
struct Evaluation {
    make: Arc<dyn Fn() -> Box<dyn StaticEvaluator> + Send + Sync>,
    tables: Option<Tablebase>,
}

/// A player of one game after the other.
pub(crate) struct Searcher {
    limits: Limits,
    params: AlphaBetaParams,
    name: String,
    evaluation: Evaluation,
    state: State,
    stop: Arc<AtomicBool>,
    started: Stopwatch,
}

enum State {
    /// It waits for a position.
    Idle(AlphaBeta),
    Thinking(Receiver<Thought>),
    /// Its thread failed.
    Lost,
}

impl Searcher {
    pub(crate) fn new(params: &AlphaBetaParams, tables: Option<Tablebase>) -> Self {
        let material = Evaluation { make: Arc::new(|| Box::<PieceSquares>::default()), tables };
        Self::with_evaluation(params.clone(), name(params), material)
    }

    fn with_evaluation(params: AlphaBetaParams, name: String, evaluation: Evaluation) -> Self {
        let limits = Limits { depth: params.depth, nodes: params.nodes, ..Limits::default() };
        let state = State::Idle(evaluation.searcher(&params));
        Self { limits, params, name, evaluation, state, stop: Arc::default(), started: Stopwatch::start() }
    }

    /// The searcher, once the search that is under way has stopped.
    fn recovered(&mut self) -> AlphaBeta {
        self.stop.store(true, Ordering::Relaxed);
        let thought = match std::mem::replace(&mut self.state, State::Lost) {
            State::Idle(searcher) => Some(searcher),
            State::Thinking(thought) => thought.recv().ok().map(|(searcher, _)| searcher),
            State::Lost => None,
        };
        thought.unwrap_or_else(|| self.evaluation.searcher(&self.params))
    }
}

impl Evaluation {
    fn searcher(&self, params: &AlphaBetaParams) -> AlphaBeta {
        AlphaBeta::new(params, self.tables.clone(), &*self.make)
    }
}

/// Ends a search whose player is dropped or begins another game.
struct UntilStopped(Arc<AtomicBool>);

impl Control for UntilStopped {
    fn should_stop(&mut self, _: u64) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn goes_on(&mut self, _: &Found) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl Program for Searcher {
    fn begin(&mut self) -> Result<(), NotBegun> {
        let mut searcher = self.recovered();
        searcher.start_game();
        self.state = State::Idle(searcher);
        Ok(())
    }

    fn think(&mut self, game: &Game, _: Option<Clock>) {
        let mut searcher = self.recovered();
        self.stop = Arc::default();
        self.started = Stopwatch::start();
        let (sender, receiver) = channel();
        let (game, limits, mut control) =
            (game.clone(), self.limits.clone(), UntilStopped(Arc::clone(&self.stop)));
        // On a thread of its own, so that the match can be interrupted meanwhile.
        thread::spawn(move || {
            let found = searcher.search(&game, &limits, &mut control);
            // The receiver is gone where the match has ended.
            let _ended = sender.send((searcher, found));
        });
        self.state = State::Thinking(receiver);
    }

    fn answer(&mut self) -> Option<Result<Answer, Forfeit>> {
        let crashed = |detail: String| Some(Err(Forfeit { fault: Fault::Crash, detail }));
        let State::Thinking(thought) = &self.state else {
            return crashed(format!("{} was not given a position", self.name));
        };
        match thought.recv_timeout(POLL) {
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.state = State::Lost;
                crashed(format!("the thread of {} failed", self.name))
            }
            Ok((searcher, found)) => {
                self.state = State::Idle(searcher);
                let seconds = self.started.elapsed().as_secs_f64();
                let failed =
                    |error: TablebaseError| Forfeit { fault: Fault::Crash, detail: error.to_string() };
                Some(found.map(|found| answer(&found, seconds)).map_err(failed))
            }
        }
    }

    fn clock(&self) -> Option<Clock> {
        None
    }
}

impl Drop for Searcher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn answer(found: &Found, seconds: f64) -> Answer {
    let score = match found.score() {
        Score::Centipawns(centipawns) => f64::from(centipawns),
        Score::Mate(moves) => mate(i64::from(moves)),
    };
    let (depth, nodes) = (Some(found.depth), Some(found.nodes));
    Answer { played: found.best(), score: Some(score), depth, nodes, seconds }
}

#[cfg(test)]
mod tests {
    use dc0_core::alphabeta::{AlphaBetaParams, SelectivityParams};
    use dc0_core::arena::{Answer, Program as _};
    use dc0_core::board::{Game, Position};

    use super::{Searcher, digest, name};
    use crate::Opponent;

    fn play(searcher: &mut Searcher, game: &Game) -> Answer {
        searcher.think(game, None);
        loop {
            if let Some(answer) = searcher.answer() {
                return answer.expect("no fault");
            }
        }
    }

    #[test]
    fn names_and_digests_say_what_differs() {
        let plain = AlphaBetaParams::default();
        assert_eq!(name(&plain), "alpha-beta (material), 10000 nodes");
        let other = AlphaBetaParams {
            depth: Some(4),
            nodes: None,
            hash_mb: 1,
            selectivity: SelectivityParams { null_move: false, ..SelectivityParams::default() },
            ..AlphaBetaParams::default()
        };
        assert_eq!(name(&other), "alpha-beta (material), 4 plies, hash_mb 1, null_move false");
        assert_ne!(digest(&plain, None), digest(&other, None));
        assert_eq!(digest(&plain, None), digest(&plain.clone(), None));
    }

    #[test]
    fn missing_tablebases_are_refused() {
        let tablebases = Some("/no/such/folder".to_owned());
        let error = Opponent::alphabeta(&AlphaBetaParams { tablebases, ..AlphaBetaParams::default() });
        let message = error.expect_err("there are none").to_string();
        assert!(message.contains("/no/such/folder"), "{message}");
    }

    #[test]
    fn games_are_the_same_again() {
        let mut searcher =
            Searcher::new(&AlphaBetaParams { nodes: Some(2000), ..AlphaBetaParams::default() }, None);
        let mut games = Vec::new();
        for _ in 0..2 {
            searcher.begin().expect("it begins");
            let mut game = Game::initial();
            for _ in 0..12 {
                let answer = play(&mut searcher, &game);
                assert!(game.position().is_legal(answer.played) && answer.nodes <= Some(2000));
                game.play_unchecked(answer.played);
            }
            games.push(game.moves().to_vec());
        }
        assert_eq!(games[0], games[1]);
    }

    #[test]
    fn a_game_may_begin_during_a_search() {
        let params = AlphaBetaParams { nodes: None, depth: Some(199), ..AlphaBetaParams::default() };
        let mut searcher = Searcher::new(&params, None);
        searcher.think(&Game::initial(), None);
        assert!(searcher.answer().is_none());
        searcher.begin().expect("it begins");
        let mate = Position::from_fen("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1").expect("a position");
        searcher.think(&Game::from_position(mate), None);
        drop(searcher);
    }
}
