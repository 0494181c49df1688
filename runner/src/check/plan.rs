//! What a script would do: its steps, each counted once, with the work that they are.

mod render;

use std::collections::BTreeSet;

use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::params::Value;
use dc0_core::search::AnalysisParams;
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::TrainParams;

use super::has;
use crate::host::{Network, RunInfo, field};
use crate::run::Identity;
use crate::speeds::Speeds;
use crate::sweep::events::Replicate;
use crate::sweep::params::SweepParams;

/// The size of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    pub(super) games: u64,
    pub(super) positions: u64,
    pub(super) evaluations: u64,
    pub(super) updates: u64,
    /// Samples that the updates learn from.
    pub(super) samples: u64,
    /// Floating-point operations of nets, those of training three times over.
    pub(super) flops: f64,
    /// Bytes of files.
    pub(super) bytes: f64,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) kind: &'static str,
    pub(super) what: String,
    pub(super) work: Work,
    /// Whether it is finished already.
    pub(super) is_done: bool,
}

/// Steps that are told of together: those of a sweep's trials, else one.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    kind: &'static str,
    what: String,
    count: u32,
    done: u32,
    /// Of all, and of those that are left to do.
    work: Work,
    left: Work,
    left_seconds: f64,
}

/// One parameter of a call.
#[derive(Debug, Clone, PartialEq)]
struct Setting {
    path: String,
    value: Value,
    is_given: bool,
}

/// Calls of one kind with the same parameters.
#[derive(Debug, Clone, PartialEq)]
struct Calls {
    kind: &'static str,
    settings: Vec<Setting>,
    count: u32,
}

/// A sweep of the script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sweeping {
    name: String,
    trials: u32,
    replicates: u32,
    sampler: &'static str,
    pruner: &'static str,
    begun: BTreeSet<Replicate>,
}

/// Everything planned so far.
#[derive(Debug)]
pub(super) struct Plan {
    run: Option<RunInfo>,
    sweeps: Vec<Sweeping>,
    told: Vec<Told>,
    calls: Vec<Calls>,
    seen: BTreeSet<Identity>,
    /// Steps that were asked for, the equal ones counted each time.
    asked: usize,
    speeds: Option<Speeds>,
}

impl Default for Plan {
    fn default() -> Self {
        let (run, sweeps, told, calls, seen) = <_>::default();
        Self { run, sweeps, told, calls, seen, asked: 0, speeds: Speeds::stored() }
    }
}

impl Work {
    fn add(&mut self, other: Self) {
        self.games += other.games;
        self.positions += other.positions;
        self.evaluations += other.evaluations;
        self.updates += other.updates;
        self.samples += other.samples;
        self.flops += other.flops;
        self.bytes += other.bytes;
    }
}

impl Sweeping {
    pub(super) fn new(params: &SweepParams) -> Self {
        Self {
            name: params.name.clone(),
            trials: params.trials,
            replicates: params.replicates,
            sampler: params.sampler.kind.word(),
            pruner: params.pruner.kind.word(),
            begun: BTreeSet::new(),
        }
    }
}

impl Plan {
    pub(super) fn open(&mut self, info: &RunInfo) {
        self.run = Some(info.clone());
    }

    pub(super) fn sweep(&mut self, sweep: Sweeping) {
        self.sweeps.push(sweep);
    }

    /// A replicate of a trial begins or goes on.
    pub(super) fn begin(&mut self, name: &str, of: Replicate) {
        if let Some(sweep) = self.sweeps.iter_mut().rfind(|sweep| sweep.name == name) {
            sweep.begun.insert(of);
        }
    }

    /// Adds a step, unless it is there, and gives how many were asked for.
    pub(super) fn add(&mut self, identity: &Identity, step: Step, params: &Value, given: &Value) -> usize {
        self.asked += 1;
        if !self.seen.insert(identity.clone()) {
            return self.asked;
        }
        let mut settings = Vec::new();
        list(params, "", given, &mut settings);
        let kind = step.kind;
        match self.calls.iter_mut().find(|calls| calls.kind == kind && calls.settings == settings) {
            Some(calls) => calls.count += 1,
            None => self.calls.push(Calls { kind, settings, count: 1 }),
        }
        self.tell(step);
        self.asked
    }

