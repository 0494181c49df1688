//! A step that is done in the background, beside the steps that a script goes on with.
//!
//! Its work begins at once; its number in the script, its closing line and its errors come where the script waits for it. So results
//! do not depend on which of them ends first.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use dc0_core::event::Cancelled;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault as _;
use dc0_process::interrupt::Interrupt;
use dc0_runs::{Begun, Finished, Product, Run, RunError, Slot, StepWorkspace};

use crate::context::StepContext;
use crate::error::StepError;
use crate::step::Call;

/// A step under way in the background.
pub(super) struct Beside {
    pub(super) call: Arc<dyn Call>,
    pub(super) slot: Slot,
    begun: Begun,
    /// The thread that does the work, unless there is nothing to do.
    thread: Option<JoinHandle<Result<Product, StepError>>>,
    context: Arc<StepContext>,
    /// Stops the work alone.
    interrupt: Interrupt,
}

impl Beside {
    /// Begins a step, and its work in a thread of its own.
    pub(super) fn start(
        run: &mut Run,
        context: &StepContext,
        call: Arc<dyn Call>,
        slot: Slot,
    ) -> Result<Self, StepError> {
        let interrupt = context.interrupt.beside();
        let context = Arc::new(context.beside(&interrupt));
        let mut beside = Self {
            begun: run.begin_beside(call.step_call()?, slot)?,
            call,
            slot,
            thread: None,
            context,
            interrupt,
        };
        if let Some(workspace) = beside.begun.workspace().cloned() {
            let (call, context) = (Arc::clone(&beside.call), Arc::clone(&beside.context));
            let name = call.kind().name().to_owned();
            let started = thread::Builder::new().name(name).spawn(move || work(&*call, &workspace, &context));
            match started {
                Ok(thread) => beside.thread = Some(thread),
                Err(cause) => {
                    let path = run.folder().root().to_owned();
                    let error = StepError::from(RunError::io("start a thread for", &path)(cause));
                    beside.settle(run, Some(Err(error)))?;
                }
            }
        }
        Ok(beside)
    }

    /// Waits until the work is done, and ends the step here. Returns it with its time and rates.
    pub(super) fn wait(mut self, run: &mut Run) -> Result<(Finished, String), StepError> {
        self.begun.await_end();
        let outcome = self.join();
        let finished = self.settle(run, outcome)?;
        Ok((finished, self.context.take_closing()))
    }

    /// Stops the work; what is done of it is kept for the next start.
    pub(super) fn stop(mut self, run: &mut Run) {
        self.interrupt.end();
        // A panic has left its message on the terminal already.
        let joined = self.thread.take().and_then(|thread| thread.join().ok());
        if let Some(outcome) = joined
            && let Err(error) = self.settle(run, Some(outcome.and(Err(Cancelled.into()))))
            && error.exit() != Exit::Interrupted
        {
            log::warn!("{error}");
        }
    }

    fn join(&mut self) -> Option<Result<Product, StepError>> {
        let joined = self.thread.take()?.join();
        Some(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    fn settle(
        &self,
        run: &mut Run,
        outcome: Option<Result<Product, StepError>>,
    ) -> Result<Finished, StepError> {
        run.end(&self.begun, outcome, |workspace| do_work(&*self.call, workspace, &self.context))
    }
}

fn work(call: &dyn Call, workspace: &StepWorkspace, context: &StepContext) -> Result<Product, StepError> {
    let outcome = do_work(call, workspace, context);
    workspace.end_work();
    if let Err(error) = &outcome
        && !context.interrupt.is_requested()
    {
        let kind = call.kind().name();
        log::warn!("{kind} in the background failed, which the script learns where it waits for it: {error}");
    }
    outcome
}

/// Does the work of a step, if this machine has the memory.
pub(super) fn do_work(
    call: &dyn Call,
    workspace: &StepWorkspace,
    context: &StepContext,
) -> Result<Product, StepError> {
    call.memory(context.machine()).check_now(call.kind().name())?;
    call.run(workspace, context)
}
