//! One game of a match in progress.

use super::adjudication::AdjudicationParams;
use super::error::ArenaError;
use super::job::Match;
use super::params::ArenaParams;
use super::program::{Forfeit, NotBegun, Program};
use crate::board::{Ending, Game, GameResult, Move, Rules, Side, Tablebase, random_opening};
use crate::book::Book;
use crate::event::{GameSnapshot, Observer};
use crate::network::{LEELA_SCALE, centipawns};
use crate::rng::{Purpose, Seed, Stream};
use crate::search::{Search, SearchSlot};
use crate::store::{MatchGameRow, Scores};

use super::baselines::Baseline;

/// How a player of one game finds its moves.
pub(super) enum Mover {
    /// By a search with this evaluator of the lane, so that each player keeps its own tree.
    Search {
        evaluator: usize,
        search: Box<Search>,
    },
    Baseline(&'static dyn Baseline),
    /// By a process that plays only this game.
    Program(Box<dyn Program>),
}

/// A game between two movers.
pub(super) struct MatchGame<'a> {
    params: &'a ArenaParams,
    rules: Rules,
    tables: Option<&'a Tablebase>,
    number: u32,
    game: Game,
    opening_plies: usize,
    /// The first player's mover and the second's.
    movers: [Mover; 2],
    choice: Stream,
    random: Stream,
    /// What the players found, by ply.
    found: Found,
    /// Whether the program to move has been asked for its move.
    is_thinking: bool,
    end: Option<End>,
    /// An error that ends the match.
    error: Option<ArenaError>,
}

/// What the players found, by ply.
#[derive(Default)]
struct Found {
    scores: Vec<f32>,
    depths: Vec<u16>,
    seconds: Vec<f32>,
}

impl Found {
    fn push(&mut self, score: Option<f64>, depth: Option<u32>, seconds: f64) {
        self.scores.push(score.map_or(f32::NAN, |score| score as f32));
        self.depths.push(depth.map_or(0, |depth| depth.min(u16::MAX.into()) as u16));
        self.seconds.push(seconds as f32);
    }
}

struct End {
    result: GameResult,
    ending: Ending,
    detail: String,
}

/// The game from which the games of a pair start.
pub fn opening(params: &ArenaParams, seed: Seed, book: Option<&Book>, pair: u32) -> Game {
    if let Some(book) = book {
        return match params.openings.as_ref().and_then(|openings| openings.skip) {
            Some(skip) => book.opening(Seed { step: 0, ..seed }, u64::from(skip) + u64::from(pair)),
            None => book.opening(seed, pair.into()),
        };
    }
    let mut stream = seed.stream(u64::from(pair), Purpose::Opening);
    random_opening(params.opening_plies, &params.rules(), &mut stream)
}

impl<'a> MatchGame<'a> {
    /// Begins a game; `mover` makes the movers of both players from the start position.
    pub(super) fn new(job: &Match<'a>, number: u32, mover: &mut dyn FnMut(usize, &Game) -> Mover) -> Self {
        let game = opening(job.params, job.seed, job.book, number / 2);
        let mut found = Found::default();
        (0..game.ply()).for_each(|_| found.push(None, None, 0.0));
        let mut slot = Self {
            params: job.params,
            rules: job.params.rules(),
            tables: job.tables,
            number,
            opening_plies: game.ply(),
            movers: [mover(0, &game), mover(1, &game)],
            game,
            choice: job.seed.stream(u64::from(number), Purpose::MoveChoice),
            random: job.seed.stream(u64::from(number), Purpose::RandomPlayer),
            found,
            is_thinking: false,
            end: None,
            error: None,
        };
        for player in 0..2 {
            if let Mover::Program(program) = &mut slot.movers[player]
                && let Err(not_begun) = program.begin()
            {
                match not_begun {
                    NotBegun::Forfeit(forfeit) => slot.lose(player, forfeit),
                    changed @ NotBegun::Changed(_) => slot.error = Some(changed.into()),
                }
                return slot;
            }
        }
        slot.play_on();
        slot
    }

