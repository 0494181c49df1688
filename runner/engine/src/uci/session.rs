//! The session with a chess program: reads lines, and never waits for a search.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use dc0_core::board::Game;

use super::options::{CLEAR_HASH, Settings, option_lines};
use super::output::Output;
use super::parse::{Command, Go, parse};
use super::signal::Signal;
use super::thinker::{Job, NoPosition, Order, Thinker};
use crate::lines::{self, Input};

/// Runs until `quit` or the end of the input. A search that is under way then is stopped, and its move is reported.
pub fn session(input: &mut dyn BufRead, to: Box<dyn Write + Send>, settings: Settings) -> io::Result<()> {
    let output = Output::new(to);
    output.log_to(settings.log.clone());
    let (jobs, receiver) = channel();
    let running = Arc::new(AtomicUsize::new(0));
    let thinker = Thinker::new(output.clone(), Arc::clone(&running), settings.clone());
    let thread = thread::spawn(move || thinker.work(&receiver));
    let mut session = Session {
        output: output.clone(),
        settings,
        game: Ok(Game::initial()),
        jobs,
        running,
        signal: None,
        is_debugging: false,
    };
    let read = session.listen(input);
    session.stop();
    drop(session);
    if thread.join().is_err() {
        return Err(io::Error::other("the engine's thread failed"));
    }
    read?;
    output.take_failure().map_or(Ok(()), Err)
}

struct Session {
    output: Output,
    settings: Settings,
    game: Result<Game, NoPosition>,
    jobs: Sender<Job>,
    /// Searches that have not reported their move yet.
    running: Arc<AtomicUsize>,
    /// The signal of the last search.
    signal: Option<Arc<Signal>>,
    /// Whether skipped lines are reported (`debug on`).
    is_debugging: bool,
}

impl Session {
    fn listen(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        while !self.output.is_broken() {
            match lines::next(input)? {
                Input::End => return Ok(()),
                Input::TooLong => {
                    self.output.info(&format!("error: {}", lines::too_long()));
                    // Only a position has so many moves, and the one before is not what is meant.
                    self.game = Err(NoPosition);
                }
                Input::Line(line) | Input::NotUtf8(line) => {
                    self.output.was_read(&line);
                    match parse(&line) {
                        Some(Command::Quit) => return Ok(()),
                        Some(command) => self.execute(command),
                        None if self.is_debugging && !line.is_empty() => {
                            self.output.info("unknown command, skipped");
                        }
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Uci => self.identify(),
            Command::IsReady if self.running.load(Ordering::SeqCst) > 0 => self.output.line("readyok"),
            Command::IsReady => self.send(Job::Ready(Box::new(self.settings.clone()))),
            Command::NewGame => {
                self.stop();
                self.send(Job::NewGame);
            }
            Command::SetOption { name, .. } if name.eq_ignore_ascii_case(CLEAR_HASH) => {
                self.send(Job::NewGame);
            }
            Command::SetOption { name, value } => match self.settings.set(&name, &value) {
                Ok(note) => {
                    self.output.log_to(self.settings.log.clone());
                    if let Some(note) = note {
                        self.output.info(&note.to_string());
                    }
                }
                Err(error) => self.output.info(&format!("error: {error}")),
            },
            Command::Position(text) => self.set_up(&text),
            Command::Go(go) => self.go(go),
            Command::Stop => self.stop(),
            Command::PonderHit => self.signal.iter().for_each(|signal| signal.ponder_hit()),
            Command::Debug(on) => self.is_debugging = on,
            Command::Board => self.output.line(&self.game.as_ref().map_or_else(ToString::to_string, board)),
            Command::Eval => self.for_people(Job::Eval),
            Command::Tree => self.send(Job::Tree(self.settings.notation)),
            Command::Bench => self.send(Job::Bench(Box::new(self.settings.clone()))),
            // There is nothing to register, and `quit` has ended the session.
            Command::Register | Command::Quit => {}
        }
    }

    fn identify(&self) {
        self.output.line(concat!("id name dc0 ", env!("CARGO_PKG_VERSION")));
        self.output.line("id author the dc0 authors");
        for line in option_lines() {
            self.output.line(&line);
        }
        self.output.line("uciok");
    }

    /// A position that cannot be read leaves no game: a move in another position than the chess program's would be illegal.
    fn set_up(&mut self, text: &str) {
        self.game = match Game::from_inexact_text(text) {
            Ok((game, broken)) => {
                if let Some(broken) = broken {
                    self.output.info(&format!("{broken} in the FEN; searched as {}", game.start().fen()));
                }
                Ok(game)
            }
            Err(error) => {
                self.output.info(&format!("error: {error}"));
                Err(NoPosition)
            }
        };
    }

    fn go(&mut self, go: Go) {
        // A second `go` stops the first search, which reports its move before the second begins.
        self.stop();
        for limit in &go.without_number {
            self.output
                .info(&format!("error: go {limit}: expected a whole number after it; it limits nothing"));
        }
        if let Some(moves) = go.mate.filter(|moves| *moves < 1) {
            self.output.info(&format!("error: go mate {moves}: expected at least 1 move; it limits nothing"));
        }
        for (limit, number) in [("depth", go.depth), ("nodes", go.nodes), ("movetime", go.movetime)] {
            if let Some(number) = number.filter(|number| *number < 1) {
                self.output.info(&format!("error: go {limit} {number}: expected at least 1, which is taken"));
            }
        }
        let signal = Arc::new(Signal::new(go.ponder));
        let order = Order {
            game: self.game.clone(),
            go,
            settings: self.settings.clone(),
            signal: Arc::clone(&signal),
        };
        self.signal = Some(signal);
        self.running.fetch_add(1, Ordering::SeqCst);
        self.send(Job::Search(Box::new(order)));
    }

    fn stop(&self) {
        self.signal.iter().for_each(|signal| signal.stop());
    }

    fn for_people(&self, job: impl FnOnce(Box<Settings>, Game) -> Job) {
        match &self.game {
            Ok(game) => self.send(job(Box::new(self.settings.clone()), game.clone())),
            Err(error) => self.output.info(&error.to_string()),
        }
    }

    fn send(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            self.output.info("error: the engine's thread has failed; start the engine again");
        }
    }
}

/// The board as text, for people.
fn board(game: &Game) -> String {
    let fen = game.position().fen();
    let row = |(rank, row): (u8, &str)| {
        let dots =
            |letter: char| letter.to_digit(10).map_or(letter.into(), |empty| ".".repeat(empty as usize));
        let squares: String = row.chars().map(dots).collect();
        let squares: String = squares.chars().flat_map(|square| [' ', square]).collect();
        format!("{rank}{squares}\n")
    };
    let rows: String = (1..=8).rev().zip(fen.split(['/', ' '])).map(row).collect();
    format!("{rows}  a b c d e f g h\n{fen}")
}
