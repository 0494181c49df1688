//! Games with a program, whatever its protocol: clocks, limits, and what loses a game.

use std::sync::Arc;
use std::time::Duration;

use dc0_core::arena::{Answer, Clock, Forfeit, NotBegun, Program};
use dc0_core::board::{Fault, Game, Move, Position, Side};
use dc0_core::store::Scores;
use dc0_process::clock::Stopwatch;
use dc0_process::fault::chain;

use crate::error::OpponentError;
use crate::params::{ClockParams, Limit};
use crate::process::{Line, Next, Process, Speech};
use crate::setup::{Introduction, Setup};

/// How long [`Program::answer`] waits.
const POLL: Duration = Duration::from_millis(100);

/// How long a program may take to answer when it must stop. What it then answers changes nothing but the message.
const STOP: Duration = Duration::from_secs(1);

/// A protocol, and what it keeps of a running program.
pub(crate) trait Protocol: Sized + Send {
    /// How programs speak it.
    const SPEECH: Speech;

    /// Makes a program that was just started ready for its first game.
    fn greet(process: &Process, setup: &Setup) -> Result<(Self, Introduction), OpponentError>;

    /// Whether the program can play another game after one.
    fn can_play_again(&self) -> bool;

    /// Begins a game.
    fn begin(&mut self, process: &Process, setup: &Setup) -> Result<(), OpponentError>;

    /// Sends a position. Returns whether the program confirms that it has it, or why it cannot have it, in words that follow its
    /// name.
    fn prepare(&mut self, process: &Process, game: &Game) -> Result<bool, String>;

    /// Whether a line confirms the position; an error if it rejects one of its moves, in words that follow the program's name.
    fn is_confirmed(&mut self, line: &str) -> Result<bool, String>;

    /// Starts its search.
    fn go(&mut self, process: &Process, order: &Order<'_>);

    /// Requests a move at once.
    fn stop(&mut self, process: &Process);

    /// Whether a line that comes while it waits resigns for its side, in words that follow its name. A protocol without such lines
    /// has none.
    fn resigns(&self, _line: &str, _side: Side) -> Option<String> {
        None
    }

    /// Reads a line of its search.
    fn read(&mut self, line: &str, position: &Position) -> Option<Reply>;

    /// What it reported last.
    fn report(&self) -> Report;
}

/// A request to search.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    /// Its limit.
    pub(crate) limit: &'a Limit,
    /// Its side.
    pub(crate) side: Side,
    /// Its clock, and its opponent's, if it plays by one.
    pub(crate) clocks: Option<(&'a GameClock, Clock)>,
}

/// What a search ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A move.
    Move(Move),
    /// Something that is no legal move, in words that follow the program's name.
    Illegal(String),
    /// It resigns, in words that follow its name.
    Resigns(String),
}

/// What a program reported of its search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Report {
    pub(crate) score: Option<f64>,
    pub(crate) depth: Option<u32>,
    pub(crate) nodes: Option<u64>,
}

/// The score of a mate on the board, in centipawns.
const MATE: f64 = Scores::MATE as f64;

/// The score of a mate in some moves; of none, or fewer, for the side that is mated.
pub(crate) fn mate(moves: i64) -> f64 {
    if moves > 0 { MATE - moves as f64 } else { -MATE - moves as f64 }
}

/// The score of an evaluation. Larger ones than this are ways of programs to say that the game is decided, and must not be taken
/// for mates.
pub(crate) fn evaluation(centipawns: i64) -> f64 {
    (centipawns as f64).clamp(1000.0 - MATE, MATE - 1000.0)
}

/// A program's clock in a game.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GameClock {
    params: ClockParams,
    /// Seconds left.
    pub(crate) left: f64,
    /// Moves until time is added.
    pub(crate) moves: Option<u32>,
}

impl GameClock {
    fn new(params: &ClockParams) -> Self {
        Self { params: params.clone(), left: params.seconds, moves: params.moves }
    }

