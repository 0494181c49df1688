//! `sweep(#{…}, |trial| …)`: the script's side of a sweep. Each turn of a trial calls the script's function once for each
//! replicate. Finished steps cost such a call nothing, so a trial can be ended, paused and continued at any report.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

mod trial;

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use rhai::{Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext, Position};

use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;

use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use crate::failure::Failure;
use crate::limits::STACK_BYTES;
use crate::order;
use dc0_process::exit::Exit;
use dc0_runs::sweep::board::{Board, Row};
use dc0_runs::sweep::events::{Ending, Event, Measured, Replicate};
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::schedule::{Job, Schedule};
use dc0_runs::sweep::trials::{self, Trials};
use dc0_steps::Summary;
use dc0_steps::handles::Fields;
use dc0_steps::host::{CallParams, LoneTurn, OpenParams, OpenSweep, SweepHost, SweepWithEvents};

pub use trial::OWN_NAMES;
use trial::{Ended, Trial, Turn, early_ending, measured, read_trial, report};

type Context<'a> = NativeCallContext<'a>;

/// State shared by the threads of a sweep.
struct Work {
    params: SweepParams,
    host: Arc<dyn SweepHost>,
    /// Whether this process runs single trials, and knows nothing of the values of others.
    is_alone: bool,
    state: Mutex<SweepState>,
    changed: Condvar,
    /// Held while the sweep's tables are written.
    updating: Mutex<()>,
}

#[derive(Default)]
struct SweepState {
    trials: Trials,
    /// Trials whose turn is under way.
    busy: BTreeSet<u32>,
    /// Whether a thread has failed, so that the others start nothing new.
    is_ending: bool,
}

/// A sweep that has ended.
#[derive(Clone)]
pub(super) struct FinishedSweep(Arc<(Board, String)>);

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    super::fields::register_fields::<FinishedSweep>(engine);
    engine.register_type_with_name::<Trial>("Trial");
    order::refuse::<Trial>(engine, order::FIELDS_HINT);
    engine.register_indexer_get(|context: Context<'_>, trial: &mut Trial, name: ImmutableString| {
        read_trial(&context, trial, &name)
    });
    engine.register_fn("report", |context: Context<'_>, trial: Trial, at: i64, value: Dynamic| {
        report(&context, &trial, at, &value)
    });
    let with_interval =
        |context: Context<'_>, trial: Trial, at: i64, value: Dynamic, low: Dynamic, high: Dynamic| {
            let group = [("value", value), ("low", low), ("high", high)];
            let map: Map = group.into_iter().map(|(name, value)| (name.into(), value)).collect();
            report(&context, &trial, at, &map.into())
        };
    engine.register_fn("report", with_interval);
    let shared = Arc::clone(session);
    engine.register_fn("sweep", move |context: Context<'_>, map: Map, run: FnPtr| {
        sweep(&context, &shared, &map, &run)
    });
}

fn sweep(
    context: &Context<'_>,
    session: &Arc<Session>,
    map: &Map,
    function: &FnPtr,
) -> Answer<FinishedSweep> {
    let call = Call::new("sweep", context);
    session.check_declared(&call)?;
    let call_params = call.read::<SweepParams>(map, Sampling(0))?;
    let params = call_params.params.clone();
    if let Some((name, _)) = params.space.dimensions().find(|(name, _)| OWN_NAMES.contains(name)) {
        let reserved = OWN_NAMES.join(", ");
        return Err(call.misuse(format!(
            "space.{name}: these names of a trial are reserved: {reserved}; choose another"
        )));
    }
    if params.objective.is_empty() {
        return Err(
            call.misuse("objective: is empty; name the trials' values, such as \"score\", or leave it out")
        );
    }
    if params.objective.chars().any(char::is_control) {
        return Err(call.misuse(format!("objective: expected text of one line, got {:?}", params.objective)));
    }
    session.name_sweep(&call, &params.name)?;
    let opened = match call.run(session.host.sweep(&call_params, &session.script_digest()))? {
        OpenSweep::Whole(opened) => opened,
        OpenSweep::Chosen => return Err(PartDone::error().into()),
        OpenSweep::Trials(turns) => {
            session.in_sweep(|| run_alone(context, session, function, &params, turns))?;
            return Err(PartDone::error().into());
        }
    };
    let work = Arc::new(Work::new(params, opened, false));
    session.in_sweep(|| work.run(context, session, function))?;
    let board = work.board();
    call.run(work.host.finish(&board))?;
    Ok(FinishedSweep(Arc::new((board, work.host.folder()))))
}

