//! Parameters of self-play.

use crate::board::Rules;
use crate::book::file_problem;
use crate::params;
use crate::params::{Advice, Schedule, advice};
use crate::search::{ChoiceParams, NoiseKind, RootNoise, RootRule};

use super::searcher::{SearcherKind, SelfPlaySearch, without_use};

params! {
    /// Playout cap randomisation (Wu 2020, section 3.1): most moves get a fast search, so that games finish sooner; the others
    /// get a full one, and only they are policy targets. The defaults are KataGo's.
    pub struct PlayoutCap {
        /// Share of moves with a fast search.
        fast_share: f64 = 0.75, in 0.0..=1.0;
        /// Simulations of a fast search, which has no Dirichlet noise and no forced playouts.
        fast_simulations: u32 = 100, in 2..=10_000_000;
        /// Factor on `gumbel_noise` in fast searches; less than 1 plays better moves between the positions that are trained on.
        fast_gumbel_noise: f64 = 1.0, in 0.0..=1.0;
    }
}

params! {
    /// When a side resigns in self-play. Some games are played to their end all the same, so that the share of resignations that were
    /// false is known (Silver et al. 2017, "Mastering the game of Go without human knowledge", Methods, which kept it below 5 %).
    pub struct SelfPlayResignation {
        /// A side resigns after this many of its moves in a row whose search had a value of −`value` or less, in [−1, 1].
        moves: u32 = 4, in 1..=1000;
        /// See `moves`.
        value: f64 = 0.9, in 0.0..=1.0;
        /// Share of games in which nobody resigns; what resigning would have got wrong there is counted (`false_resignations` of
        /// `resignations_tested`). A tenth, as in the same paper.
        played_through: f64 = 0.1, in 0.0..=1.0;
    }
}

params! {
    /// When games that alpha-beta plays are drawn before the rules draw them, by the values of their searches.
    pub struct LevelDraw {
        /// A game is drawn after this many moves of each side in a row whose search had a value of at most `value` in size. As the
        /// agreed draws of matches, the default.
        moves: u32 = 8, in 1..=1000;
        /// See `moves`.
        value: f64 = 0.03, in 0.0..=1.0;
        /// Not before this ply of the game.
        first_ply: u32 = 80, in 0..=10_000;
    }
}

params! {
    /// A book of openings for self-play, dealt in random order, each once before any again.
    pub struct StartParams {
        /// A file of positions (`.epd`, `.fen`) or of games (`.pgn`); or `chess960` for the 960 start positions of Chess960, or
        /// `double-chess960` for those in which each side has pieces of its own; or `endgames` for 10,000 random endings of few pieces.
        file: String = String::new();
        /// The most plies that are taken from each game of a `.pgn`, without those that are over within them; () for all.
        plies: Option<u32> = None, in 1..=1000;
        /// Share of games that start from the book; the others start from the initial position.
        share: f64 = 1.0, in 0.0..=1.0;
    }
    check |params| {
        file_problem(&params.file, params.plies).into_iter().collect()
    };
    shorthand file;
}

