//! What opening a sweep changes in it: a pure function of its journal and of what is asked for, so that `--check` plans what
//! the sweep itself will do.

use dc0_core::params::Param;

use super::events::Event;
use super::params::SweepParams;
use super::told::TrialState;
use super::trials::{Trial, Trials};

/// What is to be written down when a sweep is opened; `script` is a digest of everything that decides what trials do.
///
/// If the script is another one than the last time, all trials that have ended are walked through again, so that their values
/// are those of the script as it is. Failed trials stay as they are, unless they are to be tried again.
pub fn news(params: &SweepParams, script: &str, events: &[Event]) -> Vec<Event> {
    let trials = Trials::of(events);
    let numbers = |is_meant: fn(TrialState) -> bool| {
        let state = |trial: &Trial| trial.state(&params.space, params.replicates);
        let meant = trials.iter().filter(move |(_, trial)| is_meant(state(trial)));
        meant.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let mut news = Vec::new();
    let opened = Event::Opened { params: params.to_value(), script: script.to_owned() };
    let last = events.iter().rfind(|event| matches!(event, Event::Opened { .. }));
    if !matches!(last, Some(Event::Opened { script: before, .. }) if before == script) {
        let ended = |state| matches!(state, TrialState::Complete | TrialState::Pruned | TrialState::Paused);
        news.extend(numbers(ended).into_iter().map(|trial| Event::Revisited { trial }));
    }
    if last != Some(&opened) {
        news.push(opened);
    }
    if params.retry_failed {
        let failed = |state| state == TrialState::Failed;
        news.extend(numbers(failed).into_iter().map(|trial| Event::Retried { trial }));
    }
    news
}

#[cfg(test)]
mod tests {
    use dc0_core::params::{Param, Value, read};

    use super::news;
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

    /// Trial n has come to the n-th of these ends; one without an end was killed.
    fn journal(endings: [Option<Ending>; 4]) -> Vec<Event> {
        let mut events = vec![opened(&params(false), "a")];
        for (trial, ending) in (0..).zip(endings) {
            let of = Replicate { trial, replicate: 0 };
            events.push(Event::Asked { trial, point: [("x".to_owned(), Value::Int(trial.into()))].into() });
            events.push(Event::Started { of });
            let result = Some(Measured::exact(0.5));
            events.extend(ending.map(|ending| Event::Ended {
                of,
                ending,
                result,
                because: None,
                spent: Spent::default(),
            }));
        }
        events
    }

    #[test]
    fn a_changed_script_is_gone_through_again_in_trials_that_have_ended() {
        let before = journal([Some(Ending::Complete), Some(Ending::Failed), Some(Ending::Pruned), None]);
        assert_eq!(news(&params(false), "a", &before), []);
        let expected =
            [Event::Revisited { trial: 0 }, Event::Revisited { trial: 2 }, opened(&params(false), "b")];
        assert_eq!(news(&params(false), "b", &before), expected);
        // Once written down, the same is not said again.
        let after = [&before[..], &expected].concat();
        assert_eq!(news(&params(false), "b", &after), []);
    }

    #[test]
    fn failed_trials_are_tried_again_where_that_is_asked_for() {
        let before = journal([Some(Ending::Complete), Some(Ending::Failed), None, Some(Ending::Failed)]);
        let again = [opened(&params(true), "a"), Event::Retried { trial: 1 }, Event::Retried { trial: 3 }];
        assert_eq!(news(&params(true), "a", &before), again);
        assert_eq!(news(&params(true), "a", &[&before[..], &again].concat()), []);
    }

    #[test]
    fn a_new_sweep_is_only_opened() {
        assert_eq!(news(&params(true), "a", &[]), [opened(&params(true), "a")]);
    }
}