    /// Whether the first player has White, as in the first game of each pair.
    fn first_is_white(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    /// The side of a player.
    fn side(&self, player: usize) -> Side {
        if (player == 0) == self.first_is_white() { Side::White } else { Side::Black }
    }

    /// The player to move: 0 for the first, 1 for the second.
    fn to_move(&self) -> usize {
        usize::from(self.game.position().side_to_move() != self.side(0))
    }

    fn lose(&mut self, player: usize, forfeit: Forfeit) {
        let result = GameResult::won_by(Some(self.side(1 - player)));
        self.end = Some(End { result, ending: Ending::Forfeit(forfeit.fault), detail: forfeit.detail });
    }

    /// Plays a move of the player to move, with what it found.
    fn play(&mut self, played: Move, score: Option<f64>, depth: Option<u32>, seconds: f64) {
        self.is_thinking = false;
        self.found.push(score, depth, seconds);
        self.game.play_unchecked(played);
        for mover in &mut self.movers {
            if let Mover::Search { search, .. } = mover {
                search.play_unchecked(played);
            }
        }
        let by_rules = self.game.outcome(&self.rules);
        self.end = by_rules.map(|outcome| End {
            result: outcome.result(),
            ending: outcome.reason.into(),
            detail: String::new(),
        });
        if self.end.is_none() {
            let adjudication: &AdjudicationParams = &self.params.adjudication;
            match adjudication.decide(&self.game, &self.found.scores, self.tables) {
                Ok(decided) => {
                    self.end = decided.map(|(result, by)| End {
                        result,
                        ending: Ending::Adjudicated(by),
                        detail: String::new(),
                    });
                }
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Plays until a net or a program is to move, or the game is over. A program begins to think.
    fn play_on(&mut self) {
        while self.end.is_none() && self.error.is_none() {
            let player = self.to_move();
            match &mut self.movers[player] {
                Mover::Search { .. } => return,
                Mover::Baseline(baseline) => {
                    let mut game = self.game.clone();
                    let played = baseline.choose(&mut game, &self.rules, &mut self.random);
                    self.play(played, None, None, 0.0);
                }
                Mover::Program(_) => {
                    let opponent = match &self.movers[1 - player] {
                        Mover::Program(opponent) => opponent.clock(),
                        _ => None,
                    };
                    if let Mover::Program(program) = &mut self.movers[player] {
                        program.think(&self.game, opponent);
                    }
                    self.is_thinking = true;
                    return;
                }
            }
        }
    }

    /// Waits for the move of a program that thinks, and plays on; an error if the user asked to stop.
    pub(super) fn wait(&mut self, observer: &dyn Observer) -> Result<(), ArenaError> {
        let player = self.to_move();
        while self.is_thinking
            && let Mover::Program(program) = &mut self.movers[player]
        {
            observer.check()?;
            match program.answer() {
                None => {}
                Some(Ok(answer)) => {
                    self.play(answer.played, answer.score, answer.depth, answer.seconds);
                    self.play_on();
                    return Ok(());
                }
                Some(Err(forfeit)) => {
                    self.is_thinking = false;
                    self.lose(player, forfeit);
                }
            }
        }
        Ok(())
    }

    /// Whether a net is to move.
    pub(super) fn waits_for_net(&self) -> bool {
        self.end.is_none() && matches!(self.movers[self.to_move()], Mover::Search { .. })
    }

    /// The error that ends the match, if there is one.
    pub(super) fn take_error(&mut self) -> Option<ArenaError> {
        self.error.take()
    }

    /// Whether the game is over.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// A program that lost the game before it made a move: the player, and what happened.
    pub(super) fn failed_at_once(&self) -> Option<(usize, &str)> {
        let end = self.end.as_ref()?;
        let is_failure = matches!(end.ending, Ending::Forfeit(_)) && self.game.ply() < self.opening_plies + 2;
        let loser = usize::from(end.result.score_for(self.side(0)) == 1);
        is_failure.then_some((loser, end.detail.as_str()))
    }

    /// The game's number.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The game so far.
    pub(super) fn snapshot(&self) -> GameSnapshot {
        self.game.snapshot(self.number)
    }

    /// The row of a game that is over, and its movers.
    pub(super) fn finish(self, names: [&str; 2], is_timed: bool) -> Option<(MatchGameRow, [Mover; 2])> {
        let (first_is_white, first_side) = (self.first_is_white(), self.side(0));
        let End { result, ending, detail } = self.end?;
        let row = MatchGameRow {
            game: self.number,
            pair: self.number / 2,
            first: names[0].to_owned(),
            second: names[1].to_owned(),
            first_is_white,
            start_fen: self.game.start().fen(),
            moves: self.game.moves().iter().map(|played| played.packed()).collect(),
            opening_plies: self.opening_plies as u16,
            plies: self.game.ply() as u16,
            scores: Scores(self.found.scores),
            depths: self.found.depths,
            seconds: if is_timed { self.found.seconds } else { Vec::new() },
            score: f64::from(1 + result.score_for(first_side)) / 2.0,
            result,
            reason: ending,
            detail,
        };
        Some((row, self.movers))
    }
}

impl SearchSlot for MatchGame<'_> {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        let player = self.to_move();
        match (&self.end, &self.error, &mut self.movers[player]) {
            (None, None, Mover::Search { evaluator, search }) => Some((*evaluator, search)),
            _ => None,
        }
    }

    fn advance(&mut self) {
        let player = self.to_move();
        let Mover::Search { search, .. } = &mut self.movers[player] else { return };
        if self.params.force_playouts {
            search.force_playouts();
        }
        if !search.is_done() {
            return;
        }
        let temperature = self.params.temperature.at(search.game().ply() as u32);
        let played = search.choose(&self.params.choice, temperature, &mut self.choice);
        let score = centipawns(search.root_value().value, LEELA_SCALE);
        self.play(played, Some(score), None, 0.0);
        self.play_on();
    }
}
