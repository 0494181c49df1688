//! The terminal: results go to stdout, everything else to stderr, and neither garbles a progress bar.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Mutex;

use dc0_core::poison::IgnorePoison as _;

use clap::ValueEnum;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How errors and plans are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object in each line; docs/reference/json.md describes them.
    Json,
}

/// Where output goes.
#[derive(Debug)]
pub struct Console {
    bars: MultiProgress,
    shows_bars: bool,
    /// The first failed write to stdout or stderr.
    broken: Mutex<Option<io::Error>>,
}

impl Default for Console {
    fn default() -> Self {
        Self::new()
    }
}

impl Console {
    /// Bars are shown if stderr is a terminal.
    pub fn new() -> Self {
        let shows_bars = io::stderr().is_terminal();
        let target = if shows_bars { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { bars: MultiProgress::with_draw_target(target), shows_bars, broken: Mutex::new(None) }
    }

    /// A result, for stdout.
    pub fn result(&self, text: &str) {
        self.note_failure(self.bars.suspend(|| writeln!(io::stdout(), "{text}")));
    }

    /// A result written in parts, for stdout.
    pub fn results(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.note_failure(self.bars.suspend(|| {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&mut out)?;
            out.flush()
        }));
    }

    /// Anything else, for stderr.
    pub fn note(&self, text: &str) {
        self.note_failure(self.bars.suspend(|| writeln!(io::stderr(), "{text}")));
    }

    /// A new bar below the others; `None` without a terminal.
    pub fn bar(&self, style: ProgressStyle, total: u64) -> Option<ProgressBar> {
        self.shows_bars.then(|| self.bars.add(ProgressBar::new(total).with_style(style)))
    }

    fn note_failure(&self, written: io::Result<()>) {
        if let Err(cause) = written {
            self.broken.lock().ignore_poison().get_or_insert(cause);
        }
    }

    /// The first failed write, for example because a pipe was closed.
    pub fn take_failure(&self) -> Option<io::Error> {
        self.broken.lock().ignore_poison().take()
    }
}