    fn tell(&mut self, step: Step) {
        let Step { kind, what, work, is_done } = step;
        let left = if is_done { Work::default() } else { work };
        let seconds = match (&self.speeds, is_done) {
            (Some(speeds), false) => speeds.seconds(kind, work.evaluations, work.samples, work.flops),
            _ => 0.0,
        };
        let is_of_sweep = what.starts_with("sweep ");
        let known = self.told.iter().position(|told| is_of_sweep && told.what == what);
        let told = known.unwrap_or_else(|| {
            let (work, left) = <_>::default();
            self.told.push(Told { kind, what, count: 0, done: 0, work, left, left_seconds: 0.0 });
            self.told.len() - 1
        });
        let told = &mut self.told[told];
        told.count += 1;
        told.done += u32::from(is_done);
        told.work.add(work);
        told.left.add(left);
        told.left_seconds += seconds;
    }
}

/// Every leaf of a group of parameters; a table of samples counts as one.
fn list(params: &Value, path: &str, given: &Value, settings: &mut Vec<Setting>) {
    if let Value::Group(members) = params {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            list(member, &path, given, settings);
        }
        return;
    }
    settings.push(Setting { path: path.to_owned(), value: params.clone(), is_given: has(given, path) });
}

fn number(summary: &Value, name: &str) -> u64 {
    field(summary, name).and_then(|value| value.as_f64()).map_or(0, |number| number as u64)
}

/// Floating-point operations of one evaluation.
pub(super) fn flops(network: &Network) -> f64 {
    number(&network.0.summary, "flops") as f64
}

/// Bytes of a table besides its rows. This and the other sizes were measured on games of small nets.
const TABLE_BYTES: f64 = 2500.0;
/// Bytes of one game's row.
const GAME_BYTES: f64 = 135.0;

/// A net's weights and its description.
pub(super) fn of_network(spec: &NetworkSpec) -> Work {
    Work { bytes: 4.0 * parameter_count(spec) as f64 + 1000.0, ..Work::default() }
}

/// Games with this summary. A position's row has its moves' visits: the more simulations, the more moves.
pub(super) fn of_games(summary: &Value, network: &Network, params: &SelfPlayParams) -> Work {
    let [games, positions, evaluations] =
        ["games", "positions", "evaluations"].map(|name| number(summary, name));
    let row = 20.0 + 5.0 * f64::from(params.search.simulations).sqrt();
    let shards = f64::from(params.games.div_ceil(params.shard_games));
    let bytes = games as f64 * GAME_BYTES + positions as f64 * row + shards * 2.0 * TABLE_BYTES;
    Work {
        games,
        positions,
        evaluations,
        flops: evaluations as f64 * flops(network),
        bytes,
        ..Work::default()
    }
}

/// A training; a sample's backward pass takes twice its forward pass.
pub(super) fn of_training(start: &Network, params: &TrainParams) -> Work {
    let updates = u64::from(params.updates);
    let samples = updates * u64::from(params.batch);
    let flops = 3.0 * samples as f64 * flops(start);
    let bytes = of_network(&start.0.spec).bytes + 2.0 * TABLE_BYTES;
    Work { updates, samples, flops, bytes, ..Work::default() }
}

/// Searches of so many positions.
pub(super) fn of_searches(positions: u64, network: &Network, params: &AnalysisParams) -> Work {
    let evaluations = positions * u64::from(params.search.simulations);
    let flops = evaluations as f64 * flops(network);
    Work { positions, evaluations, flops, bytes: 2.0 * TABLE_BYTES, ..Work::default() }
}

/// Bytes of a match's table.
pub(super) fn match_bytes(games: u32) -> f64 {
    TABLE_BYTES + f64::from(games) * GAME_BYTES
}
