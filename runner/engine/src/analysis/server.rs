//! The server's threads.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::thread;

use dc0_core::network::{Evaluator, EvaluatorError};
use dc0_process::exit::Exit;

use super::error::AnalysisError;
use super::lane::Lane;
use super::queue::{End, Queue};
use super::reader::{Context, Reader};
use crate::score::ScoreFit;
use crate::uci::output::Output;

/// Makes the evaluator of a lane, in the lane's thread.
pub(super) type Make = dyn Fn() -> Result<Box<dyn Evaluator>, EvaluatorError> + Send + Sync;

/// What the threads work with.
pub(super) struct Server {
    pub(super) context: Context,
    pub(super) lanes: u32,
    /// Rows of a batch.
    pub(super) rows: u32,
    pub(super) fit: ScoreFit,
    pub(super) make: Arc<Make>,
}

/// Answers the lines of `input` until it has ended and all are answered, or until the queue is to end.
pub(super) fn serve(
    mut input: impl BufRead + Send + 'static,
    to: Box<dyn Write + Send>,
    server: Server,
    queue: &Arc<Queue>,
) -> Result<Exit, AnalysisError> {
    let Server { context, lanes, rows, fit, make } = server;
    let output = Output::new(to);
    for _ in 0..lanes {
        let (queue, output, make) = (Arc::clone(queue), output.clone(), Arc::clone(&make));
        thread::spawn(move || {
            let leaving = Leaving(&queue);
            let lane = Lane { queue: &queue, output: &output, rows, fit };
            if let Err(error) = make().and_then(|evaluator| lane.work(evaluator)) {
                queue.end(End::Failed(error.into()));
            }
            drop(leaving);
        });
    }
    let (queue_of_reader, to) = (Arc::clone(queue), output.clone());
    // Ends with the process if it still reads: nothing can interrupt that.
    thread::spawn(move || {
        let queue = &*queue_of_reader;
        let mut reader = Reader { context, queue, output: &to, fit, tablebases: None };
        if let Err(cause) = reader.listen(&mut input) {
            queue.end(End::Failed(AnalysisError::Input(cause)));
        }
    });
    match queue.wait() {
        Some(End::Interrupted) => return Ok(Exit::Interrupted),
        Some(End::Failed(error)) => return Err(error),
        Some(End::Broken) | None => {}
    }
    match output.take_failure() {
        // A reader such as `head` has all that it wants.
        Some(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(AnalysisError::Output(cause)),
        _ => Ok(Exit::Done),
    }
}

/// Counts a lane as ended, even if it panics.
struct Leaving<'a>(&'a Queue);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(End::Failed(AnalysisError::Panicked));
        }
        self.0.leave();
    }
}
