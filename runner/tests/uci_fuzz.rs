//! Lines that no chess program should send, over the parser and over whole conversations.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_runner::uci::parse::{Command, parse};
use dc0_runner::uci::{Settings, session};

/// Words of the protocol, and some that are nearly ones.
const WORDS: [&str; 56] = [
    "uci",
    "isready",
    "ucinewgame",
    "setoption",
    "name",
    "value",
    "position",
    "startpos",
    "fen",
    "moves",
    "go",
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "stop",
    "ponderhit",
    "debug",
    "on",
    "off",
    "register",
    "e2e4",
    "e7e5",
    "a7a8q",
    "e1g1",
    "0000",
    "e2e4e5",
    "-1",
    "0",
    "1",
    "20",
    "1e9",
    "99999999999999999999",
    "-99999999999999999999",
    "0x10",
    "Threads",
    "MultiPV",
    "Move",
    "Overhead",
    "search.draw_score",
    "0.5",
    "nan",
    "8/8/8/8/8/8/8/8",
    "w",
    "KQkq",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "\u{1f600}",
    "\0",
];

const LINES: [&str; 14] = [
    "uci",
    "isready",
    "ucinewgame",
    "setoption name MultiPV value 3",
    "setoption name Move Overhead value 10",
    "setoption name search.c_puct_factor value 0.5",
    "position startpos moves e2e4 e7e5 g1f3",
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    "position fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
    "go nodes 20",
    "go wtime 50 btime 50 winc 10 binc 10",
    "go searchmoves e2e4 d2d4 nodes 10",
    "stop",
    "ponderhit",
];

fn below(stream: &mut Stream, limit: usize) -> usize {
    use rand::RngExt;
    stream.random_range(0..limit)
}

fn line(stream: &mut Stream) -> Vec<u8> {
    match below(stream, 10) {
        0..=2 => LINES[below(stream, LINES.len())].as_bytes().to_vec(),
        3..=5 => {
            let words: Vec<&str> =
                (0..below(stream, 12)).map(|_| WORDS[below(stream, WORDS.len())]).collect();
            words.join([" ", "  ", "\t"][below(stream, 3)]).into_bytes()
        }
        6 | 7 => mutated(stream),
        8 => (0..below(stream, 80)).map(|_| below(stream, 256) as u8).collect(),
        _ => WORDS[below(stream, WORDS.len())].repeat(below(stream, 200)).into_bytes(),
    }
}

/// A good line with some bytes changed, put in or left out.
fn mutated(stream: &mut Stream) -> Vec<u8> {
    let mut line = LINES[below(stream, LINES.len())].as_bytes().to_vec();
    for _ in 0..=below(stream, 3) {
        let at = below(stream, line.len() + 1);
        match below(stream, 3) {
            0 if at < line.len() => line[at] = below(stream, 256) as u8,
            1 if at < line.len() => drop(line.remove(at)),
            _ => line.insert(at, below(stream, 256) as u8),
        }
    }
    line
}

#[test]
fn no_line_makes_the_parser_panic() {
    let mut stream = Seed { run: 5, step: 0 }.stream(0, Purpose::Sampling);
    let mut understood = 0;
    for _ in 0..250_000 {
        let line = line(&mut stream);
        understood += u32::from(parse(&String::from_utf8_lossy(&line)).is_some());
    }
    assert!((50_000..245_000).contains(&understood), "{understood} lines are commands");
    for word in WORDS {
        let _enormous = parse(&format!("{word} {}", word.repeat(100_000)));
        let _many = parse(&format!("{word} ").repeat(100_000));
    }
}

/// A place to write that a test can read.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn talk(input: &[u8]) -> Vec<String> {
    let page = Page::default();
    let mut settings = Settings::new(None).expect("the shipped net");
    settings.set("Device", "cpu").expect("there is a CPU");
    session(&mut &*input, Box::new(page.clone()), settings).expect("the conversation ends well");
    let bytes = page.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    String::from_utf8(bytes).expect("text").lines().map(ToOwned::to_owned).collect()
}

/// Lines that would make a test slow: large searches without end are stopped, but threads and devices are made anew.
fn is_slow(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    ["threads", "batch", "device", "backend", "multipv 2"].iter().any(|word| text.contains(word))
}

#[test]
fn every_conversation_answers_every_go_and_is_ready_to_the_end() {
    for number in 0..200 {
        let mut stream = Seed { run: 6, step: 0 }.stream(number, Purpose::Sampling);
        let (mut input, mut searches, mut asked) = (Vec::new(), 0, 0);
        for _ in 0..60 {
            let line = line(&mut stream);
            if is_slow(&line) || line.contains(&b'\n') {
                continue;
            }
            match parse(&String::from_utf8_lossy(&line)) {
                Some(Command::Quit | Command::Bench) => continue,
                Some(Command::Go(_)) => searches += 1,
                Some(Command::IsReady) => asked += 1,
                _ => {}
            }
            input.extend_from_slice(&line);
            input.push(b'\n');
        }
        input.extend_from_slice(b"stop\nisready\nposition startpos\ngo nodes 3\nisready\n");
        let said = talk(&input);
        let count = |word: &str| said.iter().filter(|line| line.split(' ').next() == Some(word)).count();
        assert_eq!(count("bestmove"), searches + 1, "conversation {number}");
        assert_eq!(count("readyok"), asked + 2, "conversation {number}");
        assert!(said.iter().any(|line| line.starts_with("bestmove ") && !line.contains("(none)")));
    }
}
