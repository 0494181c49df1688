//! Declares the tables: each row and its columns once, but for rows of earlier stages, whose columns are listed again.

mod checks;

use super::cell::{Reject, Scores};
use super::row::table;
use crate::board::{Ending, GameResult, MoveNote, PgnEval};
use crate::search::{LineRow, TreeRow};
use crate::selfplay::{GameRow, PositionRow};
use checks::{
    answer_fault, game_fault, header_fault, line_fault, match_game_fault, position_fault, prediction_fault,
    puzzle_fault, tree_fault, unchecked,
};

table! {
    GameRow is "games" version 2, key (game: u32), check game_fault {
        game: u32 as Plain,
        network: String as Dictionary,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        opening_plies: u16 as Dictionary,
        result: GameResult as Dictionary,
        reason: Ending as Dictionary,
    }
}

table! {
    /// What is said of an imported game besides its moves. Text is empty, and a rating 0, if it is not known.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct HeaderRow is "headers" version 1, key (game: u32), check header_fault {
        /// The game's number, as in `games`; the key of the table.
        game: u32 as Plain,
        /// The name of the file that it comes from.
        source: String as Dictionary,
        /// Its number in that file, from 1, those that were not taken included.
        number: u32 as Deltas,
        /// The line that it begins on; 0 in training data of lc0.
        line: u32 as Deltas,
        /// The tag `Event`; in training data of lc0 the name of the game's file in its archive.
        event: String as Dictionary,
        /// The tag `Site`; at Lichess, the address of the game.
        site: String as Lengths,
        /// The tag `UTCDate` or else `Date`, as `YYYY.MM.DD`.
        date: String as Dictionary,
        /// The tag `Round`.
        round: String as Dictionary,
        /// The player of White.
        white: String as Dictionary,
        /// The player of Black.
        black: String as Dictionary,
        /// White's rating.
        white_elo: u16 as Dictionary,
        /// Black's rating.
        black_elo: u16 as Dictionary,
        /// The tag `TimeControl`.
        time_control: String as Dictionary,
        /// The tag `Termination`; in games that dc0 wrote its tag `DC0Reason`, a name as in `reason` of `games`; in training data of lc0
        /// `max game length` or `adjudication` if lc0 ended the game.
        termination: String as Dictionary,
        /// The code of the opening by the tag `ECO`.
        eco: String as Dictionary,
        /// The result that follows the moves: `1-0`, `0-1` or `1/2-1/2`.
        result: String as Dictionary,
        /// Seconds left on the mover's clock after each move, NaN where none is given; empty if there are none.
        clocks: Scores as Dictionary,
        /// The evaluation after each move in centipawns, from White's side; a mate in n moves is ±(32000 − n), and NaN stands for none.
        /// Empty if there are none.
        evals: Scores as Dictionary,
    }
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

table! {
    /// A game that was not imported.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RejectRow is "rejects" version 2, key (reject: u32), check unchecked {
        /// Its number among those that were not imported; the key of the table.
        reject: u32 as Deltas,
        /// The name of its file.
        source: String as Dictionary,
        /// Its number in that file, from 1.
        number: u32 as Deltas,
        /// The line of the fault; in training data of lc0 the record, from 1, or 0 for the whole game.
        line: u32 as Deltas,
        /// The kind of fault; stored by name.
        reason: Reject as Dictionary,
        /// What was expected, and what was found.
        detail: String as Lengths,
    }
}

table! {
    PositionRow is "positions" version 2, key (game: u32, ply: u16), check position_fault {
        game: u32 as Plain,
        ply: u16 as Deltas,
        fen: String as Lengths,
        played: u16 as Dictionary,
        legal: u16 as Dictionary,
        moves: Vec<u16> as Plain,
        visits: Vec<u32> as Dictionary,
        target: Vec<u16> as Dictionary,
        root_q: f32 as ByteColumns,
        root_d: f32 as ByteColumns,
        net_q: f32 as ByteColumns,
        net_d: f32 as ByteColumns,
        simulations: u32 as Plain,
        full: bool as Plain,
        policy_surprise: f32 as ByteColumns since 2 or f32::NAN,
        result: i8 as Dictionary,
    }
}

