//! `--check`: a host that only plans. Scripts run as always; steps that are finished give their results, others stand-ins.

mod known;
mod plan;
mod rehearsal;
mod standins;
mod sweep;

pub use rehearsal::{Rehearsal, Rehearsed};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dc0_core::arena::ArenaParams;
use dc0_core::network::torch::InspectParams;
use dc0_core::network::{GrowParams, NetworkSpec};
use dc0_core::params::{Params, Value};
use dc0_core::search::AnalysisParams;
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::TrainParams;

use crate::backend::Wish;
use crate::host::{
    Analysis, AnalysisFields, Asked, Games, GamesFields, Host, HostError, Network, NetworkFields, OpenParams,
    Opponent, RunInfo, SweepHost, Table, ToSearch, Verdict, VerdictFields, Window, field,
};
use crate::run::{Folder, StepCall};
use crate::script::declared::Declaration;
use crate::steps::{Asking, StepError, assumed_searches, calls};
use crate::sweep::events::Event;
use crate::sweep::params::SweepParams;
use known::{Finished, Known, Placed};
use plan::{Plan, Step, Work};

/// Steps of a plan, those counted that are asked for again; more than a script that ends comes to.
const MAX_STEPS: usize = 100_000;

/// Every finished step of a run.
pub(crate) fn finished_steps(folder: &Folder) -> Result<Finished, crate::run::RunError> {
    let mut finished = Finished::new();
    known::collect(folder, &mut finished)?;
    Ok(finished)
}

/// Plans what scripts ask for.
pub struct Planner {
    asking: Asking,
    declaration: Arc<Declaration>,
    script: String,
    /// Shared by the trials of a sweep.
    plan: Arc<Mutex<Plan>>,
    known: Mutex<Known>,
    trial: Option<TrialOf>,
}

/// The sweep whose trial is planned.
struct TrialOf {
    sweep: String,
    /// The finished steps of the sweep's trials.
    finished: Arc<Finished>,
}

impl Planner {
    /// For one script, named as the user named it.
    pub fn new(script: &str, asking: Asking, declaration: Arc<Declaration>) -> Self {
        let (plan, known) = <_>::default();
        Self { asking, declaration, script: script.to_owned(), plan, known, trial: None }
    }

    /// The plan as text.
    pub fn plan(&self) -> String {
        self.state().render(&self.script, &self.declaration.rows())
    }

    /// The plan for programs.
    pub fn plan_json(&self) -> serde_json::Value {
        self.state().to_json(&self.script, &self.declaration.rows())
    }

    fn state(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a step to the plan; its work is known once it is known whether the step is finished.
    fn add<P: Params>(
        &self,
        call: &StepCall,
        asked: &Asked<P>,
        what: String,
        work: impl FnOnce(&Placed) -> Work,
    ) -> Result<Placed, HostError> {
        let placed = self.known().place(call);
        let what = match &self.trial {
            Some(trial) => format!("sweep {}: {}", trial.sweep, call.kind),
            None => what,
        };
        let step = Step { kind: call.kind, what, work: work(&placed), is_done: placed.manifest.is_some() };
        let steps = self.state().add(&placed.identity, step, &asked.params.to_value(), &asked.given);
        if steps > MAX_STEPS {
            return Err(HostError::Endless { steps, assumed: standins::ASSUMPTIONS });
        }
        Ok(placed)
    }

    /// A net that a step makes.
    fn made(placed: &Placed, number: u32, spec: NetworkSpec, summary: Value) -> Network {
        let file = format!("networks/{number:04}.safetensors");
        let files = placed.files(std::slice::from_ref(&file));
        let (digest, file) =
            files.first().map_or((String::new(), file), |first| (first.blake3.clone(), first.path.clone()));
        let summary = placed.manifest.as_ref().map_or(summary, |manifest| manifest.summary.clone());
        Network(Arc::new(NetworkFields { number, digest, spec, file, summary }))
    }

    /// Every finished step that a run of this name can use, and its seed if it is there.
    fn finished(&self, name: &str, from: &[String]) -> Result<(Arc<Finished>, Option<u64>), HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        let mut finished = self.trial.as_ref().map(|trial| (*trial.finished).clone()).unwrap_or_default();
        for name in from {
            known::collect(&Folder::of_existing(&self.asking.parent, name)?, &mut finished)?;
        }
        known::collect(&folder, &mut finished)?;
        Ok((Arc::new(finished), known::seed_of(&folder)?))
    }
}

/// The result of a step that is finished, else a stand-in.
fn result(placed: &Placed, stand_in: Value) -> Value {
    placed.manifest.as_ref().map_or(stand_in, |manifest| manifest.summary.clone())
}

