//! The status of a run: its journal, its current step, and whether a process works on it. Half-written data are skipped and read
//! again the next time.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use dc0_analysis::web;
use dc0_core::board::Game;
use dc0_core::event::GameSnapshot;
use serde_json::{Value, json};

use super::library::{Found, Journal, Kind, Library};
use dc0_process::clock;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::observation::TrialState;
use dc0_runs::{Progress, StartedStep, Worker};
use dc0_steps::progress::{FILE, StepStatus};

pub(super) use dc0_runs::Locks;

/// A run's row in the list.
pub(super) fn summary(library: &Library, run: &Found, locks: &Locks) -> Value {
    let status = status(library, run, locks);
    let step = &status["step"];
    json!({
        "path": run.path, "name": run.name(), "kind": "run", "state": status["state"], "steps": status["steps"],
        "seconds": status["seconds"], "last": status["last"], "script": status["script"],
        "damage": status["damage"], "label": step["label"], "done": step["done"], "total": step["total"], "left": step["left"],
    })
}

/// Everything about a run but its tables.
pub(super) fn status(library: &Library, run: &Found, locks: &Locks) -> Value {
    let record = library.record(run);
    let journal = library.journal(run);
    let Journal { progress, steps: finished, seconds, recent } = &*journal;
    let standing_of = |begun: &StartedStep| {
        let file = run.folder.all_work().join(&begun.step).join(FILE);
        library.own(file).and_then(|path| StepStatus::read(&path))
    };
    let under_way: Vec<(&StartedStep, Option<StepStatus>)> =
        progress.under_way.iter().map(|begun| (begun, standing_of(begun))).collect();
    let latest =
        under_way.iter().filter_map(|(_, standing)| standing.as_ref()).max_by_key(|it| it.at.clone());
    let lock = library.own(run.folder.lock());
    let worker = lock.as_deref().map_or(Worker::None, |path| locks.holder(path));
    let state = state(progress, is_running(&worker, latest));
    // Progress reported by a killed process says nothing about the process that holds the lock now.
    let is_own = |standing: &StepStatus| {
        let taken = lock.as_deref().and_then(|path| fs::metadata(path).ok()?.modified().ok());
        worker.process().is_none() || taken.is_none_or(|taken| !is_before(&standing.at, taken))
    };
    let shown = |(begun, standing): (&StartedStep, Option<StepStatus>)| step(begun, standing.filter(is_own));
    // The one that was started last is the one that the script does; the others go on beside it.
    let mut steps: Vec<Value> = under_way.into_iter().map(shown).collect();
    let step = steps.pop().unwrap_or_default();
    json!({
        "path": run.path,
        "name": run.name(),
        "state": state,
        "damage": library.damage(run),
        "process": worker.process(),
        "script": record.script,
        "seed": record.seed,
        "device": record.device,
        "steps": finished,
        "seconds": seconds,
        "last": progress.last,
        "generation": library.generations(run).len().checked_sub(1),
        "step": step,
        "beside": steps,
        "recent": recent,
    })
}

/// `running`, `stopped` (in a step, by Ctrl-C or an error), `cut` (in a step, by a kill or a crash) or `rests`.
fn state(progress: &Progress, is_running: bool) -> &'static str {
    match (is_running, progress.under_way.is_empty()) {
        (true, _) => "running",
        (false, true) => "rests",
        (false, false) if progress.is_stopped => "stopped",
        (false, false) => "cut",
    }
}

/// A step that is under way or was cut short.
fn step(StartedStep { step: identity, kind }: &StartedStep, standing: Option<StepStatus>) -> Value {
    let Some(standing) = standing else {
        return json!({ "identity": identity, "kind": kind, "label": kind });
    };
    let left = standing.seconds_left();
    let rate = |count: u64| count as f64 / standing.seconds.max(1e-9);
    let rates: Vec<Value> = standing.work.iter().map(|(unit, count)| json!([unit, rate(*count)])).collect();
    json!({
        "identity": identity, "kind": kind, "label": standing.label, "unit": standing.unit, "done": standing.done,
        "total": standing.total, "elapsed": standing.seconds, "left": left, "rates": rates,
        "figures": standing.figures, "fleet": standing.fleet, "at": standing.at, "game": standing.game.and_then(|playing| live_game(&playing)),
    })
}

/// A game in progress, as the page's board shows it: its last position.
fn live_game(playing: &GameSnapshot) -> Option<Value> {
    let game = Game::from_packed(&playing.start, &playing.moves).ok()?;
    let mut last = web::games::last_position(&game);
    last["title"] = format!("game {}", playing.number).into();
    last["ply"] = playing.moves.len().into();
    Some(last)
}

/// A sweep's row in the list.
pub(super) fn sweep_summary(library: &Library, sweep: &Found, locks: &Locks) -> Value {
    let lock = library.own(sweep.folder.lock());
    let is_running = match lock.map_or(Worker::None, |path| locks.holder(&path)) {
        Worker::Process(_) => true,
        Worker::None if !sweep.folder.array().is_dir() => false,
        // Its trials decide, which other processes may run by themselves.
        Worker::None | Worker::Unknown => {
            library.trials(sweep).iter().any(|run| status(library, run, locks)["state"] == "running")
        }
    };
    let state = if is_running { "running" } else { "rests" };
    let board = library.board(sweep);
    let board = board.as_deref().and_then(|board| board.as_ref().ok());
    // Before its journal can be read, the folders of the trials' runs say how many have begun.
    let begun = || library.trials(sweep).iter().filter_map(Found::trial).collect::<BTreeSet<_>>().len();
    let count = |state: TrialState| board.map_or(0, |board| board.count(state));
    let best = board.and_then(Board::best).and_then(|row| row.result);
    // Its events have no times.
    let changed = |journal: PathBuf| fs::metadata(journal).ok()?.modified().ok();
    let last = library.own(sweep.folder.sweep_journal()).and_then(changed).map(clock::rfc3339);
    json!({
        "path": sweep.path, "name": sweep.name(), "kind": "sweep", "state": state, "last": last,
        "damage": library.damage(sweep),
        "trials": board.map_or_else(begun, |board| board.rows.len()),
        "complete": count(TrialState::Complete), "failed": count(TrialState::Failed),
        "objective": board.map(|board| &board.objective), "best": best.map(|best| [best.value, best.low, best.high]),
    })
}

