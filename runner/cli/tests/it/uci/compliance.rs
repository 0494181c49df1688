//! One conversation in named steps, as `fastchess --compliance` has it; written anew from its description.

use dc0_core::board::Move;
use dc0_process::clock::Stopwatch;

use super::check::{after, best, game};
use super::engine::Engine;

/// What a step does, and what it expects.
#[derive(Clone, Copy)]
enum Action {
    /// Sends a line and reads up to the answer.
    Ask(&'static str, &'static str),
    /// Something was told before `uciok`.
    Told(&'static str),
    NewGame,
    Position(&'static str),
    Say(&'static str),
    /// Reads up to a move that is legal in the position.
    BestMove,
    HasInfo,
    /// The numbers of the last info line are whole.
    IsWhole,
    HasScore,
}

use Action::{Ask, BestMove, HasInfo, HasScore, IsWhole, NewGame, Position, Say, Told};

fn introduction() -> Vec<(String, Action)> {
    let tactics = "fen 3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27";
    let steps = [
        ("it starts", Ask("uci", "uciok")),
        ("it is ready", Ask("isready", "readyok")),
        ("it has a name", Told("id name ")),
        ("it has an author", Told("id author ")),
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
        ("it takes", Say(go)),
        ("it has a legal move after", BestMove),
        ("it tells a line after", HasInfo),
        ("its numbers are whole after", IsWhole),
        ("it tells a score after", HasScore),
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

/// How far the conversation is.
struct Conversation {
    engine: Engine,
    /// Since the first step; patience is for all steps together.
    start: Stopwatch,
    position: &'static str,
    introduced: Vec<String>,
    /// What was told since the last line that was sent.
    told: Vec<String>,
}

impl Conversation {
    fn take(&mut self, action: Action) -> Result<(), String> {
        match action {
            Ask(line, answer) => self.ask(line, answer),
            Told(start) => expect(self.introduced.iter().any(|line| line.starts_with(start)), || {
                format!("no \"{start}\" in {:#?}", self.introduced)
            }),
            NewGame => {
                self.engine.say("ucinewgame");
                self.ask("isready", "readyok")
            }
            Position(position) => {
                self.position = position;
                self.engine.say(&format!("position {position}"));
                Ok(())
            }
            Say(line) => {
                self.engine.say(line);
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
        self.engine.say(line);
        self.told = self.engine.until_since(answer, self.start)?;
        if answer == "uciok" {
            self.introduced.clone_from(&self.told);
        }
        Ok(())
    }

    fn best_move(&mut self) -> Result<(), String> {
        self.told = self.engine.until_since("bestmove", self.start)?;
        let played = Move::from_uci(best(&self.told));
        let is_legal = |played: &Move| game(self.position).position().is_legal(*played);
        expect(played.as_ref().is_some_and(is_legal), || format!("no legal move in {:#?}", self.told))
    }

    fn last_info(&self) -> Result<&str, String> {
        let info =
            self.told.iter().rfind(|line| line.starts_with("info ") && !line.starts_with("info string"));
        info.map(String::as_str).ok_or_else(|| format!("no info line in {:#?}", self.told))
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
fn every_step_of_a_match_runners_check_is_passed() {
    let mut conversation = Conversation {
        engine: Engine::start(&[]),
        start: Stopwatch::start(),
        position: "startpos",
        introduced: Vec::new(),
        told: Vec::new(),
    };
    let steps = steps();
    assert!(steps.len() >= 40);
    for (number, (name, action)) in (1..).zip(steps) {
        let outcome = conversation.take(action);
        assert!(outcome.is_ok(), "step {number}, {name}: {}", outcome.unwrap_err());
    }
    conversation.engine.say("quit");
    assert_eq!(conversation.engine.end(), (Some(0), Vec::new()), "the last step: it ends");
}
