//! One game: its records are replayed, and must follow from each other.

use std::io::{self, Read};

use super::board::Board;
use super::fault::Fault;
use super::params::Lc0Params;
use super::record::{Record, V6_BYTES, V7_BYTES, record_bytes, version_of};
use super::search::{indexed_moves, set_search, whole_result};
use crate::board::{Adjudication, Ending, Game, GameResult, Move, Reason, Side};
use crate::import::format::{Imported, NotTaken, RULES};
use crate::store::legality::other_end;
use crate::store::{GameRow, HeaderRow, PositionRow, Reject};

/// `termination` of a game that lc0 ended before the rules did.
const ADJUDICATED: &str = "adjudication";
/// `termination` of a game that was ended because of its length.
const MAX_LENGTH: &str = "max game length";

/// The game whose records these are, with `name` among its headers.
pub(super) fn game_of(records: &mut dyn Read, name: &str, params: &Lc0Params) -> Result<Imported, NotTaken> {
    let mut bytes = vec![0; V7_BYTES];
    let mut replay = Replay { params, game: None, rows: Vec::new(), end: End::default() };
    for number in 1.. {
        let length = read_record(records, &mut bytes).map_err(|fault| fault.in_record(number))?;
        let Some(length) = length else { break };
        let record = Record::new(&bytes[..length]);
        replay.push(record).map_err(|fault| fault.in_record(number))?;
    }
    replay.finish(name)
}

/// Reads a record and returns its length; `None` at the end.
fn read_record(records: &mut dyn Read, bytes: &mut [u8]) -> Result<Option<usize>, Fault> {
    let damaged = |detail| Fault { reason: Reject::Damaged, detail };
    // Fewer bytes than there is room for are read only at the end.
    let mut fill = |mut into: &mut [u8]| {
        let read = io::copy(&mut (&mut *records).take(into.len() as u64), &mut into);
        let read = read.map_err(|cause| damaged(format!("its content is cut or damaged: {cause}")))?;
        Ok(read as usize)
    };
    let begun = fill(&mut bytes[..4])?;
    if begun == 0 {
        return Ok(None);
    }
    let known = version_of(&bytes[..begun]);
    let Some(length) = known.map_or(Some(V6_BYTES), record_bytes) else {
        let detail = format!("its version is {}; expected 6 or 7", known.unwrap_or_default());
        return Err(Fault { reason: Reject::Version, detail });
    };
    let found = begun + fill(&mut bytes[begun..length])?;
    if found < length {
        return Err(damaged(format!("it ends after {found} of the {length} bytes of a record")));
    }
    Ok(Some(length))
}

/// What the last record says of the game.
#[derive(Default)]
struct End {
    /// The result for White; `None` if it is a mixture.
    result: Option<i8>,
    /// That record's result, as it is stored.
    stored: (f32, f32),
    termination: &'static str,
}

/// A game as far as its records were read.
struct Replay<'a> {
    params: &'a Lc0Params,
    game: Option<Game>,
    rows: Vec<PositionRow>,
    end: End,
}

