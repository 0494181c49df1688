//! How a run stands: what its journal says, what step it is in, and whether a process works on it. What is half written or cut
//! off is passed over and read again the next time.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::library::{Found, Kind, Library};
use super::shard;
use dc0_process::clock;
use dc0_runs::{Holder, place};
use dc0_steps::progress::{FILE, Playing, Standing};

/// Events of the journal that are shown.
const SHOWN: usize = 12;

/// What a journal says.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Steps that are finished or were taken over.
    finished: usize,
    /// Seconds of all steps.
    seconds: f64,
    /// Short identity and kind of the step that was begun and has not ended.
    open: Option<(String, String)>,
    /// Whether it ended because somebody asked.
    is_stopped: bool,
    /// When anything happened last.
    last: String,
    /// The last events.
    recent: Vec<Value>,
}

impl Journal {
    /// Lines that are no JSON were cut short by a kill, or are being written.
    fn read(text: &str) -> Self {
        let mut journal = Self::default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for line in &lines {
            journal.take(line);
        }
        journal.recent = lines.into_iter().rev().take(SHOWN).collect();
        journal
    }

    fn take(&mut self, line: &Value) {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        self.last = text("at");
        let seconds = line["secs"].as_f64().unwrap_or_default();
        match line["event"].as_str().unwrap_or_default() {
            "started" => {
                self.open = Some((text("step"), text("kind")));
                self.is_stopped = false;
            }
            "finished" | "taken over" => {
                self.open = None;
                self.finished += 1;
                self.seconds += seconds;
            }
            "ended early" => {
                self.is_stopped = true;
                self.seconds += seconds;
            }
            _ => {}
        }
    }
}

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
    let record = library.document(run, "run.json");
    let read = |bytes: &[u8]| Journal::read(&String::from_utf8_lossy(bytes));
    let journal = library.file(run, "journal.jsonl").and_then(|path| library.journals.get(&path, read));
    let journal = journal.unwrap_or_default();
    let standing = journal.open.as_ref().and_then(|(step, _)| {
        let file = format!("steps/work/{step}/{FILE}");
        library.file(run, &file).and_then(|path| Standing::read(&path))
    });
    let lock = library.file(run, "run.lock");
    let worker = lock.as_deref().map_or(Worker::Nobody, |path| locks.holder(path));
    let state = state(&journal, worker.is_at_work(standing.as_ref()));
    // What a killed process has told of a step says nothing of how far the next one is.
    let is_own = |standing: &Standing| {
        let taken = lock.as_deref().and_then(|path| fs::metadata(path).ok()?.modified().ok());
        worker.process().is_none() || taken.is_none_or(|taken| !is_before(&standing.at, taken))
    };
    let standing = standing.filter(is_own);
    let generations = library.document(run, "generations.json").as_array().map_or(0, Vec::len);
    json!({
        "path": run.path,
        "name": run.name(),
        "state": state,
        "process": worker.process(),
        "script": record["script"]["file"],
        "seed": record["seed"],
        "device": record["environment"]["device"],
        "steps": journal.finished,
        "seconds": journal.seconds,
        "last": journal.last,
        "generation": generations.checked_sub(1),
        "step": step(&journal, standing),
        "recent": journal.recent,
    })
}

/// `running`, `stopped` (in a step, by Ctrl-C or an error), `cut` (in a step, by a kill or a crash) or `rests`.
fn state(journal: &Journal, is_running: bool) -> &'static str {
    match (is_running, &journal.open) {
        (true, _) => "running",
        (false, Some(_)) if journal.is_stopped => "stopped",
        (false, Some(_)) => "cut",
        (false, None) => "rests",
    }
}

/// The step that is under way or was cut short.
fn step(journal: &Journal, standing: Option<Standing>) -> Value {
    let Some((identity, kind)) = &journal.open else { return Value::Null };
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
    let mut last = shard::plies(&game.start, &game.moves, &|_| None).pop()?;
    last["title"] = format!("game {}", game.number).into();
    last["ply"] = game.moves.len().into();
    Some(last)
}

