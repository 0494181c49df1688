//! A trial as the script's function sees it: the fields that it reads and the values that it reports.

use std::sync::{Arc, Mutex};

use rhai::{Dynamic, EvalAltResult, Map, Position};

use dc0_core::params::{Value, nearest};
use dc0_core::poison::IgnorePoison as _;

use super::super::session::RunHandle;
use super::{Context, SweepState, Work};
use crate::call::{Answer, Call};
use crate::dynamic::{scalar, to_dynamic};
use dc0_runs::sweep::events::{Ending, Event, Measured, Replicate};
use dc0_runs::sweep::pruner::Reported;
use dc0_runs::sweep::schedule::Schedule;
use dc0_runs::sweep::space::Point;
use dc0_steps::handles::MatchResult;

/// Names of a trial that no dimension can have.
pub const OWN_NAMES: [&str; 9] =
    ["run", "number", "replicate", "seed", "params", "spent", "left", "goes_on", "report"];

/// A replicate under way, as a script holds it.
#[derive(Clone)]
pub(super) struct Trial(pub(super) Arc<Turn>);

/// One call of the script's function.
pub(super) struct Turn {
    pub(super) id: Replicate,
    pub(super) point: Point,
    pub(super) run: RunHandle,
    /// The report at which the trial pauses to let others go first.
    pub(super) until: Option<u32>,
    /// The last report of this call of the script's function.
    pub(super) last: Mutex<Option<u32>>,
    pub(super) work: Arc<Work>,
}

/// Ends a turn early; a script cannot catch it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended(pub(super) Ending);

/// The early ending that an error carries, if any.
pub(super) fn early_ending(error: &EvalAltResult) -> Option<Ended> {
    match error.unwrap_inner() {
        EvalAltResult::ErrorTerminated(token, _) => token.clone().try_cast::<Ended>(),
        _ => None,
    }
}

impl Turn {
    pub(super) fn last_report(&self) -> Option<Measured> {
        let last = (*self.last.lock().ignore_poison())?;
        let state = self.work.state();
        let progress = state.trials.get(self.id.trial)?.replicates.get(&self.id.replicate)?;
        let report = progress.reports.iter().find(|report| report.at == last)?;
        Some(Measured { value: report.value, low: report.low, high: report.high })
    }
}

/// Reads a value of the objective that a call gives: a number, a match result, or a map with value, low and high.
pub(super) fn measured(call: &Call<'_>, given: &Dynamic) -> Result<Measured, String> {
    let number = |value: Option<Value>, name: &str| {
        let number = value.as_ref().and_then(Value::as_f64);
        number.ok_or_else(|| {
            format!("no number as {name}; expected a number, a match's result, or #{{ value, low, high }}")
        })
    };
    let checked = |measured: Measured| {
        let Measured { value, low, high } = measured;
        let problem = || {
            format!(
                "{value:?} in [{low:?}, {high:?}]; expected numbers within ±1e100 with low <= value <= high"
            )
        };
        measured.is_sound().then_some(measured).ok_or_else(problem)
    };
    if let Some(verdict) = given.read_lock::<MatchResult>() {
        verdict.0.summary.note_reading("score", || call.reading("score"));
        let field = |name| number(verdict.0.summary.member(name).cloned(), name);
        return checked(Measured {
            value: field("score")?,
            low: field("score_low")?,
            high: field("score_high")?,
        });
    }
    if let Some(map) = given.read_lock::<Map>() {
        let member = |name: &str| number(map.get(name).and_then(scalar), name);
        return checked(Measured { value: member("value")?, low: member("low")?, high: member("high")? });
    }
    number(scalar(given), "value").map(Measured::exact).and_then(checked)
}

/// Reads the progress of a report.
fn progress(at: i64) -> Result<u32, String> {
    u32::try_from(at).map_err(|_| {
        let most = u32::MAX;
        format!("at: expected a whole number from 0 to {most}, got {at}; count larger amounts in thousands or millions")
    })
}

pub(super) fn report(context: &Context<'_>, trial: &Trial, at: i64, value: &Dynamic) -> Answer<()> {
    let (call, turn) = (Call::new("report", context), &trial.0);
    let at = progress(at).map_err(|problem| call.misuse(problem))?;
    let measured = measured(&call, value).map_err(|problem| call.misuse(format!("got {problem}")))?;
    {
        let mut last = turn.last.lock().ignore_poison();
        if let Some(last) = last.filter(|last| *last >= at) {
            return Err(call.misuse(format!("at: reports must come in order, and {at} comes after {last}")));
        }
        *last = Some(at);
    }
    let (work, id) = (&turn.work, turn.id);
    let Measured { value, low, high } = measured;
    let report = Reported { at, value, low, high };
    let is_known = {
        let state = work.state();
        let progress = state.trials.get(id.trial).and_then(|trial| trial.replicates.get(&id.replicate));
        progress.is_some_and(|progress| progress.reports.contains(&report))
    };
    if !is_known {
        work.note(&call, Event::Reported { replicate: id, report })?;
    }
    let ending = {
        let state = work.state();
        let SweepState { trials, busy, .. } = &*state;
        let schedule = Schedule { params: &work.params, seed: work.host.seed(), trials, busy };
        schedule.ending(id, at, turn.until)
    };
    match ending {
        Some(ending) => {
            Err(EvalAltResult::ErrorTerminated(Dynamic::from(Ended(ending)), Position::NONE).into())
        }
        None => Ok(()),
    }
}

pub(super) fn read_trial(context: &Context<'_>, trial: &Trial, name: &str) -> Answer<Dynamic> {
    let turn = &trial.0;
    let left = || turn.work.params.budget.left(&turn.run.0.spent());
    Ok(match name {
        "run" => Dynamic::from(turn.run.clone()),
        "number" => i64::from(turn.id.trial).into(),
        "replicate" => i64::from(turn.id.replicate).into(),
        "seed" => (turn.run.0.info.seed as i64).into(),
        "params" => to_dynamic(&Value::Group(turn.point.clone())),
        "spent" => to_dynamic(&spent_value(turn)),
        "left" => left().into(),
        "goes_on" => (left() > 0.0).into(),
        name => match turn.point.get(name) {
            Some(value) => to_dynamic(value),
            None => return absent(context, turn, name),
        },
    })
}

/// A dimension that does not exist at this point is (); any other name is an error.
fn absent(context: &Context<'_>, turn: &Turn, name: &str) -> Answer<Dynamic> {
    let space = &turn.work.params.space;
    if space.dimensions().any(|(known, _)| known == name) {
        return Ok(Dynamic::UNIT);
    }
    let known: Vec<&str> = space.dimensions().map(|(known, _)| known).chain(OWN_NAMES).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(Call::new("Trial", context).misuse(format!("there is no `{name}` here; {hint}")))
}

fn spent_value(turn: &Turn) -> Value {
    let spent = turn.run.0.spent();
    let fields = [
        ("games", spent.games),
        ("evaluations", spent.evaluations),
        ("updates", spent.updates),
        ("flops", spent.flops),
        ("seconds", spent.seconds),
    ];
    Value::of(fields.map(|(name, number)| (name, Value::Float(number))))
}

#[cfg(test)]
mod tests {
    use super::progress;

    #[test]
    fn the_progress_of_a_report_has_a_limit_that_its_error_names() {
        assert_eq!(progress(4_294_967_295), Ok(u32::MAX));
        for at in [5_000_000_000, -1] {
            let error = progress(at).expect_err("is beyond the limits");
            let expected = format!("at: expected a whole number from 0 to 4294967295, got {at}; count ");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
