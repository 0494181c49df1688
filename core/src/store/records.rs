//! Rows of the result tables that later stages write.

use crate::board::{GameResult, Reason};

/// One game of a match.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchGameRow {
    /// Number of the game within its match; the key of the table.
    pub game: u32,
    /// Number of the colour-reversed pair, two games from one opening.
    pub pair: u32,
    /// The first player.
    pub first: String,
    /// The second player.
    pub second: String,
    /// Whether the first player has White.
    pub first_is_white: bool,
    /// The position before the first move.
    pub start_fen: String,
    /// Every move played, including the opening, packed as by `board::Move`.
    pub moves: Vec<u16>,
    /// Random plies at the start.
    pub opening_plies: u16,
    /// The number of moves.
    pub plies: u16,
    /// The first player's score: 1, 0.5 or 0.
    pub score: f64,
    /// Who won; stored as 1 White, 0 draw, −1 Black.
    pub result: GameResult,
    /// Why the game ended; stored by name.
    pub reason: Reason,
}

/// Means over some consecutive updates of a training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingRow {
    /// Updates done; the key of the table.
    pub update: u32,
    /// Learning rate of the last update.
    pub learning_rate: f64,
    /// The weighted sum of the losses.
    pub loss: f64,
    /// Cross-entropy of the policy over legal moves, in nats.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
    pub value_loss: f64,
    /// Huber loss of moves left, in units of 20 plies; 0 without that head.
    pub moves_left_loss: f64,
    /// Share of positions whose likeliest move is the most visited, in [0, 1].
    pub policy_accuracy: f64,
    /// Entropy of the policy targets in nats; `policy_loss − policy_entropy` is the divergence KL(target, policy).
    pub policy_entropy: f64,
    /// L2 norm of the gradient before clipping.
    pub gradient_norm: f64,
}

/// Metrics on held-out games, measured during a training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValidationRow {
    /// Updates done; 0 is before the first. The key of the table.
    pub update: u32,
    /// The weighted sum of the losses.
    pub loss: f64,
    /// Cross-entropy of the policy over legal moves, in nats.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
    pub value_loss: f64,
    /// Huber loss of moves left, in units of 20 plies; 0 without that head.
    pub moves_left_loss: f64,
    /// Share of positions whose likeliest move is the most visited, in [0, 1].
    pub policy_accuracy: f64,
    /// Entropy of the policy targets in nats.
    pub policy_entropy: f64,
}
