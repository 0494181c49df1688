//! `--check`: a host that only plans. Scripts run as always, with stand-ins for results.

mod plan;
mod standins;

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
use crate::run::Folder;
use crate::script::declared::Declaration;
use crate::steps::{Asking, StepError, assumed_searches};
use crate::sweep::events::Event;
use crate::sweep::params::SweepParams;
use plan::{Plan, Work};

/// Steps of a plan; more than a script that ends comes to.
const MAX_STEPS: usize = 100_000;

/// Plans what scripts ask for.
pub struct Planner {
    asking: Asking,
    declaration: Arc<Declaration>,
    script: String,
    plan: Mutex<Plan>,
}

impl Planner {
    /// For one script, named as the user named it.
    pub fn new(script: &str, asking: Asking, declaration: Arc<Declaration>) -> Self {
        Self { asking, declaration, script: script.to_owned(), plan: Mutex::default() }
    }

    /// The plan as text.
    pub fn plan(&self) -> String {
        self.state().render(&self.script, &self.declaration.rows())
    }

    fn state(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add<P: Params>(
        &self,
        kind: &'static str,
        asked: &Asked<P>,
        what: String,
        work: Work,
    ) -> Result<(), HostError> {
        let steps = self.state().add(kind, &asked.params.to_value(), &asked.given, what, work);
        if steps > MAX_STEPS {
            return Err(HostError::Endless { steps, assumed: standins::ASSUMPTIONS });
        }
        Ok(())
    }
}

impl Host for Planner {
    fn open(&self, name: &str, asked: Asked<OpenParams>) -> Result<RunInfo, HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        for name in &asked.params.from {
            Folder::of_existing(&self.asking.parent, name)?;
        }
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
            seed: self.asking.seed.unwrap_or(asked.params.seed),
            device,
        };
        self.state().open(&info);
        Ok(info)
    }

    fn network(&self, asked: Asked<NetworkSpec>) -> Result<Network, HostError> {
        let number = self.state().next_network();
        let what = format!("network {number:04}: {}", standins::described(&asked.params));
        self.add("network", &asked, what, Work::default())?;
        Ok(standins::network(number, asked.params))
    }

    fn grow(&self, start: &Network, asked: Asked<GrowParams>) -> Result<Network, HostError> {
        let number = self.state().next_network();
        let spec = asked.params.target(&start.0.spec).map_err(StepError::from)?;
        let what = format!("network {number:04}: {} grows to {}", start.name(), standins::described(&spec));
        self.add("grow", &asked, what, Work::default())?;
        Ok(standins::network(number, spec))
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        Ok(standins::inspection(&network.0.spec, params))
    }

    fn self_play(&self, network: &Network, asked: Asked<SelfPlayParams>) -> Result<Games, HostError> {
        let iteration = self.state().next_iteration();
        let stats = standins::self_play(&asked.params);
        let work = Work {
            games: stats.games,
            positions: stats.positions,
            evaluations: stats.evaluations,
            updates: 0,
        };
        self.add(
            "self_play",
            &asked,
            format!("iteration {iteration:04}: self-play of {}", network.name()),
            work,
        )?;
        let fields = GamesFields {
            iteration,
            network: network.0.number,
            step: format!("{iteration:08}"),
            files: Vec::new(),
            summary: stats.to_value(),
        };
        Ok(Games(Arc::new(fields)))
    }

    fn train(
        &self,
        start: &Network,
        window: &Window,
        asked: Asked<TrainParams>,
    ) -> Result<Network, HostError> {
        let number = self.state().next_network();
        let updates = u64::from(asked.params.updates);
        let what =
            format!("network {number:04}: trained from {} on {} games", start.name(), window.sum("games"));
        self.add("train", &asked, what, Work { updates, ..Work::default() })?;
        let network = standins::network(number, start.0.spec.clone());
        let summary = standins::training(&asked.params, window, &network);
        Ok(Network(Arc::new(NetworkFields { summary, ..NetworkFields::clone(&network.0) })))
    }

    fn arena(
        &self,
        first: &Network,
        second: &Opponent,
        asked: Asked<ArenaParams>,
    ) -> Result<Verdict, HostError> {
        let what = format!("match: {} vs {}", first.name(), second.name());
        self.add("arena", &asked, what, standins::match_work(&asked.params, second))?;
        let summary = standins::verdict(&asked.params).to_value();
        Ok(Verdict(Arc::new(VerdictFields { first: first.name(), second: second.name(), summary })))
    }

    fn search(
        &self,
        network: &Network,
        what: &ToSearch,
        asked: Asked<AnalysisParams>,
    ) -> Result<Analysis, HostError> {
        let number = self.state().next_analysis();
        let positions = what.positions() as u64;
        let evaluations = positions * u64::from(asked.params.search.simulations);
        let text = format!("analysis {number:04}: {positions} positions searched by {}", network.name());
        self.add("search", &asked, text, Work { positions, evaluations, ..Work::default() })?;
        let summary = assumed_searches(positions, &asked.params);
        let can_go_on = asked.params.tree && asked.params.untried;
        Ok(Analysis(Arc::new(AnalysisFields { number, files: Vec::new(), can_go_on, summary })))
    }

    fn promote(&self, _: &Network, _: u32) -> Result<(), HostError> {
        Ok(())
    }

    fn summary(&self, _: &Table) -> Result<(), HostError> {
        Ok(())
    }

    fn seconds(&self) -> f64 {
        0.0
    }

    fn close(&self) {}

    fn sweep(&self, _: &Asked<SweepParams>) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError> {
        Err(HostError::Closed)
    }
}

/// Whether a group has a value at a dotted path.
fn has(group: &Value, path: &str) -> bool {
    match path.split_once('.') {
        Some((name, rest)) => field(group, name).is_some_and(|member| has(&member, rest)),
        None => field(group, path).is_some(),
    }
}
