//! Queries: positions to search, and how.

use std::time::Duration;

use dc0_core::board::{Game, Move, Position, Tablebase};
use dc0_core::network::NetworkSpec;
use dc0_core::params;
use dc0_core::params::{Value, read};
use dc0_core::search::{ANALYSIS_RULES, Engine, Requirement, SearchParams, unmet};

use super::refusal::Refusal;

params! {
    /// A query of `dc0-run analysis`: a JSON object in one line, with these members and an `id`. JSON's `null` is `()` here.
    pub struct QueryParams {
        /// FEN of the position before the first move; () for the initial position.
        fen: Option<String> = None;
        /// The moves from there, in UCI notation. Earlier positions count for repetitions, and for nets that see them.
        moves: Vec<String> = Vec::new();
        /// The positions to search, each with an answer of its own: 0 is the one before the first move, 1 the one after it. () for
        /// the last.
        turns: Option<Vec<u32>> = None;
        /// The search of each position. Its defaults can be set on the command line.
        search: SearchParams = SearchParams::default();
        /// The only moves to search first, in UCI notation; all if empty.
        search_moves: Vec<String> = Vec::new();
        /// Seconds after which a search ends with what it has, if its simulations are not done; () for no limit. Such an answer
        /// depends on the machine and its other work.
        seconds: Option<f64> = None, in 0.001..=1e6;
        /// Positions of a higher priority are searched first; those of a lower one wait meanwhile, even if they have begun. Among
        /// equals the earlier ones come first.
        priority: i32 = 0, in -1_000_000..=1_000_000;
        /// A priority for each of `turns`, in place of `priority`.
        priorities: Option<Vec<i32>> = None, in -1_000_000..=1_000_000;
        /// Moves in an answer, the best first; those without a visit are left out.
        lines: u32 = 218, in 1..=218;
        /// Moves in each principal variation.
        pv_length: u32 = 100, in 1..=10_000;
        /// Whether an answer has the prior of every legal move.
        include_policy: bool = false;
        /// Seconds between reports of a search that is under way; () for none.
        report_every: Option<f64> = None, in 0.01..=1e6;
    }
    check check_query;
}

fn check_query(params: &QueryParams) -> Vec<(&'static str, String)> {
    let mut problems = params.search.without_effect_on_positions();
    if params.search.engine != Engine::Fast {
        let fast = "must be \"fast\", since the other engine shares no batches; leave it out";
        problems.push(("search.engine", fast.to_owned()));
    }
    let turns = params.turns.as_ref().map_or(1, Vec::len);
    if turns == 0 {
        problems.push(("turns", "expected at least one turn; leave it out for the last".to_owned()));
    }
    let priorities = params.priorities.as_ref().map_or(turns, Vec::len);
    if priorities != turns {
        let problem = format!("expected one for each of {turns} turns, got {priorities}");
        problems.push(("priorities", problem));
    }
    problems
}

/// A query that can be served.
pub(super) struct Query {
    pub(super) id: String,
    start: Position,
    moves: Vec<Move>,
    pub(super) params: QueryParams,
    /// The moves that may be searched first; empty for all.
    pub(super) allowed: Vec<Move>,
    pub(super) tablebases: Option<Tablebase>,
}

/// What reading a query needs besides its line.
pub(super) struct QueryReader<'a> {
    /// Members of the search for queries that do not set them.
    pub(super) search: &'a Value,
    /// What the net consists of.
    pub(super) net: &'a NetworkSpec,
    /// The tablebases opened last, with their folders.
    pub(super) tablebases: &'a mut Option<(String, Tablebase)>,
}

impl QueryReader<'_> {
    /// Reads a query's members, besides its `id`.
    pub(super) fn query(&mut self, id: &str, mut given: Value) -> Result<Query, Refusal> {
        if let Value::Group(members) = &mut given {
            let own = members.remove("search").unwrap_or_else(Value::group);
            members.insert("search".to_owned(), over(self.search, own));
        }
        let params: QueryParams = read("query", &given).map_err(|errors| Refusal::of_params(id, errors))?;
        if let Some(Requirement { member, lacks }) = unmet(&params.search, self.net) {
            let problem =
                format!("expected a net with a {lacks}, which this one does not have; leave it out");
            return Err(Refusal::of_field(Some(id), format!("search.{member}"), problem));
        }
        let tablebases = self.tablebases(id, &params.search)?;
        Query::new(id, params, tablebases)
    }

    fn tablebases(&mut self, id: &str, search: &SearchParams) -> Result<Option<Tablebase>, Refusal> {
        let Some(folders) = &search.tablebases else { return Ok(None) };
        if let Some((_, open)) = self.tablebases.as_ref().filter(|(known, _)| known == folders) {
            return Ok(Some(open.clone()));
        }
        let opened = search.open_tablebases();
        let opened =
            opened.map_err(|error| Refusal::of_field(Some(id), "search.tablebases", error.to_string()))?;
        *self.tablebases = opened.clone().map(|open| (folders.clone(), open));
        Ok(opened)
    }
}

