//! Parameters of self-play.

use crate::board::Rules;
use crate::params;
use crate::params::Schedule;
use crate::search::{ChoiceParams, RootNoise, SearchParams};

params! {
    /// Playout cap randomisation (Wu 2020, section 3.1): most moves get a fast search, so that games finish sooner; the others
    /// get a full one, and only they are policy targets. The defaults are KataGo's.
    pub struct PlayoutCap {
        /// Share of moves with a fast search.
        fast_share: f64 = 0.75, in 0.0..=1.0;
        /// Simulations of a fast search, which has no Dirichlet noise and no forced playouts.
        fast_simulations: u32 = 100, in 2..=10_000_000;
    }
}

params! {
    /// One iteration of self-play.
    pub struct SelfPlayParams {
        /// Games to play.
        games: u32 = 256, in 1..=100_000_000;
        /// The search of every move.
        search: SearchParams = SearchParams::default();
        /// Dirichlet noise in the priors of a `puct` root; () for none.
        root_noise: Option<RootNoise> = Some(RootNoise::default());
        /// Scale of the Gumbel noise that a `gumbel` root draws its moves with; 1 draws them by the policy, 0 takes the likeliest.
        gumbel_noise: f64 = 1.0, in 0.0..=10.0;
        /// Temperature of the move of a `puct` root, by ply; 0 plays the most visited move, larger varies more. The default is 1
        /// throughout, as in AlphaZero 2018.
        temperature: Schedule = Schedule::constant(1.0), in 0.0..=100.0;
        /// Playout cap randomisation: fast searches for some of the moves; () for full ones throughout.
        playout_cap: Option<PlayoutCap> = None;
        /// Whether full searches are policy targets. Searches with very few simulations are too weak for that; their games still
        /// train the value head, and many of them cost little (fast searches as in KataGo, Wu 2020, section 3.1).
        policy_targets: bool = true;
        /// How a `puct` root chooses the move from its statistics.
        choice: ChoiceParams = ChoiceParams::default();
        /// Random legal moves at the start of every game, for variety; they are not trained on.
        opening_plies: u32 = 0, in 0..=60;
        /// A game this long is drawn; AlphaZero's limit.
        max_plies: u32 = 512, in 1..=10_000;
        /// Size of a shard's evaluation cache, first in, first out; 0 for none. Positions recur from move to move, more often
        /// without tree reuse.
        cache: u32 = 0, in 0..=100_000_000;
        /// Games in a shard, the unit that is stored and resumed; larger fills batches better, smaller loses less when killed.
        shard_games: u32 = 128, in 1..=1_000_000;
        /// Game slots: games of a shard that are played at once, which is the rows of a batch.
        game_slots: u32 = 64, in 1..=65_536;
    }
    check |params| {
        let mut problems = Vec::new();
        if params.search.simulations < 2 {
            problems.push(("search.simulations", "self-play needs at least 2, to record visits".to_owned()));
        }
        let simulations = params.search.simulations;
        if let Some(cap) = params.playout_cap.as_ref().filter(|cap| cap.fast_simulations >= simulations) {
            let found = cap.fast_simulations;
            let message = format!("must stay below search.simulations = {simulations}, got {found}");
            problems.push(("playout_cap.fast_simulations", message));
        }
        if params.opening_plies >= params.max_plies {
            problems.push(("opening_plies", format!("must stay below max_plies = {}", params.max_plies)));
        }
        problems
    };
}

impl SelfPlayParams {
    /// What ends a game.
    pub fn rules(&self) -> Rules {
        Rules { max_plies: self.max_plies }
    }
}
