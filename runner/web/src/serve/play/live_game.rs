//! One game: its state, and the thread that searches for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dc0_core::board::{Game, Side};
use dc0_core::poison::IgnorePoison as _;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::PlayError;
use super::snapshot::{SearchInfo, Snapshot};
use dc0_engine::play::pgn::{Tags, pgn, today};
use dc0_engine::play::record::Record;
use dc0_engine::play::score::Score;
use dc0_engine::uci::{Engine, SearchResult};
use dc0_process::clock::Stopwatch;

/// The queue length of a game's thread: cancelled searches that have not ended yet, and one more.
const QUEUE: usize = 4;

/// The longest that a request waits for a change.
const WAIT_LIMIT: Duration = Duration::from_secs(20);

/// A game in progress.
pub(super) struct LiveGame {
    id: String,
    about: Value,
    state: Mutex<State>,
    /// Counts the changes of the state.
    version: watch::Sender<u64>,
    /// Restarted by each request about the game.
    used: Mutex<Stopwatch>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct State {
    record: Record,
    /// The player's side; `None` if the player moves for both.
    human: Option<Side>,
    /// To the game's thread; `None` once the game has ended.
    searches: Option<SyncSender<SearchRequest>>,
    /// The search whose result is awaited.
    pending: Option<PendingSearch>,
    info: Option<SearchInfo>,
    error: Option<String>,
}

struct PendingSearch {
    /// The version of the state that requested it.
    number: u64,
    stop: Arc<AtomicBool>,
    /// Whether to play its move.
    plays: bool,
}

struct SearchRequest {
    number: u64,
    game: Game,
    stop: Arc<AtomicBool>,
}

impl LiveGame {
    /// Starts a game, whose first move may be the engine's. Its searches wait for permits.
    pub(super) fn start(
        id: String,
        about: Value,
        record: Record,
        human: Option<Side>,
        engine: Engine,
        permits: Arc<Semaphore>,
    ) -> Result<Arc<Self>, PlayError> {
        let (searches, requests) = sync_channel(QUEUE);
        let state = State { record, human, searches: Some(searches), pending: None, info: None, error: None };
        let game = Arc::new(Self {
            id,
            about,
            state: Mutex::new(state),
            version: watch::Sender::new(1),
            used: Mutex::new(Stopwatch::start()),
            thread: Mutex::new(None),
        });
        let (own, runtime) = (Arc::clone(&game), Handle::current());
        let thread = thread::Builder::new().name("game".to_owned());
        let thread = thread
            .spawn(move || own.work(engine, &requests, &permits, &runtime))
            .map_err(PlayError::Thread)?;
        *game.thread.lock().ignore_poison() = Some(thread);
        game.let_engine_move(&mut game.state())?;
        Ok(game)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    fn used(&self) -> MutexGuard<'_, Stopwatch> {
        self.used.lock().ignore_poison()
    }

    /// The time since the last request about the game.
    pub(super) fn idle_time(&self) -> Duration {
        self.used().elapsed()
    }

    /// The state of the game.
    pub(super) fn snapshot(&self) -> Value {
        *self.used() = Stopwatch::start();
        let state = self.state();
        let snapshot = Snapshot {
            id: &self.id,
            about: &self.about,
            version: *self.version.borrow(),
            record: &state.record,
            human: state.human,
            is_thinking: state.pending.is_some(),
            info: state.info.as_ref(),
            error: state.error.as_deref(),
            can_undo: undo_ply(&state).is_some(),
        };
        snapshot.json()
    }

    /// The game so far as PGN.
    pub(super) fn pgn(&self) -> String {
        *self.used() = Stopwatch::start();
        let state = self.state();
        let named = |name: &str| self.about[name].as_str().unwrap_or_default().to_owned();
        let net = Some(named("net")).filter(|net| !net.is_empty());
        let tags = Tags {
            event: "Game in the browser",
            date: today(),
            engine: concat!("dc0 ", env!("CARGO_PKG_VERSION")).to_owned(),
            side: state.human.unwrap_or(Side::White),
            plays_both: state.human.is_none(),
            net: net.unwrap_or_else(|| "the shipped net".to_owned()),
            simulations: self.about["simulations"]
                .as_u64()
                .and_then(|count| count.try_into().ok())
                .unwrap_or(0),
        };
        pgn(&state.record, &tags)
    }

    /// Waits, up to a limit, for a later version than `known`.
    pub(super) async fn wait_for_change(&self, known: u64) {
        *self.used() = Stopwatch::start();
        let mut version = self.version.subscribe();
        // Either way the caller takes a snapshot next.
        let _changed = timeout(WAIT_LIMIT, version.wait_for(|version| *version > known)).await.is_ok();
    }

    /// Plays the player's move, and lets the engine answer.
    pub(super) fn play(&self, text: &str) -> Result<(), PlayError> {
        let mut state = self.state();
        if state.record.is_over() {
            return Err(refused("the game is over"));
        }
        let turn = state.record.game.position().side_to_move();
        if state.human.is_some_and(|human| human != turn) {
            return Err(refused("it is the net's turn"));
        }
        let found = state.record.game.position().read_move(text);
        let mv = found.map_err(|error| refused(&error.to_string()))?;
        cancel_search(&mut state);
        state.record.play(mv, None);
        self.change(&mut state);
        self.let_engine_move(&mut state)
    }

