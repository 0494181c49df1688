//! Rows of the result tables that later stages write.

use crate::board::{Ending, GameResult, MoveNote, PgnEval};
use crate::param_enum;

/// Evaluations in the order of moves; NaN for a move without one.
#[derive(Debug, Clone, Default)]
pub struct Scores(pub Vec<f32>);

impl Scores {
    /// The score of a mate on the board, in centipawns; more than any evaluation.
    pub const MATE: f32 = 32_000.0;

    /// The moves of the mate that a score stands for; `None` for an evaluation.
    pub fn mate_in(score: f32) -> Option<f32> {
        let moves = Self::MATE - score.abs();
        (moves <= f32::from(PgnEval::MOST_MOVES)).then_some(moves)
    }
}

/// Equal bits are equal, NaN included.
impl PartialEq for Scores {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|score| score.to_bits()).eq(other.0.iter().map(|score| score.to_bits()))
    }
}

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
    /// Plies of the opening, which no player chose.
    pub opening_plies: u16,
    /// The number of moves.
    pub plies: u16,
    /// The evaluation of each move by its player, in centipawns from the player's side; a mate in n moves is ±(32000 − n), and NaN
    /// stands for none. A net's mean value v is 90 · tan(1.5637541897 · v).
    pub scores: Scores,
    /// The depth of each move's search as a program reported it; 0 for none.
    pub depths: Vec<u16>,
    /// Seconds that each move took, if a player plays by time; otherwise empty, because then they do not belong to the game.
    pub seconds: Vec<f32>,
    /// The first player's score: 1, 0.5 or 0.
    pub score: f64,
    /// Who won; stored as 1 White, 0 draw, −1 Black.
    pub result: GameResult,
    /// Why the game ended; stored by name.
    pub reason: Ending,
    /// What happened in a game that a player lost by a fault; otherwise empty.
    pub detail: String,
}

impl MatchGameRow {
    /// The first 16 digits of the digest of a player's net, given the player's name in a row, and what the player is called besides, if
    /// it has a search of its own; `None` for a player without a net.
    pub fn net_of(player: &str) -> Option<(&str, Option<&str>)> {
        let (digits, own) =
            player.split_once('@').map_or((player, None), |(digits, own)| (digits, Some(own)));
        let is_digest = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then_some((digits, own))
    }
}

param_enum! {
    /// Why a game was not imported.
    pub enum Reject {
        /// It cannot be read: a comment, tag or variation does not end, or one too many ends.
        Syntax = "syntax",
        /// It starts from no legal position.
        Fen = "fen",
        /// It is a game of neither standard chess nor Chess960.
        Variant = "variant",
        /// A move is not legal, or is none.
        IllegalMove = "illegal_move",
        /// A player passes.
        NullMove = "null_move",
        /// No result follows its moves, or one that is no win, draw or loss.
        NoResult = "no_result",
        /// Its result is not that of its tags, or not that of the mate or stalemate on the board.
        OtherResult = "other_result",
        /// It has more than 65,535 plies.
        TooLong = "too_long",
        /// Its content cannot be read, or ends early.
        Damaged = "damaged",
        /// Its records are of a version that is not read.
        Version = "version",
        /// Its planes are of a format that is not read.
        InputFormat = "input_format",
        /// A record's planes are not those of the position that the moves lead to, or impossible.
        Planes = "planes",
        /// A record's probabilities are not those of the legal moves, or do not sum to 1.
        Policy = "policy",
        /// A record's values are impossible.
        Value = "value",
    }
}

/// What is said of an imported game besides its moves. Text is empty, and a rating 0, if it is not known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeaderRow {
    /// The game's number, as in `games`; the key of the table.
    pub game: u32,
    /// The name of the file that it comes from.
    pub source: String,
    /// Its number in that file, from 1, those that were not taken included.
    pub number: u32,
    /// The line that it begins on; 0 in training data of lc0.
    pub line: u32,
    /// The tag `Event`; in training data of lc0 the name of the game's file in its archive.
    pub event: String,
    /// The tag `Site`; at Lichess, the address of the game.
    pub site: String,
    /// The tag `UTCDate` or else `Date`, as `YYYY.MM.DD`.
    pub date: String,
    /// The tag `Round`.
    pub round: String,
    /// The player of White.
    pub white: String,
    /// The player of Black.
    pub black: String,
    /// White's rating.
    pub white_elo: u16,
    /// Black's rating.
    pub black_elo: u16,
    /// The tag `TimeControl`.
    pub time_control: String,
    /// The tag `Termination`; in games that dc0 wrote its tag `DC0Reason`, a name as in `reason` of `games`; in training data of lc0
    /// `max game length` or `adjudication` if lc0 ended the game.
    pub termination: String,
    /// The code of the opening by the tag `ECO`.
    pub eco: String,
    /// The result that follows the moves: `1-0`, `0-1` or `1/2-1/2`.
    pub result: String,
    /// Seconds left on the mover's clock after each move, NaN where none is given; empty if there are none.
    pub clocks: Scores,
    /// The evaluation after each move in centipawns, from White's side; a mate in n moves is ±(32000 − n), and NaN stands for none.
    /// Empty if there are none.
    pub evals: Scores,
}

