//! From the text of a chunk to rows.

use super::params::{PgnParams, elo, fault_of};
use super::value::value_of;
use crate::board::{
    Adjudication, Ending, Game, GameResult, PgnEnd, PgnFaultKind, PgnReader, PgnRecord, PgnTags, Reason,
};
use crate::import::format::{Chunk, Imported, NotTaken, Parsed, RULES, line_number};
use crate::store::legality::other_end;
use crate::store::{GameRow, HeaderRow, OPENING_PLIES_TAG, PositionRow, REASON_TAG, Reject};

/// The games of a chunk in order. Games are numbered from 0 here; the numbers within the file count from 1 within the chunk.
pub(super) fn parse(chunk: &Chunk, source: &str, params: &PgnParams) -> Vec<Parsed> {
    let mut reader = PgnReader::new(&chunk.text, chunk.start.lines as usize + 1);
    reader.scores = params.scores;
    let mut parsed = Vec::new();
    while let Some(record) = reader.next_game(&|tags| params.excludes(tags).is_none()) {
        let number = parsed.len() as u32 + 1;
        let result = params.excludes(&record.tags).map_or_else(
            || taken(&record, params).map(|result| imported(&record, result, params)),
            |option| Err(NotTaken::LeftOut(option)),
        );
        parsed.push(Parsed::of(result, source, number));
    }
    parsed
}

/// The result of a game that is taken.
fn taken(record: &PgnRecord, params: &PgnParams) -> Result<GameResult, NotTaken> {
    let rejected = |reason, detail| NotTaken::Rejected { reason, line: record.line, detail };
    if let Some(fault) = &record.fault {
        let reason = match fault.kind {
            PgnFaultKind::Syntax => Reject::Syntax,
            PgnFaultKind::Fen => Reject::Fen,
            PgnFaultKind::Variant => Reject::Variant,
            PgnFaultKind::Move => Reject::IllegalMove,
            PgnFaultKind::NullMove => Reject::NullMove,
            PgnFaultKind::Result => Reject::NoResult,
        };
        return Err(NotTaken::Rejected { reason, line: fault.line, detail: fault.message.clone() });
    }
    let plies = record.game.ply();
    if plies > usize::from(u16::MAX) {
        return Err(rejected(Reject::TooLong, format!("{plies} plies; expected at most {}", u16::MAX)));
    }
    let Some(PgnEnd::Result(result)) = record.end else {
        let found = if record.end.is_some() { "*" } else { "nothing" };
        let detail = format!("{found} follows its {plies} plies; expected 1-0, 0-1 or 1/2-1/2");
        return Err(rejected(Reject::NoResult, detail));
    };
    let tag = record.tags.get("Result");
    let says = PgnEnd::from_symbol(tag);
    if !tag.is_empty() && says != Some(PgnEnd::Unknown) && says != record.end {
        let detail = format!("its tag Result says {tag}, and {} follows its moves", result.symbol());
        return Err(rejected(Reject::OtherResult, detail));
    }
    if let Some(end) = other_end(&record.game, result) {
        let detail = format!("{} follows its moves, which {end}", result.symbol());
        return Err(rejected(Reject::OtherResult, detail));
    }
    if plies < params.min_plies as usize { Err(NotTaken::LeftOut("min_plies")) } else { Ok(result) }
}

fn imported(record: &PgnRecord, result: GameResult, params: &PgnParams) -> Imported {
    let game = &record.game;
    let opening_plies = game.ply().min(untrained_plies(&record.tags, params));
    let positions = game.positions().zip(game.moves()).enumerate().skip(opening_plies);
    let positions = positions.map(|(ply, (position, played))| {
        let eval = ply.checked_sub(1).and_then(|before| record.notes[before].eval);
        let (q, d) = value_of(eval, result, position.side_to_move(), params);
        PositionRow {
            game: 0,
            ply: ply as u16,
            fen: position.fen(),
            played: played.packed(),
            legal: position.legal_move_count() as u16,
            moves: vec![played.packed()],
            visits: vec![1],
            target: vec![u16::MAX],
            root_q: q,
            root_d: d,
            net_q: q,
            net_d: d,
            simulations: 1,
            full: params.policy_targets,
            // Nothing was searched.
            policy_surprise: 0.0,
            result: result.score_for(position.side_to_move()),
        }
    });
    let mut header = header(record, result);
    header.set_notes(&record.notes);
    Imported {
        positions: positions.collect(),
        header,
        game: GameRow {
            game: 0,
            network: String::new(),
            start_fen: game.start().fen(),
            moves: game.moves().iter().map(|played| played.packed()).collect(),
            opening_plies: opening_plies as u16,
            result,
            reason: ending(game, result, termination(&record.tags)),
        },
    }
}

/// Plies at the start that are not trained on: those of the parameters, or of a game that dc0 wrote, in which no search chose them.
fn untrained_plies(tags: &PgnTags, params: &PgnParams) -> usize {
    let chosen_by_none = || tags.get(OPENING_PLIES_TAG).parse().unwrap_or(0);
    let own = if of_dc0(tags).is_some() { chosen_by_none() } else { 0 };
    own.max(params.skip_plies as usize)
}

/// What ended a game that dc0 wrote, by its tag.
fn of_dc0(tags: &PgnTags) -> Option<&str> {
    Some(tags.get(REASON_TAG)).filter(|name| Ending::from_name(name).is_some())
}

/// What the tags say of the end: dc0's own word for it, or the tag `Termination`.
fn termination(tags: &PgnTags) -> &str {
    of_dc0(tags).unwrap_or_else(|| tags.get("Termination"))
}

fn header(record: &PgnRecord, result: GameResult) -> HeaderRow {
    let text = |name: &str| record.tags.get(name).to_owned();
    let date =
        ["UTCDate", "Date"].map(|name| record.tags.get(name)).into_iter().find(|date| !date.is_empty());
    HeaderRow {
        line: line_number(record.line),
        event: text("Event"),
        site: text("Site"),
        date: date.unwrap_or_default().to_owned(),
        round: text("Round"),
        white: text("White"),
        black: text("Black"),
        white_elo: elo(record.tags.get("WhiteElo")).unwrap_or(0) as u16,
        black_elo: elo(record.tags.get("BlackElo")).unwrap_or(0) as u16,
        time_control: text("TimeControl"),
        termination: termination(&record.tags).to_owned(),
        eco: text("ECO"),
        result: result.symbol().to_owned(),
        ..HeaderRow::default()
    }
}

/// What ended a game: the rules of chess where they fit the result, else dc0's word for it or what the tag `Termination` says.
pub(super) fn ending(game: &Game, result: GameResult, termination: &str) -> Ending {
    if let Some(outcome) = game.outcome(&RULES).filter(|outcome| outcome.result() == result) {
        return outcome.reason.into();
    }
    let is_draw = result == GameResult::Draw;
    let can_end_it = |ending: &Ending| match ending {
        Ending::Rules(reason) => is_draw && *reason == Reason::PlyCap,
        Ending::Adjudicated(Adjudication::AgreedDraw) => is_draw,
        Ending::Adjudicated(Adjudication::Resignation) | Ending::Forfeit(_) => !is_draw,
        Ending::Adjudicated(_) => true,
    };
    if let Some(ending) = Ending::from_name(termination).filter(can_end_it) {
        return ending;
    }
    if is_draw {
        return Ending::Adjudicated(Adjudication::AgreedDraw);
    }
    fault_of(termination).map_or(Ending::Adjudicated(Adjudication::Resignation), Ending::Forfeit)
}