impl Host for Planner {
    fn open(&self, name: &str, asked: Asked<OpenParams>) -> Result<RunInfo, HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        let (finished, seed) = self.finished(name, &asked.params.from)?;
        let device = self.asking.device.clone().unwrap_or_else(|| "auto".to_owned());
        let wish = Wish {
            backend: self.asking.backend.unwrap_or(asked.params.backend),
            device: &device,
            precision: asked.params.precision,
            onnxruntime: None,
        };
        wish.settle(false)?;
        let info = RunInfo {
            name: name.to_owned(),
            folder: folder.root().display().to_string(),
            seed: self.asking.seed.or(seed).unwrap_or(asked.params.seed),
            device,
        };
        *self.known() = Known::new(info.seed, finished);
        if self.trial.is_none() {
            self.state().open(&info);
        }
        Ok(info)
    }

    fn network(&self, asked: Asked<NetworkSpec>) -> Result<Network, HostError> {
        let number = self.known().next_network();
        let what = format!("network {number:04}: {}", standins::described(&asked.params));
        let placed =
            self.add(&calls::network(&asked.params), &asked, what, |_| plan::of_network(&asked.params))?;
        let summary = standins::network(&asked.params);
        Ok(Self::made(&placed, number, asked.params, summary))
    }

    fn grow(&self, start: &Network, asked: Asked<GrowParams>) -> Result<Network, HostError> {
        let number = self.known().next_network();
        let spec = asked.params.target(&start.0.spec).map_err(StepError::from)?;
        let what = format!("network {number:04}: {} grows to {}", start.name(), standins::described(&spec));
        let placed =
            self.add(&calls::grow(start, &asked.params), &asked, what, |_| plan::of_network(&spec))?;
        let summary = standins::network(&spec);
        Ok(Self::made(&placed, number, spec, summary))
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        Ok(standins::inspection(&network.0.spec, params))
    }

    fn self_play(&self, network: &Network, asked: Asked<SelfPlayParams>) -> Result<Games, HostError> {
        let iteration = self.known().next_iteration();
        let params = &asked.params;
        let summary = |placed: &Placed| result(placed, standins::self_play(params).to_value());
        let what = format!("iteration {iteration:04}: self-play of {}", network.name());
        let placed = self.add(&calls::self_play(network, params)?, &asked, what, |placed| {
            plan::of_games(&summary(placed), network, params)
        })?;
        let names: Vec<String> = (0..params.games.div_ceil(params.shard_games))
            .flat_map(|shard| ["games", "positions"].map(|folder| format!("{folder}/{shard:05}.parquet")))
            .collect();
        let fields = GamesFields {
            iteration,
            network: network.0.number,
            step: placed.identity.short().to_owned(),
            files: placed.files(&names),
            summary: summary(&placed),
        };
        Ok(Games(Arc::new(fields)))
    }

    fn train(
        &self,
        start: &Network,
        window: &Window,
        asked: Asked<TrainParams>,
    ) -> Result<Network, HostError> {
        let number = self.known().next_network();
        let params = &asked.params;
        let what =
            format!("network {number:04}: trained from {} on {} games", start.name(), window.sum("games"));
        let placed = self
            .add(&calls::train(start, window, params)?, &asked, what, |_| plan::of_training(start, params))?;
        let summary = standins::training(params, window, &start.0.spec);
        Ok(Self::made(&placed, number, start.0.spec.clone(), summary))
    }

    fn arena(
        &self,
        first: &Network,
        second: &Opponent,
        asked: Asked<ArenaParams>,
    ) -> Result<Verdict, HostError> {
        let what = format!("match: {} vs {}", first.name(), second.name());
        let params = &asked.params;
        let placed = self.add(&calls::arena(first, second, params)?, &asked, what, |_| {
            standins::match_work(params, first, second)
        })?;
        let summary = result(&placed, standins::verdict(params).to_value());
        Ok(Verdict(Arc::new(VerdictFields { first: first.name(), second: second.name(), summary })))
    }

    fn search(
        &self,
        network: &Network,
        what: &ToSearch,
        asked: Asked<AnalysisParams>,
    ) -> Result<Analysis, HostError> {
        let number = self.known().next_analysis();
        let (positions, params) = (what.positions() as u64, &asked.params);
        let text = format!("analysis {number:04}: {positions} positions searched by {}", network.name());
        let placed = self.add(&calls::search(network, what, params)?, &asked, text, |_| {
            plan::of_searches(positions, network, params)
        })?;
        let files = placed.files(&["searches".to_owned()]);
        let summary = result(&placed, assumed_searches(positions, params));
        let can_go_on = params.tree && params.untried;
        Ok(Analysis(Arc::new(AnalysisFields { number, files, can_go_on, summary })))
    }

    fn promote(&self, _: &Network, _: u32) -> Result<(), HostError> {
        Ok(())
    }

    fn note(&self, _: &str) -> Result<(), HostError> {
        Ok(())
    }

    fn summary(&self, _: &Table) -> Result<(), HostError> {
        Ok(())
    }

    fn seconds(&self) -> f64 {
        0.0
    }

    fn close(&self) {}

    fn sweep(&self, asked: &Asked<SweepParams>) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError> {
        let (sweep, events) = sweep::open(self, asked)?;
        Ok((Arc::new(sweep), events))
    }
}

/// Whether a group has a value at a dotted path.
fn has(group: &Value, path: &str) -> bool {
    match path.split_once('.') {
        Some((name, rest)) => field(group, name).is_some_and(|member| has(&member, rest)),
        None => field(group, path).is_some(),
    }
}