impl HeaderRow {
    /// What is said about a move, by its index.
    pub fn note(&self, ply: usize) -> MoveNote {
        let figure = |scores: &Scores| scores.0.get(ply).copied().filter(|score| !score.is_nan());
        let eval = |score: f32| match Scores::mate_in(score) {
            Some(moves) => PgnEval::Mate(moves.copysign(score) as i32),
            None => PgnEval::Centipawns(score),
        };
        MoveNote { clock: figure(&self.clocks), eval: figure(&self.evals).map(eval) }
    }

    /// Sets what is said about the moves.
    pub fn set_notes(&mut self, notes: &[MoveNote]) {
        let column = |figure: &dyn Fn(&MoveNote) -> Option<f32>| {
            let is_empty = notes.iter().all(|note| figure(note).is_none());
            let figures = notes.iter().map(|note| figure(note).unwrap_or(f32::NAN));
            Scores(if is_empty { Vec::new() } else { figures.collect() })
        };
        self.clocks = column(&|note| note.clock);
        self.evals = column(&|note| match note.eval? {
            PgnEval::Centipawns(score) => Some(score),
            PgnEval::Mate(moves) => Some((Scores::MATE - moves.abs() as f32).copysign(moves as f32)),
        });
    }
}

/// A game that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectRow {
    /// Its number among those that were not imported; the key of the table.
    pub reject: u32,
    /// The name of its file.
    pub source: String,
    /// Its number in that file, from 1.
    pub number: u32,
    /// The line of the fault; in training data of lc0 the record, from 1, or 0 for the whole game.
    pub line: u32,
    /// The kind of fault; stored by name.
    pub reason: Reject,
    /// What was expected, and what was found.
    pub detail: String,
}

/// One attempt at a puzzle.
#[derive(Debug, Clone, PartialEq)]
pub struct PuzzleRow {
    /// Number of the puzzle within its suite; the key of the table, with `simulations`.
    pub puzzle: u32,
    /// The budget of the search.
    pub simulations: u32,
    /// The puzzle's name in its suite.
    pub id: String,
    /// The position.
    pub fen: String,
    /// The right moves, packed as by `board::Move`.
    pub right: Vec<u16>,
    /// The move that the search plays.
    pub played: u16,
    /// Whether it is right.
    pub solved: bool,
    /// The smallest budget from which on the search plays a right move with every one; 0 if it does not with the largest.
    pub solved_from: u32,
    /// Whether the net's likeliest move is right, without a search.
    pub policy_solved: bool,
    /// The net's priors of the right moves, together.
    pub prior: f32,
    /// The value of `played` for the side to move, in [−1, 1].
    pub q: f32,
    /// "win", "draw" or "loss" if that is proven, else "none".
    pub proof: String,
}

/// A player's answer to a puzzle.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRow {
    /// Number of the puzzle within its suite; the key of the table.
    pub puzzle: u32,
    /// The player's name.
    pub player: String,
    /// The puzzle's name in its suite.
    pub id: String,
    /// The position.
    pub fen: String,
    /// The right moves, packed as by `board::Move`.
    pub right: Vec<u16>,
    /// The player's move; [`AnswerRow::NO_MOVE`] if it made none.
    pub played: u16,
    /// Whether it is right.
    pub solved: bool,
    /// Its evaluation in centipawns from its own side, as in [`Scores`]; NaN for none.
    pub score: f32,
    /// The depth that it reported; 0 for none.
    pub depth: u16,
    /// The nodes that it reported; 0 for none.
    pub nodes: f64,
    /// The time of its answer, if it plays by time; otherwise NaN.
    pub milliseconds: f32,
    /// Why it made no move, as the name of a `board::Fault`; empty if it made one.
    pub reason: String,
    /// What happened then; otherwise empty.
    pub detail: String,
}

impl AnswerRow {
    /// No move: from a square to itself.
    pub const NO_MOVE: u16 = 0;
}

/// Means over some consecutive updates of a training step; not a number where no position has what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
    /// Huber loss of moves left, in units of 20 plies; not a number without that head.
    pub moves_left_loss: f64,
    /// Share of positions whose likeliest move has the largest share of the policy target, in [0, 1].
    pub policy_accuracy: f64,
    /// Entropy of the policy targets in nats; `policy_loss − policy_entropy` is the divergence KL(target, policy).
    pub policy_entropy: f64,
    /// L2 norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Cross-entropy of the softened policy, in nats; not a number without that head.
    pub soft_policy_loss: f64,
    /// Cross-entropy of the opponent's next move over all moves, in nats; not a number without that head.
    pub reply_loss: f64,
    /// Squared error of the later balance of material, in units of 9 pawns; not a number without that head.
    pub material_loss: f64,
    /// Share of positions with the target's best move among the three likeliest, in [0, 1].
    pub policy_top_three: f64,
    /// Squared error of win, draw and loss against the game's result, in [0, 2] (Brier 1950), without games that the ply
    /// cap ended; not a number if there is no other. A scalar head expects no draws.
    pub brier: f64,
    /// L2 norm of all trained weights after the update.
    pub weight_norm: f64,
}