    /// Counts a move. Time beyond the clock that was tolerated is forgiven.
    fn count(&mut self, seconds: f64) {
        self.left = (self.left - seconds).max(0.0) + self.params.increment;
        if let Some(moves) = &mut self.moves {
            *moves -= 1;
            if *moves == 0 {
                self.left += self.params.seconds;
                self.moves = self.params.moves;
            }
        }
    }

    pub(crate) fn shown(&self) -> Clock {
        Clock { left: self.left, increment: self.params.increment }
    }
}

/// Where a program's move stands.
#[derive(Debug, Clone)]
enum Stage {
    /// Nothing was requested.
    Idle,
    /// The game is lost.
    Lost(Forfeit),
    /// It has not confirmed the position.
    Preparing(Stopwatch),
    /// It searches, and has to stop since the second time.
    Thinking(Stopwatch, Option<Stopwatch>),
}

/// A program that plays.
pub(crate) struct Player<P> {
    setup: Arc<Setup>,
    /// `None` after a fault.
    running: Option<(Process, P)>,
    has_played: bool,
    clock: Option<GameClock>,
    position: Position,
    opponent: Option<Clock>,
    stage: Stage,
}

impl<P: Protocol> Player<P> {
    /// Starts a program, which introduces itself.
    pub(crate) fn start(setup: &Setup) -> Result<(Process, P, Introduction), OpponentError> {
        let process = setup.launch(P::SPEECH)?;
        match P::greet(&process, setup) {
            Ok((protocol, introduction)) => Ok((process, protocol, introduction)),
            Err(error) => {
                process.kill();
                Err(error)
            }
        }
    }

    /// A player with its program started.
    pub(crate) fn new(setup: Arc<Setup>) -> Result<Self, OpponentError> {
        let (process, protocol, _) = Self::start(&setup)?;
        Ok(Self {
            setup,
            running: Some((process, protocol)),
            has_played: false,
            clock: None,
            position: Position::initial(),
            opponent: None,
            stage: Stage::Idle,
        })
    }

    /// Ends the program, and the game with it.
    fn fail(&mut self, fault: Fault, what: &str) -> Forfeit {
        if let Some((process, _)) = self.running.take() {
            process.kill();
        }
        self.stage = Stage::Idle;
        let detail = format!("{} {what}", self.setup.program());
        log::warn!("{} forfeits: {detail}", self.setup.command);
        Forfeit { fault, detail }
    }

    /// The game is lost because the program ended.
    fn crash(&mut self) -> Forfeit {
        let what = self.running.as_ref().map_or("does not run".to_owned(), |(process, _)| process.ending());
        self.fail(Fault::Crash, &what)
    }

    /// The program could not begin a game. It loses it, unless it is another program now.
    fn not_begun(&mut self, error: &OpponentError) -> NotBegun {
        let fault = match error {
            OpponentError::Changed { .. } => return NotBegun::Changed(error.to_string()),
            OpponentError::NotReady { .. } => Fault::Stall,
            _ => Fault::Crash,
        };
        self.fail(fault, &format!("cannot play: {}", chain(error))).into()
    }

    /// A running program that can play a game.
    fn ready(&mut self) -> Result<(), OpponentError> {
        let can_go_on = self.running.as_ref().is_some_and(|(process, protocol)| {
            process.is_running() && (!self.has_played || protocol.can_play_again())
        });
        if !can_go_on {
            // The old one ends first: some programs cannot run twice in a folder.
            self.running = None;
            let (process, protocol, introduction) = Self::start(&self.setup)?;
            self.running = Some((process, protocol));
            let before = self.setup.introduction.as_ref();
            if before.is_some_and(|before| before.name != introduction.name) {
                return Err(OpponentError::Changed { path: self.setup.command.clone().into() });
            }
        }
        let Some((process, protocol)) = &mut self.running else { unreachable!("it was started") };
        protocol.begin(process, &self.setup)
    }

