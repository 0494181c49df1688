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
    use dc0_core::params::Param;

    use super::new_events;
    use crate::sweep::events::{Ending, Event};
    use crate::sweep::fixtures::{self, ended, reported, started, suggested, suggested_at};
    use crate::sweep::observation::TrialState;
    use crate::sweep::params::SweepParams;
    use crate::sweep::trials::Trials;

    fn params(retry_failed: bool) -> SweepParams {
        fixtures::params(&format!(r#", "retry_failed": {retry_failed}"#))
    }

    fn opened(params: &SweepParams, script: &str) -> Event {
        Event::Opened { params: params.to_value(), script: script.to_owned() }
    }

    /// Trial n ended as the n-th of these; one without an ending was killed.
    fn journal(endings: [Option<Ending>; 4]) -> Vec<Event> {
        let mut events = vec![opened(&params(false), "a")];
        for (trial, ending) in (0..).zip(endings) {
            events.extend([suggested(trial), started((trial, 0))]);
            events.extend(ending.map(|ending| ended((trial, 0), ending, 0.5)));
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
        let begun = [
            opened(&params(false), "a"),
            suggested_at(0, 1),
            reported((0, 0), 1, 9.0),
            ended((0, 0), Ending::Complete, 9.0),
        ];
        // The second replicate was killed, or has failed.
        let killed = [&begun[..], &[started((0, 1))]].concat();
        let failed = [&begun[..], &[ended((0, 1), Ending::Failed, 9.0)]].concat();
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
        before.extend([suggested_at(0, 99), ended((0, 0), Ending::Complete, 0.25)]);
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
