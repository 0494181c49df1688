//! Games of self-play whose moves alpha-beta searches, one game after the other on each lane.

use std::sync::Arc;

use super::game_record::{FinishedGame, GameRecord};
use super::lanes::{self, Shard};
use super::openings::{DRAWS, Openings, Starts};
use super::play::{KeepShard, SelfPlayError, SelfPlayJob, ShardResult, kept};
use super::records::PositionRow;
use super::searcher::{AlphaBetaSearch, SearcherKind, SelfPlaySearch};
use super::stats::SelfPlayStats;
use crate::alphabeta::{AlphaBeta, Control, Found, Limits, NnueEvaluation, Score, nnue_draw, nnue_value};
use crate::board::{Game, Move};
use crate::event::{Cancelled, Event, Observer};
use crate::math::ln;
use crate::network::nnue::{NnueEvaluator, NnueNet};
use crate::network::{Batch, Evaluations, Evaluator as _, EvaluatorError, Wdl};

/// As [`play`](super::play) with the values of a net in alpha-beta searches, which need no evaluator of the job's.
pub fn play_alphabeta(
    job: &SelfPlayJob<'_>,
    net: &Arc<NnueNet>,
    shards: &[Shard],
    lanes: u32,
    keep: &KeepShard<'_>,
    observer: &dyn Observer,
) -> Result<(), SelfPlayError> {
    let SelfPlaySearch::AlphaBeta(search) = &job.params.search else {
        return Err(SelfPlayError::Searcher { expected: SearcherKind::AlphaBeta.name() });
    };
    lanes::run(
        shards,
        lanes,
        &|| Ok(Player::new(job, net, search)),
        &|player, shard| player.shard(shard, observer),
        &|shard, result| kept(keep, shard, result),
    )
}

/// What plays the games of a lane. Between games nothing is kept that a search could find.
struct Player<'a> {
    job: &'a SelfPlayJob<'a>,
    searcher: AlphaBeta,
    limits: Limits,
    /// The net's own evaluation of a position.
    own: Own,
    /// Evaluations of the searches and of `own`.
    evaluations: u64,
}

/// What a search found, in terms of the tables.
struct Thought {
    best: Move,
    nodes: u64,
    /// The search's value for the side to move.
    value: f32,
    /// The search's probability of a draw.
    draw: f32,
    /// The net's own.
    own: Wdl,
    /// The net's own probability of the best move.
    prior: f32,
    /// The number of legal moves.
    legal: u16,
}

/// The net's own evaluation of single positions.
struct Own {
    evaluator: NnueEvaluator,
    batch: Batch,
    evaluations: Evaluations,
}

impl Own {
    fn new(net: &Arc<NnueNet>) -> Self {
        let evaluator = NnueEvaluator::new(Arc::clone(net));
        Self { evaluator, batch: Batch::default(), evaluations: Evaluations::default() }
    }

    /// The value of the last position of a game, and the probability of each of these legal moves.
    fn evaluate(&mut self, game: &Game) -> Result<(Wdl, &[f32]), EvaluatorError> {
        self.batch.clear();
        self.batch.push(self.evaluator.encoding(), game);
        self.evaluator.evaluate(&self.batch, &mut self.evaluations)?;
        Ok((self.evaluations.wdl[0], &self.evaluations.policy))
    }
}

impl<'a> Player<'a> {
    fn new(job: &'a SelfPlayJob<'a>, net: &Arc<NnueNet>, search: &AlphaBetaSearch) -> Self {
        let (params, tables) = (search.params(), job.tables.cloned());
        Self {
            job,
            searcher: AlphaBeta::new(&params, tables, &|| Box::new(NnueEvaluation::new(Arc::clone(net)))),
            limits: Limits { depth: search.depth, nodes: Some(search.nodes), ..Limits::default() },
            own: Own::new(net),
            evaluations: 0,
        }
    }

    /// Plays the games of a shard.
    fn shard(&mut self, shard: Shard, observer: &dyn Observer) -> Result<ShardResult, SelfPlayError> {
        let none = Openings::default();
        let openings = self.job.openings.unwrap_or(&none);
        let mut stats = SelfPlayStats::default();
        let (mut games, mut positions) = (Vec::new(), Vec::new());
        let before = self.evaluations;
        for number in shard.game_numbers() {
            let mut starts = openings.starts(self.job.params, self.job.seed, number)?;
            let finished = self.game(number, &mut starts, &mut stats, observer)?;
            let amount = finished.positions.len() as u64;
            observer.event(Event::Work { unit: "positions", amount });
            observer.event(Event::Work { unit: "games", amount: 1 });
            games.push(finished.game);
            positions.extend(finished.positions);
        }
        // Positions are evaluated one by one.
        stats.evaluations = self.evaluations - before;
        stats.batches = stats.evaluations;
        Ok(ShardResult { games, positions, stats })
    }

    fn game(
        &mut self,
        number: u32,
        starts: &mut Starts,
        stats: &mut SelfPlayStats,
        observer: &dyn Observer,
    ) -> Result<FinishedGame, SelfPlayError> {
        let params = self.job.params;
        let (mut game, mut thought) = self.opening(starts, observer)?;
        let mut record = GameRecord::new(params, self.job.seed, number, game.ply());
        loop {
            record.push(row(number, &game, &thought, params.policy_targets));
            game.play_unchecked(thought.best);
            observer.on_game(number, &|| game.snapshot(number));
            if let Some(end) = record.end(&game, self.job.tables)? {
                return Ok(record.finish(&game, end, self.job.network, stats));
            }
            thought = self.think(&game, observer)?;
        }
    }

