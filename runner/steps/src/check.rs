//! `--check`: a host that only plans. Scripts run as always; steps that are finished give their results, others stand-ins.

mod fork;
mod known;
mod plan;
mod standins;
mod sweep;
mod turns;
mod work;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dc0_core::arena::ArenaParams;
use dc0_core::event::{Observer, Silent};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::fake::Hashed;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::network::{Evaluator, GrowParams, NetworkSpec};
use dc0_core::params::{Params, Value};
use dc0_core::search::AnalysisParams;
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::{TrainParams, threads_that_pay};

use crate::handles::{
    Analysis, AnalysisFields, Games, GamesFields, Network, NetworkFields, Opponent, ToSearch, Verdict,
    VerdictFields, Window,
};
use crate::host::{Asked, ForkParams, Forked, Host, HostError, OpenParams, RunInfo, SweepHost};
use crate::speeds::Pace;
use crate::table::Table;
use crate::{Asking, StepError, assumed_searches, begun, calls, cores, lanes_on};
use dc0_backend;
use dc0_backend::{Backend, Wish};
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::events::Event;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::view::{self, FinishedSteps};
use dc0_runs::{Begun, Folder, ForkRecord, Manifest, Record, RunError, Series, StepCall, Workplace};
use known::{Known, Placed};
use plan::{Plan, Step};
use work::Work;

/// Steps of a plan, those counted that are asked for again; more than a script that ends comes to.
const MAX_STEPS: usize = 100_000;

/// Plans what scripts ask for.
pub struct Planner {
    asking: Asking,
    declaration: Arc<Declaration>,
    script: String,
    /// Shared by the trials of a sweep.
    plan: Arc<Mutex<Plan>>,
    known: Mutex<Known>,
    /// Threads that play; the system is asked once, since each answer takes it a while.
    lanes: OnceLock<u32>,
    trial: Option<TrialOf>,
}

/// The sweep whose trial is planned.
struct TrialOf {
    sweep: String,
    /// The finished steps of the sweep's trials.
    finished: Arc<FinishedSteps>,
    /// Its number.
    trial: u32,
    /// libtorch threads of each trial, where trials share those of one machine.
    threads: Option<u32>,
}

impl TrialOf {
    /// The pace of a training with the threads of one trial; the speeds that were measured are those of all. As many threads as
    /// pay are taken to be as many times as fast. Lanes of players are counted in their pace.
    fn slowed(&self, work: &Work, pace: Pace) -> Pace {
        let Some(threads) = self.threads.filter(|_| work.updates > 0) else { return pace };
        let of_an_update = work.flops / work.updates as f64;
        let paid = |most: u32| f64::from(threads_that_pay(of_an_update, most));
        pace.slowed(paid(cores()) / paid(threads))
    }
}

impl Planner {
    /// For one script, named as the user named it.
    pub fn new(script: &str, asking: Asking, declaration: Arc<Declaration>) -> Self {
        let (plan, known, lanes) = <_>::default();
        Self { asking, declaration, script: script.to_owned(), plan, known, lanes, trial: None }
    }

    /// The plan as text.
    pub fn plan(&self) -> String {
        self.state().render(&self.script, &self.declaration.rows())
    }

    /// The plan for programs.
    pub fn plan_json(&self) -> serde_json::Value {
        self.state().to_json(&self.script, &self.declaration.rows())
    }