/// Runs some trials by themselves, one after the other. Fails if one of them has failed, after the others.
fn run_alone(
    context: &Context<'_>,
    session: &Arc<Session>,
    function: &FnPtr,
    params: &SweepParams,
    turns: Vec<LoneTurn>,
) -> Answer<()> {
    let call = Call::new("sweep", context);
    let mut failed = Vec::new();
    for LoneTurn { trial, open } in turns {
        let work = Arc::new(Work::new(params.clone(), call.run(open())?, true));
        work.turn(context, session, function, trial, None)?;
        let state = work.state();
        if let Some(because) = state.trials.get(trial).and_then(trials::Trial::because) {
            failed.push(format!("trial {trial} failed: {because}"));
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, failed.join("; ")).into_rhai(call.location()))
}

/// The variables around a function that it shares with the script, as texts.
fn captured(context: &Context<'_>, function: &FnPtr) -> Vec<String> {
    let shared = function.curry().iter().filter(|value| value.is_shared());
    shared.map(|value| described(context, value)).collect()
}

/// A value as a text that differs if the value does: of a net, a match or the like, its fields.
fn described(context: &Context<'_>, value: &Dynamic) -> String {
    if let Ok(list) = value.as_array_ref() {
        let items: Vec<String> = list.iter().map(|item| described(context, item)).collect();
        return format!("[{}]", items.join(", "));
    }
    if let Ok(map) = value.as_map_ref() {
        let entries = map.iter().map(|(name, value)| format!("{name:?}: {}", described(context, value)));
        return format!("#{{{}}}", entries.collect::<Vec<_>>().join(", "));
    }
    let fields = context.call_native_fn::<String>(rhai::FUNC_TO_DEBUG, (value.flatten_clone(),));
    fields.unwrap_or_else(|_| format!("{value:?}"))
}

/// The error of a trial's function that has changed variables around it: a trial that is finished is not called again when the sweep goes
/// on, so what it changed would be lost.
fn changed_outside<T>(call: &Call<'_>) -> Answer<T> {
    Err(call.misuse(
        "the trial's function changed a variable outside of itself; finished trials are not called again when the sweep is resumed, so \
         make the variable within the function, and read what trials have found from their tables",
    ))
}

/// Ends a script whose sweep this process does a part of; a script cannot catch it.
#[derive(Debug, Clone, Copy)]
pub struct PartDone;

impl PartDone {
    fn error() -> EvalAltResult {
        EvalAltResult::ErrorTerminated(Dynamic::from(Self), Position::NONE)
    }

    /// Whether an error is this end.
    pub fn is_it(error: &EvalAltResult) -> bool {
        matches!(error.unwrap_inner(), EvalAltResult::ErrorTerminated(token, _) if token.is::<Self>())
    }
}

/// A trial at work, until it is dropped. A panic ends the sweep, for which other threads would wait for ever otherwise.
struct Busy<'a> {
    work: &'a Work,
    trial: u32,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut state = self.work.state();
        state.busy.remove(&self.trial);
        state.is_ending |= std::thread::panicking();
        drop(state);
        self.work.changed.notify_all();
    }
}

impl Work {
    fn new(params: SweepParams, (host, events): SweepWithEvents, is_alone: bool) -> Self {
        let state = SweepState { trials: Trials::from_events(&events), ..SweepState::default() };
        let (state, changed, updating) = (Mutex::new(state), Condvar::new(), Mutex::default());
        Self { params, host, is_alone, state, changed, updating }
    }

