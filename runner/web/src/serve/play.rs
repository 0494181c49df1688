//! Games against nets in the browser, each with its own engine and thread. The numbers of games, of concurrent searches and of
//! simulations per search are limited, to leave most of the machine to runs.

mod live_game;
mod snapshot;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use dc0_core::board::{Game, GameTextError, Side};
use dc0_core::network::EvaluatorError;
use dc0_core::poison::IgnorePoison as _;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, Semaphore};

use super::library::{Found, Kind, Library};
use super::random;
use super::reply::Reply;
use dc0_engine::play::record::Record;
use dc0_engine::uci::{Engine, Settings, SettingsError};
use live_game::LiveGame;

/// Games at once. Chosen: each has a copy of a net, and a tree.
const MAX_GAMES: usize = 8;

/// Searches at once; the others wait.
const MAX_SEARCHES: usize = 2;

/// A game without a request for this long may be ended to make room for another.
const IDLE: Duration = Duration::from_mins(1);

/// A game without a request for this long is ended.
const ABANDONED: Duration = Duration::from_mins(30);

/// Why a request about a game fails.
#[derive(Debug, Error)]
pub(super) enum PlayError {
    #[error("this request cannot be understood: {0}")]
    Body(#[from] serde_json::Error),
    /// It has ended, or the server was restarted.
    #[error("there is no such game")]
    NoGame,
    #[error("this cannot be done in a game: {0}")]
    Verb(String),
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
    #[error("{0} games are in progress, the most allowed; end one first")]
    Full(usize),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Engine(#[from] EvaluatorError),
    #[error("no thread for the game: {0}")]
    Thread(std::io::Error),
    #[error("cannot draw random numbers for the game's name: {0}")]
    Name(getrandom::Error),
}

impl PlayError {
    /// The HTTP reply. Refused moves and ended games are not failed requests: they are answered with 200 and a message, because
    /// browsers log each failure in their console.
    pub(super) fn reply(&self) -> Reply {
        let status = match self {
            Self::NoGame => return Reply::json(200, &json!({ "gone": true })),
            Self::Refused(_) | Self::Position(_) | Self::Over(_) => {
                return Reply::json(200, &json!({ "refused": self.to_string() }));
            }
            Self::Full(_) => return Reply::json(200, &json!({ "refused": self.to_string(), "full": true })),
            Self::NoNet(_) | Self::Verb(_) => 404,
            Self::Body(_) | Self::Simulations { .. } | Self::Side(_) => 422,
            Self::Settings(_) | Self::Engine(_) | Self::Thread(_) | Self::Name(_) => 500,
        };
        Reply::failure(status, &self.to_string())
    }
}

/// A request for a new game.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewGame {
    /// `""` for the shipped net, else a run's path, `:` and the net's number.
    net: String,
    /// The player's side: `white`, `black`, or `both` to move for both.
    side: String,
    /// The position to begin with, as for `dc0-run play --fen`.
    fen: Option<String>,
    simulations: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveRequest {
    #[serde(rename = "move")]
    text: String,
}

/// All games in progress.
pub(super) struct GameRooms {
    /// The settings of new engines.
    settings: Settings,
    max_simulations: u32,
    games: Mutex<Games>,
    /// Locked while a game begins: nets are loaded one after another, and never more than `MAX_GAMES`.
    beginning: Arc<AsyncMutex<()>>,
    searches: Arc<Semaphore>,
}

/// The right to begin a game; dropped once it has begun.
pub(super) struct Turn(#[expect(dead_code, reason = "held, not read")] OwnedMutexGuard<()>);

/// Games by their names, which are random: another server has no game of the same name.
type Games = BTreeMap<String, Arc<LiveGame>>;

impl GameRooms {
    pub(super) fn new(settings: Settings, max_simulations: u32) -> Self {
        let (games, beginning) = (Mutex::default(), Arc::default());
        Self { settings, max_simulations, games, beginning, searches: Arc::new(Semaphore::new(MAX_SEARCHES)) }
    }

    /// The most simulations of a move.
    pub(super) fn max_simulations(&self) -> u32 {
        self.max_simulations
    }

    fn games(&self) -> MutexGuard<'_, Games> {
        self.games.lock().ignore_poison()
    }

    fn game(&self, id: &str) -> Result<Arc<LiveGame>, PlayError> {
        self.games().get(id).cloned().ok_or(PlayError::NoGame)
    }

    /// Waits until a game may begin.
    pub(super) async fn turn(&self) -> Turn {
        Turn(Arc::clone(&self.beginning).lock_owned().await)
    }

    /// Begins a game; returns its snapshot.
    pub(super) fn begin(&self, library: &Library, body: &[u8], _turn: Turn) -> Result<Value, PlayError> {
        let request: NewGame = serde_json::from_slice(body)?;
        let human = match request.side.as_str() {
            "white" => Some(Side::White),
            "black" => Some(Side::Black),
            "both" => None,
            other => return Err(PlayError::Side(other.to_owned())),
        };
        if !(1..=self.max_simulations).contains(&request.simulations) {
            return Err(PlayError::Simulations { most: self.max_simulations, got: request.simulations });
        }
        let start = request.fen.as_deref().map(str::trim).filter(|fen| !fen.is_empty());
        let record = Record::new(start.map_or_else(|| Ok(Game::initial()), Game::from_text)?);
        if let Some(reason) = record.reason() {
            return Err(PlayError::Over(reason));
        }
        let file = weights(library, &request.net)?;
        let about = json!({ "net": request.net, "simulations": request.simulations, "side": request.side });
        // Games are added only here, one after another, so there still is room once the net is loaded.
        make_room(&mut self.games())?;
        let engine = self.engine(file.as_deref(), request.simulations)?;
        let id = random(8).map_err(PlayError::Name)?;
        let game = LiveGame::start(id.clone(), about, record, human, engine, Arc::clone(&self.searches))?;
        self.games().insert(id, Arc::clone(&game));
        Ok(game.snapshot())
    }

    fn engine(&self, weights: Option<&Path>, simulations: u32) -> Result<Engine, PlayError> {
        let mut settings = self.settings.clone();
        if let Some(file) = weights {
            settings.set("DC0Model", &file.to_string_lossy())?;
        }
        settings.set("DC0Simulations", &simulations.to_string())?;
        Ok(Engine::new(settings)?)
    }

    /// A game as a PGN file.
    pub(super) fn pgn(&self, id: &str) -> Result<Reply, PlayError> {
        let reply = Reply::new(200, "application/x-chess-pgn; charset=utf-8", self.game(id)?.pgn());
        Ok(reply.with("Content-Disposition", "attachment; filename=\"game.pgn\""))
    }

    /// The state of a game.
    pub(super) fn snapshot(&self, id: &str) -> Result<Value, PlayError> {
        Ok(self.game(id)?.snapshot())
    }

    /// Waits, up to a limit, until a game has a later version than `known` or has ended.
    pub(super) async fn wait_for_change(&self, id: &str, known: u64) {
        if let Ok(game) = self.game(id) {
            game.wait_for_change(known).await;
        }
    }

    /// Does something in a game; returns its snapshot, with the reason if that was refused.
    pub(super) fn act(&self, id: &str, verb: &str, body: &[u8]) -> Result<Value, PlayError> {
        let game = self.game(id)?;
        let done = match verb {
            "move" => game.play(&serde_json::from_slice::<MoveRequest>(body)?.text),
            "undo" => game.undo(),
            "go" => game.go(),
            "hint" => game.hint(),
            "stop" => {
                game.stop();
                Ok(())
            }
            other => Err(PlayError::Verb(other.to_owned())),
        };
        let mut snapshot = game.snapshot();
        match done {
            Ok(()) => {}
            Err(PlayError::Refused(why)) => snapshot["refused"] = why.into(),
            Err(error) => return Err(error),
        }
        Ok(snapshot)
    }

    /// Ends a game.
    pub(super) fn end(&self, id: &str) -> Result<(), PlayError> {
        self.games().remove(id).ok_or(PlayError::NoGame)?.close();
        Ok(())
    }

    /// Ends abandoned games.
    pub(super) fn end_abandoned(&self) {
        end_abandoned(&mut self.games());
    }

    /// Ends all games and waits for their threads.
    pub(super) fn close(&self) {
        let open = std::mem::take(&mut *self.games());
        for game in open.values() {
            game.close();
        }
        for game in open.values() {
            game.join();
        }
    }
}

/// Ends abandoned games.
fn end_abandoned(games: &mut Games) {
    for (_, abandoned) in games.extract_if(.., |_, game| game.idle_time() > ABANDONED) {
        abandoned.close();
    }
}

/// Ends the longest idle game if there is no room for another.
fn make_room(games: &mut Games) -> Result<(), PlayError> {
    end_abandoned(games);
    if games.len() >= MAX_GAMES {
        let longest_idle = games.iter().max_by_key(|(_, game)| game.idle_time());
        let idle = longest_idle.filter(|(_, game)| game.idle_time() > IDLE).map(|(id, _)| id.clone());
        let ended = games.remove(&idle.ok_or(PlayError::Full(MAX_GAMES))?);
        ended.expect("it was found among them").close();
    }
    Ok(())
}

/// The weights file of a net by its name in the pages; `None` for the shipped net.
fn weights(library: &Library, name: &str) -> Result<Option<PathBuf>, PlayError> {
    let find = || {
        let (run, number) = name.rsplit_once(':')?;
        let run = library.find(&run.split('/').map(ToOwned::to_owned).collect::<Vec<_>>())?;
        let number: u32 = number.parse().ok()?;
        library.file(&run, &format!("networks/{number:04}.safetensors"))
    };
    if name.is_empty() {
        return Ok(None);
    }
    find().map(Some).ok_or_else(|| PlayError::NoNet(name.to_owned()))
}

/// The nets of a run, the latest first.
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
    Value::Array(nets.filter(|run| run["nets"].as_array().is_some_and(|nets| !nets.is_empty())).collect())
}
