//! What scripts call, as steps of the open run.

use std::sync::{Arc, PoisonError};

use dc0_backend::{Backend, Evaluators, Wish};
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params::Value;
use dc0_process::interrupt::Interrupt;
use dc0_runs::sweep::events::Event;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::{Folder, Manifest, Prefix};

use crate::error::StepError;
use crate::handles::Network;
use crate::host::{Asked, ForkParams, Forked, Host, HostError, OpenParams, RunInfo, SweepHost};
use crate::inspection::inspected;
use crate::lines;
use crate::runner::Runner;
use crate::step::{Call, Made, StepResult};
use crate::sweep;
use crate::table::Table;

/// Hears that the user asked to stop, and tells nothing.
struct Ears(Interrupt);

impl Observer for Ears {
    fn event(&self, _: dc0_core::event::Event<'_>) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_asked()
    }
}

impl Host for Runner {
    fn open(&self, name: &str, asked: Asked<OpenParams>) -> Result<RunInfo, HostError> {
        let is_asked = |name: &str| asked.given.member(name).is_some();
        self.open_as(name, &asked.params, is_asked("seed"), None)
    }

    fn fork(&self, from: &str, iteration: u32, asked: Asked<ForkParams>) -> Result<Forked, HostError> {
        let (params, parent) = (asked.params, &self.asking.parent);
        let is_new = !params.folder(parent, from)?.record().is_file();
        let prefix = is_new.then(|| Prefix::read(&Folder::of_existing(parent, from)?, from, iteration));
        let prefix = prefix.transpose()?;
        let seed = params.seed.or(prefix.as_ref().map(|prefix| prefix.record.seed));
        let is_asked = params.seed.is_some();
        let ForkParams { name, backend, precision, from: donors, .. } = params;
        let seed = seed.unwrap_or_else(|| OpenParams::default().seed);
        let params = OpenParams { seed, backend, precision, from: donors };
        let info = self.open_as(&name, &params, is_asked, Some(((from, iteration), prefix)))?;
        let past = self.with_open(|open| open.begin(parent))?;
        Ok(Forked { info, past })
    }

    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError> {
        self.with_open(|open| {
            let slot = open.numbers.next(call.kind().series());
            let finished = open.step(call, slot)?;
            let result = call.result(Made::of(&open.name, slot, &finished.manifest))?;
            if let StepResult::Network(first) = &result
                && first.0.number == 0
            {
                open.generations.promote(first.generation(0, open.run.steps()))?;
            }
            Ok(result)
        })
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        self.with_open(|open| {
            open.context.check()?;
            Ok(inspected(open.run.folder(), network, params)?)
        })
    }

    fn promote(&self, promoted: &Network, generation: u32) -> Result<(), HostError> {
        self.with_open(|open| {
            open.generations.promote(promoted.generation(generation, open.run.steps()))?;
            open.say(&lines::promoted(promoted, generation));
            Ok(())
        })
    }

    fn note(&self, text: &str) -> Result<(), HostError> {
        self.with_open(|open| Ok(open.run.journal().note("note", [("text", text.into())])?))
    }

    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError> {
        self.with_open(|open| Ok(open.steps.iter().cloned().map(Some).collect()))
    }

    fn summary(&self, table: &Table) -> Result<(), HostError> {
        self.console.result(&table.to_string());
        Ok(())
    }

    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError> {
        let onnxruntime = self.asking.onnxruntime.as_deref();
        let wish = Wish {
            backend: self.asking.backend.unwrap_or(Backend::Torch),
            device: self.asking.device.as_deref().unwrap_or("auto"),
            precision: Precision::Auto,
            onnxruntime,
        };
        let evaluators = Evaluators::new(&wish.settle(true)?, onnxruntime)?;
        Ok(evaluators.make(net).map_err(StepError::from)?)
    }

    fn is_planning(&self) -> bool {
        false
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Ears(self.interrupt.clone()))
    }

    fn seconds(&self) -> f64 {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().map_or(0.0, |open| open.seconds)
    }

    fn close(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn sweep(
        &self,
        asked: &Asked<SweepParams>,
        script: &str,
    ) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError> {
        let (sweep, events) = sweep::open(self, asked, script)?;
        Ok((Arc::new(sweep), events))
    }
}