    /// The start of a game and its first search, whose value is within the bound of the parameters; or the most even of many starts.
    fn opening(
        &mut self,
        starts: &mut Starts,
        observer: &dyn Observer,
    ) -> Result<(Game, Thought), SelfPlayError> {
        let most = self.job.params.max_opening_value;
        let mut most_even: Option<(f32, Game)> = None;
        for _ in 0..DRAWS {
            let start = starts.next(self.job.params);
            self.searcher.start_game();
            let thought = self.think(&start, observer)?;
            let size = thought.value.abs();
            if most.is_none_or(|most| f64::from(size) <= most) {
                return Ok((start, thought));
            }
            if most_even.as_ref().is_none_or(|(least, _)| size < *least) {
                most_even = Some((size, start));
            }
        }
        let (_, start) = most_even.expect("there was a draw");
        self.searcher.start_game();
        let thought = self.think(&start, observer)?;
        Ok((start, thought))
    }

    /// Searches the last position of a game. A search that is stopped decides nothing.
    fn think(&mut self, game: &Game, observer: &dyn Observer) -> Result<Thought, SelfPlayError> {
        observer.check()?;
        let mut watched = Watched { observer, is_stopped: false };
        let found = self.searcher.search(game, &self.limits, &mut watched)?;
        if watched.is_stopped {
            return Err(Cancelled.into());
        }
        let (own, policy) = self.own.evaluate(game)?;
        let (best, (value, draw)) = (found.best(), value_and_draw(&found, own));
        let legal = game.position().legal_moves();
        let index = legal.iter().position(|mv| *mv == best).expect("a search finds legal moves");
        let (prior, legal) = (policy[index], legal.len() as u16);
        let amount = found.evaluations + 1;
        observer.event(Event::Work { unit: "evaluations", amount });
        self.evaluations += amount;
        Ok(Thought { best, nodes: found.nodes, value, draw, own, prior, legal })
    }
}

/// The value of a search, and its probability of a draw. One that was too short for a single iteration may have no score besides a
/// proven one.
fn value_and_draw(found: &Found, own: Wdl) -> (f32, f32) {
    let value = nnue_value(found.score());
    match (found.depth, found.score()) {
        // A result leaves nothing open.
        _ if found.is_known => (value, 1.0 - value.abs()),
        (0, Score::Centipawns(_)) => (own.value(), nnue_draw(own.value(), own)),
        _ => (value, nnue_draw(value, own)),
    }
}

/// The row of a position; its result is filled in when the game ends.
///
/// Alpha-beta compares moves and counts no visits of them: the policy target is the best move, which has one visit, as in imported
/// games.
fn row(number: u32, game: &Game, thought: &Thought, is_target: bool) -> PositionRow {
    let position = game.position();
    let mut row = PositionRow {
        game: number,
        ply: game.ply() as u16,
        fen: position.fen(),
        played: thought.best.packed(),
        legal: thought.legal,
        root_q: thought.value,
        root_d: thought.draw,
        net_q: thought.own.value(),
        net_d: thought.own.draw,
        simulations: thought.nodes.try_into().unwrap_or(u32::MAX),
        full: is_target,
        // All of the target is on one move.
        policy_surprise: -ln(f64::from(thought.prior.max(f32::MIN_POSITIVE))).min(0.0) as f32,
        ..PositionRow::default()
    };
    row.set_target(std::iter::once((thought.best.packed(), 1, 1.0)));
    row
}

/// Ends a search once the user asks to stop.
struct Watched<'a> {
    observer: &'a dyn Observer,
    is_stopped: bool,
}

impl Control for Watched<'_> {
    fn should_stop(&mut self, _: u64) -> bool {
        self.is_stopped |= self.observer.is_cancelled();
        self.is_stopped
    }

    fn goes_on(&mut self, _: &Found) -> bool {
        !self.is_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::value_and_draw;
    use crate::alphabeta::{Found, Line, Score};
    use crate::network::Wdl;

    #[test]
    fn a_result_of_tablebases_leaves_nothing_open() {
        let own = Wdl { win: 0.625, draw: 0.25, loss: 0.125 };
        let of = |score, is_known, depth| {
            let line = Line { score, is_lower_bound: false, moves: Vec::new() };
            let found = Found {
                lines: vec![line],
                is_known,
                depth,
                selective_depth: 1,
                nodes: 1,
                evaluations: 1,
                tablebase_hits: 0,
                hash_permill: 0,
            };
            value_and_draw(&found, own)
        };
        for depth in [0, 4] {
            assert_eq!(of(Score::Centipawns(0), true, depth), (0.0, 1.0));
            assert_eq!(of(Score::Centipawns(-31_000), true, depth), (-1.0, 0.0));
            assert_eq!(of(Score::Mate(2), true, depth), (1.0, 0.0));
        }
        // Without tables an even score leaves as much open as the net does, whose own value counts before the first iteration.
        assert_eq!(of(Score::Centipawns(0), false, 4), (0.0, 0.5));
        assert_eq!(of(Score::Centipawns(0), false, 0), (0.5, 0.25));
        assert_eq!(of(Score::Mate(-1), false, 0), (-1.0, 0.0));
    }
}
