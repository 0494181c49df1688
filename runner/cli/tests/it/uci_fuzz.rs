//! Lines that no chess program should send, over the parser and over whole conversations.

use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_engine::uci::parse::{Command, parse};
use dc0_engine::uci::{Settings, session};

/// Lines over the parser.
const LINES_PARSED: u32 = 250_000;

/// Whole conversations, of about 60 lines each.
const CONVERSATIONS: u64 = 2_000;

/// The longest that a conversation may take: a hang, not a speed, is what it finds.
const PATIENCE: Duration = Duration::from_mins(2);

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
    for _ in 0..LINES_PARSED {
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

/// A chess program that sends a line at a time, and now and then takes a moment, so that a search is under way.
struct Typist {
    lines: Vec<Vec<u8>>,
    moments: Stream,
    /// The line being sent, and how much of it is.
    sent: (usize, usize),
}

impl Read for Typist {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (line, at) = self.sent;
        let Some(whole) = self.lines.get(line) else { return Ok(0) };
        if at == 0 && below(&mut self.moments, 20) == 0 {
            thread::sleep(Duration::from_micros(below(&mut self.moments, 3000) as u64));
        }
        let part = (&whole[at..]).read(into)?;
        self.sent = if at + part == whole.len() { (line + 1, 0) } else { (line, at + part) };
        Ok(part)
    }
}

fn talk(input: impl Read) -> Vec<String> {
    let page = Page::default();
    let mut settings = Settings::new(None).expect("the shipped net");
    settings.set("Device", "cpu").expect("there is a CPU");
    let ended = session(&mut BufReader::new(input), Box::new(page.clone()), settings);
    ended.expect("the conversation ends well");
    let bytes = page.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    String::from_utf8(bytes).expect("text").lines().map(ToOwned::to_owned).collect()
}

/// Lines that would make a test slow: large searches without end are stopped, but threads and devices are made anew.
fn is_slow(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    ["threads", "batch", "device", "backend", "multipv 2"].iter().any(|word| text.contains(word))
}

/// Lines of a conversation, and how many of them ask for a move and for `readyok`.
fn conversation(stream: &mut Stream) -> (Vec<Vec<u8>>, [usize; 2]) {
    let (mut lines, mut asked) = (Vec::new(), [1, 2]);
    for _ in 0..60 {
        let line = match below(stream, 20_000) {
            0 => b"go ".repeat(500_000),
            _ => line(stream),
        };
        if is_slow(&line) || line.contains(&b'\n') {
            continue;
        }
        // Lines that are too long are left out.
        match parse(&String::from_utf8_lossy(&line)).filter(|_| line.len() <= 1 << 20) {
            Some(Command::Quit | Command::Bench) => continue,
            Some(Command::Go(_)) => asked[0] += 1,
            Some(Command::IsReady) => asked[1] += 1,
            _ => {}
        }
        lines.push([line, vec![b'\n']].concat());
    }
    lines.push(b"stop\nisready\nposition startpos\ngo nodes 3\nisready\n".to_vec());
    (lines, asked)
}

fn hold(number: u64) {
    let mut stream = Seed { run: 6, step: 0 }.stream(number, Purpose::Sampling);
    let (lines, [searches, asked]) = conversation(&mut stream);
    let said = talk(Typist { lines, moments: stream, sent: (0, 0) });
    let count = |word: &str| said.iter().filter(|line| line.split(' ').next() == Some(word)).count();
    assert_eq!(count("bestmove"), searches, "conversation {number}");
    assert_eq!(count("readyok"), asked, "conversation {number}");
    assert!(said.iter().any(|line| line.starts_with("bestmove ") && !line.contains("(none)")));
    let failed =
        said.iter().find(|line| line.contains("thread of the engine") || line.contains("engine's thread"));
    assert_eq!(failed, None, "conversation {number}");
}

#[test]
fn every_conversation_answers_every_go_and_is_ready_to_the_end() {
    for number in 0..CONVERSATIONS {
        let (done, ended) = channel();
        let held = thread::spawn(move || {
            hold(number);
            // The test has given up if nobody hears it.
            let _heard = done.send(());
        });
        let heard = ended.recv_timeout(PATIENCE);
        assert_ne!(heard, Err(RecvTimeoutError::Timeout), "conversation {number} hangs");
        held.join().unwrap_or_else(|_| panic!("conversation {number} fails"));
    }
}