    /// The name of the script's file, without the folder.
    fn script_file(&self) -> String {
        let file = Path::new(&self.script).file_name();
        file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The step that a call becomes; `begun` looks at what a kill left of it.
    fn place(
        &self,
        call: &StepCall,
        begun: impl FnOnce(&Workplace) -> Result<Begun, RunError>,
    ) -> Result<Placed, HostError> {
        Ok(self.known().place(call, begun)?)
    }

    /// Adds a step to the plan.
    fn add<P: Params>(
        &self,
        (kind, placed): (&'static str, &Placed),
        asked: &Asked<P>,
        what: String,
        (work, pace): (Work, Pace),
    ) -> Result<(), HostError> {
        let (what, of, pace) = match &self.trial {
            Some(trial) => {
                let of = Some((trial.sweep.clone(), trial.trial));
                (format!("sweep {}: {kind}", trial.sweep), of, trial.slowed(&work, pace))
            }
            None => (what, None, pace),
        };
        let is_done = placed.manifest.is_some();
        let step = Step { kind, what, of, work, pace, is_done, begun: placed.begun };
        let steps = self.state().add(&placed.identity, step, &asked.params.to_value(), &asked.given);
        if steps > MAX_STEPS {
            return Err(HostError::Endless { steps, assumed: standins::ASSUMPTIONS });
        }
        Ok(())
    }

    /// Threads that play.
    fn lanes(&self) -> Result<u32, HostError> {
        if let Some(lanes) = self.lanes.get() {
            return Ok(*lanes);
        }
        let devices = dc0_backend::devices(self.asking.device.as_deref().unwrap_or("auto"))?;
        let own = lanes_on(&devices);
        let asked = self.asking.lanes.unwrap_or(own);
        // More lanes than cores are no faster.
        let lanes = if devices == ["cpu"] { asked.min(own) } else { asked };
        Ok(*self.lanes.get_or_init(|| lanes))
    }

    /// A net that a step makes.
    fn made(placed: &Placed, number: u32, spec: NetworkSpec, summary: Value) -> Network {
        let file = format!("networks/{number:04}.safetensors");
        let files = placed.files(std::slice::from_ref(&file));
        let (digest, file) =
            files.first().map_or((String::new(), file), |first| (first.blake3.clone(), first.path.clone()));
        let summary = placed.manifest.as_ref().map_or(summary, |manifest| manifest.summary.clone());
        let run = Arc::clone(&placed.run);
        Network(Arc::new(NetworkFields { run, number, digest, spec, file, summary }))
    }

    /// Whether nets can play as asked.
    fn check_wish(&self, device: &str, backend: Backend, precision: Precision) -> Result<(), HostError> {
        let backend = self.asking.backend.unwrap_or(backend);
        Wish { backend, device, precision, onnxruntime: None }.settle(false)?;
        Ok(())
    }

    /// Every finished step that a run of this name can use, and its seed if it is there.
    fn finished(&self, name: &str, from: &[String]) -> Result<(Arc<FinishedSteps>, Option<u64>), HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        let mut finished = self.trial.as_ref().map(|trial| (*trial.finished).clone()).unwrap_or_default();
        for name in from {
            view::collect(&Folder::of_existing(&self.asking.parent, name)?, &mut finished)?;
        }
        view::collect(&folder, &mut finished)?;
        view::collect_aside(&folder, &mut finished)?;
        Ok((Arc::new(finished), view::seed_of(&folder)?))
    }
}

/// Steps of one part leave nothing to go on from.
fn nothing_begun(_: &Workplace) -> Result<Begun, RunError> {
    Ok(Begun { parts: 0, of: 1, unit: "parts", amount: 0 })
}

/// The result of a step that is finished, else a stand-in.
fn result(placed: &Placed, stand_in: Value) -> Value {
    placed.manifest.as_ref().map_or(stand_in, |manifest| manifest.summary.clone())
}

impl Host for Planner {
    fn open(&self, name: &str, asked: Asked<OpenParams>) -> Result<RunInfo, HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        if let Some(found) = Record::read(&folder)? {
            ForkRecord::check(&folder, found.fork.as_ref(), None)?;
        }
        let (finished, seed) = self.finished(name, &asked.params.from)?;
        let device = self.asking.device.clone().unwrap_or_else(|| "auto".to_owned());
        self.check_wish(&device, asked.params.backend, asked.params.precision)?;
        let info = RunInfo {
            name: name.to_owned(),
            folder: folder.root().display().to_string(),
            seed: self.asking.seed.or(seed).unwrap_or(asked.params.seed),
            device,
        };
        *self.known() = Known::new(folder, &info.folder, info.seed, finished);
        if self.trial.is_none() {
            self.state().open(&info);
        }
        Ok(info)
    }

    fn fork(&self, from: &str, iteration: u32, asked: Asked<ForkParams>) -> Result<Forked, HostError> {
        fork::open(self, (from, iteration), &asked)
    }

    fn network(&self, asked: Asked<NetworkSpec>) -> Result<Network, HostError> {
        let number = self.known().next(Series::Networks);
        let what = format!("network {number:04}: {}", standins::described(&asked.params));
        let placed = self.place(&calls::network(&asked.params), nothing_begun)?;
        self.add(("network", &placed), &asked, what, work::of_network(&asked.params))?;
        let summary = standins::network(&asked.params);
        Ok(Self::made(&placed, number, asked.params, summary))
    }

    fn grow(&self, start: &Network, asked: Asked<GrowParams>) -> Result<Network, HostError> {
        let number = self.known().next(Series::Networks);
        let spec = asked.params.target(&start.0.spec).map_err(StepError::from)?;
        let what = format!("network {number:04}: {} grows to {}", start.name(), standins::described(&spec));
        let placed = self.place(&calls::grow(start, &asked.params), nothing_begun)?;
        self.add(("grow", &placed), &asked, what, work::of_network(&spec))?;
        let summary = standins::network(&spec);
        Ok(Self::made(&placed, number, spec, summary))
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        Ok(standins::inspection(&network.0.spec, params))
    }