/// A sweep in a line of the list.
pub(super) fn sweep_summary(library: &Library, sweep: &Found, locks: &Locks) -> Value {
    let is_at_work = match library.file(sweep, "run.lock").map_or(Worker::Nobody, |path| locks.holder(&path))
    {
        Worker::Process(_) => true,
        Worker::Nobody => false,
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

/// Who works on a run.
#[derive(Debug, PartialEq, Eq)]
enum Worker {
    /// This process.
    Process(u32),
    Nobody,
    /// The system does not tell.
    Unknown,
}

/// Where the system does not tell, a step that has been told of within this time is under way.
const FRESH: Duration = Duration::from_secs(15);

impl Worker {
    fn process(&self) -> Option<u32> {
        if let Self::Process(number) = self { Some(*number) } else { None }
    }

    fn is_at_work(&self, standing: Option<&Standing>) -> bool {
        let is_fresh = |standing: &Standing| clock::since(&standing.at).is_some_and(|since| since < FRESH);
        match self {
            Self::Process(_) => true,
            Self::Nobody => false,
            Self::Unknown => standing.is_some_and(is_fresh),
        }
    }
}

/// All locks that the system tells this process of.
pub(super) struct Locks {
    /// Linux lists them; those of processes in other containers and on other machines are not among them.
    list: Option<String>,
    /// Where this process is.
    place: Option<String>,
}

impl Locks {
    /// As they are now.
    pub(super) fn read() -> Self {
        Self { list: fs::read_to_string("/proc/locks").ok(), place: place() }
    }

    /// The process that holds a lock, without touching the lock, whose file says who took it last.
    fn holder(&self, lock: &Path) -> Worker {
        let noted = fs::read_to_string(lock).ok().and_then(|text| Holder::of(&text));
        let (Some(noted), Some(inode), Some(list)) = (noted, inode(lock), &self.list) else {
            return Worker::Unknown;
        };
        if noted.place.is_some() && noted.place != self.place {
            return Worker::Unknown;
        }
        let is_held = list.lines().any(|line| holds(line, noted.process, inode));
        if is_held { Worker::Process(noted.process) } else { Worker::Nobody }
    }
}

/// Whether a moment that [`clock::timestamp`] has written, to the second, lies before another one.
fn is_before(moment: &str, other: SystemTime) -> bool {
    let moment = humantime::parse_rfc3339(moment).ok();
    moment.is_some_and(|moment| moment + Duration::from_secs(1) <= other)
}

/// Whether a line such as `1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF` is of a file and a process; lines with an arrow
/// are of processes that wait.
fn holds(line: &str, process: u32, inode: u64) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", of, file, ..] = words.as_slice() else { return false };
    of.parse() == Ok(process) && file.rsplit(':').next().and_then(|number| number.parse().ok()) == Some(inode)
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| found.ino())
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Journal, Locks, Worker, holds, inode, is_before, playing, state};
    use dc0_process::clock;
    use dc0_steps::progress::Playing;
    use dc0_steps::progress::Standing;

    const LINES: &str = r#"{"at":"1","event":"created"}
{"at":"2","event":"started","kind":"self_play","secs":0.0,"step":"aa"}
{"at":"3","event":"finished","kind":"self_play","secs":2.5,"step":"aa"}
{"at":"4","event":"started","kind":"train","secs":0.0,"step":"bb"}
"#;

    #[test]
    fn a_journal_says_what_is_done_and_what_is_open() {
        let journal = Journal::read(&format!("{LINES}{{\"at\":\"5\",\"eve"));
        assert_eq!((journal.finished, journal.seconds, journal.last.as_str()), (1, 2.5, "4"));
        assert_eq!(journal.open, Some(("bb".to_owned(), "train".to_owned())));
        assert_eq!((state(&journal, true), state(&journal, false)), ("running", "cut"));
        let ended =
            "{\"at\":\"5\",\"event\":\"ended early\",\"kind\":\"train\",\"secs\":1.0,\"step\":\"bb\"}\n";
        assert_eq!(state(&Journal::read(&format!("{LINES}{ended}")), false), "stopped");
        let (whole, _) = LINES.split_at(LINES.find("{\"at\":\"4\"").expect("a line"));
        assert_eq!(state(&Journal::read(whole), false), "rests");
        assert_eq!(state(&Journal::read("\u{fffd}\n[1]\n7"), false), "rests");
    }

    #[test]
    fn where_the_system_does_not_tell_a_step_that_was_told_of_just_now_is_under_way() {
        let told = |at: &str| Standing { at: at.to_owned(), ..Standing::default() };
        assert!(Worker::Unknown.is_at_work(Some(&told(&clock::timestamp()))));
        assert!(!Worker::Unknown.is_at_work(Some(&told("2020-01-01T00:00:00Z"))));
        assert!(!Worker::Unknown.is_at_work(Some(&told("now"))) && !Worker::Unknown.is_at_work(None));
        assert!(
            !Worker::Nobody.is_at_work(Some(&told(&clock::timestamp())))
                && Worker::Process(1).is_at_work(None)
        );
    }

    #[test]
    fn only_the_process_that_has_the_lock_holds_it() {
        assert!(holds("1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!holds("1: -> FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!holds("1: FLOCK  ADVISORY  READ 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!holds("1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085685 0 EOF", 8624, 10_085_684));
        assert!(!holds("", 1, 1));
    }

    #[cfg(unix)]
    #[test]
    fn of_a_lock_that_was_taken_elsewhere_the_list_of_locks_says_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = folder.path().join("run.lock");
        let worker = |text: &str, is_held: bool| {
            std::fs::write(&lock, text).expect("writes");
            let inode = inode(&lock).expect("a file");
            let list = format!("1: FLOCK  ADVISORY  WRITE 7 fe:00:{inode} 0 EOF\n");
            let list = Some(if is_held { list } else { String::new() });
            Locks { list, place: Some("start pid:[1]".to_owned()) }.holder(&lock)
        };
        assert_eq!(worker("7\nstart pid:[1]\n", true), Worker::Process(7));
        assert_eq!(worker("7\nstart pid:[1]\n", false), Worker::Nobody);
        assert_eq!(worker("7\n", false), Worker::Nobody);
        assert_eq!(worker("7\nstart pid:[2]\n", false), Worker::Unknown);
        assert_eq!(worker("7\nother pid:[1]\n", false), Worker::Unknown);
        assert_eq!(worker("", false), Worker::Unknown);
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