params! {
    /// One iteration of self-play.
    pub struct SelfPlayParams {
        /// Games to play.
        games: u32 = 256, in 1..=100_000_000;
        /// The search of every move.
        search: SelfPlaySearch = SelfPlaySearch::default();
        /// Dirichlet noise in the priors of a `puct` root; () for none.
        root_noise: Option<RootNoise> = Some(RootNoise::default());
        /// Scale of the Gumbel noise that a `gumbel` root draws its moves with, by ply; 1 draws them by the policy, 0 takes the
        /// likeliest.
        gumbel_noise: Schedule = Schedule::constant(1.0), in 0.0..=10.0;
        /// Temperature of the move of a `puct` root, by ply; 0 plays the most visited move, larger varies more. The default draws 30
        /// plies by their visits, as AlphaZero's pseudocode does (2018, `num_sampling_moves`).
        temperature: Schedule = sampling_moves(30), in 0.0..=100.0;
        /// Playout cap randomisation: fast searches for some of the moves; () for full ones throughout.
        playout_cap: Option<PlayoutCap> = None;
        /// Whether full searches are policy targets. Searches with very few simulations are too weak for that; their games still
        /// train the value head, and many of them cost little (fast searches as in KataGo, Wu 2020, section 3.1).
        policy_targets: bool = true;
        /// How a `puct` root chooses the move from its statistics.
        choice: ChoiceParams = ChoiceParams::default();
        /// A book of openings, or its file; () for the initial position. Plies of the book are not trained on.
        openings: Option<StartParams> = None;
        /// Share of games that start from a random position of the games that the call names, before those of the book; 0 for none.
        archive_share: f64 = 0.0, in 0.0..=1.0;
        /// Random legal moves at the start of every game, for variety; they are not trained on.
        opening_plies: u32 = 0, in 0..=60;
        /// Whether a game ends as soon as `search.tablebases` cover a position after a capture or a pawn move, with their result.
        /// Wins that the fifty-move rule prevents are draws. Without tablebases it has no effect.
        tablebase_adjudication: bool = true;
        /// When a side resigns; () for never.
        resignation: Option<SelfPlayResignation> = None;
        /// Games of `alphabeta`: when they are drawn before the rules draw them; () for never.
        level_draw: Option<LevelDraw> = None;
        /// Games of `alphabeta`: the largest value in size, in [0, 1], that the first search may find. Random moves that lead to a
        /// larger one are drawn again, so that games are not decided when they begin; () for any.
        max_opening_value: Option<f64> = None, in 0.0..=1.0;
        /// Ply cap: a game this long is cut off; AlphaZero's limit. Its result is stored as a draw, but `train` need not take it for
        /// one, and searches do not see the cap.
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
        if let SelfPlaySearch::Tree(search) = &params.search {
            let simulations = search.simulations;
            if simulations < 2 {
                problems.push(("search.simulations", "self-play needs at least 2, to record visits".to_owned()));
            }
            if let Some(cap) = params.playout_cap.as_ref().filter(|cap| cap.fast_simulations >= simulations) {
                let found = cap.fast_simulations;
                let message = format!("must stay below search.simulations = {simulations}, got {found}");
                problems.push(("playout_cap.fast_simulations", message));
            }
            problems.extend(search.without_effect());
            problems.extend(of_other_rules(params, search.root.rule));
            if search.root.rule.draws_moves() && params.temperature.max() == 0.0 {
                problems.extend(params.choice.of_temperatures());
            }
        }
        if params.max_opening_value.is_some() && params.opening_plies == 0 {
            let message = "draws random moves again, and there are none; set opening_plies, or leave it out".to_owned();
            problems.push(("max_opening_value", message));
        }
        if params.opening_plies >= params.max_plies {
            problems.push(("opening_plies", format!("must stay below max_plies = {}", params.max_plies)));
        }
        problems
    };
    unused |params| {
        let kind = params.search.searcher();
        let (names, other) = match kind {
            SearcherKind::Tree => (ALPHABETA_ONLY, SearcherKind::AlphaBeta),
            SearcherKind::AlphaBeta => (TREE_ONLY, SearcherKind::Tree),
        };
        names.iter().map(|name| (*name, without_use(other, kind))).collect()
    };
}

/// Parameters that ask for what the root rule of the games does not do. Those that ask for none of it are true of every rule.
fn of_other_rules(params: &SelfPlayParams, rule: RootRule) -> Advice {
    let declared = SelfPlayParams::default();
    let fast_noise = params.playout_cap.as_ref().map(|cap| cap.fast_gumbel_noise);
    let fast_noise_declared = PlayoutCap::default().fast_gumbel_noise;
    let is_set = |given: &Schedule, declared: &Schedule| given != declared && given.max() > 0.0;
    let (is_dirichlet, is_gumbel) = (rule.noise() == NoiseKind::Dirichlet, rule.noise() == NoiseKind::Gumbel);
    let fast_is_set = fast_noise.is_some_and(|noise| noise != fast_noise_declared && noise > 0.0);
    let root_noise_is_set = params.root_noise.is_some() && params.root_noise != declared.root_noise;
    let gumbel_noise_is_set = is_set(&params.gumbel_noise, &declared.gumbel_noise);
    let temperature_is_set = is_set(&params.temperature, &declared.temperature);
    let of = |other: RootRule| {
        let (found, other) = (rule.name(), other.name());
        format!("has no effect with a {found} root; leave it out, or set search.root.rule to \"{other}\"")
    };
    let (puct, gumbel) = (of(RootRule::Puct), of(RootRule::Gumbel));
    advice([
        ("root_noise", root_noise_is_set && !is_dirichlet, &puct),
        ("gumbel_noise", gumbel_noise_is_set && !is_gumbel, &gumbel),
        ("playout_cap.fast_gumbel_noise", fast_is_set && !is_gumbel, &gumbel),
        ("temperature", temperature_is_set && !rule.draws_moves(), &puct),
        ("choice", params.choice != declared.choice && !rule.draws_moves(), &puct),
    ])
}

/// Parameters that only games of a tree search have.
const TREE_ONLY: &[&str] =
    &["root_noise", "gumbel_noise", "temperature", "playout_cap", "choice", "cache", "game_slots"];

/// Parameters that only games of alpha-beta have.
const ALPHABETA_ONLY: &[&str] = &["level_draw", "max_opening_value"];

/// A temperature of 1 for some plies, then 0.
fn sampling_moves(plies: u32) -> Schedule {
    Schedule::from_points(vec![(0, 1.0), (plies, 0.0)]).expect("counters rise from 0")
}

impl SelfPlayParams {
    /// What ends a game.
    pub fn rules(&self) -> Rules {
        Rules { max_plies: self.max_plies }
    }
}
