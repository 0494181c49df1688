//! The lines that stay: how a run was opened, what each step came to, what was promoted.

use dc0_runs::{Finished, Record, Slot};

use crate::context::StepContext;
use crate::handles::Network;
use crate::step::Kind;

/// How a run was opened.
pub(crate) fn opened(folder: &str, record: &Record, context: &StepContext, finished: usize) -> String {
    let environment = &record.environment;
    let steps = match finished {
        0 => "nothing done yet".to_owned(),
        1 => "1 step done before".to_owned(),
        steps => format!("{steps} steps done before"),
    };
    let lanes = if context.lanes == 1 { "1 lane".to_owned() } else { format!("{} lanes", context.lanes) };
    format!(
        "run {folder}: seed {}, {} on {} in {}, {lanes}, {} training threads; {steps}",
        record.seed, environment.backend, environment.device, environment.precision, environment.threads
    )
}

/// What a step came to; `who` took part, where the kind says so, and `closing` has its time and rates.
pub(crate) fn finished(kind: &dyn Kind, slot: Slot, who: &str, finished: &Finished, closing: &str) -> String {
    let figures = kind.figures(&finished.manifest.summary);
    let end = match &finished.from {
        Some(run) => format!("taken over from {run}"),
        None if finished.before => "done before".to_owned(),
        None => closing.to_owned(),
    };
    let end = if end.is_empty() { String::new() } else { format!("  ({end})") };
    let who = if who.is_empty() { String::new() } else { format!("{who}: ") };
    format!("{}  {who}{figures}{end}", slot.name())
}

/// A promotion.
pub(crate) fn promoted(network: &Network, generation: u32) -> String {
    format!("generation {generation}  network {} is promoted", network.name())
}
