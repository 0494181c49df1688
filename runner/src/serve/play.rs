//! Games against nets in the browser: a hall of games, each with an engine and a thread of its own. Their number, their searches
//! at once and the simulations of a search are limited, so that runs on the same machine keep most of it.

mod contest;
mod told;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dc0_core::board::{Game, GameTextError, Side};
use dc0_core::network::EvaluatorError;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::connection::Slots;
use super::library::{Found, Kind, Library};
use crate::clock::Stopwatch;
use crate::play::record::Record;
use crate::uci::{Engine, Settings, SettingsError};
use contest::Contest;

/// Games at once. Chosen: each has a copy of a net, and a tree.
const MOST_GAMES: usize = 8;

/// Searches at once; the others wait.
const MOST_SEARCHES: usize = 2;

/// A game that nobody has looked at for this long makes room for others.
const IDLE: Duration = Duration::from_mins(1);

/// A game that nobody has looked at for this long ends.
const FORGOTTEN: Duration = Duration::from_mins(30);

/// A request that waits for news is answered after this time at the latest.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why something is not done.
#[derive(Debug, Error)]
pub(super) enum PlayError {
    #[error("this is no request that is understood here: {0}")]
    Body(#[from] serde_json::Error),
    #[error("there is no such game; it has ended, or the server has started anew")]
    NoGame,
    #[error("there is no net \"{0}\"")]
    NoNet(String),
    #[error("simulations: expected 1..={most}, got {got}")]
    Simulations { most: u32, got: u32 },
    #[error("side: expected white, black or both, got \"{0}\"")]
    Side(String),
    #[error("{0}")]
    Position(#[from] GameTextError),
    #[error("the position is over: {0}")]
    Over(String),
    #[error("{0}")]
    Refused(String),
    #[error("{0} games are under way, the most that there may be; end one first")]
    Full(usize),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Engine(#[from] EvaluatorError),
    #[error("no thread for the game: {0}")]
    Thread(std::io::Error),
}

impl PlayError {
    /// The status of HTTP.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::NoGame | Self::NoNet(_) => 404,
            Self::Refused(_) => 409,
            Self::Body(_) | Self::Simulations { .. } | Self::Side(_) | Self::Position(_) | Self::Over(_) => {
                422
            }
            Self::Full(_) => 503,
            Self::Settings(_) | Self::Engine(_) | Self::Thread(_) => 500,
        }
    }
}

/// What a new game is asked for with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// `""` for the net in the program, else a run's path, `:` and the net's number.
    net: String,
    /// The player's side: `white`, `black`, or `both` to move for both.
    side: String,
    /// The position to begin with, as `dc0-run play --fen` has it.
    fen: Option<String>,
    simulations: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Played {
    #[serde(rename = "move")]
    text: String,
}

/// All games.
pub(super) struct Hall {
    /// What engines start with.
    settings: Settings,
    most_simulations: u32,
    games: Mutex<Games>,
    searches: Arc<Slots>,
}

#[derive(Default)]
struct Games {
    made: u64,
    open: BTreeMap<String, Arc<Contest>>,
}

impl Hall {
    pub(super) fn new(settings: Settings, most_simulations: u32) -> Self {
        Self { settings, most_simulations, games: Mutex::default(), searches: Slots::new(MOST_SEARCHES) }
    }

    /// The most simulations of a move.
    pub(super) fn most_simulations(&self) -> u32 {
        self.most_simulations
    }

    fn games(&self) -> MutexGuard<'_, Games> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn game(&self, id: &str) -> Result<Arc<Contest>, PlayError> {
        self.games().open.get(id).cloned().ok_or(PlayError::NoGame)
    }

    /// Begins a game, and tells how it stands.
    pub(super) fn begin(&self, library: &Library, body: &[u8]) -> Result<Value, PlayError> {
        let asked: Asked = serde_json::from_slice(body)?;
        let human = match asked.side.as_str() {
            "white" => Some(Side::White),
            "black" => Some(Side::Black),
            "both" => None,
            other => return Err(PlayError::Side(other.to_owned())),
        };
        if !(1..=self.most_simulations).contains(&asked.simulations) {
            return Err(PlayError::Simulations { most: self.most_simulations, got: asked.simulations });
        }
        let start = asked.fen.as_deref().map(str::trim).filter(|fen| !fen.is_empty());
        let record = Record::new(start.map_or_else(|| Ok(Game::initial()), Game::from_text)?);
        if let Some(reason) = record.reason() {
            return Err(PlayError::Over(reason));
        }
        let engine = self.engine(library, &asked)?;
        let about = json!({ "net": asked.net, "simulations": asked.simulations, "side": asked.side });
        // Held while the game starts, so that there are never more than allowed.
        let mut games = self.games();
        make_room(&mut games)?;
        games.made += 1;
        let id = games.made.to_string();
        let contest = Contest::start((id.clone(), about), engine, (record, human), &self.searches)?;
        games.open.insert(id, Arc::clone(&contest));
        drop(games);
        Ok(contest.tell())
    }

