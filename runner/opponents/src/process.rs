//! A program with pipes to its input and output.
//!
//! One thread serves each program: it starts it, stamps every line on arrival, writes what the pipe did not take at once, and
//! ends it. Nobody waits for a program that does not read, or that writes without end.

mod lines;
mod system;

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd as _, RawFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dc0_core::poison::IgnorePoison as _;
use dc0_process::clock::Stopwatch;

use lines::{Last, Queue, Splitter};
pub(crate) use lines::{Line, shortened};
use system::{Watch, has_ended, isolate, kill_group, set_nonblocking, wait_for};

/// Bytes for a program that it has not read yet. More than two games as long as any.
const MAX_UNREAD: usize = 1 << 20;

/// The bytes that a pipe holds on Linux.
const PIPE: usize = 64 << 10;

/// How long a program may take to end by itself when it is asked to, or has closed its output.
const GRACE: Duration = Duration::from_secs(1);

/// How long a killed program may take to be gone. It takes microseconds, unless the system cannot kill it.
const KILLED: Duration = Duration::from_secs(5);

/// How often a silent program is checked for having ended, while another process holds its output open.
const CHECK: Duration = Duration::from_millis(500);

/// A running program. It ends when this is dropped, with all processes that it has started.
#[derive(Debug)]
pub(crate) struct Process {
    shared: Arc<Shared>,
    /// Ends once the program is gone; `None` after that.
    server: Option<JoinHandle<()>>,
}

/// How a program speaks, as far as its process needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speech {
    /// Whether a line is an answer, not a report. Reports are dropped when too many wait.
    pub(crate) is_answer: fn(&str) -> bool,
    /// What asks the program to end, with line ends.
    pub(crate) farewell: &'static str,
}

/// What comes next from a program.
#[derive(Debug)]
pub(crate) enum Next {
    /// A line.
    Line(Line),
    /// Nothing within the time.
    Nothing,
    /// The program has ended, and all its lines are read.
    Ended,
}

/// What the program's owner and its server share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Signalled when there are lines, and at the end.
    news: Condvar,
    /// A byte in this pipe wakes the server.
    wake: PipeWriter,
}

#[derive(Debug)]
struct State {
    /// The program's input, until it is closed.
    input: Option<ChildStdin>,
    /// What the program's input did not take yet.
    unread: Vec<u8>,
    lines: Queue,
    last_output: Last,
    last_errors: Last,
    /// Set to end the program within this time.
    grace: Option<Duration>,
    /// Set when it has ended.
    ending: Option<Ending>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// By itself.
    Exited(ExitStatus),
    /// It closed its output, but did not end.
    Mute,
    /// It was ended from here.
    Killed,
}