    /// Seconds for the move, if they are limited, beyond which it is lost on time.
    fn seconds(&self) -> Option<f64> {
        let limit = match &self.setup.limit {
            Limit::MoveTime(seconds) => *seconds,
            Limit::Clock(_) => self.clock.as_ref().map_or(0.0, |clock| clock.left),
            Limit::Nodes(_) | Limit::Depth(_) => return None,
        };
        Some(limit + self.setup.settings.time_margin)
    }

    /// Whether a move took too long, in words.
    fn lateness(&self, seconds: f64) -> Option<(Fault, String)> {
        let (allowed, fault) = match self.seconds() {
            Some(allowed) => (allowed, Fault::Time),
            None => (self.setup.settings.move_timeout, Fault::Stall),
        };
        // In whole milliseconds, in which the protocols count.
        let is_late = (seconds * 1000.0).floor() > (allowed * 1000.0).round();
        let raise = if fault == Fault::Stall { ", its `move_timeout`" } else { "" };
        is_late.then(|| (fault, format!("{seconds:.3} s, with {allowed:.3} s left{raise}")))
    }

    /// The game is lost because the program resigned. It goes on running.
    fn resign(&mut self, what: &str) -> Forfeit {
        self.stage = Stage::Idle;
        Forfeit { fault: Fault::Resigned, detail: format!("{} {what}", self.setup.program()) }
    }

    /// Starts the search.
    fn go(&mut self) {
        let Some((process, protocol)) = &mut self.running else { return };
        let clocks = self.clock.as_ref().map(|clock| (clock, self.opponent.unwrap_or(clock.shown())));
        let order = Order { limit: &self.setup.limit, side: self.position.side_to_move(), clocks };
        // Before the order, which may be answered before the next statement runs.
        let since = Stopwatch::start();
        protocol.go(process, &order);
        self.stage = Stage::Thinking(since, None);
    }

    /// Handles a line.
    fn read(&mut self, line: &Line) -> Option<Result<Answer, Forfeit>> {
        let (_, protocol) = self.running.as_mut()?;
        match self.stage {
            Stage::Idle | Stage::Lost(_) => None,
            Stage::Preparing(_) => {
                if let Some(what) = protocol.resigns(&line.text, self.position.side_to_move()) {
                    return Some(Err(self.resign(&what)));
                }
                match protocol.is_confirmed(&line.text) {
                    Ok(true) => self.go(),
                    Ok(false) => {}
                    Err(what) => return Some(Err(self.fail(Fault::IllegalMove, &what))),
                }
                None
            }
            Stage::Thinking(since, _) => {
                let reply = protocol.read(&line.text, &self.position)?;
                let report = protocol.report();
                let seconds = line.arrival.since(since).as_secs_f64();
                Some(self.finish(reply, report, seconds))
            }
        }
    }

    fn finish(&mut self, reply: Reply, report: Report, seconds: f64) -> Result<Answer, Forfeit> {
        let played = match reply {
            Reply::Move(played) => played,
            Reply::Illegal(what) => return Err(self.fail(Fault::IllegalMove, &what)),
            Reply::Resigns(what) => return Err(self.resign(&what)),
        };
        if let Some((fault, late)) = self.lateness(seconds) {
            return Err(self.fail(fault, &format!("played {played} after {late}")));
        }
        self.stage = Stage::Idle;
        if let Some(clock) = &mut self.clock {
            clock.count(seconds);
        }
        let Report { score, depth, nodes } = report;
        Ok(Answer { played, score, depth, nodes, seconds })
    }

