//! From the text of a chunk to rows.

use super::chunks::Chunk;
use super::params::{ImportParams, elo, fault_of};
use super::value::value_of;
use crate::board::{
    Adjudication, Ending, Game, GameResult, PgnEnd, PgnFaultKind, PgnReader, PgnRecord, Reason, Rules,
};
use crate::store::{GameRow, HeaderRow, PositionRow, Reject, RejectRow};

/// Games from outside have no ply cap.
const RULES: Rules = Rules { max_plies: u32::MAX };

/// The rows of a game.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Imported {
    pub(super) game: GameRow,
    pub(super) header: HeaderRow,
    pub(super) positions: Vec<PositionRow>,
}

/// What becomes of a game.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parsed {
    /// It is taken.
    Taken(Box<Imported>),
    /// It is broken.
    Rejected(RejectRow),
    /// An option leaves it out.
    LeftOut(&'static str),
}

/// The games of a chunk in order. Games are numbered from 0 here; the numbers within the file count from 1 within the chunk.
pub(super) fn parse(chunk: &Chunk, source: &str, params: &ImportParams) -> Vec<Parsed> {
    let mut reader = PgnReader::new(&chunk.text, chunk.start.lines as usize + 1);
    let mut parsed = Vec::new();
    while let Some(record) = reader.next_game(&|tags| params.excludes(tags).is_none()) {
        let number = parsed.len() as u32 + 1;
        let result = params.excludes(&record.tags).map_or_else(
            || taken(&record, params).map(|result| imported(&record, result, params)),
            |option| Err(NotTaken::LeftOut(option)),
        );
        parsed.push(match result {
            Ok(mut imported) => {
                source.clone_into(&mut imported.header.source);
                imported.header.number = number;
                Parsed::Taken(Box::new(imported))
            }
            Err(NotTaken::LeftOut(option)) => Parsed::LeftOut(option),
            Err(NotTaken::Rejected { reason, line, detail }) => {
                let (source, line) = (source.to_owned(), line_number(line));
                Parsed::Rejected(RejectRow { reject: 0, source, number, line, reason, detail })
            }
        });
    }
    parsed
}

/// Why a game is not taken.
enum NotTaken {
    LeftOut(&'static str),
    Rejected { reason: Reject, line: usize, detail: String },
}

/// The result of a game that is taken.
fn taken(record: &PgnRecord, params: &ImportParams) -> Result<GameResult, NotTaken> {
    let rejected = |reason, detail| NotTaken::Rejected { reason, line: record.line, detail };
    if let Some(fault) = &record.fault {
        let reason = match fault.kind {
            PgnFaultKind::Syntax => Reject::Syntax,
            PgnFaultKind::Fen => Reject::Fen,
            PgnFaultKind::Variant => Reject::Variant,
            PgnFaultKind::Move => Reject::IllegalMove,
            PgnFaultKind::NullMove => Reject::NullMove,
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
    if !tag.is_empty() && PgnEnd::from_symbol(tag) != record.end {
        let detail = format!("its tag Result says {tag}, and {} follows its moves", result.symbol());
        return Err(rejected(Reject::OtherResult, detail));
    }
    let outcome = record.game.outcome(&RULES).filter(|outcome| is_final(outcome.reason));
    if let Some(outcome) = outcome.filter(|outcome| outcome.result() != result) {
        let (by, found) = (outcome.reason.name(), outcome.result().symbol());
        let detail = format!("{} follows its moves, which end in {found} by {by}", result.symbol());
        return Err(rejected(Reject::OtherResult, detail));
    }
    if plies < params.min_plies as usize { Err(NotTaken::LeftOut("min_plies")) } else { Ok(result) }
}

/// Whether a game cannot go on: other draws have to be claimed, or are not known to every program.
fn is_final(reason: Reason) -> bool {
    matches!(reason, Reason::Checkmate | Reason::Stalemate)
}

fn imported(record: &PgnRecord, result: GameResult, params: &ImportParams) -> Imported {
    let game = &record.game;
    let opening_plies = game.ply().min(params.skip_plies as usize);
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
            reason: ending(game, result, record.tags.get("Termination")),
        },
    }
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
        termination: text("Termination"),
        eco: text("ECO"),
        result: result.symbol().to_owned(),
        ..HeaderRow::default()
    }
}

/// Files of more lines than this have their last games on the last line that fits.
fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// What ended a game: the rules of chess where they fit the result, else what the tag `Termination` says.
pub(super) fn ending(game: &Game, result: GameResult, termination: &str) -> Ending {
    if let Some(outcome) = game.outcome(&RULES).filter(|outcome| outcome.result() == result) {
        return outcome.reason.into();
    }
    if result == GameResult::Draw {
        return Ending::Adjudicated(Adjudication::AgreedDraw);
    }
    fault_of(termination).map_or(Ending::Adjudicated(Adjudication::Resignation), Ending::Forfeit)
}