table! {
    /// One game of a match.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MatchGameRow is "matches" version 2, key (game: u32), check match_game_fault {
        /// Number of the game within its match; the key of the table.
        game: u32 as Plain,
        /// Number of the colour-reversed pair, two games from one opening.
        pair: u32 as Plain,
        /// The first player.
        first: String as Dictionary,
        /// The second player.
        second: String as Dictionary,
        /// Whether the first player has White.
        first_is_white: bool as Plain,
        /// The position before the first move.
        start_fen: String as Dictionary,
        /// Every move played, including the opening, packed as by `board::Move`.
        moves: Vec<u16> as Dictionary,
        /// Plies of the opening, which no player chose.
        opening_plies: u16 as Dictionary,
        /// The number of moves.
        plies: u16 as Dictionary,
        /// The evaluation of each move by its player, in centipawns from the player's side; a mate in n moves is ±(32000 − n), and NaN
        /// stands for none. A net's mean value v is 90 · tan(1.5637541897 · v).
        scores: Scores as ByteColumns since 2,
        /// The depth of each move's search as a program reported it; 0 for none.
        depths: Vec<u16> as Dictionary since 2,
        /// Seconds that each move took, if a player plays by time; otherwise empty, because then they do not belong to the game.
        seconds: Vec<f32> as ByteColumns since 2,
        /// The first player's score: 1, 0.5 or 0.
        score: f64 as Dictionary,
        /// Who won; stored as 1 White, 0 draw, −1 Black.
        result: GameResult as Dictionary,
        /// Why the game ended; stored by name.
        reason: Ending as Dictionary,
        /// What happened in a game that a player lost by a fault; otherwise empty.
        detail: String as Dictionary since 2,
    }
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

table! {
    /// One attempt at a puzzle.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PuzzleRow is "puzzles" version 1, key (puzzle: u32, simulations: u32), check puzzle_fault {
        /// Number of the puzzle within its suite; the key of the table, with `simulations`.
        puzzle: u32 as Plain,
        /// The budget of the search.
        simulations: u32 as Dictionary,
        /// The puzzle's name in its suite.
        id: String as Dictionary,
        /// The position.
        fen: String as Dictionary,
        /// The right moves, packed as by `board::Move`.
        right: Vec<u16> as Dictionary,
        /// The move that the search plays.
        played: u16 as Dictionary,
        /// Whether it is right.
        solved: bool as Plain,
        /// The smallest budget from which on the search plays a right move with every one; 0 if it does not with the largest.
        solved_from: u32 as Dictionary,
        /// Whether the net's likeliest move is right, without a search.
        policy_solved: bool as Plain,
        /// The net's priors of the right moves, together.
        prior: f32 as Plain,
        /// The value of `played` for the side to move, in [−1, 1].
        q: f32 as Plain,
        /// "win", "draw" or "loss" if that is proven, else "none".
        proof: String as Dictionary,
    }
}

table! {
    /// A player's answer to a puzzle.
    #[derive(Debug, Clone, PartialEq)]
    pub struct AnswerRow is "answers" version 1, key (puzzle: u32), check answer_fault {
        /// Number of the puzzle within its suite; the key of the table.
        puzzle: u32 as Plain,
        /// The player's name.
        player: String as Dictionary,
        /// The puzzle's name in its suite.
        id: String as Dictionary,
        /// The position.
        fen: String as Dictionary,
        /// The right moves, packed as by `board::Move`.
        right: Vec<u16> as Dictionary,
        /// The player's move; [`AnswerRow::NO_MOVE`] if it made none.
        played: u16 as Dictionary,
        /// Whether it is right.
        solved: bool as Plain,
        /// Its evaluation in centipawns from its own side, as in [`Scores`]; NaN for none.
        score: f32 as Plain,
        /// The depth that it reported; 0 for none.
        depth: u16 as Dictionary,
        /// The nodes that it reported; 0 for none.
        nodes: f64 as Plain,
        /// The time of its answer, if it plays by time; otherwise NaN.
        milliseconds: f32 as Plain,
        /// Why it made no move, as the name of a `board::Fault`; empty if it made one.
        reason: String as Dictionary,
        /// What happened then; otherwise empty.
        detail: String as Dictionary,
    }
}

