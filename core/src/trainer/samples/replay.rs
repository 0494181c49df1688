//! Replays one game and compares every stored position with the replay.

use super::target::{self, Targets};
use super::{Fault, GameWithPositions, Rows, SampleError};
use crate::board::{Game, Move, Position, Side};
use crate::encoding::Encoding;
use crate::store::{GameRow, PositionRow};

/// The samples of one game.
pub(super) fn rows(
    part: &str,
    game: GameWithPositions<'_>,
    encoding: &Encoding,
    targets: Targets,
) -> Result<Rows, SampleError> {
    let mut replay =
        Replay { row: game.game, encoding, targets, legal: Vec::new(), rows: Rows::new(encoding) };
    let mut ply = 0;
    let replayed = replay.run(game.positions, &mut ply);
    let located = |fault| SampleError { part: part.to_owned(), game: game.game.game, ply, fault };
    replayed.map_err(located)?;
    Ok(replay.rows)
}

/// One game while it is replayed.
struct Replay<'a> {
    row: &'a GameRow,
    encoding: &'a Encoding,
    targets: Targets,
    /// Legal moves of the present position.
    legal: Vec<Move>,
    rows: Rows,
}

impl Replay<'_> {
    /// Plays the game through; `ply` says how far it came.
    fn run(&mut self, positions: &[PositionRow], ply: &mut usize) -> Result<(), Fault> {
        let start = Position::from_fen(&self.row.start_fen).map_err(Fault::Start)?;
        let mut game = Game::from_position(start);
        let mut positions = positions.iter().peekable();
        for &packed in &self.row.moves {
            *ply = game.ply();
            game.position().legal_moves_into(&mut self.legal);
            let legal = |played: &Move| self.legal.contains(played);
            let played = Move::from_packed(packed).filter(legal).ok_or(Fault::IllegalMove { packed })?;
            if let Some(row) = positions.next_if(|row| usize::from(row.ply) == game.ply()) {
                self.check(row, &game, packed)?;
                self.push(row, &game)?;
            }
            game.play_unchecked(played);
        }
        positions.next().map_or(Ok(()), |stray| {
            *ply = stray.ply.into();
            Err(Fault::Order)
        })
    }

    /// Compares a stored position with the replayed one.
    fn check(&self, row: &PositionRow, game: &Game, played: u16) -> Result<(), Fault> {
        let result = match game.position().side_to_move() {
            Side::White => self.row.result,
            Side::Black => -self.row.result,
        };
        same("fen", &game.position().fen(), &row.fen)?;
        same("legal", &self.legal.len(), &usize::from(row.legal))?;
        same("played", &played, &row.played)?;
        same("result", &result, &row.result)?;
        same("target's length", &row.moves.len(), &row.target.len())
    }

    /// Adds a sample; one without a policy target has no moves.
    fn push(&mut self, row: &PositionRow, game: &Game) -> Result<(), Fault> {
        let plies_left = self.row.moves.len() - game.ply();
        let target = target::value(row, plies_left, self.targets)?;
        let wdl = target::weighted(target, self.row, self.targets);
        self.encoding.encode(game, &mut self.rows.binary, &mut self.rows.scalars);
        if row.full {
            let packed: Vec<u16> = self.legal.iter().map(|legal| legal.packed()).collect();
            self.rows.shares.extend(target::shares(row, &packed)?);
            let side = game.position().side_to_move();
            let indices = self.legal.iter().map(|&legal| self.encoding.policy_index(legal, side));
            self.rows.legal.extend(indices);
        }
        self.rows.legal_ends.push(self.rows.legal.len() as u64);
        self.rows.wdl.push(wdl);
        Ok(())
    }
}

fn same<T: PartialEq + ToString>(column: &'static str, expected: &T, found: &T) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Differs { column, expected: expected.to_string(), found: found.to_string() })
}
