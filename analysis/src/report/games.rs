//! Games to step through, with what the search thought of each position.

use dc0_core::board::{Move, Position};
use dc0_core::params::Value;
use serde_json::{Value as Json, json};

use super::section::{Part, Section};
use super::{Context, ReportRun};
use crate::answer::Answer;
use crate::database::Database;
use crate::error::AnalysisError;

/// A game as the page's board reads it.
pub(super) struct SampleGame {
    /// What people choose it by.
    pub(super) title: String,
    /// Everything about it.
    pub(super) data: Json,
}

/// A stored game.
struct Stored {
    network: String,
    start: String,
    moves: Vec<i64>,
    opening: usize,
    result: i8,
    reason: String,
}

/// What the search thought of a position.
struct Thought {
    ply: usize,
    json: Vec<(u16, u64, u64)>,
    search: [f64; 2],
    net: [f64; 2],
    simulations: f64,
    full: bool,
}

/// Moves that are shown of a search. Chosen.
const SHOWN: usize = 8;

pub(super) fn section(context: &Context<'_>) -> Result<Section, AnalysisError> {
    let mut games = Vec::new();
    for run in context.runs {
        games.extend(of_run(context, run)?);
    }
    let parts = if games.is_empty() { Vec::new() } else { vec![Part::Games(games)] };
    let about = "Games of self-play, with the search's opinion of each position. Step with the buttons, the slider, or the arrow \
        keys, Home and End. Values are White's.";
    Ok(Section::new("sample-games", "Sample games", about, parts, "no games are stored"))
}

fn of_run(context: &Context<'_>, run: &ReportRun) -> Result<Vec<SampleGame>, AnalysisError> {
    let mut samples = Vec::new();
    for (what, (iteration, game)) in chosen(context, run)? {
        let Some(database) = context.iteration(&run.name, iteration) else { continue };
        let thoughts = thoughts(database, game)?;
        let stored = stored(database, game)?;
        samples.extend(stored.map(|stored| sample(context, run, &what, &stored, &thoughts)));
    }
    Ok(samples)
}

/// Why a game is shown, with its iteration and its number.
type Chosen = (String, (u32, u32));

/// Which games are shown: of the last iteration the shortest mate, the longest game and the first; and the first game of all.
fn chosen(context: &Context<'_>, run: &ReportRun) -> Result<Vec<Chosen>, AnalysisError> {
    let own = || context.ends.iter().filter(|ended| ended.run == run.name).map(|ended| ended.iteration);
    let (Some(first), Some(last)) = (own().min(), context.last_iteration(run)) else { return Ok(Vec::new()) };
    let pick = |iteration: u32, condition: &str, order: &str| -> Result<Option<u32>, AnalysisError> {
        let Some(database) = context.iteration(&run.name, iteration) else { return Ok(None) };
        let statement =
            format!("select game, len(moves) as plies from games {condition} order by {order} limit 1");
        Ok(Answer::of(database, &statement)?.numbers("game")?.first().map(|game| *game as u32))
    };
    let picks = [
        ("the shortest mate", last, pick(last, "where reason = 'checkmate'", "plies, game")?),
        ("the longest decided game", last, pick(last, "where result <> 0", "plies desc, game")?),
        ("the longest draw", last, pick(last, "where result = 0", "plies desc, game")?),
        ("the first game", last, pick(last, "", "game")?),
        ("the first game", first, pick(first, "", "game")?),
    ];
    let mut chosen: Vec<Chosen> = Vec::new();
    for (what, iteration, game) in picks {
        let Some(game) = game else { continue };
        if chosen.iter().all(|(_, known)| *known != (iteration, game)) {
            chosen.push((format!("{what} of iteration {iteration}"), (iteration, game)));
        }
    }
    Ok(chosen)
}

fn stored(database: &Database, game: u32) -> Result<Option<Stored>, AnalysisError> {
    let answer = Answer::of(database, &format!("select * from games where game = {game}"))?;
    let (networks, starts) = (answer.texts("network")?, answer.texts("start_fen")?);
    let (moves, openings) = (answer.lists("moves")?, answer.numbers("opening_plies")?);
    let (results, reasons) = (answer.numbers("result")?, answer.texts("reason")?);
    let row = |at: usize| Stored {
        network: networks[at].clone(),
        start: starts[at].clone(),
        moves: moves[at].clone(),
        opening: openings[at] as usize,
        result: results[at] as i8,
        reason: reasons[at].clone(),
    };
    Ok((0..answer.len()).map(row).next())
}

