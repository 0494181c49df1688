//! Recomputes a game's shard. The games of a shard are played in lockstep, so a single game cannot be recomputed alone.

use dc0_process::format::counted;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use dc0_core::arena::{ArenaParams, Lineup, MatchShard, baseline};
use dc0_core::board::Move;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Params, read};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::selfplay::{Archive, GameRow, PositionRow, SelfPlayParams, Shard, ShardResult, shards_of};
use dc0_core::store::{MatchGameRow, ShardFiles, read_entry};
use serde_json::json;

use super::game::FoundGame;
use super::{ReplayArgs, ReplayError};
use crate::diff::{CompareError, Loaded, Step};
use dc0_backend::{Choice, Evaluators};
use dc0_process::command::Process;
use dc0_process::console::OutputFormat;
use dc0_process::exit::Exit;
use dc0_runs::{RunError, Series};
use dc0_steps::kinds::{
    ARCHIVE, Arena, MatchPlayer, MatchSetup, PLAYERS, PlayerInput, SelfPlay, opening_book, play_shard,
};
use dc0_steps::progress::{Amount, StepProgress};
use dc0_steps::step::Step as _;

/// The result of recomputing a shard.
#[derive(Debug)]
struct Outcome {
    games: usize,
    positions: usize,
    /// The first difference from the stored games.
    difference: Option<String>,
}

/// Plays a game's shard again and compares it with the stored games.
pub(super) fn recompute(
    args: &ReplayArgs,
    run: &Loaded,
    game: &FoundGame,
    process: &Process,
) -> Result<Exit, ReplayError> {
    let environment = &run.record.environment;
    let damaged = |cause| CompareError::from(RunError::damaged(&run.folder.record(), cause));
    let choice = Choice::of(environment).map_err(damaged)?;
    let evaluators = Evaluators::new(&choice, args.onnxruntime.as_deref())?;
    let here = choice.libraries(args.onnxruntime.as_deref())?;
    if here != run.snapshot.libraries {
        let made = &run.snapshot.libraries;
        process
            .console
            .note(&format!("note: made with {made}, this is {here}; games may differ because of that"));
    }
    let shard = shard_of(game)?;
    let amount = Amount { unit: "games", done: 0, total: shard.games.into() };
    let label = format!("{} again", game.step.name());
    let progress = StepProgress::new(&process.console, &process.interrupt, &label, None, amount, None);
    let outcome = match game.name.slot.series {
        Series::Matches => recompute_match(run, game, shard, &evaluators, &progress)?,
        _ => recompute_iteration(run, game, shard, &evaluators, &progress)?,
    };
    drop(progress);
    process.console.result(&match args.format {
        OutputFormat::Text => describe(game, shard, &outcome),
        OutputFormat::Json => json!({
            "step": game.step.name(), "shard": shard.index,
            "games": outcome.games, "positions": outcome.positions,
            "same": outcome.difference.is_none(), "first_difference": outcome.difference,
        })
        .to_string(),
    });
    Ok(if outcome.difference.is_none() { Exit::Done } else { Exit::Failed })
}

fn describe(game: &FoundGame, shard: Shard, outcome: &Outcome) -> String {
    let Outcome { games, positions, difference } = outcome;
    let numbers = shard.game_numbers();
    let what = match numbers.end - numbers.start {
        1 => format!("{}, game {}", game.step.name(), numbers.start),
        _ => format!("{}, games {} to {}", game.step.name(), numbers.start, numbers.end - 1),
    };
    let searched =
        if *positions > 0 { format!(", {}", counted(*positions, "position")) } else { String::new() };
    match difference {
        None => {
            let games = counted(*games, "game");
            format!("{what}, played again from the seed: the same moves and visits ({games}{searched})")
        }
        Some(difference) => format!("{what}, played again from the seed: different, first at {difference}"),
    }
}

/// A step's parameters, if this program has the same version of its kind.
fn params<P: Params>(step: &Step, (kind, known): (&str, u32)) -> Result<P, ReplayError> {
    let found = step.manifest.kind_version;
    if found != known {
        return Err(ReplayError::Version { step: step.name(), found, known });
    }
    read(kind, &step.manifest.params).map_err(|cause| ReplayError::Parameters { step: step.name(), cause })
}

