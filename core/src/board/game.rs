//! A game: a start position, the moves since, and the history needed to detect repetitions.

use super::{Move, Outcome, Position, Reason, Rules};
use crate::event::GameSnapshot;

/// The state after some number of plies.
#[derive(Debug, Clone)]
struct Ply {
    position: Position,
    key: u64,
    /// How often this position occurred earlier in the game.
    repetitions: u8,
    /// Plies since its last occurrence; 0 if there was none.
    since: u16,
}

/// A game whose moves can be played and taken back; a search descends its tree with one.
///
/// Invariants: `plies` has one entry more than `moves`; `plies[i + 1]` is `plies[i]` after `moves[i]`.
#[derive(Debug, Clone)]
pub struct Game {
    plies: Vec<Ply>,
    moves: Vec<Move>,
}

impl Game {
    /// A game from a position without history.
    pub fn from_position(position: Position) -> Self {
        let key = position.key();
        Self { plies: vec![Ply { position, key, repetitions: 0, since: 0 }], moves: Vec::new() }
    }

    /// A game from the initial position.
    pub fn initial() -> Self {
        Self::from_position(Position::initial())
    }

    fn last(&self) -> &Ply {
        self.plies.last().expect("a game has a start position")
    }

    /// The current position.
    pub fn position(&self) -> &Position {
        &self.last().position
    }

    /// The position before the first move.
    pub fn start(&self) -> &Position {
        &self.plies[0].position
    }

    /// The position some plies ago, if the game has that many.
    pub fn position_before(&self, plies: usize) -> Option<&Position> {
        self.moves.len().checked_sub(plies).map(|ply| &self.plies[ply].position)
    }

    /// The positions from the start to the current one, one more than there are moves.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = &Position> {
        self.plies.iter().map(|ply| &ply.position)
    }

    /// The positions from the current one back to the start, each with its earlier occurrences in this game.
    pub fn recent(&self) -> impl Iterator<Item = (&Position, u8)> {
        self.plies.iter().rev().map(|ply| (&ply.position, ply.repetitions))
    }

    /// The current position's key; equal keys mean a repetition.
    pub fn key(&self) -> u64 {
        self.last().key
    }

    /// The keys of the positions from the start to the current one.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = u64> {
        self.plies.iter().map(|ply| ply.key)
    }

    /// How often the current position occurred earlier in this game.
    pub fn repetitions(&self) -> u8 {
        self.last().repetitions
    }

    /// Plies since the current position last occurred, if it did.
    pub fn plies_since_repetition(&self) -> Option<usize> {
        (self.last().since > 0).then(|| self.last().since.into())
    }

    /// A hash of what decides how the game can continue: the position, its clocks and ply, its earlier occurrences (up to two),
    /// and the earlier positions whose next occurrence would be the third and so a draw. Positions that have occurred only once
    /// are not included.
    pub fn state_key(&self) -> u64 {
        let clock = self.position().halfmove_clock();
        let reversible = self.plies.iter().rev().skip(1).take(clock as usize);
        // Count each position at its second occurrence only. The sum does not depend on their order.
        let twice = reversible.filter(|ply| ply.repetitions == 1);
        let drawn = twice.fold(0u64, |sum, ply| sum.wrapping_add(mix(ply.key)));
        let counts = (self.ply() as u64) << 32 | u64::from(clock) << 2 | u64::from(self.repetitions().min(2));
        mix(self.key() ^ mix(drawn ^ mix(counts)))
    }

    /// Whether any position was repeated since the last capture or pawn move.
    pub fn has_repeated(&self) -> bool {
        let reach = self.position().halfmove_clock() as usize;
        self.plies.iter().rev().take(reach + 1).any(|ply| ply.repetitions > 0)
    }

    /// The moves since the start position.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// A snapshot of the game under a number, for spectators.
    pub fn snapshot(&self, number: u32) -> GameSnapshot {
        let moves = self.moves.iter().map(|mv| mv.packed()).collect();
        GameSnapshot { number, start: self.start().fen(), moves }
    }

    /// The number of moves since the start position.
    pub fn ply(&self) -> usize {
        self.moves.len()
    }

    /// Plays a move that the caller knows to be legal.
    pub fn play_unchecked(&mut self, mv: Move) {
        let now = self.moves.len();
        // Copy the position within the vector: it is the largest object that a descent copies.
        self.plies.extend_from_within(now..);
        let (past, next) = self.plies.split_at_mut(now + 1);
        let next = &mut next[0];
        next.key = next.position.play_unchecked(mv, next.key);
        let since = plies_since(past, next.key, next.position.halfmove_clock());
        next.repetitions = since.map_or(0, |plies| past[past.len() - plies].repetitions.saturating_add(1));
        next.since = since.unwrap_or(0) as u16;
        self.moves.push(mv);
    }

    /// Takes back moves until `ply` of them are left.
    pub fn take_back_to(&mut self, ply: usize) {
        self.moves.truncate(ply);
        self.plies.truncate(ply + 1);
    }

    /// How the game ended, if it has: by the rules of chess, else by the ply cap.
    pub fn outcome(&self, rules: &Rules) -> Option<Outcome> {
        let is_capped = self.ply() >= rules.max_plies as usize;
        let capped = || is_capped.then(|| Outcome::draw(Reason::PlyCap));
        self.outcome_by_rules(self.position().has_legal_move()).or_else(capped)
    }

    /// How the game ended by the rules of chess, if it has, for a caller that knows whether there is a legal move. The ply cap is
    /// no rule of chess: it cuts a game off and says nothing of who stands better, so a search does not look at it.
    ///
    /// Mate takes precedence over every draw, as in the rules: a mate on the hundredth ply wins.
    pub fn outcome_by_rules(&self, has_legal_move: bool) -> Option<Outcome> {
        let position = self.position();
        if !has_legal_move {
            let mated = position.is_check();
            let winner = mated.then(|| position.side_to_move().other());
            let reason = if mated { Reason::Checkmate } else { Reason::Stalemate };
            return Some(Outcome { winner, reason });
        }
        let reason = if position.is_insufficient_material() {
            Reason::InsufficientMaterial
        } else if self.repetitions() >= 2 {
            Reason::Threefold
        } else if position.halfmove_clock() >= 100 {
            Reason::FiftyMoves
        } else {
            return None;
        };
        Some(Outcome::draw(reason))
    }
}

/// How many plies before the next position one with this key occurred last. Only positions since the last capture or pawn move,
/// with the same side to move, can be equal.
fn plies_since(past: &[Ply], key: u64, halfmove_clock: u32) -> Option<usize> {
    let reach = past.len().min(halfmove_clock as usize);
    (4..=reach).step_by(2).find(|distance| past[past.len() - distance].key == key)
}

/// The finaliser of SplitMix64 (Steele et al. 2014, "Fast splittable pseudorandom number generators").
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