    /// Takes the player's last move back, with the answer.
    pub(super) fn undo(&self) -> Result<(), PlayError> {
        let mut state = self.state();
        let ply = undo_ply(&state).ok_or_else(|| refused("there is no move of yours to take back"))?;
        cancel_search(&mut state);
        state.record.take_back_to(ply);
        state.info = None;
        self.change(&mut state);
        Ok(())
    }

    /// Lets the engine move for the side to move; the player takes the other side.
    pub(super) fn go(&self) -> Result<(), PlayError> {
        let mut state = self.state();
        let turn = state.record.game.position().side_to_move();
        self.search(&mut state, true)?;
        if state.human.is_some() {
            state.human = Some(turn.other());
        }
        Ok(())
    }

    /// Searches for the best moves without playing one.
    pub(super) fn hint(&self) -> Result<(), PlayError> {
        self.search(&mut self.state(), false)
    }

    /// Ends the search under way; its result so far is used.
    pub(super) fn stop(&self) {
        if let Some(search) = &self.state().pending {
            search.stop.store(true, Ordering::SeqCst);
        }
    }

    /// Ends the game; its thread ends after the search under way, and waiting requests are answered.
    pub(super) fn close(&self) {
        let mut state = self.state();
        cancel_search(&mut state);
        state.searches = None;
        self.change(&mut state);
    }

    /// Waits for the thread of a closed game.
    pub(super) fn join(&self) {
        let thread = self.thread.lock().ignore_poison().take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread of game {} has failed; please report the message above", self.id);
        }
    }

    fn change(&self, state: &mut State) {
        state.error = None;
        self.version.send_modify(|version| *version += 1);
    }

    /// Lets the engine move if it has the turn.
    fn let_engine_move(&self, state: &mut State) -> Result<(), PlayError> {
        let turn = state.record.game.position().side_to_move();
        let is_engines = state.human.is_some_and(|human| human != turn);
        if is_engines && !state.record.is_over() { self.search(state, true) } else { Ok(()) }
    }

    fn search(&self, state: &mut State, plays: bool) -> Result<(), PlayError> {
        if state.record.is_over() {
            return Err(refused("the game is over"));
        }
        if state.pending.is_some() {
            return Err(refused("the net is thinking already"));
        }
        let (number, stop) = (*self.version.borrow() + 1, Arc::new(AtomicBool::new(false)));
        let request = SearchRequest { number, game: state.record.game.clone(), stop: Arc::clone(&stop) };
        match state.searches.as_ref().map(|searches| searches.try_send(request)) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => {
                return Err(refused("the last search has not ended yet; try again in a moment"));
            }
            Some(Err(TrySendError::Disconnected(_))) | None => {
                return Err(refused("the engine of this game has ended; begin another game"));
            }
        }
        state.pending = Some(PendingSearch { number, stop, plays });
        self.change(state);
        Ok(())
    }

    /// Runs searches until the game ends.
    fn work(
        &self,
        mut engine: Engine,
        requests: &Receiver<SearchRequest>,
        permits: &Semaphore,
        runtime: &Handle,
    ) {
        for request in requests {
            if request.stop.load(Ordering::SeqCst) && !self.is_awaited(&request) {
                continue;
            }
            let permit = runtime.block_on(permits.acquire()).expect("the semaphore is never closed");
            let found =
                caught(|| engine.search(&request.game, &request.stop).map_err(|error| error.to_string()));
            drop(permit);
            // An engine that has panicked is not used again.
            let is_whole = found.is_some();
            let failed = || {
                Err("the search has failed; please report the message in the server's terminal".to_owned())
            };
            self.finish(&request, found.unwrap_or_else(failed));
            if !is_whole {
                return;
            }
        }
    }

    fn is_awaited(&self, request: &SearchRequest) -> bool {
        self.state().pending.as_ref().is_some_and(|search| search.number == request.number)
    }

    /// Applies the result of a search, if it is still awaited.
    fn finish(&self, request: &SearchRequest, found: Result<SearchResult, String>) {
        let mut state = self.state();
        let Some(search) = state.pending.take_if(|search| search.number == request.number) else { return };
        let mut error = None;
        match found {
            Ok(found) => {
                state.info = Some(SearchInfo::new(&request.game, &found));
                if search.plays {
                    let line = &found.lines[found.chosen];
                    let score = Score::from_line(line, request.game.position().side_to_move());
                    state.record.play(line.moves[0], Some(score));
                }
            }
            Err(cause) => error = Some(cause),
        }
        self.change(&mut state);
        state.error = error;
    }
}

/// The result of some work; `None` if it panics.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The ply that undo returns to; `None` if there is no move to take back.
fn undo_ply(state: &State) -> Option<usize> {
    match state.human {
        Some(human) => state.record.last_turn_of(human),
        None => state.record.game.ply().checked_sub(1),
    }
}

/// Ends the search under way and drops its result.
fn cancel_search(state: &mut State) {
    if let Some(search) = state.pending.take() {
        search.stop.store(true, Ordering::SeqCst);
    }
}

fn refused(message: &str) -> PlayError {
    PlayError::Refused(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_in_a_search_is_caught() {
        assert_eq!(caught(|| 7), Some(7));
        assert_eq!(caught(|| -> u32 { panic!("a test") }), None);
    }
}
