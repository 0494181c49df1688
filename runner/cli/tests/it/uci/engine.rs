//! The engine as a process, and a client that talks to it through pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use dc0_process::clock::Stopwatch;

use super::check::check;

/// How long a test waits for an answer. It is to find hangs, not slowness.
const PATIENCE: Duration = Duration::from_mins(2);

/// The residual net in the program.
pub(crate) const RESIDUAL: &str = "shipped:az_small";

pub(crate) struct Engine {
    program: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.arg("uci").args(["--device", "cpu"]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut program = command.spawn().expect("the program starts");
        let (input, output) = (program.stdin.take(), program.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.expect("lines are text")).is_err() {
                    return;
                }
            }
        });
        Self { program, input, lines }
    }

    pub(crate) fn ready(args: &[&str]) -> Self {
        let mut engine = Self::start(args);
        engine.ask("uci", "uciok");
        engine.ask("isready", "readyok");
        engine
    }

    #[cfg(unix)]
    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    /// Whether the process has loaded libtorch.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_libtorch(&self) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.program.id()));
        maps.expect("a running process").contains("libtorch_cpu")
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("not closed yet");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the engine listens");
    }

    /// The lines up to one that starts with the given word.
    #[track_caller]
    pub(crate) fn until(&mut self, word: &str) -> Vec<String> {
        self.until_since(word, Stopwatch::start()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, or the lines read instead until time ran out.
    pub(crate) fn until_since(&mut self, word: &str, start: Stopwatch) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        loop {
            let line = self.next(start).map_err(|cause| format!("no {word} ({cause}) after {lines:#?}"))?;
            let is_last = line.split(' ').next() == Some(word);
            lines.push(line);
            if is_last {
                return Ok(lines);
            }
        }
    }

    fn next(&self, start: Stopwatch) -> Result<String, RecvTimeoutError> {
        self.lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed()))
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, line: &str, word: &str) -> Vec<String> {
        self.send(line);
        self.until(word)
    }

    /// Sets up a position, searches it, checks all output, and returns the lines.
    #[track_caller]
    pub(crate) fn search(&mut self, position: &str, go: &str) -> Vec<String> {
        self.send(&format!("position {position}"));
        let lines = self.ask(go, "bestmove");
        check(position, &lines);
        lines
    }

    /// Closes the input, and returns the exit code and the remaining lines.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.input.take());
        self.gone()
    }

    /// Waits until the process has ended. Returns its exit code and the remaining lines.
    #[track_caller]
    pub(crate) fn gone(mut self) -> (Option<i32>, Vec<String>) {
        let (start, mut lines) = (Stopwatch::start(), Vec::new());
        loop {
            match self.next(start) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the engine does not end; its output: {lines:#?}"),
            }
        }
        let status = self.program.wait().expect("ends");
        (status.code(), lines)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.input.take());
        let _gone = self.program.kill();
        let _gone = self.program.wait();
    }
}
