//! The rows that self-play records: games and their searched positions.

use std::iter;

use crate::board::{Ending, GameResult, Move};
use crate::math::ln;
use crate::network::PositionValue;
use crate::search::{Search, Target};

/// One game of self-play.
#[derive(Debug, Clone, PartialEq)]
pub struct GameRow {
    /// Number of the game within its step; the key of the table.
    pub game: u32,
    /// The net that played, as the first 16 hex digits of its digest; empty for a game that none played.
    pub network: String,
    /// The position before the first move.
    pub start_fen: String,
    /// Every move played, the opening's included, packed as `board::Move` packs it.
    pub moves: Vec<u16>,
    /// Plies at the start that are not trained on, because they are random or from a book; they have no row in `positions`.
    pub opening_plies: u16,
    /// Who won; stored as 1 White, 0 draw, −1 Black.
    pub result: GameResult,
    /// Why the game ended; stored as its name.
    pub reason: Ending,
}

/// One searched ply of a game.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PositionRow {
    /// The game's number, as in [`GameRow::game`].
    pub game: u32,
    /// Plies played before this position, the opening's included.
    pub ply: u16,
    /// The position, with the en-passant square only if a capture is legal.
    pub fen: String,
    /// The move played, packed.
    pub played: u16,
    /// The number of legal moves.
    pub legal: u16,
    /// Moves with visits or a share of the policy target, packed, rising.
    pub moves: Vec<u16>,
    /// Visits of each of `moves`.
    pub visits: Vec<u32>,
    /// The policy target: the share of each of `moves` in 65535ths, rounded.
    pub target: Vec<u16>,
    /// The search's value of the root, in [−1, 1], for the side to move.
    pub root_q: f32,
    /// The search's P(draw) at the root.
    pub root_d: f32,
    /// The net's own value of the position, in [−1, 1], for the side to move.
    pub net_q: f32,
    /// The net's own P(draw).
    pub net_d: f32,
    /// Visits of the root, those of a reused tree included; of alpha-beta, positions visited.
    pub simulations: u32,
    /// Whether the policy is trained on `target`.
    pub full: bool,
    /// How much the search changed the policy: KL(target ‖ prior) in nats, with the net's priors before noise. NaN in files of
    /// version 1, which do not have it.
    pub policy_surprise: f32,
    /// The game's result for the side to move: 1, 0 or −1.
    pub result: i8,
}

/// Each game with its positions, given both sorted by game. In place of positions that belong to no game, the first of them.
pub fn games_with_positions<'a>(
    games: &'a [GameRow],
    positions: &'a [PositionRow],
) -> impl Iterator<Item = Result<(&'a GameRow, &'a [PositionRow]), &'a PositionRow>> {
    let mut games = games.iter().peekable();
    let mut groups = positions.chunk_by(|row, next| row.game == next.game).peekable();
    iter::from_fn(move || {
        let is_stray = |group: &&[PositionRow]| games.peek().is_none_or(|game| group[0].game < game.game);
        if let Some([stray, ..]) = groups.next_if(is_stray) {
            return Some(Err(stray));
        }
        let game = games.next()?;
        let own = groups.next_if(|group| group[0].game == game.game);
        Some(Ok((game, own.unwrap_or_default())))
    })
}

impl PositionRow {
    /// Sets what a finished search says of the position.
    pub(super) fn set_search(&mut self, search: &Search) {
        let target = search.policy_target();
        self.legal = target.len() as u16;
        self.set_target(target.iter().map(|mv: &Target| (mv.played.packed(), mv.visits, mv.share)));
        let (root, net) = (search.root_value(), search.net_value());
        (self.root_q, self.root_d) = (root.value as f32, root.draw as f32);
        (self.net_q, self.net_d) = (net.value as f32, net.draw as f32);
        self.simulations = search.visits();
        self.policy_surprise = divergence(&target, search.priors());
    }

    /// Sets a net's answer without a search: its value, and the policy of all legal moves.
    pub(super) fn set_answer(&mut self, net: PositionValue, policy: &[(Move, f32)]) {
        self.legal = policy.len() as u16;
        self.set_target(policy.iter().map(|(played, share)| (played.packed(), 0, f64::from(*share))));
        (self.root_q, self.root_d) = (net.value as f32, net.draw as f32);
        (self.net_q, self.net_d) = (self.root_q, self.root_d);
        (self.simulations, self.policy_surprise) = (1, 0.0);
    }