impl Process {
    /// Starts a program.
    pub(crate) fn start(mut command: Command, speech: Speech) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        isolate(&mut command);
        let (sender, started) = mpsc::channel();
        let server = thread::Builder::new()
            .name("opponent".to_owned())
            .spawn(move || serve(command, speech, &sender))?;
        let shared = started.recv().map_err(|_| io::Error::other("its thread ended")).flatten();
        match shared {
            Ok(shared) => Ok(Self { shared, server: Some(server) }),
            Err(cause) => {
                // It has nothing left to do, and its panic would say no more than the missing answer.
                let _ = server.join();
                Err(cause)
            }
        }
    }

    /// Writes a line. Returns at once; a program that does not read is found out by its silence.
    pub(crate) fn write(&self, line: &str) {
        log::trace!("> {line}");
        let mut state = self.shared.lock();
        if state.unread.len() < MAX_UNREAD {
            state.unread.extend_from_slice(line.as_bytes());
            state.unread.push(b'\n');
        }
        state.flush();
        if !state.unread.is_empty() {
            drop(state);
            self.shared.wake();
        }
    }

    /// The next line, for which it waits some time.
    pub(crate) fn next(&self, wait: Duration) -> Next {
        let state = self.shared.lock();
        let is_quiet = |state: &mut State| state.lines.is_empty() && state.ending.is_none();
        let (mut state, _) = self.shared.news.wait_timeout_while(state, wait, is_quiet).ignore_poison();
        match state.lines.pop() {
            Some(line) => Next::Line(line),
            None if state.ending.is_some() => Next::Ended,
            None => Next::Nothing,
        }
    }

    /// Whether it has not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.shared.lock().ending.is_none()
    }

    /// How it ended and the last that it wrote, in words that follow its name.
    pub(crate) fn ending(&self) -> String {
        let state = self.shared.lock();
        let how = match state.ending {
            Some(Ending::Exited(status)) => format!("ended ({status})"),
            Some(Ending::Mute) => "closed its output".to_owned(),
            Some(Ending::Killed) => "was killed".to_owned(),
            None => "still runs".to_owned(),
        };
        // Errors first: they usually say why.
        let (last, what) = if state.last_errors.is_empty() {
            (&state.last_output, "output")
        } else {
            (&state.last_errors, "errors")
        };
        if last.is_empty() {
            format!("{how} without a word")
        } else {
            format!("{how}; its last {what}: {}", last.joined())
        }
    }

    /// Kills it at once when it is dropped.
    pub(crate) fn kill(self) {
        self.end(Duration::ZERO);
    }

    /// Ends it, within some time by itself.
    fn end(&self, grace: Duration) {
        let mut state = self.shared.lock();
        // The first request counts.
        if state.grace.is_none() {
            state.grace = Some(grace);
        }
        drop(state);
        self.shared.wake();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(GRACE);
        if let Some(server) = self.server.take()
            && server.join().is_err()
        {
            log::error!("the thread of a program that plays has panicked");
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    fn wake(&self) {
        // A full pipe wakes the server as well, and a closed one has none.
        let _ = (&self.wake).write(&[0]);
    }
}

impl State {
    /// Writes to the program what it takes.
    fn flush(&mut self) {
        let Some(input) = &mut self.input else {
            self.unread.clear();
            return;
        };
        while !self.unread.is_empty() {
            match input.write(&self.unread) {
                Ok(written) => drop(self.unread.drain(..written)),
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return,
                // It has closed its input, and will end or be found out by its silence.
                Err(_) => {
                    self.input = None;
                    self.unread.clear();
                    return;
                }
            }
        }
    }
}

/// Starts a program, and serves it until it has ended.
fn serve(command: Command, speech: Speech, started: &Sender<io::Result<Arc<Shared>>>) {
    match Server::start(command, speech) {
        Ok(server) => {
            // The receiver waits for this answer.
            let _ = started.send(Ok(Arc::clone(&server.shared)));
            server.run();
        }
        Err(cause) => drop(started.send(Err(cause))),
    }
}

/// What serves a program, in a thread of its own.
struct Server {
    shared: Arc<Shared>,
    child: Child,
    output: Source<ChildStdout>,
    errors: Source<ChildStderr>,
    woken: PipeReader,
    speech: Speech,
}

/// How often a start is tried while the program's file is busy, 10 ms apart.
const TRIES: u32 = 50;

/// Starts a program. A file that was just written is busy for a moment if another thread starts a program meanwhile: until that is
/// running, it holds all files that are open here (github.com/golang/go/issues/22315).
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 1..TRIES {
        match command.spawn() {
            Err(cause) if cause.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            started => return started,
        }
    }
    command.spawn()
}