/// The shard of a game.
fn shard_of(game: &FoundGame) -> Result<Shard, ReplayError> {
    let (games, shard_games) = if game.name.slot.series == Series::Matches {
        let params: ArenaParams = params(&game.step, (Arena::KIND.name, Arena::VERSION))?;
        let inputs = PLAYERS.map(|player| input(&game.step, player));
        if inputs.iter().any(|input| matches!(input, Some(PlayerInput::Program(_)))) {
            return Err(ReplayError::Program { step: game.step.name() });
        }
        let is_net = |player: &usize| matches!(inputs[*player], Some(PlayerInput::Network(_)));
        let nets = (0..PLAYERS.len()).filter(is_net);
        let lineup = Lineup::of_nets(nets.map(|player| params.own(player)));
        (params.games, lineup.shard_games(&params))
    } else if game.stored.header.is_some() {
        return Err(ReplayError::Imported { step: game.step.name() });
    } else if game.step.manifest.has_copies() {
        return Err(ReplayError::Reanalyzed { step: game.step.name() });
    } else {
        let params: SelfPlayParams = params(&game.step, (SelfPlay::KIND.name, SelfPlay::VERSION))?;
        (params.games, params.shard_games)
    };
    Ok(shards_of(games, shard_games)[(game.name.game / shard_games) as usize])
}

/// The player that a step reads under a name.
fn input(step: &Step, name: &str) -> Option<PlayerInput> {
    PlayerInput::parse(step.manifest.input(name)?)
}

/// The net that a step reads under a name; `None` if that input is not a net.
fn network(run: &Loaded, step: &Step, name: &str) -> Result<Option<(Checkpoint, String)>, ReplayError> {
    let Some(PlayerInput::Network(digest)) = input(step, name) else {
        return Ok(None);
    };
    let files = run.steps.iter().flat_map(|step| &step.manifest.files);
    let absent = || ReplayError::NoNetwork {
        run: run.folder.root().to_owned(),
        step: step.name(),
        digest: digest[..8].to_owned(),
    };
    let is_net = |path: &str| Path::new(path).extension().is_some_and(|kind| kind == "safetensors");
    let entry = files.into_iter().find(|entry| entry.blake3 == digest && is_net(&entry.path));
    let path = run.folder.path(&entry.ok_or_else(absent)?.path);
    if !path.is_file() {
        return Err(absent());
    }
    let loaded = Checkpoint::load(&path)?;
    if loaded.digest == digest { Ok(Some((loaded.checkpoint, loaded.digest))) } else { Err(absent()) }
}

/// The games that a step's games started from, by their digests. Those of a dataset are in no folder of the run.
fn archive(run: &Loaded, step: &Step) -> Result<Archive, ReplayError> {
    let mut archive = Archive::default();
    for input in step.manifest.inputs.iter().filter(|input| input.name.starts_with(ARCHIVE)) {
        let mut files = run.steps.iter().flat_map(|step| &step.manifest.files);
        let missing = || ReplayError::NoArchive {
            run: run.folder.root().to_owned(),
            step: step.name(),
            games: input.name[ARCHIVE.len()..].to_owned(),
        };
        let entry = files.find(|entry| entry.blake3 == input.digest).ok_or_else(missing)?;
        archive.add(&read_entry::<GameRow>(run.folder.root(), entry)?);
    }
    Ok(archive)
}

fn recompute_iteration(
    run: &Loaded,
    game: &FoundGame,
    shard: Shard,
    evaluators: &Evaluators,
    progress: &StepProgress,
) -> Result<Outcome, ReplayError> {
    let step = &game.step;
    let params: SelfPlayParams = params(step, (SelfPlay::KIND.name, SelfPlay::VERSION))?;
    let missing = || ReplayError::NoNetwork {
        run: run.folder.root().to_owned(),
        step: step.name(),
        digest: "it names".to_owned(),
    };
    let (net, digest) = network(run, step, "network")?.ok_or_else(missing)?;
    // A fork has the seed of its own run, and its first steps that of the run they were taken from.
    let seed = step.manifest.identity().seed(step.manifest.seed);
    let archive = archive(run, step)?;
    let result = play_shard(&params, seed, (&net, &digest), archive, shard, evaluators, progress)?;
    let mut shards = ShardFiles::of_iteration(&step.manifest.files);
    let files = shards.find(|files| *files.games == game.file).expect("the game was read from it");
    let games: Vec<GameRow> = read_entry(run.folder.root(), files.games)?;
    let positions: Vec<PositionRow> = read_entry(run.folder.root(), files.positions)?;
    Ok(compare((&games, &positions), &result))
}

