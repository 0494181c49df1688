//! UCI engines.
//!
//! After Meyer-Kahlen and Huber, "Description of the Universal Chess Interface" (2006). Details that it leaves open are as in
//! fastchess: `isready` before each search, exact scores before bounds, only the first of several lines.

mod info;
mod option;

use dc0_core::board::{Game, Move, Position, Side};
use dc0_core::params::Value;

use crate::error::OpponentError;
use crate::options::{Kind, check};
use crate::params::Limit;
use crate::player::{Order, Protocol, Reply, Report};
use crate::process::{Process, Speech, shortened};
use crate::setup::{Introduction, Setup};
use info::Infos;

/// For programs that do not answer to `uci`.
const HINT: &str = "; is it a UCI engine? An xboard engine is played by `xboard(…)`, and some programs need `args` such as [\"uci\"]";

/// For engines that do not answer to `isready`.
const READY_HINT: &str = "; some engines load their files now: check `options`";

/// Options that follow from the match.
const REFUSED: [(&str, &str); 2] = [
    ("Ponder", "engines do not think on their opponents' time in matches"),
    (CHESS960, "it follows from where a game starts"),
];

/// The option that games of Chess960 need.
const CHESS960: &str = "UCI_Chess960";

/// A UCI engine.
#[derive(Debug)]
pub(crate) struct Uci {
    infos: Infos,
    /// Whether the engine declares `UCI_Chess960`.
    knows_chess960: bool,
    /// What that option was last set to.
    is_chess960: bool,
}

fn is_answer(line: &str) -> bool {
    let first = line.split_whitespace().next();
    matches!(first, Some("id" | "option" | "uciok" | "readyok" | "bestmove"))
}

impl Uci {
    /// Sets `UCI_Chess960` to what a game's start needs.
    fn set_variant(&mut self, process: &Process, start: &Position) -> Result<(), String> {
        let is_chess960 = start.is_chess960();
        if is_chess960 == self.is_chess960 {
            return Ok(());
        }
        if !self.knows_chess960 {
            let fen = start.fen();
            return Err(format!(
                "has no option {CHESS960}, without which it cannot play a game of Chess960 from {fen}"
            ));
        }
        process.write(&format!("setoption name {CHESS960} value {is_chess960}"));
        self.is_chess960 = is_chess960;
        Ok(())
    }

    fn is_ready(process: &Process, setup: &Setup) -> Result<(), OpponentError> {
        setup.request(process, ("isready", "readyok"), READY_HINT, |line| line == "readyok")
    }
}

impl Protocol for Uci {
    const SPEECH: Speech = Speech { is_answer, farewell: "stop\nquit\n" };

    fn greet(process: &Process, setup: &Setup) -> Result<(Self, Introduction), OpponentError> {
        let mut introduction = Introduction::default();
        setup.request(process, ("uci", "uciok"), HINT, |line| {
            if let Some(name) = line.strip_prefix("id name ") {
                introduction.name = shortened(name.trim());
            } else if let Some(author) = line.strip_prefix("id author ") {
                introduction.author = shortened(author.trim());
            }
            introduction.options.extend(option::parse(line));
            line == "uciok"
        })?;
        let given = &setup.settings.options;
        check(&setup.call(), given, &introduction.options, &REFUSED)?;
        // Threads before the rest: engines divide their hash table among them.
        let (threads, others): (Vec<_>, Vec<_>) = given.iter().partition(|(name, _)| *name == "Threads");
        for (name, value) in threads.into_iter().chain(others) {
            let is_button =
                introduction.options.iter().any(|option| option.name == *name && option.kind == Kind::Button);
            match value {
                Value::Bool(false) if is_button => {}
                Value::Bool(true) if is_button => process.write(&format!("setoption name {name}")),
                Value::Text(text) if text.is_empty() => {
                    process.write(&format!("setoption name {name} value <empty>"));
                }
                Value::Text(text) => process.write(&format!("setoption name {name} value {text}")),
                value => process.write(&format!("setoption name {name} value {value}")),
            }
        }
        Self::is_ready(process, setup)?;
        let mut names = introduction.options.iter().map(|option| &option.name);
        let knows_chess960 = names.any(|name| name.eq_ignore_ascii_case(CHESS960));
        Ok((Self { infos: Infos::default(), knows_chess960, is_chess960: false }, introduction))
    }

    fn can_play_again(&self) -> bool {
        true
    }

    fn begin(&mut self, process: &Process, setup: &Setup) -> Result<(), OpponentError> {
        process.write("ucinewgame");
        Self::is_ready(process, setup)
    }

    fn prepare(&mut self, process: &Process, game: &Game) -> Result<bool, String> {
        self.set_variant(process, game.start())?;
        let start = game.start().fen();
        let start =
            if start == Position::initial().fen() { "startpos".to_owned() } else { format!("fen {start}") };
        let written = |(before, mv): (&Position, &Move)| {
            let mv = if self.is_chess960 { before.to_rook(*mv) } else { *mv };
            format!(" {mv}")
        };
        let moves: String = game.positions().zip(game.moves()).map(written).collect();
        let moves = if moves.is_empty() { moves } else { format!(" moves{moves}") };
        process.write(&format!("position {start}{moves}"));
        process.write("isready");
        Ok(true)
    }

    fn is_confirmed(&mut self, line: &str) -> Result<bool, String> {
        Ok(line == "readyok")
    }

    fn go(&mut self, process: &Process, order: &Order<'_>) {
        self.infos = Infos::default();
        process.write(&go(order));
    }

    fn stop(&mut self, process: &Process) {
        process.write("stop");
    }

    fn read(&mut self, line: &str, position: &Position) -> Option<Reply> {
        let mut words = line.split_whitespace();
        match words.next()? {
            "info" => {
                self.infos.read(line);
                None
            }
            "bestmove" => {
                let text = words.next().unwrap_or_default();
                let legal = position.read_uci(text);
                Some(legal.map_or_else(
                    || {
                        Reply::Illegal(format!(
                            "played \"{}\", which is no legal move in {}",
                            shortened(text),
                            position.fen()
                        ))
                    },
                    Reply::Move,
                ))
            }
            _ => None,
        }
    }

    fn report(&self) -> Report {
        self.infos.report()
    }
}

/// The request to search.
fn go(order: &Order<'_>) -> String {
    let milliseconds = |seconds: f64| ((seconds * 1000.0) as u64).max(1);
    match (order.limit, order.clocks) {
        (Limit::Nodes(nodes), _) => format!("go nodes {nodes}"),
        (Limit::Depth(depth), _) => format!("go depth {depth}"),
        (Limit::MoveTime(seconds), _) => format!("go movetime {}", milliseconds(*seconds)),
        (Limit::Clock(_), None) => unreachable!("a game by a clock has one"),
        (Limit::Clock(_), Some((clock, opponent))) => {
            let own = clock.shown();
            let (white, black) = if order.side == Side::White { (own, opponent) } else { (opponent, own) };
            let increment = |seconds: f64| (seconds * 1000.0) as u64;
            let moves = clock.moves.map_or(String::new(), |moves| format!(" movestogo {moves}"));
            format!(
                "go wtime {} btime {} winc {} binc {}{moves}",
                milliseconds(white.left),
                milliseconds(black.left),
                increment(white.increment),
                increment(black.increment)
            )
        }
    }
}