impl Server {
    fn start(mut command: Command, speech: Speech) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        set_nonblocking(woken.as_raw_fd())?;
        set_nonblocking(wake.as_raw_fd())?;
        let mut child = spawn(&mut command)?;
        let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = taken else { unreachable!("all three are pipes") };
        let pipes = [input.as_raw_fd(), output.as_raw_fd(), errors.as_raw_fd()];
        if let Some(cause) = pipes.into_iter().find_map(|pipe| set_nonblocking(pipe).err()) {
            kill_group(child.id());
            child.wait()?;
            return Err(cause);
        }
        let state = State {
            input: Some(input),
            unread: Vec::new(),
            lines: Queue::default(),
            last_output: Last::default(),
            last_errors: Last::default(),
            grace: None,
            ending: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), news: Condvar::new(), wake });
        let (output, errors) = (Source::new(output), Source::new(errors));
        Ok(Self { shared, child, output, errors, woken, speech })
    }

    /// Serves the program until it has ended.
    fn run(mut self) {
        // Since it was asked to end.
        let mut closing: Option<Stopwatch> = None;
        let mut checked = Stopwatch::start();
        while self.output.is_open {
            let mut state = self.shared.lock();
            let mut wait = CHECK;
            if let Some(grace) = state.grace {
                let since = *closing.get_or_insert_with(|| {
                    state.unread.extend_from_slice(self.speech.farewell.as_bytes());
                    state.flush();
                    Stopwatch::start()
                });
                if state.unread.is_empty() {
                    // Programs that do not know the word end with their input.
                    state.input = None;
                }
                wait = wait.min(grace.saturating_sub(since.elapsed()));
                if wait.is_zero() {
                    break;
                }
            }
            let space = state.input.as_ref().filter(|_| !state.unread.is_empty());
            let space = space.map_or(Watch::Off, |input| Watch::Space(input.as_raw_fd()));
            drop(state);
            // Only this thread closes the input while it polls: `flush` is called with the lock held, and a number that is
            // taken again meanwhile would wake it once for nothing.
            let watched =
                [self.output.watch(), self.errors.watch(), Watch::Input(self.woken.as_raw_fd()), space];
            let ready = wait_for(watched, wait);
            self.read(&ready);
            if checked.elapsed() >= CHECK {
                checked = Stopwatch::start();
                if has_ended(self.child.id()) {
                    break;
                }
            }
        }
        let ending = self.end(closing.unwrap_or_else(Stopwatch::start));
        self.read(&[true; 4]);
        self.finish(ending);
    }

    /// Reads what there is from the pipes that are ready.
    fn read(&mut self, ready: &[bool; 4]) {
        let Self { shared, output, errors, woken, speech, .. } = self;
        if ready[2] {
            let _ = woken.read(&mut [0; 64]);
        }
        if ready[1] {
            errors.read(|line| {
                log::trace!("! {line}");
                shared.lock().last_errors.push(line);
            });
        }
        if ready[0] {
            output.read(|line| keep(shared, *speech, line));
        }
        if ready[3] {
            shared.lock().flush();
        }
    }

    /// Waits until the program has ended by itself, or kills it. Its group ends with it. `waited` runs since it was asked to end, or
    /// has closed its output.
    fn end(&mut self, waited: Stopwatch) -> Ending {
        let head = self.child.id();
        // Its output may close a moment before it ends.
        while !has_ended(head) && waited.elapsed() < self.shared.lock().grace.unwrap_or(GRACE) {
            thread::sleep(Duration::from_millis(1));
        }
        let is_over = has_ended(head);
        // Before it is reaped, because its number may belong to another process after that.
        kill_group(head);
        let killed = Stopwatch::start();
        while !has_ended(head) {
            if killed.elapsed() > KILLED {
                log::error!("process {head}, a program that plays, cannot be killed");
                return Ending::Killed;
            }
            thread::sleep(Duration::from_micros(100));
        }
        match self.child.wait() {
            Ok(status) if is_over => Ending::Exited(status),
            _ if self.output.is_open => Ending::Killed,
            _ => Ending::Mute,
        }
    }

    fn finish(self, ending: Ending) {
        let Self { shared, mut output, mut errors, speech, .. } = self;
        output.lines.finish(|line| keep(&shared, speech, line));
        errors.lines.finish(|line| shared.lock().last_errors.push(line));
        let mut state = shared.lock();
        state.ending = Some(ending);
        state.input = None;
        drop(state);
        shared.news.notify_all();
    }
}

/// Keeps a line of output for the program's owner.
fn keep(shared: &Shared, speech: Speech, line: &str) {
    let arrival = Stopwatch::start();
    log::trace!("< {line}");
    let mut state = shared.lock();
    state.last_output.push(line);
    state.lines.push(Line { text: line.to_owned(), arrival }, (speech.is_answer)(line));
    drop(state);
    shared.news.notify_all();
}

/// One of a program's outputs.
struct Source<R> {
    pipe: R,
    buffer: Vec<u8>,
    lines: Splitter,
    is_open: bool,
}

impl<R: Read + std::os::fd::AsRawFd> Source<R> {
    fn new(pipe: R) -> Self {
        Self { pipe, buffer: vec![0; PIPE], lines: Splitter::default(), is_open: true }
    }

    fn watch(&self) -> Watch {
        let handle: RawFd = self.pipe.as_raw_fd();
        if self.is_open { Watch::Input(handle) } else { Watch::Off }
    }

    /// Passes the lines that have arrived to `each`, of at most a pipe's content at once.
    fn read(&mut self, mut each: impl FnMut(&str)) {
        match self.pipe.read(&mut self.buffer) {
            Ok(0) => self.is_open = false,
            Ok(read) => self.lines.split(&self.buffer[..read], &mut each),
            Err(cause) if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.is_open = false,
        }
    }
}
