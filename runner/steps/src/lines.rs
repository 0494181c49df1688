//! The lines printed for an opened run, a finished step and a promotion.

use dc0_process::format::counted;
use dc0_runs::{Finished, Record, Slot};

use crate::context::StepContext;
use crate::handles::Network;
use crate::step::Kind;

/// The line of an opened run.
pub(crate) fn opened(folder: &str, record: &Record, context: &StepContext, finished: usize) -> String {
    let environment = &record.environment;
    let steps = match finished {
        0 => "nothing done yet".to_owned(),
        steps => format!("{} done before", counted(steps, "step")),
    };
    let lanes = counted(context.lanes as usize, "lane");
    let threads = counted(environment.threads as usize, "training thread");
    format!(
        "run {folder}: seed {}, {} on {} in {}, {lanes}, {threads}; {steps}",
        record.seed, environment.backend, environment.device, environment.precision
    )
}

/// The line of what differs from the last opening of the run.
pub(crate) fn changed(changes: &[String]) -> String {
    format!("changed since the last time: {}", changes.join(", "))
}

/// The line of a finished step. `players` may be empty, and `closing` has its time and rates.
pub(crate) fn finished(
    kind: &dyn Kind,
    slot: Slot,
    players: &str,
    finished: &Finished,
    closing: &str,
) -> String {
    let figures = kind.figures(&finished.manifest.summary);
    let end = match &finished.from {
        Some(run) => format!("taken over from {run}"),
        None if finished.before => "done before".to_owned(),
        None => closing.to_owned(),
    };
    let end = if end.is_empty() { String::new() } else { format!("  ({end})") };
    let players = if players.is_empty() { String::new() } else { format!("{players}: ") };
    format!("{}  {players}{figures}{end}", slot.name())
}

/// The line of steps of earlier executions that the script did not call.
pub(crate) fn superseded(steps: usize) -> String {
    format!(
        "{} that the script did not call moved to superseded/, and would return if it called them again",
        counted(steps, "finished step")
    )
}

/// The line of a promotion.
pub(crate) fn promoted(network: &Network, generation: u32) -> String {
    format!("generation {generation}  network {} is promoted", network.name())
}