impl AnswerRow {
    /// No move: from a square to itself.
    pub const NO_MOVE: u16 = 0;
}

table! {
    /// Means over some consecutive updates of a training step; not a number where no position has what is measured.
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct TrainingRow is "training" version 2, key (update: u32), check unchecked {
        /// Updates done; the key of the table.
        update: u32 as Plain,
        /// Learning rate of the last update.
        learning_rate: f64 as Dictionary,
        /// The weighted sum of the losses.
        loss: f64 as Plain,
        /// Cross-entropy of the policy over legal moves, in nats.
        policy_loss: f64 as Plain,
        /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
        value_loss: f64 as Plain,
        /// Huber loss of moves left, in units of 20 plies; not a number without that head.
        moves_left_loss: f64 as Plain,
        /// Share of positions whose likeliest move has the largest share of the policy target, in [0, 1].
        policy_accuracy: f64 as Plain,
        /// Entropy of the policy targets in nats; `policy_loss − policy_entropy` is the divergence KL(target, policy).
        policy_entropy: f64 as Plain,
        /// L2 norm of the gradient before clipping.
        gradient_norm: f64 as Plain,
        /// Cross-entropy of the softened policy, in nats; not a number without that head.
        soft_policy_loss: f64 as Plain since 2 or 0.0,
        /// Cross-entropy of the opponent's next move over all moves, in nats; not a number without that head.
        reply_loss: f64 as Plain since 2 or 0.0,
        /// Squared error of the later balance of material, in units of 9 pawns; not a number without that head.
        material_loss: f64 as Plain since 2 or 0.0,
        /// Share of positions with the target's best move among the three likeliest, in [0, 1].
        policy_top_three: f64 as Plain since 2 or f64::NAN,
        /// Squared error of win, draw and loss against the result of perfect play where tablebases know it, else the game's, in
        /// [0, 2] (Brier 1950), without results of the ply cap; not a number if there is no other. A scalar head expects no draws.
        brier: f64 as Plain since 2 or f64::NAN,
        /// L2 norm of all trained weights after the update.
        weight_norm: f64 as Plain since 2 or f64::NAN,
    }
}