    fn state(&self) -> MutexGuard<'_, SweepState> {
        self.state.lock().ignore_poison()
    }

    fn board(&self) -> Board {
        Board::new(&self.params, &self.state().trials)
    }

    /// Stores an event, then applies it to the state.
    fn note(&self, call: &Call<'_>, event: Event) -> Answer<()> {
        call.run(self.host.note(&event))?;
        self.state().trials.apply(&event);
        Ok(())
    }

    /// Runs turns until there is nothing left to do, with one thread for each parallel trial.
    fn run(self: &Arc<Self>, context: &Context<'_>, session: &Arc<Session>, function: &FnPtr) -> Answer<()> {
        let worker = || self.take_turns(context, session, function);
        if self.params.parallel == 1 {
            return worker();
        }
        std::thread::scope(|scope| {
            let start = |number| {
                let builder = std::thread::Builder::new().name(format!("trial {number}"));
                builder.stack_size(STACK_BYTES).spawn_scoped(scope, worker)
            };
            // No thread begins a trial before all have started.
            let mut state = self.state();
            let started: Vec<_> = (0..self.params.parallel).map(start).collect();
            state.is_ending |= started.iter().any(Result::is_err);
            drop(state);
            let ended = started.into_iter().map(|thread| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(cause) => {
                    let message = format!("sweep: cannot start a thread: {cause}");
                    let location = Call::new("sweep", context).location();
                    Err(Failure::new(Exit::Failed, message).into_rhai(location))
                }
            });
            ended.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn take_turns(
        self: &Arc<Self>,
        context: &Context<'_>,
        session: &Arc<Session>,
        function: &FnPtr,
    ) -> Answer<()> {
        let call = Call::new("sweep", context);
        let ended = loop {
            match self.next(&call) {
                Ok(Some((trial, until))) => {
                    let busy = Busy { work: self, trial };
                    let turn = self.turn(context, session, function, trial, until);
                    drop(busy);
                    if turn.is_err() {
                        break turn;
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        if ended.is_err() {
            self.state().is_ending = true;
            self.changed.notify_all();
        }
        ended
    }

    /// The next trial and the report up to which it may run; asks the sampler for a new one when that is due.
    fn next(&self, call: &Call<'_>) -> Answer<Option<(u32, Option<u32>)>> {
        let mut state = self.state();
        loop {
            if state.is_ending {
                return Ok(None);
            }
            let SweepState { trials, busy, .. } = &*state;
            let schedule = Schedule { params: &self.params, seed: self.host.seed(), trials, busy };
            match schedule.next() {
                Job::Done => return Ok(None),
                Job::Wait => state = self.changed.wait(state).ignore_poison(),
                Job::Resume { trial, until } => {
                    state.busy.insert(trial);
                    return Ok(Some((trial, until)));
                }
                Job::Start { trial, point, until } => {
                    let event = Event::Suggested { trial, point };
                    call.run(self.host.note(&event))?;
                    state.trials.apply(&event);
                    state.busy.insert(trial);
                    return Ok(Some((trial, until)));
                }
            }
        }
    }

    /// One turn of a trial: runs every replicate that has not got that far yet.
    fn turn(
        self: &Arc<Self>,
        context: &Context<'_>,
        session: &Arc<Session>,
        function: &FnPtr,
        trial: u32,
        until: Option<u32>,
    ) -> Answer<()> {
        for replicate in 0..self.params.replicates {
            let id = Replicate { trial, replicate };
            if self.is_behind(id, until) {
                let ending = self.replicate(context, session, function, id, until)?;
                if matches!(ending, Ending::Failed | Ending::Pruned) {
                    break;
                }
            }
        }
        // One at a time, so that an older table never replaces a newer one.
        let _updating = self.updating.lock().ignore_poison();
        let board = self.board();
        if let Some(line) = board.line(trial, !self.is_alone) {
            self.host.print(&line);
        }
        Call::new("sweep", context).run(self.host.update(&board))
    }

    /// Whether a turn has to call the function for a replicate.
    fn is_behind(&self, id: Replicate, until: Option<u32>) -> bool {
        let state = self.state();
        let progress = state.trials.get(id.trial).and_then(|trial| trial.replicates.get(&id.replicate));
        let Some(progress) = progress else { return true };
        match progress.ending {
            Some(Ending::Complete) => false,
            Some(Ending::Paused) => {
                let last = progress.reports.last().map(|report| report.at);
                until.is_none_or(|until| last.is_none_or(|last| last < until))
            }
            Some(Ending::Pruned | Ending::Failed) | None => true,
        }
    }

    fn replicate(
        self: &Arc<Self>,
        context: &Context<'_>,
        session: &Arc<Session>,
        function: &FnPtr,
        id: Replicate,
        until: Option<u32>,
    ) -> Answer<Ending> {
        let call = Call::new("sweep", context);
        self.note(&call, Event::Started { replicate: id })?;
        let point = self.state().trials.get(id.trial).map(|trial| trial.point.clone()).unwrap_or_default();
        let host = call.run(self.host.replicate(id, &point))?;
        let seed = self.host.seed() + u64::from(id.replicate);
        let SweepParams { backend, precision, .. } = self.params;
        let params = OpenParams { seed, backend, precision, from: Vec::new() };
        let info = call.run(host.open(&id.name(), CallParams { params, given: Value::group() }))?;
        let run = RunHandle::new(Arc::clone(&host), info, session.own_runs.clone());
        let turn = Arc::new(Turn { id, point, run, until, last: Mutex::default(), work: Arc::clone(self) });
        let before = captured(context, function);
        let called = function.call_within_context::<Dynamic>(context, (Trial(Arc::clone(&turn)),));
        let is_changed = captured(context, function) != before;
        let called = match called {
            Err(error) if early_ending(&error).is_none() => Err(error),
            _ if is_changed => changed_outside(&call),
            called => called,
        };
        let called = called.and_then(|value| {
            let rest = turn.run.0.await_rest();
            rest.map(|()| value).map_err(|failure| failure.into_rhai(call.location()))
        });
        let (spent, ended) = (turn.run.0.spent(), self.outcome(&call, session, &turn, called));
        // What a changed script does no more leaves the run of a trial that has come to its end, as it does others.
        let ended = ended.and_then(|ended| {
            if ended.0 == Ending::Complete {
                call.run(host.complete())?;
            }
            Ok(ended)
        });
        host.close();
        let (ending, result, because) = ended?;
        self.note(&call, Event::Ended { replicate: id, ending, result, because, spent })?;
        Ok(ending)
    }

    /// How a call of the script's function ended. Errors that are not the trial's own end the whole sweep.
    fn outcome(
        &self,
        call: &Call<'_>,
        session: &Session,
        turn: &Turn,
        called: Answer<Dynamic>,
    ) -> Answer<(Ending, Option<Measured>, Option<String>)> {
        let error = match called {
            Ok(value) => match measured(call, &value) {
                Ok(result) => return Ok((Ending::Complete, Some(result), None)),
                Err(problem) => call.misuse(format!("the trial's function returned {problem}")),
            },
            Err(error) => error,
        };
        if let Some(Ended(ending)) = early_ending(&error) {
            return Ok((ending, turn.last_report(), None));
        }
        let failure = session.describe(&error, &call.location().source);
        let is_first =
            !self.is_alone && turn.id.trial == 0 && self.board().rows.iter().all(|row| row.result.is_none());
        if is_first || failure.details.is_final || matches!(failure.exit, Exit::Interrupted | Exit::Storage) {
            return Err(error);
        }
        let location = failure.location.as_ref().map(|location| format!("{location}: ")).unwrap_or_default();
        Ok((Ending::Failed, None, Some(format!("{location}{}", failure.message))))
    }
}

impl Fields for FinishedSweep {
    const KIND: &'static str = "Sweep";

    fn fields(&self) -> Vec<(String, Value)> {
        use dc0_runs::sweep::observation::TrialState;
        let (board, folder) = &*self.0;
        let count = |state| Value::Int(board.count(state) as i64);
        let share = |(name, share): &(String, f64)| (name.clone(), Value::Float(*share));
        let fields = [
            ("name", Value::Text(board.name.clone())),
            ("folder", Value::Text(folder.clone())),
            ("best", board.best().map_or(Value::None, Row::to_value)),
            ("importances", Value::Group(board.importances.iter().map(share).collect())),
            ("complete", count(TrialState::Complete)),
            ("pruned", count(TrialState::Pruned)),
            ("paused", count(TrialState::Paused)),
            ("failed", count(TrialState::Failed)),
            ("trials", Value::List(board.by_number().into_iter().map(Row::to_value).collect())),
        ];
        fields.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn summary(&self) -> Option<&Summary> {
        None
    }
}
