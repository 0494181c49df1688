//! The process context of a step.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use dc0_core::event::{Cancelled, Observer};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::TorchError;
use dc0_core::params::Params;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::selfplay::Shard;
use dc0_core::store::Provenance;

use crate::error::StepError;
use crate::executor::{
    Described, Evaluation, FORMAT, Fleet, Job, Order, RemoteKind, Reply, ReplyTable, ShardWork, Sources,
    Unaccepted,
};
use crate::memory::Machine;
use crate::progress::{self, Amount, StepProgress};
use dc0_backend::Evaluators;
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;
use dc0_process::resources::lower_priority;
use dc0_runs::StepWorkspace;

/// What every step needs from its process.
pub struct StepContext {
    /// Shows progress.
    pub console: Arc<Console>,
    /// Whether the user asked to stop.
    pub interrupt: Interrupt,
    /// Makes the evaluators of nets.
    pub evaluators: Arc<Evaluators>,
    /// libtorch threads for training.
    pub threads: u32,
    /// Threads that play games or search.
    pub lanes: u32,
    /// The workers that do shards; `None` to do them in this process.
    pub fleet: Option<Arc<dyn Fleet>>,
    /// Whether the step is done beside others, which go first.
    pub is_beside: bool,
    /// Time and rates of the last step done.
    pub closing: Mutex<String>,
}

impl StepContext {
    /// The context of a step that is done beside others, and stops with `interrupt`.
    pub(crate) fn beside(&self, interrupt: &Interrupt) -> Self {
        Self {
            console: Arc::clone(&self.console),
            interrupt: interrupt.clone(),
            evaluators: Arc::clone(&self.evaluators),
            threads: self.threads,
            lanes: self.lanes,
            fleet: self.fleet.clone(),
            is_beside: true,
            closing: Mutex::default(),
        }
    }

    /// An error if the user asked to stop.
    pub(crate) fn check(&self) -> Result<(), StepError> {
        if self.interrupt.is_requested() { Err(Cancelled.into()) } else { Ok(()) }
    }

    /// The machine, as far as memory depends on it.
    pub(crate) fn machine(&self) -> Machine {
        Machine { lanes: self.lanes, is_on_cpu: self.evaluators.device_names() == ["cpu"] }
    }

    /// Ends a step's progress display and keeps its time and rates for the closing line.
    pub(crate) fn close(&self, progress: &StepProgress) {
        *self.closing.lock().ignore_poison() = progress.close();
    }

    /// Takes the time and rates of the last step done.
    pub(crate) fn take_closing(&self) -> String {
        std::mem::take(&mut self.closing.lock().ignore_poison())
    }

    pub(crate) fn progress(&self, workspace: &StepWorkspace, label: &str, amount: Amount) -> StepProgress {
        let path = workspace.scratch(progress::FILE);
        StepProgress::new(&self.console, &self.interrupt, label, Some(path), amount, Some(&workspace.meter))
    }

    /// A job of a kind without players and files, for other processes. `nets` are those that play.
    pub(crate) fn job<P: Params>(
        &self,
        kind: &RemoteKind,
        params: &P,
        nets: &[&Checkpoint],
        workspace: &StepWorkspace,
        provenance: &Provenance,
    ) -> Result<Described<Job>, StepError> {
        let evaluation =
            Evaluation::new(&self.evaluators, nets, self.is_mixed()).map_err(TorchError::from)?;
        let job = Job {
            format: FORMAT,
            kind: kind.kind.to_owned(),
            version: kind.version,
            step: workspace.identity.digits().to_owned(),
            run_seed: workspace.seed.run,
            params: params.to_value(),
            evaluation,
            players: Vec::new(),
            files: Vec::new(),
            provenance: provenance.clone(),
        };
        Ok(Described { of: job, sources: Sources::new() })
    }

    /// Does the shards of a step, here or by other processes.
    pub(crate) fn do_shards<W: ShardWork>(
        &self,
        work: &W,
        shards: &[Shard],
        progress: &StepProgress,
    ) -> Result<(), StepError> {
        let observer: &dyn Observer = progress;
        let fleet = self.fleet.as_ref().filter(|_| !shards.is_empty());
        let remote = fleet.map(|_| work.remote());
        if let Some(Err(reason)) = remote {
            log::warn!("{reason}, so this step is done here and not by the workers");
        }
        let (Some(fleet), Some(Ok(remote))) = (fleet, remote) else {
            let keep = |shard, found| {
                let files = work.store(shard, &found)?;
                work.finish(shard, found, files)
            };
            if self.is_beside {
                // A training has threads that wait for each other, and loses much more by interruptions than games do.
                lower_priority();
            }
            return work.play(shards, self.lanes, &keep, observer);
        };
        let accept = |shard, reply: Reply| {
            let sent: Vec<String> = reply.tables.iter().map(ReplyTable::digest).collect();
            let found = remote.read(shard, reply)?;
            let files = work.store(shard, &found).map_err(Unaccepted::Failed)?;
            // Equal rows and provenance give equal bytes, so this compares the provenance, and whatever else a file may hold.
            let written = files.iter().map(|file| &file.blake3);
            if !written.eq(&sent) {
                let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
                let names = names.join(" and ");
                let cause = format!("its files have the rows of {names}, but not the same bytes");
                return Err(Unaccepted::Refused(cause));
            }
            remote.report(&found, observer);
            work.finish(shard, found, files).map_err(Unaccepted::Failed)
        };
        let recompute = |shard, observer: &dyn Observer| {
            let found = Mutex::new(Vec::new());
            let keep = |shard, own| {
                let tables = remote.tables(shard, &own)?;
                found.lock().ignore_poison().extend(tables.iter().map(ReplyTable::digest));
                Ok(ControlFlow::Continue(()))
            };
            work.play(&[shard], 1, &keep, observer)?;
            Ok(found.into_inner().ignore_poison())
        };
        let task = |shard| remote.task(shard);
        let discard = |shard| work.discard(shard);
        let job = remote.job()?;
        let status = |status| progress.fleet(status);
        fleet.run(&Order {
            folder: work.workspace().folder.root(),
            job: &job,
            shards,
            task: &task,
            accept: &accept,
            recompute: &recompute,
            discard: &discard,
            observer,
            status: &status,
        })
    }

    /// Whether processes take part that may round differently.
    pub(crate) fn is_mixed(&self) -> bool {
        self.fleet.as_ref().is_some_and(|fleet| fleet.is_mixed())
    }
}