impl Replay<'_> {
    fn push(&mut self, record: Record<'_>) -> Result<(), Fault> {
        let board = Board::of_record(record)?;
        let game = match &mut self.game {
            Some(game) => game,
            first => first.insert(Game::from_position(board.start(record)?)),
        };
        if let Some(difference) = board.difference(&Board::of_position(game.position())) {
            let detail = format!("it does not follow from the move before: its position {difference}");
            return Err(Fault { reason: Reject::Planes, detail });
        }
        let ply = game.ply();
        if ply == usize::from(u16::MAX) {
            let detail = format!("it has more records; expected at most {}", u16::MAX);
            return Err(Fault { reason: Reject::TooLong, detail });
        }
        let legal = indexed_moves(game.position());
        let mut row = PositionRow { ply: ply as u16, ..PositionRow::default() };
        set_search(&mut row, record, &legal, self.params)?;
        let played = played(record, &legal)?;
        if ply >= self.params.skip_plies as usize {
            row.fen = game.position().fen();
            row.played = played.packed();
            self.rows.push(row);
        }
        let sign = if game.position().side_to_move() == Side::White { 1 } else { -1 };
        self.end = End {
            result: whole_result(record)?.map(|result| sign * result),
            stored: record.result(),
            termination: match (record.is_cut_off(), record.is_adjudicated()) {
                (true, _) => MAX_LENGTH,
                (false, true) => ADJUDICATED,
                (false, false) => "",
            },
        };
        game.play_unchecked(played);
        Ok(())
    }

    fn finish(self, name: &str) -> Result<Imported, NotTaken> {
        let whole = |reason, detail| Fault { reason, detail }.in_record(0);
        let Some(game) = &self.game else {
            return Err(whole(Reject::Damaged, "it has no records".to_owned()));
        };
        let outcome = || game.outcome(&RULES).map(|outcome| outcome.result());
        let Some(result) = self.end.result.map(result_of).or_else(outcome) else {
            let (q, d) = self.end.stored;
            let detail = format!(
                "its last record has result_q = {q} and result_d = {d}, which is no win, draw or loss, and its moves do not end it"
            );
            return Err(whole(Reject::NoResult, detail));
        };
        if let Some(end) = other_end(game, result) {
            let detail = format!("its last record says {}, but its moves {end}", result.symbol());
            return Err(whole(Reject::OtherResult, detail));
        }
        let plies = game.ply();
        if plies < self.params.min_plies as usize {
            return Err(NotTaken::LeftOut("min_plies"));
        }
        let mut positions = self.rows;
        for row in &mut positions {
            // Not by " b ", which castling rights can be, too.
            let white_moves = row.fen.contains(" w ");
            row.result = result.score_for(if white_moves { Side::White } else { Side::Black });
        }
        let termination = self.end.termination;
        let header = HeaderRow {
            event: name.to_owned(),
            termination: termination.to_owned(),
            result: result.symbol().to_owned(),
            ..HeaderRow::default()
        };
        let game = GameRow {
            game: 0,
            network: String::new(),
            start_fen: game.start().fen(),
            moves: game.moves().iter().map(|played| played.packed()).collect(),
            opening_plies: plies.min(self.params.skip_plies as usize) as u16,
            result,
            reason: ending(game, result, termination),
        };
        Ok(Imported { game, header, positions })
    }
}

/// The move played, by its index.
fn played(record: Record<'_>, legal: &[(Move, u16)]) -> Result<Move, Fault> {
    let found = legal.iter().find(|(_, index)| *index == record.played());
    found.map(|(mv, _)| *mv).ok_or_else(|| {
        let detail = format!("the policy index {} of the move played is of no legal move", record.played());
        Fault { reason: Reject::IllegalMove, detail }
    })
}

fn result_of(for_white: i8) -> GameResult {
    GameResult::won_by(match for_white {
        1 => Some(Side::White),
        0 => None,
        _ => Some(Side::Black),
    })
}

/// What ended a game: the rules of chess where they fit the result. A result against them comes from tablebases, by which lc0's
/// rescorer corrects results. Otherwise lc0 ended the game, and says whether because of its length.
pub(super) fn ending(game: &Game, result: GameResult, termination: &str) -> Ending {
    let outcome = game.outcome(&RULES);
    if let Some(outcome) = outcome.filter(|outcome| outcome.result() == result) {
        return outcome.reason.into();
    }
    let is_cut_off = termination == MAX_LENGTH;
    match result {
        _ if outcome.is_some() => Ending::Adjudicated(Adjudication::Tablebase),
        GameResult::Draw if is_cut_off => Reason::PlyCap.into(),
        GameResult::Draw => Ending::Adjudicated(Adjudication::AgreedDraw),
        _ if is_cut_off => Ending::Adjudicated(Adjudication::Tablebase),
        _ => Ending::Adjudicated(Adjudication::Resignation),
    }
}
