//! Replays one game and compares every stored position with the replay.

use super::target::{self, Targets};
use super::{Fault, GameWithPositions, Rows, SampleError, rescore};
use crate::board::{Game, Move, Position, Reason, Tablebase};
use crate::encoding::Encoding;
use crate::store::{GameRow, PositionRow};

/// What every game's samples are made with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) encoding: &'a Encoding,
    pub(super) targets: Targets,
    /// What corrects the games' results.
    pub(super) tables: Option<&'a Tablebase>,
}

/// The samples of one game.
pub(super) fn rows(part: &str, game: GameWithPositions<'_>, making: Making<'_>) -> Result<Rows, SampleError> {
    let mut replay = Replay {
        row: game.game,
        making,
        legal: Vec::new(),
        known: Vec::new(),
        rows: Rows::new(making.encoding),
    };
    let mut ply = 0;
    let replayed = replay.run(game.positions, &mut ply);
    let located = |fault| SampleError { part: part.to_owned(), game: game.game.game, ply, fault };
    replayed.map_err(located)?;
    Ok(replay.rows)
}

/// One game while it is replayed.
struct Replay<'a> {
    row: &'a GameRow,
    making: Making<'a>,
    /// Legal moves of the present position.
    legal: Vec<Move>,
    /// The result of perfect play from each position so far, for its side to move, where tables know it.
    known: Vec<Option<i8>>,
    rows: Rows,
}

impl Replay<'_> {
    /// Plays the game through; `ply` says how far it came.
    fn run(&mut self, positions: &[PositionRow], ply: &mut usize) -> Result<(), Fault> {
        let start = Position::from_fen(&self.row.start_fen).map_err(Fault::Start)?;
        let mut game = Game::from_position(start);
        let mut rows = positions.iter().peekable();
        for &packed in &self.row.moves {
            *ply = game.ply();
            self.probe(&game)?;
            game.position().legal_moves_into(&mut self.legal);
            let legal = |played: &Move| self.legal.contains(played);
            let played = Move::from_packed(packed).filter(legal).ok_or(Fault::IllegalMove { packed })?;
            if let Some(row) = rows.next_if(|row| usize::from(row.ply) == game.ply()) {
                self.check(row, &game, packed)?;
                self.push(row, &game)?;
            }
            game.play_unchecked(played);
        }
        if let Some(stray) = rows.next() {
            *ply = stray.ply.into();
            return Err(Fault::Order);
        }
        *ply = game.ply();
        self.probe(&game)?;
        self.push_values(positions, ply)
    }

    fn probe(&mut self, game: &Game) -> Result<(), Fault> {
        if let Some(tables) = self.making.tables {
            self.known.push(rescore::known(tables, game)?);
        }
        Ok(())
    }

    /// Compares a stored position with the replayed one.
    fn check(&self, row: &PositionRow, game: &Game, played: u16) -> Result<(), Fault> {
        let result = self.row.result.score_for(game.position().side_to_move());
        same("fen", &game.position().fen(), &row.fen)?;
        same("legal", &self.legal.len(), &usize::from(row.legal))?;
        same("played", &played, &row.played)?;
        same("result", &result, &row.result)?;
        same("target's length", &row.moves.len(), &row.target.len())
    }

    /// Adds a sample but its value target; one without a policy target has no moves.
    fn push(&mut self, row: &PositionRow, game: &Game) -> Result<(), Fault> {
        let encoding = self.making.encoding;
        encoding.encode(game, &mut self.rows.binary, &mut self.rows.scalars);
        if row.full {
            let packed: Vec<u16> = self.legal.iter().map(|legal| legal.packed()).collect();
            self.rows.shares.extend(target::shares(row, &packed)?);
            let side = game.position().side_to_move();
            let indices = self.legal.iter().map(|&legal| encoding.policy_index(legal, side));
            self.rows.legal.extend(indices);
        }
        self.rows.legal_ends.push(self.rows.legal.len() as u64);
        Ok(())
    }

    /// Adds the value targets, once it is known how the game went on.
    fn push_values(&mut self, positions: &[PositionRow], ply: &mut usize) -> Result<(), Fault> {
        let known = rescore::carried_back(&self.known);
        for row in positions {
            *ply = row.ply.into();
            let perfect = known.get(*ply).copied().flatten();
            let plies_left = self.row.moves.len() - *ply;
            let target = target::value(row, perfect, plies_left, self.making.targets)?;
            let cut_off = self.row.reason == Reason::PlyCap;
            let is_known = !cut_off || perfect.is_some();
            let weight = if is_known { 1.0 } else { self.making.targets.weight_of_cut_off() };
            self.rows.wdl.push(target::weighted(target, weight));
            self.rows.plies_left.push((!cut_off).then_some(plies_left as u16));
        }
        Ok(())
    }
}

fn same<T: PartialEq + ToString>(column: &'static str, expected: &T, found: &T) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Differs { column, expected: expected.to_string(), found: found.to_string() })
}
