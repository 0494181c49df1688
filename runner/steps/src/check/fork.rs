//! A planned fork: its first steps are read from the other run, or from the fork itself if it exists.

use super::Planner;
use super::plan::{Step, StepOf};
use super::planned_run::PlannedRun;
use crate::estimate::Work;
use crate::host::{CallParams, ForkParams, Forked, HostError, RunInfo};
use crate::past_events::past;
use crate::speeds::ShardCost;
use dc0_core::params::Param;
use dc0_process::format::counted;
use dc0_runs::view::{self, FinishedSteps};
use dc0_runs::{Folder, ForkRecord, Identity, Manifest, Prefix, Record, RunError, Series, Slot};

/// The steps that a fork begins with, its seed and its device.
struct Beginning {
    fork: ForkRecord,
    steps: Vec<(Slot, Manifest)>,
    seed: u64,
    device: String,
}

pub(super) fn open(
    planner: &Planner,
    (from, iteration): (&str, u32),
    call_params: &CallParams<ForkParams>,
) -> Result<Forked, HostError> {
    let params = &call_params.params;
    let own = params.folder(&planner.options.parent, from)?;
    let beginning = match Record::read(&own)? {
        Some(record) => {
            let fork = Some((from, iteration));
            let requested = planner.requested(params.seed, params.backend, params.precision, fork);
            planner.check_record(&own, &record, requested)?;
            existing_fork(planner, &own, record)
        }
        None => new_fork(planner, params, (from, iteration)),
    };
    let Beginning { fork, steps, seed, device } = beginning?;
    let info = RunInfo {
        name: params.name.clone(),
        folder: own.root().display().to_string(),
        seed: planner.options.seed.unwrap_or(seed),
        device: planner.options.device.clone().unwrap_or(device),
    };
    planner.check_backend(&info.device, params.backend, params.precision)?;
    let (finished, _) = planner.finished(&params.name, &params.from)?;
    *planner.run() = PlannedRun::new(own.clone(), &info.folder, info.seed, finished);
    planner.run().begin(&steps);
    planner.state().open(&info, &params.from);
    add_to_plan(planner, (&fork, &info.folder), &steps, call_params);
    let past = past(&info.folder.as_str().into(), &own, &steps, &fork.promotions)?;
    Ok(Forked { info, past })
}

/// A fork that does not exist yet.
fn new_fork(
    planner: &Planner,
    params: &ForkParams,
    (from, iteration): (&str, u32),
) -> Result<Beginning, HostError> {
    let origin = Folder::of_existing(&planner.options.parent, from)?;
    let Prefix { fork, record, steps } = Prefix::read(&origin, from, iteration)?;
    let seed = params.seed.unwrap_or(record.seed);
    Ok(Beginning { fork, steps, seed, device: record.environment.device })
}

/// A fork that exists: its first steps are its own, or still those of the other run.
fn existing_fork(planner: &Planner, own: &Folder, record: Record) -> Result<Beginning, HostError> {
    let absent = || RunError::NoFork { folder: own.root().to_owned() };
    let fork = record.fork.ok_or_else(absent)?;
    let slots = fork.slots(own)?;
    let mut finished = FinishedSteps::new();
    view::collect(own, &mut finished)?;
    // The other run does not matter once all steps are taken over.
    if slots.iter().any(|(identity, _)| !finished.contains_key(identity)) {
        let mut other = FinishedSteps::new();
        view::collect(&Folder::of_existing(&planner.options.parent, &fork.from)?, &mut other)?;
        other.append(&mut finished);
        finished = other;
    }
    let mut steps = Vec::new();
    for (identity, slot) in slots {
        let gone = || RunError::ForkGone {
            folder: planner.options.parent.join(&fork.from),
            step: identity.short().to_owned(),
        };
        steps.push((slot, finished.get(&identity).cloned().ok_or_else(gone)?));
    }
    Ok(Beginning { fork, steps, seed: record.seed, device: record.environment.device })
}

/// Adds the steps that a fork begins with to the plan, as one line without cost.
fn add_to_plan(
    planner: &Planner,
    (fork, folder): (&ForkRecord, &str),
    steps: &[(Slot, Manifest)],
    call_params: &CallParams<ForkParams>,
) {
    let sum = |name: &str| {
        let games = steps.iter().filter(|(slot, _)| slot.series == Series::Iterations);
        games.filter_map(|(_, manifest)| manifest.summary.figure(name)).sum::<f64>() as u64
    };
    let work = Work { games: sum("games"), positions: sum("positions"), ..Work::default() };
    let description = format!(
        "fork of {} up to iteration {:04}: {}",
        fork.from,
        fork.iteration,
        counted(steps.len(), "step")
    );
    let (pace, of) = (ShardCost::default(), StepOf::Run(folder.to_owned()));
    let step = Step { kind: "fork", description, of, work, pace, is_done: true, begun: None };
    if let Some(identity) = Identity::from_digits(&fork.digest) {
        planner.state().add(&identity, step, &call_params.params.to_value(), &call_params.given);
    }
}