fn thoughts(database: &Database, game: u32) -> Result<Vec<Thought>, AnalysisError> {
    let statement = format!(
        "select ply, moves, visits, target, root_q, root_d, net_q, net_d, simulations, \"full\" from positions \
         where game = {game} order by ply",
    );
    let answer = Answer::of(database, &statement)?;
    let plies = answer.numbers("ply")?;
    let (moves, visits, targets) = (answer.lists("moves")?, answer.lists("visits")?, answer.lists("target")?);
    let values = ["root_q", "root_d", "net_q", "net_d", "simulations"];
    let values = values.map(|column| answer.numbers(column));
    let [root_q, root_d, net_q, net_d, simulations] = values;
    let (root_q, root_d, net_q, net_d) = (root_q?, root_d?, net_q?, net_d?);
    let (simulations, full) = (simulations?, answer.values("full")?);
    let row = |at: usize| {
        let rows = moves[at].iter().zip(&visits[at]).zip(&targets[at]);
        Thought {
            ply: plies[at] as usize,
            json: rows
                .map(|((played, visits), target)| (*played as u16, *visits as u64, *target as u64))
                .collect(),
            search: [root_q[at], root_d[at]],
            net: [net_q[at], net_d[at]],
            simulations: simulations[at],
            full: full[at] == Value::Bool(true),
        }
    };
    Ok((0..answer.len()).map(row).collect())
}

fn sample(
    context: &Context<'_>,
    run: &ReportRun,
    what: &str,
    game: &Stored,
    thoughts: &[Thought],
) -> SampleGame {
    let makes =
        |step: &&super::steps::Step| step.run == run.name && step.makes_net() && step.network == game.network;
    let net = context
        .steps
        .iter()
        .find(makes)
        .and_then(|step| step.number)
        .map_or_else(|| game.network.clone(), |net| format!("{net:04}"));
    let result = ["0–1", "½–½", "1–0"][(game.result + 1) as usize];
    let of = if context.runs.len() > 1 { format!("{}: ", run.name) } else { String::new() };
    let title = format!("{of}{what} ({result}, {} plies)", game.moves.len());
    let data = json!({
        "title": title,
        "net": net,
        "result": result,
        "reason": game.reason.replace('_', " "),
        "opening": game.opening,
        "plies": plies(game, thoughts),
    });
    SampleGame { title, data }
}

/// One entry for each position, the last one included: the board, the move that led to it, and what the search thought.
fn plies(game: &Stored, thoughts: &[Thought]) -> Vec<Json> {
    let Ok(mut position) = Position::from_fen(&game.start) else { return Vec::new() };
    let mut plies = Vec::new();
    let mut before = Json::Null;
    for ply in 0..=game.moves.len() {
        let thought = thoughts.iter().find(|thought| thought.ply == ply);
        let fen = position.fen();
        let fields: Vec<&str> = fen.split(' ').take(2).collect();
        let played = game.moves.get(ply).and_then(|packed| Move::from_packed(*packed as u16));
        let played = played.filter(|played| position.is_legal(*played));
        plies.push(json!({
            "b": fields.join(" "),
            "m": before,
            "t": thought.map(|thought| opinion(&position, thought, played)),
        }));
        let Some(played) = played else { break };
        before = json!([position.san(played), played.from(), played.to()]);
        let key = position.key();
        position.play_unchecked(played, key);
    }
    plies
}

fn opinion(position: &Position, thought: &Thought, played: Option<Move>) -> Json {
    let visits: u64 = thought.json.iter().map(|(_, visits, _)| visits).sum();
    let targets: u64 = thought.json.iter().map(|(.., target)| target).sum();
    let mut moves = thought.json.clone();
    moves.sort_by_key(|(packed, visits, target)| (std::cmp::Reverse((*target, *visits)), *packed));
    let share = |part: u64, all: u64| if all == 0 { 0.0 } else { rounded(part as f64 / all as f64) };
    let row = |(packed, own, target): &(u16, u64, u64)| {
        let made = Move::from_packed(*packed).filter(|made| position.is_legal(*made))?;
        let is_played = Some(made) == played;
        Some(json!([
            position.san(made),
            made.from(),
            made.to(),
            own,
            share(*target, targets),
            u8::from(is_played)
        ]))
    };
    json!({
        "q": thought.search.map(rounded),
        "n": thought.net.map(rounded),
        "s": thought.simulations,
        "v": visits,
        "f": thought.full,
        "a": moves.len(),
        "p": moves.iter().take(SHOWN).filter_map(row).collect::<Vec<_>>(),
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
