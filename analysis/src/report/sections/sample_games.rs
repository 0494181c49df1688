//! Games to step through, with the search's evaluation of each position.

use dc0_core::board::{Ending, GameResult};
use dc0_core::params::Value;
use dc0_core::store::{GameRow, PositionRow, StoredGame};

use crate::database::Database;
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, SampleGame, Section};
use crate::web::games;

pub(super) const SECTION: Section = Section {
    id: "sample-games",
    title: "Sample games",
    about: "Games that were played or imported, with the evaluation of each position that was searched, or that its file has one of. \
        Step through them with the buttons, the slider, the arrow keys, Home and End. Values are from White's side.",
    reads: &["games", "positions", "steps"],
    no_data: |_| "no games are stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let (mut samples, mut parts) = (Vec::new(), Vec::new());
    for run in context.runs {
        for (what, (iteration, game)) in chosen(context, run)? {
            let Some(database) = context.iteration(&run.name, iteration) else { continue };
            match stored(database, game)? {
                Some(Ok(stored)) => samples.push(sample(context, run, &what, stored)),
                Some(Err(fault)) => {
                    let what = format!("Game {game}, {what}, cannot be shown: {fault}.");
                    parts.push(Part::Text(format!("{}{what}", prefix(context, run))));
                }
                None => {}
            }
        }
    }
    if !samples.is_empty() {
        parts.push(Part::Games(samples));
    }
    Ok(parts)
}

/// The run's name, if there are several runs.
fn prefix(context: &Context<'_>, run: &ReportRun) -> String {
    if context.runs.len() > 1 { format!("{}: ", run.name) } else { String::new() }
}

/// Why a game is shown, its iteration and its number.
type Chosen = (String, (u32, u32));