    /// Sets the policy target: packed moves with their visits and their shares in [0, 1]. Those that have neither are left out.
    pub(crate) fn set_target(&mut self, moves: impl Iterator<Item = (u16, u32, f64)>) {
        let quantised = |(packed, visits, share)| (packed, visits, quantised(share));
        let mut kept: Vec<(u16, u32, u16)> =
            moves.map(quantised).filter(|(_, visits, share)| *visits > 0 || *share > 0).collect();
        kept.sort_unstable();
        self.moves = kept.iter().map(|(packed, _, _)| *packed).collect();
        self.visits = kept.iter().map(|(_, visits, _)| *visits).collect();
        self.target = kept.iter().map(|(_, _, share)| *share).collect();
    }
}

/// KL(target ‖ prior) in nats.
fn divergence(target: &[Target], priors: &[(Move, f32)]) -> f32 {
    let term = |mv: &Target| {
        let prior = priors.iter().find(|(played, _)| *played == mv.played).map_or(0.0, |(_, prior)| *prior);
        mv.share * ln(mv.share / f64::from(prior.max(f32::MIN_POSITIVE)))
    };
    target.iter().filter(|mv| mv.share > 0.0).map(term).sum::<f64>().max(0.0) as f32
}

/// A share in [0, 1] as [`PositionRow::target`] stores it.
fn quantised(share: f64) -> u16 {
    (share * f64::from(u16::MAX)).round() as u16
}

#[cfg(test)]
mod tests {
    use super::{GameRow, PositionRow, Target, divergence, games_with_positions};
    use crate::board::{Ending, Game, GameResult, Reason};

    #[test]
    fn every_position_comes_with_its_game_or_is_reported() {
        let game = |game| GameRow {
            game,
            network: String::new(),
            start_fen: String::new(),
            moves: Vec::new(),
            opening_plies: 0,
            result: GameResult::Draw,
            reason: Ending::Rules(Reason::Stalemate),
        };
        let position = |(game, ply)| PositionRow { game, ply, ..PositionRow::default() };
        let found = |rows: &[(u32, u16)]| -> Vec<Result<(u32, usize), (u32, u16)>> {
            let (games, positions) =
                ([2, 3, 5].map(game), rows.iter().copied().map(position).collect::<Vec<_>>());
            games_with_positions(&games, &positions)
                .map(|found| match found {
                    Ok((game, own)) => {
                        assert!(own.iter().all(|row| row.game == game.game));
                        Ok((game.game, own.len()))
                    }
                    Err(stray) => Err((stray.game, stray.ply)),
                })
                .collect()
        };
        assert_eq!(found(&[(2, 0), (2, 1), (5, 0)]), [Ok((2, 2)), Ok((3, 0)), Ok((5, 1))]);
        let strays = [(1, 7), (2, 0), (4, 8), (4, 9), (5, 0), (6, 1)];
        let expected = [Err((1, 7)), Ok((2, 1)), Ok((3, 0)), Err((4, 8)), Ok((5, 1)), Err((6, 1))];
        assert_eq!(found(&strays), expected);
        // Out of order.
        assert_eq!(found(&[(2, 0), (5, 0), (3, 6)]), [Ok((2, 1)), Ok((3, 0)), Ok((5, 1)), Err((3, 6))]);
        assert_eq!(found(&[]), [Ok((2, 0)), Ok((3, 0)), Ok((5, 0))]);
    }

    #[test]
    fn policy_surprise_is_the_divergence_of_the_target_from_the_prior() {
        let moves = Game::initial().position().legal_moves();
        let target = [(0, 0.75), (1, 0.25), (2, 0.0)].map(|(index, share)| Target {
            played: moves[index],
            visits: 1,
            share,
        });
        let priors = [(moves[0], 0.25), (moves[1], 0.125), (moves[2], 0.625)];
        // ¾ ln 3 + ¼ ln 2.
        let expected = 0.75 * 3.0_f64.ln() + 0.25 * 2.0_f64.ln();
        assert!((f64::from(divergence(&target, &priors)) - expected).abs() < 1e-6);
        let same = [(moves[0], 0.75), (moves[1], 0.25)];
        assert_eq!(divergence(&target, &same), 0.0);
    }
}