/// Metrics on held-out games, measured during a training step; not a number where no position has what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ValidationRow {
    /// Updates done; 0 is before the first. The key of the table.
    pub update: u32,
    /// The weighted sum of the losses.
    pub loss: f64,
    /// Cross-entropy of the policy over legal moves, in nats.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
    pub value_loss: f64,
    /// Huber loss of moves left, in units of 20 plies; not a number without that head.
    pub moves_left_loss: f64,
    /// Share of positions whose likeliest move has the largest share of the policy target, in [0, 1].
    pub policy_accuracy: f64,
    /// Entropy of the policy targets in nats.
    pub policy_entropy: f64,
    /// Cross-entropy of the softened policy, in nats; not a number without that head.
    pub soft_policy_loss: f64,
    /// Cross-entropy of the opponent's next move over all moves, in nats; not a number without that head.
    pub reply_loss: f64,
    /// Squared error of the later balance of material, in units of 9 pawns; not a number without that head.
    pub material_loss: f64,
    /// Share of positions with the target's best move among the three likeliest, in [0, 1].
    pub policy_top_three: f64,
    /// Squared error of win, draw and loss against the game's result, in [0, 2] (Brier 1950), without games that the ply
    /// cap ended; not a number if there is no other. A scalar head expects no draws.
    pub brier: f64,
    /// Mean distance, in points of a game, between the score that the net expects and the score that follows, over ten equal ranges of
    /// the expected score (Guo et al. 2017, equation 3), without games that the ply cap ended; not a number if there is no other.
    pub calibration_error: f64,
    /// The loss with batch norm's running statistics, which play uses, less the loss with those of the batch, which training uses
    /// unless `batch_norm` is frozen, on the same samples, at most one batch of them.
    pub batch_norm_gap: f64,
}

/// Rows of an update and its figures, which are listed in the order of the table's columns.
macro_rules! figures {
    ($row:ident [$columns:literal]: $($figure:ident),+ $(,)?) => {
        impl $row {
            /// Every figure with its name.
            pub fn figures(&self) -> [(&'static str, f64); $columns - 1] {
                [$((stringify!($figure), self.$figure)),+]
            }

            /// The row as numbers, the update first.
            pub fn numbers(&self) -> [f64; $columns] {
                [self.update.into(), $(self.$figure),+]
            }

            /// The row of these numbers.
            pub fn from_numbers([update, $($figure),+]: [f64; $columns]) -> Self {
                Self { update: update as u32, $($figure),+ }
            }
        }
    };
}

figures! {
    TrainingRow [15]: learning_rate, loss, policy_loss, value_loss, moves_left_loss, policy_accuracy, policy_entropy, gradient_norm,
    soft_policy_loss, reply_loss, material_loss, policy_top_three, brier, weight_norm,
}

figures! {
    ValidationRow [14]: loss, policy_loss, value_loss, moves_left_loss, policy_accuracy, policy_entropy, soft_policy_loss, reply_loss,
    material_loss, policy_top_three, brier, calibration_error, batch_norm_gap,
}

/// What a net predicts of a stored position, beside what training would teach.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionRow {
    /// The number of the iteration or import within the window, the oldest first, from 0; the key of the table, with `game` and `ply`.
    pub source: u32,
    /// The number of the iteration or import in its run.
    pub iteration: u32,
    /// The number of the game there.
    pub game: u32,
    /// Plies played before the position, including the opening.
    pub ply: u16,
    /// The position.
    pub fen: String,
    /// The net's likeliest move, packed as by `board::Move`.
    pub likeliest: u16,
    /// How likely the net takes it to be.
    pub prior: f32,
    /// The place of the policy target's largest share among the moves by their priors, 1 for the likeliest; 0 without a policy target.
    pub rank: u16,
    /// Cross-entropy of the policy over legal moves, in nats; not a number without a policy target.
    pub policy_loss: f32,
    /// Entropy of the policy target, in nats: the least `policy_loss`; not a number without a policy target.
    pub target_entropy: f32,
    /// The net's P(win) − P(loss) for the side to move.
    pub q: f32,
    /// The net's P(draw); 0 from a scalar value head.
    pub d: f32,
    /// P(win) − P(loss) of the value target.
    pub target_q: f32,
    /// P(draw) of the value target.
    pub target_d: f32,
    /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
    pub value_loss: f32,
    /// The score of the game for the side to move, 0, 1/2 or 1, or that of perfect play where tablebases correct it; not a number if the
    /// ply cap ended it.
    pub score: f32,
    /// Squared error of win, draw and loss against that score (Brier 1950); not a number without it.
    pub brier: f32,
    /// Plies left in the game that the net predicts; not a number without that head.
    pub moves_left: f32,
    /// Plies left in the game; not a number if it was ended before the rules did.
    pub plies_left: f32,
}
