//! [`Host`] for [`Runner`]: what scripts call, done in the open run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dc0_backend::{Backend, BackendRequest, Evaluators, Workload};
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use dc0_process::interrupt::Interrupt;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::{Folder, ForkSource, JournalEvent, Manifest, Prefix};

use crate::assumed_tables::AssumedTables;
use crate::datasets;
use crate::error::StepError;
use crate::handles::{Network, Window};
use crate::host::{CallParams, ForkParams, Forked, Host, HostError, OpenParams, OpenSweep, RunInfo};
use crate::inspection::inspect_network;
use crate::lines;
use crate::runner::Runner;
use crate::step::{Call, StepOutput, StepResult};
use crate::sweep;
use crate::table::Table;

/// Reports whether the user asked to stop, and ignores all events.
struct InterruptObserver(Interrupt);

impl Observer for InterruptObserver {
    fn event(&self, _: dc0_core::event::Event<'_>) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_requested()
    }
}

impl Host for Runner {
    fn another(&self) -> Result<Arc<dyn Host>, HostError> {
        if self.redo.is_some() { Err(HostError::SeveralRuns) } else { Ok(Arc::new(self.for_another())) }
    }

    fn open(&self, name: &str, call_params: CallParams<OpenParams>) -> Result<RunInfo, HostError> {
        let gives_seed = call_params.given.member("seed").is_some();
        self.open_as(name, &call_params.params, gives_seed, None)
    }

    fn fork(
        &self,
        from: &str,
        iteration: u32,
        call_params: CallParams<ForkParams>,
    ) -> Result<Forked, HostError> {
        let (params, parent) = (call_params.params, &self.options.parent);
        let is_new = !params.folder(parent, from)?.record().is_file();
        let prefix = is_new.then(|| Prefix::read(&Folder::of_existing(parent, from)?, from, iteration));
        let prefix = prefix.transpose()?;
        let seed = params.seed.or(prefix.as_ref().map(|prefix| prefix.record.seed));
        let gives_seed = params.seed.is_some();
        let ForkParams { name, backend, precision, from: reuse, .. } = params;
        let seed = seed.unwrap_or_else(|| OpenParams::default().seed);
        let params = OpenParams { seed, backend, precision, from: reuse };
        let info = self.open_as(&name, &params, gives_seed, Some(((from, iteration), prefix)))?;
        let source = match &self.redo {
            Some(redo) => ForkSource::Run(&redo.original),
            None => ForkSource::In(parent),
        };
        let past = self.with_open(|open| open.begin(source))?;
        Ok(Forked { info, past })
    }

    /// A run that is redone names the runs beside the original.
    fn runs(&self) -> &Path {
        let redone = self.redo.as_ref().and_then(|redo| redo.original.root().parent());
        redone.unwrap_or(&self.options.parent)
    }

    fn dataset(&self, name: &str) -> Result<Window, HostError> {
        datasets::games(self.runs(), name)
    }

    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError> {
        self.with_open(|open| {
            let slot = open.numbers.next(call.kind().series());
            let finished = open.step(call, slot)?;
            let result = call.result(StepOutput::of(&open.name, slot, &finished.manifest))?;
            if let StepResult::Network(first) = &result
                && first.0.number == 0
            {
                open.run.promote(first.generation(0, open.run.steps()))?;
            }
            Ok(result)
        })
    }

    fn start(&self, call: Arc<dyn Call>) -> Result<(), HostError> {
        self.with_open(|open| {
            let slot = open.numbers.next(call.kind().series());
            open.start(call, slot)
        })
    }

    fn wait(&self) -> Result<StepResult, HostError> {
        self.with_open(|open| {
            let (call, slot, finished) = open.wait()?;
            Ok(call.result(StepOutput::of(&open.name, slot, &finished.manifest))?)
        })
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        self.with_open(|open| {
            open.context.check()?;
            Ok(inspect_network(open.run.folder(), network, params)?)
        })
    }

    fn promote(&self, promoted: &Network, generation: u32) -> Result<(), HostError> {
        self.with_open(|open| {
            open.run.promote(promoted.generation(generation, open.run.steps()))?;
            open.print(&lines::promoted(promoted, generation));
            Ok(())
        })
    }

    fn note(&self, text: &str) -> Result<(), HostError> {
        self.with_open(|open| Ok(open.run.journal().note(JournalEvent::Note, [("text", text.into())])?))
    }

    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError> {
        self.with_open(|open| Ok(open.steps.iter().cloned().map(Some).collect()))
    }

    fn summary(&self, table: &Table) -> Result<(), HostError> {
        // The result of redoing a run is the comparison.
        if self.redo.is_some() {
            self.console.note(&table.to_string());
        } else {
            self.console.result(&table.to_string());
        }
        Ok(())
    }

    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError> {
        let onnxruntime = self.options.onnxruntime.as_deref();
        let request = BackendRequest {
            backend: self.options.backend.unwrap_or(Backend::Torch),
            device: self.options.device.as_deref().unwrap_or("auto"),
            precision: Precision::Auto,
            onnxruntime,
        };
        let work = Workload { spec: net.spec.clone(), rows: 1 };
        let evaluators = Evaluators::new(&request.resolve(Some(&work))?, onnxruntime)?;
        Ok(evaluators.make(net).map_err(StepError::from)?)
    }

    fn is_planning(&self) -> bool {
        false
    }

    fn assumed_tables(&self) -> Result<Option<AssumedTables>, HostError> {
        Ok(None)
    }

    fn starts_programs(&self) -> bool {
        true
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(InterruptObserver(self.interrupt.clone()))
    }

    fn seconds(&self) -> f64 {
        let open = self.open.lock().ignore_poison();
        open.as_ref().map_or(0.0, |open| open.seconds)
    }

    fn check_folder(&self) -> Result<(), HostError> {
        let open = self.open.lock().ignore_poison();
        Ok(open.as_ref().map_or(Ok(()), |open| open.run.check_folder())?)
    }

    fn complete(&self) -> Result<(), HostError> {
        // What is redone, or done in parts, ends before its last step.
        if self.redo.is_some() || !self.options.part.is_whole() {
            return Ok(());
        }
        let mut open = self.open.lock().ignore_poison();
        if let Some(open) = open.as_mut() {
            let moved = open.run.complete()?;
            if moved > 0 {
                open.print(&lines::superseded(moved));
            }
        }
        Ok(())
    }

    fn close(&self) {
        drop(self.open.lock().ignore_poison().take());
    }

    fn sweep(&self, call_params: &CallParams<SweepParams>, script: &str) -> Result<OpenSweep, HostError> {
        self.has_swept.store(true, Ordering::Relaxed);
        sweep::open(self, call_params, script)
    }
}
