//! The events that opening a sweep adds: a pure function of its journal and its parameters, so that `--check` plans exactly what
//! the sweep will do.

use super::alone::opened;
use super::events::Event;
use super::observation::TrialState;
use super::params::SweepParams;
use super::trials::{Trial, Trials};

/// The events to record when a sweep is opened; `script` is a digest of everything that determines what trials do.
///
/// If the script has changed since the last time, all ended trials are executed again, so that their values are those of the
/// current script. Failed trials stay failed, unless they are to be retried.
pub fn new_events(params: &SweepParams, script: &str, events: &[Event]) -> Vec<Event> {
    let trials = Trials::from_events(events);
    let numbers = |is_selected: fn(TrialState) -> bool| {
        let state = |trial: &Trial| trial.state(&params.space, params.replicates);
        let selected = trials.iter().filter(move |(_, trial)| is_selected(state(trial)));
        selected.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let mut added = Vec::new();
    let opened = opened(params, script);
    let last = events.iter().rfind(|event| matches!(event, Event::Opened { .. }));
    if !matches!(last, Some(Event::Opened { script: before, .. }) if before == script) {
        let ended = |state| matches!(state, TrialState::Complete | TrialState::Pruned | TrialState::Paused);
        added.extend(numbers(ended).into_iter().map(|trial| Event::Revisited { trial }));
    }
    if last != Some(&opened) {
        added.push(opened);
    }
    if params.retry_failed {
        let failed = |state| state == TrialState::Failed;
        added.extend(numbers(failed).into_iter().map(|trial| Event::Retried { trial }));
    }
    added
}

#[cfg(test)]
mod tests {
    use dc0_core::params::{Param, Value, read};

    use super::new_events;
    use crate::sweep::events::Ending;
    use crate::sweep::events::{Event, Measured, Replicate, Spent};
    use crate::sweep::params::SweepParams;

    fn params(retry_failed: bool) -> SweepParams {
        let text = format!(
            r#"{{"name": "s", "space": {{"x": {{"kind": "choice", "values": [0, 1, 2, 3]}}}}, "retry_failed": {retry_failed}}}"#
        );
        let value: Value = serde_json::from_str(&text).expect("a group");
        read("sweep", &value).expect("parameters")
    }

    fn opened(params: &SweepParams, script: &str) -> Event {
        Event::Opened { params: params.to_value(), script: script.to_owned() }
    }

    /// Trial n ended as the n-th of these; one without an ending was killed.
    fn journal(endings: [Option<Ending>; 4]) -> Vec<Event> {
        let mut events = vec![opened(&params(false), "a")];
        for (trial, ending) in (0..).zip(endings) {
            let replicate = Replicate { trial, replicate: 0 };
            events
                .push(Event::Suggested { trial, point: [("x".to_owned(), Value::Int(trial.into()))].into() });
            events.push(Event::Started { replicate });
            let result = Some(Measured::exact(0.5));
            events.extend(ending.map(|ending| Event::Ended {
                replicate,
                ending,
                result,
                because: None,
                spent: Spent::default(),
            }));
        }
        events
    }

    #[test]
    fn a_changed_script_revisits_ended_trials() {
        let before = journal([Some(Ending::Complete), Some(Ending::Failed), Some(Ending::Pruned), None]);
        assert_eq!(new_events(&params(false), "a", &before), []);
        let expected =
            [Event::Revisited { trial: 0 }, Event::Revisited { trial: 2 }, opened(&params(false), "b")];
        assert_eq!(new_events(&params(false), "b", &before), expected);
        // Once recorded, the events are not repeated.
        let after = [&before[..], &expected].concat();
        assert_eq!(new_events(&params(false), "b", &after), []);
    }

    #[test]
    fn failed_trials_are_retried_on_request() {
        let before = journal([Some(Ending::Complete), Some(Ending::Failed), None, Some(Ending::Failed)]);
        let again = [opened(&params(true), "a"), Event::Retried { trial: 1 }, Event::Retried { trial: 3 }];
        assert_eq!(new_events(&params(true), "a", &before), again);
        assert_eq!(new_events(&params(true), "a", &[&before[..], &again].concat()), []);
    }

    #[test]
    fn a_new_sweep_is_only_opened() {
        assert_eq!(new_events(&params(true), "a", &[]), [opened(&params(true), "a")]);
    }
}