/// All runs and sweeps, the running ones first.
pub(super) fn list(library: &Library) -> Value {
    let locks = Locks::read();
    let mut rows: Vec<Value> = library
        .all()
        .iter()
        .map(|found| match found.kind {
            Kind::Run => summary(library, found, &locks),
            Kind::Sweep => sweep_summary(library, found, &locks),
        })
        .collect();
    let rank = |row: &Value| {
        (row["state"] != "running", std::cmp::Reverse(row["last"].as_str().map(ToOwned::to_owned)))
    };
    rows.sort_by_key(rank);
    Value::Array(rows)
}

/// Where the system does not know whether a process lives, a step with progress within this time counts as running.
const FRESH: Duration = Duration::from_secs(15);

fn is_running(worker: &Worker, standing: Option<&StepStatus>) -> bool {
    let is_fresh = |standing: &StepStatus| clock::since(&standing.at).is_some_and(|since| since < FRESH);
    match worker {
        Worker::Process(_) => true,
        Worker::None => false,
        Worker::Unknown => standing.is_some_and(is_fresh),
    }
}

/// Whether a time that [`clock::timestamp`] has written, to the second, is before another one.
fn is_before(timestamp: &str, other: SystemTime) -> bool {
    let time = humantime::parse_rfc3339(timestamp).ok();
    time.is_some_and(|time| time + Duration::from_secs(1) <= other)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use serde_json::Value;

    use super::{GameSnapshot, Journal, Worker, is_before, is_running, live_game, state, step};
    use dc0_process::clock;
    use dc0_steps::executor::{FleetStatus, WorkerStatus};
    use dc0_steps::progress::StepStatus;

    #[test]
    fn a_run_that_is_not_running_is_stopped_or_cut_or_rests() {
        let started = r#"{"at":"4","event":"started","kind":"train","secs":0.0,"step":"bb"}"#;
        let journal = Journal::of(&format!("{started}\n{{\"at\":\"5\",\"eve"));
        assert_eq!((state(&journal.progress, true), state(&journal.progress, false)), ("running", "cut"));
        assert_eq!(journal.recent, [serde_json::from_str::<Value>(started).expect("JSON")]);
        let ended = r#"{"at":"5","event":"ended early","kind":"train","secs":1.0,"step":"bb"}"#;
        let later = |line: &str| state(&Journal::of(&format!("{started}\n{line}\n")).progress, false);
        assert_eq!(later(ended), "stopped");
        assert_eq!(later(&ended.replace("ended early", "finished")), "rests");
        assert_eq!(state(&Journal::of("\u{fffd}\n[1]\n7").progress, false), "rests");
    }

    #[test]
    fn recent_progress_counts_as_running_where_the_process_is_unknown() {
        let progress = |at: &str| StepStatus { at: at.to_owned(), ..StepStatus::default() };
        assert!(is_running(&Worker::Unknown, Some(&progress(&clock::timestamp()))));
        assert!(!is_running(&Worker::Unknown, Some(&progress("2020-01-01T00:00:00Z"))));
        assert!(!is_running(&Worker::Unknown, Some(&progress("now"))) && !is_running(&Worker::Unknown, None));
        assert!(
            !is_running(&Worker::None, Some(&progress(&clock::timestamp())))
                && is_running(&Worker::Process(1), None)
        );
    }

    #[test]
    fn a_step_shows_its_workers() {
        let worker = WorkerStatus { worker: "one".to_owned(), shards: 3, ..WorkerStatus::default() };
        let fleet = FleetStatus { waiting: 7, issued: 2, done: 3, workers: vec![worker] };
        let standing = StepStatus { fleet: Some(fleet), ..StepStatus::default() };
        let started = r#"{"at":"4","event":"started","kind":"self_play","secs":0.0,"step":"aa"}"#;
        let journal = Journal::of(&format!("{started}\n"));
        let shown = step(&journal.progress.under_way[0], Some(standing));
        let fleet = &shown["fleet"];
        assert_eq!((&fleet["waiting"], &fleet["workers"][0]["shards"]), (&7.into(), &3.into()), "{shown}");
        assert_eq!(fleet["workers"][0]["last_seen_secs"], serde_json::Value::Null);
    }

    #[test]
    fn a_live_game_shows_its_last_position() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned();
        let shown = live_game(&GameSnapshot { number: 5, start, moves: vec![12 + 64 * 28] }).expect("a game");
        assert_eq!((&shown["title"], &shown["ply"]), (&"game 5".into(), &1.into()));
        assert_eq!(shown["b"], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b");
        assert_eq!(shown["m"][0], "e4");
        assert!(live_game(&GameSnapshot { number: 5, start: "x".to_owned(), moves: Vec::new() }).is_none());
    }

    #[test]
    fn times_are_compared_to_the_second() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(86_400_900);
        assert!(is_before("1970-01-01T23:59:59Z", at) && !is_before("1970-01-02T00:00:00Z", at));
        assert!(!is_before("soon", at));
    }
}
