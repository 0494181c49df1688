//! A program for tests of opponents: a random mover that speaks UCI or xboard's protocol, and misbehaves as its arguments say.
//!
//! It shares no code with dc0, so that it starts within a millisecond and cannot make the same mistake twice.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "protocols are spoken on standard output")]

use std::fs::File;
use std::io::{self, BufRead as _, Lines, StdinLock, Write as _};
use std::process::{Command, exit};
use std::thread::{sleep, spawn};
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position as _};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mode = args.first().map_or("uci", String::as_str);
    let number = args.get(1).and_then(|arg| arg.parse().ok());
    match mode {
        "crash" => {
            eprintln!("loading\ncannot open the network file");
            exit(3);
        }
        "abort" => std::process::abort(),
        "silent" => forever(),
        "tty" => {
            if let Err(cause) = File::open("/dev/tty") {
                eprintln!("cannot open /dev/tty: {cause}");
                exit(1);
            }
            forever();
        }
        "garbage" => loop {
            say("Welcome to Chess 1.0! Your move?");
            sleep(Duration::from_millis(5));
        },
        "endless-line" => loop {
            print!("{}", "x".repeat(4096));
        },
        // Ends neither when asked nor with its input, and has a child that sleeps for some seconds.
        "stubborn" => {
            let mut sleeper = Command::new("sleep").arg(&args[1]).spawn().expect("sleep is installed");
            Uci::new("uci", None).play();
            let _ = sleeper.wait();
            forever();
        }
        "xboard" => Xboard::new(args.get(1).map_or("", String::as_str)).play(),
        mode => Uci::new(mode, number).play(),
    }
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(1000));
    }
}

/// Writes a line; ends when nobody reads it.
fn say(line: &str) {
    let mut output = io::stdout();
    if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
        exit(0);
    }
}

/// A UCI engine.
struct Uci {
    mode: String,
    /// What the mode needs.
    number: Option<u64>,
    input: Lines<StdinLock<'static>>,
    castling: CastlingMode,
    position: Chess,
    random: u64,
    searches: u64,
}

impl Uci {
    fn new(mode: &str, number: Option<u64>) -> Self {
        let (input, castling) = (io::stdin().lock().lines(), CastlingMode::Standard);
        Self {
            mode: mode.to_owned(),
            number,
            input,
            castling,
            position: Chess::new(),
            random: 1,
            searches: 0,
        }
    }

    fn play(&mut self) {
        if self.mode == "flood" {
            spawn(|| {
                loop {
                    say("info depth 1 currmove e2e4 currmovenumber 1");
                }
            });
        }
        while let Some(Ok(line)) = self.input.next() {
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "uci" => introduce(self.mode != "standard"),
                "isready" if self.mode == "hang" => forever(),
                "isready" => say("readyok"),
                "ucinewgame" => self.random = 1,
                "setoption" if rest == "name Seed value 13" => {
                    eprintln!("13 brings bad luck");
                    exit(4);
                }
                "setoption" if rest.starts_with("name UCI_Chess960") => {
                    self.castling = CastlingMode::from_chess960(rest.ends_with("true"));
                }
                "position" => self.position = position(rest, self.castling),
                "go" => self.search(rest),
                "quit" => return,
                _ => {}
            }
        }
    }

    fn search(&mut self, limits: &str) {
        self.searches += 1;
        say(&format!("info string {limits}"));
        say("info depth 3 seldepth 4 multipv 1 score cp 17 nodes 42 nps 1000 pv a1a1");
        say("info depth 4 score cp 99 upperbound nodes 50");
        match (self.mode.as_str(), self.number) {
            ("late", Some(milliseconds)) => sleep(Duration::from_millis(milliseconds)),
            ("mute", _) => forever(),
            ("illegal", _) => return say("bestmove e2e5"),
            ("null", _) => return say("bestmove 0000"),
            ("none", _) => return say("bestmove (none)"),
            ("nothing", _) => return say("bestmove"),
            ("die", Some(search)) if search == self.searches => {
                eprintln!("out of memory");
                exit(7);
            }
            ("wait-for-stop", _) => {
                while self.input.next().is_some_and(|line| line.is_ok_and(|line| line != "stop")) {}
            }
            _ => {}
        }
        let played = self.random_move();
        say(&format!("bestmove {played} ponder a1a1"));
        if self.mode == "twice" {
            say(&format!("bestmove {played}"));
        }
    }

    fn random_move(&mut self) -> String {
        random_move(&self.position, &mut self.random).to_uci(self.castling).to_string()
    }
}

fn random_move(position: &Chess, random: &mut u64) -> Move {
    let moves = position.legal_moves();
    // Xorshift (Marsaglia 2003).
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    // Castling is rare among random moves.
    let castling = moves.iter().find(|mv| mv.is_castle());
    *castling.unwrap_or(&moves[*random as usize % moves.len()])
}

