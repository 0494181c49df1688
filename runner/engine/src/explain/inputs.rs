//! From the command line to a study: the position, the net and the search.

use dc0_core::board::Game;
use dc0_core::event::Silent;
use dc0_core::network::torch::Precision;
use dc0_core::params::{Value, read};
use dc0_core::search::ANALYSIS_RULES;
use dc0_core::store::{GameRow, read_entry};

use super::args::ExplainArgs;
use super::error::ExplainError;
use super::params::ExplainParams;
use super::study::{StudiedNet, Study};
use dc0_backend::{Backend, BackendRequest, Evaluators, Workload};
use dc0_process::format::counted;
use dc0_runs::net::{Named, made_by, named, run_folder, shipped};
use dc0_runs::view::{GameFiles, finished_steps};
use dc0_runs::{Folder, Series, Slot};

/// Makes the study that the command line asks for.
pub(super) fn study(args: &ExplainArgs) -> Result<Study, ExplainError> {
    let params = params(args)?;
    let given = args.position.join(" ");
    let stored = stored(&given)?;
    let net = match (args.net.net.as_deref(), &stored) {
        (Some(name), _) => Named { file: name.into(), ..named(name)? },
        (None, Some(stored)) => stored.player()?,
        (None, None) => shipped()?,
    };
    let game = unfinished(stored.map_or_else(|| Ok(Game::from_text(&given)?), |stored| stored.game()))?;
    let (net, name) = (net.net, net.file.display().to_string());
    let request = BackendRequest {
        backend: args.net.backend.unwrap_or(Backend::Torch),
        device: args.net.device.as_deref().unwrap_or("auto"),
        precision: Precision::Auto,
        onnxruntime: args.net.onnxruntime.as_deref(),
    };
    let work = Workload { spec: net.spec.clone(), rows: 1 };
    let evaluators = Evaluators::new(&request.resolve(Some(&work))?, args.net.onnxruntime.as_deref())?;
    let mut evaluator = evaluators.make(&net)?;
    Study::new(game, &StudiedNet::new(&net, name), params, &mut *evaluator, &Silent)
}

/// The parameters of the command line; `--sims` is one of them.
fn params(args: &ExplainArgs) -> Result<ExplainParams, ExplainError> {
    let mut given = Value::group();
    for (name, value) in &args.search {
        given.put(&format!("search.{name}"), Value::from_argument(value));
    }
    let counts = [("search.simulations", args.sims), ("depth", args.depth), ("top", args.top)];
    for (name, count) in counts.into_iter().filter_map(|(name, count)| Some((name, count?))) {
        given.put(name, Value::Int(count.into()));
    }
    Ok(read("explain", &given)?)
}

/// Reads a game that is not over: what UCI writes after `position`, or the name of a stored game.
pub fn position(text: &str) -> Result<Game, ExplainError> {
    let stored = stored(text)?;
    unfinished(stored.map_or_else(|| Ok(Game::from_text(text)?), |stored| stored.game()))
}

fn unfinished(game: Result<Game, ExplainError>) -> Result<Game, ExplainError> {
    let game = game?;
    match game.outcome(&ANALYSIS_RULES) {
        Some(outcome) => {
            Err(ExplainError::Over { fen: game.position().fen(), reason: outcome.reason.name() })
        }
        None => Ok(game),
    }
}

/// A game of a run's iteration, up to one of its plies.
struct StoredGame {
    run: Folder,
    row: GameRow,
    ply: usize,
    /// The digest of the net that played; `None` if the game was imported.
    network: Option<String>,
}

impl StoredGame {
    fn game(&self) -> Result<Game, ExplainError> {
        Ok(Game::from_packed(&self.row.start_fen, &self.row.moves[..self.ply])?)
    }

    /// The net that played, or the shipped one for games that none played.
    fn player(&self) -> Result<Named, ExplainError> {
        let player = self.network.as_ref().map(|digest| made_by(&self.run, digest)).transpose()?.flatten();
        Ok(player.map_or_else(shipped, Ok)?)
    }
}

/// The stored game that RUN:ITERATION:GAME@PLY names; `None` for other texts.
fn stored(text: &str) -> Result<Option<StoredGame>, ExplainError> {
    let Some((name, ply)) = text.trim().rsplit_once('@') else { return Ok(None) };
    let missing = |problem: String| ExplainError::Stored { name: text.trim().to_owned(), problem };
    let number = |what: &str, text: &str| {
        text.parse::<u32>().map_err(|_| missing(format!("the {what} is \"{text}\", not a number")))
    };
    let parts = name.rsplit_once(':').and_then(|(rest, game)| Some((rest.rsplit_once(':')?, game)));
    let ((run, iteration), game) = parts.ok_or_else(|| missing("the name has too few parts".to_owned()))?;
    let (iteration, game) = (number("iteration", iteration)?, number("game", game)?);
    let ply = number("ply", ply)? as usize;
    let run = run_folder(run).ok_or_else(|| missing(format!("{run} is not the folder of a run")))?;
    let found = row(&run, iteration, game)?;
    let (row, network) = found.ok_or_else(|| missing(format!("iteration {iteration} has no game {game}")))?;
    if ply > row.moves.len() {
        return Err(missing(format!("the game has {}", counted(row.moves.len(), "ply"))));
    }
    Ok(Some(StoredGame { run, row, ply, network }))
}

/// A game of an iteration, with the digest of the net that played it.
fn row(
    folder: &Folder,
    iteration: u32,
    game: u32,
) -> Result<Option<(GameRow, Option<String>)>, ExplainError> {
    let slot = Slot { series: Series::Iterations, number: iteration };
    for manifest in finished_steps(folder)?.values() {
        for files in GameFiles::among(&manifest.files).filter(|files| slot.holds(&files.games.path)) {
            let rows: Vec<GameRow> = read_entry(folder.root(), files.games)?;
            if let Some(row) = rows.into_iter().find(|row| row.game == game) {
                return Ok(Some((row, manifest.input("network").map(str::to_owned))));
            }
        }
    }
    Ok(None)
}
