//! Replays one game and compares every stored position with the replay.

use super::target::{self, Chance, Targets, ValueTarget};
use super::{Fault, Part, Rows, SampleError, rescore};
use crate::board::{Game, Move, Position, Tablebase};
use crate::encoding::Encoding;
use crate::rng::Seed;
use crate::store::{GameRow, PositionRow};

/// What the samples of every game depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplaySetup<'a> {
    pub(super) encoding: &'a Encoding,
    pub(super) targets: Targets,
    /// Decides which positions are taken how often, where that is left to chance.
    pub(super) seed: Seed,
    /// Corrects the games' results.
    pub(super) tablebases: Option<&'a Tablebase>,
}

/// The samples of one game.
pub(super) struct ReplayedGame {
    pub(super) rows: Rows,
    /// How often each of them is trained on in an epoch.
    pub(super) copies: Vec<u32>,
}

/// Makes the samples of one game.
pub(super) fn replay(
    part: Part<'_>,
    game: &GameRow,
    positions: &[PositionRow],
    setup: ReplaySetup<'_>,
) -> Result<ReplayedGame, SampleError> {
    let mut replay = Replay {
        row: game,
        setup,
        legal: Vec::new(),
        known: Vec::new(),
        balances: Vec::new(),
        pushed: None,
        trained: Vec::with_capacity(positions.len()),
        quiet: Vec::with_capacity(positions.len()),
        rows: Rows::new(setup.encoding),
    };
    let mut ply = 0;
    let replayed = replay.run(positions, &mut ply);
    let located = |fault| SampleError { part: part.name.to_owned(), game: game.game, ply, fault };
    replayed.map_err(located)?;
    let chance = Chance { part: part.name, source: part.source, seed: setup.seed };
    let copies = target::copies(chance, part.weight, positions, &replay.trained, setup.targets);
    let trained = replay.trained.iter().zip(copies).filter(|(is_trained, _)| **is_trained);
    let copies = trained.map(|(_, copies)| copies).collect();
    Ok(ReplayedGame { rows: replay.rows, copies })
}

/// One game while it is replayed.
struct Replay<'a> {
    row: &'a GameRow,
    setup: ReplaySetup<'a>,
    /// Legal moves of the current position.
    legal: Vec<Move>,
    /// The tablebase result of each position so far, for its side to move; `None` if unknown.
    known: Vec<Option<i8>>,
    /// The balance of material of each position so far, for its side to move.
    balances: Vec<i8>,
    /// The ply of the sample added last.
    pushed: Option<usize>,
    /// Whether each of the stored positions so far is trained on.
    trained: Vec<bool>,
    /// Whether each of them is quiet.
    quiet: Vec<bool>,
    rows: Rows,
}

impl Replay<'_> {
    /// Replays the game; `ply` is left at the ply reached, for errors.
    fn run(&mut self, positions: &[PositionRow], ply: &mut usize) -> Result<(), Fault> {
        let start = Position::from_fen(&self.row.start_fen).map_err(Fault::Start)?;
        let mut game = Game::from_position(start);
        let mut rows = positions.iter().peekable();
        for &packed in &self.row.moves {
            *ply = game.ply();
            self.probe(&game)?;
            game.position().legal_moves_into(&mut self.legal);
            let is_legal = |mv: &Move| self.legal.contains(mv);
            let played = Move::from_packed(packed).filter(is_legal).ok_or(Fault::IllegalMove { packed })?;
            if let Some(row) = rows.next_if(|row| usize::from(row.ply) == game.ply()) {
                self.check(row, &game, packed)?;
                let is_quiet = is_quiet(game.position(), played);
                self.quiet.push(is_quiet);
                let is_trained = self.setup.targets.positions.include(row.full, is_quiet);
                self.trained.push(is_trained);
                if is_trained {
                    self.push(row, &game)?;
                }
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

    /// Notes what later targets need of a position.
    fn probe(&mut self, game: &Game) -> Result<(), Fault> {
        let position = game.position();
        self.balances.push(position.material_balance(position.side_to_move()) as i8);
        if let Some(tablebases) = self.setup.tablebases {
            self.known.push(rescore::known_result(tablebases, game)?);
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

    /// Adds a sample without its value target; a sample without a policy target has no moves.
    fn push(&mut self, row: &PositionRow, game: &Game) -> Result<(), Fault> {
        let encoding = self.setup.encoding;
        encoding.encode(game, &mut self.rows.binary, &mut self.rows.scalars);
        if row.full {
            let packed: Vec<u16> = self.legal.iter().map(|mv| mv.packed()).collect();
            self.rows.shares.extend(target::shares(row, &packed, self.setup.targets)?);
            let side = game.position().side_to_move();
            let indices = self.legal.iter().map(|&mv| encoding.policy_index(mv, side));
            self.rows.legal.extend(indices);
        }
        self.rows.legal_ends.push(self.rows.legal.len() as u64);
        if let Some(before) = self.rows.replied.last_mut() {
            *before = row.full && self.pushed.is_some_and(|ply| ply + 1 == game.ply());
        }
        self.rows.replied.push(false);
        self.pushed = Some(game.ply());
        Ok(())
    }

    /// Adds the value targets, which depend on how the game continued.
    fn push_values(&mut self, positions: &[PositionRow], ply: &mut usize) -> Result<(), Fault> {
        let known = rescore::carry_back(&self.known);
        let targets = self.setup.targets;
        let values = target::values(self.row, positions, &known, targets, ply)?;
        let ending = self.row.reason;
        for (number, (row, value)) in positions.iter().zip(values).enumerate() {
            if !self.trained[number] {
                continue;
            }
            let is_taught = self.quiet[number] || !targets.quiet_values;
            let value = if is_taught { value } else { ValueTarget { weight: 0.0, ..value } };
            let plies_left = self.row.moves.len() as u16 - row.ply;
            self.rows.wdl.push(value.weighted());
            self.rows.plies_left.push(ending.is_played_out().then_some(plies_left));
            let perfect = known.get(usize::from(row.ply)).copied().flatten();
            self.rows.results.push(perfect.or((!ending.is_cut_off()).then_some(row.result)));
            self.rows.material.push(self.balance_after(row.ply.into()));
        }
        Ok(())
    }

    /// The balance of material `material_plies` after a ply, or at the game's end, for the side that moves at the ply.
    fn balance_after(&self, ply: usize) -> i8 {
        let later = (ply + self.setup.targets.material_plies as usize).min(self.balances.len() - 1);
        let balance = self.balances[later];
        if (later - ply).is_multiple_of(2) { balance } else { -balance }
    }
}

/// Whether a position is quiet: without a check, and with a move that neither captures nor promotes.
pub(in crate::trainer) fn is_quiet(position: &Position, played: Move) -> bool {
    !position.is_check() && position.known(played).is_quiet()
}

fn same<T: PartialEq + ToString>(column: &'static str, expected: &T, found: &T) -> Result<(), Fault> {
    if expected == found {
        return Ok(());
    }
    Err(Fault::Differs { column, expected: expected.to_string(), found: found.to_string() })
}
