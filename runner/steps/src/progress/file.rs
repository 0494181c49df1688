//! The progress of a step in a file that other processes can read while it runs. The file is in the step's work folder, which is
//! removed once the step is finished, and no result depends on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use std::{fs, io};

use dc0_core::event::GameSnapshot;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::regular;
use serde::{Deserialize, Serialize};

use crate::executor::FleetStatus;
use dc0_process::clock::{self, Stopwatch};

/// The file's name in the work folder of a step.
pub const FILE: &str = "progress.json";

/// Shortest time between two writes of the file.
const EVERY: Duration = Duration::from_secs(1);

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepStatus {
    /// A description of the step.
    pub label: String,
    /// What is counted, such as `games`.
    pub unit: String,
    /// Units that were done before this process resumed the step.
    pub before: u64,
    /// Units that are done, including earlier ones.
    pub done: u64,
    /// Units of the whole step.
    pub total: u64,
    /// Seconds that the step has taken in this process.
    pub seconds: f64,
    /// Time at which the file was written.
    pub at: String,
    /// Work of this process by kind, such as `evaluations`.
    pub work: BTreeMap<String, u64>,
    /// Figures that change during the step, such as a loss.
    pub figures: BTreeMap<String, f64>,
    /// A game in progress, in steps that play games.
    pub game: Option<GameSnapshot>,
    /// How the step's shards stand, and who does them, if workers do.
    pub fleet: Option<FleetStatus>,
}

impl StepStatus {
    /// Reads a file; `None` if there is none or it cannot be read.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&regular::read(path).ok()?).ok()
    }

    /// Seconds until the step is done at the speed so far; `None` before anything is done.
    pub fn seconds_left(&self) -> Option<f64> {
        let done = self.done.checked_sub(self.before).filter(|done| *done > 0)?;
        let left = self.total.saturating_sub(self.done);
        Some(self.seconds / done as f64 * left as f64)
    }
}

/// Writes the file at intervals.
pub(super) struct ProgressFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    standing: StepStatus,
    written: Option<Stopwatch>,
    /// Whether a thread is writing the file.
    is_written_now: bool,
    /// When the game's snapshot was taken.
    game_taken: Option<Stopwatch>,
    /// Whether writing has failed, which is reported only once.
    failed: bool,
}

