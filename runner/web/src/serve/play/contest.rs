//! One game: how it stands, and the thread that searches for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dc0_core::board::{Game, Side};
use serde_json::Value;

use super::told::{Scene, Thought, told};
use super::{PlayError, Used};
use crate::serve::connection::Slots;
use dc0_engine::play::record::Record;
use dc0_engine::uci::{Engine, SearchResult};

/// Searches that wait for a game's thread: those that were given up and have not ended yet, and one more.
const WAITING: usize = 4;

/// A game.
pub(super) struct Contest {
    id: String,
    about: Value,
    state: Mutex<State>,
    changed: Condvar,
    used: Used,
    orders: Mutex<Option<SyncSender<Order>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct State {
    /// Counts up with each change.
    version: u64,
    record: Record,
    /// The player's side; `None` where the player moves for both.
    human: Option<Side>,
    /// The search that is waited for.
    search: Option<Waited>,
    thought: Option<Thought>,
    error: Option<String>,
}

struct Waited {
    /// The version that it was asked for with.
    number: u64,
    stop: Arc<AtomicBool>,
    /// Whether its move is played.
    plays: bool,
}

/// A search that is asked for.
struct Order {
    number: u64,
    game: Game,
    stop: Arc<AtomicBool>,
}

impl Contest {
    /// Starts a game, whose first move may be the engine's.
    pub(super) fn start(
        (id, about): (String, Value),
        engine: Engine,
        (record, human): (Record, Option<Side>),
        searches: &Arc<Slots>,
    ) -> Result<Arc<Self>, PlayError> {
        let (orders, taken) = sync_channel(WAITING);
        let state = State { version: 1, record, human, search: None, thought: None, error: None };
        let contest = Arc::new(Self {
            id,
            about,
            state: Mutex::new(state),
            changed: Condvar::new(),
            used: Used::now(),
            orders: Mutex::new(Some(orders)),
            thread: Mutex::new(None),
        });
        let (own, searches) = (Arc::clone(&contest), Arc::clone(searches));
        let thread = thread::Builder::new().name("game".to_owned());
        let thread = thread.spawn(move || own.work(engine, &taken, &searches)).map_err(PlayError::Thread)?;
        *contest.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        contest.answer(&mut contest.state())?;
        Ok(contest)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long nobody has looked.
    pub(super) fn unused(&self) -> Duration {
        self.used.since()
    }

    /// How the game stands.
    pub(super) fn tell(&self) -> Value {
        self.used.touch();
        let state = self.state();
        told(&Scene {
            id: &self.id,
            about: &self.about,
            version: state.version,
            record: &state.record,
            human: state.human,
            is_thinking: state.search.is_some(),
            thought: state.thought.as_ref(),
            error: state.error.as_deref(),
            can_undo: undone_to(&state).is_some(),
        })
    }

    /// Waits for a later version than a known one, but not for long.
    pub(super) fn wait(&self, known: u64, patience: Duration) {
        self.used.touch();
        let state = self.state();
        let waited = self.changed.wait_timeout_while(state, patience, |state| state.version <= known);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Plays a move of the player's, and lets the engine answer.
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
        let played = found.map_err(|error| refused(&error.to_string()))?;
        give_up(&mut state);
        state.record.play(played, None);
        self.change(&mut state);
        self.answer(&mut state)
    }

    /// Takes the player's last move back, with the answer.
    pub(super) fn undo(&self) -> Result<(), PlayError> {
        let mut state = self.state();
        let ply = undone_to(&state).ok_or_else(|| refused("there is no move of yours to take back"))?;
        give_up(&mut state);
        state.record.take_back_to(ply);
        state.thought = None;
        self.change(&mut state);
        Ok(())
    }

    /// Lets the engine move for whoever has the turn; the player has the other side then.
    pub(super) fn go(&self) -> Result<(), PlayError> {
        let mut state = self.state();
        let turn = state.record.game.position().side_to_move();
        self.search(&mut state, true)?;
        if state.human.is_some() {
            state.human = Some(turn.other());
        }
        Ok(())
    }

    /// Looks for the best moves without playing one.
    pub(super) fn hint(&self) -> Result<(), PlayError> {
        self.search(&mut self.state(), false)
    }

    /// Ends the search under way; what it has found so far counts.
    pub(super) fn stop(&self) {
        if let Some(search) = &self.state().search {
            search.stop.store(true, Ordering::SeqCst);
        }
    }

    /// Ends the game; its thread ends with the search under way, and nobody waits for news any longer.
    pub(super) fn close(&self) {
        let mut state = self.state();
        give_up(&mut state);
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.change(&mut state);
    }

    /// Waits for the thread of a closed game.
    pub(super) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread of game {} has failed; please report the message above", self.id);
        }
    }

