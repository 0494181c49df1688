//! One session in named steps, like that of `fastchess --compliance`; written from its description.

use dc0_core::board::Move;
use dc0_process::clock::Stopwatch;

use super::check::{after, best, game};
use super::engine::Engine;

/// What a step sends, and what it expects.
#[derive(Clone, Copy)]
enum Action {
    /// Sends a line and reads up to the answer.
    Ask(&'static str, &'static str),
    /// A line before `uciok` starts like this.
    Introduces(&'static str),
    NewGame,
    Position(&'static str),
    Send(&'static str),
    /// Reads up to `bestmove`, whose move must be legal in the position.
    BestMove,
    HasInfo,
    /// The numbers of the last info line are integers.
    IsWhole,
    HasScore,
}

use Action::{Ask, BestMove, HasInfo, HasScore, Introduces, IsWhole, NewGame, Position, Send};

fn introduction() -> Vec<(String, Action)> {
    let tactics = "fen 3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27";
    let steps = [
        ("it starts", Ask("uci", "uciok")),
        ("it is ready", Ask("isready", "readyok")),
        ("it has a name", Introduces("id name ")),
        ("it has an author", Introduces("id author ")),
        ("it takes a new game", NewGame),
        ("it takes the initial position", Position("startpos")),
        ("it is ready after the initial position", Ask("isready", "readyok")),
        ("it takes a FEN", Position(tactics)),
        ("it is ready after the FEN", Ask("isready", "readyok")),
    ];
    steps.map(|(name, action)| (name.to_owned(), action)).into()
}

fn search(go: &'static str) -> [(String, Action); 5] {
    [
        ("it takes", Send(go)),
        ("it has a legal move after", BestMove),
        ("it prints an info line after", HasInfo),
        ("its numbers are whole after", IsWhole),
        ("it prints a score after", HasScore),
    ]
    .map(|(name, action)| (format!("{name} \"{go}\""), action))
}

fn steps() -> Vec<(String, Action)> {
    let mut steps = introduction();
    let one = |name: &str, action: Action| [(name.to_owned(), action)];
    steps.extend(search("go wtime 100"));
    let black = "fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    steps.extend(one("it takes a position with Black to move", Position(black)));
    steps.extend(search("go btime 100"));
    steps.extend(search("go wtime 100 winc 100 btime 100 binc 100"));
    steps.extend(search("go btime 100 binc 100 wtime 100 winc 100"));
    steps.extend(one("it takes another game", NewGame));
    steps.extend(one("it takes the initial position of that game", Position("startpos")));
    steps.extend(search("go wtime 100 btime 100"));
    steps.extend(one("it takes the game after two moves", Position("startpos moves e2e4 e7e5")));
    steps.extend(search("go wtime 100 btime 100"));
    steps
}

/// The state of the session.
struct Session {
    engine: Engine,
    /// Started with the first step; the time limit is for all steps together.
    start: Stopwatch,
    position: &'static str,
    introduced: Vec<String>,
    /// The lines read since the last line that was sent.
    lines: Vec<String>,
}

impl Session {
    fn take(&mut self, action: Action) -> Result<(), String> {
        match action {
            Ask(line, answer) => self.ask(line, answer),
            Introduces(start) => expect(self.introduced.iter().any(|line| line.starts_with(start)), || {
                format!("no \"{start}\" in {:#?}", self.introduced)
            }),
            NewGame => {
                self.engine.send("ucinewgame");
                self.ask("isready", "readyok")
            }
            Position(position) => {
                self.position = position;
                self.engine.send(&format!("position {position}"));
                Ok(())
            }
            Send(line) => {
                self.engine.send(line);
                Ok(())
            }
            BestMove => self.best_move(),
            HasInfo => self.last_info().map(|_| ()),
            IsWhole => self.last_info().and_then(is_whole),
            HasScore => {
                let info = self.last_info()?;
                expect(info.contains(" score "), || format!("no score in {info}"))
            }
        }
    }

    fn ask(&mut self, line: &str, answer: &str) -> Result<(), String> {
        self.engine.send(line);
        self.lines = self.engine.until_since(answer, self.start)?;
        if answer == "uciok" {
            self.introduced.clone_from(&self.lines);
        }
        Ok(())
    }

    fn best_move(&mut self) -> Result<(), String> {
        self.lines = self.engine.until_since("bestmove", self.start)?;
        let best = Move::from_uci(best(&self.lines));
        let is_legal = |best: &Move| game(self.position).position().is_legal(*best);
        expect(best.as_ref().is_some_and(is_legal), || format!("no legal move in {:#?}", self.lines))
    }

    fn last_info(&self) -> Result<&str, String> {
        let info =
            self.lines.iter().rfind(|line| line.starts_with("info ") && !line.starts_with("info string"));
        info.map(String::as_str).ok_or_else(|| format!("no info line in {:#?}", self.lines))
    }
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn is_whole(info: &str) -> Result<(), String> {
    let words: Vec<&str> = info.split(' ').collect();
    for name in ["time", "nps", "nodes", "cp", "mate"] {
        let number = after(&words, name);
        let is_whole = number.is_none_or(|number| number.parse::<i64>().is_ok());
        expect(is_whole, || format!("no whole number after {name} in {info}"))?;
    }
    expect(words.contains(&"time") && words.contains(&"nps"), || format!("no time or speed in {info}"))
}

#[test]
fn every_step_of_the_fastchess_compliance_check_passes() {
    let mut session = Session {
        engine: Engine::start(&[]),
        start: Stopwatch::start(),
        position: "startpos",
        introduced: Vec::new(),
        lines: Vec::new(),
    };
    let steps = steps();
    assert!(steps.len() >= 40);
    for (number, (name, action)) in (1..).zip(steps) {
        let outcome = session.take(action);
        assert!(outcome.is_ok(), "step {number}, {name}: {}", outcome.unwrap_err());
    }
    session.engine.send("quit");
    assert_eq!(session.engine.end(), (Some(0), Vec::new()), "the last step: it ends");
}
