//! How a run stands: what its journal says, what step it is in, and whether a process works on it. What is half written or cut
//! off is passed over and read again the next time.

use std::fs;
use std::time::{Duration, SystemTime};

use dc0_core::board::Game;
use serde_json::{Value, json};

use super::library::{Found, Journal, Kind, Library};
use super::shard;
use dc0_process::clock;
use dc0_runs::{BegunStep, Progress, Worker};
use dc0_steps::progress::{FILE, Playing, Standing};

pub(super) use dc0_runs::Locks;

/// A run in a line of the list.
pub(super) fn summary(library: &Library, run: &Found, locks: &Locks) -> Value {
    let status = status(library, run, locks);
    let step = &status["step"];
    json!({
        "path": run.path, "name": run.name(), "kind": "run", "state": status["state"], "steps": status["steps"],
        "seconds": status["seconds"], "last": status["last"], "script": status["script"],
        "label": step["label"], "done": step["done"], "total": step["total"], "left": step["left"],
    })
}

/// Everything about a run but its tables.
pub(super) fn status(library: &Library, run: &Found, locks: &Locks) -> Value {
    let record = library.record(run);
    let journal = library.journal(run);
    let Journal { progress, recent } = &*journal;
    let standing = progress.under_way.as_ref().and_then(|begun| {
        let file = run.folder.all_work().join(&begun.step).join(FILE);
        library.own(file).and_then(|path| Standing::read(&path))
    });
    let lock = library.own(run.folder.lock());
    let worker = lock.as_deref().map_or(Worker::None, |path| locks.holder(path));
    let state = state(progress, is_at_work(&worker, standing.as_ref()));
    // What a killed process has told of a step says nothing of how far the next one is.
    let is_own = |standing: &Standing| {
        let taken = lock.as_deref().and_then(|path| fs::metadata(path).ok()?.modified().ok());
        worker.process().is_none() || taken.is_none_or(|taken| !is_before(&standing.at, taken))
    };
    let standing = standing.filter(is_own);
    json!({
        "path": run.path,
        "name": run.name(),
        "state": state,
        "process": worker.process(),
        "script": record.script,
        "seed": record.seed,
        "device": record.device,
        "steps": progress.finished,
        "seconds": progress.seconds,
        "last": progress.last,
        "generation": library.generations(run).len().checked_sub(1),
        "step": step(progress, standing),
        "recent": recent,
    })
}

/// `running`, `stopped` (in a step, by Ctrl-C or an error), `cut` (in a step, by a kill or a crash) or `rests`.
fn state(progress: &Progress, is_running: bool) -> &'static str {
    match (is_running, &progress.under_way) {
        (true, _) => "running",
        (false, Some(_)) if progress.is_stopped => "stopped",
        (false, Some(_)) => "cut",
        (false, None) => "rests",
    }
}

/// The step that is under way or was cut short.
fn step(progress: &Progress, standing: Option<Standing>) -> Value {
    let Some(BegunStep { step: identity, kind }) = &progress.under_way else { return Value::Null };
    let Some(standing) = standing else {
        return json!({ "identity": identity, "kind": kind, "label": kind });
    };
    let left = standing.seconds_left();
    let rate = |count: u64| count as f64 / standing.seconds.max(1e-9);
    let rates: Vec<Value> = standing.work.iter().map(|(unit, count)| json!([unit, rate(*count)])).collect();
    json!({
        "identity": identity, "kind": kind, "label": standing.label, "unit": standing.unit, "done": standing.done,
        "total": standing.total, "elapsed": standing.seconds, "left": left, "rates": rates,
        "figures": standing.figures, "at": standing.at, "game": standing.game.and_then(|game| playing(&game)),
    })
}

/// A game that is being played, as the page's board shows it: its last position.
fn playing(game: &Playing) -> Option<Value> {
    let played = Game::from_packed(&game.start, &game.moves).ok()?;
    let mut last = shard::plies(&played, |_| None).pop()?;
    last["title"] = format!("game {}", game.number).into();
    last["ply"] = game.moves.len().into();
    Some(last)
}

/// A sweep in a line of the list.
pub(super) fn sweep_summary(library: &Library, sweep: &Found, locks: &Locks) -> Value {
    let lock = library.own(sweep.folder.lock());
    let is_at_work = match lock.map_or(Worker::None, |path| locks.holder(&path)) {
        Worker::Process(_) => true,
        Worker::None => false,
        // Then its trials tell.
        Worker::Unknown => {
            library.trials(sweep).iter().any(|run| status(library, run, locks)["state"] == "running")
        }
    };
    let state = if is_at_work { "running" } else { "rests" };
    let trials = library.files(sweep, "trials").len();
    json!({ "path": sweep.path, "name": sweep.name(), "kind": "sweep", "state": state, "trials": trials })
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

/// Where the system does not tell, a step that has been told of within this time is under way.
const FRESH: Duration = Duration::from_secs(15);

fn is_at_work(worker: &Worker, standing: Option<&Standing>) -> bool {
    let is_fresh = |standing: &Standing| clock::since(&standing.at).is_some_and(|since| since < FRESH);
    match worker {
        Worker::Process(_) => true,
        Worker::None => false,
        Worker::Unknown => standing.is_some_and(is_fresh),
    }
}

/// Whether a moment that [`clock::timestamp`] has written, to the second, lies before another one.
fn is_before(moment: &str, other: SystemTime) -> bool {
    let moment = humantime::parse_rfc3339(moment).ok();
    moment.is_some_and(|moment| moment + Duration::from_secs(1) <= other)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use serde_json::Value;

    use super::{Journal, Worker, is_at_work, is_before, playing, state};
    use dc0_process::clock;
    use dc0_steps::progress::Playing;
    use dc0_steps::progress::Standing;

    #[test]
    fn a_run_that_is_not_under_way_was_stopped_or_cut_short_or_rests() {
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
    fn where_the_system_does_not_tell_a_step_that_was_told_of_just_now_is_under_way() {
        let told = |at: &str| Standing { at: at.to_owned(), ..Standing::default() };
        assert!(is_at_work(&Worker::Unknown, Some(&told(&clock::timestamp()))));
        assert!(!is_at_work(&Worker::Unknown, Some(&told("2020-01-01T00:00:00Z"))));
        assert!(!is_at_work(&Worker::Unknown, Some(&told("now"))) && !is_at_work(&Worker::Unknown, None));
        assert!(
            !is_at_work(&Worker::None, Some(&told(&clock::timestamp())))
                && is_at_work(&Worker::Process(1), None)
        );
    }

    #[test]
    fn of_a_game_that_is_being_played_the_last_position_is_told() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned();
        let told = playing(&Playing { number: 5, start, moves: vec![12 + 64 * 28] }).expect("a game");
        assert_eq!((&told["title"], &told["ply"]), (&"game 5".into(), &1.into()));
        assert_eq!(told["b"], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b");
        assert_eq!(told["m"][0], "e4");
        assert!(playing(&Playing { number: 5, start: "x".to_owned(), moves: Vec::new() }).is_none());
    }

    #[test]
    fn a_moment_is_known_to_the_second() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(86_400_900);
        assert!(is_before("1970-01-01T23:59:59Z", at) && !is_before("1970-01-02T00:00:00Z", at));
        assert!(!is_before("soon", at));
    }
}
