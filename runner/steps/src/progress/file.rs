//! How far a step is, in a file that others may read while it goes on. It lies in the step's own work, which goes once the step is
//! finished, and no result depends on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use dc0_process::clock::{self, Stopwatch};

/// The file's name in the work of a step.
pub const FILE: &str = "progress.json";

/// The file is written no more often than this.
const EVERY: Duration = Duration::from_secs(1);

/// What the file says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Standing {
    /// What the step is, in words.
    pub label: String,
    /// What is counted, such as `games`.
    pub unit: String,
    /// Units that were done before the process took the step up.
    pub before: u64,
    /// Units that are done, those from before included.
    pub done: u64,
    /// Units of the whole step.
    pub total: u64,
    /// Seconds that the step has taken in this process.
    pub seconds: f64,
    /// When the file was written.
    pub at: String,
    /// Work of this process by its kind, such as `evaluations`.
    pub work: BTreeMap<String, u64>,
    /// Figures that change as the step goes on, such as a loss.
    pub figures: BTreeMap<String, f64>,
    /// A game that is being played, in steps that play games.
    pub game: Option<Playing>,
}

/// A game as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playing {
    /// Its number in the step.
    pub number: u32,
    /// The FEN of the position that it begins with.
    pub start: String,
    /// The moves so far, packed as in tables.
    pub moves: Vec<u16>,
}

impl Standing {
    /// Reads a file; `None` where there is none, or none that can be read just now.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    /// Seconds until the step is done if it goes on as so far; `None` before anything is done.
    pub fn seconds_left(&self) -> Option<f64> {
        let done = self.done.checked_sub(self.before).filter(|done| *done > 0)?;
        let left = self.total.saturating_sub(self.done);
        Some(self.seconds / done as f64 * left as f64)
    }
}

/// Writes the file now and then.
pub(super) struct ProgressFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    standing: Standing,
    written: Option<Stopwatch>,
    /// When the game was taken.
    taken: Option<Stopwatch>,
    /// Whether writing has failed; it is said once.
    failed: bool,
}

impl ProgressFile {
    pub(super) fn new(path: PathBuf, standing: Standing) -> Self {
        let file =
            Self { path, state: Mutex::new(State { standing, written: None, taken: None, failed: false }) };
        file.tell(Stopwatch::start(), |_| {});
        file
    }

    /// Takes the game of a number as it stands, for the next time that the file is written. Several lanes offer theirs: a game is
    /// followed until it has not been offered for a while, because it has ended.
    pub(super) fn look_on(&self, number: u32, glimpse: impl FnOnce() -> Playing) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_followed = state.standing.game.as_ref().is_none_or(|game| game.number == number);
        let wait = if is_followed { EVERY } else { 3 * EVERY };
        if state.taken.is_none_or(|taken| taken.elapsed() >= wait) {
            state.standing.game = Some(glimpse());
            state.taken = Some(Stopwatch::start());
        }
    }

    /// Writes how far the step is if the last time is long enough ago.
    pub(super) fn tell(&self, step: Stopwatch, fill: impl FnOnce(&mut Standing)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.written.is_some_and(|written| written.elapsed() < EVERY) {
            return;
        }
        fill(&mut state.standing);
        // JSON has no word for figures that are no numbers.
        state.standing.figures.retain(|_, figure| figure.is_finite());
        state.standing.seconds = step.elapsed().as_secs_f64();
        state.standing.at = clock::timestamp();
        state.written = Some(Stopwatch::start());
        if let Err(cause) = write(&self.path, &state.standing)
            && !state.failed
        {
            state.failed = true;
            log::warn!(
                "{} cannot be written, so nobody else sees how far the step is: {cause}",
                self.path.display()
            );
        }
    }
}

/// Replaces the file whole, so that nobody reads half of one. It is not flushed: after a power cut it says nothing of use.
fn write(path: &Path, standing: &Standing) -> io::Result<()> {
    let beside = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let text = serde_json::to_string(standing).expect("text keys only");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::{EVERY, Playing, ProgressFile, Standing};
    use dc0_process::clock::Stopwatch;

    #[test]
    fn the_time_left_is_that_of_the_units_left() {
        let standing = Standing { before: 10, done: 30, total: 40, seconds: 8.0, ..Standing::default() };
        assert_eq!(standing.seconds_left(), Some(4.0));
        assert_eq!(Standing { done: 10, ..standing }.seconds_left(), None);
    }

    #[test]
    fn the_file_is_there_from_the_start_and_not_written_at_each_event() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("progress.json");
        let standing = Standing { label: "a step".to_owned(), total: 5, ..Standing::default() };
        let file = ProgressFile::new(path.clone(), standing);
        file.tell(Stopwatch::start(), |standing| standing.done = 3);
        let read = Standing::read(&path).expect("a file");
        assert_eq!((read.label.as_str(), read.done, read.total), ("a step", 0, 5));
        let of_loss = |loss| Standing { figures: [("loss".to_owned(), loss)].into(), ..Standing::default() };
        drop(ProgressFile::new(path.clone(), of_loss(f64::NAN)));
        assert!(Standing::read(&path).expect("a file").figures.is_empty());
        std::fs::write(&path, "{\"label\": \"a st").expect("writes");
        assert_eq!(Standing::read(&path), None);
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }

    #[test]
    fn one_game_is_followed_until_it_is_offered_no_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = ProgressFile::new(folder.path().join("progress.json"), Standing::default());
        let playing = |number, plies| Playing { number, start: "x".to_owned(), moves: vec![7; plies] };
        let pass = |time| {
            file.state.lock().expect("whole").taken = Stopwatch::start().earlier_by(time);
        };
        let shown = || file.state.lock().expect("whole").standing.game.clone();
        file.look_on(3, || playing(3, 1));
        file.look_on(3, || panic!("too soon"));
        pass(EVERY);
        file.look_on(4, || panic!("another one is followed"));
        file.look_on(3, || playing(3, 2));
        assert_eq!(shown(), Some(playing(3, 2)));
        pass(3 * EVERY);
        file.look_on(4, || playing(4, 1));
        assert_eq!(shown(), Some(playing(4, 1)));
    }
}
