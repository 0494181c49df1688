//! Fuzzes the UCI parser and whole sessions with lines that no chess GUI should send.

use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use dc0_core::poison::IgnorePoison as _;
use dc0_core::rng::{Purpose, Seed, Stream};
use dc0_engine::uci::parse::{Command, parse};
use dc0_engine::uci::{Settings, session};

/// Lines given to the parser.
const LINES_PARSED: u32 = 250_000;

/// Whole sessions, of about 60 lines each.
const SESSIONS: u64 = 2_000;

/// How long a session may take. It is to find hangs, not slowness.
const PATIENCE: Duration = Duration::from_mins(2);

/// Words of the protocol, and some near misses.
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

/// A valid line with some bytes changed, inserted or removed.
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

/// A writer whose content a test can read.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().ignore_poison().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A GUI that sends one line at a time, with occasional pauses, so that searches are running when lines arrive.
struct Typist {
    lines: Vec<Vec<u8>>,
    pauses: Stream,
    /// The line that is being sent, and how many of its bytes are.
    sent: (usize, usize),
}

impl Read for Typist {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (line, at) = self.sent;
        let Some(whole) = self.lines.get(line) else { return Ok(0) };
        if at == 0 && below(&mut self.pauses, 20) == 0 {
            thread::sleep(Duration::from_micros(below(&mut self.pauses, 3000) as u64));
        }
        let part = (&whole[at..]).read(into)?;
        self.sent = if at + part == whole.len() { (line + 1, 0) } else { (line, at + part) };
        Ok(part)
    }
}

fn output_of(input: impl Read) -> Vec<String> {
    let buffer = SharedBuffer::default();
    let mut settings = Settings::new(None).expect("the shipped net");
    settings.set("Device", "cpu").expect("there is a CPU");
    let ended = session(&mut BufReader::new(input), Box::new(buffer.clone()), settings);
    ended.expect("the session ends well");
    let bytes = buffer.0.lock().ignore_poison().clone();
    String::from_utf8(bytes).expect("text").lines().map(ToOwned::to_owned).collect()
}

/// Lines that would make a test slow: endless searches are stopped, but threads and devices would be created again.
fn is_slow(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    ["threads", "batch", "device", "backend", "multipv 2"].iter().any(|word| text.contains(word))
}

/// The lines of a session, and how many of them request a move and `readyok`.
fn session_lines(stream: &mut Stream) -> (Vec<Vec<u8>>, [usize; 2]) {
    let (mut lines, mut expected) = (Vec::new(), [1, 2]);
    for _ in 0..60 {
        let line = match below(stream, 20_000) {
            0 => b"go ".repeat(500_000),
            _ => line(stream),
        };
        if is_slow(&line) || line.contains(&b'\n') {
            continue;
        }
        // Lines that are too long are ignored.
        match parse(&String::from_utf8_lossy(&line)).filter(|_| line.len() <= 1 << 20) {
            Some(Command::Quit | Command::Bench) => continue,
            Some(Command::Go(_)) => expected[0] += 1,
            Some(Command::IsReady) => expected[1] += 1,
            _ => {}
        }
        lines.push([line, vec![b'\n']].concat());
    }
    lines.push(b"stop\nisready\nposition startpos\ngo nodes 3\nisready\n".to_vec());
    (lines, expected)
}

fn check(number: u64) {
    let mut stream = Seed { run: 6, step: 0 }.stream(number, Purpose::Sampling);
    let (lines, [searches, ready]) = session_lines(&mut stream);
    let output = output_of(Typist { lines, pauses: stream, sent: (0, 0) });
    let count = |word: &str| output.iter().filter(|line| line.split(' ').next() == Some(word)).count();
    assert_eq!(count("bestmove"), searches, "session {number}");
    assert_eq!(count("readyok"), ready, "session {number}");
    assert!(output.iter().any(|line| line.starts_with("bestmove ") && !line.contains("(none)")));
    let failed =
        output.iter().find(|line| line.contains("thread of the engine") || line.contains("engine's thread"));
    assert_eq!(failed, None, "session {number}");
}

#[test]
fn every_session_answers_every_go_and_isready() {
    for number in 0..SESSIONS {
        let (done, ended) = channel();
        let worker = thread::spawn(move || {
            check(number);
            // Fails if the test has given up waiting.
            let _sent = done.send(());
        });
        let received = ended.recv_timeout(PATIENCE);
        assert_ne!(received, Err(RecvTimeoutError::Timeout), "session {number} hangs");
        worker.join().unwrap_or_else(|_| panic!("session {number} fails"));
    }
}
