//! A fork that is only planned: what it begins with is read from the other run, or from the fork itself where it is there.

use super::Planner;
use super::known::Known;
use super::plan::Step;
use crate::estimate::Work;
use crate::host::{Asked, ForkParams, Forked, HostError, RunInfo};
use crate::past::past;
use crate::speeds::Pace;
use dc0_core::params::Param;
use dc0_runs::view::{self, FinishedSteps};
use dc0_runs::{Folder, ForkRecord, Identity, Manifest, Prefix, Record, RunError, Slot};

/// What a fork begins with, and what else is known of it.
struct Beginning {
    fork: ForkRecord,
    steps: Vec<(Slot, Manifest)>,
    seed: u64,
    device: String,
}

pub(super) fn open(
    planner: &Planner,
    (from, iteration): (&str, u32),
    asked: &Asked<ForkParams>,
) -> Result<Forked, HostError> {
    let params = &asked.params;
    let own = params.folder(&planner.asking.parent, from)?;
    let beginning = match Record::read(&own)? {
        Some(record) => begun(planner, &own, record, (from, iteration)),
        None => begins(planner, params, (from, iteration)),
    };
    let Beginning { fork, steps, seed, device } = beginning?;
    let info = RunInfo {
        name: params.name.clone(),
        folder: own.root().display().to_string(),
        seed: planner.asking.seed.unwrap_or(seed),
        device: planner.asking.device.clone().unwrap_or(device),
    };
    planner.check_wish(&info.device, params.backend, params.precision)?;
    let (finished, _) = planner.finished(&params.name, &params.from)?;
    *planner.known() = Known::new(own.clone(), &info.folder, info.seed, finished);
    planner.known().begin(&steps);
    planner.state().open(&info);
    tell(planner, &fork, &steps, asked);
    let past = past(&info.folder.as_str().into(), &own, &steps, &fork.promotions)?;
    Ok(Forked { info, past })
}

/// A fork that is not there yet.
fn begins(
    planner: &Planner,
    params: &ForkParams,
    (from, iteration): (&str, u32),
) -> Result<Beginning, HostError> {
    let donor = Folder::of_existing(&planner.asking.parent, from)?;
    let Prefix { fork, record, steps } = Prefix::read(&donor, from, iteration)?;
    let seed = params.seed.unwrap_or(record.seed);
    Ok(Beginning { fork, steps, seed, device: record.environment.device })
}

/// A fork that is there: its steps are its own, or still those of the other run.
fn begun(
    planner: &Planner,
    own: &Folder,
    record: Record,
    asked: (&str, u32),
) -> Result<Beginning, HostError> {
    ForkRecord::check(own, record.fork.as_ref(), Some(asked))?;
    let absent = || RunError::NoFork { folder: own.root().to_owned() };
    let fork = record.fork.ok_or_else(absent)?;
    let places = fork.slots(own)?;
    let mut finished = FinishedSteps::new();
    view::collect(own, &mut finished)?;
    // What else is in the other run does not matter once everything is taken over.
    if places.iter().any(|(identity, _)| !finished.contains_key(identity)) {
        let mut other = FinishedSteps::new();
        view::collect(&Folder::of_existing(&planner.asking.parent, &fork.from)?, &mut other)?;
        other.append(&mut finished);
        finished = other;
    }
    let mut steps = Vec::new();
    for (identity, slot) in places {
        let gone = || RunError::ForkGone {
            folder: planner.asking.parent.join(&fork.from),
            step: identity.short().to_owned(),
        };
        steps.push((slot, finished.get(&identity).cloned().ok_or_else(gone)?));
    }
    Ok(Beginning { fork, steps, seed: record.seed, device: record.environment.device })
}

/// All that a fork begins with as one line of the plan, which costs nothing.
fn tell(planner: &Planner, fork: &ForkRecord, steps: &[(Slot, Manifest)], asked: &Asked<ForkParams>) {
    let sum = |name: &str| {
        let games = steps.iter().filter(|(_, manifest)| manifest.kind == "self_play");
        games.filter_map(|(_, manifest)| manifest.summary.member(name)?.as_f64()).sum::<f64>() as u64
    };
    let work = Work { games: sum("games"), positions: sum("positions"), ..Work::default() };
    let what = format!("fork of {} up to iteration {:04}: {} steps", fork.from, fork.iteration, steps.len());
    let (pace, of) = (Pace::default(), None);
    let step = Step { kind: "fork", what, of, work, pace, is_done: true, begun: None };
    if let Some(identity) = Identity::from_digits(&fork.digest) {
        planner.state().add(&identity, step, &asked.params.to_value(), &asked.given);
    }
}
