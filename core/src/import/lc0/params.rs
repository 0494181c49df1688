//! What is taken of the training data of lc0.

use crate::{param_enum, params};

param_enum! {
    /// Which value of a record becomes `root_q` and `root_d`.
    pub enum Lc0Value {
        /// The mean of the search at the root (`root_q`, `root_d`).
        Root = "root",
        /// The value of the best move, which lc0's own training uses (`best_q`, `best_d`).
        Best = "best",
        /// The game's result as the record has it (`result_q`, `result_d`). In data that lc0's rescorer has changed, it is what tablebases
        /// know or what better play would have got, and need not be the result that the game ended with.
        Result = "result",
    }
}

params! {
    /// An import of training data of Leela Chess Zero (lc0). Without options every whole game is taken.
    pub struct Lc0Params {
        /// Which value of a record becomes `root_q` and `root_d`.
        value: Lc0Value = Lc0Value::Root;
        /// The least plies of a game.
        min_plies: u32 = 1, in 0..=10_000;
        /// Plies at the start of each game that are not trained on. They have no row in `positions`.
        skip_plies: u32 = 0, in 0..=10_000;
        /// The most games that are taken, the first ones; () for all.
        max_games: Option<u32> = None, in 1..=4_000_000_000i64;
        /// Games in a shard, the unit that is stored and resumed; about 40 kB of memory each. It has fewer where most games are left out.
        shard_games: u32 = 1024, in 1..=1_000_000;
    }
}