    fn engine(&self, library: &Library, asked: &Asked) -> Result<Engine, PlayError> {
        let mut settings = self.settings.clone();
        if !asked.net.is_empty() {
            let file = weights(library, &asked.net).ok_or_else(|| PlayError::NoNet(asked.net.clone()))?;
            settings.set("DC0Model", &file.to_string_lossy())?;
        }
        settings.set("DC0Simulations", &asked.simulations.to_string())?;
        Ok(Engine::new(settings)?)
    }

    /// How a game stands; where the asker knows that already, waits a while for news.
    pub(super) fn look(&self, id: &str, known: Option<u64>) -> Result<Value, PlayError> {
        let contest = self.game(id)?;
        if let Some(known) = known {
            contest.wait(known, PATIENCE);
        }
        Ok(contest.tell())
    }

    /// Does something in a game, and tells how it stands then.
    pub(super) fn act(&self, id: &str, verb: &str, body: &[u8]) -> Result<Value, PlayError> {
        let contest = self.game(id)?;
        match verb {
            "move" => contest.play(&serde_json::from_slice::<Played>(body)?.text)?,
            "undo" => contest.undo()?,
            "go" => contest.go()?,
            "hint" => contest.hint()?,
            "stop" => contest.stop(),
            _ => return Err(PlayError::NoGame),
        }
        Ok(contest.tell())
    }

    /// Ends a game.
    pub(super) fn end(&self, id: &str) -> Result<(), PlayError> {
        let contest = self.games().open.remove(id).ok_or(PlayError::NoGame)?;
        contest.close();
        Ok(())
    }

    /// Ends all games and waits for their threads.
    pub(super) fn close(&self) {
        let open = std::mem::take(&mut self.games().open);
        for contest in open.values() {
            contest.close();
        }
        for contest in open.values() {
            contest.join();
        }
    }
}

/// Ends games that nobody looks at, where their place is needed.
fn make_room(games: &mut Games) -> Result<(), PlayError> {
    let is_forgotten = |contest: &Contest| contest.unused() > FORGOTTEN;
    let forgotten: Vec<String> =
        games.open.iter().filter(|(_, contest)| is_forgotten(contest)).map(|(id, _)| id.clone()).collect();
    let mut ended = forgotten;
    if games.open.len() - ended.len() >= MOST_GAMES {
        let longest = games.open.iter().max_by_key(|(_, contest)| contest.unused());
        let idle = longest.filter(|(_, contest)| contest.unused() > IDLE);
        ended.push(idle.map(|(id, _)| id.clone()).ok_or(PlayError::Full(MOST_GAMES))?);
    }
    for contest in ended.iter().filter_map(|id| games.open.remove(id)) {
        contest.close();
    }
    Ok(())
}

/// The weights of a net by its name here.
fn weights(library: &Library, name: &str) -> Option<std::path::PathBuf> {
    let (run, number) = name.rsplit_once(':')?;
    let run = library.find(&run.split('/').map(ToOwned::to_owned).collect::<Vec<_>>())?;
    let number: u32 = number.parse().ok()?;
    library.file(&run, &format!("networks/{number:04}.safetensors"))
}

/// The nets of a run, the last one first.
pub(super) fn nets(library: &Library, run: &Found) -> Value {
    let number =
        |name: &String| name.strip_suffix(".safetensors").and_then(|number| number.parse::<u32>().ok());
    let numbers: Vec<u32> = library.files(run, "networks").iter().filter_map(number).rev().collect();
    json!({ "run": run.path, "nets": numbers })
}

/// The nets of all runs that have any; trials of sweeps are reached from their own pages.
pub(super) fn all_nets(library: &Library) -> Value {
    let runs = library.all().into_iter().filter(|found| found.kind == Kind::Run);
    let nets = runs.map(|run| nets(library, &run));
    Value::Array(nets.filter(|of| of["nets"].as_array().is_some_and(|nets| !nets.is_empty())).collect())
}

/// When something was used last.
#[derive(Debug)]
struct Used(Mutex<Stopwatch>);

impl Used {
    fn now() -> Self {
        Self(Mutex::new(Stopwatch::start()))
    }

    fn touch(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Stopwatch::start();
    }

    fn since(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}