table! {
    /// Metrics on held-out games, measured during a training step; not a number where no position has what is measured.
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct ValidationRow is "validation" version 2, key (update: u32), check unchecked {
        /// Updates done; 0 is before the first. The key of the table.
        update: u32 as Plain,
        /// The weighted sum of the losses.
        loss: f64 as Plain,
        /// Cross-entropy of the policy over legal moves, in nats.
        policy_loss: f64 as Plain,
        /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
        value_loss: f64 as Plain,
        /// Huber loss of moves left, in units of 20 plies; not a number without that head.
        moves_left_loss: f64 as Plain,
        /// Share of positions whose likeliest move has the largest share of the policy target, in [0, 1].
        policy_accuracy: f64 as Plain,
        /// Entropy of the policy targets in nats.
        policy_entropy: f64 as Plain,
        /// Cross-entropy of the softened policy, in nats; not a number without that head.
        soft_policy_loss: f64 as Plain since 2 or 0.0,
        /// Cross-entropy of the opponent's next move over all moves, in nats; not a number without that head.
        reply_loss: f64 as Plain since 2 or 0.0,
        /// Squared error of the later balance of material, in units of 9 pawns; not a number without that head.
        material_loss: f64 as Plain since 2 or 0.0,
        /// Share of positions with the target's best move among the three likeliest, in [0, 1].
        policy_top_three: f64 as Plain since 2 or f64::NAN,
        /// Squared error of win, draw and loss against the result of perfect play where tablebases know it, else the game's, in
        /// [0, 2] (Brier 1950), without results of the ply cap; not a number if there is no other. A scalar head expects no draws.
        brier: f64 as Plain since 2 or f64::NAN,
        /// Mean distance, in points of a game, between the score that the net expects and the score that follows, over ten equal ranges of
        /// the expected score (Guo et al. 2017, equation 3), without results of the ply cap; not a number if there is no other.
        calibration_error: f64 as Plain since 2 or f64::NAN,
        /// The loss with batch norm's running statistics, which play uses, less the loss with those of the batch, which training uses
        /// unless `batch_norm` is frozen, on the same samples, at most one batch of them.
        batch_norm_gap: f64 as Plain since 2 or f64::NAN,
    }
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

table! {
    /// What a net predicts of a stored position, beside what training would teach.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PredictionRow is "predictions" version 1, key (source: u32, game: u32, ply: u16), check prediction_fault {
        /// The number of the iteration or import within the window, the oldest first, from 0; the key of the table, with `game` and `ply`.
        source: u32 as Dictionary,
        /// The number of the iteration or import in its run.
        iteration: u32 as Dictionary,
        /// The number of the game there.
        game: u32 as Plain,
        /// Plies played before the position, including the opening.
        ply: u16 as Deltas,
        /// The position.
        fen: String as Lengths,
        /// The net's likeliest move, packed as by `board::Move`.
        likeliest: u16 as Dictionary,
        /// How likely the net takes it to be.
        prior: f32 as ByteColumns,
        /// The place of the policy target's largest share among the moves by their priors, 1 for the likeliest; 0 without a policy target.
        rank: u16 as Dictionary,
        /// Cross-entropy of the policy over legal moves, in nats; not a number without a policy target.
        policy_loss: f32 as ByteColumns,
        /// Entropy of the policy target, in nats: the least `policy_loss`; not a number without a policy target.
        target_entropy: f32 as ByteColumns,
        /// The net's P(win) − P(loss) for the side to move.
        q: f32 as ByteColumns,
        /// The net's P(draw); 0 from a scalar value head.
        d: f32 as ByteColumns,
        /// P(win) − P(loss) of the value target.
        target_q: f32 as ByteColumns,
        /// P(draw) of the value target.
        target_d: f32 as ByteColumns,
        /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar value head.
        value_loss: f32 as ByteColumns,
        /// For the side to move, 0, 1/2 or 1: the score of perfect play where tablebases know it, else the game's; not a number if the ply
        /// cap ended that.
        score: f32 as Dictionary,
        /// Squared error of win, draw and loss against that score (Brier 1950); not a number without it.
        brier: f32 as ByteColumns,
        /// Plies left in the game that the net predicts; not a number without that head.
        moves_left: f32 as ByteColumns,
        /// Plies left in the game; not a number if it was ended before the rules did.
        plies_left: f32 as Dictionary,
    }
}

table! {
    LineRow is "searches" version 1, key (search: u32, line: u16), check line_fault {
        search: u32 as Plain,
        line: u16 as Dictionary,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        fen: String as Lengths,
        simulations: u32 as Plain,
        played: u16 as Dictionary,
        visits: u32 as Plain,
        prior: f32 as Plain,
        q: f32 as Plain,
        proof: String as Dictionary,
        pv: Vec<u16> as Dictionary,
    }
}

table! {
    TreeRow is "trees" version 1, key (search: u32, row: u32), check tree_fault {
        search: u32 as Dictionary,
        row: u32 as Deltas,
        parent: u32 as Dictionary,
        node: u32 as Deltas,
        depth: u16 as Dictionary,
        played: u16 as Dictionary,
        visits: u32 as Deltas,
        node_visits: u32 as Deltas,
        value_sum: f64 as ByteColumns,
        square_sum: f32 as ByteColumns,
        draw_sum: f64 as ByteColumns,
        q: f32 as ByteColumns,
        win: f32 as ByteColumns,
        draw: f32 as ByteColumns,
        loss: f32 as ByteColumns,
        prior: f32 as ByteColumns,
        net_q: f32 as ByteColumns,
        net_d: f32 as ByteColumns,
        moves_left: f32 as ByteColumns,
        moves_left_sum: f64 as ByteColumns,
        net_moves_left: f32 as ByteColumns,
        proof: String as Dictionary,
    }
}
