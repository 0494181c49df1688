//! What scripts call, as steps of the open run.

use std::sync::{Arc, PoisonError};

use dc0_core::arena::ArenaParams;
use dc0_core::event::Observer;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::network::{Evaluator, GrowParams, NetworkSpec};
use dc0_core::params::Value;
use dc0_core::search::AnalysisParams;
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::TrainParams;

use super::runner::Runner;
use super::{StepError, arena, network, search, self_play, sweep, train};
use crate::handles::{
    Analysis, AnalysisFields, Games, GamesFields, Network, NetworkFields, Opponent, ToSearch, Verdict,
    VerdictFields, Window,
};
use crate::host::{Asked, ForkParams, Forked, Host, HostError, OpenParams, RunInfo, SweepHost};
use crate::progress::lines;
use crate::table::Table;
use dc0_backend::{Backend, Evaluators, Wish};
use dc0_process::interrupt::Interrupt;
use dc0_runs::sweep::events::Event;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::{Finished, Folder, Manifest, Prefix, Series, Slot};

/// Hears that the user asked to stop, and tells nothing.
struct Ears(Interrupt);

impl Observer for Ears {
    fn event(&self, _: dc0_core::event::Event<'_>) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_asked()
    }
}

/// The net that a step of a run made.
fn made(run: &Arc<str>, slot: Slot, spec: NetworkSpec, finished: &Finished) -> Network {
    let weights = finished.manifest.files.first().expect("the steps that make nets list the weights first");
    let fields = NetworkFields {
        run: Arc::clone(run),
        number: slot.number,
        digest: weights.blake3.clone(),
        spec,
        file: weights.path.clone(),
        summary: finished.manifest.summary.clone(),
    };
    Network(Arc::new(fields))
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

    fn network(&self, asked: Asked<NetworkSpec>) -> Result<Network, HostError> {
        self.with_open(|open| {
            let (spec, slot) = (asked.params, open.numbers.next(Series::Networks));
            let finished =
                open.step(&network::call(&spec), (slot, ""), |place, _| network::body(place, &spec))?;
            let made = made(&open.name, slot, spec, &finished);
            if made.0.number == 0 {
                open.generations.promote(made.generation(0, open.run.steps()))?;
            }
            Ok(made)
        })
    }

    fn grow(&self, start: &Network, asked: Asked<GrowParams>) -> Result<Network, HostError> {
        self.with_open(|open| {
            let params = asked.params;
            let spec = params.target(&start.0.spec).map_err(StepError::from)?;
            let slot = open.numbers.next(Series::Networks);
            let finished = open.step(&network::grow_call(start, &params), (slot, ""), |place, _| {
                network::grow_body(place, start, &params)
            })?;
            Ok(made(&open.name, slot, spec, &finished))
        })
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        self.with_open(|open| {
            open.shop.check()?;
            Ok(network::inspected(open.run.folder(), network, params)?)
        })
    }

    fn self_play(&self, player: &Network, asked: Asked<SelfPlayParams>) -> Result<Games, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Iterations));
            let call = self_play::call(player, &params)?;
            let finished =
                open.step(&call, (slot, ""), |place, shop| self_play::body(place, shop, player, &params))?;
            let fields = GamesFields {
                run: Arc::clone(&open.name),
                iteration: slot.number,
                network: player.0.number,
                step: finished.manifest.identity().short().to_owned(),
                files: finished.manifest.files,
                summary: finished.manifest.summary,
            };
            Ok(Games(Arc::new(fields)))
        })
    }

    fn train(
        &self,
        start: &Network,
        window: &Window,
        asked: Asked<TrainParams>,
    ) -> Result<Network, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Networks));
            let call = train::call(start, window, &params)?;
            let finished = open
                .step(&call, (slot, ""), |place, shop| train::body(place, shop, (start, window), &params))?;
            Ok(made(&open.name, slot, start.0.spec.clone(), &finished))
        })
    }

    fn arena(
        &self,
        first: &Network,
        second: &Opponent,
        asked: Asked<ArenaParams>,
    ) -> Result<Verdict, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Matches));
            let call = arena::call(first, second, &params)?;
            let who = format!("{} vs {}", first.name(), second.name());
            let finished = open.step(&call, (slot, &who), |place, shop| {
                arena::body(place, shop, (first, second), &params)
            })?;
            let summary = finished.manifest.summary;
            Ok(Verdict(Arc::new(VerdictFields { first: first.name(), second: second.name(), summary })))
        })
    }

    fn search(
        &self,
        network: &Network,
        what: &ToSearch,
        asked: Asked<AnalysisParams>,
    ) -> Result<Analysis, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Searches));
            let call = search::call(network, what, &params)?;
            let finished = open.step(&call, (slot, &format!("by {}", network.name())), |place, shop| {
                search::body(place, shop, network, (what, &params))
            })?;
            let fields = AnalysisFields {
                run: Arc::clone(&open.name),
                number: slot.number,
                files: finished.manifest.files,
                can_go_on: params.tree && params.untried,
                summary: finished.manifest.summary,
            };
            Ok(Analysis(Arc::new(fields)))
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