fn compare((games, positions): (&[GameRow], &[PositionRow]), recomputed: &ShardResult) -> Outcome {
    let in_positions = first_difference(positions, &recomputed.positions, |stored, recomputed| {
        format!(
            "game {}, ply {}{}",
            stored.game,
            stored.ply,
            recomputed.map_or_else(String::new, |recomputed| difference(stored, recomputed))
        )
    });
    let in_games = first_difference(games, &recomputed.games, |row, _| format!("game {}", row.game));
    let difference = in_positions.or(in_games);
    Outcome { games: games.len(), positions: positions.len(), difference }
}

/// The most significant difference between two searches of one ply.
fn difference(stored: &PositionRow, recomputed: &PositionRow) -> String {
    let uci = |packed| Move::from_packed(packed).map_or_else(|| "no move".to_owned(), |mv| mv.to_string());
    if stored.fen != recomputed.fen {
        return ": another position".to_owned();
    }
    if stored.played != recomputed.played {
        return format!(": {} is stored, now {}", uci(stored.played), uci(recomputed.played));
    }
    let visits = |row: &PositionRow| (row.moves.clone(), row.visits.clone());
    let what = if visits(stored) == visits(recomputed) { "values or targets" } else { "visits" };
    format!(": the same move, different {what}")
}

/// Names the first row that differs, or that only one side has.
fn first_difference<R: PartialEq>(
    stored: &[R],
    recomputed: &[R],
    name: impl Fn(&R, Option<&R>) -> String,
) -> Option<String> {
    let index = stored.iter().zip(recomputed).position(|(stored, recomputed)| stored != recomputed);
    let longer = if stored.len() > recomputed.len() { stored } else { recomputed };
    match index {
        Some(index) => Some(name(&stored[index], Some(&recomputed[index]))),
        None => longer.get(stored.len().min(recomputed.len())).map(|row| name(row, None)),
    }
}

fn recompute_match(
    run: &Loaded,
    game: &FoundGame,
    shard: Shard,
    evaluators: &Evaluators,
    progress: &StepProgress,
) -> Result<Outcome, ReplayError> {
    let step = &game.step;
    let params: ArenaParams = params(step, (Arena::KIND.name, Arena::VERSION))?;
    let seed = step.manifest.identity().seed(step.manifest.seed);
    let rows: Vec<MatchGameRow> = read_entry(run.folder.root(), &game.file)?;
    let stored: Vec<MatchGameRow> =
        rows.into_iter().filter(|row| shard.game_numbers().contains(&row.game)).collect();
    let names = stored.first().map(|row| [row.first.clone(), row.second.clone()]).unwrap_or_default();
    let nets = [network(run, step, PLAYERS[0])?, network(run, step, PLAYERS[1])?];
    let player = |player: usize| match (&nets[player], baseline(&names[player])) {
        (Some((net, _)), _) => Ok(MatchPlayer::Network { name: &names[player], net }),
        (None, Some(baseline)) => Ok(MatchPlayer::Baseline(baseline)),
        (None, None) => Err(ReplayError::UnknownPlayer { step: step.name(), name: names[player].clone() }),
    };
    let book = opening_book(&params)?;
    let players = [player(0)?, player(1)?];
    let setup = MatchSetup { params: &params, seed, players, book: book.as_ref(), evaluators };
    let recomputed = Mutex::new(Vec::new());
    let keep = |_, shard: MatchShard| {
        recomputed.lock().ignore_poison().extend(shard.rows);
        Ok(ControlFlow::Continue(()))
    };
    let plain = |evaluator: Box<dyn Evaluator>, _: &Checkpoint| evaluator;
    setup.play(&[shard], 1, &plain, &keep, progress)?;
    let recomputed = recomputed.into_inner().ignore_poison();
    let difference = first_difference(&stored, &recomputed, |row, _| format!("game {}", row.game));
    Ok(Outcome { games: stored.len(), positions: 0, difference })
}