    fn self_play(&self, network: &Network, asked: Asked<SelfPlayParams>) -> Result<Games, HostError> {
        let iteration = self.known().next(Series::Iterations);
        let params = &asked.params;
        let what = format!("iteration {iteration:04}: self-play of {}", network.name());
        let placed =
            self.place(&calls::self_play(network, params)?, |place| begun::self_play(place, params))?;
        let left = SelfPlayParams { games: placed.left(params.games), ..params.clone() };
        let assumed = |params| standins::self_play(params).to_value();
        let work = work::of_games(&result(&placed, assumed(&left)), network, &left, self.lanes()?);
        self.add(("self_play", &placed), &asked, what, work)?;
        let names: Vec<String> = (0..params.games.div_ceil(params.shard_games))
            .flat_map(|shard| ["games", "positions"].map(|folder| format!("{folder}/{shard:05}.parquet")))
            .collect();
        let fields = GamesFields {
            run: Arc::clone(&placed.run),
            iteration,
            network: network.0.number,
            step: placed.identity.short().to_owned(),
            files: placed.files(&names),
            summary: result(&placed, assumed(params)),
        };
        Ok(Games(Arc::new(fields)))
    }

    fn train(
        &self,
        start: &Network,
        window: &Window,
        asked: Asked<TrainParams>,
    ) -> Result<Network, HostError> {
        let number = self.known().next(Series::Networks);
        let params = &asked.params;
        let what =
            format!("network {number:04}: trained from {} on {} games", start.name(), window.sum("games"));
        let placed =
            self.place(&calls::train(start, window, params)?, |place| Ok(begun::train(place, params)))?;
        let left = TrainParams { updates: placed.left(params.updates), ..params.clone() };
        self.add(("train", &placed), &asked, what, work::of_training(start, window, &left))?;
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
        let placed =
            self.place(&calls::arena(first, second, params)?, |place| begun::arena(place, params))?;
        let left = ArenaParams { games: placed.left(params.games), ..params.clone() };
        let work = work::of_match(standins::match_positions(&left), &left, (first, second), self.lanes()?);
        self.add(("arena", &placed), &asked, what, work)?;
        let whole =
            work::of_match(standins::match_positions(params), params, (first, second), self.lanes()?).0;
        let summary = result(&placed, standins::verdict(params, whole.evaluations).to_value());
        Ok(Verdict(Arc::new(VerdictFields { first: first.name(), second: second.name(), summary })))
    }

    fn search(
        &self,
        network: &Network,
        what: &ToSearch,
        asked: Asked<AnalysisParams>,
    ) -> Result<Analysis, HostError> {
        let number = self.known().next(Series::Searches);
        let (positions, params) = (what.positions() as u64, &asked.params);
        let text = format!("analysis {number:04}: {positions} positions searched by {}", network.name());
        let placed =
            self.place(&calls::search(network, what, params)?, |place| begun::search(place, what, params))?;
        let left = placed.left(u32::try_from(positions).unwrap_or(u32::MAX));
        let work = work::of_searches(left.into(), network, params, self.lanes()?);
        self.add(("search", &placed), &asked, text, work)?;
        let files = placed.files(&["searches".to_owned()]);
        let summary = result(&placed, assumed_searches(positions, params));
        let can_go_on = params.tree && params.untried;
        let run = Arc::clone(&placed.run);
        Ok(Analysis(Arc::new(AnalysisFields { run, number, files, can_go_on, summary })))
    }

    fn promote(&self, _: &Network, _: u32) -> Result<(), HostError> {
        Ok(())
    }

    fn note(&self, _: &str) -> Result<(), HostError> {
        Ok(())
    }

    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError> {
        Ok(self.known().steps()?)
    }

    fn summary(&self, _: &Table) -> Result<(), HostError> {
        Ok(())
    }

    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError> {
        let made_up = Hashed::new(net.spec.input(), 1);
        let knows_plies = net.spec.moves_left_head.is_some();
        Ok(Box::new(if knows_plies { made_up.with_moves_left() } else { made_up }))
    }

    fn is_planning(&self) -> bool {
        true
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Silent)
    }

    fn seconds(&self) -> f64 {
        0.0
    }

    fn close(&self) {}

    fn sweep(
        &self,
        asked: &Asked<SweepParams>,
        script: &str,
    ) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError> {
        let (sweep, events) = sweep::open(self, asked, script)?;
        Ok((Arc::new(sweep), events))
    }
}

/// Whether a group has a value at a dotted path.
fn has(group: &Value, path: &str) -> bool {
    match path.split_once('.') {
        Some((name, rest)) => group.member(name).is_some_and(|member| has(member, rest)),
        None => group.member(path).is_some(),
    }
}
