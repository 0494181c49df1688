//! Searches the positions of stored games again, with another net or another search.
//!
//! The games stay as they were played: their moves, results and the positions that were searched. What the search says of a position
//! is replaced: the policy target, visits, values and surprise (Schrittwieser et al. 2020, "Mastering Atari, Go, chess and shogi by
//! planning with a learned model", appendix H, `MuZero` Reanalyze).

use rand::RngExt;

use super::play::{SelfPlayError, with_cache};
use super::records::{GameRow, PositionRow, games_with_positions};
use super::stats::SelfPlayStats;
use super::{MakeEvaluator, ShardResult};
use crate::board::{Game, GameTextError, Move, Rules, Tablebase};
use crate::event::{Event, Observer};
use crate::network::{Evaluator, EvaluatorError};
use crate::rng::{Purpose, Seed};
use crate::search::{Lockstep, Search, SearchParams, SearchSlot};
use crate::{param_enum, params};

/// A stored game had its own ply cap, which searches do not see.
const RULES: Rules = Rules { max_plies: u32::MAX };

param_enum! {
    /// Which positions of stored games are searched again.
    pub enum ReanalyzedPositions {
        /// Those with a policy target.
        Full = "full",
        /// All, which gives those of fast searches a policy target, too.
        All = "all",
    }
}

params! {
    /// Searches the positions of stored games again.
    pub struct ReanalysisParams {
        /// The search of every position, without noise and forced playouts. With 1 simulation it is the net's answer alone, as a teacher gives it: its
        /// policy is the target, and its value that of the search.
        search: SearchParams = SearchParams::default();
        /// Which positions are searched again; the others keep what they have.
        positions: ReanalyzedPositions = ReanalyzedPositions::Full;
        /// Share of these positions that are searched again, drawn at random.
        share: f64 = 1.0, in 0.0..=1.0;
        /// Size of a shard's evaluation cache, first in, first out; 0 for none.
        cache: u32 = 0, in 0..=100_000_000;
        /// Game slots: games of a shard that are searched at once, which is the rows of a batch.
        game_slots: u32 = 64, in 1..=65_536;
    }
    check |params| params.search.without_effect_on_positions();
}

/// What determines the new targets of games, besides the games.
#[derive(Clone, Copy)]
pub struct ReanalysisJob<'a> {
    /// How to search.
    pub params: &'a ReanalysisParams,
    /// The seed of the random choice of positions.
    pub seed: Seed,
    /// Creates the net's evaluator.
    pub make_evaluator: &'a MakeEvaluator<'a>,
    /// The tablebases of the searches.
    pub tables: Option<&'a Tablebase>,
}

/// New targets for the games of a shard.
#[derive(Debug, Clone, PartialEq)]
pub struct Reanalyzed {
    /// The games as they were, and their positions with what the searches say.
    pub shard: ShardResult,
    /// Positions that were searched.
    pub searched: u64,
}

impl ReanalysisJob<'_> {
    /// An evaluator with the cache of the parameters, for the shards of one lane.
    pub fn evaluator(&self) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        Ok(with_cache((self.make_evaluator)()?, self.params.cache))
    }

    /// Searches the games of a shard. `positions` has theirs, in the order of the games and their plies.
    pub fn shard(
        &self,
        games: Vec<GameRow>,
        positions: Vec<PositionRow>,
        evaluator: &mut Box<dyn Evaluator>,
        observer: &dyn Observer,
    ) -> Result<Reanalyzed, SelfPlayError> {
        let of_games = games_with_positions(&games, &positions);
        let counts: Vec<usize> = of_games
            .map(|found| found.map(|(_, own)| own.len()))
            .collect::<Result<_, _>>()
            .map_err(|row| SelfPlayError::Stray { game: row.game, ply: row.ply })?;
        let mut positions = positions.into_iter();
        let with_rows = |(game, count)| (game, positions.by_ref().take(count).collect());
        let mut waiting = games.into_iter().zip(counts).map(with_rows).peekable();
        evaluator.start_shard();
        let mut lockstep = Lockstep::new(1);
        let mut stats = SelfPlayStats::default();
        let (mut slots, mut finished, mut searched) = (Vec::new(), Vec::new(), 0);
        loop {
            while slots.len() < self.params.game_slots as usize {
                let Some((game, rows)) = waiting.next() else { break };
                slots.push(Slot::new(self, game, rows)?);
            }
            for slot in slots.extract_if(.., |slot| slot.next.is_none()) {
                stats.add_game(&slot.game, &slot.rows);
                searched += slot.searched;
                observer.event(Event::Work { unit: "games", amount: 1 });
                finished.push((slot.game, slot.rows));
            }
            if slots.is_empty() && waiting.peek().is_none() {
                break;
            }
            observer.check()?;
            let evaluated = lockstep.round(&mut slots, std::slice::from_mut(evaluator))? as u64;
            stats.add_round(evaluated, evaluator.cache_hits());
            observer.event(Event::Work { unit: "evaluations", amount: evaluated });
        }
        finished.sort_by_key(|(game, _)| game.game);
        let (games, positions): (Vec<_>, Vec<_>) = finished.into_iter().unzip();
        let positions = positions.into_iter().flatten().collect();
        Ok(Reanalyzed { shard: ShardResult { games, positions, stats }, searched })
    }
}

/// A game whose positions are searched one after the other.
struct Slot {
    game: GameRow,
    rows: Vec<PositionRow>,
    moves: Vec<Move>,
    search: Search,
    /// The rows that are searched, the last one first.
    chosen: Vec<usize>,
    /// The row that is searched now; none at the end.
    next: Option<usize>,
    searched: u64,
    /// Whether the net's answer is recorded instead of a search's.
    is_answer: bool,
}

impl Slot {
    fn new(job: &ReanalysisJob<'_>, game: GameRow, rows: Vec<PositionRow>) -> Result<Self, GameTextError> {
        let played = Game::from_packed(&game.start_fen, &game.moves)?;
        let start = Game::from_position(played.start().clone());
        let mut choice = job.seed.stream(game.game.into(), Purpose::Reanalysis);
        let takes_all = job.params.positions == ReanalyzedPositions::All;
        let mut is_chosen =
            |row: &PositionRow| (row.full || takes_all) && choice.random::<f64>() < job.params.share;
        let mut chosen: Vec<usize> = (0..rows.len()).filter(|index| is_chosen(&rows[*index])).collect();
        chosen.reverse();
        let search = Search::with_tablebases(start, RULES, job.params.search.clone(), job.tables.cloned());
        let (moves, is_answer) = (played.moves().to_vec(), job.params.search.simulations == 1);
        let mut slot = Self { game, rows, moves, search, chosen, next: None, searched: 0, is_answer };
        slot.begin_next();
        Ok(slot)
    }

    /// Goes on to the next position that is searched.
    fn begin_next(&mut self) {
        self.next = self.chosen.pop();
        if let Some(index) = self.next {
            while self.search.game().ply() < usize::from(self.rows[index].ply) {
                self.search.play_unchecked(self.moves[self.search.game().ply()]);
            }
        }
    }
}

impl SearchSlot for Slot {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        self.next.is_some().then_some((0, &mut self.search))
    }

    fn advance(&mut self) {
        if let Some(index) = self.next
            && self.search.is_done()
        {
            let row = &mut self.rows[index];
            row.full = true;
            if self.is_answer {
                row.set_answer(self.search.net_value(), self.search.priors());
            } else {
                row.set_search(&self.search);
            }
            self.searched += 1;
            self.begin_next();
        }
    }
}
