//! The events that opening a sweep adds: a pure function of its journal and its parameters, so that `--check` plans exactly what
//! the sweep will do.

use super::alone::opened;
use super::events::Event;
use super::observation::TrialState;
use super::params::SweepParams;
use super::trials::{Trial, Trials};

/// The events to record when a sweep is opened; `script` is a digest of everything that determines what trials do.
///
/// If the script has changed since the last time, all replicates that had begun are executed again, so that values and reports are those
/// of the current script. Failed ones stay failed, unless they are to be retried, and stale trials keep their values.
pub fn new_events(params: &SweepParams, script: &str, events: &[Event]) -> Vec<Event> {
    let trials = Trials::from_events(events);
    let numbers = |is_selected: fn(&Trial, TrialState) -> bool| {
        let state = |trial: &Trial| trial.state(&params.space, params.replicates);
        let selected = trials.iter().filter(move |(_, trial)| is_selected(trial, state(trial)));
        selected.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let mut added = Vec::new();
    let opened = opened(params, script);
    let last = events.iter().rfind(|event| matches!(event, Event::Opened { .. }));
    if !matches!(last, Some(Event::Opened { script: before, .. }) if before == script) {
        let has_begun = |trial: &Trial, state| state != TrialState::Stale && trial.has_unfailed();
        added.extend(numbers(has_begun).into_iter().map(|trial| Event::Revisited { trial }));
    }
    if last != Some(&opened) {
        added.push(opened);
    }
    if params.retry_failed {
        let failed = |_: &Trial, state| state == TrialState::Failed;
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
    use crate::sweep::observation::TrialState;
    use crate::sweep::params::SweepParams;
    use crate::sweep::pruner::Reported;
    use crate::sweep::trials::Trials;

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
    fn a_changed_script_revisits_all_trials_that_have_begun_and_not_failed() {
        let before = journal([Some(Ending::Complete), Some(Ending::Failed), Some(Ending::Pruned), None]);
        assert_eq!(new_events(&params(false), "a", &before), []);
        let again = [0, 2, 3].map(|trial| Event::Revisited { trial });
        let expected = [&again[..], &[opened(&params(false), "b")]].concat();
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
    fn nothing_of_another_script_is_left_in_a_trial() {
        let replicate = |replicate| Replicate { trial: 0, replicate };
        let ended = |number, ending, result: Option<f64>| Event::Ended {
            replicate: replicate(number),
            ending,
            result: result.map(Measured::exact),
            because: None,
            spent: Spent::default(),
        };
        let begun = [
            opened(&params(false), "a"),
            Event::Suggested { trial: 0, point: [("x".to_owned(), Value::Int(1))].into() },
            Event::Reported {
                replicate: replicate(0),
                report: Reported { at: 1, value: 9.0, low: 9.0, high: 9.0 },
            },
            ended(0, Ending::Complete, Some(9.0)),
        ];
        // The second replicate was killed, or has failed.
        let killed = [&begun[..], &[Event::Started { replicate: replicate(1) }]].concat();
        let failed = [&begun[..], &[ended(1, Ending::Failed, None)]].concat();
        for (before, state) in [(killed, TrialState::Killed), (failed, TrialState::Failed)] {
            let added = new_events(&params(false), "b", &before);
            assert_eq!(added[0], Event::Revisited { trial: 0 });
            let trials = Trials::from_events(&[before, added].concat());
            let trial = trials.get(0).expect("is known");
            assert_eq!(trial.state(&params(false).space, 2), state);
            assert!(trial.results().is_empty() && trial.reports().last_at().is_none(), "{trial:?}");
        }
    }

    #[test]
    fn a_stale_trial_keeps_its_value() {
        let mut before = journal([Some(Ending::Complete), Some(Ending::Complete), None, None]);
        before.push(Event::Suggested { trial: 0, point: [("x".to_owned(), Value::Int(99))].into() });
        before.push(Event::Ended {
            replicate: Replicate { trial: 0, replicate: 0 },
            ending: Ending::Complete,
            result: Some(Measured::exact(0.25)),
            because: None,
            spent: Spent::default(),
        });
        let added = new_events(&params(false), "b", &before);
        assert!(
            !added.contains(&Event::Revisited { trial: 0 }) && added.contains(&Event::Revisited { trial: 1 })
        );
        let trials = Trials::from_events(&[before, added].concat());
        let stale = trials.get(0).expect("is known");
        assert_eq!((stale.state(&params(false).space, 1), stale.value()), (TrialState::Stale, Some(0.25)));
    }

    #[test]
    fn a_new_sweep_is_only_opened() {
        assert_eq!(new_events(&params(true), "a", &[]), [opened(&params(true), "a")]);
    }
}