    fn change(&self, state: &mut State) {
        state.version += 1;
        state.error = None;
        self.changed.notify_all();
    }

    /// Lets the engine move if it has the turn.
    fn answer(&self, state: &mut State) -> Result<(), PlayError> {
        let turn = state.record.game.position().side_to_move();
        let is_engines = state.human.is_some_and(|human| human != turn);
        if is_engines && !state.record.is_over() { self.search(state, true) } else { Ok(()) }
    }

    fn search(&self, state: &mut State, plays: bool) -> Result<(), PlayError> {
        if state.record.is_over() {
            return Err(refused("the game is over"));
        }
        if state.search.is_some() {
            return Err(refused("the net is thinking already"));
        }
        let (number, stop) = (state.version + 1, Arc::new(AtomicBool::new(false)));
        let order = Order { number, game: state.record.game.clone(), stop: Arc::clone(&stop) };
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        match orders.as_ref().map(|orders| orders.try_send(order)) {
            Some(Ok(())) => {}
            Some(Err(TrySendError::Full(_))) => {
                return Err(refused("the last search has not ended yet; try again in a moment"));
            }
            Some(Err(TrySendError::Disconnected(_))) | None => {
                return Err(refused("the net of this game moves no more; begin another game"));
            }
        }
        state.search = Some(Waited { number, stop, plays });
        self.change(state);
        Ok(())
    }

    /// Searches until nobody can ask any more.
    fn work(&self, mut engine: Engine, orders: &Receiver<Order>, searches: &Arc<Slots>) {
        for order in orders {
            if order.stop.load(Ordering::SeqCst) && !self.is_waited_for(&order) {
                continue;
            }
            let slot = searches.take();
            let found = caught(|| engine.search(&order.game, &order.stop).map_err(|error| error.to_string()));
            drop(slot);
            // What a panic leaves of an engine is not searched with again.
            let is_whole = found.is_some();
            let failed = || {
                Err("the search has failed; please report the message in the server's terminal".to_owned())
            };
            self.take(&order, found.unwrap_or_else(failed));
            if !is_whole {
                return;
            }
        }
    }

    fn is_waited_for(&self, order: &Order) -> bool {
        self.state().search.as_ref().is_some_and(|search| search.number == order.number)
    }

    /// Takes what a search found, if it is still waited for.
    fn take(&self, order: &Order, found: Result<SearchResult, String>) {
        let mut state = self.state();
        let Some(search) = state.search.take_if(|search| search.number == order.number) else { return };
        let mut error = None;
        match found {
            Ok(found) => {
                state.thought = Some(Thought::new(&order.game, &found));
                if search.plays {
                    state.record.play(found.lines[found.chosen].moves[0], None);
                }
            }
            Err(cause) => error = Some(cause),
        }
        self.change(&mut state);
        state.error = error;
    }
}

/// What some work comes to; `None` where it panics.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The ply that the player's last move is taken back to; `None` where there is no such move.
fn undone_to(state: &State) -> Option<usize> {
    match state.human {
        Some(human) => state.record.last_turn_of(human),
        None => state.record.game.ply().checked_sub(1),
    }
}

/// Ends the search under way, and what it finds is not waited for.
fn give_up(state: &mut State) {
    if let Some(search) = state.search.take() {
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
    fn a_panic_of_a_search_is_no_panic_of_its_thread() {
        assert_eq!(caught(|| 7), Some(7));
        assert_eq!(caught(|| -> u32 { panic!("as a test") }), None);
    }
}