/// An xboard engine.
struct Xboard {
    mode: String,
    castling: CastlingMode,
    position: Chess,
    random: u64,
    is_forced: bool,
    games: u32,
    requests: u32,
}

impl Xboard {
    fn new(mode: &str) -> Self {
        Self {
            mode: mode.to_owned(),
            castling: CastlingMode::Standard,
            position: Chess::new(),
            random: 1,
            is_forced: false,
            games: 0,
            requests: 0,
        }
    }

    fn play(&mut self) {
        let is_old = self.mode == "old";
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "protover" if is_old => say("Error (unknown command): protover"),
                "protover" if self.mode == "silent" => {}
                "protover" => {
                    self.requests += 1;
                    // Like GNU Chess, which loses what it is sent while it starts.
                    if self.mode != "deaf" || self.requests > 1 {
                        self.declare();
                    }
                }
                "ping" if !is_old => say(&format!("pong {rest}")),
                "new" => {
                    self.games += 1;
                    if self.mode == "once" && self.games > 3 {
                        say("Error (one game only): new");
                        exit(1);
                    }
                    (self.position, self.random, self.is_forced) = (Chess::new(), 1, false);
                    self.castling = CastlingMode::Standard;
                }
                "force" => self.is_forced = true,
                "sd" if self.mode == "depth" => say("Illegal move: sd 4"),
                "variant" => self.castling = CastlingMode::from_chess960(rest == "fischerandom"),
                "setboard" => self.position = position(&format!("fen {rest}"), self.castling),
                "go" => {
                    self.is_forced = false;
                    self.search();
                }
                "quit" => return,
                "usermove" if !is_old => self.take(rest),
                _ if is_old && word.len() >= 4 && word.parse::<UciMove>().is_ok() => self.take(word),
                _ => {}
            }
        }
    }

    fn declare(&self) {
        say("tellics say hello");
        say(if self.mode == "deaf" { "White (1) : feature done=0" } else { "feature done=0" });
        say("feature myname=\"Test Mover 2.0\" ping=1 setboard=1 usermove=1 san=1 memory=1");
        if self.mode != "standard" {
            say("feature variants=\"normal,fischerandom\"");
        }
        say("feature option=\"Resign -check 0\" option=\"Level -spin 3 0 9\" nps=1");
        say(&format!("feature reuse={} done=1", u8::from(self.mode != "once")));
    }

    /// Plays the opponent's move, and answers.
    fn take(&mut self, text: &str) {
        if self.mode == "rejects" {
            return say(&format!("Illegal move (I do not like it): {text}"));
        }
        let played = match text.parse::<UciMove>() {
            Ok(uci) => uci.to_move(&self.position).expect("is legal"),
            // Castling in Chess960.
            Err(_) => text.parse::<San>().expect("a move").to_move(&self.position).expect("is legal"),
        };
        self.position.play_unchecked(played);
        if !self.is_forced {
            self.search();
        }
    }

    fn search(&mut self) {
        say("3. -42 10 1234 a1a1");
        match self.mode.as_str() {
            "resigns" => return say("resign"),
            "loses" => return say("0-1 {White resigns}"),
            "illegal" => return say("move e2e5"),
            "dies" => {
                eprintln!("segmentation violation");
                exit(9);
            }
            "claims" => say("1/2-1/2 {I am bored}"),
            _ => {}
        }
        let played = random_move(&self.position, &mut self.random);
        let text = match played.castling_side().filter(|_| self.castling.is_chess960()) {
            Some(side) => San::Castle(side).to_string(),
            None => played.to_uci(CastlingMode::Standard).to_string(),
        };
        self.position.play_unchecked(played);
        if self.mode == "old" {
            say(&format!("1. ... {text}"));
            say(&format!("My move is : {text}"));
        } else {
            say(&format!("move {text}"));
        }
        if self.mode == "resigns-later" {
            say("resign");
        }
    }
}

fn introduce(knows_chess960: bool) {
    say("id name Test Engine 1.0");
    say("id author nobody");
    say("option name Skill Level type spin default 20 min 0 max 20");
    say("option name Style type combo default Solid var Solid var Risky");
    say("option name Seed type string default 1");
    say("option name Ponder type check default false");
    say("option name Clear Hash type button");
    if knows_chess960 {
        say("option name UCI_Chess960 type check default false");
    }
    say("uciok");
}

/// Reads `startpos moves …` or `fen … moves …`.
fn position(text: &str, castling: CastlingMode) -> Chess {
    let (start, moves) = text.split_once(" moves ").unwrap_or((text, ""));
    let mut position = match start.strip_prefix("fen ") {
        Some(fen) => fen.parse::<Fen>().expect("a FEN").into_position(castling).expect("is legal"),
        None => Chess::new(),
    };
    for text in moves.split_whitespace() {
        let played = text.parse::<UciMove>().expect("a move").to_move(&position).expect("is legal");
        position.play_unchecked(played);
    }
    position
}