/// A group of values over another one, whose members it replaces.
fn over(base: &Value, own: Value) -> Value {
    match (base, own) {
        (Value::Group(base), Value::Group(own)) => {
            let mut both = base.clone();
            for (name, value) in own {
                let value = both.get(&name).map_or_else(|| value.clone(), |base| over(base, value.clone()));
                both.insert(name, value);
            }
            Value::Group(both)
        }
        (_, own) => own,
    }
}

impl Query {
    fn new(id: &str, mut params: QueryParams, tablebases: Option<Tablebase>) -> Result<Self, Refusal> {
        let refuse = |field: String, problem: String| Refusal::of_field(Some(id), field, problem);
        let start = match &params.fen {
            None => Position::initial(),
            Some(fen) => {
                Position::from_fen(fen).map_err(|error| refuse("fen".to_owned(), error.to_string()))?
            }
        };
        let texts = std::mem::take(&mut params.moves);
        let most = ANALYSIS_RULES.max_plies as usize;
        if texts.len() > most {
            let problem = format!("expected at most {most} moves, got {}", texts.len());
            return Err(refuse("moves".to_owned(), problem));
        }
        let mut game = Game::from_position(start.clone());
        for (index, text) in texts.iter().enumerate() {
            let mv = legal(&game, text).map_err(|problem| refuse(format!("moves[{index}]"), problem))?;
            game.play_unchecked(mv);
        }
        let moves = game.moves().to_vec();
        let mut query = Self { id: id.to_owned(), start, moves, params, allowed: Vec::new(), tablebases };
        query.check_turns()?;
        query.allowed = query.allowed_moves()?;
        Ok(query)
    }

    fn check_turns(&self) -> Result<(), Refusal> {
        let turns = self.params.turns.as_deref().unwrap_or_default();
        let last = self.moves.len();
        for (index, turn) in turns.iter().enumerate() {
            let problem = if *turn as usize > last {
                format!("expected a turn from 0 to {last}, the number of moves, got {turn}")
            } else if turns[..index].contains(turn) {
                format!("expected each turn once, got {turn} again")
            } else {
                continue;
            };
            return Err(Refusal::of_field(Some(&self.id), format!("turns[{index}]"), problem));
        }
        Ok(())
    }

    /// The moves to search first, which must be legal in every position that is searched.
    fn allowed_moves(&self) -> Result<Vec<Move>, Refusal> {
        let mut allowed: Vec<Move> = Vec::new();
        for (turn, _) in self.turns() {
            let game = self.game(turn);
            if game.outcome(&ANALYSIS_RULES).is_some() {
                continue;
            }
            for (index, text) in self.params.search_moves.iter().enumerate() {
                let mv = legal(&game, text).map_err(|problem| {
                    Refusal::of_field(Some(&self.id), format!("search_moves[{index}]"), problem)
                })?;
                if !allowed.contains(&mv) {
                    allowed.push(mv);
                }
            }
        }
        Ok(allowed)
    }

    /// Each turn to search with its priority.
    pub(super) fn turns(&self) -> Vec<(u32, i32)> {
        let QueryParams { turns, priority, priorities, .. } = &self.params;
        let turns = turns.clone().unwrap_or_else(|| vec![self.moves.len() as u32]);
        let priorities = priorities.clone().unwrap_or_else(|| vec![*priority; turns.len()]);
        turns.into_iter().zip(priorities).collect()
    }

    /// The game up to a turn.
    pub(super) fn game(&self, turn: u32) -> Game {
        let mut game = Game::from_position(self.start.clone());
        for mv in &self.moves[..turn as usize] {
            game.play_unchecked(*mv);
        }
        game
    }

    /// The time limit of each search.
    pub(super) fn time(&self) -> Option<Duration> {
        self.params.seconds.map(Duration::from_secs_f64)
    }

    /// The time between two reports of a search.
    pub(super) fn report_every(&self) -> Option<Duration> {
        self.params.report_every.map(Duration::from_secs_f64)
    }
}

/// A move of the current position.
fn legal(game: &Game, text: &str) -> Result<Move, String> {
    let mv = game.position().read_uci(text);
    mv.ok_or_else(|| {
        let moves = game.position().legal_moves();
        let example = moves.first().map_or("none, for the game is over".to_owned(), |mv| format!("\"{mv}\""));
        format!("expected a legal move such as {example} in {}, got \"{text}\"", game.position().fen())
    })
}