    /// The game is lost because there is no answer.
    fn overdue(&mut self) -> Option<Forfeit> {
        match self.stage {
            Stage::Idle | Stage::Lost(_) => None,
            Stage::Preparing(since) => {
                let seconds = since.elapsed().as_secs_f64();
                let limit = self.setup.settings.start_timeout;
                (seconds > limit).then(|| {
                    self.fail(
                        Fault::Stall,
                        &format!("did not take the position within {limit} s, its `start_timeout`"),
                    )
                })
            }
            Stage::Thinking(since, None) => {
                self.lateness(since.elapsed().as_secs_f64())?;
                let (process, protocol) = self.running.as_mut()?;
                protocol.stop(process);
                self.stage = Stage::Thinking(since, Some(Stopwatch::start()));
                None
            }
            Stage::Thinking(since, Some(stopped)) => {
                if stopped.elapsed() < STOP {
                    return None;
                }
                let (fault, late) = self.lateness(since.elapsed().as_secs_f64())?;
                Some(self.fail(fault, &format!("did not move within {late}, and did not stop")))
            }
        }
    }
}

impl<P: Protocol> Program for Player<P> {
    fn begin(&mut self) -> Result<(), NotBegun> {
        self.stage = Stage::Idle;
        self.clock = match &self.setup.limit {
            Limit::Clock(params) => Some(GameClock::new(params)),
            _ => None,
        };
        self.ready().map_err(|error| self.not_begun(&error))?;
        self.has_played = true;
        Ok(())
    }

    fn think(&mut self, game: &Game, opponent: Option<Clock>) {
        let Some((process, protocol)) = &mut self.running else { return };
        self.position = game.position().clone();
        self.opponent = opponent;
        self.stage = Stage::Preparing(Stopwatch::start());
        // What it wrote before belongs to another move, unless it resigned after that.
        while let Next::Line(line) = process.next(Duration::ZERO) {
            if let Some(what) = protocol.resigns(&line.text, self.position.side_to_move()) {
                self.stage = Stage::Lost(self.resign(&what));
                return;
            }
        }
        match protocol.prepare(process, game) {
            Ok(true) => {}
            Ok(false) => return self.go(),
            Err(why) => {
                self.stage = Stage::Lost(self.fail(Fault::Crash, &why));
                return;
            }
        }
        // Usually there at once. If not, `answer` waits for it.
        if let Next::Line(line) = process.next(POLL)
            && let Some(Err(forfeit)) = self.read(&line)
        {
            self.stage = Stage::Lost(forfeit);
        }
    }

    fn answer(&mut self) -> Option<Result<Answer, Forfeit>> {
        if let Stage::Lost(forfeit) = &self.stage {
            return Some(Err(forfeit.clone()));
        }
        let entered = Stopwatch::start();
        loop {
            let Some((process, _)) = &self.running else { return Some(Err(self.crash())) };
            match process.next(POLL.saturating_sub(entered.elapsed())) {
                Next::Line(line) => {
                    if let Some(result) = self.read(&line) {
                        return Some(result);
                    }
                }
                Next::Ended => return Some(Err(self.crash())),
                Next::Nothing => {}
            }
            if let Some(forfeit) = self.overdue() {
                return Some(Err(forfeit));
            }
            if entered.elapsed() >= POLL {
                return None;
            }
        }
    }

    fn clock(&self) -> Option<Clock> {
        self.clock.as_ref().map(GameClock::shown)
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockParams, GameClock, evaluation, mate};

    #[test]
    fn no_evaluation_is_taken_for_a_mate() {
        assert_eq!((evaluation(-31), evaluation(50_000), evaluation(-50_000)), (-31.0, 31_000.0, -31_000.0));
        assert_eq!([mate(3), mate(0), mate(-2)], [31_997.0, -32_000.0, -31_998.0]);
    }

    #[test]
    fn a_clock_counts_moves_increments_and_controls() {
        let mut clock = GameClock::new(&ClockParams { seconds: 10.0, increment: 1.0, moves: Some(2) });
        clock.count(4.0);
        assert_eq!((clock.left, clock.moves), (7.0, Some(1)));
        clock.count(8.0);
        // Tolerated: 1 s beyond the clock, then the increment and the next control.
        assert_eq!((clock.left, clock.moves), (11.0, Some(2)));
    }
}