impl ProgressFile {
    pub(super) fn new(path: PathBuf, standing: StepStatus) -> Self {
        let state = State { standing, written: None, is_written_now: false, game_taken: None, failed: false };
        let file = Self { path, state: Mutex::new(state) };
        if let Some(standing) = file.due(Stopwatch::start(), |_| {}) {
            file.write(&standing);
        }
        file
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Takes a snapshot of a game for the next write of the file. Several lanes offer their games: one is followed until it has not
    /// been offered for a while, because it has ended.
    pub(super) fn on_game(&self, number: u32, snapshot: impl FnOnce() -> GameSnapshot) {
        let mut state = self.state();
        let is_followed = state.standing.game.as_ref().is_none_or(|game| game.number == number);
        let wait = if is_followed { EVERY } else { 3 * EVERY };
        if state.game_taken.is_none_or(|game_taken| game_taken.elapsed() >= wait) {
            state.standing.game = Some(snapshot());
            state.game_taken = Some(Stopwatch::start());
        }
    }

    /// What is to be [written](Self::write) now, if the last write is over and long enough ago.
    #[must_use]
    pub(super) fn due(&self, step: Stopwatch, fill: impl FnOnce(&mut StepStatus)) -> Option<StepStatus> {
        let mut state = self.state();
        if state.is_written_now || state.written.is_some_and(|written| written.elapsed() < EVERY) {
            return None;
        }
        fill(&mut state.standing);
        // JSON cannot represent figures that are not finite.
        state.standing.figures.retain(|_, figure| figure.is_finite());
        state.standing.seconds = step.elapsed().as_secs_f64();
        state.standing.at = clock::timestamp();
        (state.written, state.is_written_now) = (Some(Stopwatch::start()), true);
        Some(state.standing.clone())
    }

    /// Writes what is due. No lock is held meanwhile, since the disk may be slow and lanes report what they do all the time.
    pub(super) fn write(&self, standing: &StepStatus) {
        let written = write(&self.path, standing);
        let mut state = self.state();
        state.is_written_now = false;
        if let Err(cause) = written
            && !std::mem::replace(&mut state.failed, true)
        {
            log::warn!(
                "{} cannot be written, so the live view shows no progress of the step: {cause}",
                self.path.display()
            );
        }
    }
}

/// Replaces the file atomically, so that readers never see half of it. It is not synced: after a power cut it is of no use.
fn write(path: &Path, standing: &StepStatus) -> io::Result<()> {
    let beside = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let text = serde_json::to_string(standing).expect("text keys only");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::{EVERY, GameSnapshot, ProgressFile, StepStatus};
    use dc0_process::clock::Stopwatch;

    #[test]
    fn the_time_left_is_extrapolated_from_this_process() {
        let standing = StepStatus { before: 10, done: 30, total: 40, seconds: 8.0, ..StepStatus::default() };
        assert_eq!(standing.seconds_left(), Some(4.0));
        assert_eq!(StepStatus { done: 10, ..standing }.seconds_left(), None);
    }

    #[test]
    fn the_file_exists_from_the_start_and_is_written_at_intervals() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("progress.json");
        let standing = StepStatus { label: "a step".to_owned(), total: 5, ..StepStatus::default() };
        let file = ProgressFile::new(path.clone(), standing);
        assert_eq!(file.due(Stopwatch::start(), |standing| standing.done = 3), None);
        let read = StepStatus::read(&path).expect("a file");
        assert_eq!((read.label.as_str(), read.done, read.total), ("a step", 0, 5));
        let with_loss =
            |loss| StepStatus { figures: [("loss".to_owned(), loss)].into(), ..StepStatus::default() };
        drop(ProgressFile::new(path.clone(), with_loss(f64::NAN)));
        assert!(StepStatus::read(&path).expect("a file").figures.is_empty());
        std::fs::write(&path, "{\"label\": \"a st").expect("writes");
        assert_eq!(StepStatus::read(&path), None);
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }

    #[test]
    fn lanes_go_on_while_the_file_is_written_and_what_came_meanwhile_is_written_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("progress.json");
        let file = ProgressFile::new(path.clone(), StepStatus::default());
        let due = |done| {
            file.state().written = Stopwatch::start().earlier_by(EVERY);
            file.due(Stopwatch::start(), |standing| standing.done = done)
        };
        let first = due(1).expect("the file was written long ago");
        assert_eq!(due(2), None, "the first is still written");
        file.on_game(0, || GameSnapshot { number: 0, start: "x".to_owned(), moves: Vec::new() });
        file.write(&first);
        file.write(&due(3).expect("the first is written"));
        assert_eq!(StepStatus::read(&path).map(|read| read.done), Some(3));
    }

    #[test]
    fn one_game_is_followed_until_it_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = ProgressFile::new(folder.path().join("progress.json"), StepStatus::default());
        let playing = |number, plies| GameSnapshot { number, start: "x".to_owned(), moves: vec![7; plies] };
        let pass = |time| {
            file.state().game_taken = Stopwatch::start().earlier_by(time);
        };
        let shown = || file.state().standing.game.clone();
        file.on_game(3, || playing(3, 1));
        file.on_game(3, || panic!("too soon"));
        pass(EVERY);
        file.on_game(4, || panic!("another one is followed"));
        file.on_game(3, || playing(3, 2));
        assert_eq!(shown(), Some(playing(3, 2)));
        pass(3 * EVERY);
        file.on_game(4, || playing(4, 1));
        assert_eq!(shown(), Some(playing(4, 1)));
    }
}