/// The games that are shown: of the last iteration the shortest mate, the longest decided game, the longest draw and the first game,
/// and of the first iteration the first game.
fn chosen(context: &Context<'_>, run: &ReportRun) -> Result<Vec<Chosen>, AnalysisError> {
    let outcomes = context.outcomes.iter().filter(|outcome| outcome.run == run.name);
    let first = outcomes.map(|outcome| outcome.iteration).min();
    let (Some(first), Some(last)) = (first, context.last_iteration(run)) else { return Ok(Vec::new()) };
    let pick = |iteration: u32, condition: &str, order: &str| -> Result<Option<u32>, AnalysisError> {
        let Some(database) = context.iteration(&run.name, iteration) else { return Ok(None) };
        let statement =
            format!("select game, len(moves) as plies from games {condition} order by {order} limit 1");
        Ok(database.fetch(&statement)?.numbers("game")?.first().map(|game| *game as u32))
    };
    let picks = [
        ("the shortest mate", last, pick(last, "where reason = 'checkmate'", "plies, game")?),
        ("the longest decided game", last, pick(last, "where result <> 0", "plies desc, game")?),
        (
            "the longest draw",
            last,
            pick(last, "where result = 0 and reason <> 'ply_cap'", "plies desc, game")?,
        ),
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

/// A game with its searches, or what is wrong with its rows; `None` if there is no such game.
fn stored(database: &Database, game: u32) -> Result<Option<Result<StoredGame, String>>, AnalysisError> {
    let Some(row) = game_row(database, game)? else { return Ok(None) };
    let mut positions = positions(database, game)?;
    let replayed = |row: GameRow| {
        positions.retain(|position| !row.network.is_empty() || has_evaluation(position));
        StoredGame::of_self_play(&row, &positions).map_err(|error| error.to_string())
    };
    Ok(Some(row.and_then(replayed)))
}

/// Whether a net or a PGN file evaluated a position of an imported game, whose value is else the game's result.
fn has_evaluation(position: &PositionRow) -> bool {
    // A net's answer without a search has shares of moves, but no visits.
    let is_answer = position.visits.iter().all(|visits| *visits == 0);
    let draw = if position.result == 0 { 1.0 } else { 0.0 };
    position.simulations > 1
        || is_answer
        || (position.root_q, position.root_d) != (f32::from(position.result), draw)
}

fn game_row(database: &Database, game: u32) -> Result<Option<Result<GameRow, String>>, AnalysisError> {
    let answer = database.fetch(&format!("select * from games where game = {game}"))?;
    let (networks, starts) = (answer.texts("network")?, answer.texts("start_fen")?);
    let (moves, openings) = (answer.lists("moves")?, answer.numbers("opening_plies")?);
    let (results, reasons) = (answer.numbers("result")?, answer.texts("reason")?);
    let row = |index: usize| {
        let result = GameResult::from_white_score(results[index] as i8);
        let reason = Ending::from_name(&reasons[index]);
        Ok(GameRow {
            game,
            network: networks[index].clone(),
            start_fen: starts[index].clone(),
            moves: moves[index].iter().map(|packed| *packed as u16).collect(),
            opening_plies: openings[index] as u16,
            result: result.ok_or_else(|| format!("its result is {}, expected -1, 0 or 1", results[index]))?,
            reason: reason.ok_or_else(|| format!("its reason \"{}\" is unknown", reasons[index]))?,
        })
    };
    Ok((0..answer.len()).map(row).next())
}

fn positions(database: &Database, game: u32) -> Result<Vec<PositionRow>, AnalysisError> {
    let statement = format!(
        "select ply, fen, played, legal, moves, visits, target, root_q, root_d, net_q, net_d, simulations, \"full\", result \
         from positions where game = {game} order by ply",
    );
    let answer = database.fetch(&statement)?;
    let (fens, full) = (answer.texts("fen")?, answer.values("full")?);
    let (moves, visits, targets) = (answer.lists("moves")?, answer.lists("visits")?, answer.lists("target")?);
    let number = |column| answer.numbers(column);
    let (plies, played, legal, results) =
        (number("ply")?, number("played")?, number("legal")?, number("result")?);
    let (root_q, root_d, net_q, net_d, simulations) =
        (number("root_q")?, number("root_d")?, number("net_q")?, number("net_d")?, number("simulations")?);
    let row = |index: usize| PositionRow {
        game,
        ply: plies[index] as u16,
        fen: fens[index].clone(),
        played: played[index] as u16,
        legal: legal[index] as u16,
        moves: moves[index].iter().map(|packed| *packed as u16).collect(),
        visits: visits[index].iter().map(|visits| *visits as u32).collect(),
        target: targets[index].iter().map(|share| *share as u16).collect(),
        root_q: root_q[index] as f32,
        root_d: root_d[index] as f32,
        net_q: net_q[index] as f32,
        net_d: net_d[index] as f32,
        simulations: simulations[index] as u32,
        full: full[index] == Value::Bool(true),
        // The page does not show it, and files of older versions do not have it.
        policy_surprise: f32::NAN,
        result: results[index] as i8,
    };
    Ok((0..answer.len()).map(row).collect())
}

fn sample(context: &Context<'_>, run: &ReportRun, what: &str, mut game: StoredGame) -> SampleGame {
    let makes = |step: &&crate::report::steps::Step| {
        step.run == run.name && step.makes_net() && step.network == game.white
    };
    if let Some(net) = context.steps.iter().find(makes).and_then(|step| step.number) {
        (game.white, game.black) = (format!("{net:04}"), format!("{net:04}"));
    }
    let length = match game.game.ply() {
        1 => "1 ply".to_owned(),
        plies => format!("{plies} plies"),
    };
    let title = format!("{}{what} ({}, {length})", prefix(context, run), games::result(game.result));
    let mut data = games::game(&game);
    data["title"] = title.clone().into();
    SampleGame { title, data }
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Game, GameResult, Move, Reason};
    use dc0_core::store::{GameRow, PositionRow, Provenance, write_table};

    use super::stored;
    use crate::database::Database;
    use crate::session::Work;
    use crate::source::RunSource;

    #[test]
    fn evaluations_of_an_imported_game_are_shown_and_results_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let game = Game::from_text("startpos moves e2e4 e7e5 g1f3 b8c6 f1b5").expect("a game");
        let moves: Vec<u16> = game.moves().iter().copied().map(Move::packed).collect();
        // The result, an evaluation in the file, a search that found the result, a level evaluation, and a net's answer that is the result.
        let values =
            [(1.0, 0.0, 1, 1), (-0.25, 0.25, 1, 1), (1.0, 0.0, 800, 1), (0.0, 0.5, 1, 1), (1.0, 0.0, 1, 0)];
        let position = |(ply, (q, d, simulations, visits)): (u16, (f32, f32, u32, u32))| PositionRow {
            game: 0,
            ply,
            fen: game.positions().nth(ply.into()).expect("a position").fen(),
            played: moves[usize::from(ply)],
            legal: 20,
            moves: vec![moves[usize::from(ply)]],
            visits: vec![visits],
            target: vec![1],
            root_q: q,
            root_d: d,
            net_q: q,
            net_d: d,
            simulations,
            full: true,
            policy_surprise: 0.0,
            result: if ply % 2 == 0 { 1 } else { -1 },
        };
        let positions: Vec<PositionRow> = (0..).zip(values).map(position).collect();
        let row = GameRow {
            game: 0,
            network: String::new(),
            start_fen: game.start().fen(),
            moves: moves.clone(),
            opening_plies: 0,
            result: GameResult::WhiteWins,
            reason: Reason::Threefold.into(),
        };
        let path = |table: &str| format!("{table}/iteration=0000/part-0a-00000.parquet");
        write_table(folder.path(), &path("games"), &[row], &Provenance::new()).expect("valid rows");
        write_table(folder.path(), &path("positions"), &positions, &Provenance::new()).expect("valid rows");
        let run = RunSource::from_folder("x", folder.path());
        let read = stored(&Database::new(vec![run], Vec::new(), Work::Exact), 0).expect("an answer");
        let shown = read.expect("a game").expect("valid rows").searches;
        let shown: Vec<bool> = shown.iter().map(Option::is_some).collect();
        assert_eq!(shown, [false, true, true, true, true]);
    }
}
